// SPDX-License-Identifier: GPL-2.0
/*
 * Processes that map, unmap, move, fork, execute and die as fast as they can, and call code in what they
 * have mapped (torture_work.c).  Every half second the main thread of one ends, and another is killed and
 * followed by a new one.  Goes on until standard input ends; prints a line when it has begun, and at the
 * end what they have done.
 */
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "torture.h"

#define WORKERS	3

static uintptr_t seed = 1;

static pid_t start(void)
{
	pid_t pid = fork();

	if (pid < 0)
		guest_die("torture", "fork");
	if (!pid) {
		torture_worker((void *)seed);
		for (;;)
			pause();
	}
	seed++;
	return pid;
}

int main(void)
{
	struct pollfd input = { .fd = 0, .events = POLLIN };
	const struct torture_counts *c;
	pid_t pid[WORKERS];
	int i, round;

	torture_open();
	c = torture_counts;
	for (i = 0; i < WORKERS; i++)
		pid[i] = start();
	printf("begun\n");
	fflush(stdout);
	for (round = 0; !poll(&input, 1, 500); round++) {
		kill(pid[(round + 1) % WORKERS], SIGUSR1);
		i = round % WORKERS;
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
		pid[i] = start();
	}
	for (i = 0; i < WORKERS; i++) {
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
	}
	printf("maps %lu, unmaps %lu, moves %lu, calls %lu, dlopens %lu, new files %lu, forks %lu, execs %lu, threads %lu\n",
	       c->maps, c->unmaps, c->moves, c->calls, c->dlopens, c->fresh, c->forks, c->execs, c->threads);
	return 0;
}
