// SPDX-License-Identifier: GPL-2.0
/*
 * Managed address spaces and their ranges.
 *
 * The key is the mm_struct, kept from reuse by mmgrab() as long as it is managed;
 * so neither a reused pid, nor exec (a new mm), nor a thread's exit can confuse
 * it.  The ranges are an immutable array that is replaced as a whole: walks see
 * the old one or the new one; writers hold the old one, build the new one without
 * a lock, and publish it under mm_lock if nobody was faster.
 *
 * Locks: mm_lock (the hash, the list, publication) inside all others.  It is raw
 * because the callbacks of follow.c may run with preemption off.
 *
 * Death of an address space: unhashed under mm_lock, its map let go; after a
 * grace period no walk can see either.  Listings and callbacks hold it by RCU,
 * never across a sleep; requests as request.c says.  __mmput() reports its end
 * (uprobe_clear_state, hook.c), and whoever begins to manage an mm has a user of it,
 * so none can be created after its end.
 */
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "budget.h"
#include "mm.h"
#include "mm_impl.h"

static DEFINE_RAW_SPINLOCK(mm_lock);
struct hlist_head bee_mm_hash[1 << BEE_MM_HASH_BITS];
static LIST_HEAD(mm_list);
static struct workqueue_struct *mm_wq;
static u64 mm_next_cookie = 1;		/* mm_lock */
static unsigned int mm_seq = 1;		/* mm_lock; odd on purpose: 0 means "no check" */
static u32 mm_count;			/* mm_lock */
static u32 mm_ranges;			/* mm_lock */
static atomic64_t mm_lost;

#define mm_dereference(p)	rcu_dereference_protected(p, lockdep_is_held(&mm_lock))

/*
 * Address spaces
 */

static void managed_free(struct bee_mm *m)
{
	bee_budget_uncharge(BEE_BUDGET_MMS, sizeof(*m));
	put_pid(m->pid);
	mmdrop(m->mm);
	kfree(m);
}

/* Not in the grace period's own callback, where mmdrop() is not allowed. */
static void managed_free_work(struct work_struct *work)
{
	managed_free(container_of(to_rcu_work(work), struct bee_mm, free));
}

static struct bee_mm *managed_alloc(struct mm_struct *mm, struct pid *pid, gfp_t gfp)
{
	struct bee_mm *m;

	if (!bee_budget_charge(BEE_BUDGET_MMS, sizeof(*m)))
		return NULL;
	m = kzalloc(sizeof(*m), gfp | __GFP_NOWARN);
	if (!m) {
		bee_budget_uncharge(BEE_BUDGET_MMS, sizeof(*m));
		return NULL;
	}
	mmgrab(mm);
	m->mm = mm;
	m->pid = get_pid(pid);
	INIT_RCU_WORK(&m->free, managed_free_work);
	return m;
}

static void managed_publish(struct bee_mm *m)
{
	lockdep_assert_held(&mm_lock);
	m->cookie = mm_next_cookie++;
	hlist_add_head_rcu(&m->by_mm, bee_mm_bucket(m->mm));
	list_add_tail_rcu(&m->node, &mm_list);
	WRITE_ONCE(mm_count, mm_count + 1);
	WRITE_ONCE(mm_seq, mm_seq + 2);
}

/*
 * Replace the ranges by @map, whose reference goes over; either may be NULL.
 *
 * Return: the old ones, for bee_map_put() once the lock is released: there may be many
 * files to let go.
 */
static struct bee_map *managed_set_map(struct bee_mm *m, struct bee_map *map)
{
	struct bee_map *old = mm_dereference(m->map);

	rcu_assign_pointer(m->map, map);
	/* After the map: who reads the new generation sees the new map. */
	smp_store_release(&m->generation, m->generation + 1);
	WRITE_ONCE(mm_ranges, mm_ranges - (old ? old->nr : 0) + (map ? map->nr : 0));
	WRITE_ONCE(mm_seq, mm_seq + 2);
	return old;
}

/* Return: as managed_set_map(). */
static struct bee_map *managed_unpublish(struct bee_mm *m)
{
	struct bee_map *old;

	lockdep_assert_held(&mm_lock);
	old = managed_set_map(m, NULL);
	m->dead = true;
	hlist_del_rcu(&m->by_mm);
	list_del_rcu(&m->node);
	WRITE_ONCE(mm_count, mm_count - 1);
	queue_rcu_work(mm_wq, &m->free);
	return old;
}

/**
 * bee_managed_hold() - the ranges with a reference, so that others can be made from them
 * @m: the address space
 * @generation: filled, for bee_managed_commit(); not newer than the ranges
 *
 * Context: Any but NMI.  Caller keeps @m alive.
 * Return: the ranges, or NULL if there are none.
 */
struct bee_map *bee_managed_hold(const struct bee_mm *m, u64 *generation)
{
	struct bee_map *map;

	/* Before the map, which managed_set_map() writes first. */
	*generation = smp_load_acquire(&m->generation);
	rcu_read_lock();
	do
		map = rcu_dereference(m->map);
	while (map && !refcount_inc_not_zero(&map->refs));
	rcu_read_unlock();
	return map;
}

/**
 * bee_managed_commit() - replace the ranges, if nobody was faster
 * @m: the address space
 * @generation: from bee_managed_hold()
 * @map: the new ranges, or NULL; the caller's reference goes over
 *
 * Context: Any but NMI.  Caller keeps @m alive.
 * Return: false if they have changed since; then @map is let go.
 */
bool bee_managed_commit(struct bee_mm *m, u64 generation, struct bee_map *map)
{
	bool done;

	raw_spin_lock(&mm_lock);
	done = !m->dead && m->generation == generation;
	if (done) {
		m->lost = false;
		map = managed_set_map(m, map);
	}
	raw_spin_unlock(&mm_lock);
	bee_map_put(map);
	return done;
}

/**
 * bee_mm_new() - begin to manage an address space
 * @mm: the address space; the caller has a user of it, and is the only one who could
 * @pid: a process in it, for listings
 * @gfp: GFP_KERNEL_ACCOUNT, or GFP_NOWAIT in a callback
 *
 * Context: Any but NMI.
 * Return: the managed address space, without ranges; or NULL.
 */
struct bee_mm *bee_mm_new(struct mm_struct *mm, struct pid *pid, gfp_t gfp)
{
	struct bee_mm *m = managed_alloc(mm, pid, gfp);

	if (!m)
		return NULL;
	raw_spin_lock(&mm_lock);
	managed_publish(m);
	raw_spin_unlock(&mm_lock);
	return m;
}

/**
 * bee_managed_state() - what is published now
 * @m: the address space
 * @state: filled
 *
 * Context: Any but NMI.  Caller keeps @m alive.
 */
void bee_managed_state(const struct bee_mm *m, struct bee_mm_state *state)
{
	const struct bee_map *map;

	raw_spin_lock(&mm_lock);
	map = mm_dereference(m->map);
	*state = (struct bee_mm_state) {
		.cookie = m->cookie,
		.generation = m->generation,
		.ranges = map ? map->nr : 0,
	};
	raw_spin_unlock(&mm_lock);
}

/**
 * bee_mm_is_managed() - whether an address space is managed
 * @mm: the address space
 *
 * Lockless: most that come by are not.
 *
 * Context: Any.
 */
bool bee_mm_is_managed(const struct mm_struct *mm)
{
	bool managed;

	if (!READ_ONCE(mm_count))
		return false;
	rcu_read_lock();
	managed = bee_mm_find(mm);
	rcu_read_unlock();
	return managed;
}

/**
 * bee_mm_forget() - an address space has come to its end
 * @mm: the address space
 *
 * Context: Any but NMI.
 */
void bee_mm_forget(const struct mm_struct *mm)
{
	struct bee_map *map = NULL;
	struct bee_mm *m;

	if (!bee_mm_is_managed(mm))
		return;
	raw_spin_lock(&mm_lock);
	m = bee_mm_find(mm);
	if (m)
		map = managed_unpublish(m);
	raw_spin_unlock(&mm_lock);
	bee_map_put(map);
}

/**
 * bee_mm_forget_cookie() - stop managing the address space of that cookie
 * @cookie: the cookie
 *
 * Context: Process.
 * Return: whether there is one.
 */
bool bee_mm_forget_cookie(u64 cookie)
{
	struct bee_mm *m, *found = NULL;
	struct bee_map *map = NULL;

	raw_spin_lock(&mm_lock);
	list_for_each_entry(m, &mm_list, node) {
		if (m->cookie == cookie) {
			found = m;
			break;
		}
	}
	if (found)
		map = managed_unpublish(found);
	raw_spin_unlock(&mm_lock);
	bee_map_put(map);
	return found;
}

/*
 * Changes as they happen.  What cannot be followed for want of memory is not
 * guessed at: the address space loses all its ranges, is back on frame pointers,
 * and is looked at again later.
 */

static void managed_lose(struct bee_mm *m)
{
	struct bee_map *map = NULL;

	raw_spin_lock(&mm_lock);
	if (!m->dead && !m->lost) {
		map = managed_set_map(m, NULL);
		m->lost = true;
		atomic64_inc(&mm_lost);
	}
	raw_spin_unlock(&mm_lock);
	bee_map_put(map);
	bee_mm_look_again();
}

/* One try: whether it is done, or there was nothing to do. */
static bool managed_try_splice(struct bee_mm *m, u64 start, u64 end, const struct bee_range *in)
{
	struct bee_map *old, *map;
	u64 generation;
	bool done = true;

	old = bee_managed_hold(m, &generation);
	if (READ_ONCE(m->lost) || bee_map_has(old, start, end, in))
		goto put;
	map = bee_map_splice(old, start, end, in);
	if (IS_ERR(map))
		managed_lose(m);
	else
		done = bee_managed_commit(m, generation, map) || READ_ONCE(m->dead);
put:
	bee_map_put(old);
	return done;
}

static void managed_splice(struct bee_mm *m, u64 start, u64 end, const struct bee_range *in)
{
	while (!managed_try_splice(m, start, end, in))
		cpu_relax();
}

/**
 * bee_mm_unmap() - memory is being unmapped
 * @mm: the address space
 * @start: first address
 * @end: address after the last
 *
 * Context: Any but NMI.
 */
void bee_mm_unmap(const struct mm_struct *mm, u64 start, u64 end)
{
	struct bee_mm *m;

	if (!bee_mm_is_managed(mm))
		return;
	rcu_read_lock();
	m = bee_mm_find(mm);
	if (m)
		managed_splice(m, start, end, NULL);
	rcu_read_unlock();
}

static void managed_attach(struct bee_mm *m, const struct vm_area_struct *vma,
			   struct bee_range *in, bool announce)
{
	struct bee_map *old;
	u64 generation;

	old = bee_managed_hold(m, &generation);
	in->file = bee_map_get_file(old, in->start, vma, GFP_NOWAIT);
	bee_map_put(old);
	if (IS_ERR(in->file)) {
		managed_lose(m);
		return;
	}
	if (!in->file)
		in->offset = 0;
	managed_splice(m, in->start, in->end, in);
	if (announce && in->file && !rcu_access_pointer(in->file->table))
		bee_file_announce(in->file, in->start, in->end);
	bee_file_put(in->file);
}

/**
 * bee_mm_attach() - executable memory has been mapped
 * @vma: a mapping of it
 * @start: first address
 * @end: address after the last
 * @offset: byte of the mapping's file at @start
 * @announce: tell at once if the file has no table
 *
 * Whatever range was there is replaced, but if it says the same it stays:
 * mappings are reported again when they are split, merged or changed.
 *
 * Context: Any but NMI.
 */
void bee_mm_attach(const struct vm_area_struct *vma, u64 start, u64 end, u64 offset,
		   bool announce)
{
	struct bee_range in = { .start = start, .end = end, .offset = offset };
	struct bee_mm *m;

	if (!bee_mm_is_managed(vma->vm_mm))
		return;
	rcu_read_lock();
	m = bee_mm_find(vma->vm_mm);
	if (m && !READ_ONCE(m->lost))
		managed_attach(m, vma, &in, announce);
	rcu_read_unlock();
}

/**
 * bee_mm_manage() - manage an address space that has no mappings yet
 * @mm: the address space; the caller has a user of it
 * @pid: the process that will run in it
 *
 * Without memory for it, it is not managed, and counted as lost.
 *
 * Context: Any but NMI.
 */
void bee_mm_manage(struct mm_struct *mm, struct pid *pid)
{
	if (!bee_mm_is_managed(mm) && !bee_mm_new(mm, pid, GFP_NOWAIT))
		atomic64_inc(&mm_lost);
}

/**
 * bee_mm_fork() - a child has got a copy of an address space
 * @parent: the original
 * @child: the copy, which has not run yet
 *
 * The child shares its parent's ranges.  Without memory for it, it is not
 * managed, and counted as lost.
 *
 * Context: Any but NMI.
 */
void bee_mm_fork(const struct mm_struct *parent, struct mm_struct *child)
{
	struct bee_mm *m, *fresh;
	struct bee_map *map;

	if (!bee_mm_is_managed(parent))
		return;
	fresh = managed_alloc(child, NULL, GFP_NOWAIT);
	if (!fresh) {
		atomic64_inc(&mm_lost);
		return;
	}
	raw_spin_lock(&mm_lock);
	m = bee_mm_find(parent);
	if (m) {
		map = mm_dereference(m->map);
		if (map)
			refcount_inc(&map->refs);
		fresh->lost = m->lost;
		managed_publish(fresh);
		managed_set_map(fresh, map);	/* had none */
		fresh = NULL;
	}
	raw_spin_unlock(&mm_lock);
	if (fresh)
		managed_free(fresh);
}

/*
 * Listings
 */

/**
 * bee_mm_next() - the first address space from a cookie on
 * @cookie: the first cookie wanted
 * @only: if not NULL, none but this one
 *
 * Context: Process. Caller holds the RCU read lock, and as long as it does the
 * result and its map stay.
 * Return: the address space, or NULL.
 */
const struct bee_mm *bee_mm_next(u64 cookie, const struct mm_struct *only)
{
	const struct bee_mm *m;

	list_for_each_entry_rcu(m, &mm_list, node)
		if (m->cookie >= cookie && (!only || m->mm == only))
			return m;
	return NULL;
}

/**
 * bee_mm_seq() - changes with every change of an address space
 *
 * Context: Any.
 * Return: never 0.
 */
unsigned int bee_mm_seq(void)
{
	return READ_ONCE(mm_seq);
}

/**
 * bee_mm_sum() - sums over all managed address spaces
 * @totals: the result
 *
 * Context: Any.
 */
void bee_mm_sum(struct bee_mm_totals *totals)
{
	totals->mms = READ_ONCE(mm_count);
	totals->ranges = READ_ONCE(mm_ranges);
	totals->lost = atomic64_read(&mm_lost);
}

/**
 * bee_mm_init() - begin with no address space
 * @wq: runs the freeing, and the finding of what was lost
 *
 * Context: Process.
 */
void bee_mm_init(struct workqueue_struct *wq)
{
	mm_wq = wq;
}

/**
 * bee_mm_exit() - forget all; the hooks are gone and no request can come
 *
 * Context: Process, may sleep.
 */
void bee_mm_exit(void)
{
	struct bee_map *map;

	while (!list_empty(&mm_list)) {
		raw_spin_lock(&mm_lock);
		map = managed_unpublish(list_first_entry(&mm_list, struct bee_mm, node));
		raw_spin_unlock(&mm_lock);
		bee_map_put(map);
	}
	/* First until the grace periods are over and the work queued, then for it. */
	rcu_barrier();
	flush_workqueue(mm_wq);
}
