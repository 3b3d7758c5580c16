// SPDX-License-Identifier: GPL-2.0
/* The same work on many files: a child for each item writes its result to a pipe and exits. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alloc.h"
#include "parallel.h"

#define PROGRESS_MS	200

/* A running child; after it has ended, its result until @done takes it. */
struct job {
	size_t	 index;
	pid_t	 pid;
	int	 fd;		/* its pipe; -1 once it has ended */
	char	*data;
	size_t	 size;
	size_t	 room;
	char	 died[64];	/* "" if it ended as it should */
};

/*
 * Items [@next_done, @next_start) have been started and not been handed out; item i uses job
 * i % njobs.  There are more jobs than children run at a time, so that one slow item does not
 * leave CPUs idle: the results of later items wait in their jobs.
 */
struct pool {
	const struct parallel	*parallel;
	struct job		*jobs;
	struct pollfd		*poll;
	size_t			 njobs;
	size_t			 max_running;
	size_t			 running;
	size_t			 ready;
	size_t			 next_start;
	size_t			 next_done;
};

static struct job *pool_job(const struct pool *pool, size_t index)
{
	return &pool->jobs[index % pool->njobs];
}

static __attribute__((noreturn)) void job_child(const struct parallel *parallel, size_t index,
						int fd, pid_t parent)
{
	FILE *out;

	/* Only the parent reads the result, so die with it. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		_exit(1);
	out = fdopen(fd, "w");
	if (!out)
		_exit(1);
	parallel->work(parallel->arg, index, out);
	_exit(fclose(out) ? 1 : 0);
}

static int job_start(struct pool *pool, size_t index)
{
	struct job *job = pool_job(pool, index);
	pid_t parent = getpid();
	int fds[2];

	*job = (struct job){ .index = index, .fd = -1 };
	/* Or the child would write a copy of what is buffered here. */
	fflush(NULL);
	if (pipe2(fds, O_CLOEXEC))
		return -1;
	job->pid = fork();
	if (!job->pid && !close(fds[0]))
		job_child(pool->parallel, index, fds[1], parent);
	close(fds[1]);
	if (job->pid < 0) {
		close(fds[0]);
		return -1;
	}
	job->fd = fds[0];
	pool->running++;
	return 0;
}

/*
 * Start children up to the limits.  If fork() or pipe() fails, go on with the children there are
 * and try again when one has ended.  Return: -1 and errno if there are none.
 */
static int pool_start(struct pool *pool)
{
	while (pool->next_start < pool->parallel->count && pool->running < pool->max_running &&
	       pool->next_start - pool->next_done < pool->njobs) {
		if (job_start(pool, pool->next_start))
			return pool->running ? 0 : -1;
		pool->next_start++;
	}
	return 0;
}

static void job_reap(struct job *job)
{
	int status = 0;

	close(job->fd);
	job->fd = -1;
	while (waitpid(job->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status))
		snprintf(job->died, sizeof(job->died), "killed by signal %d (%s)",
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		snprintf(job->died, sizeof(job->died), "given up, exit status %d",
			 WEXITSTATUS(status));
}

/* Read some of a result.  Return: false at its end. */
static bool job_read(struct job *job)
{
	ssize_t got;

	if (job->room - job->size < 4096) {
		job->room = job->room ? 2 * job->room : 8192;
		job->data = alloc_array(job->data, job->room, 1);
	}
	got = read(job->fd, job->data + job->size, job->room - job->size);
	if (got > 0)
		job->size += got;
	return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

static void pool_progress(const struct pool *pool)
{
	const struct parallel *parallel = pool->parallel;
	size_t oldest = pool->next_done;

	if (!parallel->progress || !pool->running)
		return;
	/* The first item without a result has run longest. */
	while (oldest < pool->next_start && pool_job(pool, oldest)->fd < 0)
		oldest++;
	parallel->progress(parallel->arg, pool->ready, oldest);
}

/* Wait for output of the children, read it, and reap those that have ended. */
static void pool_wait(struct pool *pool)
{
	size_t i, n = 0;

	for (i = pool->next_done; i < pool->next_start; i++)
		if (pool_job(pool, i)->fd >= 0)
			pool->poll[n++] = (struct pollfd){ .fd = pool_job(pool, i)->fd,
							   .events = POLLIN };
	n = poll(pool->poll, n, PROGRESS_MS) > 0 ? n : 0;
	for (i = pool->next_done; n && i < pool->next_start; i++) {
		struct job *job = pool_job(pool, i);
		size_t at;

		for (at = 0; at < n && pool->poll[at].fd != job->fd; at++)
			;
		if (job->fd < 0 || at == n || !pool->poll[at].revents || job_read(job))
			continue;
		job_reap(job);
		pool->running--;
		pool->ready++;
	}
}

static void pool_hand_out(struct pool *pool)
{
	const struct parallel *parallel = pool->parallel;

	while (pool->next_done < pool->next_start && pool_job(pool, pool->next_done)->fd < 0) {
		struct job *job = pool_job(pool, pool->next_done++);

		parallel->done(parallel->arg, job->index, job->data, job->size,
			       job->died[0] ? job->died : NULL);
		free(job->data);
		job->data = NULL;
	}
}

/**
 * parallel_run() - do the work on all items
 * @parallel: what to do
 *
 * Memory is bounded: at most PARALLEL_MAX_RESULTS items per child run or wait to be handed out.
 *
 * Return: 0; or -1 and errno if no child can be made at all; @done then has the results of the
 * items before.
 */
int parallel_run(const struct parallel *parallel)
{
	struct pool pool = { .parallel = parallel };
	cpu_set_t cpus;
	int ret = 0;

	pool.max_running = parallel->jobs;
	if (!pool.max_running)
		pool.max_running = sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : CPU_COUNT(&cpus);
	if (pool.max_running > PARALLEL_MAX_JOBS)
		pool.max_running = PARALLEL_MAX_JOBS;
	pool.njobs = PARALLEL_MAX_RESULTS * pool.max_running;
	pool.jobs = alloc_array(NULL, pool.njobs, sizeof(*pool.jobs));
	pool.poll = alloc_array(NULL, pool.max_running, sizeof(*pool.poll));
	while (!ret && pool.next_done < parallel->count) {
		ret = pool_start(&pool);
		if (ret)
			break;
		pool_progress(&pool);
		pool_wait(&pool);
		pool_hand_out(&pool);
	}
	free(pool.jobs);
	free(pool.poll);
	return ret;
}
