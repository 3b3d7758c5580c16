/* SPDX-License-Identifier: GPL-2.0 */
/* Per-CPU memory of the sampling path: counters, and the walks at work. */
#ifndef BEE_PERCPU_H
#define BEE_PERCPU_H

#include <linux/percpu.h>
#include <linux/types.h>
#include <linux/beeunwind.h>

struct bee_walk;

/**
 * struct bee_stats - counters of one CPU since the module was loaded
 * @hits: calls of the hook, walked or not
 * @frames: frames stored
 * @fp_steps: frames found by the frame pointer
 * @stop: walks by stop reason; each ends for one
 */
struct bee_stats {
	u64	hits;
	u64	frames;
	u64	fp_steps;
	u64	stop[BEEUNWIND_STOP_MAX + 1];
};

DECLARE_PER_CPU(struct bee_stats, bee_stats);

/* NMI-safe: one instruction on x86.  The caller may be preemptible. */
#define bee_stats_add(field, n)	this_cpu_add(bee_stats.field, n)

/*
 * On each CPU a walk of perf's for every context level, by interrupt_context_level(), and one for
 * readers of stacks that perf does not know of: while these walk, perf can take a sample at their level.
 */
#define BEE_CONTEXT_OTHER	4
#define BEE_CONTEXT_LEVELS	(BEE_CONTEXT_OTHER + 1)
extern struct bee_walk __percpu *bee_percpu_walks;

int bee_percpu_init(void);
void bee_percpu_exit(void);
u64 bee_percpu_bytes(void);

void bee_stats_sum(struct bee_stats *sum);

#endif /* BEE_PERCPU_H */
