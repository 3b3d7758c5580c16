/* SPDX-License-Identifier: GPL-2.0 */
/* Rows for code without CFI, where the code itself proves them. */
#ifndef BEE_SYNTH_H
#define BEE_SYNTH_H

#include "elf.h"
#include "rows.h"

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
 * @functions: pcs where functions with CFI start, ascending
 * @nfunctions: number of them
 */
struct synth_input {
	const struct elf_file	*elf;
	const struct synth_gap	*gaps;
	size_t			 ngaps;
	const u64		*functions;
	size_t			 nfunctions;
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
