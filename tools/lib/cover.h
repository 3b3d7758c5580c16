/* SPDX-License-Identifier: GPL-2.0 */
/* Which FDE describes which text, and what lies between them. */
#ifndef BEE_COVER_H
#define BEE_COVER_H

#include "elf.h"
#include "row.h"

#define COVER_ENTRY_MAX	128	/* bytes of the code at the entry point, if it has no FDE */

int bee_cover_rows(const struct bee_elf *elf, struct row_set *rows, char *message, size_t size);
int bee_cover_fde_rows(const struct bee_elf *elf, struct row_set *rows, char *message, size_t size);

#endif /* BEE_COVER_H */
