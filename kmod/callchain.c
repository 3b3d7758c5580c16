// SPDX-License-Identifier: GPL-2.0
/* User callchains of perf and others: whose are walked, and how a walk's frames are stored. */
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <asm/processor-flags.h>

#include "callchain.h"
#include "compat.h"
#include "news.h"
#include "percpu.h"
#include "recent.h"
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

/* Not inlined, so that walks with nothing to tell do not pay for its stack. */
static noinline void callchain_tell_code(void)
{
	bee_news_add(BEEUNWIND_NEWS_CODE, current->mm, 0, 0);
}

static void callchain_count(const struct bee_walk *walk, u32 frames, enum beeunwind_stop stop)
{
	bee_stats_add(frames, frames);
	bee_stats_add(fp_steps, walk->fp_steps);
	bee_stats_add(stop[stop], 1);
	bee_recent_count(stop);
	if (unlikely(walk->code))
		callchain_tell_code();
	if (walk->file && walk->file->id)
		bee_tally_add(&walk->file->tally, stop);
}

/* Whether the stack of current is walked, and not left to the kernel. */
static bool callchain_look(struct bee_walk *walk, struct pt_regs *regs)
{
	return callchain_is_ours(regs) && bee_walk_look(walk, regs->ip);
}

/*
 * Walk the stack, and write the ips of at most @max frames to @ips.  Not inlined, so that its
 * variables take no stack in samples that are not walked.
 *
 * Return: how many frames there are; 0: the walk met no table and no code heap, and perf walks the stack.
 */
static noinline u32 callchain_walk(struct bee_walk *walk, u64 *ips, u32 max,
				   struct pt_regs *regs)
{
	u32 frames = 0;
	u64 beyond;

	bee_walk_start(walk, regs);
	if (max) {
		ips[frames++] = walk->frame.ip;
		frames += bee_walk_callers(walk, ips + 1, max - 1);
		if (!walk->stop)
			bee_walk_callers(walk, &beyond, 1);
	}
	if (!walk->met) {
		if (walk->code)
			callchain_tell_code();
		return 0;
	}
	callchain_count(walk, frames, walk->stop ?: BEEUNWIND_STOP_DEPTH);
	return frames;
}

/* How many more entries perf_callchain_store() would store. */
static u32 callchain_room(const struct perf_callchain_entry_ctx *ctx)
{
	return ctx->contexts_maxed || ctx->nr >= ctx->max_stack ? 0 : ctx->max_stack - ctx->nr;
}

/* The frames for perf.  Not inlined, so that samples of others save no registers. */
static noinline u32 callchain_frames(u64 *ips, u32 max, struct pt_regs *regs)
{
	struct bee_walk *walk;
	u32 nr = 0;

	rcu_read_lock();
	walk = this_cpu_ptr(bee_percpu_walks) + interrupt_context_level();
	if (callchain_look(walk, regs))
		nr = callchain_walk(walk, ips, max, regs);
	rcu_read_unlock();
	return nr;
}

/**
 * bee_callchain_user() - walk the user stack of current and store it for perf, or leave it to perf
 * @ctx: perf_callchain_user()'s first argument
 * @regs: its second: user registers of current, any of which user space may have chosen
 *
 * The walk owns its entry of bee_percpu_walks until it ends.  If another task preempts it, perf
 * takes no callchain in that task: get_recursion_context() (kernel/events/internal.h) allows one
 * at a time for each CPU and context level, and this walk has not ended.
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
	u32 nr;

	bee_stats_add(hits, 1);
	nr = callchain_frames(ctx->entry->ip + ctx->entry->nr, callchain_room(ctx), regs);
	if (!nr)
		return;
	ctx->entry->nr += nr;
	ctx->nr += nr;
	ctx->max_stack = 0;
}

/* Who walks in BEE_CONTEXT_OTHER of this CPU, with preemption off: one at a time. */
static DEFINE_PER_CPU(bool, callchain_other);

static void callchain_end(void)
{
	barrier();
	this_cpu_write(callchain_other, false);
}

/*
 * Begin a walk for a reader that perf does not know of.  Where this CPU is in such a walk already, as it was
 * interrupted or is traced, the kernel walks this stack.
 * Return: the walk, until callchain_end(); or NULL if the kernel walks.
 */
static struct bee_walk *callchain_begin_other(struct pt_regs *regs)
{
	struct bee_walk *walk = this_cpu_ptr(bee_percpu_walks) + BEE_CONTEXT_OTHER;

	bee_stats_add(hits, 1);
	if (this_cpu_read(callchain_other))
		return NULL;
	this_cpu_write(callchain_other, true);
	barrier();
	if (callchain_look(walk, regs))
		return walk;
	callchain_end();
	return NULL;
}

#define CALLCHAIN_AT_ONCE	8	/* frames; ftrace's userstacktrace takes so many of a stack */

/*
 * Walk the stack, and pass the ip of each frame to @consume until it returns false.  What @consume has been
 * given cannot be taken back: so the stack is left to the kernel unless the file at ip has a table.
 * Return: whether the stack was walked.
 */
static noinline bool callchain_give(struct bee_walk *walk, stack_trace_consume_fn consume,
				    void *cookie, struct pt_regs *regs)
{
	u32 frames = 0, n = 1, i;
	u64 ips[CALLCHAIN_AT_ONCE];
	bool more = true;

	bee_walk_start(walk, regs);
	if (!walk->met)
		return false;
	ips[0] = walk->frame.ip;
	for (;;) {
		n += bee_walk_callers(walk, ips + n, CALLCHAIN_AT_ONCE - n);
		for (i = 0; more && i < n; i++)
			more = consume(cookie, ips[i]);
		frames += i;
		if (!more || walk->stop)
			break;
		n = 0;
	}
	callchain_count(walk, frames, i == n && walk->stop ? walk->stop : BEEUNWIND_STOP_DEPTH);
	return true;
}

/**
 * bee_callchain_give() - walk the user stack of current and pass it to @consume, or leave it to the kernel
 * @consume: arch_stack_walk_user()'s first argument: gets the ips, the topmost first, while it is true
 * @cookie: its second
 * @regs: its third: user registers of current
 *
 * Unlike for perf, nobody has seen to it that one stack is taken at a time: ftrace, LTTng and
 * others know nothing of each other, and a tracepoint can fire in a walk.
 *
 * Context: Any, NMI-safe; preemption is off.  Does itself not fault, sleep, allocate, lock or print.
 * Return: whether the stack was walked.
 */
bool bee_callchain_give(stack_trace_consume_fn consume, void *cookie, struct pt_regs *regs)
{
	struct bee_walk *walk;
	bool given = false;

	rcu_read_lock();
	walk = callchain_begin_other(regs);
	if (walk) {
		given = callchain_give(walk, consume, cookie, regs);
		callchain_end();
	}
	rcu_read_unlock();
	return given;
}

#if BEE_COMPAT_DEFERRED
/**
 * bee_callchain_deferred() - walk the user stack of current and store it, or leave it to the kernel
 * @ips: the ip of each frame, the topmost first
 * @max: room in @ips
 *
 * Like a sample's walk it takes only memory that is present.
 *
 * Context: Process, on the way back to user space; preemption is off.  Does not fault, sleep,
 * allocate, lock or print.
 * Return: the number of frames, or 0 if the stack is not walked.
 */
u32 bee_callchain_deferred(u64 *ips, u32 max)
{
	struct pt_regs *regs = task_pt_regs(current);
	struct bee_walk *walk;
	u32 nr = 0;

	rcu_read_lock();
	walk = callchain_begin_other(regs);
	if (walk) {
		nr = callchain_walk(walk, ips, max, regs);
		callchain_end();
	}
	rcu_read_unlock();
	return nr;
}
#endif
