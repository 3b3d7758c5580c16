/* SPDX-License-Identifier: GPL-2.0 */
/* Rows for code without CFI, where the code itself proves them. */
#ifndef BEE_SYNTH_H
#define BEE_SYNTH_H

#include "elf.h"
#include "rows.h"

/* Hand-written assembly takes 1 to 3 in stock libraries (x264, dav1d), busybox 11, node 77. */
#define SYNTH_PATIENCE	4

/**
 * struct synth_gap - text to look at
 * @start: first pc
 * @end: pc after the last
 */
struct synth_gap {
	u64	start;
	u64	end;
};

/**
 * struct synth_input - what is known of a file
 * @elf: the file
 * @gaps: text without CFI, ascending, in executable segments
 * @ngaps: number of them
 * @functions: pcs where functions with CFI and a caller start, ascending
 * @nfunctions: number of them
 * @patience: how many times the work for what is proven may go into attempts that fail before the
 *	file is given up; SYNTH_PATIENCE
 */
struct synth_input {
	const struct elf_file	*elf;
	const struct synth_gap	*gaps;
	size_t			 ngaps;
	const u64		*functions;
	size_t			 nfunctions;
	unsigned int		 patience;
};

/**
 * struct synth_range - text with one rule
 * @start: first pc
 * @end: pc after the last
 * @rule: its rule
 */
struct synth_range {
	u64		start;
	u64		end;
	struct bee_rule	rule;
};

/**
 * struct synth - what was found
 * @ranges: ascending
 * @nranges: number of them
 * @room: ranges there is memory for
 */
struct synth {
	struct synth_range	*ranges;
	size_t			 nranges;
	size_t			 room;
};

void synth_make(const struct synth_input *input, struct synth *synth);
void synth_free(struct synth *synth);

#endif /* BEE_SYNTH_H */
