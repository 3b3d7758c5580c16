/* SPDX-License-Identifier: GPL-2.0 */
/* Managed address spaces and their ranges. */
#ifndef BEE_MM_H
#define BEE_MM_H

#include <linux/hash.h>
#include <linux/list.h>
#include <linux/mm_types.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "store.h"

struct file;
struct netlink_ext_ack;
struct pid;

/**
 * struct bee_range - one executable range of an address space
 * @start: first address
 * @end: address after the last
 * @bias: address minus pc
 * @stored: its table; NULL where there is none
 */
struct bee_range {
	u64			 start;
	u64			 end;
	u64			 bias;
	struct bee_stored	*stored;
};

/**
 * struct bee_map - the ranges of an address space: sorted, disjoint, immutable
 * @nr: number of ranges, not 0
 * @room: ranges that there is memory for
 * @refs: address spaces that share it
 * @uses: its entries in the tables' reverse maps, one for each range
 * @free: frees it a grace period after the last address space let go
 * @ranges: the ranges; each holds a reference on its table
 */
struct bee_map {
	u32			 nr;
	u32			 room;
	refcount_t		 refs;
	struct bee_use		*uses;
	struct rcu_work		 free;
	struct bee_range	 ranges[];
};

/**
 * struct bee_mm - a managed address space
 * @mm: whose, with a reference of mmgrab() (I)
 * @pid: the process that was named when it became managed, or NULL (I)
 * @cookie: name in the protocol, ascending along @node, never used again (I)
 * @generation: number of changes (L)
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
	struct bee_map __rcu	*map;
	struct hlist_node	 by_mm;
	struct list_head	 node;
	struct rcu_work		 free;
};

#define BEE_MM_HASH_BITS	12
extern struct hlist_head bee_mm_hash[1 << BEE_MM_HASH_BITS];

/**
 * struct bee_mm_range - a range in a request
 * @start: first address
 * @end: address after the last
 * @bias: address minus pc
 * @table: id of its table, or 0
 */
struct bee_mm_range {
	u64	start;
	u64	end;
	u64	bias;
	u32	table;
};

/**
 * struct bee_mm_diff - a request to change an address space's ranges
 * @cookie: in: the address space as the caller knows it, 0 if not yet managed;
 *	out: its cookie
 * @generation: in: its generation as the caller knows it; out: the new one
 * @ranges: out: number of ranges
 * @nr_del: length of @del
 * @nr_add: length of @add
 * @del: ranges to remove
 * @add: ranges to add
 */
struct bee_mm_diff {
	u64			 cookie;
	u64			 generation;
	u32			 ranges;
	u32			 nr_del;
	u32			 nr_add;
	struct bee_mm_range	*del;
	struct bee_mm_range	*add;
};

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

#define BEE_MM_MAX_RANGES	65536

int bee_mm_init(struct workqueue_struct *wq);
void bee_mm_exit(void);

int bee_mm_update(struct mm_struct *mm, struct pid *pid, struct bee_mm_diff *diff,
		  struct netlink_ext_ack *extack);
bool bee_mm_forget(const struct mm_struct *mm);
bool bee_mm_forget_cookie(u64 cookie);

bool bee_mm_any(void);
void bee_mm_unmap(const struct mm_struct *mm, u64 start, u64 end);
void bee_mm_attach(const struct mm_struct *mm, u64 start, u64 end, u64 offset,
		   const struct file *file);
void bee_mm_fork(const struct mm_struct *parent, struct mm_struct *child);

const struct bee_mm *bee_mm_next(u64 cookie, const struct mm_struct *only);
unsigned int bee_mm_seq(void);
void bee_mm_sum(struct bee_mm_totals *totals);

/**
 * bee_range_contains() - whether an address is in a range
 *
 * Context: Any, NMI-safe.
 */
static inline bool bee_range_contains(const struct bee_range *range, u64 ip)
{
	return ip - range->start < range->end - range->start;
}

/**
 * bee_range_pc() - from an address to the pc in the range's file
 *
 * The only place where a bias is subtracted.
 *
 * Context: Any, NMI-safe.
 */
static inline u64 bee_range_pc(const struct bee_range *range, u64 ip)
{
	return ip - range->bias;
}

/**
 * bee_map_find() - the range of an address
 * @map: the ranges
 * @ip: the address
 *
 * Context: Any, NMI-safe. Caller keeps @map alive, by RCU or a reference.
 * Return: the range, or NULL.
 */
static inline const struct bee_range *bee_map_find(const struct bee_map *map, u64 ip)
{
	const struct bee_range *low = map->ranges;
	u32 n = map->nr;

	while (n > 1) {
		u32 half = n / 2;

		if (low[half].start <= ip)
			low += half;
		n -= half;
	}
	return bee_range_contains(low, ip) ? low : NULL;
}

static inline struct hlist_head *bee_mm_bucket(const struct mm_struct *mm)
{
	return &bee_mm_hash[hash_ptr(mm, BEE_MM_HASH_BITS)];
}

/**
 * bee_mm_lookup() - the ranges of an address space
 * @mm: the address space
 *
 * Context: Any, NMI-safe. Caller holds the RCU read lock. Does not fault,
 * sleep, allocate, lock or print.
 * Return: its ranges, at least one; or NULL if it is not managed.
 */
static inline const struct bee_map *bee_mm_lookup(const struct mm_struct *mm)
{
	const struct bee_mm *m;

	hlist_for_each_entry_rcu(m, bee_mm_bucket(mm), by_mm)
		if (m->mm == mm)
			return rcu_dereference(m->map);
	return NULL;
}

#endif /* BEE_MM_H */
