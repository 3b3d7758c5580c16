// SPDX-License-Identifier: GPL-2.0
/*
 * Which processes are followed through exec, and when their files are announced.
 *
 * Each of the two settings has a base value, and sockets can hold it at a higher one: the highest
 * of all these values counts.  What a socket holds ends with the socket, so a client that is killed
 * leaves nothing behind.  Code without a file has no base value: it is announced while at least one
 * socket asks for it.
 */
#include <linux/binfmts.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "code_news.h"
#include "follow.h"
#include "mm.h"
#include "stray.h"

enum beeunwind_follow bee_follow_mode;
enum beeunwind_announce bee_follow_announce;

/**
 * struct follow_hold - the settings that a socket holds
 * @node: in follow_holds
 * @portid: the socket
 * @set: the settings
 */
struct follow_hold {
	struct list_head		node;
	u32				portid;
	struct bee_follow_settings	set;
};

static DEFINE_MUTEX(follow_mutex);
static LIST_HEAD(follow_holds);			/* follow_mutex */
static struct bee_follow_settings follow_base;	/* follow_mutex */

static void follow_apply(void)
{
	struct bee_follow_settings set = follow_base;
	const struct follow_hold *hold;

	lockdep_assert_held(&follow_mutex);
	list_for_each_entry(hold, &follow_holds, node) {
		set.follow = max(set.follow, hold->set.follow);
		set.announce = max(set.announce, hold->set.announce);
		set.code |= hold->set.code;
	}
	if (set.code != !!READ_ONCE(bee_code_wish))
		bee_code_want(set.code);
	WRITE_ONCE(bee_follow_mode, set.follow);
	WRITE_ONCE(bee_follow_announce, set.announce);
}

static struct follow_hold *follow_find_hold(u32 portid)
{
	struct follow_hold *hold;

	lockdep_assert_held(&follow_mutex);
	list_for_each_entry(hold, &follow_holds, node)
		if (hold->portid == portid)
			return hold;
	return NULL;
}

/**
 * bee_follow_set() - change base values, and drop what sockets hold of the same settings
 * @follow: enum beeunwind_follow, or NULL
 * @announce: enum beeunwind_announce, or NULL
 *
 * Context: Process, may sleep.
 */
void bee_follow_set(const u32 *follow, const u32 *announce)
{
	struct follow_hold *hold;

	mutex_lock(&follow_mutex);
	if (follow)
		follow_base.follow = *follow;
	if (announce)
		follow_base.announce = *announce;
	list_for_each_entry(hold, &follow_holds, node) {
		if (follow)
			hold->set.follow = 0;
		if (announce)
			hold->set.announce = 0;
	}
	follow_apply();
	mutex_unlock(&follow_mutex);
	/* Whoever wants no process to be followed any longer does not know of these. */
	if (follow && *follow != BEEUNWIND_FOLLOW_ALL)
		bee_stray_clear();
}

/**
 * bee_follow_hold() - hold settings until a socket is closed
 * @portid: the socket, which sends this request
 * @follow: enum beeunwind_follow, or NULL
 * @announce: enum beeunwind_announce, or NULL
 * @code: have code without a file announced
 *
 * Context: Process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int bee_follow_hold(u32 portid, const u32 *follow, const u32 *announce, bool code)
{
	struct follow_hold *hold, *fresh = kzalloc(sizeof(*fresh), GFP_KERNEL_ACCOUNT);

	if (!fresh)
		return -ENOMEM;
	fresh->portid = portid;
	mutex_lock(&follow_mutex);
	hold = follow_find_hold(portid);
	if (!hold) {
		hold = fresh;
		fresh = NULL;
		list_add(&hold->node, &follow_holds);
	}
	if (follow)
		hold->set.follow = *follow;
	if (announce)
		hold->set.announce = *announce;
	if (code) {
		hold->set.code = true;
		bee_code_want(true);
	}
	follow_apply();
	mutex_unlock(&follow_mutex);
	kfree(fresh);
	return 0;
}

/** bee_follow_release() - drop what socket @portid holds.  Context: Process, may sleep. */
void bee_follow_release(u32 portid)
{
	struct follow_hold *hold;

	/* Called for all sockets.  One that holds settings was put into the list by a request. */
	if (list_empty(&follow_holds))
		return;
	mutex_lock(&follow_mutex);
	hold = follow_find_hold(portid);
	if (hold)
		list_del(&hold->node);
	follow_apply();
	mutex_unlock(&follow_mutex);
	kfree(hold);
}

/** bee_follow_exit() - drop what sockets hold; no request can come.  Context: Process. */
void bee_follow_exit(void)
{
	struct follow_hold *hold, *next;

	list_for_each_entry_safe(hold, next, &follow_holds, node)
		kfree(hold);
	INIT_LIST_HEAD(&follow_holds);
}

/**
 * bee_follow_exec() - manage the new address space of an exec, if the process is followed
 * @bprm: the program; its address space has no mapping but the stack
 *
 * If the exec fails later, the end of the new address space is reported as any other.
 *
 * Context: Process; preemption may be off.
 */
void bee_follow_exec(struct linux_binprm *bprm)
{
	if (READ_ONCE(bee_follow_mode) != BEEUNWIND_FOLLOW_ALL &&
	    !(current->mm && bee_mm_is_wanted(current->mm)))
		return;
	bee_mm_exec(bprm->mm, task_tgid(current));
}

/**
 * bee_follow_mapping() - take over a mapping, if it is executable
 * @vma: the mapping; its own addresses may be others
 * @start: first address
 * @end: address after the last
 * @pgoff: page of the file at @start
 *
 * Context: Process, mmap_lock held for writing; preemption may be off.
 */
void bee_follow_mapping(const struct vm_area_struct *vma, u64 start, u64 end, u64 pgoff)
{
	bool announce = READ_ONCE(bee_follow_announce) == BEEUNWIND_ANNOUNCE_MAPPED;

	if (!(vma->vm_flags & VM_EXEC))
		return;
	bee_mm_attach(vma, start, end, pgoff << PAGE_SHIFT, announce);
}

/** bee_follow_end() - the last user of @mm is gone.  Context: Process; preemption may be off. */
void bee_follow_end(const struct mm_struct *mm)
{
	bee_stray_del(mm);
	bee_mm_forget(mm);
}
