/* SPDX-License-Identifier: GPL-2.0 */
/* Which FDE describes which text, and what lies between them. */
#ifndef BEE_COVERAGE_H
#define BEE_COVERAGE_H

#include "eh_frame.h"
#include "elf.h"
#include "error.h"
#include "rows.h"

#define COVERAGE_ENTRY_MAX	128	/* bytes of the code at the entry point, if it has no FDE */

int coverage_list_rows(const struct elf_file *elf, const struct fde_list *list,
		       struct row_set *rows, struct bee_error *error);
int coverage_rows(const struct elf_file *elf, struct row_set *rows, struct bee_error *error);
int coverage_cfi_rows(const struct elf_file *elf, struct row_set *rows, struct bee_error *error);
int coverage_fde_rows(const struct elf_file *elf, struct row_set *rows, struct bee_error *error);
bool coverage_is_entry(const struct elf_file *elf, u64 start, u64 end);

#endif /* BEE_COVERAGE_H */
