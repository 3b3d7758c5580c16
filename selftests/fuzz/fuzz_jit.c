// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzz the reader of JIT code in a process's memory, which changes meanwhile.  The input says which
 * byte changes and when (struct change); then comes that memory: its first bytes are the descriptor,
 * and all addresses are offsets in it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Reads of memory go through changing_read_at(). */
#define io_read_at changing_read_at
#include "memory.c"
#include "jit_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/**
 * struct change - of the memory
 * @flip: bits of a byte; 0: nothing changes
 * @read: so many reads come before
 * @offset: of the byte
 */
struct change {
	uint8_t		flip;
	uint8_t		read;
	uint16_t	offset;
};

static struct change change;
static unsigned int reads;

ssize_t changing_read_at(int fd, void *to, size_t size, off_t offset)
{
	uint8_t byte;

	if (reads++ == change.read && pread(fd, &byte, 1, change.offset) == 1) {
		byte ^= change.flip;
		if (pwrite(fd, &byte, 1, change.offset) != 1)
			abort();
	}
	return pread(fd, to, size, offset);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct memory memory = { .left = 1u << 20 };
	struct jit_objects objects = {}, again = {};
	struct compile_result result;
	struct bee_error error;

	if (size < sizeof(change))
		return -1;
	memcpy(&change, data, sizeof(change));
	data += sizeof(change);
	size -= sizeof(change);
	reads = 0;
	if (fd < 0)
		fd = memfd_create("memory", MFD_CLOEXEC);
	memory.fd = fd;
	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		return -1;
	if (!jit_objects_read(&memory, 0, &objects, &error)) {
		jit_objects_settle(&objects);
		if (jit_objects_cover(&objects, 0, 1ull << 47)) {
			jit_table_make(&memory, &objects, 0, 1ull << 47, &result, &error);
			compile_result_free(&result);
		}
		memory.left = 1u << 20;
		if ((jit_objects_read(&memory, 0, &again, &error) ||
		     !jit_objects_are_same(&objects, &again)) && !change.flip)
			abort();
	}
	jit_objects_free(&objects);
	jit_objects_free(&again);
	return 0;
}
