/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading the bits of a table, for the validator and the lookup alike.  [S]
 */
#ifndef BEE_TABLE_BITS_H
#define BEE_TABLE_BITS_H

#include <asm/byteorder.h>

#include "table.h"

/* Kinds of tokens and phrases. */
#define HEAD	0
#define STEP	1

/* At least 57 bits of the blob from bit @at on. */
static __always_inline u64 bits_at(const u8 *blob, u32 at)
{
	__le64 word;

	__builtin_memcpy(&word, blob + (at >> 3), sizeof(word));
	return le64_to_cpu(word) >> (at & 7);
}

static __always_inline u32 bits_mask(u32 width)
{
	return (1u << width) - 1;
}

static inline const u8 *table_blob(const struct bee_table *table)
{
	return (const u8 *)table->header;
}

/* The field of @width bits at bit @at. */
static __always_inline u32 table_field(const struct bee_table *table, u32 at, u32 width)
{
	return bits_at(table_blob(table), at) & bits_mask(width);
}

/* See BEE_SCAN_*. */
static __always_inline u32 class_width(u64 class)
{
	return class >> BEE_SCAN_WIDTH_SHIFT & 0xff;
}

/* The phrase number or place in a field that begins with @bits. */
static __always_inline u32 class_id(u64 class, u64 bits)
{
	return bits >> (class >> BEE_SCAN_GAP_BITS_SHIFT & 31) & (class >> BEE_SCAN_ID_SHIFT & BEE_SCAN_ID);
}

static inline u32 rule_field(u32 rule)
{
	return rule >> BEE_RULE_CFA_SHIFT & BEE_RULE_CFA_FIELD;
}

static inline u32 rule_menu(u32 rule)
{
	return rule >> BEE_RULE_MENU_SHIFT;
}

/* A phrase found by its number, and the bit of the blob where it is. */
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
 * What a window begins with, @width bits; without a branch, as whether it is long cannot be
 * foreseen.  @bits are 57 from its first one on.
 */
struct window_start {
	u32	state;
	u32	body;
	u32	width;
	u64	bits;
};

static __always_inline struct window_start window_start(const struct bee_table *table, u32 at)
{
	u64 bits = bits_at(table_blob(table), at);
	u32 is_long = bits & 1;
	u32 short_width = 1 + table->body_bits, long_width = 3 + table->rule_bits;
	u32 body_short = (u32)bits >> 1 & bits_mask(table->body_bits);
	u32 body_long = (u32)bits >> 3 & bits_mask(table->rule_bits);

	return (struct window_start){
		.state = bits >> 1 & 3 & -is_long,
		.body = body_short ^ ((body_short ^ body_long) & -is_long),
		.width = short_width ^ ((short_width ^ long_width) & -is_long),
		.bits = bits,
	};
}

/* A page record: bit of the blob, bits of it, of a border, and of all before the windows. */
struct page_record {
	u32	at;
	u32	length;
	u32	border_bits;
	u32	windows;
};

static __always_inline struct page_record page_record(const struct bee_table *table, u32 page)
{
	u32 at = (table->records + (page >> BEE_PAGE_RECORD_SHIFT)) * 8;
	u32 narrower = page >> BEE_PAGE_NARROWER_SHIFT & BEE_PAGE_NARROWER;
	u32 border_bits = table->border_bits - narrower;

	return (struct page_record){
		.at = at,
		.length = bits_at(table_blob(table), at) & 0xffff,
		.border_bits = border_bits,
		.windows = 16 + bits_mask(table->page) * border_bits,
	};
}

/* The bits [@at, @end) of the blob that are window @i of a page. */
static __always_inline void page_window(const struct bee_table *table, const struct page_record *r,
					u32 i, u32 *at, u32 *end)
{
	u64 borders = bits_at(table_blob(table), r->at + 16 + i * r->border_bits - r->border_bits);
	u32 mask = bits_mask(r->border_bits);
	u32 first = r->windows - ((mask + 1) >> 1);
	u32 size = r->length - r->windows, even = i * size;
	u32 begin = first + (even >> table->page) + ((u32)borders & mask);
	u32 next = first + ((even + size) >> table->page) + ((u32)(borders >> r->border_bits) & mask);

	*at = r->at + (i ? begin : r->windows);
	*end = r->at + ((i + 1) >> table->page ? r->length : next);
}

#endif /* BEE_TABLE_BITS_H */
