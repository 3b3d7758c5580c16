/* SPDX-License-Identifier: GPL-2.0 */
/* Hashes of which who chooses the items does not know where they fall. */
#ifndef HASH_H
#define HASH_H

#include <linux/types.h>

/* Where all hashes begin; 0: chosen at random when the first one is made.  Tests set it. */
extern u64 hash_secret;

u64 hash_choose_secret(void);

/** hash_seed() - a random number that hashes begin with; it does not change while this process runs */
static inline u64 hash_seed(void)
{
	return hash_secret ?: hash_choose_secret();
}

/** hash_word() - add a word to a hash: multiply and fold */
static inline u64 hash_word(u64 hash, u64 word)
{
	unsigned __int128 product = (unsigned __int128)(hash ^ word) * 0x9e3779b97f4a7c15ull;

	return (u64)product ^ (u64)(product >> 64);
}

#endif /* HASH_H */
