// SPDX-License-Identifier: GPL-2.0
/*
 * Recent: the processes that were sampled last, and how their walks ended.
 *
 * A process has its place in a set of four, found by a hash; a new one takes the place of the one that was
 * sampled longest ago.  Nobody waits for anybody: whoever finds a place just being taken counts
 * nothing, and a count that another CPU has begun may go to the next process there.
 */
#include <linux/atomic.h>
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "recent.h"

#define RECENT_SET	4

struct bee_recent bee_recent[BEE_RECENT_NR];

/* The place of a process, or NULL. */
static struct bee_recent *recent_place(u32 pid, u64 born)
{
	struct bee_recent *set, *oldest, *r;
	u32 was, now = READ_ONCE(jiffies);
	int i;

	set = &bee_recent[hash_64(pid ^ born, ilog2(BEE_RECENT_NR / RECENT_SET)) * RECENT_SET];
	oldest = set;
	for (r = set; r < set + RECENT_SET; r++) {
		if (READ_ONCE(r->pid) == pid && READ_ONCE(r->born) == born)
			return r;
		if (now - READ_ONCE(r->used) > now - READ_ONCE(oldest->used))
			oldest = r;
	}
	was = READ_ONCE(oldest->pid);
	if (was == BEE_RECENT_TAKEN || !try_cmpxchg(&oldest->pid, &was, BEE_RECENT_TAKEN))
		return NULL;
	for (i = 0; i < BEE_TALLY_NR; i++)
		atomic_set(&oldest->tally.count[i], 0);
	WRITE_ONCE(oldest->born, born);
	smp_store_release(&oldest->pid, pid);
	return oldest;
}

/**
 * bee_recent_count() - a walk of current has ended
 * @stop: why
 *
 * Context: Any, NMI-safe.  Caller holds the RCU read lock; current is no kernel thread.
 */
void bee_recent_count(enum beeunwind_stop stop)
{
	struct bee_recent *r = recent_place(current->tgid,
					    READ_ONCE(current->group_leader)->start_boottime);

	if (!r)
		return;
	if (READ_ONCE(r->used) != (u32)READ_ONCE(jiffies))
		WRITE_ONCE(r->used, (u32)READ_ONCE(jiffies));
	bee_tally_add(&r->tally, stop);
}
