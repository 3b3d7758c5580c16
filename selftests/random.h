/* SPDX-License-Identifier: GPL-2.0 */
/* Random numbers for tests: the same numbers in each run. */
#ifndef SELFTESTS_RANDOM_H
#define SELFTESTS_RANDOM_H

#include <linux/types.h>

/* Not 0.  A test that takes a seed sets it. */
static u64 random_state = 88172645463325252ull;

/* xorshift64 */
static inline u64 random_u64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* xorshift64* */
static inline u32 random_below(u32 below)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (u32)(random_state * 0x2545f4914f6cdd1dull >> 32) % below;
}

#endif /* SELFTESTS_RANDOM_H */
