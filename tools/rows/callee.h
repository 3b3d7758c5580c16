/* SPDX-License-Identifier: GPL-2.0 */
/* Registers that a function has saved, for the frame of its caller. */
#ifndef BEE_CALLEE_H
#define BEE_CALLEE_H

#include "eh_frame.h"
#include "elf.h"
#include "rows.h"

bool callee_can_save(const struct bee_rule *rule);
void callee_add_rows(const struct elf_file *elf, const struct fde_list *list,
		     const struct bee_rule *rule, u64 start, u64 end, struct row_set *rows);

#endif /* BEE_CALLEE_H */
