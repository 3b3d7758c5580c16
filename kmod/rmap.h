/* SPDX-License-Identifier: GPL-2.0 */
/* The reverse map: from a file to the address spaces that have it mapped. */
#ifndef BEE_RMAP_H
#define BEE_RMAP_H

#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/types.h>

struct bee_file;
struct bee_index;
struct bee_payer;

/**
 * struct bee_map - the ranges of an address space, which forked ones share until one changes them
 * @nr: number of ranges, not 0 (L)
 * @gone: start of the range that was unmapped and is still in its chunk, see map.c; 0: none (L)
 * @refs: one for each address space that has it, one for each struct bee_map_change
 * @index: the chunks (L, RCU for reading; entries likewise)
 * @payer: to whom it and its nodes are charged, with a reference
 * @mms: struct bee_mm by @by_map: who has it (L, RCU for reading)
 * @uid: that of @payer, for walks (I)
 * @seen: number of the last search that has found it (mm_search_mutex of mm.c)
 * @rcu: frees it
 *
 * L: mm_lock of mm.c.  I: does not change.
 */
struct bee_map {
	u32			 nr;
	refcount_t		 refs;
	u64			 gone;
	struct bee_index __rcu	*index;
	struct bee_payer	*payer;
	struct hlist_head	 mms;
	u32			 uid;
	u32			 seen;
	struct rcu_head		 rcu;
};

/**
 * struct bee_rmap_node - a range, in the list of its file
 * @in_file: in @rmap of the file (@rmap_lock of the file, RCU for reading)
 * @map: the map that has the range (I)
 *
 * There is one for each range with a file, so it is small.  It is freed a grace period after it was
 * unlinked, and its map not before.
 *
 * I: set before it is linked.
 */
struct bee_rmap_node {
	struct hlist_node	 in_file;
	struct bee_map		*map;
};

int bee_rmap_init(void);
void bee_rmap_exit(void);

struct bee_rmap_node *bee_rmap_link(struct bee_file *f, struct bee_map *map, gfp_t gfp);
void bee_rmap_unlink(struct bee_file *f, struct bee_rmap_node *node);
void bee_rmap_set_refused(struct bee_file *f, bool refused);
void bee_rmap_free(struct bee_rmap_node *node);

#endif /* BEE_RMAP_H */
