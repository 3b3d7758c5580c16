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

#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/net.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/socket.h>
#include <linux/stacktrace.h>
#include <net/sock.h>

#include "callchain.h"
#include "compat.h"
#include "hook.h"
#include "store.h"

/*
 * Functions are hooked by name and their arguments read from registers, so a changed prototype
 * has to stop the build.
 */
#define HOOKED_IS(function, result, ...) __same_type(function, result(__VA_ARGS__))
static_assert(HOOKED_IS(perf_callchain_user, void, struct perf_callchain_entry_ctx *,
			struct pt_regs *));
static_assert(HOOKED_IS(arch_stack_walk_user, void, stack_trace_consume_fn, void *,
			const struct pt_regs *));
static_assert(HOOKED_IS(__destroy_inode, void, struct inode *));

/**
 * struct hook - a function of the kernel and what runs before it
 * @symbol: the function
 * @ops: how ftrace calls it
 */
struct hook {
	const char		*symbol;
	struct ftrace_ops	 ops;
};

#define HOOK_CALLBACK(name) \
	static void notrace name(unsigned long ip, unsigned long parent_ip, \
				 struct ftrace_ops *ops, struct ftrace_regs *fregs)
/* Argument @n of the hooked function. */
#define HOOK_ARG(n)	ftrace_regs_get_argument(fregs, n)

/* Whether stacks are walked.  A switch of its own: ftrace waits for all tasks when it removes a hook. */
static bool hook_walks = true;

HOOK_CALLBACK(hook_callchain_user)
{
	if (READ_ONCE(hook_walks))
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

	if (!READ_ONCE(hook_walks))
		return;
	preempt_disable_notrace();
	nr = bee_callchain_deferred((u64 *)trace->entries, HOOK_ARG(1));
	preempt_enable_notrace();
	if (!nr)
		return;
	trace->nr = nr;
	bee_compat_unwind_take(fregs, &none);
}
#endif

static bool notrace hook_consume_nothing(void *cookie, unsigned long ip)
{
	return false;
}

/*
 * arch_stack_walk_user(consume, cookie, regs): for ftrace's userstacktrace and LTTng.  It gives
 * consume() the frames until that wants no more.  If they have been given here it gets a consume()
 * of the module, which wants none: the function calls that once and returns.
 *
 * It has not slept then since this callback began.  So unregister_ftrace_function() waits for it
 * where tasks can be preempted in the kernel (synchronize_rcu_tasks()), and free_module() where
 * they cannot (synchronize_rcu()).
 */
HOOK_CALLBACK(hook_stack_walk_user)
{
	bool given;

	if (!READ_ONCE(hook_walks))
		return;
	preempt_disable_notrace();
	given = bee_callchain_give((void *)HOOK_ARG(0), (void *)HOOK_ARG(1), (void *)HOOK_ARG(2));
	preempt_enable_notrace();
	if (given)
		arch_ftrace_regs(fregs)->regs.di = (unsigned long)hook_consume_nothing;
}

/* The inode whose end hook_prove_inode() waits for; NULL: it was told. */
static const struct inode *hook_wanted;

/*
 * __destroy_inode(inode): the last thing that the kernel does to any inode before its memory is
 * freed, or made another inode by its file system.  In process context, which may be reclaim.
 */
HOOK_CALLBACK(hook_inode)
{
	const struct inode *inode = (void *)HOOK_ARG(0);

	if (unlikely(READ_ONCE(hook_wanted) == inode))
		WRITE_ONCE(hook_wanted, NULL);
	bee_store_end_inode(inode);
}

/* In the order in which they are placed; removed backwards.  Files may exist while inodes end. */
static struct hook hooks[] = {
	/* PERMANENT: kernel.ftrace_enabled=0, which would let the address of a file become another's, is refused. */
	{ "__destroy_inode", { .func = hook_inode, .flags = FTRACE_OPS_FL_PERMANENT } },
	{ "perf_callchain_user", { .func = hook_callchain_user } },
	{ "arch_stack_walk_user", { .func = hook_stack_walk_user } },
#if BEE_COMPAT_DEFERRED
	{ "unwind_user", { .func = hook_unwind_user } },
#endif
};

/*
 * Have an inode end: the compiler can have inlined __destroy_inode() into its caller in the same file, which
 * then does not go through the hook.
 */
static int __init hook_prove_inode(void)
{
	struct socket *sock;
	int err = sock_create_lite(PF_UNIX, SOCK_DGRAM, 0, &sock);

	if (err) {
		pr_err("cannot make a socket to see an inode end (%d)\n", err);
		return err;
	}
	WRITE_ONCE(hook_wanted, SOCK_INODE(sock));
	sock_release(sock);
	if (!READ_ONCE(hook_wanted))
		return 0;
	pr_err("__destroy_inode() is not called at the end of an inode on this kernel; please report it with uname -r\n");
	return -EOPNOTSUPP;
}

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

/* Say what an -errno of ftrace means and what helps. */
static const char *hook_advice(int err)
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
		pr_err("cannot hook %s: %s (%d)\n", hook->symbol, hook_advice(ret), ret);
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

/**
 * bee_hook_set_state() - have stacks walked, or leave them to the kernel
 * @state: which
 *
 * Walks that have begun go on to their end.
 *
 * Context: Any.
 */
void bee_hook_set_state(enum beeunwind_hook_state state)
{
	WRITE_ONCE(hook_walks, state == BEEUNWIND_HOOK_STATE_ON);
}

/** bee_hook_state() - whether stacks are walked.  Context: Any. */
enum beeunwind_hook_state bee_hook_state(void)
{
	return READ_ONCE(hook_walks) ? BEEUNWIND_HOOK_STATE_ON : BEEUNWIND_HOOK_STATE_OFF;
}

/*
 * Remove the first @nr hooks.  After an internal error ftrace shuts itself down and leaves the
 * patched calls in place.  If a hook cannot be removed for that reason, the module's text must not
 * be freed: this function does not return, and insmod or rmmod sleeps until the next boot.  It can be
 * frozen, or else the machine could not be suspended.
 */
static void hook_remove_all(int nr)
{
	int i, stuck = 0;

	for (i = nr; i--; )
		stuck |= hook_remove(&hooks[i]);
	if (!stuck) {
		for (i = 0; i < nr; i++)
			ftrace_free_filter(&hooks[i].ops);
		return;
	}
	pr_err("unloading would crash the machine; sleeping until the next boot instead\n");
	for (;;) {
		set_current_state(TASK_IDLE | TASK_FREEZABLE);
		schedule();
	}
}

/**
 * bee_hook_init() - place the hooks, all or none, and prove that ends of inodes are told
 *
 * Context: Process, may sleep.
 * Return: 0 or -errno, explained in the log.
 */
int __init bee_hook_init(void)
{
	int i, ret;

	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		ret = hook_place(&hooks[i]);
		if (ret) {
			hook_remove_all(i);
			return ret;
		}
	}
	ret = hook_prove_inode();
	if (ret)
		hook_remove_all(i);
	return ret;
}

/** bee_hook_exit() - remove all hooks; see hook_remove_all().  Context: Process, may sleep. */
void bee_hook_exit(void)
{
	hook_remove_all(ARRAY_SIZE(hooks));
}
