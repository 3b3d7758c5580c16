// SPDX-License-Identifier: GPL-2.0
/* Rows from random code: they ascend, lie in the text, and can be said in a table. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi.h"
#include "reader.h"

#define TEXT	0x1000

static void check(const struct synth *synth, uint64_t end)
{
	uint64_t at = TEXT;
	size_t i;

	for (i = 0; i < synth->nranges; i++) {
		const struct synth_range *range = &synth->ranges[i];

		if (range->start < at || range->end <= range->start || range->end > end ||
		    range->rule.kind != BEE_RULE_KNOWN || range->rule.cfa_reg >= __BEE_REG_MAX ||
		    (range->rule.ra != BEE_RA_UNDEF && range->rule.ra_off != -8))
			abort();
		at = range->end;
	}
}

/* The first byte: where a function with CFI starts, behind the code. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct elf_file elf = { .ntext = 1, .text[0] = { .vaddr = TEXT, .size = size + 256 } };
	u64 function = TEXT + size + (size ? data[0] : 0);
	const struct code_gap gap = { .start = TEXT, .end = TEXT + size };
	const struct synth_input input = {
		.elf = &elf, .gaps = &gap, .ngaps = 1, .functions = &function, .nfunctions = 1,
		.patience = SYNTH_PATIENCE,
	};
	struct bee_error why;
	struct synth synth;

	if (!size)
		return 0;
	if (fd < 0)
		fd = memfd_create("fuzz_synth", MFD_CLOEXEC);
	if (ftruncate(fd, size + 256) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	elf.reader = reader_open(fd, &why);
	if (!elf.reader)
		abort();
	synth_make(&input, &synth);
	check(&synth, TEXT + size);
	synth_free(&synth);
	abi_make(&input, &synth);
	check(&synth, TEXT + size);
	synth_free(&synth);
	reader_close(elf.reader);
	return 0;
}
