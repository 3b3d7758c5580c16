/* SPDX-License-Identifier: GPL-2.0 */
/* What uprobes hide: replaced return addresses, displaced instructions. */
#ifndef BEE_UPROBE_H
#define BEE_UPROBE_H

#include <linux/types.h>

struct bee_frame;
struct bee_uread;
struct return_instance;

/**
 * struct bee_uprobes - the pending uretprobes of current, from the newest on
 * @next: the first that no frame of this walk has been found for yet
 * @reads: how many more may be looked at in this walk
 * @started: @next is valid
 */
struct bee_uprobes {
	const struct return_instance	*next;
	u32				 reads;
	bool				 started;
};

void bee_uprobe_locate(struct bee_frame *f);
bool bee_uprobe_return(struct bee_uprobes *probes, u64 slot, u64 *ra);
bool bee_uprobe_step(struct bee_uprobes *probes, struct bee_uread *mem, struct bee_frame *f);

#endif /* BEE_UPROBE_H */
