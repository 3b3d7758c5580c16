/* SPDX-License-Identifier: GPL-2.0 */
/* Ranges: where code is mapped, and what stands behind it. */
#ifndef BEE_RANGE_H
#define BEE_RANGE_H

#include <linux/types.h>

struct bee_file;
struct inode;

/**
 * struct bee_range - an executable mapping, or code in memory that has a table
 * @start: first address
 * @end: address after the last
 * @offset: byte of the file at @start; 0 without a file
 * @file: the file that is mapped, &bee_file_unknown if the store has it not; NULL for memory without a
 *	file
 * @inode: the inode that is mapped, an address that must not be followed; NULL without one
 * @mark: of memory: bee_compat_vma_mark(); of code in memory that has a table: its mapping's when it was last said
 *	to hold
 */
struct bee_range {
	u64			 start;
	u64			 end;
	u64			 offset;
	struct bee_file		*file;
	const struct inode	*inode;
	u32			 mark;
};

/** bee_range_contains() - whether @ip is in the range.  Context: Any, NMI-safe. */
static inline bool bee_range_contains(const struct bee_range *range, u64 ip)
{
	return ip - range->start < range->end - range->start;
}

/** bee_range_offset() - byte of the file at @ip in the range.  Context: Any, NMI-safe. */
static inline u64 bee_range_offset(const struct bee_range *range, u64 ip)
{
	return ip - range->start + range->offset;
}

#endif /* BEE_RANGE_H */
