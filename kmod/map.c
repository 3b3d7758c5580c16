// SPDX-License-Identifier: GPL-2.0
/*
 * Maps: the ranges of one address space, in chunks.  Once a chunk is published nothing in it
 * changes but the end of a range.
 *
 * When a process unmaps a whole range, as dlclose() does with a library, no memory is allocated:
 * the callback sets the end of the range to its start, so that it contains no address.  The range
 * stays in its chunk, with its reference and node, and @gone of the map has its start.  When the
 * process maps the same part of the same file there again, the callback sets the end again.
 * Otherwise bee_mm_drop_gone(), which a worker calls some jiffies later, removes the range by a
 * change as below.  A map has at most one such range at a time, and none while address spaces share
 * the map.
 *
 * Any other change of a map takes the same time and memory however many ranges there are: it makes
 * one chunk anew, and an entry of the index then leads to that one.  The ranges that stay pass from
 * the old chunk to the new one with their references on files and their nodes (rmap.c); only what
 * comes or goes is counted, linked or unlinked.  So of two changes that are prepared from the same
 * chunk only one can be carried out: bee_map_prepare() builds without a lock, mm.c checks under
 * mm_lock that no other change has been made meanwhile, and bee_map_finish() drops what is not in
 * use.
 *
 * Only a map that one address space has is changed.  Forked address spaces share one, and the first
 * of them that changes its ranges gets a copy: bee_map_copy().  A request copies the ranges into a
 * list, which has references of its own, and makes a new map of another list.
 *
 * A walk reads the index and then a chunk, and can see a change of one chunk and not an earlier one
 * of another.  What it finds was there a moment ago, and is in memory until it ends.
 */
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include "budget.h"
#include "compat.h"
#include "map.h"
#include "payer.h"
#include "reserve.h"
#include "rmap.h"

/* Most ranges of a chunk, and how many it gets when several are made at once. */
#define CHUNK_RANGES	32
#define CHUNK_FILL	24
/* A change that would leave fewer ranges than this for each entry makes all chunks anew. */
#define CHUNK_SPARSE	4

#define NODE_BYTES	sizeof(struct bee_rmap_node)

/* For code that has made the chunks and not published them yet, or holds mm_lock. */
#define map_own(p)	rcu_dereference_protected(p, true)

static u32 chunk_nr(const struct bee_chunk *chunk)
{
	return chunk ? chunk->nr : 0;
}

/* The nodes of its ranges, in the same order; NULL for a range without a file. */
static struct bee_rmap_node **chunk_nodes(struct bee_chunk *chunk)
{
	return (struct bee_rmap_node **)&chunk->ranges[chunk->nr];
}

/* Bytes of @nr chunks that have @ranges ranges in all, without nodes. */
static u64 chunk_bytes(u32 nr, u32 ranges)
{
	return nr * sizeof(struct bee_chunk) +
	       ranges * (sizeof(struct bee_range) + sizeof(struct bee_rmap_node *));
}

static u64 index_bytes(u32 nr)
{
	return sizeof(struct bee_index) + nr * sizeof(struct bee_entry);
}

/* How many chunks @nr ranges get. */
static u32 chunks_for(u32 nr)
{
	return nr <= CHUNK_RANGES ? !!nr : DIV_ROUND_UP(nr, CHUNK_FILL);
}

static void index_free_rcu(struct rcu_head *rcu)
{
	struct bee_index *index = container_of(rcu, struct bee_index, rcu);

	bee_payer_uncharge_mm(index->payer, index_bytes(index->nr));
	bee_payer_put(index->payer);
	kvfree(index);
}

static void chunk_free_rcu(struct rcu_head *rcu)
{
	struct bee_chunk *chunk = container_of(rcu, struct bee_chunk, rcu);
	u64 bytes = chunk_bytes(1, chunk->nr);
	u32 i;

	for (i = chunk->own_first; i < chunk->own_end; i++) {
		/* The pointer says that a node was charged; what it points to may be gone. */
		if (chunk->ranges[i].file)
			bytes += NODE_BYTES;
		if (chunk_nodes(chunk)[i])
			bee_rmap_free(chunk_nodes(chunk)[i]);
	}
	bee_payer_uncharge_mm(chunk->payer, bytes);
	bee_payer_put(chunk->payer);
	kfree(chunk);
}

/*
 * Drop a chunk, and the nodes and references of the ranges from @first to @end; those of the other
 * ranges have passed to another chunk.  All is freed a grace period later, when no walk and no
 * reader of the lists can see it.
 */
static void chunk_drop(struct bee_chunk *chunk, u32 first, u32 end)
{
	u32 i;

	if (!chunk)
		return;
	chunk->own_first = first;
	chunk->own_end = end;
	for (i = first; i < end; i++)
		if (chunk_nodes(chunk)[i])
			bee_rmap_unlink(chunk->ranges[i].file, chunk_nodes(chunk)[i]);
	for (i = first; i < end; i++)
		bee_file_put_nowait(chunk->ranges[i].file);
	call_rcu(&chunk->rcu, chunk_free_rcu);
}

/* Allocate @nr chunks with room for @ranges ranges, spread evenly.  The caller has charged them. */
static int chunks_alloc(struct bee_entry *at, u32 nr, u32 ranges, struct bee_payer *payer,
			gfp_t gfp)
{
	struct bee_chunk *chunk;
	u32 i, n;

	for (i = 0; i < nr; i++) {
		n = ranges / (nr - i);
		chunk = bee_reserve_alloc(chunk_bytes(1, n), gfp);
		if (!chunk)
			break;
		*chunk = (struct bee_chunk) { .nr = n, .payer = bee_payer_hold(payer) };
		RCU_INIT_POINTER(at[i].chunk, chunk);
		ranges -= n;
	}
	if (i == nr)
		return 0;
	while (i--) {
		kfree_rcu(map_own(at[i].chunk), rcu);
		bee_payer_put(payer);
	}
	return -ENOMEM;
}

/* Free chunks that nobody has seen, before chunks_link(), with the references of their ranges. */
static void chunks_discard(struct bee_entry *at, u32 nr)
{
	struct bee_chunk *chunk;
	u32 i, k;

	for (i = 0; i < nr; i++) {
		chunk = map_own(at[i].chunk);
		for (k = chunk->own_first; k < chunk->own_end; k++)
			bee_file_put_nowait(chunk->ranges[k].file);
		bee_payer_put(chunk->payer);
		kfree_rcu(chunk, rcu);
	}
}

/* An index of @nr entries, which the caller fills.  The caller has charged it. */
static struct bee_index *index_alloc(u32 nr, struct bee_payer *payer, gfp_t gfp)
{
	struct bee_index *index;

	/* In a callback kvmalloc() could not fall back to vmalloc(). */
	if (gfp == GFP_NOWAIT)
		index = bee_reserve_alloc(index_bytes(nr), gfp);
	else
		index = kvmalloc(index_bytes(nr), gfp | __GFP_NOWARN);
	if (index)
		*index = (struct bee_index) { .nr = nr, .payer = bee_payer_hold(payer) };
	return index;
}

/* Free an index that nobody has seen. */
static void index_discard(struct bee_index *index)
{
	if (!index)
		return;
	bee_payer_put(index->payer);
	kvfree_rcu(index, rcu);
}

/**
 * struct map_writer - fills new chunks
 * @at: the entry whose chunk is being filled
 * @end: entry after the last one
 * @i: the next range of that chunk
 * @over: there were more ranges than there is room for
 */
struct map_writer {
	struct bee_entry	*at;
	struct bee_entry	*end;
	u32			 i;
	bool			 over;
};

/* The chunk to write to next.  NULL: all are full, so the map has got more ranges meanwhile. */
static struct bee_chunk *writer_chunk(struct map_writer *w)
{
	struct bee_chunk *chunk;

	if (w->at == w->end)
		return NULL;
	chunk = map_own(w->at->chunk);
	if (w->i < chunk->nr)
		return chunk;
	w->i = 0;
	return ++w->at < w->end ? map_own(w->at->chunk) : NULL;
}

/* Write @n ranges of @from, from number @i on, with their nodes and references. */
static void writer_keep(struct map_writer *w, struct bee_chunk *from, u32 i, u32 n)
{
	struct bee_chunk *chunk;
	u32 some;

	for (; n; n -= some) {
		chunk = writer_chunk(w);
		w->over |= !chunk;
		if (!chunk)
			return;
		some = min_t(u32, n, chunk->nr - w->i);
		memcpy(&chunk->ranges[w->i], &from->ranges[i], some * sizeof(from->ranges[0]));
		memcpy(&chunk_nodes(chunk)[w->i], &chunk_nodes(from)[i],
		       some * sizeof(*chunk_nodes(from)));
		w->i += some;
		i += some;
	}
}

static void writer_keep_all(struct map_writer *w, struct bee_chunk *from)
{
	if (from)
		writer_keep(w, from, 0, from->nr);
}

/* Write a new range, with the caller's reference on its file.  Return: whether there was room. */
static bool writer_add(struct map_writer *w, const struct bee_range *r)
{
	struct bee_chunk *chunk = writer_chunk(w);

	w->over |= !chunk;
	if (!chunk)
		return false;
	if (!chunk->own_end)
		chunk->own_first = w->i;
	chunk->own_end = w->i + 1;
	chunk->ranges[w->i] = *r;
	chunk_nodes(chunk)[w->i] = NULL;
	w->i++;
	return true;
}

/* Whether all chunks have been filled, and with no more than they have room for. */
static bool writer_is_full(struct map_writer *w)
{
	return !w->over && !writer_chunk(w);
}

/* Enter the new ranges of @nr chunks into the lists of their files. */
static int chunks_link(struct bee_entry *at, u32 nr, struct bee_map *map, gfp_t gfp)
{
	u32 i, k;

	for (i = 0; i < nr; i++) {
		struct bee_chunk *chunk = map_own(at[i].chunk);

		for (k = chunk->own_first; k < chunk->own_end; k++) {
			struct bee_file *f = chunk->ranges[k].file;

			if (!f)
				continue;
			chunk_nodes(chunk)[k] = bee_rmap_link(f, map, gfp);
			if (!chunk_nodes(chunk)[k])
				return -ENOMEM;
		}
	}
	return 0;
}

/* Set the start of each of @nr entries, of the first one to @start. */
static void index_set_starts(struct bee_entry *at, u32 nr, u64 start)
{
	u32 i;

	for (i = 0; i < nr; i++)
		at[i].start = i ? map_own(at[i].chunk)->ranges[0].start : start;
}

static void map_free_rcu(struct rcu_head *rcu)
{
	struct bee_map *map = container_of(rcu, struct bee_map, rcu);

	bee_payer_uncharge_mm(map->payer, sizeof(*map));
	bee_payer_put(map->payer);
	kfree(map);
}

/**
 * bee_map_put() - drop a reference
 * @map: the map, or NULL
 *
 * Dropping the last one takes its nodes out of the lists of their files, and drops its references
 * on the files.  The map, the nodes and the files are freed a grace period later, when no walk and
 * no reader of the lists can see them.
 *
 * Context: Any but NMI.
 */
void bee_map_put(struct bee_map *map)
{
	struct bee_index *index;
	u32 i;

	if (!map || !refcount_dec_and_test(&map->refs))
		return;
	index = map_own(map->index);
	for (i = 0; i < index->nr; i++)
		chunk_drop(map_own(index->at[i].chunk), 0, chunk_nr(map_own(index->at[i].chunk)));
	call_rcu(&index->rcu, index_free_rcu);
	call_rcu(&map->rcu, map_free_rcu);
}

static u64 map_bytes(u32 nr, u32 files)
{
	u32 chunks = chunks_for(nr);

	return sizeof(struct bee_map) + index_bytes(chunks) + chunk_bytes(chunks, nr) +
	       files * NODE_BYTES;
}

/* A map with room for @nr ranges, not 0, which the caller writes.  The caller has charged it. */
static struct bee_map *map_alloc(u32 nr, struct bee_payer *payer, gfp_t gfp)
{
	struct bee_map *map = bee_reserve_alloc(sizeof(*map), gfp);
	struct bee_index *index = index_alloc(chunks_for(nr), payer, gfp);

	if (!map || !index || chunks_alloc(index->at, index->nr, nr, payer, gfp)) {
		index_discard(index);
		if (map)
			kfree_rcu(map, rcu);
		return NULL;
	}
	*map = (struct bee_map) {
		.nr = nr, .refs = REFCOUNT_INIT(1), .payer = bee_payer_hold(payer),
		.uid = payer->uid,
	};
	RCU_INIT_POINTER(map->index, index);
	return map;
}

static struct map_writer map_writer_new(struct bee_map *map)
{
	struct bee_index *index = map_own(map->index);

	return (struct map_writer) { .at = index->at, .end = index->at + index->nr };
}

/* Complete a map whose ranges are written.  Return: 0, or -ENOMEM and the map is dropped. */
static int map_link(struct bee_map *map, gfp_t gfp)
{
	struct bee_index *index = map_own(map->index);
	int ret = chunks_link(index->at, index->nr, map, gfp);

	index_set_starts(index->at, index->nr, 0);
	if (ret)
		bee_map_put(map);
	return ret;
}

/* Free a map that nobody has seen, before map_link().  @bytes: charged for it.  Return: -EAGAIN. */
static int map_discard(struct bee_map *map, u64 bytes)
{
	struct bee_index *index = map_own(map->index);
	struct bee_payer *payer = map->payer;

	chunks_discard(index->at, index->nr);
	index_discard(index);
	kfree_rcu(map, rcu);
	bee_payer_uncharge_mm(payer, bytes);
	bee_payer_put(payer);
	return -EAGAIN;
}

/* map_alloc() for callbacks, which cannot wait for memory or for room in the budget. */
static struct bee_map *map_alloc_nowait(u32 nr, u32 files, struct bee_payer *payer)
{
	struct bee_map *map;

	if (!bee_payer_charge_mm(payer, map_bytes(nr, files)))
		return ERR_PTR(-ENOSPC);
	map = map_alloc(nr, payer, GFP_NOWAIT);
	if (map)
		return map;
	bee_payer_uncharge_mm(payer, map_bytes(nr, files));
	return ERR_PTR(-ENOMEM);
}

/**
 * bee_map_new() - a map of one range
 * @range: the range; the caller holds a reference on its file
 * @payer: to whom it is charged
 *
 * Context: Any but NMI; does not sleep.
 * Return: the map with a reference; an error pointer: out of memory or over budget.
 */
struct bee_map *bee_map_new(const struct bee_range *range, struct bee_payer *payer)
{
	struct bee_map *map = map_alloc_nowait(1, !!range->file, payer);
	struct map_writer w;
	int ret;

	if (IS_ERR(map))
		return map;
	if (range->file)
		refcount_inc(&range->file->users);
	w = map_writer_new(map);
	writer_add(&w, range);
	ret = map_link(map, GFP_NOWAIT);
	return ret ? ERR_PTR(ret) : map;
}

/* Take a reference on the file of a range, if it has one.  Return: false: the file has gone. */
static bool range_hold(const struct bee_range *r)
{
	return !r->file || refcount_inc_not_zero(&r->file->users);
}

/**
 * bee_map_copy() - a map with the same ranges, for an address space that shares one
 * @map: the ranges
 * @payer: to whom it is charged
 *
 * Context: Any but NMI; does not sleep.  The caller holds the RCU read lock.
 * Return: the copy with a reference; -EAGAIN, or a copy of some older ranges, if @map was changed
 * meanwhile; -ENOMEM, -ENOSPC.
 */
struct bee_map *bee_map_copy(const struct bee_map *map, struct bee_payer *payer)
{
	u32 nr = READ_ONCE(map->nr), files = 0;
	const struct bee_range *r;
	struct bee_map_cursor cursor;
	struct bee_map *copy;
	struct map_writer w;
	u64 charged;
	int ret;

	bee_map_seek(&cursor, map, 0);
	while ((r = bee_map_next(&cursor)))
		files += !!r->file;
	charged = map_bytes(nr, files);
	copy = map_alloc_nowait(nr, files, payer);
	if (IS_ERR(copy))
		return copy;
	w = map_writer_new(copy);
	bee_map_seek(&cursor, map, 0);
	while ((r = bee_map_next(&cursor)) && files >= !!r->file && range_hold(r)) {
		if (!writer_add(&w, r)) {
			bee_file_put_nowait(r->file);
			break;
		}
		files -= !!r->file;
	}
	if (!r && !files && writer_is_full(&w))
		ret = map_link(copy, GFP_NOWAIT);
	else
		ret = map_discard(copy, charged);
	return ret ? ERR_PTR(ret) : copy;
}

static int map_charge_payer(u64 bytes, struct bee_payer *payer, struct netlink_ext_ack *extack)
{
	if (bee_payer_charge(payer, bytes))
		return 0;
	NL_SET_ERR_MSG_FMT(extack, "over the share of user %u", payer->uid);
	return -EDQUOT;
}

static int map_charge(u64 bytes, struct bee_payer *payer, struct netlink_ext_ack *extack)
{
	int ret = map_charge_payer(bytes, payer, extack);

	if (ret)
		return ret;
	ret = bee_budget_charge(BEE_BUDGET_MMS, bytes, extack);
	if (ret)
		bee_payer_uncharge(payer, bytes);
	return ret;
}

static u32 map_most = BEE_MAP_MAX_RANGES;

/** bee_map_most() - how many ranges an address space may have.  Context: Any. */
u32 bee_map_most(void)
{
	return READ_ONCE(map_most);
}

/**
 * bee_map_set_most() - set how many ranges an address space may have
 * @ranges: 1 to BEE_MAP_MAX_RANGES; an address space that gets more loses all, and so does one that
 *	has more now, as soon as it gets another
 *
 * Context: Any.
 */
void bee_map_set_most(u32 ranges)
{
	WRITE_ONCE(map_most, ranges);
}

static int map_check_nr(u64 nr, struct netlink_ext_ack *extack)
{
	u32 most = bee_map_most();

	if (nr <= most)
		return 0;
	NL_SET_ERR_MSG_FMT(extack, "too many ranges (%llu of at most %u)", nr, most);
	return -E2BIG;
}

/**
 * bee_map_build() - a map of the ranges of a list
 * @list: the ranges, which pass to the map; the caller frees the list
 * @payer: to whom it is charged
 * @extack: the reason of a refusal
 *
 * Context: Process, may sleep.
 * Return: the map with a reference, NULL if there are no ranges, or an error pointer.
 */
struct bee_map *bee_map_build(struct bee_map_list *list, struct bee_payer *payer,
			      struct netlink_ext_ack *extack)
{
	u32 i, nr = list->nr, files = 0;
	struct map_writer w;
	struct bee_map *map;
	int ret;

	if (!nr)
		return NULL;
	for (i = 0; i < nr; i++)
		files += !!list->ranges[i].file;
	ret = map_check_nr(nr, extack) ?: map_charge(map_bytes(nr, files), payer, extack);
	if (ret)
		return ERR_PTR(ret);
	map = map_alloc(nr, payer, GFP_KERNEL_ACCOUNT);
	if (!map) {
		bee_payer_uncharge_mm(payer, map_bytes(nr, files));
		goto no_memory;
	}
	w = map_writer_new(map);
	for (i = 0; i < nr; i++)
		writer_add(&w, &list->ranges[i]);
	list->nr = 0;
	if (!map_link(map, GFP_KERNEL_ACCOUNT))
		return map;
no_memory:
	NL_SET_ERR_MSG(extack, "out of memory");
	return ERR_PTR(-ENOMEM);
}

/**
 * bee_map_list_alloc() - an empty list
 * @room: how many ranges it can take
 * @extack: the reason of a refusal; or NULL
 *
 * It does not last, so nobody is charged for it.
 *
 * Context: Process, may sleep.
 * Return: the list, or an error pointer.
 */
struct bee_map_list *bee_map_list_alloc(u64 room, struct netlink_ext_ack *extack)
{
	struct bee_map_list *list;

	if (room > BEE_MAP_MAX_RANGES) {
		NL_SET_ERR_MSG_FMT(extack, "too many ranges (%llu of at most %u)", room,
				   BEE_MAP_MAX_RANGES);
		return ERR_PTR(-E2BIG);
	}
	list = kvmalloc(struct_size(list, ranges, room), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!list) {
		NL_SET_ERR_MSG(extack, "out of memory");
		return ERR_PTR(-ENOMEM);
	}
	*list = (struct bee_map_list) { .room = room };
	return list;
}

/** bee_map_list_free() - free a list, or NULL, with its references.  Context: Process. */
void bee_map_list_free(struct bee_map_list *list)
{
	u32 i;

	if (!list)
		return;
	for (i = 0; i < list->nr; i++)
		bee_file_put(list->ranges[i].file);
	kvfree(list);
}

/* The caller's reference on @file passes to the list. */
static void list_append(struct bee_map_list *list, u64 start, u64 end, u64 offset,
			struct bee_file *file)
{
	list->ranges[list->nr++] = (struct bee_range) {
		.start = start, .end = end, .offset = file ? offset : 0, .file = file,
	};
}

/**
 * bee_map_list_copy() - append the ranges of a map
 * @list: the list
 * @map: the ranges, or NULL
 *
 * Context: Any but NMI.  The caller holds the RCU read lock.
 * Return: false if @map was changed meanwhile.  If true it can have been changed, too: see
 * bee_mm_get_list().
 */
bool bee_map_list_copy(struct bee_map_list *list, const struct bee_map *map)
{
	struct bee_map_cursor cursor;
	const struct bee_range *r;

	bee_map_seek(&cursor, map, 0);
	while ((r = bee_map_next(&cursor))) {
		if (list->nr == list->room || !range_hold(r))
			return false;
		list_append(list, r->start, r->end, r->offset, r->file);
	}
	return list->nr == list->room;
}

/** bee_map_list_is_same() - whether the ranges are equal.  Context: Any. */
bool bee_map_list_is_same(const struct bee_map_list *a, const struct bee_map_list *b)
{
	return a->nr == b->nr && !memcmp(a->ranges, b->ranges, a->nr * sizeof(*a->ranges));
}

/* The first range that ends after an address; @nr if there is none. */
static u32 ranges_first_after(const struct bee_range *ranges, u32 nr, u64 addr)
{
	u32 low = 0, high = nr;

	while (low < high) {
		u32 mid = low + (high - low) / 2;

		if (READ_ONCE(ranges[mid].end) > addr)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

static const struct bee_range *list_find(const struct bee_map_list *list, u64 ip)
{
	u32 i = ranges_first_after(list->ranges, list->nr, ip);

	return i < list->nr && bee_range_contains(&list->ranges[i], ip) ? &list->ranges[i] : NULL;
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
 * Merge by address what @old has and @diff does not remove with what @diff adds.  @list has room
 * for exactly that; if it is full too early, @diff removes a range that is not there.
 */
static int diff_apply(const struct bee_map_list *old, const struct bee_map_diff *diff,
		      struct bee_payer *payer, struct bee_map_list *list,
		      struct netlink_ext_ack *extack)
{
	u32 i = 0, d = 0, a = 0;
	const struct bee_map_edit *r;
	struct bee_file *file;

	while (i < old->nr || a < diff->nr_add) {
		const struct bee_range *range = i < old->nr ? &old->ranges[i] : NULL;

		if (range && d < diff->nr_del && range_is(range, &diff->del[d])) {
			i++, d++;
			continue;
		}
		if (list->nr == list->room)
			break;
		if (range && (a == diff->nr_add || range->start < diff->add[a].start)) {
			if (list->nr && list->ranges[list->nr - 1].end > range->start)
				return diff_refuse(extack, "overlaps a range that is there", a - 1,
						   &diff->add[a - 1], -EEXIST);
			if (range->file)
				refcount_inc(&range->file->users);
			list_append(list, range->start, range->end, range->offset, range->file);
			i++;
			continue;
		}
		r = &diff->add[a];
		if (list->nr && list->ranges[list->nr - 1].end > r->start)
			return diff_refuse(extack, "overlaps a range that is there", a, r, -EEXIST);
		file = r->file ? bee_file_get_id_for(r->file, diff->owner, payer) : NULL;
		if (IS_ERR(file))
			return diff_refuse(extack, "over the user's share", a, r,
					   PTR_ERR(file));
		if (r->file && !file)
			return diff_refuse(extack, "no such file", a, r, -ENOENT);
		list_append(list, r->start, r->end, r->offset, file);
		a++;
	}
	if (d < diff->nr_del)
		return diff_refuse(extack, "no such range to remove", d, &diff->del[d], -ENOENT);
	return 0;
}

/**
 * bee_map_apply() - build a map from ranges and a diff
 * @old: the ranges before
 * @diff: ranges to remove and to add, from user space: not checked yet
 * @payer: to whom it is charged
 * @extack: the reason of a refusal
 *
 * Context: Process, may sleep.
 * Return: the new map with a reference, NULL if no range remains, or an error pointer.
 */
struct bee_map *bee_map_apply(const struct bee_map_list *old, const struct bee_map_diff *diff,
			      struct bee_payer *payer, struct netlink_ext_ack *extack)
{
	struct bee_map_list *list;
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
	if (diff->nr_del > old->nr) {
		NL_SET_ERR_MSG(extack, "more ranges to remove than there are");
		return ERR_PTR(-ENOENT);
	}
	list = bee_map_list_alloc((u64)old->nr + diff->nr_add - diff->nr_del, extack);
	if (IS_ERR(list))
		return ERR_CAST(list);
	ret = diff_apply(old, diff, payer, list, extack);
	map = ret ? ERR_PTR(ret) : bee_map_build(list, payer, extack);
	bee_map_list_free(list);
	return map;
}

/**
 * bee_map_get_file() - the file of a new range
 * @there: the range that was at its start before, or NULL
 * @vma: the mapping
 * @payer: to whom the file is charged, if nobody pays for it
 * @gfp: GFP_KERNEL, or GFP_NOWAIT in a callback
 *
 * If @there is a range of the same inode its file is taken, even if the inode has been written to
 * meanwhile; see bee_file_is_inode().
 *
 * Context: as bee_file_get_vma(); the caller holds the RCU read lock, or a reference on the file of
 * @there.
 * Return: as bee_file_get_vma().
 */
struct bee_file *bee_map_get_file(const struct bee_range *there, const struct vm_area_struct *vma,
				  struct bee_payer *payer, gfp_t gfp)
{
	if (there && there->file && vma->vm_file &&
	    bee_file_is_inode(there->file, file_inode(vma->vm_file)) && range_hold(there))
		return there->file;
	return bee_file_get_vma(vma, payer, gfp);
}

/**
 * bee_map_scan() - the executable mappings of an address space
 * @old: the ranges before
 * @mm: the address space
 * @payer: to whom files are charged for which nobody pays
 * @extack: the reason of a refusal
 *
 * Context: Process, may sleep.  mmap_lock of @mm held.
 * Return: the ranges, or an error pointer.
 */
struct bee_map_list *bee_map_scan(const struct bee_map_list *old, struct mm_struct *mm,
				  struct bee_payer *payer, struct netlink_ext_ack *extack)
{
	VMA_ITERATOR(count, mm, 0);
	VMA_ITERATOR(vmi, mm, 0);
	struct bee_map_list *list;
	struct vm_area_struct *vma;
	struct bee_file *file;
	u64 nr = 0, bytes;
	int ret;

	mmap_assert_locked(mm);
	for_each_vma(count, vma)
		nr += !!(vma->vm_flags & VM_EXEC);
	ret = map_check_nr(nr, extack);
	/*
	 * Room for the ranges first: else tables of the files could take it.  Without any, files
	 * need not be looked for.  Ranges that are there already may be right, and need no more.
	 */
	bytes = old->nr ? 0 : map_bytes(nr, 0);
	if (!ret && bytes)
		ret = map_charge_payer(bytes, payer, extack);
	if (ret)
		return ERR_PTR(ret);
	list = bee_map_list_alloc(nr, extack);
	if (IS_ERR(list))
		goto uncharge;
	for_each_vma(vmi, vma) {
		if (!(vma->vm_flags & VM_EXEC))
			continue;
		file = bee_map_get_file(list_find(old, vma->vm_start), vma, payer, GFP_KERNEL);
		if (IS_ERR(file)) {
			NL_SET_ERR_MSG(extack,
				       "out of memory, over budget or over the user's share");
			bee_map_list_free(list);
			list = ERR_CAST(file);
			goto uncharge;
		}
		list_append(list, vma->vm_start, vma->vm_end, (u64)vma->vm_pgoff << PAGE_SHIFT,
			    file);
	}
uncharge:
	bee_payer_uncharge(payer, bytes);
	return list;
}

static u32 chunk_first_after(const struct bee_chunk *chunk, u64 addr)
{
	return chunk ? ranges_first_after(chunk->ranges, chunk->nr, addr) : 0;
}

/**
 * bee_map_seek() - go to the first range that ends after an address
 * @cursor: filled, for bee_map_next()
 * @map: the ranges, or NULL
 * @addr: the address
 *
 * Context: Any.  The caller holds the RCU read lock.
 */
void bee_map_seek(struct bee_map_cursor *cursor, const struct bee_map *map, u64 addr)
{
	const struct bee_entry *entry;

	*cursor = (struct bee_map_cursor) { .index = map ? rcu_dereference(map->index) : NULL };
	if (!cursor->index)
		return;
	entry = bee_map_entry(cursor->index, addr);
	cursor->chunk = rcu_dereference(entry->chunk);
	cursor->entry = entry - cursor->index->at + 1;
	cursor->i = chunk_first_after(cursor->chunk, addr);
}

/*
 * Find the range that starts at @gone of a map and has gone.  Return: the range; NULL if it cannot
 * come back with this @end, since the next entry of the index begins before that.
 */
static struct bee_range *map_find_gone(const struct bee_map *map, u64 gone, u64 end)
{
	const struct bee_index *index = rcu_dereference(map->index);
	const struct bee_entry *entry = bee_map_entry(index, gone);
	struct bee_chunk *chunk = rcu_dereference(entry->chunk);
	u32 i = chunk_first_after(chunk, gone);

	if (++entry < index->at + index->nr && entry->start < end)
		return NULL;
	return i && chunk->ranges[i - 1].start == gone ? &chunk->ranges[i - 1] : NULL;
}

/**
 * bee_map_ask() - find out what is to be done to replace one interval of a map
 * @map: the ranges, or NULL
 * @start: first address
 * @end: address after the last
 * @in: the range that is mapped there, perhaps as part of a larger one in @map; NULL: none
 * @turn: filled with BEE_MAP_TURN: the range that goes (@in is NULL) or comes back
 *
 * Context: Any.  The caller holds the RCU read lock.
 * Return: what is to be done.  If another CPU changes @map meanwhile, the result can be any, and
 * the caller sees under mm_lock that the generation is another one.
 */
enum bee_map_way bee_map_ask(const struct bee_map *map, u64 start, u64 end,
			     const struct bee_range *in, struct bee_range **turn)
{
	u64 gone = map ? READ_ONCE(map->gone) : 0;
	struct bee_map_cursor cursor;
	const struct bee_range *r;

	bee_map_seek(&cursor, map, start);
	r = bee_map_next(&cursor);
	if (r && r->start < end) {
		if (in)
			return r->start <= start && r->end >= end && r->file == in->file &&
			       (!in->file || bee_range_offset(r, start) == in->offset) ?
			       BEE_MAP_SAME : BEE_MAP_CHANGE;
		*turn = (struct bee_range *)r;
		/* 0 as @gone says that there is none, and a map without a range is NULL. */
		if (gone || !r->start || r->start < start || r->end > end ||
		    READ_ONCE(map->nr) == 1)
			return BEE_MAP_CHANGE;
		r = bee_map_next(&cursor);
		return r && r->start < end ? BEE_MAP_CHANGE : BEE_MAP_TURN;
	}
	if (!in)
		return gone && gone >= start && gone < end ? BEE_MAP_CHANGE : BEE_MAP_SAME;
	*turn = gone && gone == start && READ_ONCE(map->nr) < bee_map_most() ?
		map_find_gone(map, gone, end) : NULL;
	return *turn && (*turn)->file == in->file && (*turn)->offset == in->offset ?
	       BEE_MAP_TURN : BEE_MAP_CHANGE;
}

/**
 * bee_map_turn() - let a range go, or let it come back
 * @map: the map
 * @range: from bee_map_ask(), after which nothing has changed the map
 * @end: the new end of @range: its start, and it goes; another, and it comes back
 *
 * Context: Any but NMI.  The caller holds mm_lock, and no more than one address space has @map.
 */
void bee_map_turn(struct bee_map *map, struct bee_range *range, u64 end)
{
	bool goes = end == range->start;

	WRITE_ONCE(range->end, end);
	WRITE_ONCE(map->gone, goes ? range->start : 0);
	WRITE_ONCE(map->nr, goes ? map->nr - 1 : map->nr + 1);
}

/*
 * Write the ranges of entries c->lo to c->hi, with @parts in place of those that go.  c->was and
 * @last are the chunks of entries c->first and c->last; the others are read here.  If one of those
 * has been replaced since mm.c read the generation, what is written here is wrong, but it is never
 * published: mm.c refuses to carry out the change.
 */
static void change_write(struct bee_map_change *c, struct map_writer *w, struct bee_chunk *last,
			 const struct bee_range *parts, u32 nr_parts)
{
	u32 i;

	for (i = c->lo; i < c->first; i++)
		writer_keep_all(w, rcu_dereference(c->old->at[i].chunk));
	if (c->was)
		writer_keep(w, c->was, 0, c->from);
	for (i = 0; i < nr_parts; i++)
		if (!writer_add(w, &parts[i]))
			bee_file_put_nowait(parts[i].file);
	if (last)
		writer_keep(w, last, c->to, last->nr - c->to);
	for (i = c->last + 1; i < c->hi; i++)
		writer_keep_all(w, rcu_dereference(c->old->at[i].chunk));
}

/* The first range from @i on that does not start before an address; chunk->nr if there is none. */
static u32 chunk_first_from(const struct bee_chunk *chunk, u32 i, u64 addr)
{
	while (i < chunk_nr(chunk) && chunk->ranges[i].start < addr)
		i++;
	return i;
}

/* The entries whose chunks are new, c->fresh of them. */
static struct bee_entry *change_fresh(struct bee_map_change *c)
{
	return c->index ? &c->index->at[c->lo] : &c->one;
}

/* Fill the entries of a new index whose chunks stay, and set where the new chunks start. */
static void change_set_index(struct bee_map_change *c)
{
	struct bee_entry *fresh = change_fresh(c);
	u32 i;

	for (i = 0; i < c->lo; i++)
		c->index->at[i] = c->old->at[i];
	index_set_starts(fresh, c->fresh, c->old->at[c->lo].start);
	for (i = c->hi; i < c->old->nr; i++)
		fresh[c->fresh + i - c->hi] = c->old->at[i];
	c->index->at[0].start = 0;
}

static void parts_put(const struct bee_range *parts, u32 nr)
{
	while (nr--)
		bee_file_put_nowait(parts[nr].file);
}

/*
 * Allocate the chunks for @ranges ranges, and an index of @nr entries if there is to be one, and
 * write them.  The references of @parts are taken over.  Return: 0, or -errno and nothing is left.
 */
static int change_make(struct bee_map_change *c, struct bee_chunk *last,
		       const struct bee_range *parts, u32 nr_parts, u32 ranges, u32 nr)
{
	struct bee_payer *payer = c->map->payer;
	u64 bytes = chunk_bytes(c->fresh, ranges) + (nr ? index_bytes(nr) : 0);
	struct map_writer w;
	u32 i;
	int ret = -ENOSPC;

	for (i = 0; i < nr_parts; i++)
		bytes += parts[i].file ? NODE_BYTES : 0;
	if (!bee_payer_charge_mm(payer, bytes))
		goto put_parts;
	ret = -ENOMEM;
	if (nr)
		c->index = index_alloc(nr, payer, GFP_NOWAIT);
	if ((nr && !c->index) ||
	    chunks_alloc(change_fresh(c), c->fresh, ranges, payer, GFP_NOWAIT))
		goto uncharge;
	w = (struct map_writer) { .at = change_fresh(c), .end = change_fresh(c) + c->fresh };
	change_write(c, &w, last, parts, nr_parts);
	if (writer_is_full(&w)) {
		if (c->index)
			change_set_index(c);
		return 0;
	}
	ret = -EAGAIN;
	nr_parts = 0;
	chunks_discard(change_fresh(c), c->fresh);
uncharge:
	index_discard(c->index);
	bee_payer_uncharge_mm(payer, bytes);
put_parts:
	parts_put(parts, nr_parts);
	return ret;
}

/* The part of @r in [start, end), without a reference. */
static struct bee_range range_part(const struct bee_range *r, u64 start, u64 end)
{
	return (struct bee_range) {
		.start = start, .end = end, .file = r->file,
		.offset = r->file ? bee_range_offset(r, start) : 0,
	};
}

/**
 * bee_map_prepare() - prepare to replace one interval of a map
 * @c: filled, for bee_map_carry_out() and bee_map_finish()
 * @map: the map
 * @start: first address
 * @end: address after the last
 * @in: the range that is mapped there then; the caller holds a reference on its file; NULL: none
 *
 * In most cases one chunk is made anew.  If that would be too large it becomes two, and a new index
 * leads to them; so it does if the interval is in several chunks.  If all ranges fit into one
 * chunk, or the chunks have become small, all are made anew.
 *
 * Takes no lock.  If the map is changed meanwhile, any error can be the result.
 *
 * Context: Any but NMI; does not sleep.  The caller holds the RCU read lock until after
 * bee_map_finish().
 * Return: 0; 1 if no range would remain, and then nothing is to be finished; -EAGAIN if the map has
 * been changed; -E2BIG, -ENOMEM or -ENOSPC.
 */
int bee_map_prepare(struct bee_map_change *c, struct bee_map *map, u64 start, u64 end,
		    const struct bee_range *in)
{
	struct bee_index *old = rcu_dereference(map->index);
	u32 at = bee_map_entry(old, start) - old->at, cut, left, ranges, parts = 0, i;
	struct bee_chunk *last = rcu_dereference(old->at[at].chunk);
	u64 gone = READ_ONCE(map->gone);
	struct bee_range part[3];
	bool one;
	int ret;

	*c = (struct bee_map_change) { .map = map, .old = old, .first = at, .was = last };
	c->from = chunk_first_after(last, start);
	/* A range that starts at @start and ends there is the one that has gone: remove it, too. */
	if (c->from && last->ranges[c->from - 1].start == start)
		c->from--;
	if (c->from < chunk_nr(last) && last->ranges[c->from].start < start)
		part[parts++] = range_part(&last->ranges[c->from],
					   last->ranges[c->from].start, start);
	if (in)
		part[parts++] = range_part(in, start, end);
	cut = -c->from;
	while (at + 1 < old->nr && old->at[at + 1].start < end) {
		cut += chunk_nr(last);
		at++;
		last = rcu_dereference(old->at[at].chunk);
	}
	c->last = at;
	c->to = chunk_first_from(last, at == c->first ? c->from : 0, end);
	cut += c->to;
	if (cut && c->to && last->ranges[c->to - 1].end > end)
		part[parts++] = range_part(&last->ranges[c->to - 1], end,
					   last->ranges[c->to - 1].end);

	c->gone = gone >= start && gone < end ? 0 : gone;
	left = READ_ONCE(map->nr) + !!gone - cut + parts;
	c->nr = left - !!c->gone;
	if (!c->nr)
		return 1;
	/* One that has more, from before the limit was set, may lose some. */
	if (c->nr > bee_map_most() && c->nr > READ_ONCE(map->nr))
		return -E2BIG;
	if (old->nr > 1 && (left <= CHUNK_RANGES || left < old->nr * CHUNK_SPARSE)) {
		c->hi = old->nr;
		ranges = left;
	} else {
		c->lo = c->first;
		c->hi = c->last + 1;
		ranges = c->from + parts + chunk_nr(last) - c->to;
	}
	c->fresh = chunks_for(ranges);
	one = c->hi - c->lo == 1 && c->fresh <= 1;

	for (i = 0; i < parts; i++) {
		if (range_hold(&part[i]))
			continue;
		parts_put(part, i);
		return -EAGAIN;
	}
	/* The new nodes lead to the map: keep it until bee_map_finish(). */
	if (!refcount_inc_not_zero(&map->refs)) {
		parts_put(part, parts);
		return -EAGAIN;
	}
	ret = change_make(c, last, part, parts, ranges,
			  one ? 0 : old->nr - (c->hi - c->lo) + c->fresh);
	if (ret) {
		bee_map_put(map);
		return ret;
	}
	ret = chunks_link(change_fresh(c), c->fresh, map, GFP_NOWAIT);
	if (ret)
		bee_map_finish(c, false);
	return ret;
}

/**
 * bee_map_carry_out() - change the map
 * @c: from bee_map_prepare(), after which nothing else has changed the map
 *
 * Context: mm_lock held; one address space has the map.
 */
void bee_map_carry_out(const struct bee_map_change *c)
{
	if (c->index)
		rcu_assign_pointer(c->map->index, c->index);
	else
		rcu_assign_pointer(c->old->at[c->lo].chunk, map_own(c->one.chunk));
	WRITE_ONCE(c->map->gone, c->gone);
	WRITE_ONCE(c->map->nr, c->nr);
}

/* Drop the chunk that entry @i had before, with the ranges that are gone. */
static void change_drop_old(const struct bee_map_change *c, u32 i)
{
	struct bee_chunk *chunk = c->index ? map_own(c->old->at[i].chunk) : c->was;
	u32 first = 0, end = 0;

	if (i >= c->first && i <= c->last) {
		first = i == c->first ? c->from : 0;
		end = i == c->last ? c->to : chunk_nr(chunk);
	}
	chunk_drop(chunk, first, end);
}

/**
 * bee_map_finish() - drop what a change has replaced, or prepared in vain
 * @c: from bee_map_prepare()
 * @done: it was carried out
 *
 * Context: Any but NMI, and no lock of mm.c or file.c held.
 */
void bee_map_finish(struct bee_map_change *c, bool done)
{
	struct bee_index *index = done ? c->old : c->index;
	struct bee_chunk *chunk;
	u32 i;

	for (i = c->lo; done && i < c->hi; i++)
		change_drop_old(c, i);
	for (i = 0; !done && i < c->fresh; i++) {
		chunk = map_own(change_fresh(c)[i].chunk);
		chunk_drop(chunk, chunk->own_first, chunk->own_end);
	}
	if (c->index)
		call_rcu(&index->rcu, index_free_rcu);
	bee_map_put(c->map);
}
