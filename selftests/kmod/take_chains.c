// SPDX-License-Identifier: GPL-2.0
/*
 * take_chains PID SAMPLES [deferred]: takes callchains of a process's first thread and prints how
 * many begin in _start, and of how many.  Exit status 4: this kernel has no deferred ones.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chains.h"
#include "guest.h"

int main(int argc, char **argv)
{
	struct chains c;
	unsigned int samples;
	pid_t pid;

	if (argc != 3 && (argc != 4 || strcmp(argv[3], "deferred")))
		guest_die(argv[0], "usage: PID SAMPLES [deferred]");
	pid = atoi(argv[1]);
	samples = atoi(argv[2]);
	if (argc == 3)
		chains_take(pid, samples, 0, &c);
	else if (!chains_take_deferred(pid, samples, 0, &c))
		return 4;
	printf("%u %u\n", c.complete, c.total);
	return 0;
}
