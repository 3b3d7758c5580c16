/* SPDX-License-Identifier: GPL-2.0 */
/* Random numbers for tests: xorshift64, so the same numbers in each run. */
#ifndef SELFTESTS_RANDOM_H
#define SELFTESTS_RANDOM_H

#include <linux/types.h>

static inline u64 random_u64(void)
{
	static u64 x = 88172645463325252ull;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

#endif /* SELFTESTS_RANDOM_H */
