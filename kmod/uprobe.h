/* SPDX-License-Identifier: GPL-2.0 */
/* uprobes: undo the return addresses that they replace and the instructions that they move. */
#ifndef BEE_UPROBE_H
#define BEE_UPROBE_H

#include <linux/types.h>

struct bee_frame;
struct bee_uread;
struct return_instance;

/**
 * struct bee_uprobes - how far a walk is in the list of current's pending uretprobes
 * @next: the newest for which the walk has not found the frame yet
 * @started: @next is valid
 */
struct bee_uprobes {
	const struct return_instance	*next;
	bool				 started;
};

void bee_uprobe_locate(struct bee_frame *f);
bool bee_uprobe_return(struct bee_uprobes *probes, s32 *left, u64 slot, u64 *ra);
bool bee_uprobe_step(struct bee_uprobes *probes, struct bee_uread *mem, struct bee_frame *f);

#endif /* BEE_UPROBE_H */
