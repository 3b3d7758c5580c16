/* SPDX-License-Identifier: GPL-2.0 */
/* Recent: the processes that were sampled last, and how their walks ended. */
#ifndef BEE_RECENT_H
#define BEE_RECENT_H

#include <linux/types.h>

#include "tally.h"

/* In @pid, while the place is being taken. */
#define BEE_RECENT_TAKEN	U32_MAX

/**
 * struct bee_recent - a process that was sampled, whatever it has executed since
 * @born: its start_boottime, which tells apart processes that have the same number one after the other
 * @pid: its number in the initial pid namespace; or 0
 * @used: jiffies of its last walk
 * @tally: its walks
 */
struct bee_recent {
	u64			born;
	u32			pid;
	u32			used;
	struct bee_tally	tally;
};

#define BEE_RECENT_NR	1024

extern struct bee_recent bee_recent[BEE_RECENT_NR];

void bee_recent_count(enum beeunwind_stop stop);

#endif /* BEE_RECENT_H */
