// SPDX-License-Identifier: GPL-2.0
/* Per-CPU memory of the sampling path: counters, and the walks at work. */
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/topology.h>

#include "percpu.h"
#include "walk.h"

DEFINE_PER_CPU(struct bee_stats, bee_stats);
struct bee_walk __percpu *bee_percpu_walks;

/* Give each walk of a CPU its cache: together they are more than alloc_percpu() gives at once. */
static int percpu_alloc_caches(int cpu)
{
	struct bee_walk *walks = per_cpu_ptr(bee_percpu_walks, cpu);
	int level;

	for (level = 0; level < BEE_CONTEXT_LEVELS; level++) {
		walks[level].cache = kvzalloc_node(sizeof(*walks->cache), GFP_KERNEL,
						   cpu_to_node(cpu));
		if (!walks[level].cache)
			return -ENOMEM;
	}
	return 0;
}

/**
 * bee_percpu_init() - allocate the walks and their caches
 *
 * Context: Process, sleeps.
 * Return: 0 or -ENOMEM.
 */
int bee_percpu_init(void)
{
	int cpu;

	bee_percpu_walks = __alloc_percpu(BEE_CONTEXT_LEVELS * sizeof(struct bee_walk),
					  __alignof__(struct bee_walk));
	if (!bee_percpu_walks)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		if (percpu_alloc_caches(cpu)) {
			bee_percpu_exit();
			return -ENOMEM;
		}
	}
	return 0;
}

/** bee_percpu_exit() - free the walks; the hook is gone.  Context: Process, sleeps. */
void bee_percpu_exit(void)
{
	int cpu, level;

	for_each_possible_cpu(cpu) {
		struct bee_walk *walks = per_cpu_ptr(bee_percpu_walks, cpu);

		for (level = 0; level < BEE_CONTEXT_LEVELS; level++)
			kvfree(walks[level].cache);
	}
	free_percpu(bee_percpu_walks);
}

/** bee_percpu_bytes() - kernel memory of the walks and their caches.  Context: Any. */
u64 bee_percpu_bytes(void)
{
	return (u64)num_possible_cpus() * BEE_CONTEXT_LEVELS *
	       (sizeof(struct bee_walk) + sizeof(struct bee_rule_cache));
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
