/* SPDX-License-Identifier: GPL-2.0 */
/* Tallies: what walks count for a file or a process. */
#ifndef BEE_TALLY_H
#define BEE_TALLY_H

#include <linux/atomic.h>
#include <linux/types.h>
#include <linux/beeunwind.h>

/* What is counted, beside the walks that ended for each enum beeunwind_stop. */
#define BEE_TALLY_HITS		(BEEUNWIND_STOP_MAX + 1)
#define BEE_TALLY_NR		(BEEUNWIND_STOP_MAX + 2)

/* struct bee_tally - counters, modulo 2^32 */
struct bee_tally {
	atomic_t	count[BEE_TALLY_NR];
};

/* bee_tally_add() - count one; @what: an enum beeunwind_stop or BEE_TALLY_HITS.  Context: Any, NMI-safe. */
static inline void bee_tally_add(struct bee_tally *tally, u32 what)
{
	atomic_inc(&tally->count[what]);
}

/* bee_tally_has_stops() - whether a walk has been counted.  Context: Any. */
static inline bool bee_tally_has_stops(const struct bee_tally *tally)
{
	int i;

	for (i = 0; i <= BEEUNWIND_STOP_MAX; i++)
		if (atomic_read(&tally->count[i]))
			return true;
	return false;
}

#endif /* BEE_TALLY_H */
