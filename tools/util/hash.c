// SPDX-License-Identifier: GPL-2.0
/* Where hashes begin. */
#include <sys/random.h>

#include "hash.h"

u64 hash_secret;

/* Choose the random number of hash_seed(), or a constant where the kernel gives no randomness. */
u64 hash_choose_secret(void)
{
	if (getrandom(&hash_secret, sizeof(hash_secret), GRND_NONBLOCK) != sizeof(hash_secret))
		hash_secret = 0x243f6a8885a308d3ull;
	return hash_secret;
}
