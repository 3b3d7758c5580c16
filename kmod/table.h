/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Validate and look up unwind tables, in the module and in beectl (which has tools/include for the
 * headers of the kernel); the format is in <linux/beeunwind_table.h>.
 */
#ifndef BEE_TABLE_H
#define BEE_TABLE_H

#include <linux/types.h>
#include <linux/beeunwind_table.h>

/**
 * struct bee_rule - a rule, decoded: how to get CFA, RA and FP
 * @kind: enum bee_rule_kind
 * @arg: BEE_RULE_KNOWN: BEE_RULE_SIGNAL or 0; BEE_RULE_UNSUPPORTED: enum bee_unsupported
 * @cfa: enum bee_cfa; this and all that follows as in struct bee_table_rule, 0 in other kinds
 *	than BEE_RULE_KNOWN
 * @cfa_reg: see there
 * @fp: enum bee_fp
 * @fp_reg: see there
 * @ra: enum bee_ra
 * @ra_reg: see there
 * @cfa_off: see there
 * @cfa_add: see there
 * @fp_off: see there
 * @ra_off: see there
 */
struct bee_rule {
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

/*
 * A class of tokens in one word, for the scan of a window.  Shift counts begin at a byte, so that
 * "& 31" costs nothing: 32-bit shifts use only the low five bits of a count.
 */
#define BEE_SCAN_GAP		0xffffull	/* mask of the gap field */
#define BEE_SCAN_GRAIN_SHIFT	16		/* log2 of the gap's unit in bytes */
#define BEE_SCAN_WIDTH_SHIFT	24		/* width of the whole field */
#define BEE_SCAN_GAP_BITS_SHIFT	32		/* width of the gap */
#define BEE_SCAN_ID_SHIFT	40		/* mask of the phrase number or place */
#define BEE_SCAN_ID		0x7ffffull	/* largest mask */
#define BEE_SCAN_TOKEN		(1ull << 60)	/* always set */
#define BEE_SCAN_DIRECT		(1ull << 61)
#define BEE_SCAN_STEP		(1ull << 63)

/* A value of the head menu. */
#define BEE_HEAD_PHRASE		0xffffu
#define BEE_HEAD_BODY_SHIFT	16

/**
 * struct bee_table_group - the phrases of one kind with one number of ops
 * @phrases: where the phrases begin, a bit of the blob
 * @shapes: where their shapes begin, a bit of the blob
 * @width: width of a phrase
 * @shape_bits: width of a shape's number
 * @shape_width: width of a shape
 */
struct bee_table_group {
	u32	phrases;
	u32	shapes;
	u16	width;
	u16	shape_bits;
	u32	shape_width;
};

/**
 * struct bee_table_phrases - the phrases of one kind
 * @groups: by number of ops, less one
 * @id_bits: width of a phrase number
 * @used: whether there are phrases of this kind
 */
struct bee_table_phrases {
	struct bee_table_group	groups[BEE_TABLE_MAX_OPS];
	u8			id_bits;
	bool			used;
};

/**
 * struct bee_table - a validated blob, ready for lookups
 * @base: first pc of the text covered
 * @span: bytes of the text
 * @origin: @base rounded down to a window; @base in a list
 * @reach: bytes from @origin to the end of the text
 * @header: the blob
 * @pages: the page directory
 * @rules: the rule dictionary
 * @head_menu: the head menu
 * @step_menus: the step menus, one after the other
 * @records: where the page records begin, a bit of the blob
 * @size: bytes of the blob
 * @window: log2 bytes of text in a window; 0 in a list, which has no use for what follows up to
 *	@kinds
 * @page: log2 windows in a page
 * @page_shift: log2 bytes of text in a page
 * @page_mask: windows in a page, less one
 * @border_bits: width of the widest borders
 * @short_width: width of a window's start with a short body rule number
 * @long_width: and with a long one
 * @menu_bits: log2 places in a step menu
 * @rule_bits: width of a rule number
 * @op_bits: width of an op
 * @window_mask: bytes of text in a window, less one
 * @body_mask: mask of a short body rule number
 * @rule_mask: mask of a rule number
 * @nrules: number of rules
 * @nheads: places in the head menu
 * @nsteps: places in all step menus
 * @scan: classes by tag, as BEE_SCAN_*
 * @kinds: head and step phrases
 * @segments: executable PT_LOADs
 * @full: the full rules
 * @rows: the rows of a list
 * @nrows: number of rows
 * @nfull: number of full rules
 * @nsegments: number of segments
 * @npages: number of pages
 *
 * All pointers are into the blob, which the caller keeps alive and unchanged.  Fields are in the
 * order in which a lookup needs them, as they may not be in a cache.
 */
struct bee_table {
	u64				 base;
	u64				 span;
	u64				 origin;
	u64				 reach;
	const struct bee_table_header	*header;
	const __le32			*pages;
	const __le32			*rules;
	const __le32			*head_menu;
	const __le16			*step_menus;
	u32				 records;
	u32				 size;
	u8				 window;
	u8				 page;
	u8				 page_shift;
	u8				 page_mask;
	u8				 border_bits;
	u8				 short_width;
	u8				 long_width;
	u8				 menu_bits;
	u8				 rule_bits;
	u8				 op_bits;
	u16				 window_mask;
	u16				 body_mask;
	u16				 rule_mask;
	u32				 nrules;
	u32				 nheads;
	u32				 nsteps;
	u64				 scan[BEE_TABLE_CLASSES];
	struct bee_table_phrases	 kinds[2];
	const struct bee_table_segment	*segments;
	const struct bee_table_rule	*full;
	const struct bee_table_row	*rows;
	u32				 nrows;
	u32				 nfull;
	u32				 nsegments;
	u32				 npages;
};

/**
 * struct bee_table_error - why a blob was refused
 * @why: a constant sentence, without a trailing newline
 * @offset: the byte of the blob to blame
 */
struct bee_table_error {
	const char	*why;
	u64		 offset;
};

int bee_table_validate(const void *blob, size_t size, struct bee_table *table,
		       struct bee_table_error *error);
void bee_table_lookup(const struct bee_table *table, u64 pc, struct bee_rule *rule);
u32 bee_table_word(const struct bee_table *table, u64 place, s32 *left);
bool bee_table_is_one(const struct bee_table *table, u64 start, u64 place, s32 *left);
void bee_table_decode(const struct bee_table *table, u32 word, struct bee_rule *rule);
bool bee_table_next(const struct bee_table *table, u64 pc, u64 *end, struct bee_rule *rule);
u32 bee_table_width(u32 count);
u64 bee_table_pc(const struct bee_table *table, u64 offset);

/** bee_table_leaves_fp() - functions that keep a frame pointer are gaps in this table.  Context: Any. */
static inline bool bee_table_leaves_fp(const struct bee_table *table)
{
	return table->header->flags & BEE_TABLE_F_FP_BYPASS;
}

/** bee_word_is_simple() - whether a word has the whole rule.  Context: Any. */
static inline bool bee_word_is_simple(u32 word)
{
	return (word & BEE_WORD_KIND) <= BEE_WORD_RBP;
}

#endif /* BEE_TABLE_H */
