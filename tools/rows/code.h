/* SPDX-License-Identifier: GPL-2.0 */
/* A copy of the code that has no CFI. */
#ifndef BEE_CODE_H
#define BEE_CODE_H

#include "elf.h"

#define CODE_NOWHERE	(~(size_t)0)

/**
 * struct code_gap - text to look at
 * @start: first pc
 * @end: pc after the last
 */
struct code_gap {
	u64	start;
	u64	end;
};

/**
 * struct code - the bytes of all gaps.  Places ("at") count them
 * @elf: the file
 * @gaps: the gaps, ascending
 * @ngaps: gaps that are looked at
 * @first: place of the first byte of each gap
 * @size: bytes in all gaps that are looked at
 * @bytes: these bytes
 */
struct code {
	const struct elf_file	*elf;
	const struct code_gap	*gaps;
	size_t			 ngaps;
	size_t			*first;
	size_t			 size;
	u8			*bytes;
};

bool code_load(struct code *code, const struct elf_file *elf, const struct code_gap *gaps,
	       size_t ngaps, size_t max);
void code_free(struct code *code);
size_t code_gap_of(const struct code *code, size_t at);
u64 code_pc(const struct code *code, size_t at);
size_t code_place(const struct code *code, u64 pc);

/* The place after the last of a gap. */
static inline size_t code_gap_end(const struct code *code, size_t gap)
{
	return gap + 1 < code->ngaps ? code->first[gap + 1] : code->size;
}

#endif /* BEE_CODE_H */
