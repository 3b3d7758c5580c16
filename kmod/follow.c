// SPDX-License-Identifier: GPL-2.0
/*
 * Follow processes and their mappings as they change.  Called at the entry of the
 * functions that hook.c names, in process context, before the system call that
 * does it returns.  Must not sleep; preemption may be off.
 *
 * Every executable mapping that comes is reported, and replaces what was known of
 * its place; so where nothing is mapped a range can do no harm, and the few that
 * may be left there (see below) are not stale for any code that runs.
 */
#include <linux/binfmts.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "follow.h"
#include "mm.h"

static enum beeunwind_follow follow_mode;
static enum beeunwind_announce follow_announce = BEEUNWIND_ANNOUNCE_MAPPED;

/** bee_follow_mode() - whose execs are followed.  Context: Any. */
enum beeunwind_follow bee_follow_mode(void)
{
	return READ_ONCE(follow_mode);
}

/** bee_follow_set_mode() - from now on.  Context: Any. */
void bee_follow_set_mode(enum beeunwind_follow mode)
{
	WRITE_ONCE(follow_mode, mode);
}

/** bee_follow_announce() - when files without a table are told of.  Context: Any. */
enum beeunwind_announce bee_follow_announce(void)
{
	return READ_ONCE(follow_announce);
}

/** bee_follow_set_announce() - from now on.  Context: Any. */
void bee_follow_set_announce(enum beeunwind_announce announce)
{
	WRITE_ONCE(follow_announce, announce);
}

/**
 * bee_follow_exec() - a process is about to become another program
 * @bprm: the program, in an address space of its own that has no mappings yet but
 *	its stack
 *
 * At begin_new_exec(), which the loader of every binary format calls before it maps
 * anything.  If the exec fails after all, the new address space comes to its end.
 *
 * Context: Process.
 */
void bee_follow_exec(struct linux_binprm *bprm)
{
	if (bee_follow_mode() == BEEUNWIND_FOLLOW_ALL ||
	    (current->mm && bee_mm_is_managed(current->mm)))
		bee_mm_manage(bprm->mm, task_tgid(current));
}

static void follow_attach(const struct vm_area_struct *vma, u64 start, u64 end, u64 pgoff)
{
	if (vma->vm_flags & VM_EXEC)
		bee_mm_attach(vma, start, end, pgoff << PAGE_SHIFT,
			      bee_follow_announce() == BEEUNWIND_ANNOUNCE_MAPPED);
}

/**
 * bee_follow_mmap() - a mapping has come, or its protection has changed
 * @vma: the mapping as it is now, merged with its neighbours perhaps
 *
 * At perf_event_mmap(), which mmap, mprotect and the vDSO's installation call
 * whether or not anybody records.
 *
 * Context: Process, mmap_lock held for writing.
 */
void bee_follow_mmap(struct vm_area_struct *vma)
{
	follow_attach(vma, vma->vm_start, vma->vm_end, vma->vm_pgoff);
}

/**
 * bee_follow_mremap() - a mapping is being moved
 * @vma: the mapping
 * @start: first address of the new place
 * @len: bytes of it
 * @pgoff: page of the file there
 *
 * At copy_vma().  If mremap fails there for want of memory, the range stays without
 * a mapping; if it fails later, it unmaps the new place instead of the old one.
 *
 * Context: Process, mmap_lock held for writing.
 */
void bee_follow_mremap(struct vm_area_struct *vma, unsigned long start, unsigned long len,
		       unsigned long pgoff)
{
	follow_attach(vma, start, start + len, pgoff);
}

/**
 * bee_follow_munmap() - part of an address space is being unmapped
 * @vma: the first mapping of the part
 * @start: first address
 * @end: address after the last
 *
 * At unmap_vmas(), which munmap, mmap over something, and mremap of the old place
 * go through, but nothing that leaves the mapping there: not splits and merges of
 * mappings, MADV_DONTNEED or truncation.
 *
 * Context: Process, mmap_lock held.
 */
void bee_follow_munmap(struct vm_area_struct *vma, unsigned long start, unsigned long end)
{
	bee_mm_unmap(vma->vm_mm, start, end);
}

/**
 * bee_follow_fork() - an address space is being copied
 * @parent: the original
 * @child: the copy, which has not run yet
 *
 * At uprobe_dup_mmap().  Mappings that are not copied (MADV_DONTFORK) keep their
 * range in the child.
 *
 * Context: Process, both mmap_locks held for writing.
 */
void bee_follow_fork(struct mm_struct *parent, struct mm_struct *child)
{
	bee_mm_fork(parent, child);
}

/**
 * bee_follow_exit() - the last user of an address space is gone
 * @mm: the address space
 *
 * At uprobe_clear_state(), which __mmput() calls first of all.
 *
 * Context: Process.
 */
void bee_follow_exit(struct mm_struct *mm)
{
	bee_mm_forget(mm);
}
