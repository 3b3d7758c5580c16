// SPDX-License-Identifier: GPL-2.0
/* perf's user callchains: whose are walked, and how a walk's frames are stored. */
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <asm/processor-flags.h>

#include "ask.h"
#include "callchain.h"
#include "code_news.h"
#include "compat.h"
#include "mm.h"
#include "percpu.h"
#include "stray.h"
#include "walk.h"

/* Whether these are registers of 64-bit user code, and not of 32-bit or vm86 code. */
static bool callchain_is_64bit(struct pt_regs *regs)
{
	return user_64bit_mode(regs) && !(regs->flags & (X86_VM_MASK | PERF_EFLAGS_VM));
}

/*
 * Whether the stack of current is walked.  Left to perf are kernel threads, whose mm is borrowed;
 * KVM guests (PF_VCPU is set from guest entry until the exit has been handled; meanwhile @regs are
 * the guest's); and 32-bit code.
 */
static bool callchain_is_ours(struct pt_regs *regs)
{
	const unsigned int not_user = PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER | PF_VCPU;

	return current->mm && !(current->flags & not_user) && callchain_is_64bit(regs);
}

/* Threads of one process on many CPUs count in one tally. */
static void callchain_count_mm(struct bee_mm *m, enum beeunwind_stop stop)
{
	if (unlikely(bee_tally_add(&m->tally, stop)) && atomic_read(&m->mm->mm_users) > 1)
		bee_ask(BEE_ASK_SPREAD_MM, m->cookie);
}

/* Not inlined, so that walks with nothing to announce do not pay for its stack. */
static noinline void callchain_announce_code(struct bee_mm *m)
{
	bee_code_announce(&m->told, m->cookie, READ_ONCE(m->generation));
}

/*
 * Walk the stack, and write the ips of at most @max frames to @ips.  Not inlined, so that its
 * variables take no stack in samples of address spaces that are not managed.
 *
 * Return: how many frames there are.
 */
static noinline u32 callchain_walk(struct bee_walk *walk, u64 *ips, u32 max,
				   struct pt_regs *regs, struct bee_mm *m,
				   const struct bee_map *map)
{
	enum beeunwind_stop stop;
	u32 frames = 0;
	u64 beyond;

	bee_walk_start(walk, map, regs);
	if (unlikely(!walk->range))
		bee_mm_ask_look(m);
	if (max) {
		ips[frames++] = walk->frame.ip;
		frames += bee_walk_callers(walk, ips + 1, max - 1);
		if (!walk->stop)
			bee_walk_callers(walk, &beyond, 1);
	}

	stop = walk->stop ?: BEEUNWIND_STOP_DEPTH;
	bee_stats_add(frames, frames);
	bee_stats_add(fp_steps, walk->fp_steps);
	bee_stats_add(stop[stop], 1);
	callchain_count_mm(m, stop);
	if (unlikely(walk->code))
		callchain_announce_code(m);
	if (walk->file)
		bee_walk_count(walk->file, stop);
	return frames;
}

/* How many more entries perf_callchain_store() would store. */
static u32 callchain_room(const struct perf_callchain_entry_ctx *ctx)
{
	return ctx->contexts_maxed || ctx->nr >= ctx->max_stack ? 0 : ctx->max_stack - ctx->nr;
}

/*
 * bee_callchain_user() for an address space that may be managed.  Not inlined, so that samples of
 * others save no registers.
 */
static noinline void callchain_user(struct perf_callchain_entry_ctx *ctx, struct pt_regs *regs)
{
	const struct bee_map *map;
	struct bee_mm *m;
	u32 nr;

	if (!callchain_is_ours(regs))
		return;
	rcu_read_lock();
	m = bee_mm_find(current->mm);
	map = m ? rcu_dereference(m->map) : NULL;
	if (map) {
		nr = callchain_walk(this_cpu_ptr(bee_percpu_walks) + interrupt_context_level(),
				    ctx->entry->ip + ctx->entry->nr, callchain_room(ctx), regs, m,
				    map);
		ctx->entry->nr += nr;
		ctx->nr += nr;
		ctx->max_stack = 0;
	} else if (m) {
		bee_mm_ask_look(m);
	} else {
		bee_stray_ask(current->mm);
	}
	rcu_read_unlock();
}

/**
 * bee_callchain_user() - store the user stack of current, if its address space is managed
 * @ctx: perf_callchain_user()'s first argument
 * @regs: its second: user registers of current, any of which user space may have chosen
 *
 * The walk owns its entry of bee_percpu_walks until it ends.  If another task preempts it, perf
 * takes no callchain in that task: get_recursion_context() (kernel/events/internal.h) allows one
 * at a time for each CPU and context level, and this one has not ended.
 *
 * Runs before perf_callchain_user(), which must add nothing to a stack that was stored here: with
 * max_stack 0 it finds no room and returns at once.  Its caller does not look at @ctx afterwards
 * (get_perf_callchain(), kernel/events/callchain.c).  If nothing is stored @ctx is not changed.
 *
 * Context: Any, NMI-safe; also under rq->lock.  Migration is off.  Preemption is on if a BPF
 * program that may sleep called bpf_get_stack() (kernel/bpf/stackmap.c).
 */
void bee_callchain_user(struct perf_callchain_entry_ctx *ctx, struct pt_regs *regs)
{
	bee_stats_add(hits, 1);
	if (bee_mm_may_be_managed(current->mm))
		callchain_user(ctx, regs);
	else
		bee_stray_ask(current->mm);
}

#if BEE_COMPAT_DEFERRED
/**
 * bee_callchain_deferred() - walk the user stack of current, if its address space is managed
 * @ips: the ip of each frame, the topmost first
 * @max: room in @ips
 *
 * Like a sample's walk it takes only memory that is present.  The walk owns its entry of
 * bee_percpu_walks, as no interrupt makes deferred walks.
 *
 * Context: Process, on the way back to user space; preemption is off.  Does not fault, sleep,
 * allocate, lock or print.
 * Return: the number of frames, or 0 if the stack is not walked.
 */
u32 bee_callchain_deferred(u64 *ips, u32 max)
{
	struct pt_regs *regs = task_pt_regs(current);
	const struct bee_map *map;
	struct bee_mm *m;
	u32 nr = 0;

	bee_stats_add(hits, 1);
	if (!callchain_is_ours(regs))
		return 0;
	rcu_read_lock();
	m = bee_mm_find(current->mm);
	map = m ? rcu_dereference(m->map) : NULL;
	if (map)
		nr = callchain_walk(this_cpu_ptr(bee_percpu_walks) + BEE_CONTEXT_DEFERRED, ips, max,
				    regs, m, map);
	else if (m)
		bee_mm_ask_look(m);
	else
		bee_stray_ask(current->mm);
	rcu_read_unlock();
	return nr;
}
#endif
