// SPDX-License-Identifier: GPL-2.0
/*
 * perf's user callchains: the context in, the walk, the entries out.  The only
 * file that knows perf.
 */
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "callchain.h"
#include "compat.h"
#include "mm.h"
#include "percpu.h"
#include "walk.h"

/*
 * A guest's registers (PF_VCPU: between guest entry and the handling of its
 * exit), a kernel thread's or worker's borrowed mm, and 32-bit code are not
 * ours: the original sees them as if we were not there.
 */
static bool callchain_is_ours(struct pt_regs *regs)
{
	const unsigned int not_user = PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER | PF_VCPU;

	return current->mm && !(current->flags & not_user) && bee_arch_is_walkable(regs);
}

/*
 * perf keeps a callchain buffer per context level as well and refuses to recurse
 * within a level (get_recursion_context(), kernel/events/internal.h), so a walk
 * owns its place until it returns.
 */
static void callchain_walk(struct perf_callchain_entry_ctx *ctx, struct pt_regs *regs,
			   const struct bee_map *map)
{
	struct bee_walk *walk = this_cpu_ptr(bee_percpu_walks) + interrupt_context_level();
	enum beeunwind_stop stop;
	u32 frames = 0;

	bee_walk_start(walk, map, regs);
	do {
		if (perf_callchain_store(ctx, walk->frame.ip)) {
			stop = BEEUNWIND_STOP_DEPTH;
			break;
		}
		frames++;
		stop = bee_walk_next(walk);
	} while (!stop);

	bee_stats_add(frames, frames);
	bee_stats_add(fp_steps, walk->fp_steps);
	bee_stats_add(stop[stop], 1);
	if (walk->file)
		atomic_inc(&walk->file->stop[stop]);
}

/**
 * bee_callchain_user() - store the user stack of current, if it is managed
 * @ctx: perf_callchain_user()'s first argument
 * @regs: its second: user registers of current, none of them trustworthy
 *
 * Called at the entry of perf_callchain_user().  If the walk is done here the
 * original must not add to it: with max_stack 0 it finds no room and returns at
 * once.  Its caller does not look at @ctx again (get_perf_callchain(),
 * kernel/events/callchain.c, 6.1 to 7.3).  Otherwise nothing is touched.
 *
 * Context: Any, NMI-safe; also under rq->lock. Preemption is off. Does not
 * fault, sleep, allocate, lock or print.
 */
void bee_callchain_user(struct perf_callchain_entry_ctx *ctx, struct pt_regs *regs)
{
	const struct bee_map *map;

	bee_stats_add(hits, 1);
	if (!callchain_is_ours(regs))
		return;
	rcu_read_lock();
	map = bee_mm_lookup(current->mm);
	if (map) {
		callchain_walk(ctx, regs, map);
		ctx->max_stack = 0;
	}
	rcu_read_unlock();
}
