// SPDX-License-Identifier: GPL-2.0
/*
 * Work in a process that perf does not record, though perf records the one that started it.
 *
 * In "perf record beectl run CMD", all that beectl forks inherits perf's events: CMD, which is
 * wanted, and the compilation of tables, which is not.  A process loses the events that others have
 * attached to it when it executes a program with an effective group id that is not its real one,
 * as a set-group-ID program has (begin_new_exec(), fs/exec.c: "Disable monitoring for regular
 * users when executing setuid binaries"; not if fs.suid_dumpable is 1).  So beectl executes
 * itself anew in that way.  Three processes work together:
 *
 * - the first stays what perf has started.  It forks CMD, which inherits perf's events, passes
 *   signals on to it, and ends with it, whatever the worker is doing then.
 * - the worker has no events.  It does all else: tables, ptrace, messages.
 * - CMD waits until the worker traces it, and then executes.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unrecorded.h"

/* Names the worker's two sockets: "FIRST,COMMAND". */
#define UNRECORDED_ENV	"BEECTL_UNRECORDED"

/* From the worker to the first process. */
enum request {
	REQUEST_HELLO,		/* the worker has come to its main() */
	REQUEST_FORK,		/* fork CMD; answered by its pid, or -1 */
	REQUEST_RELEASE,	/* kill the worker when CMD ends; CMD's status is that of all */
};

/* The worker's sockets: to the first process, and to CMD until that has executed; -1 elsewhere. */
static int worker_first = -1;
static int worker_command = -1;

/** unrecorded_is() - whether this is the worker */
bool unrecorded_is(void)
{
	return worker_first >= 0;
}

/* Return: 0, or -1 if the other side has gone. */
static int put_int(int fd, int value)
{
	return send(fd, &value, sizeof(value), MSG_NOSIGNAL) == sizeof(value) ? 0 : -1;
}

static int get_int(int fd, int *value)
{
	ssize_t got;

	do
		got = recv(fd, value, sizeof(*value), 0);
	while (got < 0 && errno == EINTR);
	return got == sizeof(*value) ? 0 : -1;
}

static void wait_end(pid_t pid, int *status)
{
	while (waitpid(pid, status, 0) < 0 && errno == EINTR)
		;
}

/* In a child of the first process: become the worker. */
static void worker_exec(char **self, const int first[2], const int command[2])
{
	gid_t group = getegid();
	char sockets[32];

	snprintf(sockets, sizeof(sockets), "%d,%d", dup(first[1]), dup(command[1]));
	if (!setenv(UNRECORDED_ENV, sockets, 1) && !setresgid(group ? 0 : 1, group, group))
		execv("/proc/self/exe", self);
	_exit(1);
}

/* In the worker.  Return: false if this is none. */
static bool worker_begin(void)
{
	const char *sockets = getenv(UNRECORDED_ENV);
	int first, command;
	gid_t group = getegid();

	if (!sockets || sscanf(sockets, "%d,%d", &first, &command) != 2)
		return false;
	unsetenv(UNRECORDED_ENV);
	/* The name is "exe", as it was executed as /proc/self/exe. */
	prctl(PR_SET_NAME, program_invocation_short_name);
	/* Without the first process nobody waits for CMD. */
	if (setresgid(group, group, group) || prctl(PR_SET_PDEATHSIG, SIGKILL) ||
	    put_int(first, REQUEST_HELLO))
		_exit(1);
	worker_first = first;
	worker_command = command;
	return true;
}

/* In a child of the first process: become CMD when the worker says so. */
static void command_exec(char **argv, int worker)
{
	int go, code;

	if (get_int(worker, &go))
		_exit(1);
	execvp(argv[0], argv);
	code = errno;
	put_int(worker, code);
	_exit(127);
}

/*
 * In the first process: do what the worker asks for, until it ends or sends REQUEST_RELEASE.  CMD
 * waits on the socket @waits.  Return: the process of CMD, 0 if it was not forked; @released:
 * filled: whether there was a REQUEST_RELEASE.
 */
static pid_t first_serve(char **command, int worker, int *waits, void (*started)(pid_t pid),
			 bool *released)
{
	int request;
	pid_t pid = 0;

	for (*released = false; !*released && !get_int(worker, &request);) {
		if (request == REQUEST_FORK) {
			pid = fork();
			if (!pid) {
				close(worker);
				command_exec(command, *waits);
			}
			close(*waits);
			*waits = -1;
			if (pid > 0)
				started(pid);
			put_int(worker, pid);
		} else {
			*released = request == REQUEST_RELEASE && pid > 0;
		}
	}
	return pid;
}

/**
 * unrecorded_begin() - have the rest of this program done by a worker
 * @self: the words of this program, its name included, to be executed anew
 * @command: CMD, which launch_start() is going to start
 * @started: called here when CMD has been forked, to deal with signals
 * @status: filled with the exit status, if all is done
 *
 * Return: true, if all is done, by a worker.  False: go on; this is the worker, or there can be
 * none, for want of CAP_SETGID.
 */
bool unrecorded_begin(char **self, char **command, void (*started)(pid_t pid), int *status)
{
	int first[2], pair[2], hello = -1, ended = 0;
	pid_t worker, pid;
	bool released;

	if (worker_begin())
		return false;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, first))
		return false;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		close(first[0]);
		close(first[1]);
		return false;
	}
	worker = fork();
	if (!worker)
		worker_exec(self, first, pair);
	close(first[1]);
	close(pair[1]);
	if (worker > 0 && !get_int(first[0], &hello)) {
		pid = first_serve(command, first[0], &pair[0], started, &released);
		if (released) {
			wait_end(pid, status);
			kill(worker, SIGKILL);
		}
		wait_end(worker, &ended);
		if (released)
			ended = *status;
		else if (pid > 0 && WIFSIGNALED(ended) && !kill(pid, SIGCONT))
			/* A worker that was killed can leave CMD stopped by SIGSTOP, or at work. */
			wait_end(pid, &ended);
		*status = WIFSIGNALED(ended) ? 128 + WTERMSIG(ended) : WEXITSTATUS(ended);
	} else if (worker > 0) {
		wait_end(worker, &ended);
	}
	close(first[0]);
	if (pair[0] >= 0)
		close(pair[0]);
	return hello == REQUEST_HELLO;
}

/**
 * unrecorded_fork() - in the worker: have CMD forked, and trace it
 * @report: filled: descriptor that an int has to be written to before CMD executes, and from
 *	which its errno can be read if it cannot; for close()
 *
 * The SIGSTOP of PTRACE_ATTACH is still to be waited for.
 *
 * Return: the process, or -1 and errno.
 */
pid_t unrecorded_fork(int *report)
{
	int pid = -1;

	*report = worker_command;
	worker_command = -1;
	errno = ECHILD;
	if (put_int(worker_first, REQUEST_FORK) || get_int(worker_first, &pid) || pid < 0 ||
	    ptrace(PTRACE_ATTACH, pid, NULL, NULL))
		return -1;
	return pid;
}

/**
 * unrecorded_release() - what is left to do may be cut off when CMD ends
 *
 * In the worker: the program then ends, with the exit status of CMD, and this process is killed.
 * Elsewhere this does nothing.
 */
void unrecorded_release(void)
{
	if (unrecorded_is())
		put_int(worker_first, REQUEST_RELEASE);
}

/** unrecorded_wait() - in the worker: wait until it is killed as CMD has ended */
void unrecorded_wait(void)
{
	int none;

	unrecorded_release();
	while (!get_int(worker_first, &none))
		;
}
