// SPDX-License-Identifier: GPL-2.0
/* Per-CPU memory of the sampling path: counters, and the walks at work. */
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/string.h>

#include "percpu.h"
#include "walk.h"

DEFINE_PER_CPU(struct bee_stats, bee_stats);
struct bee_walk __percpu *bee_percpu_walks;

/** bee_percpu_init() - allocate the walks.  Context: Process, sleeps.  Return: 0 or -ENOMEM. */
int bee_percpu_init(void)
{
	bee_percpu_walks = __alloc_percpu(BEE_CONTEXT_LEVELS * sizeof(struct bee_walk),
					  __alignof__(struct bee_walk));
	return bee_percpu_walks ? 0 : -ENOMEM;
}

/** bee_percpu_exit() - free the walks; the hook is gone.  Context: Process. */
void bee_percpu_exit(void)
{
	free_percpu(bee_percpu_walks);
}

/**
 * bee_stats_sum() - add up the counters of all CPUs
 * @sum: filled; each counter has a value that it had at some moment during the call
 *
 * Context: Any.
 */
void bee_stats_sum(struct bee_stats *sum)
{
	int cpu, i;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu) {
		const struct bee_stats *s = per_cpu_ptr(&bee_stats, cpu);

		sum->hits += READ_ONCE(s->hits);
		sum->frames += READ_ONCE(s->frames);
		sum->fp_steps += READ_ONCE(s->fp_steps);
		for (i = 0; i <= BEEUNWIND_STOP_MAX; i++)
			sum->stop[i] += READ_ONCE(s->stop[i]);
	}
}
