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

struct file;
struct netlink_ext_ack;
struct pid;

/**
 * struct bee_mm - a managed address space
 * @mm: whose, with a reference of mmgrab() (I)
 * @pid: the process that was named when it became managed, or NULL (I)
 * @cookie: name in the protocol, ascending along @node, never used again (I)
 * @generation: number of changes (L)
 * @lost: @map is not what is mapped, for want of memory; not followed (L)
 * @news: a file without a table has been mapped, and nobody told (L)
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
	bool			 news;
	struct bee_map __rcu	*map;
	struct hlist_node	 by_mm;
	struct list_head	 node;
	struct rcu_work		 free;
};

#define BEE_MM_HASH_BITS	12
extern struct hlist_head bee_mm_hash[1 << BEE_MM_HASH_BITS];

/**
 * struct bee_mm_totals - sums over all managed address spaces
 * @mms: address spaces
 * @ranges: their ranges
 * @lost: address spaces that lost their ranges for want of memory
 */
struct bee_mm_totals {
	u32	mms;
	u32	ranges;
	u64	lost;
};

/* Called with a managed address space that has news, under RCU. */
typedef void (*bee_mm_tell_t)(const struct bee_mm *m);

int bee_mm_init(struct workqueue_struct *wq, bee_mm_tell_t tell);
void bee_mm_hush(void);
void bee_mm_exit(void);

int bee_mm_update(struct mm_struct *mm, struct pid *pid, struct bee_map_diff *diff,
		  struct netlink_ext_ack *extack);
bool bee_mm_forget(const struct mm_struct *mm);
bool bee_mm_forget_cookie(u64 cookie);

void bee_mm_unmap(const struct mm_struct *mm, u64 start, u64 end);
void bee_mm_attach(const struct mm_struct *mm, u64 start, u64 end, u64 offset,
		   const struct file *file);
void bee_mm_fork(const struct mm_struct *parent, struct mm_struct *child);

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
