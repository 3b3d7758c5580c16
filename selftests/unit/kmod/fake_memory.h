/* SPDX-License-Identifier: GPL-2.0 */
/* The memory of a process for tests of steps: SIZE bytes at MEMORY, both of which a test defines before it includes this. */
#ifndef FAKE_MEMORY_H
#define FAKE_MEMORY_H

#include <linux/types.h>
#include <string.h>

/**
 * struct bee_uread - the memory
 * @bytes: what is in it
 * @reads: how often a step has read it
 */
struct bee_uread {
	u8	bytes[SIZE];
	u64	reads;
};

static bool bee_uread_bytes(struct bee_uread *mem, u64 addr, void *value, size_t n)
{
	mem->reads++;
	if (addr < MEMORY || addr - MEMORY > SIZE - n)
		return false;
	memcpy(value, mem->bytes + (addr - MEMORY), n);
	return true;
}

static bool bee_uread_u64(struct bee_uread *mem, u64 addr, u64 *value)
{
	return bee_uread_bytes(mem, addr, value, sizeof(*value));
}

static bool bee_uread_u8(struct bee_uread *mem, u64 addr, u8 *value)
{
	return bee_uread_bytes(mem, addr, value, sizeof(*value));
}

#endif /* FAKE_MEMORY_H */
