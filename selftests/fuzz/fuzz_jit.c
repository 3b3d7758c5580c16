// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzz the reader of JIT code in a process's memory.  The input is that memory: its first bytes are
 * the descriptor, and all addresses are offsets in it.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jit_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct memory memory = { .left = 1u << 20 };
	struct jit_objects objects = {}, again = {};
	struct compile_result result;
	struct bee_error error;

	if (fd < 0)
		fd = memfd_create("memory", MFD_CLOEXEC);
	memory.fd = fd;
	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		return -1;
	if (!jit_objects_read(&memory, 0, &objects, &error)) {
		if (jit_objects_cover(&objects, 0, 1ull << 47)) {
			jit_table_make(&memory, &objects, 0, 1ull << 47, &result, &error);
			compile_result_free(&result);
		}
		memory.left = 1u << 20;
		if (jit_objects_read(&memory, 0, &again, &error) ||
		    !jit_objects_are_same(&objects, &again))
			abort();
	}
	jit_objects_free(&objects);
	jit_objects_free(&again);
	return 0;
}
