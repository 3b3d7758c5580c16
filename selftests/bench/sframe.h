/* SPDX-License-Identifier: GPL-2.0 */
/* How large the SFrame section of a file would be, to compare with. */
#ifndef BEE_SFRAME_H
#define BEE_SFRAME_H

#include "elf.h"

/**
 * struct sframe_size - a file's SFrame section
 * @bytes: header, FDEs and FREs
 * @nfdes: functions in it
 * @nfres: their rows
 * @skipped: functions that it cannot represent and does not have
 * @functions: FDEs of the file that describe text; ld has two in @nfdes for a PLT
 */
struct sframe_size {
	u64	bytes;
	size_t	nfdes;
	size_t	nfres;
	size_t	skipped;
	size_t	functions;
};

void sframe_measure(const struct elf_file *elf, struct sframe_size *size);

#endif /* BEE_SFRAME_H */
