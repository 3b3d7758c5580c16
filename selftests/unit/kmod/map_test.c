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

#define BEE_COMPAT_H		/* it has nothing that maps need */
#define GFP_NOWAIT		0
#define GFP_KERNEL		0
#define GFP_KERNEL_ACCOUNT	0
#define __GFP_NOWARN		0
#define PAGE_SHIFT		12
#define TASK_SIZE_MAX		(1ull << 47)
#define VM_EXEC			4
#define REFCOUNT_INIT(n)	{ { n } }
#define container_of(p, type, member)	((type *)((char *)(p) - offsetof(type, member)))
#define struct_size(p, member, n)	(sizeof(*(p)) + sizeof((p)->member[0]) * (size_t)(n))
#define min(a, b)		((a) < (b) ? (a) : (b))
#define NL_SET_ERR_MSG(extack, why)	((void)(extack))
#define NL_SET_ERR_MSG_FMT(extack, ...)	((void)(extack), no_message(__VA_ARGS__))
#define rcu_dereference_raw(p)	(p)
#define hlist_first_rcu(head)	((head)->first)
#define hlist_next_rcu(node)	((node)->next)
#define rcu_barrier()		((void)0)
#define ERR_PTR(error)		((void *)(long)(error))
#define PTR_ERR(p)		((long)(p))
#define ERR_CAST(p)		((void *)(p))
#define IS_ERR(p)		((unsigned long)(p) >= -4095ul)

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

static bool refcount_dec_and_test(refcount_t *r)
{
	check(r->refs.counter > 0, "a reference is dropped twice");
	return !--r->refs.counter;
}

static void spin_lock(spinlock_t *lock)
{
	check(!lock->unused++, "a lock is taken twice");
}

static void spin_unlock(spinlock_t *lock)
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
	(void)gfp;
	return fails && !--fails ? NULL : calloc(1, size);
}

#define kmalloc(size, gfp)		memory(size, gfp)
#define kzalloc(size, gfp)		memory(size, gfp)
#define kvmalloc(size, gfp)		memory(size, gfp)
#define kfree(p)			free(p)
#define kvfree(p)			free(p)
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

/* An address space: what of struct bee_mm concerns its map. */
struct space {
	bool			 used;
	struct bee_payer	*payer;
	u64			 generation;
	struct bee_map		*map;
	struct hlist_node	 by_owner;
};

#define SPACES	6
static struct space spaces[SPACES];

static size_t commits, taken_over, refused, failed;

/* As mm_set_map(). */
static struct bee_map *set_map(struct space *s, struct bee_map *map)
{
	struct bee_map *old = s->map;

	if (map && old && map->owner == old->owner) {
		bee_map_take_over(map, old);
		taken_over++;
	} else {
		if (old)
			hlist_del_rcu(&s->by_owner);
		if (map)
			hlist_add_head_rcu(&s->by_owner, &map->owner->mms);
	}
	s->map = map;
	s->generation++;
	return old;
}

/* As bee_mm_commit_map(). */
static bool commit(struct space *s, u64 generation, struct bee_map *map)
{
	struct bee_map *old = s->map;
	bool done = s->used && s->generation == generation &&
		    (!map || !old || map->owner != old->owner || bee_rmap_is_single(old->owner));

	if (done)
		map = set_map(s, map);
	commits += done;
	refused += !done;
	bee_map_put(map);
	return done;
}

static struct space new_space(void)
{
	return (struct space){ .used = true, .payer = &payers[random_u64() % PAYERS] };
}

static void fork_space(const struct space *parent, struct space *child)
{
	*child = new_space();
	if (parent->map)
		refcount_inc(&parent->map->refs);
	set_map(child, parent->map);
}

static void end_space(struct space *s)
{
	bee_map_put(set_map(s, NULL));
	s->used = false;
}

static void change(struct space *s, unsigned int depth);

/* What happens on other CPUs while a map is built.  Return: whether @s has to do with it. */
static bool interfere(struct space *s, unsigned int depth)
{
	struct space *other = &spaces[random_u64() % SPACES];
	u32 what = random_u64() % 10;

	if (what == 0 && s->used && !other->used)
		fork_space(s, other);
	else if (what == 1 && other->used)
		end_space(other);
	else if (what == 2 && s->used && depth < 3)
		change(s, depth + 1);
	if (random_u64() % 2)
		grace_period();
	return what == 0 || what == 2 || !s->used;
}

/* As mm_try_splice().  A reader that holds the RCU read lock is not there, so memory goes early. */
static void change(struct space *s, unsigned int depth)
{
	u64 start = (1 + random_u64() % 30) * PAGE_SIZE, generation = s->generation;
	u64 end = start + (1 + random_u64() % 12) * PAGE_SIZE;
	struct bee_range in = { .start = start, .end = end };
	bool unmap = random_u64() % 3 == 0;
	struct bee_map *old = s->map, *map;
	u32 file = random_u64() % (FILES + 1);

	if (old)
		refcount_inc(&old->refs);
	if (file < FILES) {
		in.file = bee_file_get_id(file);
		in.offset = random_u64() % 4 * PAGE_SIZE;
	}
	if (!bee_map_has(old, start, end, unmap ? NULL : &in)) {
		fails = random_u64() % 10 ? 0 : 1 + random_u64() % 6;
		map = bee_map_splice(old, start, end, unmap ? NULL : &in, s->payer);
		fails = 0;
		if (IS_ERR(map)) {
			failed++;
		} else {
			bool touched = interfere(s, depth);

			check(commit(s, generation, map) || touched || depth,
			      "a change is refused, and would be again");
		}
	}
	bee_file_put(in.file);
	bee_map_put(old);
}

static bool is_in(const struct hlist_head *head, const struct hlist_node *wanted, u32 *length)
{
	const struct hlist_node *node;
	bool found = false;

	*length = 0;
	for (node = head->first; node; node = node->next) {
		found |= node == wanted;
		++*length;
	}
	return found;
}

/* Each range of each map has a node in the list of its file, and nothing else is in these. */
static void check_all(void)
{
	u32 nodes[FILES] = {}, length;
	size_t i, k;

	for (i = 0; i < SPACES; i++) {
		struct bee_map *map = spaces[i].map;

		if (!spaces[i].used || !map)
			continue;
		check(is_in(&map->owner->mms, &spaces[i].by_owner, &length),
		      "an address space is not with the owner of its map");
		check(!map->own_first && map->own_end == map->nr, "a map does not own its nodes");
		for (k = 0; k < map->nr; k++) {
			struct bee_file *f = map->ranges[k].file;
			struct bee_rmap_node *node = map_nodes(map)[k];

			check(!node == !f, "a range with a file has no node");
			if (!f)
				continue;
			check(node->owner == map->owner, "a node leads to another owner");
			check(is_in(&f->rmap, &node->in_file, &length), "a node is not in the list");
			/* Those that share the map count once. */
			nodes[f - files] += map->owner->mms.first == &spaces[i].by_owner;
		}
	}
	for (i = 0; i < FILES; i++) {
		is_in(&files[i].rmap, NULL, &length);
		check(length == nodes[i], "a node without a range in a map");
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
	for (i = 0; i < 100000; i++) {
		struct space *s = &spaces[random_u64() % SPACES], *parent;

		parent = &spaces[random_u64() % SPACES];
		if (s->used && random_u64() % 40 == 0)
			end_space(s);
		else if (s->used)
			change(s, 0);
		else if (parent->used)
			fork_space(parent, s);
		else
			*s = new_space();
		check_all();
		if (random_u64() % 3 == 0)
			grace_period();
	}
	ksft_test_result(true, "each range has a node, and each node a range\n");
	ksft_print_msg("%zu changes, %zu of them by take-over; %zu too late, %zu without memory\n",
		       commits, taken_over, refused, failed);
	ksft_test_result(taken_over && commits > taken_over && refused && failed,
			 "maps were taken over, made anew, too late and not made\n");
	for (i = 0; i < SPACES; i++)
		if (spaces[i].used)
			end_space(&spaces[i]);
	check_all();
	grace_period();
	for (i = 0; i < FILES && refcount_read(&files[i].users) == 1; i++)
		;
	for (k = 0; k < PAYERS; k++)
		left += payers[k].bytes.counter + refcount_read(&payers[k].refs) - 1;
	ksft_test_result(i == FILES && !charged && !left, "nothing is left or charged\n");
	ksft_finished();
}
