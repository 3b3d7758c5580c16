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

#endif /* BEE_CLOCK_H */
