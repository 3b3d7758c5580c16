/* SPDX-License-Identifier: GPL-2.0 */
/* The time that deadlines and delays are measured in. */
#ifndef BEE_CLOCK_H
#define BEE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* clock_ms(): CLOCK_MONOTONIC, ms */
static inline int64_t clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ll + now.tv_nsec / 1000000;
}

/* clock_sooner(): the shorter of two times to sleep, ms; -1 is for ever */
static inline int clock_sooner(int one, int other)
{
	return one < 0 || (other >= 0 && other < one) ? other : one;
}

#endif /* BEE_CLOCK_H */
