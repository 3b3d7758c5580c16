/* SPDX-License-Identifier: GPL-2.0 */
/* Maps: the ranges of one address space. */
#ifndef BEE_MAP_H
#define BEE_MAP_H

#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/types.h>

#include "file.h"
#include "rmap.h"

struct bee_payer;
struct mm_struct;
struct netlink_ext_ack;
struct vm_area_struct;

/**
 * struct bee_range - one executable mapping of an address space, or a part of it
 * @start: first address
 * @end: address after the last; @start in the range that is @gone of its map: it contains nothing
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
 * struct bee_chunk - some ranges of a map that follow each other: sorted, disjoint, and immutable
 *	but for @end of a range that goes and comes back
 * @nr: number of ranges, not 0
 * @own_first: first of the ranges whose nodes and references are dropped with this chunk
 * @own_end: range after the last one of these; both are written before it is published and after it
 *	was replaced
 * @payer: to whom it is charged, with a reference
 * @rcu: frees it
 * @ranges: the ranges; the map holds a reference on the file of each.  Behind them is an array of
 *	@nr pointers, chunk_nodes(): the nodes of the ranges in the lists of their files
 */
struct bee_chunk {
	u16			 nr;
	u16			 own_first;
	u16			 own_end;
	struct bee_payer	*payer;
	struct rcu_head		 rcu;
	struct bee_range	 ranges[];
};

/**
 * struct bee_index - where a map has which chunk
 * @nr: length of @at, not 0
 * @payer: to whom it is charged, with a reference
 * @rcu: frees it
 * @at: ascending.  An entry's chunk has the ranges from @start, 0 in the first entry, to @start of
 *	the next entry, or is NULL: none are there.  No range crosses such an address
 */
struct bee_index {
	u32			 nr;
	struct bee_payer	*payer;
	struct rcu_head		 rcu;
	struct bee_entry {
		u64			 start;
		struct bee_chunk __rcu	*chunk;
	} at[];
};

/**
 * struct bee_map_list - ranges that a request works with: sorted, disjoint
 * @nr: number of ranges
 * @room: length of @ranges
 * @ranges: the ranges; each holds a reference on its file
 */
struct bee_map_list {
	u32			 nr;
	u32			 room;
	struct bee_range	 ranges[];
};

/**
 * struct bee_map_change - a change of one interval: from bee_map_prepare() to bee_map_finish()
 * @map: the map, with a reference
 * @old: its index before
 * @index: its index after; NULL: only the chunk of one entry is replaced
 * @nr: number of ranges after
 * @gone: of the map, after
 * @lo: first entry of @old whose chunk is replaced
 * @hi: entry after the last one of these
 * @fresh: number of entries of @index that replace them
 * @first: first entry of @old with ranges that go
 * @last: the last one of these
 * @from: first range in @first that goes
 * @to: range in @last after the last one that goes
 * @one: without @index, the entry after
 * @was: without @index, the chunk before
 *
 * Private to map.c.
 */
struct bee_map_change {
	struct bee_map		*map;
	struct bee_index	*old;
	struct bee_index	*index;
	u32			 nr;
	u64			 gone;
	u32			 lo;
	u32			 hi;
	u32			 fresh;
	u32			 first;
	u32			 last;
	u32			 from;
	u32			 to;
	struct bee_entry	 one;
	struct bee_chunk	*was;
};

/**
 * enum bee_map_way - how to replace one interval of a map
 * @BEE_MAP_SAME: it is so already
 * @BEE_MAP_TURN: one range goes or comes back: bee_map_turn()
 * @BEE_MAP_CHANGE: bee_map_prepare()
 */
enum bee_map_way {
	BEE_MAP_SAME,
	BEE_MAP_TURN,
	BEE_MAP_CHANGE,
};

/**
 * struct bee_map_cursor - a place in a map, for bee_map_next()
 * @index: the chunks, or NULL
 * @chunk: the current chunk, or NULL
 * @entry: the next entry
 * @i: the next range of @chunk
 */
struct bee_map_cursor {
	const struct bee_index	*index;
	const struct bee_chunk	*chunk;
	u32			 entry;
	u32			 i;
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

/* Most ranges that bee_map_set_most() can allow. */
#define BEE_MAP_MAX_RANGES	65536

u32 bee_map_most(void);
void bee_map_set_most(u32 ranges);

struct bee_map_list *bee_map_list_alloc(u64 room, struct netlink_ext_ack *extack);
bool bee_map_list_copy(struct bee_map_list *list, const struct bee_map *map);
void bee_map_list_free(struct bee_map_list *list);
bool bee_map_list_is_same(const struct bee_map_list *a, const struct bee_map_list *b);

struct bee_map *bee_map_apply(const struct bee_map_list *old, const struct bee_map_diff *diff,
			      struct bee_payer *payer, struct netlink_ext_ack *extack);
struct bee_map_list *bee_map_scan(const struct bee_map_list *old, struct mm_struct *mm,
				  struct bee_payer *payer, struct netlink_ext_ack *extack);
struct bee_map *bee_map_build(struct bee_map_list *list, struct bee_payer *payer,
			      struct netlink_ext_ack *extack);
struct bee_map *bee_map_new(const struct bee_range *range, struct bee_payer *payer);
struct bee_map *bee_map_copy(const struct bee_map *map, struct bee_payer *payer);
void bee_map_put(struct bee_map *map);

int bee_map_prepare(struct bee_map_change *change, struct bee_map *map, u64 start, u64 end,
		    const struct bee_range *in);
void bee_map_carry_out(const struct bee_map_change *change);
void bee_map_finish(struct bee_map_change *change, bool done);

struct bee_file *bee_map_get_file(const struct bee_range *there, const struct vm_area_struct *vma,
				  struct bee_payer *payer, gfp_t gfp);
enum bee_map_way bee_map_ask(const struct bee_map *map, u64 start, u64 end,
			     const struct bee_range *in, struct bee_range **turn);
void bee_map_turn(struct bee_map *map, struct bee_range *range, u64 end);
void bee_map_seek(struct bee_map_cursor *cursor, const struct bee_map *map, u64 addr);

/** bee_range_contains() - whether @ip is in the range.  Context: Any, NMI-safe. */
static inline bool bee_range_contains(const struct bee_range *range, u64 ip)
{
	return ip - range->start < READ_ONCE(range->end) - range->start;
}

/** bee_range_offset() - byte of the file at @ip in the range.  Context: Any, NMI-safe. */
static inline u64 bee_range_offset(const struct bee_range *range, u64 ip)
{
	return ip - range->start + range->offset;
}

/**
 * bee_map_is_single() - whether just one address space has a map
 * @map: the map
 *
 * Context: Any.  Caller holds mm_lock, or the RCU read lock, and then it may change.
 * Return: true if it is one.
 */
static inline bool bee_map_is_single(const struct bee_map *map)
{
	const struct hlist_node *first = rcu_dereference_raw(hlist_first_rcu(&map->mms));

	return first && !rcu_dereference_raw(hlist_next_rcu(first));
}

/**
 * bee_map_entry() - the entry of an address
 * @index: the index
 * @ip: the address
 *
 * Context: Any, NMI-safe.  Caller holds the RCU read lock.
 */
static inline const struct bee_entry *bee_map_entry(const struct bee_index *index, u64 ip)
{
	const struct bee_entry *low = index->at;
	u32 n = index->nr;

	while (n > 1) {
		u32 half = n / 2;

		if (low[half].start <= ip)
			low += half;
		n -= half;
	}
	return low;
}

/**
 * bee_map_find() - the range of an address
 * @map: the ranges
 * @ip: the address
 *
 * Context: Any, NMI-safe.  Caller holds the RCU read lock, which keeps the result, but it can go at
 * any time: then its @end is its @start.
 * Return: the range, or NULL.
 */
static inline const struct bee_range *bee_map_find(const struct bee_map *map, u64 ip)
{
	const struct bee_entry *entry = bee_map_entry(rcu_dereference(map->index), ip);
	const struct bee_chunk *chunk = rcu_dereference(entry->chunk);
	const struct bee_range *low;
	u32 n;

	if (unlikely(!chunk))
		return NULL;
	low = chunk->ranges;
	n = chunk->nr;
	while (n > 1) {
		u32 half = n / 2;

		if (low[half].start <= ip)
			low += half;
		n -= half;
	}
	return bee_range_contains(low, ip) ? low : NULL;
}

/**
 * bee_map_next() - the next range
 * @cursor: from bee_map_seek()
 *
 * Of changes that are made meanwhile, each is seen or not.
 *
 * Context: Any.  Caller holds the RCU read lock since bee_map_seek().
 * Return: the range, or NULL after the last one.
 */
static inline const struct bee_range *bee_map_next(struct bee_map_cursor *cursor)
{
	const struct bee_range *range;

	do {
		while (!cursor->chunk || cursor->i == cursor->chunk->nr) {
			if (!cursor->index || cursor->entry == cursor->index->nr)
				return NULL;
			cursor->chunk = rcu_dereference(cursor->index->at[cursor->entry].chunk);
			cursor->entry++;
			cursor->i = 0;
		}
		range = &cursor->chunk->ranges[cursor->i++];
	} while (READ_ONCE(range->end) == range->start);
	return range;
}

#endif /* BEE_MAP_H */
