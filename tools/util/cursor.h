/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Read bytes in order without leaving their bounds.  A read past the end
 * returns 0 and makes the cursor bad for good, so callers check once at the end.
 */
#ifndef BEE_CURSOR_H
#define BEE_CURSOR_H

#include <linux/types.h>

/**
 * struct cursor - a position in bytes
 * @at: next byte
 * @end: byte after the last
 * @bad: something could not be read
 */
struct cursor {
	const u8	*at;
	const u8	*end;
	bool		 bad;
};

static inline struct cursor cursor_of(const void *data, size_t size)
{
	const u8 *at = data;

	return (struct cursor){ .at = at, .end = size ? at + size : at };
}

static inline size_t cursor_left(const struct cursor *c)
{
	return c->end - c->at;
}

/* The next @size bytes, skipped; NULL if there are fewer. */
static inline const u8 *cursor_take(struct cursor *c, u64 size)
{
	const u8 *at = c->at;

	if (c->bad || size > cursor_left(c)) {
		c->bad = true;
		c->at = c->end;
		return NULL;
	}
	c->at += size;
	return at;
}

/* A little-endian unsigned integer of @size bytes, at most 8. */
static inline u64 cursor_uint(struct cursor *c, unsigned int size)
{
	const u8 *p = cursor_take(c, size);
	u64 value = 0;

	if (!p)
		return 0;
	while (size)
		value = value << 8 | p[--size];
	return value;
}

static inline s64 cursor_sint(struct cursor *c, unsigned int size)
{
	unsigned int shift = 64 - 8 * size;

	return (s64)(cursor_uint(c, size) << shift) >> shift;
}

static inline u8 cursor_u8(struct cursor *c)
{
	return cursor_uint(c, 1);
}

static inline u32 cursor_u32(struct cursor *c)
{
	return cursor_uint(c, 4);
}

static inline u64 cursor_u64(struct cursor *c)
{
	return cursor_uint(c, 8);
}

/* LEB128 (DWARF 5, 7.6); bad if the value exceeds 64 bits. */
static inline u64 cursor_leb(struct cursor *c, bool is_signed)
{
	unsigned int shift = 0;
	u64 value = 0;
	u8 byte, bits;

	do {
		byte = cursor_u8(c);
		bits = byte & 0x7f;
		if (shift < 64)
			value |= (u64)bits << shift;
		/* The tenth byte has one bit of the value, those after it repeat the sign. */
		if (shift == 63 && bits > 1 && !(is_signed && bits == 0x7f))
			c->bad = true;
		if (shift > 63 && bits != (is_signed && (s64)value < 0 ? 0x7f : 0))
			c->bad = true;
		shift += shift < 64 ? 7 : 0;
	} while (byte & 0x80);
	if (is_signed && shift < 64 && byte & 0x40)
		value |= ~0ull << shift;
	return c->bad ? 0 : value;
}

static inline u64 cursor_uleb(struct cursor *c)
{
	return cursor_leb(c, false);
}

static inline s64 cursor_sleb(struct cursor *c)
{
	return cursor_leb(c, true);
}

/* A string up to and including its NUL; NULL if there is none. */
static inline const char *cursor_string(struct cursor *c)
{
	const u8 *start = c->at;

	while (!c->bad && cursor_u8(c))
		;
	return c->bad ? NULL : (const char *)start;
}

#endif /* BEE_CURSOR_H */
