// SPDX-License-Identifier: GPL-2.0
/* A child process that does one piece of work, writes the result to a pipe, and exits. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "alloc.h"
#include "child.h"
#include "clock.h"
#include "order.h"

/* How long child_stop() waits for the end of a child that it has killed, ms. */
#define CHILD_END_MS	100

/* Exit status of a child that cannot hand its result over; not that of alloc_check(). */
#define CHILD_FAILED	(ALLOC_EXIT + 1)

/*
 * Lost children are tasks of this process's control group, which may have a limited number of tasks.  So
 * no more children are started for a user, other than root, who has lost CHILD_LOST; nor for any user, if
 * all together have lost CHILD_LOST_ALL.  The service may have 256 tasks (TasksMax).  CHILD_LOST_ALL is a
 * quarter of that, as children that were lost before the service was restarted may still be there: they
 * are not counted here.
 */
#define CHILD_LOST	8
#define CHILD_LOST_ALL	64

/* Processes that were killed and had not ended then, and whose files they read. */
static struct lost {
	pid_t	pid;
	uid_t	owner;
} *lost;
static size_t nlost, lost_room;

/* Reap those that have ended since. */
static void lost_reap(void)
{
	size_t i;

	for (i = nlost; i-- > 0;)
		if (waitpid(lost[i].pid, NULL, WNOHANG))
			lost[i] = lost[--nlost];
}

static bool lost_are_too_many(uid_t owner)
{
	size_t i, count = 0;

	for (i = 0; i < nlost; i++)
		count += lost[i].owner == owner;
	return count >= CHILD_LOST || nlost >= CHILD_LOST_ALL;
}

/** child_owner_of() - as child_owner(), for a process of user @uid */
uid_t child_owner_of(uid_t uid)
{
	return uid == geteuid() ? 0 : uid;
}

/**
 * child_owner() - the user for whose files struct child has @owner
 * @pid: a process that has mapped the file
 *
 * Return: the process's user; 0 if that is the one of this process; -1 if the process has ended.
 */
uid_t child_owner(pid_t pid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (stat(path, &st))
		return -1;
	return child_owner_of(st.st_uid);
}

/**
 * child_may_start() - whether a child may be started for a file of a user
 * @owner: from child_owner()
 *
 * Return: false if too many for that user's files, or in all, were killed and have not ended.
 */
bool child_may_start(uid_t owner)
{
	if (!owner || !lost_are_too_many(owner))
		return true;
	lost_reap();
	return !lost_are_too_many(owner);
}

/**
 * child_end_with() - in a new child: have the kernel kill it when its parent ends
 * @parent: what getpid() returned in the parent, before it called fork()
 *
 * Return: true; false if the parent has ended already, or the kernel refuses: then the caller calls _exit().
 */
bool child_end_with(pid_t parent)
{
	return !prctl(PR_SET_PDEATHSIG, SIGKILL) && getppid() == parent;
}

/**
 * child_start() - have a new child do some work
 * @child: filled
 * @work: called in the child
 * @arg: its first argument
 * @index: its second
 *
 * The child is killed when this process ends.
 *
 * Return: 0, or -1 and errno.
 */
int child_start(struct child *child, child_work_fn work, void *arg, size_t index)
{
	pid_t parent = getpid();
	int fds[2];
	FILE *out;

	lost_reap();
	*child = (struct child){ .fd = -1, .started = clock_ms() };
	child->looked = child->started;
	/* What is buffered here the child would write a second time. */
	fflush(NULL);
	if (pipe2(fds, O_CLOEXEC))
		return -1;
	child->pid = fork();
	if (!child->pid) {
		/* Only the parent reads the result, so die with it. */
		if (close(fds[0]) || !child_end_with(parent))
			_exit(CHILD_FAILED);
		out = fdopen(fds[1], "w");
		if (!out)
			_exit(CHILD_FAILED);
		work(arg, index, out);
		_exit(fclose(out) ? CHILD_FAILED : 0);
	}
	close(fds[1]);
	if (child->pid < 0) {
		close(fds[0]);
		return -1;
	}
	child->fd = fds[0];
	return 0;
}

static void child_reap(struct child *child)
{
	int status = 0;

	close(child->fd);
	child->fd = -1;
	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	child->killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	if (WIFSIGNALED(status))
		snprintf(child->died, sizeof(child->died), "killed by signal %d (%s)",
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) == ALLOC_EXIT)
		snprintf(child->died, sizeof(child->died), "out of memory");
	else if (WEXITSTATUS(status))
		snprintf(child->died, sizeof(child->died), "given up, exit status %d",
			 WEXITSTATUS(status));
}

/*
 * Kill a child.  Mostly it has ended and is reaped when this returns.  One that waits for a FUSE server which
 * has read its request does not end before the server answers: it is reaped when a later child is started,
 * as nobody is to wait for that server.
 */
static void child_stop(struct child *child)
{
	pid_t ended;
	int ms;

	close(child->fd);
	child->fd = -1;
	lost_reap();
	kill(child->pid, SIGKILL);
	for (ms = 0; !(ended = waitpid(child->pid, NULL, WNOHANG)) && ms < CHILD_END_MS; ms++)
		usleep(1000);
	if (ended)
		return;
	lost = alloc_room(lost, nlost, &lost_room, sizeof(*lost));
	lost[nlost++] = (struct lost){ child->pid, child->owner };
}

/**
 * child_read() - read some of a child's result; waits if there is nothing to read
 * @child: a child that has not ended; it is killed if it has written more than its limit
 *
 * Return: false if that was the end: the child has ended, and its result is complete.
 */
bool child_read(struct child *child)
{
	ssize_t got;

	if (child->room - child->size < 4096) {
		child->room = child->room ? 2 * child->room : 8192;
		child->data = alloc_array(child->data, child->room, 1);
	}
	got = read(child->fd, child->data + child->size, child->room - child->size);
	if (got > 0)
		child->size += got;
	if (child->limit && child->size > child->limit) {
		child_stop(child);
		snprintf(child->died, sizeof(child->died), "killed, as it wrote more than %zu bytes",
			 child->limit);
		return false;
	}
	if (got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN)))
		return true;
	child_reap(child);
	return false;
}

/**
 * child_is_stuck() - whether a child does nothing; to be asked once a second or more often
 * @child: a child that has not ended
 * @seconds: for so long it has used no CPU time
 *
 * It is looked at once a second, and the looks are counted: if this process was stopped for an hour itself,
 * that is one look.
 */
bool child_is_stuck(struct child *child, unsigned int seconds)
{
	int64_t now = clock_ms(), used;
	struct timespec time;
	clockid_t clock;

	if (now - child->looked < CHILD_LOOK_MS || clock_getcpuclockid(child->pid, &clock) ||
	    clock_gettime(clock, &time))
		return false;
	child->looked = now;
	used = time.tv_sec * 1000ll + time.tv_nsec / 1000000;
	child->idle = used == child->used ? child->idle + 1 : 0;
	child->used = used;
	return child->idle * CHILD_LOOK_MS / 1000 >= seconds;
}

/**
 * child_give_up() - kill a child, and keep what it wrote
 * @child: a child that has not ended
 * @seconds: for so long it did nothing
 */
void child_give_up(struct child *child, unsigned int seconds)
{
	child_stop(child);
	child->given_up = true;
	snprintf(child->died, sizeof(child->died), "given up, as it did nothing for %u seconds",
		 seconds);
}

/** child_kill() - kill a child, and release its result */
void child_kill(struct child *child)
{
	if (child->fd >= 0)
		child_stop(child);
	free(child->data);
	child->data = NULL;
	child->size = child->room = 0;
}

static int compare_fds(const void *a, const void *b)
{
	return order(*(const int *)a, *(const int *)b);
}

/**
 * child_let_go() - in a child that reads files of others: keep nothing open that it does not need
 * @out: takes its result
 * @keep: other descriptors that it needs; negative ones are none
 * @count: entries in @keep
 *
 * A child that waits for a FUSE server cannot be killed, and its parent goes on without it.  What it has
 * open nobody sees the end of: the pipe that is the parent's output, a socket that holds a setting of the
 * module, pinned files.  So its standard input, output and error are /dev/null from now on; the error is
 * not with AddressSanitizer, which writes there.
 */
void child_let_go(FILE *out, const int *keep, size_t count)
{
	int *fds = alloc_array(NULL, count + 1, sizeof(*fds));
	unsigned int from = STDERR_FILENO + 1;
	size_t i;
	int null;

	for (i = 0; i < count; i++)
		fds[i] = keep[i];
	fds[count] = fileno(out);
	qsort(fds, count + 1, sizeof(*fds), compare_fds);
	for (i = 0; i <= count; i++) {
		if (fds[i] < (int)from)
			continue;
		if (fds[i] > (int)from)
			close_range(from, fds[i] - 1, 0);
		from = fds[i] + 1;
	}
	close_range(from, ~0u, 0);
	free(fds);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0)
		return;
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
#ifndef __SANITIZE_ADDRESS__
	dup2(null, STDERR_FILENO);
#endif
	if (null > STDERR_FILENO)
		close(null);
}

/**
 * child_limit_memory() - limit the memory of this process, which is to read what others made
 * @bytes: of addresses, with what is mapped; a lower limit stays
 *
 * If the machine's memory, or that of its control group, runs out all the same, the kernel kills this
 * process rather than others.  It leaves no core, which a handler would write in a control group of its own.
 */
void child_limit_memory(uint64_t bytes)
{
	/* 1, not 0: a limit of 0 does not keep the kernel from starting a handler; see core(5). */
	const struct rlimit core = { 1, 1 };
	struct rlimit memory;
	int oom = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (oom >= 0) {
		(void)!write(oom, "1000", 4);
		close(oom);
	}
	setrlimit(RLIMIT_CORE, &core);
	/* The sanitizer's own memory takes terabytes of addresses. */
#ifndef __SANITIZE_ADDRESS__
	if (getrlimit(RLIMIT_AS, &memory) || memory.rlim_cur <= bytes)
		return;
	memory.rlim_cur = bytes;
	setrlimit(RLIMIT_AS, &memory);
#else
	(void)memory;
	(void)bytes;
#endif
}
