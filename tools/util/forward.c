// SPDX-License-Identifier: GPL-2.0
/* Signals that are meant for a child process. */
#include <errno.h>
#include <signal.h>
#include <stddef.h>

#include "forward.h"

static volatile sig_atomic_t forward_pid;

static void forward(int signal)
{
	int saved = errno;

	if (forward_pid)
		kill(forward_pid, signal);
	errno = saved;
}

/**
 * forward_signals() - from now on, send signals that this process gets to another one
 * @signals: their numbers, ended by 0
 * @pid: to this process, only to the one of the last call
 *
 * System calls that they interrupt are started again.
 */
void forward_signals(const int *signals, pid_t pid)
{
	const struct sigaction action = { .sa_handler = forward, .sa_flags = SA_RESTART };
	size_t i;

	forward_pid = pid;
	for (i = 0; signals[i]; i++)
		sigaction(signals[i], &action, NULL);
}

static void forward_hangup_as_term(int signal)
{
	(void)signal;
	forward(SIGTERM);
}

/**
 * forward_hangup() - from now on, when this process gets SIGHUP, send SIGTERM to the one of forward_signals()
 *
 * Unless SIGHUP is ignored, as nohup(1) has it.
 */
void forward_hangup(void)
{
	const struct sigaction action = { .sa_handler = forward_hangup_as_term,
					  .sa_flags = SA_RESTART };
	struct sigaction now;

	if (!sigaction(SIGHUP, NULL, &now) && now.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &action, NULL);
}

/** forward_end() - the process has ended, or is another one's child: these signals do nothing */
void forward_end(void)
{
	forward_pid = 0;
}
