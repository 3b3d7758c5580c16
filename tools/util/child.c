// SPDX-License-Identifier: GPL-2.0
/* A child process that does one piece of work, writes the result to a pipe, and exits. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alloc.h"
#include "child.h"

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

	*child = (struct child){ .fd = -1 };
	/* Or the child would write a copy of what is buffered here. */
	fflush(NULL);
	if (pipe2(fds, O_CLOEXEC))
		return -1;
	child->pid = fork();
	if (!child->pid) {
		/* Only the parent reads the result, so die with it. */
		if (close(fds[0]) || prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
			_exit(1);
		out = fdopen(fds[1], "w");
		if (!out)
			_exit(1);
		work(arg, index, out);
		_exit(fclose(out) ? 1 : 0);
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

/** child_kill() - end a child, and release its result */
void child_kill(struct child *child)
{
	if (child->fd >= 0) {
		kill(child->pid, SIGKILL);
		child_reap(child);
	}
	free(child->data);
	child->data = NULL;
}
