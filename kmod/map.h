/* SPDX-License-Identifier: GPL-2.0 */
/* Maps: the ranges of an address space. */
#ifndef BEE_MAP_H
#define BEE_MAP_H

#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "store.h"

struct netlink_ext_ack;

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
 * struct bee_map_range - a range in a request
 * @start: first address
 * @end: address after the last
 * @bias: address minus pc
 * @table: id of its table, or 0
 */
struct bee_map_range {
	u64	start;
	u64	end;
	u64	bias;
	u32	table;
};

/**
 * struct bee_map_diff - a request to change an address space's ranges
 * @cookie: in: the address space as the caller knows it, 0 if not yet managed;
 *	out: its cookie
 * @generation: in: its generation as the caller knows it; out: the new one
 * @ranges: out: number of ranges
 * @nr_del: length of @del
 * @nr_add: length of @add
 * @del: ranges to remove
 * @add: ranges to add
 */
struct bee_map_diff {
	u64			 cookie;
	u64			 generation;
	u32			 ranges;
	u32			 nr_del;
	u32			 nr_add;
	struct bee_map_range	*del;
	struct bee_map_range	*add;
};

#define BEE_MAP_MAX_RANGES	65536

void bee_map_init(struct workqueue_struct *wq);

struct bee_map *bee_map_apply(const struct bee_map *old, const struct bee_map_diff *diff,
			      struct netlink_ext_ack *extack);
struct bee_map *bee_map_cut(const struct bee_map *old, u64 start, u64 end);
struct bee_map *bee_map_fill(const struct bee_map *old, const struct bee_range *in);
void bee_map_discard(struct bee_map *map);
void bee_map_publish(struct bee_map *map);
void bee_map_put(struct bee_map *map);

bool bee_map_overlaps(const struct bee_map *map, u64 start, u64 end);
bool bee_map_covers(const struct bee_map *map, u64 start, u64 end);

/**
 * bee_range_contains() - whether an address is in a range
 * @range: the range
 * @ip: the address
 *
 * Context: Any, NMI-safe.
 */
static inline bool bee_range_contains(const struct bee_range *range, u64 ip)
{
	return ip - range->start < range->end - range->start;
}

/**
 * bee_range_pc() - from an address to the pc in the range's file
 * @range: the range that the address is in
 * @ip: the address
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

#endif /* BEE_MAP_H */
