/* SPDX-License-Identifier: GPL-2.0 */
/* Rows of Go's functions, from Go's function table. */
#ifndef BEE_FROM_GO_H
#define BEE_FROM_GO_H

#include "elf.h"
#include "gopclntab.h"
#include "rows.h"

u64 go_func_start(const struct elf_file *elf, const struct gopclntab_func *func);
void go_func_rows(const struct elf_file *elf, const struct gopclntab *table,
		  const struct gopclntab_func *func, u64 start, u64 end, struct row_set *rows);

#endif /* BEE_FROM_GO_H */
