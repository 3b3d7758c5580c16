/* SPDX-License-Identifier: GPL-2.0 */
/* Payers: how much of the budget each user has, and may have. */
#ifndef BEE_PAYER_H
#define BEE_PAYER_H

#include <linux/atomic.h>
#include <linux/rbtree.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/types.h>

#include "budget.h"

struct pid;

/**
 * struct bee_payer - a user whose processes are managed
 * @uid: in the initial user namespace
 * @refs: one for each object that is charged to it
 * @bytes: charged
 * @refused: how often a charge was refused because of its share
 * @by_uid: among all payers (payer_lock of payer.c)
 * @rcu: frees it
 */
struct bee_payer {
	u32			uid;
	refcount_t		refs;
	atomic64_t		bytes;
	atomic64_t		refused;
	struct rb_node		by_uid;
	struct rcu_head		rcu;
};

/**
 * struct bee_payer_state - a payer at one moment
 * @uid: see struct bee_payer
 * @bytes: see there
 * @most: bytes that it may have, given what the others have now
 * @refused: see there
 */
struct bee_payer_state {
	u32	uid;
	u64	bytes;
	u64	most;
	u64	refused;
};

struct bee_payer *bee_payer_get_current(gfp_t gfp);
struct bee_payer *bee_payer_get_pid(struct pid *pid);
void bee_payer_put(struct bee_payer *payer);
void bee_payer_exit(void);
bool bee_payer_next(u32 uid, struct bee_payer_state *state);

unsigned int bee_payer_share(void);
void bee_payer_set_share(unsigned int percent);

bool bee_payer_has_room(struct bee_payer *payer, u64 bytes);
bool bee_payer_charge(struct bee_payer *payer, u64 bytes);
bool bee_payer_charge_spare(struct bee_payer *payer, u64 bytes);
bool bee_payer_charge_reserve(struct bee_payer *payer, u64 bytes);
void bee_payer_charge_fixed(struct bee_payer *payer, u64 bytes);
void bee_payer_uncharge(struct bee_payer *payer, u64 bytes);

bool bee_payer_charge_mm(struct bee_payer *payer, u64 bytes);
void bee_payer_uncharge_mm(struct bee_payer *payer, u64 bytes);

/** bee_payer_hold() - take another reference; @payer may be NULL.  Context: Any. */
static inline struct bee_payer *bee_payer_hold(struct bee_payer *payer)
{
	if (payer)
		refcount_inc(&payer->refs);
	return payer;
}

#endif /* BEE_PAYER_H */
