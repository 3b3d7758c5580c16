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

static inline u32 rule_field(u32 rule)
{
	return rule >> BEE_RULE_CFA_SHIFT & BEE_RULE_CFA_FIELD;
}

static inline u32 rule_menu(u32 rule)
{
	return rule >> BEE_RULE_MENU_SHIFT;
}

/* What a window begins with. */
struct window_start {
	u32	state;
	u32	body;
	u32	width;
};

static __always_inline struct window_start window_start(const struct bee_table *table, u32 at)
{
	u64 bits = bits_at(table_blob(table), at);
	bool is_long = bits & 1;
	u32 skip = is_long ? 3 : 1;
	u32 width = is_long ? table->rule_bits : table->body_bits;

	return (struct window_start){
		.state = is_long ? bits >> 1 & 3 : BEE_WINDOW_BODY,
		.body = bits >> skip & bits_mask(width),
		.width = skip + width,
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

/* The bit of the blob where window @i of a page begins, and window @i - 1 ends. */
static __always_inline u32 page_border(const struct bee_table *table, const struct page_record *r,
				       u32 i)
{
	u32 at = r->at + 16 + i * r->border_bits - r->border_bits;
	u32 border = bits_at(table_blob(table), at) & bits_mask(r->border_bits);
	u32 even = i * (r->length - r->windows) >> table->page;

	border = r->windows + even + border - (1u << r->border_bits >> 1);
	border = i ? border : r->windows;
	return r->at + (i >> table->page ? r->length : border);
}

#endif /* BEE_TABLE_BITS_H */
