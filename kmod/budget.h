/* SPDX-License-Identifier: GPL-2.0 */
/* The budget: how many bytes the module keeps, and how many it may keep. */
#ifndef BEE_BUDGET_H
#define BEE_BUDGET_H

#include <linux/types.h>

struct workqueue_struct;

struct netlink_ext_ack;

/**
 * enum bee_budget_kind - what memory is for
 * @BEE_BUDGET_FILES: files, their names and tables
 * @BEE_BUDGET_MMS: address spaces and their ranges
 * @BEE_BUDGET_CACHES: what has one size for good: rules that walks have looked up
 */
enum bee_budget_kind {
	BEE_BUDGET_FILES,
	BEE_BUDGET_MMS,
	BEE_BUDGET_CACHES,
	/* private: */
	BEE_BUDGET_KINDS,
};

/**
 * struct bee_budget_reclaim - how to get memory back
 * @evictable: bytes that @evict could free
 * @evict: free that many bytes or all that is evictable; bytes that RCU callbacks will uncharge
 *
 * Both are called in process context and may sleep.
 */
struct bee_budget_reclaim {
	u64	(*evictable)(void);
	u64	(*evict)(u64 bytes);
};

void bee_budget_init(u64 limit, const struct bee_budget_reclaim *reclaim,
		     struct workqueue_struct *wq);
void bee_budget_exit(void);

u64 bee_budget_limit(void);
int bee_budget_set_limit(u64 limit, struct netlink_ext_ack *extack);

int bee_budget_charge(enum bee_budget_kind kind, u64 bytes, struct netlink_ext_ack *extack);
void bee_budget_charge_fixed(enum bee_budget_kind kind, u64 bytes);
bool bee_budget_charge_nowait(enum bee_budget_kind kind, u64 bytes);
bool bee_budget_charge_reserve(enum bee_budget_kind kind, u64 bytes);
void bee_budget_uncharge(enum bee_budget_kind kind, u64 bytes);
u64 bee_budget_used(enum bee_budget_kind kind);

#endif /* BEE_BUDGET_H */
