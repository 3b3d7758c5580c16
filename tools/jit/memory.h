/* SPDX-License-Identifier: GPL-2.0 */
/* The memory of a process that runs meanwhile, and may try to harm its reader. */
#ifndef MEMORY_H
#define MEMORY_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

/* The error if no bytes are left to read. */
#define MEMORY_USED_UP	"more JIT code than is read of one process"

/**
 * struct memory - the memory of a process
 * @fd: /proc/PID/mem, or a file that has at each offset what memory has at that address
 * @left: bytes that may still be read; each read takes some, also one that fails
 */
struct memory {
	int	fd;
	u64	left;
};

bool memory_read(struct memory *memory, u64 address, void *to, u64 size);
u8 *memory_copy(struct memory *memory, u64 address, u64 size);

#endif /* MEMORY_H */
