/* SPDX-License-Identifier: GPL-2.0 */
/* Read the bits of a table: for table.c and table_check.c. */
#ifndef BEE_TABLE_BITS_H
#define BEE_TABLE_BITS_H

#include <linux/compiler.h>
#include <linux/nospec.h>
#include <asm/byteorder.h>

#include "table.h"

/* Kinds of tokens and phrases: indices of the header's arrays of two. */
#define HEAD	0
#define STEP	1

static __always_inline u32 bits_mask(u32 width)
{
	return (1u << width) - 1;
}

static inline const u8 *table_blob(const struct bee_table *table)
{
	return (const u8 *)table->header;
}

/*
 * The eight bytes at byte @at.  In a table that was checked they are in the blob.  But behind a
 * mispredicted branch bits can be taken for another kind of number than they are, so whatever @at
 * is, no byte outside of the blob is read.
 */
static __always_inline u64 table_word_at(const struct bee_table *table, u32 at)
{
	__le64 word;

	at = array_index_nospec(at, table->size - (sizeof(word) - 1));
	__builtin_memcpy(&word, table_blob(table) + at, sizeof(word));
	return le64_to_cpu(word);
}

/* Read at least 57 bits from bit @at of the blob on. */
static __always_inline u64 table_bits(const struct bee_table *table, u32 at)
{
	return table_word_at(table, at >> 3) >> (at & 7);
}

/* The field of @width bits at bit @at. */
static __always_inline u32 table_field(const struct bee_table *table, u32 at, u32 width)
{
	return table_bits(table, at) & bits_mask(width);
}

/* Width of a token's field. */
static __always_inline u32 class_width(u64 class)
{
	return class >> BEE_SCAN_WIDTH_SHIFT & 0xff;
}

/* The phrase number, or place in a menu, of the token whose field begins with @bits. */
static __always_inline u32 class_id(u64 class, u64 bits)
{
	return bits >> (class >> BEE_SCAN_GAP_BITS_SHIFT & 31) &
	       (class >> BEE_SCAN_ID_SHIFT & BEE_SCAN_ID);
}

static inline u32 word_field(u32 word)
{
	return word >> BEE_WORD_CFA_SHIFT & BEE_WORD_CFA_FIELD;
}

static inline u32 word_menu(u32 word)
{
	return word >> BEE_WORD_MENU_SHIFT;
}

/* A phrase: those with as many ops, its number of ops, and its bit of the blob. */
struct phrase {
	const struct bee_table_group	*group;
	u32				 nops;
	u32				 at;
};

static __always_inline struct phrase table_phrase(const struct bee_table *table, u32 kind, u32 id)
{
	const struct bee_table_group *g = &table->kinds[kind].groups[id % BEE_TABLE_MAX_OPS];

	return (struct phrase){
		.group = g,
		.nops = id % BEE_TABLE_MAX_OPS + 1,
		.at = g->phrases + id / BEE_TABLE_MAX_OPS * g->width,
	};
}

/*
 * The start of a window.  @state: enum window_state.  @body: number of the body rule.  @width: bits
 * of the start.  @bits: 57 bits or more from the first one.  @rest: those behind the start.
 */
struct window_start {
	u32	state;
	u32	body;
	u32	width;
	u64	bits;
	u64	rest;
};

/*
 * Branches would be mispredicted here, as short and long starts mix: compute both, then select.
 * OPTIMIZER_HIDE_VAR() keeps the compiler from turning the selection into a branch.
 */
static __always_inline struct window_start window_start(const struct bee_table *table, u32 at)
{
	u64 bits = table_bits(table, at);
	u64 rest = bits >> table->short_width, rest_long = bits >> table->long_width;
	u32 body = (u32)bits >> 1 & table->body_mask, body_long = (u32)bits >> 3 & table->rule_mask;
	u32 width = table->short_width, width_long = table->long_width;
	bool is_long = bits & 1;

	OPTIMIZER_HIDE_VAR(rest);
	OPTIMIZER_HIDE_VAR(rest_long);
	OPTIMIZER_HIDE_VAR(body);
	OPTIMIZER_HIDE_VAR(body_long);
	OPTIMIZER_HIDE_VAR(width);
	OPTIMIZER_HIDE_VAR(width_long);
	return (struct window_start){
		.state = bits >> 1 & 3 & -(u32)is_long,
		.body = is_long ? body_long : body,
		.width = is_long ? width_long : width,
		.bits = bits,
		.rest = is_long ? rest_long : rest,
	};
}

/*
 * A page record.  In bits: where it @starts in the blob, its @length, the width of a border, the place
 * of the @windows in it.
 */
struct page_record {
	u32	start;
	u32	length;
	u32	border_bits;
	u32	windows;
};

static __always_inline struct page_record page_record(const struct bee_table *table, u32 page)
{
	u32 start = table->records + 8 * (page >> BEE_PAGE_RECORD_SHIFT);
	u32 narrower = page >> BEE_PAGE_NARROWER_SHIFT & BEE_PAGE_NARROWER;
	u32 border_bits = table->border_bits - narrower;

	return (struct page_record){
		.start = start,
		.length = table_field(table, start, 16),
		.border_bits = border_bits,
		.windows = 16 + table->page_mask * border_bits,
	};
}

/*
 * Window @i of a page is in bits [*@at, *@end) of the blob.  Masks instead of branches, as
 * whether it is the first or the last one cannot be predicted.
 */
static __always_inline void page_window(const struct bee_table *table, const struct page_record *r,
					u32 i, u32 *at, u32 *end)
{
	u64 borders = table_bits(table, r->start + 16 + (i - 1) * r->border_bits);
	u32 is_first = -(u32)!i, is_last = -((i + 1) >> table->page);
	u32 mask = bits_mask(r->border_bits), half = (mask + 1) >> 1;
	u32 size = r->length - r->windows, even = i * size;
	u32 first = r->start + r->windows - half;

	*at = first + (half & is_first) + (even >> table->page) + ((u32)borders & mask & ~is_first);
	*end = first + (half & is_last) + ((even + size) >> table->page) +
	       ((u32)(borders >> r->border_bits) & mask & ~is_last);
}

#endif /* BEE_TABLE_BITS_H */
