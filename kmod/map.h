/* SPDX-License-Identifier: GPL-2.0 */
/* Maps: the ranges of one address space. */
#ifndef BEE_MAP_H
#define BEE_MAP_H

#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/types.h>

#include "file.h"

struct bee_payer;
struct bee_rmap_owner;
struct mm_struct;
struct netlink_ext_ack;
struct vm_area_struct;

/**
 * struct bee_range - one executable mapping of an address space, or a part of it
 * @start: first address
 * @end: address after the last
 * @offset: byte of the file at @start; 0 without a file
 * @file: the file that is mapped; NULL for anonymous memory
 */
struct bee_range {
	u64		 start;
	u64		 end;
	u64		 offset;
	struct bee_file	*file;
};

/**
 * struct bee_map - the ranges of an address space: sorted, disjoint, immutable
 * @nr: number of ranges, not 0
 * @room: length of @ranges
 * @refs: one for each address space that shares it, one for each writer that builds from it
 * @own_first: first range whose node it owns
 * @own_end: range after the last one of these; @own_first and @own_end change only in
 *	bee_map_take_over()
 * @rcu: frees it
 * @payer: to whom it and its nodes are charged, with a reference
 * @owner: the address spaces that have it, with a reference; NULL before bee_map_link()
 * @ranges: the ranges; each holds a reference on its file.  Behind them is an array of @room
 *	pointers, map_nodes(): the nodes of the ranges in the lists of their files
 */
struct bee_map {
	u32			 nr;
	u32			 room;
	refcount_t		 refs;
	u32			 own_first;
	u32			 own_end;
	struct rcu_head		 rcu;
	struct bee_payer	*payer;
	struct bee_rmap_owner	*owner;
	struct bee_range	 ranges[];
};

/**
 * struct bee_map_edit - a range to remove or to add, as a request has it
 * @start: first address
 * @end: address after the last
 * @offset: byte of the file at @start
 * @file: id of the file, or 0
 */
struct bee_map_edit {
	u64	start;
	u64	end;
	u64	offset;
	u32	file;
};

/**
 * struct bee_map_diff - a change of a map, as a request has it
 * @owner: cookie of the address space, 0 if it has none yet; not from the request
 * @nr_del: length of @del
 * @nr_add: length of @add
 * @del: ranges to remove
 * @add: ranges to add
 */
struct bee_map_diff {
	u64			 owner;
	u32			 nr_del;
	u32			 nr_add;
	struct bee_map_edit	*del;
	struct bee_map_edit	*add;
};

#define BEE_MAP_MAX_RANGES	65536

struct bee_map *bee_map_apply(const struct bee_map *old, const struct bee_map_diff *diff,
			      struct bee_payer *payer, struct netlink_ext_ack *extack);
struct bee_map *bee_map_scan(const struct bee_map *old, struct mm_struct *mm,
			     struct bee_payer *payer, struct netlink_ext_ack *extack);
struct bee_map *bee_map_splice(struct bee_map *old, u64 start, u64 end,
			       const struct bee_range *in, struct bee_payer *payer);
int bee_map_link(struct bee_map *map, gfp_t gfp, struct netlink_ext_ack *extack);
void bee_map_take_over(struct bee_map *map, struct bee_map *old);
void bee_map_put(struct bee_map *map);

struct bee_file *bee_map_get_file(const struct bee_map *map, u64 start,
				  const struct vm_area_struct *vma, struct bee_payer *payer,
				  gfp_t gfp);
bool bee_map_has(const struct bee_map *map, u64 start, u64 end, const struct bee_range *in);
bool bee_map_is_same(const struct bee_map *a, const struct bee_map *b);

/** bee_range_contains() - whether @ip is in the range.  Context: Any, NMI-safe. */
static inline bool bee_range_contains(const struct bee_range *range, u64 ip)
{
	return ip - range->start < range->end - range->start;
}

/** bee_range_offset() - byte of the file at @ip in the range.  Context: Any, NMI-safe. */
static inline u64 bee_range_offset(const struct bee_range *range, u64 ip)
{
	return ip - range->start + range->offset;
}

/**
 * bee_map_find() - the range of an address
 * @map: the ranges
 * @ip: the address
 *
 * Context: Any, NMI-safe.  Caller keeps @map alive, by RCU or a reference.
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
