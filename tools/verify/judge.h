/* SPDX-License-Identifier: GPL-2.0 */
/* What libdw refuses: a second reading of an FDE's instructions. */
#ifndef BEE_JUDGE_H
#define BEE_JUDGE_H

#include "eh_frame.h"
#include "libdw.h"

/**
 * struct judge_empty - registers that have an empty expression, a bit for each, by DWARF number
 *
 * The CFA is on the stack before the first operation (DWARF 5, 6.4.2.3), so it is the value of an
 * empty expression.
 * @place: DW_CFA_expression: the register is saved at the CFA
 * @value: DW_CFA_val_expression: the register is the CFA
 */
struct judge_empty {
	u32	place;
	u32	value;
};

/**
 * struct judge - what the instructions before a pc say
 * @known: they can be read, and give a CFA
 * @too_deep: they restore one of more states than CFI_MAX_STATES
 * @empty: registers with an empty expression
 * @nops: operations that yield the CFA
 * @ops: the operations
 */
struct judge {
	bool			known;
	bool			too_deep;
	struct judge_empty	empty;
	size_t			nops;
	struct eval_op		ops[LIBDW_MAX_OPS];
};

void judge_fde(const struct cie *cie, const struct fde *fde, u64 pc, struct judge *judge);

#endif /* BEE_JUDGE_H */
