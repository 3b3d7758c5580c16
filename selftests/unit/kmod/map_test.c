// SPDX-License-Identifier: GPL-2.0
/*
 * Maps and the reverse map, kmod/map.c and kmod/rmap.c: address spaces that map, unmap, fork and end
 * at random, with other writers, forks and failed allocations in between.  Publication is done as in
 * kmod/mm.c, whose rest needs a kernel.
 */
#include <errno.h>
#include <stdlib.h>

#include "kernel.h"
#include "kselftest.h"
#include "random.h"

#define BEE_COMPAT_H		/* it has nothing else that maps need */
#define BEE_COMPAT_RT		0
#define GFP_NOWAIT		0
#define GFP_KERNEL		0
#define GFP_KERNEL_ACCOUNT	0
#define __GFP_NOWARN		0
#define PAGE_SHIFT		12
#define VM_EXEC			4
#define container_of(p, type, member)	((type *)((char *)(p) - offsetof(type, member)))
#define struct_size(p, member, n)	(sizeof(*(p)) + sizeof((p)->member[0]) * (size_t)(n))
#define NL_SET_ERR_MSG(extack, why)	((void)(extack))
#define NL_SET_ERR_MSG_FMT(extack, ...)	((void)(extack), no_message(__VA_ARGS__))
#define rcu_dereference_protected(p, held)	(p)
#define rcu_assign_pointer(p, v)	((p) = (v))
#define RCU_INIT_POINTER(p, v)	((p) = (v))
#define rcu_barrier()		((void)0)
#define U64_MAX			(~0ull)
#define min(a, b)		((a) < (b) ? (a) : (b))
#define max(a, b)		((a) > (b) ? (a) : (b))
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define ERR_PTR(error)		((void *)(long)(error))
#define PTR_ERR(p)		((long)(p))
#define ERR_CAST(p)		((void *)(p))
#define IS_ERR(p)		((unsigned long)(p) >= -4095ul)
#define lockdep_assert_held(lock)	((void)(lock))
#define hlist_del_init_rcu(node)	hlist_del_rcu(node)
#define hlist_entry_safe(p, type, member)	((p) ? container_of(p, type, member) : NULL)

static inline void no_message(const char *format, ...)
{
	(void)format;
}

/* bee_map_scan() is not tested here: there are no mappings. */
struct vm_area_struct {
	u64	vm_start;
	u64	vm_end;
	u64	vm_pgoff;
	u64	vm_flags;
	void	*vm_file;
};
#define VMA_ITERATOR(name, mm, at)	struct mm_struct *name = (mm)
#define for_each_vma(name, vma)		for ((vma) = NULL; (name) && (vma);)
#define mmap_assert_locked(mm)		((void)(mm))
#define file_inode(file)		((const struct inode *)(file))

static void check(bool good, const char *what)
{
	if (good)
		return;
	ksft_test_result(false, "%s\n", what);
	exit(1);
}

static void refcount_set(refcount_t *r, int n)
{
	r->refs.counter = n;
}

static void refcount_inc(refcount_t *r)
{
	check(r->refs.counter++ > 0, "a reference on what has none");
}

static bool refcount_inc_not_zero(refcount_t *r)
{
	return r->refs.counter && ++r->refs.counter;
}

static bool refcount_dec_and_test(refcount_t *r)
{
	check(r->refs.counter > 0, "a reference is dropped twice");
	return !--r->refs.counter;
}

static void raw_spin_lock(raw_spinlock_t *lock)
{
	check(!lock->unused++, "a lock is taken twice");
}

static void raw_spin_unlock(raw_spinlock_t *lock)
{
	lock->unused--;
}

static void hlist_add_head_rcu(struct hlist_node *node, struct hlist_head *head)
{
	node->next = head->first;
	node->pprev = &head->first;
	if (node->next)
		node->next->pprev = &node->next;
	head->first = node;
}

static void hlist_del_rcu(struct hlist_node *node)
{
	*node->pprev = node->next;
	if (node->next)
		node->next->pprev = node->pprev;
	node->pprev = NULL;
}

/* What is to be freed when the next grace period ends. */
static struct rcu_head *waiting;

static void call_rcu(struct rcu_head *rcu, void (*func)(struct rcu_head *))
{
	rcu->func = func;
	rcu->next = waiting;
	waiting = rcu;
}

static void grace_period(void)
{
	while (waiting) {
		void (*func)(struct rcu_head *) = waiting->func;
		struct rcu_head *rcu = waiting;

		waiting = rcu->next;
		func(rcu);
	}
}

/* That allocation or charge from now on fails; 0: none. */
static unsigned int fails;

static void *memory(size_t size, gfp_t gfp)
{
	void *p = fails && !--fails ? NULL : malloc(size);

	(void)gfp;
	return p ? memset(p, 0xa5, size) : NULL;
}

#define kmalloc(size, gfp)		memory(size, gfp)
#define kvmalloc(size, gfp)		memory(size, gfp)
#define kfree(p)			free(p)
#define kvfree(p)			free(p)
#define kfree_rcu(p, member)		free(p)
#define kvfree_rcu(p, member)		free(p)
#define kmem_cache_alloc(cache, gfp)	memory((cache)->size, gfp)
#define kmem_cache_free(cache, p)	free(p)
#define kmem_cache_destroy(cache)	((void)0)

struct kmem_cache {
	size_t	size;
};

static struct kmem_cache *kmem_cache_create(const char *name, size_t size, int align, int flags,
					    void *constructor)
{
	static struct kmem_cache cache;

	(void)name, (void)align, (void)flags, (void)constructor;
	cache.size = size;
	return &cache;
}

/* The kernel is one in which callbacks may allocate. */
#define BEE_RESERVE_H

struct bee_reserve {
	size_t			 size;
	u32			 most;
	struct kmem_cache	*cache;
};

#define bee_reserve_is_for(gfp)		false
#define bee_reserve_take(r)		((void)(r), NULL)
#define bee_reserve_start(r)		((void)(r))
#define bee_reserve_stop(r)		((void)(r))
#define bee_reserve_alloc(size, gfp)	memory(size, gfp)

#include "kmod/rmap.c"
#include "kmod/map.c"

static u64 charged;

bool bee_payer_charge(struct bee_payer *payer, u64 bytes)
{
	if (fails && !--fails)
		return false;
	payer->bytes.counter += bytes;
	return true;
}

void bee_payer_uncharge(struct bee_payer *payer, u64 bytes)
{
	check(payer->bytes.counter >= bytes, "a user gets more back than was charged");
	payer->bytes.counter -= bytes;
}

int bee_budget_charge(enum bee_budget_kind kind, u64 bytes, struct netlink_ext_ack *extack)
{
	(void)kind, (void)extack;
	if (fails && !--fails)
		return -ENOSPC;
	charged += bytes;
	return 0;
}

bool bee_payer_charge_mm(struct bee_payer *payer, u64 bytes)
{
	if (!bee_payer_charge(payer, bytes))
		return false;
	charged += bytes;
	return true;
}

void bee_payer_uncharge_mm(struct bee_payer *payer, u64 bytes)
{
	bee_payer_uncharge(payer, bytes);
	check(charged >= bytes, "more is uncharged than was charged");
	charged -= bytes;
}

void bee_payer_put(struct bee_payer *payer)
{
	check(!refcount_dec_and_test(&payer->refs), "a user has lost the test's reference");
}

/* Each with one reference of the test's own. */
#define PAYERS	2
static struct bee_payer payers[PAYERS];

/* With one reference of the test's own. */
#define FILES	5
static struct bee_file files[FILES];
struct bee_file bee_file_unknown;	/* of no range here */

struct bee_file *bee_file_get_id(u32 id)
{
	refcount_inc(&files[id].users);
	return &files[id];
}

/* None of these is of memory, which only its owner's ranges may have. */
struct bee_file *bee_file_get_id_for(u32 id, u64 owner, struct bee_payer *payer)
{
	(void)owner, (void)payer;
	return bee_file_get_id(id);
}

struct bee_file *bee_file_get_vma(const struct vm_area_struct *vma, struct bee_payer *payer,
				  gfp_t gfp)
{
	(void)vma, (void)payer, (void)gfp;
	return NULL;
}

static size_t handed_on;

void bee_file_hand_on(struct bee_file *f)
{
	check(!f->due || f->due != f->payer, "who pays already is to pay");
	if (f->due)
		f->payer = f->due;
	handed_on++;
}

bool bee_file_is_inode(const struct bee_file *f, const struct inode *inode)
{
	(void)f, (void)inode;
	return false;
}

void bee_file_put(struct bee_file *f)
{
	if (f)
		check(!refcount_dec_and_test(&f->users), "a file has lost the test's reference");
}

void bee_file_put_nowait(struct bee_file *f)
{
	bee_file_put(f);
}

#define PAGES	400

/* An address space: what of struct bee_mm concerns its map, and what is mapped in each of its pages. */
struct space {
	bool			 used;
	struct bee_payer	*payer;
	u64			 generation;
	struct bee_map		*map;
	struct hlist_node	 by_map;
	struct {
		bool			 mapped;
		struct bee_file		*file;
		u64			 offset;
	} page[PAGES];
};

#define SPACES	6
static struct space spaces[SPACES];

static size_t commits, in_place, indexes, copies, lists, refused, failed, too_many, went, came_back;

/* As mm_set_map(). */
static struct bee_map *set_map(struct space *s, struct bee_map *map)
{
	struct bee_map *old = s->map;

	if (old)
		hlist_del_rcu(&s->by_map);
	if (map)
		hlist_add_head_rcu(&s->by_map, &map->mms);
	s->map = map;
	s->generation++;
	return old;
}

/* As bee_mm_commit_map(). */
static bool commit(struct space *s, u64 generation, struct bee_map *map)
{
	bool done = s->used && s->generation == generation;

	if (done)
		map = set_map(s, map);
	bee_map_put(map);
	return done;
}

static bool try_change(struct space *s, u64 start, u64 end, const struct bee_range *in,
		       unsigned int depth);

/* As mm_drop_gone(), once. */
static bool drop_gone(struct space *s, unsigned int depth)
{
	u64 gone = s->map ? s->map->gone : 0;

	return !gone || try_change(s, gone, gone + PAGE_SIZE, NULL, depth);
}

/* As bee_mm_fork(), but if there is no memory there is no child. */
static void fork_space(struct space *parent, struct space *child)
{
	struct bee_map *map;

	if (!drop_gone(parent, 3) || !parent->used || child->used)
		return;
	map = parent->map;
	*child = *parent;
	child->payer = &payers[random_u64() % PAYERS];
	child->map = NULL;
	if (map)
		refcount_inc(&map->refs);
	set_map(child, map);
}

static void end_space(struct space *s)
{
	bee_map_put(set_map(s, NULL));
	s->used = false;
}

static void change(struct space *s, unsigned int depth);

/*
 * What happens on other CPUs while a change is prepared.  No grace period ends: it is prepared under
 * RCU.
 */
static void interfere(struct space *s, unsigned int depth)
{
	struct space *other = &spaces[random_u64() % SPACES];
	u32 what = random_u64() % 10;

	if (what == 0 && s->used && !other->used)
		fork_space(s, other);
	else if (what == 1 && other->used)
		end_space(other);
	else if (what == 2 && s->used && depth < 3)
		change(s, depth + 1);
}

/* As mm_unshare(). */
static void unshare(struct space *s, u64 generation, unsigned int depth)
{
	struct bee_map *shared = s->map, *map = bee_map_copy(shared, s->payer);

	if (IS_ERR(map)) {
		failed++;
		return;
	}
	interfere(s, depth);
	if (s->used && s->generation == generation && s->map == shared) {
		hlist_del_rcu(&s->by_map);
		hlist_add_head_rcu(&s->by_map, &map->mms);
		s->map = map;
		map = shared;
		copies++;
	}
	bee_map_put(map);
}

/* As mm_carry_out(). */
static bool carry_out(struct space *s, struct bee_map_change *c, u64 generation)
{
	bool done = s->used && s->generation == generation && s->map == c->map &&
		    bee_map_is_single(c->map);

	if (done) {
		in_place += !c->index;
		indexes += !!c->index;
		bee_map_carry_out(c);
		s->generation++;
	}
	bee_map_finish(c, done);
	return done;
}

/* As mm_turn(). */
static bool turn(struct space *s, struct bee_range *range, const struct bee_range *in,
		 u64 generation, unsigned int depth)
{
	struct bee_map *map = s->map;

	interfere(s, depth);
	if (!s->used || s->generation != generation || s->map != map || !bee_map_is_single(map))
		return false;
	bee_map_turn(map, range, in ? in->end : range->start);
	s->generation++;
	came_back += !!in;
	went += !in;
	return true;
}

/* As mm_try_change(): whether it is done. */
static bool try_change(struct space *s, u64 start, u64 end, const struct bee_range *in,
		       unsigned int depth)
{
	u64 generation = s->generation;
	struct bee_map_change c;
	struct bee_range *range;
	enum bee_map_way way;
	struct bee_map *map;
	int ret;

	way = bee_map_ask(s->map, start, end, in, &range);
	if (way == BEE_MAP_SAME)
		return true;
	if (!s->map) {
		map = bee_map_new(in, s->payer);
		failed += IS_ERR(map);
		if (IS_ERR(map))
			return false;
		interfere(s, depth);
		return commit(s, generation, map);
	}
	if (s->map->payer != s->payer || !bee_map_is_single(s->map)) {
		unshare(s, generation, depth);
		return false;
	}
	if (way == BEE_MAP_TURN)
		return turn(s, range, in, generation, depth);
	ret = bee_map_prepare(&c, s->map, start, end, in);
	check(ret != -EAGAIN, "a change that nothing comes in between of is to be tried again");
	check(ret || c.nr <= bee_map_most() || c.nr <= s->map->nr, "a map has too many ranges");
	too_many += ret == -E2BIG;
	failed += ret < 0;
	if (ret < 0)
		return false;
	interfere(s, depth);
	return ret ? commit(s, generation, NULL) : carry_out(s, &c, generation);
}

static void note_change(struct space *s, u64 start, u64 end, const struct bee_range *in)
{
	u64 i;

	for (i = start / PAGE_SIZE; i < end / PAGE_SIZE; i++) {
		s->page[i].mapped = in;
		s->page[i].file = in ? in->file : NULL;
		s->page[i].offset = in && in->file ? in->offset + i * PAGE_SIZE - start : 0;
	}
}

/* Any page, or with several chunks often one close to where a chunk begins. */
static u64 choose_start(const struct space *s)
{
	const struct bee_index *index = s->map ? s->map->index : NULL;
	u64 at = 0;

	if (index && index->nr > 1 && random_u64() % 2)
		at = index->at[random_u64() % index->nr].start + PAGE_SIZE * (random_u64() % 6);
	if (at < 3 * PAGE_SIZE || at >= (PAGES - 8) * PAGE_SIZE)
		return random_u64() % (PAGES - 8) * PAGE_SIZE;
	return at - 3 * PAGE_SIZE;
}

/* Choose to map what has gone again, or else to unmap a whole range.  Return: the file, or FILES. */
static u32 choose_whole(struct space *s, u64 *start, u64 *end, u64 *offset, bool *unmap)
{
	struct bee_map_cursor cursor;
	const struct bee_range *r = s->map->gone ? map_find_gone(s->map, s->map->gone, 0) : NULL;

	*unmap = !r || random_u64() % 3 == 0;
	if (*unmap) {
		/* With one that has gone: the next one, so that a larger one can come back. */
		bee_map_seek(&cursor, s->map, r ? r->start : *start);
		r = bee_map_next(&cursor);
	}
	if (!r)
		return FILES;
	*start = r->start;
	*end = *unmap ? r->end : r->start + (1 + random_u64() % 12) * PAGE_SIZE;
	*offset = r->offset;
	return r->file ? r->file - files : FILES;
}

/* As mm_change(), but now and then it is given up. */
static void change(struct space *s, unsigned int depth)
{
	u64 start = choose_start(s);
	u64 pages = random_u64() % 40 ? 1 + random_u64() % 3 : 1 + random_u64() % (PAGES / 2);
	u64 end = start + pages * PAGE_SIZE;
	struct bee_range in = { .start = start };
	bool unmap = random_u64() % 3 == 0, done = false;
	u64 offset = random_u64() % 4 * PAGE_SIZE;
	u32 file = random_u64() % (FILES + 1);
	int tries = 4;

	if (s->map && random_u64() % 3 == 0)
		file = choose_whole(s, &start, &end, &offset, &unmap);
	if (end > PAGES * PAGE_SIZE)
		end = PAGES * PAGE_SIZE;
	in.start = start;
	in.end = end;
	if (file < FILES) {
		in.file = bee_file_get_id(file);
		in.offset = offset;
	}
	fails = random_u64() % 10 ? 0 : 1 + random_u64() % 6;
	if (random_u64() % 8 == 0)
		bee_map_set_most(1 + random_u64() % PAGES);
	while (s->used && !done && tries--)
		done = try_change(s, start, end, unmap ? NULL : &in, depth);
	fails = 0;
	bee_map_set_most(BEE_MAP_MAX_RANGES);
	if (done)
		note_change(s, start, end, unmap ? NULL : &in);
	commits += done;
	refused += !done;
	bee_file_put(in.file);
}

static struct bee_map_list *list_ranges(const struct space *s)
{
	struct bee_map_list *list = bee_map_list_alloc(s->map ? s->map->nr : 0, NULL);

	check(bee_map_list_copy(list, s->map), "a list has not all ranges");
	return list;
}

/* As scan_try(), with the ranges that are there. */
static void make_anew(struct space *s)
{
	struct bee_map_list *list = list_ranges(s);
	u64 generation = s->generation;
	struct bee_map *map;

	fails = random_u64() % 3 ? 0 : 1 + random_u64() % 8;
	map = bee_map_build(list, s->payer, NULL);
	fails = 0;
	bee_map_list_free(list);
	failed += IS_ERR(map);
	lists += !IS_ERR(map);
	if (!IS_ERR(map))
		check(commit(s, generation, map), "a map of a list is refused");
}

/* What an address space has in each page is what it was told, and no range crosses two chunks. */
static void check_pages(const struct space *s)
{
	struct bee_map_cursor cursor;
	const struct bee_range *r;
	u32 nr = 0, i;
	u64 end = 0;

	for (i = 0; i < PAGES; i++) {
		u64 at = i * PAGE_SIZE;

		r = s->map ? bee_map_find(s->map, at) : NULL;
		check(!r == !s->page[i].mapped, "a page has a range, or has none");
		if (r)
			check(r->file == s->page[i].file &&
			      (!r->file || bee_range_offset(r, at) == s->page[i].offset),
			      "a page is another one");
	}
	bee_map_seek(&cursor, s->map, 0);
	while ((r = bee_map_next(&cursor))) {
		struct bee_map_cursor other;

		check(r->start >= end && r->end > r->start, "ranges overlap, or one is empty");
		check(r->start >= cursor.index->at[cursor.entry - 1].start &&
		      (cursor.entry == cursor.index->nr ||
		       r->end <= cursor.index->at[cursor.entry].start), "a range is in another chunk");
		bee_map_seek(&other, s->map, r->start);
		check(bee_map_next(&other) == r, "a range is not found by its start");
		bee_map_seek(&other, s->map, end);
		check(bee_map_next(&other) == r, "a range is not found by the end of the last one");
		end = r->end;
		nr++;
	}
	check(!s->map || nr == s->map->nr, "a map counts its ranges wrong");
	check(!s->map || nr, "a map without ranges");
	nr += s->map && s->map->gone;
	check(!s->map || nr > CHUNK_RANGES || s->map->index->nr == 1, "few ranges in many chunks");
	check(!s->map || !s->map->gone || map_find_gone(s->map, s->map->gone, 0),
	      "the range that is gone is not in its chunk");
	check(!s->map || !s->map->gone || bee_map_is_single(s->map), "a shared map has one that is gone");
}

static u32 list_length(const struct hlist_head *head)
{
	const struct hlist_node *node;
	u32 length = 0;

	for (node = head->first; node; node = node->next)
		length++;
	return length;
}

/* Each range of each map has a node in the list of its file, and nothing else is in these. */
static void check_nodes(void)
{
	u32 nodes[FILES] = {}, users[FILES] = {};
	size_t i, e, k;

	for (i = 0; i < SPACES; i++) {
		struct bee_map *map = spaces[i].map;

		if (!spaces[i].used || !map)
			continue;
		check(*spaces[i].by_map.pprev == &spaces[i].by_map,
		      "an address space is not in the list of its map");
		/* Those that share the map count once. */
		if (map->mms.first != &spaces[i].by_map)
			continue;
		check(refcount_read(&map->refs) == (int)list_length(&map->mms),
		      "a map has other references than those of address spaces");
		for (e = 0; e < map->index->nr; e++) {
			struct bee_chunk *chunk = map->index->at[e].chunk;

			for (k = 0; k < chunk_nr(chunk); k++) {
				struct bee_file *f = chunk->ranges[k].file;
				struct bee_rmap_node *node = chunk_nodes(chunk)[k];

				check(!node == !f, "a range with a file has no node");
				if (!f)
					continue;
				check(node->map == map, "a node leads to another map");
				check(node->in_file.pprev && *node->in_file.pprev == &node->in_file,
				      "a node is not in a list");
				nodes[f - files]++;
				users[f - files]++;
			}
		}
	}
	for (i = 0; i < FILES; i++) {
		const struct hlist_node *pays = files[i].paying;

		check(list_length(&files[i].rmap) == nodes[i], "a node without a range in a map");
		check(!pays == !nodes[i] && (!pays || *pays->pprev == pays),
		      "no range pays, or one that is gone");
		check(!pays || (files[i].payer == files[i].due && files[i].due ==
				container_of(pays, struct bee_rmap_node, in_file)->map->payer),
		      "another user than that of the range pays");
		check(refcount_read(&files[i].users) == (int)users[i] + 1,
		      "a file has other users than its ranges");
	}
}

int main(void)
{
	size_t i, k, left = 0;

	ksft_print_header();
	ksft_set_plan(3);
	bee_rmap_init();
	for (i = 0; i < FILES; i++)
		refcount_set(&files[i].users, 1);
	for (i = 0; i < PAYERS; i++)
		refcount_set(&payers[i].refs, 1);
	for (i = 0; i < 60000; i++) {
		struct space *s = &spaces[random_u64() % SPACES], *parent;

		parent = &spaces[random_u64() % SPACES];
		if (s->used && random_u64() % 400 == 0)
			end_space(s);
		else if (s->used && random_u64() % 200 == 0)
			make_anew(s);
		else if (s->used && random_u64() % 20 == 0)
			drop_gone(s, 0);
		else if (s->used)
			change(s, 0);
		else if (parent->used)
			fork_space(parent, s);
		else
			*s = (struct space){ .used = true, .payer = &payers[random_u64() % PAYERS] };
		if (i % 16 == 0) {
			for (k = 0; k < SPACES; k++)
				if (spaces[k].used)
					check_pages(&spaces[k]);
			check_nodes();
		}
		if (random_u64() % 3 == 0)
			grace_period();
	}
	ksft_test_result(true, "each page has what was mapped there, each range a node\n");
	ksft_print_msg("%zu changes, %zu of one entry, %zu of the index; %zu went, %zu came back; "
		       "%zu copies, %zu from lists; %zu too late, %zu without memory, "
		       "%zu with too many ranges\n", commits, in_place, indexes, went, came_back,
		       copies, lists, refused, failed, too_many);
	ksft_test_result(in_place && indexes && went && came_back && copies && lists && refused &&
			 failed && too_many, "maps were changed, copied, made anew, too late and not made\n");
	for (i = 0; i < SPACES; i++)
		if (spaces[i].used)
			end_space(&spaces[i]);
	check_nodes();
	grace_period();
	for (i = 0; i < FILES && refcount_read(&files[i].users) == 1; i++)
		;
	for (k = 0; k < PAYERS; k++)
		left += payers[k].bytes.counter + refcount_read(&payers[k].refs) - 1;
	ksft_test_result(i == FILES && !charged && !left, "nothing is left or charged\n");
	ksft_finished();
}
