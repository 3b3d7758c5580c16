/* SPDX-License-Identifier: GPL-2.0 */
/* From rows to the bytes of a table. */
#ifndef BEE_PACK_H
#define BEE_PACK_H

#include "elf.h"
#include "error.h"
#include "rows.h"

void *pack_table(const struct elf_file *elf, const struct row_set *rows, size_t *size,
		     struct bee_error *error);

#endif /* BEE_PACK_H */
