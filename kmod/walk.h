/* SPDX-License-Identifier: GPL-2.0 */
/* The walk: frame by frame through a process's ranges until a stop reason. */
#ifndef BEE_WALK_H
#define BEE_WALK_H

#include <linux/types.h>
#include <linux/beeunwind.h>

#include "uread.h"
#include "frame.h"
#include "uprobe.h"
#include "bee_arch.h"

struct bee_file;
struct bee_map;
struct bee_range;

/**
 * struct bee_walk - the state of one walk; too large for the stack of an NMI
 * @frame: the current frame
 * @map: the process's ranges
 * @range: the one that @frame's lookup ip is in, or NULL
 * @file: what the frame lies in whose caller was last looked for, or NULL
 * @row: rules of the current frame
 * @fp_steps: callers found through the frame pointer
 * @switches: steps that lowered the stack pointer
 * @probes: uretprobes not met yet
 * @gpr: registers of the topmost frame
 * @mem: the process's memory
 */
struct bee_walk {
	struct bee_frame		 frame;
	const struct bee_map		*map;
	const struct bee_range		*range;
	struct bee_file			*file;
	struct bee_rule			 row;
	u32				 fp_steps;
	struct bee_switches		 switches;
	struct bee_uprobes		 probes;
	u64				 gpr[BEE_ARCH_NR_GPR];
	struct bee_uread		 mem;
};

void bee_walk_start(struct bee_walk *walk, const struct bee_map *map, const struct pt_regs *regs);
enum beeunwind_stop bee_walk_next(struct bee_walk *walk);

#endif /* BEE_WALK_H */
