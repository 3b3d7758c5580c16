/* SPDX-License-Identifier: GPL-2.0 */
/* The CFA where libdw refuses it: a second reading of an FDE's instructions. */
#ifndef BEE_JUDGE_H
#define BEE_JUDGE_H

#include "eh_frame.h"
#include "libdw.h"

/**
 * struct judge - what the instructions before a pc say
 * @known: they can be read, and give a CFA
 * @too_deep: they restore one of more states than CFI_MAX_STATES
 * @nops: operations that yield the CFA
 * @ops: the operations
 */
struct judge {
	bool		known;
	bool		too_deep;
	size_t		nops;
	struct eval_op	ops[LIBDW_MAX_OPS];
};

void judge_fde(const struct cie *cie, const struct fde *fde, u64 pc, struct judge *judge);

#endif /* BEE_JUDGE_H */
