// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzz the search for remapped text.  The input is /proc/PID/maps, and after a zero byte the
 * program headers of the file: vaddr, offset and size of three segments, the second is text.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remapped.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct maps *maps, const struct elf_file *elf)
{
	size_t i;

	for (i = 0; i < maps->count; i++) {
		const struct maps_entry *e = &maps->entry[i];
		struct remapped r;

		if (e->start >= e->end || (i && e[-1].end > e->start))
			abort();
		if (e->inode || !remapped_find(maps, e->start, e->end, &r))
			continue;
		if (r.before.end > e->start || r.after.start < e->end ||
		    r.before.inode != r.after.inode)
			abort();
		if (remapped_place(elf, &r) &&
		    (r.offset + (r.end - r.start) > ((r.text.offset + r.text.size + 4095) & ~4095ull)))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, 0, size);
	struct elf_segment loads[3] = {};
	struct elf_file elf = { .loads = loads, .nloads = 3, .ntext = 1 };
	struct maps maps = {};
	struct bee_error error;
	FILE *in;
	size_t i;

	if (!end || end == data)
		return -1;
	if (size - (end + 1 - data) >= sizeof(loads))
		memcpy(loads, end + 1, sizeof(loads));
	/* As elf_identify() leaves them. */
	for (i = 0; i < 3; i++) {
		loads[i].offset %= 1ull << 40;
		loads[i].size %= 1ull << 40;
		if (loads[i].vaddr + loads[i].size < loads[i].vaddr)
			loads[i].vaddr = 0;
	}
	loads[1].size += !loads[1].size;
	elf.text[0] = loads[1];
	in = fmemopen((void *)data, end - data, "r");
	if (!in)
		abort();
	if (!maps_read(in, &maps, &error))
		check(&maps, &elf);
	fclose(in);
	maps_free(&maps);
	return 0;
}
