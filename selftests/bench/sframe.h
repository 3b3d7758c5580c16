/* SPDX-License-Identifier: GPL-2.0 */
/* The size that the SFrame section of a file would have, to compare tables with. */
#ifndef BEE_SFRAME_H
#define BEE_SFRAME_H

#include "elf.h"

/**
 * struct sframe_size - a file's SFrame section
 * @bytes: header, FDEs and FREs
 * @nfdes: functions in it
 * @nfres: their rows
 * @skipped: functions left out, as SFrame cannot represent them
 * @functions: FDEs of the file that describe text; a PLT is one here, but two in @nfdes
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
