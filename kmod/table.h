/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Validate and look up unwind tables.  [S]: built into the module and, through
 * tools/include, into beectl; the format is in <linux/beeunwind_table.h>.
 */
#ifndef BEE_TABLE_H
#define BEE_TABLE_H

#include <linux/types.h>
#include <linux/beeunwind_table.h>

/*
 * struct bee_row - the rules at one pc, decoded
 * @kind: enum bee_row_kind
 * @arg: BEE_ROW_RULES: BEE_RULE_SIGNAL or 0; BEE_ROW_UNSUPPORTED: enum
 *	bee_unsupported
 *
 * The rest is that of struct bee_table_rule; zero in other kinds of rows.
 */
struct bee_row {
	u8	kind;
	u8	arg;
	u8	cfa;
	u8	cfa_reg;
	u8	fp;
	u8	fp_reg;
	u8	ra;
	u8	ra_reg;
	s32	cfa_off;
	s32	cfa_add;
	s32	fp_off;
	s32	ra_off;
};

/**
 * struct bee_table_token - how to read the phrase of the tokens with one tag
 * @id_mask: of the phrase number or place
 * @place_mask: the same in menu classes, 0 in others
 * @named_mask: all ones in menu classes, 0 in others
 * @gap_bits: width of the gap before it
 * @width: of the whole field
 * @flags: BEE_CLASS_*
 */
struct bee_table_token {
	u32	id_mask;
	u32	place_mask;
	u32	named_mask;
	u8	gap_bits;
	u8	width;
	u8	flags;
};

/* The same for the scan, in one word: mask of the gap, log2 of what it counts in, width. */
#define BEE_SCAN_GAP		0xffffu
#define BEE_SCAN_GRAIN_SHIFT	16
#define BEE_SCAN_STEP		(1u << 23)
#define BEE_SCAN_WIDTH_SHIFT	24

/**
 * struct bee_table_group - the phrases of one kind with one number of ops
 * @first: number of the first
 * @phrases: bit of the blob where they begin
 * @width: of each
 * @shapes: bit of the blob where their shapes begin
 * @shape_mask: of the number of a shape
 * @shape_bits: width of it
 * @shape_width: of a shape
 */
struct bee_table_group {
	u32	first;
	u32	phrases;
	u32	width;
	u32	shapes;
	u32	shape_mask;
	u16	shape_bits;
	u16	shape_width;
};

/**
 * struct bee_table_phrases - the phrases of one kind
 * @groups: those with i + 1 ops
 * @total: how many there are
 * @menu: bit of the blob where the menus begin
 * @id_mask: of a phrase number
 * @id_bits: width of it
 * @menu_bits: log2 places in each menu
 */
struct bee_table_phrases {
	struct bee_table_group	groups[BEE_TABLE_MAX_OPS];
	u32			total;
	u32			menu;
	u32			id_mask;
	u8			id_bits;
	u8			menu_bits;
};

/**
 * struct bee_table - a validated blob, ready for lookups
 * @base: first pc of the text covered
 * @span: bytes of it
 * @nrows: number of rows
 * @nrules: number of rules
 * @nsegments: number of segments
 * @size: bytes of the blob
 * @header: the blob itself
 * @segments: executable PT_LOADs
 * @full: the full rules
 * @rules: the rule dictionary
 * @pages: the page directory
 * @npages: number of pages
 * @nfull: number of full rules
 * @records: byte of the blob where the page records begin
 * @origin: @base rounded down to a window
 * @window: as in the header, like the next three
 * @page: see there
 * @border_bits: see there
 * @body_bits: see there
 * @rule_bits: width of a rule number
 * @op_bits: width of an op
 * @scan: by tag: BEE_SCAN_*
 * @tokens: by tag
 * @kinds: head and step phrases
 *
 * Everything points into the blob, which the caller keeps alive and unchanged.
 */
struct bee_table {
	u64				 base;
	u64				 span;
	u32				 nrows;
	u32				 nrules;
	u32				 nsegments;
	u32				 size;
	const struct bee_table_header	*header;
	const struct bee_table_segment	*segments;
	const struct bee_table_rule	*full;
	const __le32			*rules;
	const __le32			*pages;
	u32				 npages;
	u32				 nfull;
	u32				 records;
	u64				 origin;
	u8				 window;
	u8				 page;
	u8				 border_bits;
	u8				 body_bits;
	u8				 rule_bits;
	u8				 op_bits;
	u32				 scan[BEE_TABLE_CLASSES];
	struct bee_table_token		 tokens[BEE_TABLE_CLASSES];
	struct bee_table_phrases	 kinds[2];
};

/**
 * struct bee_table_error - why a blob was refused
 * @why: a constant sentence, without a trailing newline
 * @offset: byte of the blob that made it so
 */
struct bee_table_error {
	const char	*why;
	u64		 offset;
};

int bee_table_validate(const void *blob, size_t size, struct bee_table *table,
		       struct bee_table_error *error);
void bee_table_lookup(const struct bee_table *table, u64 pc, struct bee_row *row);
bool bee_table_next(const struct bee_table *table, u64 pc, u64 *end, struct bee_row *row);
u32 bee_table_width(u32 count);
u64 bee_table_pc(const struct bee_table *table, u64 offset);

#endif /* BEE_TABLE_H */
