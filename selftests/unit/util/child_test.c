// SPDX-License-Identifier: GPL-2.0
/*
 * A child that is killed and does not end: nobody waits for it, it keeps no pipe open, and it is reaped
 * later.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "kselftest.h"

/* Instead of libc's: as if the process waited for a file system that does not answer. */
int kill(pid_t pid, int number)
{
	(void)pid;
	(void)number;
	return 0;
}

static int gate[2];

/* Keeps nothing but the end of the gate that is read.  Ends when the test closes the gate, or at once if @arg is NULL. */
static void work(void *arg, size_t index, FILE *out)
{
	char byte;

	(void)index;
	if (!arg)
		return;
	child_let_go(out, gate, 1);
	if (read(gate[0], &byte, 1))
		_exit(1);
}

static bool run_another(void)
{
	struct child child;

	if (child_start(&child, work, NULL, 0))
		return false;
	while (child_read(&child))
		;
	free(child.data);
	return !child.died[0];
}

int main(void)
{
	struct child child;
	siginfo_t info;
	int output[2], before = dup(STDOUT_FILENO);
	pid_t pid;
	char byte;

	ksft_print_header();
	ksft_set_plan(4);
	if (pipe(gate) || pipe(output))
		return 1;
	fflush(stdout);
	dup2(output[1], STDOUT_FILENO);
	if (child_start(&child, work, gate, 0))
		return 1;
	dup2(before, STDOUT_FILENO);
	pid = child.pid;
	child_kill(&child);
	ksft_test_result(child.fd < 0 && !child.data && !waitpid(pid, NULL, WNOHANG),
			 "a child that was given up is not waited for\n");
	ksft_test_result(run_another() && !waitpid(pid, NULL, WNOHANG),
			 "a child that was given up is not waited for when another is started\n");
	close(output[1]);
	alarm(20);
	ksft_test_result(!read(output[0], &byte, 1), "the end of a pipe that a given up child had is not waited for\n");
	alarm(0);
	close(gate[1]);
	waitid(P_PID, pid, &info, WEXITED | WNOWAIT);
	ksft_test_result(run_another() && waitpid(pid, NULL, WNOHANG) < 0 && errno == ECHILD,
			 "a child that was given up is reaped when it has ended\n");
	ksft_finished();
}
