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
 * struct bee_row - the rules at one pc, decoded; see struct bee_table_rule
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
 * struct bee_table - a validated blob, ready for lookups
 * @base: pc of the first row
 * @span: bytes of text covered
 * @nrows: number of rows
 * @nrules: number of rules
 * @nsegments: number of segments
 * @size: bytes of the blob
 * @header: the blob itself
 * @segments: executable PT_LOADs
 * @rules: the rule dictionary
 * @start: start of each row, relative to @base
 * @rule: rule index of each row
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
	const struct bee_table_rule	*rules;
	const __le32			*start;
	const __le16			*rule;
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
void bee_table_row(const struct bee_table *table, u32 index, u64 *start, u64 *end,
		   struct bee_row *row);
bool bee_table_bias(const struct bee_table *table, u64 start, u64 offset, u64 *bias);

#endif /* BEE_TABLE_H */
