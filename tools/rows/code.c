// SPDX-License-Identifier: GPL-2.0
/* A copy of the code that has no CFI. */
#include <string.h>

#include "alloc.h"
#include "code.h"

/**
 * code_load() - copy the code
 * @code: filled; code_free() releases it, also after a failure
 * @elf: the file
 * @gaps: the gaps, ascending, in executable segments
 * @ngaps: entries in @gaps
 * @max: bytes to copy at most; a gap that has no room and those behind it are left out
 *
 * Return: false if the code cannot be read, or there is none.
 */
bool code_load(struct code *code, const struct elf_file *elf, const struct code_gap *gaps,
	       size_t ngaps, size_t max)
{
	size_t i, at = 0;

	*code = (struct code){ .elf = elf, .gaps = gaps };
	for (i = 0; i < ngaps && gaps[i].end - gaps[i].start <= max - code->size; i++)
		code->size += gaps[i].end - gaps[i].start;
	code->ngaps = i;
	if (!code->size)
		return false;
	code->first = alloc_array(NULL, code->ngaps, sizeof(*code->first));
	code->bytes = alloc_array(NULL, code->size, 1);
	for (i = 0; i < code->ngaps; i++) {
		u64 pc = gaps[i].start, size;

		code->first[i] = at;
		for (; pc < gaps[i].end; pc += size, at += size) {
			const u8 *bytes;

			size = gaps[i].end - pc;
			bytes = elf_text(elf, pc, &size);
			if (!bytes)
				return false;
			memcpy(code->bytes + at, bytes, size);
		}
	}
	return true;
}

/* code_free(): release what code_load() filled */
void code_free(struct code *code)
{
	free(code->first);
	free(code->bytes);
	*code = (struct code){};
}

/* code_gap_of(): number of the gap with @at */
size_t code_gap_of(const struct code *code, size_t at)
{
	size_t low = 0, high = code->ngaps;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (code->first[middle] <= at)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* code_pc(): address of the place @at */
u64 code_pc(const struct code *code, size_t at)
{
	size_t gap = code_gap_of(code, at);

	return code->gaps[gap].start + (at - code->first[gap]);
}

/* code_place(): place of @pc, or CODE_NOWHERE */
size_t code_place(const struct code *code, u64 pc)
{
	size_t low = 0, high = code->ngaps;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pc < code->gaps[middle].start)
			high = middle;
		else if (pc >= code->gaps[middle].end)
			low = middle + 1;
		else
			return code->first[middle] + (pc - code->gaps[middle].start);
	}
	return CODE_NOWHERE;
}
