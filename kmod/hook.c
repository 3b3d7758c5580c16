// SPDX-License-Identifier: GPL-2.0
/*
 * The hooks: which functions of the kernel call the module, by ftrace.
 *
 * A hook is a plain ftrace callback, which runs before the function and returns into it.  It
 * has no IPMODIFY, so it does not conflict with livepatch, kprobes and BPF trampolines on the
 * same function.  It has no FL_RECURSION: its bits are shared by all users of ftrace, and a
 * sample taken inside another user's callback would not be walked.
 *
 * No callback sleeps; preemption may be off.  Once unregister_ftrace_function() has returned 0
 * no callback runs or will (Documentation/trace/ftrace-uses.rst, "The unregister"), so the
 * module can be unloaded.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/binfmts.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/sched.h>

#include "callchain.h"
#include "compat.h"
#include "file.h"
#include "follow.h"
#include "hook.h"
#include "mm.h"
#include "prove.h"

/*
 * Functions are hooked by name and their arguments read from registers, so a changed prototype
 * has to stop the build.  copy_vma() is in no header; for unmap_vmas() see compat.h.
 */
#define HOOKED_IS(function, result, ...) __same_type(function, result(__VA_ARGS__))
static_assert(HOOKED_IS(perf_callchain_user, void, struct perf_callchain_entry_ctx *,
			struct pt_regs *));
static_assert(HOOKED_IS(begin_new_exec, int, struct linux_binprm *));
static_assert(HOOKED_IS(perf_event_mmap, void, struct vm_area_struct *));
static_assert(HOOKED_IS(uprobe_dup_mmap, void, struct mm_struct *, struct mm_struct *));
static_assert(HOOKED_IS(uprobe_clear_state, void, struct mm_struct *));
static_assert(HOOKED_IS(__destroy_inode, void, struct inode *));

/**
 * struct hook - a function of the kernel and what runs before it
 * @symbol: the function
 * @called: the kernel has called the function since the hook was placed (hook_follow[] only); by
 *	READ_ONCE()
 * @ops: PERMANENT, so that kernel.ftrace_enabled=0, which would let ranges go stale, is refused
 */
struct hook {
	const char		*symbol;
	bool			 called;
	struct ftrace_ops	 ops;
};

/* Not written each time, so that CPUs do not take the line from each other. */
static __always_inline void hook_note_call(struct ftrace_ops *ops)
{
	struct hook *hook = container_of(ops, struct hook, ops);

	if (unlikely(!READ_ONCE(hook->called)))
		WRITE_ONCE(hook->called, true);
}

#define HOOK_CALLBACK(name) \
	static void notrace name(unsigned long ip, unsigned long parent_ip, \
				 struct ftrace_ops *ops, struct ftrace_regs *fregs)
/* Argument @n of the hooked function. */
#define HOOK_ARG(n)	ftrace_regs_get_argument(fregs, n)

HOOK_CALLBACK(hook_callchain_user)
{
	bee_callchain_user((void *)HOOK_ARG(0), (void *)HOOK_ARG(1));
}

#if BEE_COMPAT_DEFERRED
/*
 * unwind_user(trace, max): in process context, before current returns to user space, for all users
 * of deferred stacks.  Its one caller does not look at its result, only at @trace.
 */
HOOK_CALLBACK(hook_unwind_user)
{
	static struct unwind_stacktrace none;
	struct unwind_stacktrace *trace = (void *)HOOK_ARG(0);
	u32 nr;

	preempt_disable_notrace();
	nr = bee_callchain_deferred((u64 *)trace->entries, HOOK_ARG(1));
	preempt_enable_notrace();
	if (!nr)
		return;
	trace->nr = nr;
	bee_compat_unwind_take(fregs, &none);
}
#endif

/*
 * The following callbacks run in process context: those for mmap, munmap, mremap, fork and exec
 * within that system call.  Address spaces and inodes can also end in a worker, inodes in reclaim.
 *
 * Every executable mapping that appears is reported and replaces the ranges at its place.  So a
 * range that is left behind where nothing is mapped (see hook_mremap() and hook_fork()) does no
 * harm: no code runs there.
 */

/* Every binary format's loader calls begin_new_exec(bprm) before it maps anything. */
HOOK_CALLBACK(hook_exec)
{
	hook_note_call(ops);
	bee_follow_exec((void *)HOOK_ARG(0));
}

/*
 * perf_event_mmap(vma): mmap(), mprotect() and the installation of the vDSO call it whether or
 * not perf records.  @vma is what they made, merged with its neighbours perhaps.
 */
HOOK_CALLBACK(hook_mmap)
{
	struct vm_area_struct *vma = (void *)HOOK_ARG(0);

	hook_note_call(ops);
	bee_prove_mapping(vma->vm_start, vma->vm_end);
	bee_follow_mapping(vma, vma->vm_start, vma->vm_end, vma->vm_pgoff);
}

/*
 * copy_vma(&vma, start, len, pgoff, ...): mremap() moves @vma.  If it fails here for want of
 * memory, a range without a mapping stays; if it fails later, it unmaps the new place.  Nothing
 * that is done when the module is loaded calls this function, so its arguments are looked at each
 * time.
 */
HOOK_CALLBACK(hook_mremap)
{
	struct vm_area_struct **pointer = (void *)HOOK_ARG(0), *vma;
	unsigned long start = HOOK_ARG(1);

	hook_note_call(ops);
	if (!copy_from_kernel_nofault(&vma, pointer, sizeof(vma)) && bee_prove_vma(vma))
		bee_follow_mapping(vma, start, start + HOOK_ARG(2), HOOK_ARG(3));
}

/*
 * unmap_vmas(): munmap(), mmap() over a mapping, and mremap() for the old place call it.  Splits
 * and merges of mappings, MADV_DONTNEED and truncation do not.
 */
HOOK_CALLBACK(hook_munmap)
{
	struct bee_compat_unmap gone;

	hook_note_call(ops);
	if (bee_compat_unmap_args(fregs, &gone) &&
	    bee_prove_unmap(gone.vma, gone.start, gone.end))
		bee_mm_unmap(gone.vma->vm_mm, gone.start, gone.end);
}

/*
 * uprobe_dup_mmap(old, new): fork() is about to copy the mappings of old, whose mmap_lock it holds
 * for writing.  Mappings that it does not copy (MADV_DONTFORK) keep their range in the child.
 */
HOOK_CALLBACK(hook_fork)
{
	hook_note_call(ops);
	bee_mm_fork((void *)HOOK_ARG(0), (void *)HOOK_ARG(1));
}

/* __mmput() calls uprobe_clear_state(mm) first, when mm_users has become 0. */
HOOK_CALLBACK(hook_exit)
{
	hook_note_call(ops);
	bee_follow_end((void *)HOOK_ARG(0));
}

/*
 * __destroy_inode(inode): the last thing that the kernel does to any inode before its memory is
 * freed, or made another inode by its file system.
 */
HOOK_CALLBACK(hook_inode)
{
	hook_note_call(ops);
	bee_file_inode_gone((void *)HOOK_ARG(0));
}

#define HOOK(name, callback) \
	{ .symbol = name, .ops = { .func = callback, .flags = FTRACE_OPS_FL_PERMANENT } }

/* Where stacks are walked. */
static struct hook hook_perf[] = {
	HOOK("perf_callchain_user", hook_callchain_user),
#if BEE_COMPAT_DEFERRED
	HOOK("unwind_user", hook_unwind_user),
#endif
};

/* In the order in which they are placed; removed backwards.  Files may exist while inodes end. */
static struct hook hook_follow[] = {
	HOOK("__destroy_inode", hook_inode),
	HOOK("uprobe_clear_state", hook_exit),
	HOOK("unmap_vmas", hook_munmap),
	HOOK("perf_event_mmap", hook_mmap),
	HOOK("copy_vma", hook_mremap),
	HOOK("uprobe_dup_mmap", hook_fork),
	HOOK("begin_new_exec", hook_exec),
};

static DEFINE_MUTEX(hook_mutex);
static enum beeunwind_hook_state hook_perf_state;	/* hook_mutex */

/*
 * ftrace_set_filter() for one function.  If it cannot allocate the filter's one entry it returns
 * 0 and leaves the filter empty, and an empty filter means every function of the kernel: in 6.1
 * and 6.12 ftrace_set_hash() takes the -ENOMEM of ftrace_match_records() for a number of
 * matches.  All empty filters share one object, which is that of an ops whose filter was cleared.
 */
static int hook_filter(struct ftrace_ops *ops, char *symbol)
{
	static struct ftrace_ops none;
	int ret = ftrace_set_filter(&none, NULL, 0, 1);

	if (!ret)
		ret = ftrace_set_filter(ops, symbol, strlen(symbol), 1);
	if (!ret && rcu_access_pointer(ops->func_hash->filter_hash) ==
		    rcu_access_pointer(none.func_hash->filter_hash))
		ret = -ENOMEM;
	return ret;
}

/* For 500 ms in all, as a BPF trampoline on the function may be just being changed. */
#define HOOK_RETRIES	50
#define HOOK_RETRY_MS	10

/*
 * hook_remove() leaves the filter: ftrace_free_filter() leaves pointers to what it has freed
 * (6.1, 6.12), and the next ftrace_set_filter() would free it again.
 */
static int hook_place(struct hook *hook)
{
	int ret, tries = HOOK_RETRIES;
	char symbol[32];

	/* A copy, since ftrace writes to it. */
	strscpy(symbol, hook->symbol, sizeof(symbol));
	ret = hook_filter(&hook->ops, symbol);
	if (!ret)
		while ((ret = register_ftrace_function(&hook->ops)) == -EAGAIN && --tries)
			msleep(HOOK_RETRY_MS);
	if (ret)
		pr_err("cannot hook %s: %s (%d)\n", hook->symbol, bee_hook_advice(ret), ret);
	return ret;
}

static int hook_remove(struct hook *hook)
{
	int ret = unregister_ftrace_function(&hook->ops);

	if (ret)
		pr_err("ftrace cannot remove the hook from %s (%d): it has shut itself down\n",
		       hook->symbol, ret);
	return ret;
}

/** bee_hook_advice() - what an -errno of ftrace means and what helps.  Context: Any. */
const char *bee_hook_advice(int err)
{
	switch (err) {
	case -EBUSY:
		return "ftrace is switched off; sysctl kernel.ftrace_enabled=1 and try again";
	case -EINVAL:
		return "this kernel lacks that function for ftrace; see README, Requirements";
	case -ENODEV:
		return "ftrace has shut itself down after an error of its own; reboot";
	case -ENOMEM:
		return "out of memory";
	case -EAGAIN:
		return "a BPF trampoline on it is being changed; try again";
	}
	return "ftrace refused";
}

/* Return: 0, or the -errno of a hook that cannot be removed. */
static int hook_remove_perf(int nr)
{
	int ret = 0;

	while (nr--)
		ret = hook_remove(&hook_perf[nr]) ?: ret;
	return ret;
}

static int hook_place_perf(void)
{
	int i, ret;

	for (i = 0; i < ARRAY_SIZE(hook_perf); i++) {
		ret = hook_place(&hook_perf[i]);
		if (!ret)
			continue;
		if (hook_remove_perf(i))
			WRITE_ONCE(hook_perf_state, BEEUNWIND_HOOK_STATE_STUCK);
		return ret;
	}
	return 0;
}

/**
 * bee_hook_enable() - place the hooks in perf's callchain path
 *
 * Context: Process, may sleep.
 * Return: 0, also if it is enabled already, or -errno.
 */
int bee_hook_enable(void)
{
	int ret = 0;

	mutex_lock(&hook_mutex);
	if (hook_perf_state != BEEUNWIND_HOOK_STATE_ON)
		ret = hook_perf_state == BEEUNWIND_HOOK_STATE_STUCK ?
		      -ENODEV : hook_place_perf();
	if (!ret)
		WRITE_ONCE(hook_perf_state, BEEUNWIND_HOOK_STATE_ON);
	mutex_unlock(&hook_mutex);
	return ret;
}

/**
 * bee_hook_disable() - remove the hooks from perf's callchain path
 *
 * Context: Process, may sleep.
 * Return: 0, also if it is disabled already; -errno if ftrace cannot remove it.
 */
int bee_hook_disable(void)
{
	int ret = 0;

	mutex_lock(&hook_mutex);
	if (hook_perf_state != BEEUNWIND_HOOK_STATE_OFF) {
		ret = hook_remove_perf(ARRAY_SIZE(hook_perf));
		WRITE_ONCE(hook_perf_state,
			   ret ? BEEUNWIND_HOOK_STATE_STUCK : BEEUNWIND_HOOK_STATE_OFF);
	}
	mutex_unlock(&hook_mutex);
	return ret;
}

/** bee_hook_state() - state of the hooks in perf's callchain path.  Context: Any. */
enum beeunwind_hook_state bee_hook_state(void)
{
	return READ_ONCE(hook_perf_state);
}

/*
 * After an internal error ftrace shuts itself down and leaves the patched calls in place.  If a
 * hook cannot be removed for that reason, the module's text must not be freed: this function
 * does not return, and insmod or rmmod sleeps until the next boot.
 */
static void hook_remove_all(int nr_follow)
{
	int i, stuck = bee_hook_disable();

	while (nr_follow--)
		stuck |= hook_remove(&hook_follow[nr_follow]);
	if (!stuck) {
		for (i = 0; i < ARRAY_SIZE(hook_perf); i++)
			ftrace_free_filter(&hook_perf[i].ops);
		for (i = 0; i < ARRAY_SIZE(hook_follow); i++)
			ftrace_free_filter(&hook_follow[i].ops);
		return;
	}
	pr_err("unloading would crash the machine; sleeping until the next boot instead\n");
	for (;;)
		schedule_timeout_idle(MAX_SCHEDULE_TIMEOUT);
}

/**
 * bee_hook_list_uncalled() - functions whose hooks have not been called since they were placed
 * @names: filled: their names, with a space behind each
 * @size: of @names
 *
 * Of those that follow processes and mappings.  bee_prove() has seen two called; user space can see
 * to the others by doing what calls them.
 *
 * Context: Any.
 */
void bee_hook_list_uncalled(char *names, size_t size)
{
	size_t i, length = 0;

	*names = '\0';
	for (i = 0; i < ARRAY_SIZE(hook_follow); i++)
		if (!READ_ONCE(hook_follow[i].called))
			length += scnprintf(names + length, size - length, "%s ",
					    hook_follow[i].symbol);
}

/**
 * bee_hook_init() - place the hooks that follow processes and mappings, all or none; prove them
 *
 * Context: Process, may sleep.
 * Return: 0 or -errno, explained in the log.
 */
int bee_hook_init(void)
{
	int i, ret;

	for (i = 0; i < ARRAY_SIZE(hook_follow); i++) {
		ret = hook_place(&hook_follow[i]);
		if (ret) {
			hook_remove_all(i);
			return ret;
		}
	}
	ret = bee_prove();
	if (ret)
		hook_remove_all(i);
	return ret;
}

/** bee_hook_exit() - remove all hooks; see hook_remove_all().  Context: Process, may sleep. */
void bee_hook_exit(void)
{
	hook_remove_all(ARRAY_SIZE(hook_follow));
}
