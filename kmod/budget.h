/* SPDX-License-Identifier: GPL-2.0 */
/* The budget: every byte that the module keeps, and how many there may be. */
#ifndef BEE_BUDGET_H
#define BEE_BUDGET_H

#include <linux/types.h>

struct work_struct;

/**
 * enum bee_budget_kind - what memory is for
 * @BEE_BUDGET_FILES: files, their names and tables
 * @BEE_BUDGET_MMS: address spaces and their ranges
 */
enum bee_budget_kind {
	BEE_BUDGET_FILES,
	BEE_BUDGET_MMS,
	BEE_BUDGET_KINDS,
};

void bee_budget_init(u64 limit, struct work_struct *over);
u64 bee_budget_limit(void);
void bee_budget_set_limit(u64 limit);

void bee_budget_add(enum bee_budget_kind kind, u64 bytes);
bool bee_budget_charge(enum bee_budget_kind kind, u64 bytes);
void bee_budget_uncharge(enum bee_budget_kind kind, u64 bytes);

u64 bee_budget_used(enum bee_budget_kind kind);
u64 bee_budget_total(void);
bool bee_budget_fits(u64 bytes);

#endif /* BEE_BUDGET_H */
