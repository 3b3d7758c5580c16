// SPDX-License-Identifier: GPL-2.0
/*
 * The proof, at load, that hooks are called and find what they expect.
 *
 * The compiler can have inlined a function that we hook into a caller, which then does not go
 * through the hook; and no header of Linux 7 has the layout of unmap_vmas()'s arguments.  So the
 * task that loads the module maps three pages and unmaps the middle one, and the callbacks must
 * have seen exactly that.  Before this no address space is managed, and the callbacks change
 * nothing.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#include "prove.h"

static struct task_struct *prove_task;		/* the one in bee_prove(), or NULL */
static bool prove_done;

/* What the callbacks have found in prove_task, which reads it when its call has returned. */
static struct {
	unsigned long	start, end;
} prove_mapped, prove_unmapped;

/**
 * bee_prove_mapping() - a callback has been told of a new mapping
 * @start: first address
 * @end: address after the last
 *
 * Context: Process; preemption may be off.
 */
void bee_prove_mapping(unsigned long start, unsigned long end)
{
	if (likely(READ_ONCE(prove_task) != current))
		return;
	prove_mapped.start = start;
	prove_mapped.end = end;
}

/**
 * bee_prove_vma() - whether an argument is a mapping of the current process
 * @vma: the argument, which may be no pointer at all
 *
 * Context: Process; preemption may be off.
 */
bool bee_prove_vma(const struct vm_area_struct *vma)
{
	struct mm_struct *mm;

	return !copy_from_kernel_nofault(&mm, &vma->vm_mm, sizeof(mm)) && mm && mm == current->mm;
}

/**
 * bee_prove_unmap() - a callback has been told that a part of an address space is unmapped
 * @vma: the first mapping
 * @start: first address
 * @end: address after the last
 *
 * Context: Process; preemption may be off.
 * Return: whether these values can be believed; if not, @vma may point anywhere.
 */
bool bee_prove_unmap(const struct vm_area_struct *vma, unsigned long start, unsigned long end)
{
	if (likely(READ_ONCE(prove_done)))
		return true;
	if (READ_ONCE(prove_task) == current && bee_prove_vma(vma) && vma->vm_start == start) {
		prove_unmapped.start = start;
		prove_unmapped.end = end;
	}
	return false;
}

static int prove_at(unsigned long at)
{
	unsigned long middle = at + PAGE_SIZE;
	int ret = vm_munmap(middle, PAGE_SIZE);

	if (ret) {
		pr_err("cannot unmap a page (%d)\n", ret);
		return ret;
	}
	if (prove_mapped.start > at || prove_mapped.end < at + 3 * PAGE_SIZE) {
		pr_err("perf_event_mmap() is not called for a new mapping on this kernel; please report it with uname -r\n");
		return -EOPNOTSUPP;
	}
	if (prove_unmapped.start != middle || prove_unmapped.end != middle + PAGE_SIZE) {
		pr_err("unmap_vmas() is not called for munmap() on this kernel, or takes other arguments than this module knows; please report it with uname -r\n");
		return -EOPNOTSUPP;
	}
	return 0;
}

/**
 * bee_prove() - map and unmap something, and compare what the callbacks were told
 *
 * Call it when the hooks are placed and nothing is managed yet, from the process that loads the
 * module.
 *
 * Context: Process, may sleep.
 * Return: 0 or -errno, explained in the log.
 */
int bee_prove(void)
{
	unsigned long at;
	int ret;

	if (!current->mm) {
		pr_err("who loads the module has no address space to prove the hooks in\n");
		return -EINVAL;
	}
	WRITE_ONCE(prove_task, current);
	at = vm_mmap(NULL, 0, 3 * PAGE_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, 0);
	if (IS_ERR_VALUE(at)) {
		ret = at;
		pr_err("cannot map three pages to prove the hooks (%d)\n", ret);
	} else {
		ret = prove_at(at);
		/* Not the middle one: another thread may have mapped something there since. */
		vm_munmap(at, PAGE_SIZE);
		vm_munmap(at + 2 * PAGE_SIZE, PAGE_SIZE);
	}
	WRITE_ONCE(prove_task, NULL);
	WRITE_ONCE(prove_done, !ret);
	return ret;
}
