// SPDX-License-Identifier: GPL-2.0
/* Which processes are followed through exec, and when their files are announced. */
#include <linux/binfmts.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "follow.h"
#include "mm.h"

static enum beeunwind_follow follow_mode;
static enum beeunwind_announce follow_announce = BEEUNWIND_ANNOUNCE_MAPPED;

/** bee_follow_mode() - which processes become managed at exec.  Context: Any. */
enum beeunwind_follow bee_follow_mode(void)
{
	return READ_ONCE(follow_mode);
}

/** bee_follow_set_mode() - for later execs.  Context: Any. */
void bee_follow_set_mode(enum beeunwind_follow mode)
{
	WRITE_ONCE(follow_mode, mode);
}

/** bee_follow_announce() - when a file without a table is announced.  Context: Any. */
enum beeunwind_announce bee_follow_announce(void)
{
	return READ_ONCE(follow_announce);
}

/** bee_follow_set_announce() - for later mappings.  Context: Any. */
void bee_follow_set_announce(enum beeunwind_announce announce)
{
	WRITE_ONCE(follow_announce, announce);
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
	if (bee_follow_mode() == BEEUNWIND_FOLLOW_ALL ||
	    (current->mm && bee_mm_is_managed(current->mm)))
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
	if (vma->vm_flags & VM_EXEC)
		bee_mm_attach(vma, start, end, pgoff << PAGE_SHIFT,
			      bee_follow_announce() == BEEUNWIND_ANNOUNCE_MAPPED);
}
