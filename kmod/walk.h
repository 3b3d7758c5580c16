/* SPDX-License-Identifier: GPL-2.0 */
/* The walk of one user stack: from frame to caller until there is a stop reason. */
#ifndef BEE_WALK_H
#define BEE_WALK_H

#include <linux/types.h>
#include <linux/beeunwind.h>

#include "ask.h"
#include "file.h"
#include "uread.h"
#include "frame.h"
#include "rule_cache.h"
#include "uprobe.h"

struct bee_map;
struct bee_range;
struct bee_stored;

/**
 * struct bee_walk - the state of one walk; too large for the stack of an NMI
 * @cache: rules that earlier walks have looked up; kept from walk to walk
 * @frame: the current frame
 * @map: the ranges of current->mm
 * @range: the range of @frame's lookup ip, or NULL
 * @stored: the table of @range when the walk came to it, or NULL
 * @text: where @range has the first byte of the table's text, if the file has one segment
 * @span: bytes of it, or 0 if the file has more than one
 * @file: file of the last frame whose caller was looked for: where the walk ended; or NULL
 * @word: rule of that frame, if a table has it and it is not simple
 * @rule: the same, decoded
 * @stop: BEEUNWIND_STOP_NONE, or why the walk has ended
 * @fp_steps: number of callers found by the frame pointer
 * @code: the walk met code without a file that has no table, or a table without a row for it
 * @switches: steps that did not raise the stack pointer
 * @probes: pending uretprobes of current
 * @regs: user registers of current
 * @turn: its lowest bit says which entry of two in @cache goes next; kept from walk to walk
 * @gpr_ready: @gpr is filled
 * @gpr: registers of the topmost frame, by DWARF number; filled for the rules that need them
 * @mem: memory of current
 */
struct bee_walk {
	struct bee_rule_cache		*cache;
	struct bee_frame		 frame;
	const struct bee_map		*map;
	const struct bee_range		*range;
	const struct bee_stored		*stored;
	u64				 text;
	u64				 span;
	struct bee_file			*file;
	u32				 word;
	struct bee_rule			 rule;
	enum beeunwind_stop		 stop;
	u32				 fp_steps;
	bool				 code;
	struct bee_switches		 switches;
	struct bee_uprobes		 probes;
	const struct pt_regs		*regs;
	u32				 turn;
	bool				 gpr_ready;
	u64				 gpr[__BEE_REG_MAX];
	struct bee_uread		 mem;
};

void bee_walk_start(struct bee_walk *walk, const struct bee_map *map, const struct pt_regs *regs);
u32 bee_walk_callers(struct bee_walk *walk, u64 *ips, u32 max);

/**
 * bee_walk_count() - count something in a file that a walk has met
 * @f: the file
 * @what: as for bee_tally_add()
 *
 * Context: Any, NMI-safe.  Caller holds the RCU read lock.
 */
static inline void bee_walk_count(struct bee_file *f, u32 what)
{
	if (unlikely(bee_tally_add(&f->tally, what)))
		bee_ask(BEE_ASK_SPREAD_FILE, f->id);
}

#endif /* BEE_WALK_H */
