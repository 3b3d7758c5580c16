// SPDX-License-Identifier: GPL-2.0
/*
 * Maps: the ranges of an address space, built from those before.  A map is built
 * by one writer without a lock and never changes once it is published.
 */
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include "compat.h"
#include "map.h"

static struct workqueue_struct *map_wq;

static u64 map_bytes(const struct bee_map *map)
{
	return struct_size(map, ranges, map->room) + (u64)map->room * sizeof(struct bee_use);
}

/* Callbacks run in any process context; they cannot wait for memory. */
static struct bee_map *map_alloc(u32 room, bool may_sleep)
{
	struct bee_map blank = { .room = room }, *map;

	if (may_sleep)
		map = kvzalloc(map_bytes(&blank), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	else
		map = kzalloc(map_bytes(&blank), GFP_NOWAIT | __GFP_NOWARN);
	if (!map)
		return NULL;
	map->room = room;
	map->uses = (struct bee_use *)&map->ranges[room];
	return map;
}

/* @stored's reference goes over to the map. */
static void map_append(struct bee_map *map, u64 start, u64 end, u64 bias,
		       struct bee_stored *stored)
{
	map->ranges[map->nr++] = (struct bee_range) {
		.start = start, .end = end, .bias = bias, .stored = stored,
	};
}

static void map_append_copy(struct bee_map *map, const struct bee_range *range, u64 start, u64 end)
{
	if (range->stored)
		refcount_inc(&range->stored->refs);
	map_append(map, start, end, range->bias, range->stored);
}

static void map_free_now(struct bee_map *map)
{
	u32 i;

	for (i = 0; i < map->nr; i++)
		if (map->ranges[i].stored)
			bee_store_put(map->ranges[i].stored);
	kvfree(map);
}

static void map_free_work(struct work_struct *work)
{
	struct bee_map *map = container_of(to_rcu_work(work), struct bee_map, free);

	bee_store_uncharge(map_bytes(map));
	map_free_now(map);
}

/**
 * bee_map_publish() - enter a new map's ranges into the reverse maps
 * @map: the map; the caller's is its first reference
 *
 * Context: Any but NMI; under mm_lock.
 */
void bee_map_publish(struct bee_map *map)
{
	u32 i;

	refcount_set(&map->refs, 1);
	INIT_RCU_WORK(&map->free, map_free_work);
	for (i = 0; i < map->nr; i++) {
		map->uses[i].map = map;
		if (map->ranges[i].stored)
			bee_store_use(map->ranges[i].stored, &map->uses[i]);
	}
}

/**
 * bee_map_put() - let a published map go
 * @map: the map, or NULL; freed a grace period after the last reference
 *
 * Context: Any but NMI; under mm_lock.
 */
void bee_map_put(struct bee_map *map)
{
	u32 i;

	if (!map || !refcount_dec_and_test(&map->refs))
		return;
	for (i = 0; i < map->nr; i++)
		if (map->ranges[i].stored)
			bee_store_unuse(map->ranges[i].stored, &map->uses[i]);
	queue_rcu_work(map_wq, &map->free);
}

static int diff_refuse(struct netlink_ext_ack *extack, const char *what, u32 i,
		       const struct bee_map_range *r, int err)
{
	NL_SET_ERR_MSG_FMT(extack, "%s (range %u, %#llx-%#llx)", what, i, r->start, r->end);
	return err;
}

static int diff_check_list(const struct bee_map_range *list, u32 nr, struct netlink_ext_ack *extack)
{
	u64 floor = 0;
	u32 i;

	for (i = 0; i < nr; i++) {
		const struct bee_map_range *r = &list[i];

		if (r->start >= r->end)
			return diff_refuse(extack, "empty range", i, r, -EINVAL);
		if ((r->start | r->end) & ~PAGE_MASK)
			return diff_refuse(extack, "not page aligned", i, r, -EINVAL);
		if (r->end > TASK_SIZE_MAX)
			return diff_refuse(extack, "not a user address", i, r, -EINVAL);
		if (r->start < floor)
			return diff_refuse(extack, "ranges overlap or are not sorted", i, r, -EINVAL);
		floor = r->end;
	}
	return 0;
}

static int diff_check(const struct bee_map_diff *diff, struct netlink_ext_ack *extack)
{
	int ret;

	if (!diff->nr_del && !diff->nr_add) {
		NL_SET_ERR_MSG(extack, "nothing to remove and nothing to add");
		return -EINVAL;
	}
	ret = diff_check_list(diff->del, diff->nr_del, extack);
	return ret ?: diff_check_list(diff->add, diff->nr_add, extack);
}

static bool range_is(const struct bee_range *range, const struct bee_map_range *r)
{
	return range->start == r->start && range->end == r->end && range->bias == r->bias &&
	       (range->stored ? range->stored->id : 0) == r->table;
}

static int diff_add_one(struct bee_map *map, const struct bee_map_range *r, u32 i,
			struct netlink_ext_ack *extack)
{
	struct bee_stored *stored = NULL;

	if (map->nr && map->ranges[map->nr - 1].end > r->start)
		return diff_refuse(extack, "overlaps a range that is there", i, r, -EEXIST);
	if (r->table) {
		stored = bee_store_get(r->table);
		if (!stored)
			return diff_refuse(extack, "no such table", i, r, -ENOENT);
	}
	map_append(map, r->start, r->end, r->bias, stored);
	return 0;
}

/*
 * Merge: what is in @old and not deleted, and what is added, by address.  The map
 * has room for just that; if it runs out, some range to remove was not there.
 */
static int diff_apply(const struct bee_map *old, const struct bee_map_diff *diff,
		      struct bee_map *map, struct netlink_ext_ack *extack)
{
	u32 i = 0, d = 0, a = 0, nr_old = old ? old->nr : 0;
	int ret;

	while (i < nr_old || a < diff->nr_add) {
		const struct bee_range *range = i < nr_old ? &old->ranges[i] : NULL;

		if (range && d < diff->nr_del && range_is(range, &diff->del[d])) {
			i++, d++;
			continue;
		}
		if (map->nr == map->room)
			break;
		if (range && (a == diff->nr_add || range->start < diff->add[a].start)) {
			if (map->nr && map->ranges[map->nr - 1].end > range->start)
				return diff_refuse(extack, "overlaps a range that is there", a - 1,
						   &diff->add[a - 1], -EEXIST);
			map_append_copy(map, range, range->start, range->end);
			i++;
			continue;
		}
		ret = diff_add_one(map, &diff->add[a], a, extack);
		if (ret)
			return ret;
		a++;
	}
	if (d < diff->nr_del)
		return diff_refuse(extack, "no such range to remove", d, &diff->del[d], -ENOENT);
	return 0;
}

/**
 * bee_map_apply() - build a map by a diff
 * @old: the ranges before, or NULL
 * @diff: what to remove and what to add; nothing in it is trusted
 * @extack: the reason of a refusal
 *
 * Context: Process, may sleep. Caller keeps @old alive.
 * Return: the new map, charged to the budget, for bee_map_publish() or
 * bee_map_discard(); NULL if no range remains; or an error pointer.
 */
struct bee_map *bee_map_apply(const struct bee_map *old, const struct bee_map_diff *diff,
			      struct netlink_ext_ack *extack)
{
	u64 nr = (old ? old->nr : 0) + (u64)diff->nr_add;
	struct bee_map *map;
	int ret;

	ret = diff_check(diff, extack);
	if (ret)
		return ERR_PTR(ret);
	if (diff->nr_del > (old ? old->nr : 0)) {
		NL_SET_ERR_MSG(extack, "more ranges to remove than there are");
		return ERR_PTR(-ENOENT);
	}
	nr -= diff->nr_del;
	if (nr > BEE_MAP_MAX_RANGES) {
		NL_SET_ERR_MSG_FMT(extack, "too many ranges (%llu of at most %u)", nr,
				   BEE_MAP_MAX_RANGES);
		return ERR_PTR(-E2BIG);
	}
	map = map_alloc(nr, true);
	if (!map) {
		NL_SET_ERR_MSG(extack, "out of memory");
		return ERR_PTR(-ENOMEM);
	}
	ret = diff_apply(old, diff, map, extack);
	if (!ret && map->nr && !bee_store_charge_evict(map_bytes(map), extack))
		ret = -ENOSPC;
	if (ret || !map->nr) {
		map_free_now(map);
		return ERR_PTR(ret);
	}
	return map;
}

/**
 * bee_map_overlaps() - whether any range has an address of an interval
 * @map: the ranges
 * @start: first address
 * @end: address after the last
 *
 * Context: Any. Caller keeps @map alive.
 */
bool bee_map_overlaps(const struct bee_map *map, u64 start, u64 end)
{
	u32 i;

	for (i = 0; i < map->nr && map->ranges[i].start < end; i++)
		if (map->ranges[i].end > start)
			return true;
	return false;
}

/**
 * bee_map_covers() - whether every address of an interval is in a range
 * @map: the ranges
 * @start: first address
 * @end: address after the last
 *
 * Context: Any. Caller keeps @map alive.
 */
bool bee_map_covers(const struct bee_map *map, u64 start, u64 end)
{
	u32 i;

	for (i = 0; i < map->nr && map->ranges[i].start <= start; i++)
		start = max(start, map->ranges[i].end);
	return start >= end;
}

/* Memory and budget for a map of a callback, which cannot wait for either. */
static struct bee_map *map_alloc_charged(u32 nr)
{
	struct bee_map *map = nr <= BEE_MAP_MAX_RANGES ? map_alloc(nr, false) : NULL;

	if (!map)
		return ERR_PTR(-ENOMEM);
	if (bee_store_charge(map_bytes(map)))
		return map;
	kvfree(map);
	return ERR_PTR(-ENOSPC);
}

/**
 * bee_map_cut() - build a map without the addresses of an interval
 * @old: the ranges before
 * @start: first address
 * @end: address after the last
 *
 * Context: Any but NMI. Caller keeps @old alive.
 * Return: as bee_map_apply(); an error pointer if there is no memory at once.
 */
struct bee_map *bee_map_cut(const struct bee_map *old, u64 start, u64 end)
{
	struct bee_map *map;
	u32 i, nr = 0;

	for (i = 0; i < old->nr; i++)
		nr += (old->ranges[i].start < start) + (old->ranges[i].end > end);
	if (!nr)
		return NULL;
	map = map_alloc_charged(nr);
	if (IS_ERR(map))
		return map;
	for (i = 0; i < old->nr; i++) {
		const struct bee_range *r = &old->ranges[i];

		if (r->start < start)
			map_append_copy(map, r, r->start, min(r->end, start));
		if (r->end > end)
			map_append_copy(map, r, max(r->start, end), r->end);
	}
	return map;
}

/* Put the part of @in in [@at, @end); only counts if @map is NULL. */
static u32 map_fill_hole(struct bee_map *map, const struct bee_range *in, u64 at, u64 end)
{
	end = min(end, in->end);
	if (at >= end)
		return 0;
	if (map)
		map_append_copy(map, in, at, end);
	return 1;
}

static u32 map_fill(struct bee_map *map, const struct bee_map *old, const struct bee_range *in)
{
	u32 i, nr_old = old ? old->nr : 0, nr = nr_old;
	u64 at = in->start;

	for (i = 0; i < nr_old; i++) {
		const struct bee_range *r = &old->ranges[i];

		nr += map_fill_hole(map, in, at, r->start);
		if (map)
			map_append_copy(map, r, r->start, r->end);
		at = max(at, r->end);
	}
	return nr + map_fill_hole(map, in, at, in->end);
}

/**
 * bee_map_fill() - build a map with a range put where none is
 * @old: the ranges before, or NULL
 * @in: the range; of it only what lies between others is used
 *
 * Context: Any but NMI. Caller keeps @old alive.
 * Return: as bee_map_cut().
 */
struct bee_map *bee_map_fill(const struct bee_map *old, const struct bee_range *in)
{
	struct bee_map *map = map_alloc_charged(map_fill(NULL, old, in));

	if (!IS_ERR(map))
		map_fill(map, old, in);
	return map;
}

/**
 * bee_map_discard() - free a map that was never published
 * @map: the map, or NULL
 *
 * Context: Any but NMI.
 */
void bee_map_discard(struct bee_map *map)
{
	if (!map)
		return;
	bee_store_uncharge(map_bytes(map));
	map_free_now(map);
}

/**
 * bee_map_init() - say who frees maps
 * @wq: runs the freeing
 *
 * Context: Process.
 */
void bee_map_init(struct workqueue_struct *wq)
{
	map_wq = wq;
}
