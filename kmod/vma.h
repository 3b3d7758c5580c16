/* SPDX-License-Identifier: GPL-2.0 */
/* The executable mappings of current, as the kernel's own tree of mappings has them. */
#ifndef BEE_VMA_H
#define BEE_VMA_H

#include <linux/types.h>

#include "maple.h"
#include "range.h"

struct mm_struct;

#define BEE_VMA_RANGES	16

/**
 * struct bee_vma_seen - what was read of a mapping
 * @flags: vm_flags; 0 if nothing is mapped
 * @pgoff: page of the file at its start
 * @file: what is mapped, or 0
 * @inode: its inode, or 0
 * @mark: bee_compat_vma_mark() of memory without a file
 */
struct bee_vma_seen {
	unsigned long	flags;
	unsigned long	pgoff;
	unsigned long	file;
	unsigned long	inode;
	unsigned long	mark;
};

/**
 * struct bee_vma_ranges - the ranges that walks of one CPU and context level have found last
 * @mm: the address space
 * @born: start_boottime of its process: the address of an mm can come back as another's
 * @execs: self_exec_id of the process
 * @seq: its mm_lock_seq when the ranges were found; odd: they must not be kept for the next walk
 * @files: bee_store_generation() when the ranges were found
 * @since: jiffies when the ranges were found
 * @nr: length of @at
 * @next: the place in @at that is overwritten next
 * @work: the price of all looks into the tree (work.h); modulo 2^32
 * @busy: the last lookup could not tell what is mapped, as that was just being changed
 * @found: of a lookup at work: where the tree has the mapping
 * @seen: of a lookup at work: what the mapping is; here, as the kernel's stack has no room for it
 * @again: what the mapping is at the second look
 * @at: the ranges
 */
struct bee_vma_ranges {
	const struct mm_struct	*mm;
	u64			 born;
	u64			 execs;
	u32			 seq;
	u32			 files;
	u32			 since;
	u32			 nr;
	u32			 next;
	u32			 work;
	bool			 busy;
	struct bee_maple_found	 found;
	struct bee_vma_seen	 seen;
	struct bee_vma_seen	 again;
	struct bee_range	 at[BEE_VMA_RANGES];
};

void bee_vma_begin(struct bee_vma_ranges *ranges);
bool bee_file_differs(const struct bee_file *f);
const struct bee_range *bee_vma_look(struct bee_vma_ranges *ranges, const struct bee_range *keep,
				     u64 ip);
int bee_vma_prove(void);

/**
 * bee_vma_find() - the executable mapping of an address in current->mm
 * @ranges: of this CPU and context level, since bee_vma_begin()
 * @keep: one of @ranges that must not be overwritten, or NULL
 * @ip: the address
 *
 * Context: Any, NMI-safe.  Caller holds the RCU read lock since bee_vma_begin().
 * Return: one of @ranges; NULL if nothing executable is there, or if @ranges->busy nobody can tell.
 */
static inline const struct bee_range *bee_vma_find(struct bee_vma_ranges *ranges,
						   const struct bee_range *keep, u64 ip)
{
	const struct bee_range *r = ranges->at, *end = r + ranges->nr;

	for (; r < end; r++)
		if (bee_range_contains(r, ip))
			return r;
	return bee_vma_look(ranges, keep, ip);
}

#endif /* BEE_VMA_H */
