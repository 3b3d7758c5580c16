// SPDX-License-Identifier: GPL-2.0
/* Which processes are followed through exec, and when their files are announced. */
#include <linux/binfmts.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "follow.h"
#include "mm.h"

enum beeunwind_follow bee_follow_mode;
enum beeunwind_announce bee_follow_announce = BEEUNWIND_ANNOUNCE_MAPPED;

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
	if (READ_ONCE(bee_follow_mode) == BEEUNWIND_FOLLOW_ALL ||
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
			      READ_ONCE(bee_follow_announce) == BEEUNWIND_ANNOUNCE_MAPPED);
}
