/* SPDX-License-Identifier: GPL-2.0 */
/* Where functions begin and end, also those that no symbol names: by CFI and by Go's function table. */
#ifndef BOUNDS_H
#define BOUNDS_H

#include "elf.h"
#include "symbols.h"

/**
 * struct bounds - the functions of a file
 * @elf: the file
 * @functions: at the file's addresses; all have ends.  Those of CFI are called "", those of Go by their names,
 *	which are bytes of @elf.
 */
struct bounds {
	struct elf_file	elf;
	struct symbols	functions;
};

void bounds_open(struct bounds *bounds, int fd);
void bounds_add(struct bounds *bounds, u64 start, u64 end, const char *name);
const struct symbol *bounds_find(const struct bounds *bounds, u64 pc);
bool bounds_cut(const struct bounds *bounds, u64 label, u64 pc);
void bounds_close(struct bounds *bounds);

#endif /* BOUNDS_H */
