/* SPDX-License-Identifier: GPL-2.0 */
/* The reverse map: from a file to the address spaces that have it mapped. */
#ifndef BEE_RMAP_H
#define BEE_RMAP_H

#include <linux/list.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/types.h>

struct bee_file;
struct bee_payer;

/**
 * struct bee_rmap_owner - the address spaces that have one map: one, or a parent and its children
 * @mms: struct bee_mm by @by_owner (mm_lock of mm.c, RCU for reading)
 * @refs: one for each map that names it
 * @payer: to whom it is charged, with a reference (I)
 * @seen: the last search that has come by (mutex of mm.c)
 * @rcu: frees it
 *
 * I: set before publication.
 */
struct bee_rmap_owner {
	struct hlist_head	mms;
	struct bee_payer	*payer;
	refcount_t		refs;
	u32			seen;
	struct rcu_head		rcu;
};

/**
 * struct bee_rmap_node - a range, in the list of its file
 * @in_file: in @rmap of the file (@rmap_lock of the file, RCU for reading)
 * @owner: who has the range (I)
 *
 * There is one for each range with a file, so it is small; the map that owns it frees it, a grace
 * period after it was unlinked.
 *
 * I: set before it is linked.
 */
struct bee_rmap_node {
	struct hlist_node	 in_file;
	struct bee_rmap_owner	*owner;
};

int bee_rmap_init(void);
void bee_rmap_exit(void);

struct bee_rmap_owner *bee_rmap_owner_new(struct bee_payer *payer, gfp_t gfp);
void bee_rmap_owner_put(struct bee_rmap_owner *owner);

struct bee_rmap_node *bee_rmap_link(struct bee_file *f, struct bee_rmap_owner *owner, gfp_t gfp);
void bee_rmap_unlink(struct bee_file *f, struct bee_rmap_node *node);
void bee_rmap_free(struct bee_rmap_node *node);

/**
 * bee_rmap_is_single() - whether just one address space has the map of an owner
 * @owner: the owner
 *
 * Context: Any.  Caller holds mm_lock, or the RCU read lock, and then it may change.
 * Return: true if it is one.
 */
static inline bool bee_rmap_is_single(const struct bee_rmap_owner *owner)
{
	const struct hlist_node *first = rcu_dereference_raw(hlist_first_rcu(&owner->mms));

	return first && !rcu_dereference_raw(hlist_next_rcu(first));
}

#endif /* BEE_RMAP_H */
