// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of a process, read through /proc/PID/mem.  Each read is of bytes that may be changed
 * or unmapped before the next, so callers copy what they look at twice.  A read may wait for as
 * long as the process likes (userfaultfd, FUSE): callers are children with a time limit.
 */
#include <stdint.h>

#include "alloc.h"
#include "io.h"
#include "memory.h"

/* What a read takes of @left beside its bytes: the number of reads is limited, too. */
#define READ_COST	64

/**
 * memory_read() - copy bytes
 * @memory: of the process
 * @address: of the first byte
 * @to: filled
 * @size: how many
 *
 * Return: false if they are not all there, or if too much has been read.
 */
bool memory_read(struct memory *memory, u64 address, void *to, u64 size)
{
	u64 cost = size + READ_COST;

	if (size > SIZE_MAX / 2 || address > INT64_MAX || size > INT64_MAX - address ||
	    cost > memory->left) {
		memory->left = cost > memory->left ? 0 : memory->left - READ_COST;
		return false;
	}
	memory->left -= cost;
	return io_read_at(memory->fd, to, size, address) == (ssize_t)size;
}

/**
 * memory_copy() - a copy of bytes
 * @memory: of the process
 * @address: of the first byte
 * @size: how many, not 0
 *
 * Return: the copy, for free(); NULL as memory_read().
 */
u8 *memory_copy(struct memory *memory, u64 address, u64 size)
{
	u8 *copy;

	/* Before memory is taken for it. */
	if (!size || size > memory->left)
		return NULL;
	copy = alloc_array(NULL, size, 1);
	if (memory_read(memory, address, copy, size))
		return copy;
	free(copy);
	return NULL;
}
