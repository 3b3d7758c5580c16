// SPDX-License-Identifier: GPL-2.0
/*
 * Follow the mappings of managed processes as they change.  Called at the entry
 * of the functions that hook.c names, in process context, before the system call
 * that does it returns.  Must not sleep; preemption may be off.
 */
#include <linux/mm.h>

#include "follow.h"
#include "mm.h"

/**
 * bee_follow_mmap() - a mapping has come, or its protection has changed
 * @vma: the mapping as it is now, merged with its neighbours perhaps
 *
 * At perf_event_mmap(), which mmap, mprotect and the vDSO's installation call
 * whether or not anybody records.  mremap does not: text that was moved has no
 * range until it is loaded again.
 *
 * Context: Process, mmap_lock held for writing.
 */
void bee_follow_mmap(struct vm_area_struct *vma)
{
	if (vma->vm_flags & VM_EXEC)
		bee_mm_attach(vma->vm_mm, vma->vm_start, vma->vm_end,
			      (u64)vma->vm_pgoff << PAGE_SHIFT, vma->vm_file);
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
