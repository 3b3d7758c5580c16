/* SPDX-License-Identifier: GPL-2.0 */
/* Managed address spaces and their ranges. */
#ifndef BEE_MM_H
#define BEE_MM_H

#include <linux/hash.h>
#include <linux/list.h>
#include <linux/mm_types.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "map.h"

struct netlink_ext_ack;
struct pid;

/**
 * struct bee_mm - a managed address space
 * @mm: whose, with a reference of mmgrab() (I)
 * @pid: the process that was named when it became managed, or NULL (I)
 * @cookie: name in the protocol, ascending along @node, never used again (I)
 * @generation: number of changes; written after @map, read before it (L)
 * @lost: @map is not what is mapped, for want of memory (L)
 * @dead: not managed any more (L)
 * @map: its ranges, NULL if there are none (L, RCU for reading)
 * @by_mm: in the hash (L, RCU for reading)
 * @node: in the list of all (L, RCU for reading)
 * @free: frees it
 *
 * I: set before publication. L: mm_lock of mm.c.
 */
struct bee_mm {
	struct mm_struct	*mm;
	struct pid		*pid;
	u64			 cookie;
	u64			 generation;
	bool			 lost;
	bool			 dead;
	struct bee_map __rcu	*map;
	struct hlist_node	 by_mm;
	struct list_head	 node;
	struct rcu_work		 free;
};

#define BEE_MM_HASH_BITS	12
extern struct hlist_head bee_mm_hash[1 << BEE_MM_HASH_BITS];

/**
 * struct bee_mm_state - which ranges of which address space
 * @cookie: the address space; 0: it is not managed
 * @generation: number of changes
 * @ranges: number of ranges
 */
struct bee_mm_state {
	u64	cookie;
	u64	generation;
	u32	ranges;
};

/**
 * struct bee_mm_totals - sums over all managed address spaces
 * @mms: address spaces
 * @ranges: their ranges
 * @lost: how often one lost its ranges, or a child was not managed, for want of memory
 */
struct bee_mm_totals {
	u32	mms;
	u32	ranges;
	u64	lost;
};

void bee_mm_init(struct workqueue_struct *wq);
void bee_mm_exit(void);

void bee_request_init(struct workqueue_struct *wq);
void bee_request_exit(void);
int bee_mm_scan(struct mm_struct *mm, struct pid *pid, struct bee_mm_state *state,
		struct netlink_ext_ack *extack);
int bee_mm_update(struct mm_struct *mm, struct pid *pid, const struct bee_map_diff *diff,
		  struct bee_mm_state *state, struct netlink_ext_ack *extack);
bool bee_mm_del(const struct mm_struct *mm);
bool bee_mm_del_cookie(u64 cookie);

bool bee_mm_is_managed(const struct mm_struct *mm);
void bee_mm_manage(struct mm_struct *mm, struct pid *pid);
void bee_mm_attach(const struct vm_area_struct *vma, u64 start, u64 end, u64 offset,
		   bool announce);
void bee_mm_unmap(const struct mm_struct *mm, u64 start, u64 end);
void bee_mm_fork(const struct mm_struct *parent, struct mm_struct *child);
void bee_mm_forget(const struct mm_struct *mm);

const struct bee_mm *bee_mm_next(u64 cookie, const struct mm_struct *only);
unsigned int bee_mm_seq(void);
void bee_mm_sum(struct bee_mm_totals *totals);

static inline struct hlist_head *bee_mm_bucket(const struct mm_struct *mm)
{
	return &bee_mm_hash[hash_ptr(mm, BEE_MM_HASH_BITS)];
}

/**
 * bee_mm_find() - a managed address space
 * @mm: the address space
 *
 * Context: Any, NMI-safe. Caller holds the RCU read lock, or mm_lock.
 * Return: what is known of it; or NULL if it is not managed.
 */
static inline struct bee_mm *bee_mm_find(const struct mm_struct *mm)
{
	struct bee_mm *m;

	hlist_for_each_entry_rcu(m, bee_mm_bucket(mm), by_mm, true)
		if (m->mm == mm)
			return m;
	return NULL;
}

/**
 * bee_mm_lookup() - the ranges of an address space
 * @mm: the address space
 *
 * Context: Any, NMI-safe. Caller holds the RCU read lock. Does not fault,
 * sleep, allocate, lock or print.
 * Return: its ranges, at least one; or NULL if it has none or is not managed.
 */
static inline const struct bee_map *bee_mm_lookup(const struct mm_struct *mm)
{
	const struct bee_mm *m = bee_mm_find(mm);

	return m ? rcu_dereference(m->map) : NULL;
}

#endif /* BEE_MM_H */
