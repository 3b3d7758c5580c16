// SPDX-License-Identifier: GPL-2.0
/* Tallies: what walks count for a file or an address space. */
#include <linux/cpumask.h>
#include <linux/percpu.h>

#include "tally.h"

/**
 * bee_tally_alloc() - counters for each CPU
 *
 * Context: Process, may sleep.
 * Return: for bee_tally_spread(), or for free_percpu(); NULL: out of memory, or there is one CPU.
 */
struct bee_tally_cpu __percpu *bee_tally_alloc(void)
{
	if (num_possible_cpus() == 1)
		return NULL;
	return alloc_percpu_gfp(struct bee_tally_cpu, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
}

/** bee_tally_spread_bytes() - memory of the counters of all CPUs.  Context: Any. */
u64 bee_tally_spread_bytes(void)
{
	return num_possible_cpus() * sizeof(struct bee_tally_cpu);
}

/** bee_tally_bytes() - memory that a tally has beside its own.  Context: Any. */
u64 bee_tally_bytes(const struct bee_tally *tally)
{
	return READ_ONCE(tally->cpus) ? bee_tally_spread_bytes() : 0;
}

/**
 * bee_tally_sum() - what was counted
 * @tally: the tally
 * @what: as for bee_tally_add()
 *
 * Context: Any.
 * Return: the sum over all CPUs, modulo 2^32.
 */
u32 bee_tally_sum(const struct bee_tally *tally, u32 what)
{
	const struct bee_tally_cpu __percpu *cpus = READ_ONCE(tally->cpus);
	u32 sum = atomic_read(&tally->count[what]);
	int cpu;

	if (cpus)
		for_each_possible_cpu(cpu)
			sum += READ_ONCE(per_cpu_ptr(cpus, cpu)->count[what]);
	return sum;
}

/** bee_tally_has_stops() - whether a walk has ended here.  Context: Any. */
bool bee_tally_has_stops(const struct bee_tally *tally)
{
	int i;

	for (i = 0; i <= BEEUNWIND_STOP_MAX; i++)
		if (atomic_read(&tally->count[i]))
			return true;
	return READ_ONCE(tally->cpus);
}
