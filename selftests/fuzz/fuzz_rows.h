// SPDX-License-Identifier: GPL-2.0
/*
 * Shared by fuzz_cfi and fuzz_pack: make rows of a random .eh_frame or .debug_frame without
 * an ELF file.  Bits of the first byte choose the section that the rest is, and its encoding.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "coverage.h"
#include "reader.h"
#include "rows.h"
#include "rule_text.h"

#define TEXT		0x1000
#define TEXT_SIZE	0x1000

/* A file whose text is all zeros. */
static struct reader *fuzz_input(void)
{
	static struct reader *input;
	struct bee_error why;
	int fd;

	if (input)
		return input;
	fd = memfd_create("fuzz_cfi", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, TEXT + TEXT_SIZE))
		abort();
	input = reader_open(fd, &why);
	if (!input)
		abort();
	return input;
}

static void fuzz_check_rows(const struct row_set *rows)
{
	char line[RULE_TEXT_MAX];
	size_t i;

	for (i = 0; i < rows->nrows; i++) {
		const struct row_start *row = &rows->rows[i];

		if (row->rule >= rows->nrules || row->pc < TEXT || row->pc >= rows->end ||
		    (i && (row->pc <= row[-1].pc || row->rule == row[-1].rule)))
			abort();
		rule_format(&rows->rules[row->rule], line);
	}
	if (rows->end > TEXT + TEXT_SIZE)
		abort();
}

/* Make the rows of an input, check them, and pass them to @use, if it is not NULL. */
static int fuzz_rows(const uint8_t *data, size_t size,
		     void (*use)(const struct elf_file *elf, const struct row_set *rows))
{
	struct elf_file elf = {
		.reader = fuzz_input(), .ntext = 1, .id_len = 1,
		.text[0] = { .vaddr = TEXT, .offset = TEXT, .size = TEXT_SIZE },
	};
	struct row_set rows;
	struct bee_error why;
	u8 *bytes;

	if (size < 2)
		return 0;
	bytes = malloc(size - 1);
	memcpy(bytes, data + 1, size - 1);
	elf.nframes = 1;
	elf.frames[0] = (struct elf_frames){
		.data = bytes, .size = size - 1, .debug_frame = data[0] & 1,
		.stop_at_zero = data[0] & 2,
		.base = { .data = bytes, .vaddr = 0x4000, .datarel = 0x800, .has_datarel = data[0] & 4 },
	};
	if (!coverage_rows(&elf, &rows, &why)) {
		fuzz_check_rows(&rows);
		if (use)
			use(&elf, &rows);
	}
	row_set_free(&rows);
	free(bytes);
	return 0;
}
