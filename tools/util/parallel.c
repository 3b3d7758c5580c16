// SPDX-License-Identifier: GPL-2.0
/* Work on many files, in a child process for each. */
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

#include "alloc.h"
#include "child.h"
#include "parallel.h"

#define PROGRESS_MS	200

/* A child that works on item @index; when it has ended, its result until pool_hand_out() gives that to done(). */
struct job {
	size_t		index;
	struct child	child;
};

/*
 * For items [@next_done, @next_start) job_start() was called, and done() was not yet; item i uses job i % njobs.
 * There are more jobs than children run at a time, so that one slow item does not
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

/* Start a child for item @index; if child_may_start() forbids it, that is the result.  Return: 0, or -1 and errno. */
static int job_start(struct pool *pool, size_t index)
{
	const struct parallel *parallel = pool->parallel;
	struct job *job = pool_job(pool, index);
	uid_t owner = parallel->owner ? parallel->owner(parallel->arg, index) : 0;

	*job = (struct job){ .index = index, .child.fd = -1 };
	if (!child_may_start(owner)) {
		snprintf(job->child.died, sizeof(job->child.died),
			 "not started, as too many wait for file systems of its user");
		pool->ready++;
		return 0;
	}
	if (child_start(&job->child, parallel->work, parallel->arg, index))
		return -1;
	job->child.owner = owner;
	if (parallel->limit)
		job->child.limit = parallel->limit(parallel->arg, index);
	pool->running++;
	return 0;
}

/*
 * Start children up to the limits.  If fork() or pipe() fails, go on with the children and results there are,
 * and try again afterwards.  Return: -1 and errno if there are none.
 */
static int pool_start(struct pool *pool)
{
	while (pool->next_start < pool->parallel->count && pool->running < pool->max_running &&
	       pool->next_start - pool->next_done < pool->njobs) {
		if (job_start(pool, pool->next_start))
			return pool->next_done < pool->next_start ? 0 : -1;
		pool->next_start++;
	}
	return 0;
}

static void pool_progress(const struct pool *pool)
{
	const struct parallel *parallel = pool->parallel;
	size_t oldest = pool->next_done;

	if (!parallel->progress || !pool->running)
		return;
	/* The first item without a result has run longest. */
	while (oldest < pool->next_start && pool_job(pool, oldest)->child.fd < 0)
		oldest++;
	parallel->progress(parallel->arg, pool->ready, oldest);
}

/* Wait for output of the children, read it, and reap those that have ended. */
static void pool_wait(struct pool *pool)
{
	size_t i, n = 0;

	for (i = pool->next_done; i < pool->next_start; i++)
		if (pool_job(pool, i)->child.fd >= 0)
			pool->poll[n++] = (struct pollfd){ .fd = pool_job(pool, i)->child.fd,
							   .events = POLLIN };
	if (!n)
		return;
	n = poll(pool->poll, n, PROGRESS_MS) > 0 ? n : 0;
	for (i = pool->next_done; n && i < pool->next_start; i++) {
		struct child *child = &pool_job(pool, i)->child;
		size_t at;

		for (at = 0; at < n && pool->poll[at].fd != child->fd; at++)
			;
		if (child->fd < 0 || at == n || !pool->poll[at].revents || child_read(child))
			continue;
		pool->running--;
		pool->ready++;
	}
}

/* One may wait for a FUSE server, and then cannot be killed. */
static void pool_give_up(struct pool *pool)
{
	unsigned int patience = pool->parallel->patience;
	size_t i;

	for (i = pool->next_done; patience && i < pool->next_start; i++) {
		struct job *job = pool_job(pool, i);

		if (job->child.fd < 0 || !child_is_stuck(&job->child, patience))
			continue;
		child_give_up(&job->child, patience);
		pool->running--;
		pool->ready++;
	}
}

static void pool_hand_out(struct pool *pool)
{
	const struct parallel *parallel = pool->parallel;

	while (pool->next_done < pool->next_start &&
	       pool_job(pool, pool->next_done)->child.fd < 0) {
		struct job *job = pool_job(pool, pool->next_done++);
		struct child *child = &job->child;

		parallel->done(parallel->arg, job->index, child->data, child->size,
			       child->died[0] ? child->died : NULL);
		free(child->data);
		child->data = NULL;
	}
}

/** parallel_jobs() - children at a time: @jobs, or for 0 as many as there are CPUs to run on */
unsigned int parallel_jobs(unsigned int jobs)
{
	cpu_set_t cpus;

	if (!jobs)
		jobs = sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : CPU_COUNT(&cpus);
	return jobs < PARALLEL_MAX_JOBS ? jobs : PARALLEL_MAX_JOBS;
}

/**
 * parallel_run() - do the work on all items
 * @parallel: what to do
 *
 * Memory is bounded, if results are: at most PARALLEL_MAX_RESULTS items per child run or wait to be
 * handed out.
 *
 * Return: 0; or -1 and errno if no child can be made at all; @done then has the results of the
 * items before.
 */
int parallel_run(const struct parallel *parallel)
{
	struct pool pool = { .parallel = parallel };
	int ret = 0;

	pool.max_running = parallel_jobs(parallel->jobs);
	pool.njobs = PARALLEL_MAX_RESULTS * pool.max_running;
	pool.jobs = alloc_array(NULL, pool.njobs, sizeof(*pool.jobs));
	pool.poll = alloc_array(NULL, pool.max_running, sizeof(*pool.poll));
	while (!ret && pool.next_done < parallel->count) {
		ret = pool_start(&pool);
		if (ret)
			break;
		pool_progress(&pool);
		pool_wait(&pool);
		pool_give_up(&pool);
		pool_hand_out(&pool);
	}
	free(pool.jobs);
	free(pool.poll);
	return ret;
}
