// SPDX-License-Identifier: GPL-2.0
/*
 * Maps: the ranges of one address space.  A map is built by one writer without a lock, from the
 * ranges before and a change, and is immutable once published.
 *
 * Whoever builds a map from an old one holds a reference on the old one, and with it on the
 * files of its ranges, and on its owner.
 *
 * A map has a node of the reverse map for each range with a file (rmap.c).  It owns those of its
 * ranges own_first to own_end: it unlinks and frees them.  A published map owns all.  A map that
 * bee_map_splice() has built from that of one address space points to the nodes of the ranges that
 * stay, and owns only the new ones until it replaces the old map: bee_map_take_over().  If it is
 * dropped instead, the nodes that it does not own may be gone already; it does not look at them.
 */
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include "budget.h"
#include "compat.h"
#include "map.h"
#include "payer.h"
#include "rmap.h"

/* Of a map with @room ranges.  Its nodes are charged one by one. */
static size_t map_size(u32 room)
{
	const struct bee_map *map;

	return struct_size(map, ranges, room) + room * sizeof(struct bee_rmap_node *);
}

#define NODE_BYTES	sizeof(struct bee_rmap_node)

static u64 map_bytes(const struct bee_map *map)
{
	return map_size(map->room);
}

/* The nodes of its ranges, in the same order; NULL for a range without a file. */
static struct bee_rmap_node **map_nodes(struct bee_map *map)
{
	return (struct bee_rmap_node **)&map->ranges[map->room];
}

/* For callbacks, which can wait neither for memory nor for room in the budget. */
static struct bee_map *map_alloc_nowait(u32 room, struct bee_payer *payer)
{
	struct bee_map *map = NULL;

	if (room <= BEE_MAP_MAX_RANGES)
		map = kmalloc(map_size(room), GFP_NOWAIT | __GFP_NOWARN);
	if (!map)
		return ERR_PTR(-ENOMEM);
	*map = (struct bee_map) { .room = room, .refs = REFCOUNT_INIT(1) };
	if (bee_payer_charge_mm(payer, map_bytes(map))) {
		map->payer = bee_payer_hold(payer);
		return map;
	}
	kfree(map);
	return ERR_PTR(-ENOSPC);
}

static int map_charge(u64 bytes, struct bee_payer *payer, struct netlink_ext_ack *extack)
{
	int ret;

	if (!bee_payer_charge(payer, bytes)) {
		NL_SET_ERR_MSG_FMT(extack, "over the share of user %u", payer->uid);
		return -EDQUOT;
	}
	ret = bee_budget_charge(BEE_BUDGET_MMS, bytes, extack);
	if (ret)
		bee_payer_uncharge(payer, bytes);
	return ret;
}

static struct bee_map *map_alloc(u64 room, struct bee_payer *payer, struct netlink_ext_ack *extack)
{
	struct bee_map *map;
	int ret;

	if (room > BEE_MAP_MAX_RANGES) {
		NL_SET_ERR_MSG_FMT(extack, "too many ranges (%llu of at most %u)", room,
				   BEE_MAP_MAX_RANGES);
		return ERR_PTR(-E2BIG);
	}
	map = kvmalloc(map_size(room), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!map) {
		NL_SET_ERR_MSG(extack, "out of memory");
		return ERR_PTR(-ENOMEM);
	}
	*map = (struct bee_map) { .room = room, .refs = REFCOUNT_INIT(1) };
	ret = map_charge(map_bytes(map), payer, extack);
	if (!ret) {
		map->payer = bee_payer_hold(payer);
		return map;
	}
	kvfree(map);
	return ERR_PTR(ret);
}

static void map_free_rcu(struct rcu_head *rcu)
{
	struct bee_map *map = container_of(rcu, struct bee_map, rcu);
	u32 i, nodes = 0;

	for (i = map->own_first; i < map->own_end; i++) {
		if (!map_nodes(map)[i])
			continue;
		bee_rmap_free(map_nodes(map)[i]);
		nodes++;
	}
	bee_payer_uncharge_mm(map->payer, map_bytes(map) + nodes * NODE_BYTES);
	bee_payer_put(map->payer);
	kvfree(map);
}

/**
 * bee_map_put() - drop a reference
 * @map: the map, or NULL
 *
 * Dropping the last one takes the nodes that the map owns out of the lists of their files, and
 * drops the map's references on the files.  The map, the nodes and the files are freed a grace
 * period later, when no walk and no reader of the lists can see them.
 *
 * Context: Any but NMI.
 */
void bee_map_put(struct bee_map *map)
{
	u32 i;

	if (!map || !refcount_dec_and_test(&map->refs))
		return;
	for (i = map->own_first; i < map->own_end; i++)
		if (map_nodes(map)[i])
			bee_rmap_unlink(map->ranges[i].file, map_nodes(map)[i]);
	for (i = 0; i < map->nr; i++)
		bee_file_put(map->ranges[i].file);
	if (map->owner)
		bee_rmap_owner_put(map->owner);
	call_rcu(&map->rcu, map_free_rcu);
}

/**
 * bee_map_link() - enter a map's ranges into the lists of their files, before it is published
 * @map: the map, with an owner or without one, which then gets a new one; nobody else has it yet
 * @gfp: GFP_KERNEL_ACCOUNT, or GFP_NOWAIT in a callback
 * @extack: the reason of a failure; or NULL
 *
 * Only those that it is to own, which are all if it has no owner.
 *
 * Context: Any but NMI, or as @gfp says.
 * Return: 0 or -ENOMEM: out of memory or over budget; the caller drops the map.
 */
int bee_map_link(struct bee_map *map, gfp_t gfp, struct netlink_ext_ack *extack)
{
	u32 i, end = map->own_end, left = 0;

	if (!map->owner) {
		map->own_first = 0;
		end = map->nr;
		map->owner = bee_rmap_owner_new(map->payer, gfp);
		if (!map->owner)
			goto no_memory;
	}
	/* What bee_map_put() finds if this fails. */
	map->own_end = map->own_first;
	for (i = map->own_first; i < end; i++)
		left += !!map->ranges[i].file;
	if (!bee_payer_charge_mm(map->payer, left * NODE_BYTES))
		goto no_memory;
	for (i = map->own_first; i < end; i++) {
		struct bee_file *f = map->ranges[i].file;
		struct bee_rmap_node *node = f ? bee_rmap_link(f, map->owner, gfp) : NULL;

		if (f && !node)
			break;
		left -= !!f;
		map_nodes(map)[i] = node;
		map->own_end = i + 1;
	}
	bee_payer_uncharge_mm(map->payer, left * NODE_BYTES);
	if (i == end)
		return 0;
no_memory:
	NL_SET_ERR_MSG(extack, "out of memory or over budget");
	return -ENOMEM;
}

/**
 * bee_map_take_over() - a map replaces the one that it was built from, in one address space
 * @map: from bee_map_splice(); it has the owner of @old
 * @old: published until then
 *
 * The nodes of the ranges that are in both pass to @map; those of the ranges that are not in it
 * stay with @old, which unlinks them when it is dropped.
 *
 * Context: Any but NMI.  mm_lock held; nobody else has @map, or @old without a reference.
 */
void bee_map_take_over(struct bee_map *map, struct bee_map *old)
{
	old->own_first = map->own_first;
	old->own_end = old->nr - (map->nr - map->own_end);
	map->own_first = 0;
	map->own_end = map->nr;
}

/* An address space without ranges has no map. */
static struct bee_map *map_finish(struct bee_map *map)
{
	if (map->nr)
		return map;
	bee_map_put(map);
	return NULL;
}

/* The caller's reference on @file passes to the map. */
static void map_append(struct bee_map *map, u64 start, u64 end, u64 offset, struct bee_file *file)
{
	map->ranges[map->nr++] = (struct bee_range) {
		.start = start, .end = end, .offset = file ? offset : 0, .file = file,
	};
}

/* The part of @r in [start, end). */
static void map_append_part(struct bee_map *map, const struct bee_range *r, u64 start, u64 end)
{
	if (r->file)
		refcount_inc(&r->file->users);
	map_append(map, start, end, bee_range_offset(r, start), r->file);
}

static int diff_refuse(struct netlink_ext_ack *extack, const char *what, u32 i,
		       const struct bee_map_edit *r, int err)
{
	NL_SET_ERR_MSG_FMT(extack, "%s (range %u, %#llx-%#llx)", what, i, r->start, r->end);
	return err;
}

static int diff_check_list(const struct bee_map_edit *list, u32 nr, struct netlink_ext_ack *extack)
{
	u64 floor = 0;
	u32 i;

	for (i = 0; i < nr; i++) {
		const struct bee_map_edit *r = &list[i];

		if (r->start >= r->end)
			return diff_refuse(extack, "empty range", i, r, -EINVAL);
		if ((r->start | r->end | r->offset) & ~PAGE_MASK)
			return diff_refuse(extack, "not page aligned", i, r, -EINVAL);
		if (r->end > TASK_SIZE_MAX)
			return diff_refuse(extack, "not a user address", i, r, -EINVAL);
		if (r->start < floor)
			return diff_refuse(extack, "ranges overlap or not sorted", i, r, -EINVAL);
		if (!r->file && r->offset)
			return diff_refuse(extack, "offset without a file", i, r, -EINVAL);
		floor = r->end;
	}
	return 0;
}

static bool range_is(const struct bee_range *range, const struct bee_map_edit *r)
{
	return range->start == r->start && range->end == r->end && range->offset == r->offset &&
	       (range->file ? range->file->id : 0) == r->file;
}

/*
 * Merge by address what @old has and @diff does not remove with what @diff adds.  @map has room
 * for exactly that; if it is full too early, @diff removes a range that is not there.
 */
static int diff_apply(const struct bee_map *old, const struct bee_map_diff *diff,
		      struct bee_map *map, struct netlink_ext_ack *extack)
{
	u32 i = 0, d = 0, a = 0, nr_old = old ? old->nr : 0;
	const struct bee_map_edit *r;
	struct bee_file *file;

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
			map_append_part(map, range, range->start, range->end);
			i++;
			continue;
		}
		r = &diff->add[a];
		if (map->nr && map->ranges[map->nr - 1].end > r->start)
			return diff_refuse(extack, "overlaps a range that is there", a, r, -EEXIST);
		file = r->file ? bee_file_get_id_for(r->file, diff->owner, map->payer) : NULL;
		if (r->file && !file)
			return diff_refuse(extack, "no such file", a, r, -ENOENT);
		map_append(map, r->start, r->end, r->offset, file);
		a++;
	}
	if (d < diff->nr_del)
		return diff_refuse(extack, "no such range to remove", d, &diff->del[d], -ENOENT);
	return 0;
}

/**
 * bee_map_apply() - build a map from another and a diff
 * @old: the ranges before, or NULL
 * @diff: ranges to remove and to add, from user space: not checked yet
 * @payer: to whom it is charged
 * @extack: the reason of a refusal
 *
 * Context: Process, may sleep.
 * Return: the new map with a reference, NULL if no range remains, or an error pointer.
 */
struct bee_map *bee_map_apply(const struct bee_map *old, const struct bee_map_diff *diff,
			      struct bee_payer *payer, struct netlink_ext_ack *extack)
{
	u32 nr_old = old ? old->nr : 0;
	struct bee_map *map;
	int ret;

	if (!diff->nr_del && !diff->nr_add) {
		NL_SET_ERR_MSG(extack, "nothing to remove and nothing to add");
		return ERR_PTR(-EINVAL);
	}
	ret = diff_check_list(diff->del, diff->nr_del, extack) ?:
	      diff_check_list(diff->add, diff->nr_add, extack);
	if (ret)
		return ERR_PTR(ret);
	if (diff->nr_del > nr_old) {
		NL_SET_ERR_MSG(extack, "more ranges to remove than there are");
		return ERR_PTR(-ENOENT);
	}
	map = map_alloc((u64)nr_old + diff->nr_add - diff->nr_del, payer, extack);
	if (IS_ERR(map))
		return map;
	ret = diff_apply(old, diff, map, extack);
	if (!ret && !map->nr)
		return map_finish(map);
	if (!ret)
		ret = bee_map_link(map, GFP_KERNEL_ACCOUNT, extack);
	if (!ret)
		return map;
	bee_map_put(map);
	return ERR_PTR(ret);
}

/**
 * bee_map_get_file() - the file of a new range
 * @map: the ranges before, or NULL
 * @start: first address of the new range
 * @vma: the mapping
 * @payer: to whom the file is charged, if nobody pays for it
 * @gfp: GFP_KERNEL, or GFP_NOWAIT in a callback
 *
 * If @map has a range of the same inode at @start its file is taken, even if the inode has been
 * written to meanwhile; see bee_file_is_inode().
 *
 * Context: as bee_file_get_vma().
 * Return: as bee_file_get_vma().
 */
struct bee_file *bee_map_get_file(const struct bee_map *map, u64 start,
				  const struct vm_area_struct *vma, struct bee_payer *payer,
				  gfp_t gfp)
{
	const struct bee_range *r = map ? bee_map_find(map, start) : NULL;

	if (!r || !r->file || !vma->vm_file ||
	    !bee_file_is_inode(r->file, file_inode(vma->vm_file)))
		return bee_file_get_vma(vma, payer, gfp);
	refcount_inc(&r->file->users);
	return r->file;
}

/**
 * bee_map_scan() - build a map of the executable mappings of an address space
 * @old: the ranges before, or NULL
 * @mm: the address space
 * @payer: to whom it is charged, and files for which nobody pays
 * @extack: the reason of a refusal
 *
 * Context: Process, may sleep.  mmap_lock of @mm held.
 * Return: as bee_map_apply(), but before bee_map_link().
 */
struct bee_map *bee_map_scan(const struct bee_map *old, struct mm_struct *mm,
			     struct bee_payer *payer, struct netlink_ext_ack *extack)
{
	VMA_ITERATOR(count, mm, 0);
	VMA_ITERATOR(vmi, mm, 0);
	struct vm_area_struct *vma;
	struct bee_file *file;
	struct bee_map *map;
	u64 nr = 0;

	mmap_assert_locked(mm);
	for_each_vma(count, vma)
		nr += !!(vma->vm_flags & VM_EXEC);
	map = map_alloc(nr, payer, extack);
	if (IS_ERR(map))
		return map;
	for_each_vma(vmi, vma) {
		if (!(vma->vm_flags & VM_EXEC))
			continue;
		file = bee_map_get_file(old, vma->vm_start, vma, payer, GFP_KERNEL);
		if (IS_ERR(file)) {
			NL_SET_ERR_MSG(extack, "out of memory or over budget");
			bee_map_put(map);
			return ERR_CAST(file);
		}
		map_append(map, vma->vm_start, vma->vm_end, (u64)vma->vm_pgoff << PAGE_SHIFT, file);
	}
	return map_finish(map);
}

/* The first range that ends after an address; map->nr if there is none. */
static u32 map_first_after(const struct bee_map *map, u64 addr)
{
	u32 low = 0, high = map->nr;

	while (low < high) {
		u32 mid = low + (high - low) / 2;

		if (map->ranges[mid].end > addr)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

/**
 * bee_map_has() - whether bee_map_splice() with these arguments is not needed
 * @map: the ranges, or NULL
 * @start: first address
 * @end: address after the last
 * @in: the range that is mapped there, perhaps as part of a larger one in @map; NULL: none
 *
 * Context: Any.  Caller keeps @map alive.
 * Return: true if it is not needed.
 */
bool bee_map_has(const struct bee_map *map, u64 start, u64 end, const struct bee_range *in)
{
	const struct bee_range *r;
	u32 i;

	i = map ? map_first_after(map, start) : 0;
	if (!map || i == map->nr)
		return !in;
	r = &map->ranges[i];
	if (!in)
		return r->start >= end;
	return r->start <= start && r->end >= end && r->file == in->file &&
	       (!in->file || bee_range_offset(r, start) == in->offset);
}

/* Before bee_map_link(): @old's ranges are in @map as well, but those from @first to @last. */
static void map_keep_nodes(struct bee_map *map, struct bee_map *old, u32 first, u32 last)
{
	u32 tail = old->nr - last;

	refcount_inc(&old->owner->refs);
	map->owner = old->owner;
	map->own_first = first;
	map->own_end = map->nr - tail;
	memcpy(map_nodes(map), map_nodes(old), first * sizeof(*map_nodes(old)));
	memcpy(map_nodes(map) + map->own_end, map_nodes(old) + last,
	       tail * sizeof(*map_nodes(old)));
}

/**
 * bee_map_splice() - build a map from another with one interval replaced
 * @old: the ranges before, or NULL
 * @start: first address
 * @end: address after the last
 * @in: the range that is mapped there now; NULL: none
 * @payer: to whom it is charged
 *
 * If no other address space has @old, and the same user pays for both maps, the new one takes over
 * @old's owner and the nodes of the ranges that stay.
 *
 * Context: Any but NMI; does not sleep.  The caller is in an RCU read-side critical section.
 * Return: as bee_map_apply(); an error pointer without memory or room in the budget.
 */
struct bee_map *bee_map_splice(struct bee_map *old, u64 start, u64 end,
			       const struct bee_range *in, struct bee_payer *payer)
{
	u32 nr = old ? old->nr : 0, first = old ? map_first_after(old, start) : 0, last = first, i;
	const struct bee_range *head = NULL, *tail = NULL;
	struct bee_map *map;
	int ret;

	while (last < nr && old->ranges[last].start < end)
		last++;
	if (first < last && old->ranges[first].start < start)
		head = &old->ranges[first];
	if (first < last && old->ranges[last - 1].end > end)
		tail = &old->ranges[last - 1];
	if (!in && !head && !tail && first == 0 && last == nr)
		return NULL;
	map = map_alloc_nowait(first + !!head + !!in + !!tail + nr - last, payer);
	if (IS_ERR(map))
		return map;
	for (i = 0; i < nr && old->ranges[i].start < start; i++)
		map_append_part(map, &old->ranges[i], old->ranges[i].start,
				min(old->ranges[i].end, start));
	if (in)
		map_append_part(map, in, start, end);
	if (tail)
		map_append_part(map, tail, end, tail->end);
	for (i = last; i < nr; i++)
		map_append_part(map, &old->ranges[i], old->ranges[i].start, old->ranges[i].end);
	if (old && old->payer == payer && bee_rmap_is_single(old->owner))
		map_keep_nodes(map, old, first, last);
	ret = bee_map_link(map, GFP_NOWAIT, NULL);
	if (!ret)
		return map;
	bee_map_put(map);
	return ERR_PTR(ret);
}

/** bee_map_is_same() - whether the ranges are equal; NULL: none.  Context: Any. */
bool bee_map_is_same(const struct bee_map *a, const struct bee_map *b)
{
	if (!a || !b)
		return a == b;
	return a->nr == b->nr && !memcmp(a->ranges, b->ranges, a->nr * sizeof(*a->ranges));
}
