// SPDX-License-Identifier: GPL-2.0
/* A child process that does one piece of work, writes the result to a pipe, and exits. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alloc.h"
#include "child.h"
#include "clock.h"

/* How long child_end() waits for the end of a process that it has killed, ms. */
#define CHILD_END_MS	100

/* Exit status of a child that cannot hand its result over; not that of alloc_check(). */
#define CHILD_FAILED	(ALLOC_EXIT + 1)

/* Processes that child_end() has killed and that had not ended then. */
static pid_t *lost;
static size_t nlost, lost_room;

/* A descriptor that children do not keep, or -1. */
static int hidden = -1;

/**
 * child_hide() - have children of this process that are started from now on close a descriptor
 * @fd: the end of a pipe, to be written to, which somebody reads up to its end: a child that waits for
 *	a FUSE server would keep it open, and cannot be killed.  -1: none.  It stays open here, or its
 *	number would be that of another one.
 *
 * Who calls fork() calls child_close_hidden() in the child.
 */
void child_hide(int fd)
{
	hidden = fd;
}

/** child_close_hidden() - in a child: close the descriptor of child_hide(), if there is one */
void child_close_hidden(void)
{
	if (hidden >= 0)
		close(hidden);
	hidden = -1;
}

/* Reap those that have ended since. */
static void lost_reap(void)
{
	size_t i;

	for (i = nlost; i-- > 0;)
		if (waitpid(lost[i], NULL, WNOHANG))
			lost[i] = lost[--nlost];
}

/**
 * child_end() - kill a process that this one has forked
 * @pid: the process
 *
 * Mostly it has ended and is reaped when this returns.  One that waits for a FUSE server which has
 * read its request does not end before the server answers: it is reaped when a later child is
 * started, as nobody is to wait for that server.
 */
void child_end(pid_t pid)
{
	pid_t ended;
	int ms;

	lost_reap();
	kill(pid, SIGKILL);
	for (ms = 0; !(ended = waitpid(pid, NULL, WNOHANG)) && ms < CHILD_END_MS; ms++)
		usleep(1000);
	if (ended)
		return;
	lost = alloc_room(lost, nlost, &lost_room, sizeof(*lost));
	lost[nlost++] = pid;
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
	/* Or the child would write a copy of what is buffered here. */
	fflush(NULL);
	if (pipe2(fds, O_CLOEXEC))
		return -1;
	child->pid = fork();
	if (!child->pid) {
		/* Only the parent reads the result, so die with it. */
		if (close(fds[0]) || prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
			_exit(CHILD_FAILED);
		child_close_hidden();
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
	if (WIFSIGNALED(status))
		snprintf(child->died, sizeof(child->died), "killed by signal %d (%s)",
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) == ALLOC_EXIT)
		snprintf(child->died, sizeof(child->died), "out of memory");
	else if (WEXITSTATUS(status))
		snprintf(child->died, sizeof(child->died), "given up, exit status %d",
			 WEXITSTATUS(status));
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
		kill(child->pid, SIGKILL);
		child_reap(child);
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
 * child_give_up() - end a child as child_end() does, and keep what it wrote
 * @child: a child that has not ended
 * @seconds: for so long it did nothing
 */
void child_give_up(struct child *child, unsigned int seconds)
{
	close(child->fd);
	child->fd = -1;
	child_end(child->pid);
	snprintf(child->died, sizeof(child->died), "given up, as it did nothing for %u seconds",
		 seconds);
}

/** child_kill() - end a child, as child_end() does, and release its result */
void child_kill(struct child *child)
{
	if (child->fd >= 0) {
		close(child->fd);
		child->fd = -1;
		child_end(child->pid);
	}
	free(child->data);
	child->data = NULL;
	child->size = child->room = 0;
}

/**
 * child_limit_memory() - limit the memory of this process, which is to read what others made
 * @bytes: of addresses, with what is mapped; a lower limit stays
 *
 * If the machine's memory, or that of its control group, runs out all the same, the kernel kills this
 * process rather than others.
 */
void child_limit_memory(uint64_t bytes)
{
	struct rlimit memory;
	int oom = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (oom >= 0) {
		(void)!write(oom, "1000", 4);
		close(oom);
	}
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
