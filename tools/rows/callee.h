/* SPDX-License-Identifier: GPL-2.0 */
/* Registers that a function has saved, for the frame of its caller. */
#ifndef BEE_CALLEE_H
#define BEE_CALLEE_H

#include "eh_frame.h"
#include "elf.h"
#include "rows.h"

/*
 * Proofs of a file, each of which looks at all FDEs and at a function's code.  Debian's files need
 * up to four.
 */
#define CALLEE_MAX_PROOFS	64

/**
 * struct callee_proofs - what was found of the callees of a file; all zero at first
 * @proof: of the function at @target: it saves @reg at CFA + @offset; 0: not in one place
 * @count: entries in @proof
 */
struct callee_proofs {
	struct {
		u64	target;
		s32	offset;
		u8	reg;
	}		proof[CALLEE_MAX_PROOFS];
	unsigned int	count;
};

bool callee_can_save(const struct bee_rule *rule);
void callee_add_rows(const struct elf_file *elf, const struct fde_list *list,
		     struct callee_proofs *proofs, const struct bee_rule *rule, u64 start, u64 end,
		     struct row_set *rows);

#endif /* BEE_CALLEE_H */
