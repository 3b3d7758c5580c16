// SPDX-License-Identifier: GPL-2.0
/* vdso SECONDS: reads clocks in a loop, so that most samples are in the vDSO. */
#include <stdlib.h>
#include <time.h>

static __attribute__((noinline)) long ask(void)
{
	struct timespec now;
	long sum = 0;
	int i;

	for (i = 0; i < 1000; i++) {
		clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
		sum += now.tv_nsec;
		clock_gettime(CLOCK_REALTIME, &now);
		sum += now.tv_nsec;
	}
	return sum;
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 1);
	long sum = 0;

	while (time(NULL) < end)
		sum += ask();
	return sum == 1;
}
