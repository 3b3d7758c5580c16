// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzz the compiler: any bytes, as an ELF file, must give a table that the validator
 * accepts (compile_elf() calls it), or an error of one line.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct compile_result result;
	struct bee_error why = {};
	int ret;

	if (fd < 0)
		fd = memfd_create("fuzz_elf", MFD_CLOEXEC);
	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	ret = compile_elf(fd, NULL, &result, &why);
	if (ret ? result.blob || !*why.text || !!strchr(why.text, '\n') : !result.blob)
		abort();
	if (ret && strstr(why.text, "bug in the compiler"))
		abort();
	compile_result_free(&result);
	return 0;
}
