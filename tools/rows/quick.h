/* SPDX-License-Identifier: GPL-2.0 */
/* The call frame instructions that compilers use for nearly all code, fast. */
#ifndef BEE_QUICK_H
#define BEE_QUICK_H

#include "eh_frame.h"
#include "rows.h"

#define QUICK_PLACES	1024

/**
 * struct quick - rules met lately
 * @rows: where rows go
 * @keys: rules as quick.c writes them, each in its place
 * @rules: their indices in @rows
 */
struct quick {
	struct row_set	*rows;
	u32		 keys[QUICK_PLACES];
	u32		 rules[QUICK_PLACES];
};

void quick_init(struct quick *quick, struct row_set *rows);
bool quick_run(struct quick *quick, const struct cfi_cie *cie, const struct fde *fde);

#endif /* BEE_QUICK_H */
