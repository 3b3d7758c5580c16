/* SPDX-License-Identifier: GPL-2.0 */
/* Rows for code without CFI, where the code itself proves them. */
#ifndef BEE_SYNTH_H
#define BEE_SYNTH_H

#include "code.h"
#include "elf.h"
#include "rows.h"

/* Hand-written assembly takes 1 to 3 in stock libraries (x264, dav1d), busybox 11, node 77. */
#define SYNTH_PATIENCE	4

/**
 * struct synth_input - what is known of a file
 * @elf: the file
 * @gaps: text without CFI, ascending, in executable segments
 * @ngaps: entries in @gaps
 * @functions: pcs where functions with CFI and a caller start, ascending
 * @nfunctions: entries in @functions
 * @patience: how many times the work for what is proven may go into attempts that fail before the
 *	file is given up; SYNTH_PATIENCE
 */
struct synth_input {
	const struct elf_file	*elf;
	const struct code_gap	*gaps;
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
 * @by_abi: the rule is right if the code keeps the ABI; if false, the code proves the rule
 */
struct synth_range {
	u64		start;
	u64		end;
	struct bee_rule	rule;
	bool		by_abi;
};

/**
 * struct synth - what was found
 * @ranges: ascending
 * @nranges: entries in @ranges
 * @room: ranges there is memory for
 * @starts: pcs where functions start that have been proven, in no order
 * @nstarts: entries in @starts
 * @room_starts: pcs there is memory for
 * @full: there were too many ranges, so that there are none
 */
struct synth {
	struct synth_range	*ranges;
	size_t			 nranges;
	size_t			 room;
	u64			*starts;
	size_t			 nstarts;
	size_t			 room_starts;
	bool			 full;
};

void synth_make(const struct synth_input *input, struct synth *synth);
void synth_add(struct synth *synth, u64 start, u64 end, const struct bee_rule *rule);
size_t synth_add_padding(struct synth *synth, const struct elf_file *elf, u64 pc, const u8 *code, size_t size);
void synth_free(struct synth *synth);

#endif /* BEE_SYNTH_H */
