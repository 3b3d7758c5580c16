// SPDX-License-Identifier: GPL-2.0
/*
 * Follow the mappings of managed processes as they change, from the places where
 * uprobes does.  The mm core calls these for every file mapping, whether there
 * are uprobes or not, in process context, under mmap_lock (sometimes for
 * reading only), before the system call returns.  They must not sleep.
 */
#include <linux/mm.h>

#include "follow.h"
#include "mm.h"

/**
 * bee_follow_mmap() - a file mapping has come, or has changed its extent
 * @vma: the mapping
 *
 * At the entry of uprobe_mmap().  May report what is known already.
 *
 * Context: Process, mmap_lock held, preemption perhaps off.
 */
void bee_follow_mmap(struct vm_area_struct *vma)
{
	if (!bee_mm_any() || !vma->vm_file || !(vma->vm_flags & VM_EXEC))
		return;
	bee_mm_attach(vma->vm_mm, vma->vm_start, vma->vm_end,
		      (u64)vma->vm_pgoff << PAGE_SHIFT, vma->vm_file);
}

/**
 * bee_follow_munmap() - part of a file mapping goes
 * @vma: the mapping
 * @start: first address
 * @end: address after the last
 *
 * At the entry of uprobe_munmap().  Also reports zaps that leave the mapping in
 * place (MADV_DONTNEED, truncation); its range goes all the same.
 *
 * Context: Process, mmap_lock held, preemption perhaps off.
 */
void bee_follow_munmap(struct vm_area_struct *vma, unsigned long start, unsigned long end)
{
	if (bee_mm_any())
		bee_mm_unmap(vma->vm_mm, start, end);
}

/**
 * bee_follow_fork() - an address space is being copied
 * @parent: the original
 * @child: the copy, which has not run yet
 *
 * At the entry of uprobe_dup_mmap().
 *
 * Context: Process, both mmap_locks held, preemption perhaps off.
 */
void bee_follow_fork(struct mm_struct *parent, struct mm_struct *child)
{
	if (bee_mm_any())
		bee_mm_fork(parent, child);
}

/**
 * bee_follow_exit() - the last user of an address space is gone
 * @mm: the address space
 *
 * At the entry of uprobe_clear_state(), which __mmput() calls first of all.
 *
 * Context: Process, preemption perhaps off.
 */
void bee_follow_exit(struct mm_struct *mm)
{
	if (bee_mm_any())
		bee_mm_forget(mm);
}
