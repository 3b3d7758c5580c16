/* SPDX-License-Identifier: GPL-2.0 */
/* The walk of one user stack: from frame to caller until there is a stop reason. */
#ifndef BEE_WALK_H
#define BEE_WALK_H

#include <linux/types.h>
#include <linux/beeunwind.h>

#include "code.h"
#include "uread.h"
#include "frame.h"
#include "heap.h"
#include "rule_cache.h"
#include "store.h"
#include "uprobe.h"
#include "vma.h"

/**
 * struct bee_walk_gap - the gap from which a step by rbp was made
 * @stored: the table; NULL: there was none, the return address was found by the code at ip, rbp is not
 *	near rsp, or all functions in gaps keep a frame pointer
 * @place: of the frame's lookup ip
 * @target: where the call before the return address leads, or 0
 */
struct bee_walk_gap {
	const struct bee_stored	*stored;
	u64			 place;
	u64			 target;
};

/**
 * struct bee_walk - the state of one walk; too large for the stack of an NMI
 * @cache: rules that earlier walks have looked up; kept from walk to walk
 * @frame: the current frame
 * @laid: where current has code in memory that has a table, or NULL
 * @heaps: code heaps of current, or NULL
 * @heap: a step out of a code heap
 * @laid_part: the parts of @laid that were found last, by turns, so that @range stays
 * @range: the range of @frame's lookup ip, or NULL
 * @stored: the table of @range when the walk came to it, or NULL
 * @text: where @range has the first byte of the table's text, if the file has one segment
 * @span: bytes of the table's text, or 0 if the file has more than one segment
 * @file: file of the last frame whose caller was looked for: where the walk ended; or NULL
 * @word: rule of that frame, if a table has it and it is not simple
 * @rule: @word, decoded
 * @stop: BEEUNWIND_STOP_NONE, or why the walk has ended
 * @fp_steps: number of callers found by the frame pointer
 * @met: the walk met a file that has a table, or a code heap, or nobody can tell what is mapped at the topmost ip
 * @code: the walk met code without a file that has no table, or a table without a row for it
 * @unproven: a step was made by the frame pointer out of code without a file, without a rule
 * @switches: steps that did not raise the stack pointer
 * @probes: pending uretprobes of current
 * @regs: user registers of current
 * @turn: its lowest bit says which entry of two in @cache goes next; kept from walk to walk
 * @gap: of the last step by rbp
 * @gpr_ready: @gpr is filled
 * @gpr: registers of the topmost frame, by DWARF number; filled for the rules that need them
 * @mem: memory of current
 * @ranges: the mappings found last; kept from walk to walk
 */
struct bee_walk {
	struct bee_rule_cache		*cache;
	struct bee_frame		 frame;
	const struct bee_code_ranges	*laid;
	const struct bee_code_heaps	*heaps;
	struct bee_heap_step		 heap;
	struct bee_range		 laid_part[2];
	const struct bee_range		*range;
	const struct bee_stored		*stored;
	u64				 text;
	u64				 span;
	struct bee_file			*file;
	u32				 word;
	struct bee_rule			 rule;
	enum beeunwind_stop		 stop;
	u32				 fp_steps;
	bool				 met;
	bool				 code;
	bool				 unproven;
	struct bee_switches		 switches;
	struct bee_uprobes		 probes;
	const struct pt_regs		*regs;
	u32				 turn;
	struct bee_walk_gap		 gap;
	bool				 gpr_ready;
	u64				 gpr[__BEE_REG_MAX];
	struct bee_uread		 mem;
	struct bee_vma_ranges		 ranges;
};

bool bee_walk_look(struct bee_walk *walk, u64 ip);
void bee_walk_start(struct bee_walk *walk, const struct pt_regs *regs);
u32 bee_walk_callers(struct bee_walk *walk, u64 *ips, u32 max);

#endif /* BEE_WALK_H */
