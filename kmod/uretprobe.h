/* SPDX-License-Identifier: GPL-2.0 */
/* Return addresses that a uretprobe has replaced: what stood there before. */
#ifndef BEE_URETPROBE_H
#define BEE_URETPROBE_H

#include <linux/types.h>

struct bee_frame;
struct bee_uread;
struct return_instance;

/**
 * struct bee_uretprobes - the pending uretprobes of current, from the newest on
 * @next: the first that no frame of this walk has been found for yet
 * @reads: how many more may be looked at in this walk
 * @started: @next is valid
 */
struct bee_uretprobes {
	const struct return_instance	*next;
	u32				 reads;
	bool				 started;
};

bool bee_uretprobe_resolve(struct bee_uretprobes *probes, u64 slot, u64 *ra);
bool bee_uretprobe_step(struct bee_uretprobes *probes, struct bee_uread *mem, struct bee_frame *f);

#endif /* BEE_URETPROBE_H */
