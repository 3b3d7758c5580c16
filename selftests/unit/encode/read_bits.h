/* SPDX-License-Identifier: GPL-2.0 */
/* Read a string of bits, one bit at a time. */
#ifndef SELFTESTS_READ_BITS_H
#define SELFTESTS_READ_BITS_H

#include "bits.h"

/* The @width bits at @at; the first one is the least significant. */
static inline u64 read_bits(const struct bits *bits, u64 at, u32 width)
{
	u64 value = 0;
	u32 i;

	for (i = 0; i < width; i++)
		value |= (u64)(bits->bytes[(at + i) / 8] >> (at + i) % 8 & 1) << i;
	return value;
}

#endif /* SELFTESTS_READ_BITS_H */
