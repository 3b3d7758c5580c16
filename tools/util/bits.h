/* SPDX-License-Identifier: GPL-2.0 */
/* A string of bits that grows at its end. */
#ifndef BEE_BITS_H
#define BEE_BITS_H

#include <linux/types.h>
#include <string.h>

#include "alloc.h"

/**
 * struct bits - the string; all zero is an empty one
 * @bytes: bit i is bit i % 8 of byte i / 8; free() releases it
 * @nbits: its length
 * @room: bytes allocated; those after the end are zero
 */
struct bits {
	u8	*bytes;
	size_t	 nbits;
	size_t	 room;
};

/* Bits that @value needs: 0 for 0. */
static inline unsigned int bits_width(u32 value)
{
	return value ? 32 - __builtin_clz(value) : 0;
}

static inline size_t bits_bytes(const struct bits *bits)
{
	return (bits->nbits + 7) / 8;
}

/* Append the low @width bits of @value; @width is at most 56. */
static inline void bits_put(struct bits *bits, u64 value, unsigned int width)
{
	size_t at = bits->nbits / 8;
	u64 word;

	if (at + 2 * sizeof(word) > bits->room) {
		size_t room = bits->room ? bits->room * 2 : 1024;

		bits->bytes = alloc_array(bits->bytes, room, 1);
		memset(bits->bytes + bits->room, 0, room - bits->room);
		bits->room = room;
	}
	value &= (1ull << width) - 1;
	memcpy(&word, bits->bytes + at, sizeof(word));
	word |= value << bits->nbits % 8;
	memcpy(bits->bytes + at, &word, sizeof(word));
	bits->nbits += width;
}

static inline void bits_align(struct bits *bits)
{
	bits->nbits = bits_bytes(bits) * 8;
}

#endif /* BEE_BITS_H */
