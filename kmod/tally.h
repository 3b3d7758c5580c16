/* SPDX-License-Identifier: GPL-2.0 */
/* Tallies: what walks count for a file or an address space. */
#ifndef BEE_TALLY_H
#define BEE_TALLY_H

#include <linux/atomic.h>
#include <linux/percpu.h>
#include <linux/types.h>
#include <linux/beeunwind.h>

/* What is counted, beside the walks that ended for each enum beeunwind_stop. */
#define BEE_TALLY_HITS		(BEEUNWIND_STOP_MAX + 1)
#define BEE_TALLY_MISSED	(BEEUNWIND_STOP_MAX + 2)
#define BEE_TALLY_NR		(BEEUNWIND_STOP_MAX + 3)

/* After so many of a kind bee_tally_add() says that the tally is a busy one. */
#define BEE_TALLY_BUSY		1024u

/* struct bee_tally_cpu - counters of one CPU, modulo 2^32 */
struct bee_tally_cpu {
	u32	count[BEE_TALLY_NR];
};

/**
 * struct bee_tally - counters of a file or an address space, modulo 2^32
 * @cpus: what each CPU has counted since it has counters of its own; NULL: it has none
 * @count: what all CPUs have counted before
 *
 * Without counters of their own all CPUs that take samples in one library write to the same cache
 * line at each sample.  With them it takes memory for each possible CPU, so only busy tallies have
 * them (bee_tally_spread()).
 */
struct bee_tally {
	struct bee_tally_cpu __percpu	*cpus;
	atomic_t			 count[BEE_TALLY_NR];
};

struct bee_tally_cpu __percpu *bee_tally_alloc(void);
u64 bee_tally_bytes(const struct bee_tally *tally);
u64 bee_tally_spread_bytes(void);
u32 bee_tally_sum(const struct bee_tally *tally, u32 what);
bool bee_tally_has_stops(const struct bee_tally *tally);

/**
 * bee_tally_add() - count one
 * @tally: the tally
 * @what: an enum beeunwind_stop, BEE_TALLY_HITS or BEE_TALLY_MISSED
 *
 * Context: Any, NMI-safe.  Caller holds the RCU read lock.
 * Return: true now and then if the tally is busy and should be spread.
 */
static inline bool bee_tally_add(struct bee_tally *tally, u32 what)
{
	struct bee_tally_cpu __percpu *cpus = READ_ONCE(tally->cpus);

	if (cpus) {
		this_cpu_inc(cpus->count[what]);
		return false;
	}
	return !((u32)atomic_inc_return(&tally->count[what]) % BEE_TALLY_BUSY);
}

/*
 * bee_tally_spread() - from now on each CPU has counters of its own.  @cpus: from
 * bee_tally_alloc(), for which the caller has charged bee_tally_spread_bytes().  Context: Any; one
 * at a time.
 */
static inline void bee_tally_spread(struct bee_tally *tally, struct bee_tally_cpu __percpu *cpus)
{
	/* After the zeroes in it. */
	smp_store_release(&tally->cpus, cpus);
}

#endif /* BEE_TALLY_H */
