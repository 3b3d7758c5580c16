/* SPDX-License-Identifier: GPL-2.0 */
/* Plain formats to compare tables with: sorted rows with binary search. */
#ifndef BEE_BENCH_FORMATS_H
#define BEE_BENCH_FORMATS_H

#include "rows.h"

/**
 * struct rows8 - rows of eight bytes
 * @base: first pc
 * @span: bytes of text
 * @rules: the rules
 * @nrows: number of rows
 * @rows: the rows
 */
struct rows8 {
	u64			 base;
	u64			 span;
	const struct bee_rule	*rules;
	size_t			 nrows;
	struct row8 {
		u32	pc;
		u32	rule;
	}			*rows;
};

/**
 * struct rows4 - rows of four bytes, in pages of 64 KiB of text
 * @base: first pc
 * @span: bytes of text
 * @rules: the rules
 * @nrows: number of rows, counting one more for each page that begins inside a row
 * @rows: bits 16-31 the pc in the page, 0-15 the rule
 * @npages: number of pages
 * @pages: index of the first row of each page, and the number of rows
 */
struct rows4 {
	u64			 base;
	u64			 span;
	const struct bee_rule	*rules;
	size_t			 nrows;
	u32			*rows;
	size_t			 npages;
	u32			*pages;
};

void rows8_make(const struct row_set *set, struct rows8 *rows);
void rows8_lookup(const struct rows8 *rows, u64 pc, struct bee_rule *row);
void rows4_make(const struct row_set *set, struct rows4 *rows);
void rows4_lookup(const struct rows4 *rows, u64 pc, struct bee_rule *row);

#endif /* BEE_BENCH_FORMATS_H */
