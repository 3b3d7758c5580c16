// SPDX-License-Identifier: GPL-2.0
/*
 * Managed address spaces and their ranges.
 *
 * The key is the mm_struct, kept from reuse by mmgrab() as long as it is managed;
 * so neither a reused pid, nor exec (a new mm), nor a thread's exit can confuse
 * it.  The ranges are an immutable array that is replaced as a whole: walks see
 * the old one or the new one, writers build without a lock and publish under
 * mm_lock if nobody was faster.
 *
 * Locks: mm_mutex (requests, one at a time) before mm_lock (the hash, the list,
 * publication) before store.c's store_lock.  mm_lock is raw because the
 * callbacks of follow.c may run with preemption off.
 *
 * Death of an address space: unhashed under mm_lock, its map let go; after a
 * grace period no walk can see either.  Walks are the only ones that hold it
 * without mm_lock, listings and writers by RCU and never across a sleep.
 * __mmput() reports its end (uprobe_clear_state, hook.c), and a request pins the
 * mm's users while it creates one, so none can be created after its end.
 */
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "compat.h"
#include "mm.h"

static DEFINE_MUTEX(mm_mutex);
static DEFINE_RAW_SPINLOCK(mm_lock);
struct hlist_head bee_mm_hash[1 << BEE_MM_HASH_BITS];
static LIST_HEAD(mm_list);
static struct workqueue_struct *mm_wq;
static u64 mm_next_cookie = 1;		/* mm_lock */
static unsigned int mm_seq = 1;		/* mm_lock; odd on purpose: 0 means "no check" */
static u32 mm_count;			/* mm_lock */
static u32 mm_ranges;			/* mm_lock */
static atomic64_t mm_lost;
static bee_mm_tell_t mm_tell;

static void mm_news_work(struct work_struct *work);
static DECLARE_WORK(mm_news, mm_news_work);
static bool mm_hushed;

#define mm_dereference(p)	rcu_dereference_protected(p, lockdep_is_held(&mm_lock))

/*
 * Address spaces
 */

static void managed_free_now(struct bee_mm *m)
{
	bee_store_uncharge(sizeof(*m));
	put_pid(m->pid);
	mmdrop(m->mm);
	kfree(m);
}

static void managed_free_work(struct work_struct *work)
{
	managed_free_now(container_of(to_rcu_work(work), struct bee_mm, free));
}

static struct bee_mm *managed_alloc(struct mm_struct *mm, struct pid *pid, bool may_sleep)
{
	struct bee_mm *m;

	if (!bee_store_charge(sizeof(*m)))
		return NULL;
	m = kzalloc(sizeof(*m), may_sleep ? GFP_KERNEL_ACCOUNT : GFP_NOWAIT | __GFP_NOWARN);
	if (!m) {
		bee_store_uncharge(sizeof(*m));
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

/* Replace the ranges by @map, which may be NULL. */
static void managed_set_map(struct bee_mm *m, struct bee_map *map)
{
	struct bee_map *old = mm_dereference(m->map);

	rcu_assign_pointer(m->map, map);
	/* After the map: who reads the new generation sees the new map. */
	smp_store_release(&m->generation, m->generation + 1);
	WRITE_ONCE(mm_ranges, mm_ranges - (old ? old->nr : 0) + (map ? map->nr : 0));
	WRITE_ONCE(mm_seq, mm_seq + 2);
	bee_map_put(old);
}

static void managed_unpublish(struct bee_mm *m)
{
	lockdep_assert_held(&mm_lock);
	managed_set_map(m, NULL);
	hlist_del_rcu(&m->by_mm);
	list_del_rcu(&m->node);
	WRITE_ONCE(mm_count, mm_count - 1);
	queue_rcu_work(mm_wq, &m->free);
}

/*
 * Requests
 */

static int diff_stale(const struct bee_mm *m, struct netlink_ext_ack *extack)
{
	if (m)
		NL_SET_ERR_MSG_FMT(extack, "stale: cookie is %llu, generation %llu", m->cookie,
				   READ_ONCE(m->generation));
	else
		NL_SET_ERR_MSG(extack, "stale: the process is not managed (cookie and generation 0)");
	return -ESTALE;
}

static bool diff_is_current(const struct bee_mm *m, const struct bee_map_diff *diff)
{
	if (!m)
		return !diff->cookie && !diff->generation;
	return m->cookie == diff->cookie && READ_ONCE(m->generation) == diff->generation;
}

/* Hold the ranges that the diff is against; they can be replaced meanwhile. */
static int diff_begin(const struct mm_struct *mm, const struct bee_map_diff *diff,
		      struct bee_map **old, struct netlink_ext_ack *extack)
{
	struct bee_mm *m;
	int ret = 0;

	*old = NULL;
	raw_spin_lock(&mm_lock);
	m = bee_mm_find(mm);
	if (!diff_is_current(m, diff))
		ret = diff_stale(m, extack);
	else if (m)
		*old = mm_dereference(m->map);
	if (*old)
		refcount_inc(&(*old)->refs);
	raw_spin_unlock(&mm_lock);
	return ret;
}

static int diff_commit(struct mm_struct *mm, struct bee_mm *fresh, struct bee_map_diff *diff,
		       struct bee_map *old, struct bee_map *map, struct netlink_ext_ack *extack)
{
	struct bee_mm *m;
	int ret = 0;

	raw_spin_lock(&mm_lock);
	m = bee_mm_find(mm);
	if (!diff_is_current(m, diff)) {
		ret = diff_stale(m, extack);
	} else {
		if (!m) {
			m = fresh;
			managed_publish(m);
		}
		if (map)
			bee_map_publish(map);
		m->lost = false;
		managed_set_map(m, map);
		diff->cookie = m->cookie;
		diff->generation = m->generation;
		diff->ranges = map ? map->nr : 0;
	}
	bee_map_put(old);
	raw_spin_unlock(&mm_lock);
	return ret;
}

static void diff_abandon(struct bee_map *old)
{
	raw_spin_lock(&mm_lock);
	bee_map_put(old);
	raw_spin_unlock(&mm_lock);
}

/* A struct bee_mm for an address space that is not managed yet. */
static int diff_fresh(struct mm_struct *mm, struct pid *pid, const struct bee_map_diff *diff,
		      struct bee_mm **fresh, struct netlink_ext_ack *extack)
{
	*fresh = NULL;
	if (diff->cookie)
		return 0;
	*fresh = managed_alloc(mm, pid, true);
	if (*fresh)
		return 0;
	NL_SET_ERR_MSG(extack, "out of memory or over budget");
	return -ENOMEM;
}

/**
 * bee_mm_update() - apply a diff, whole or not at all
 * @mm: the address space; the caller has it from get_task_mm()
 * @pid: the process that it was named by, for listings
 * @diff: the request and, on success, the new cookie and generation
 * @extack: the reason of a refusal
 *
 * Context: Process, may sleep.
 * Return: 0 or -errno; -ESTALE if somebody else changed the ranges.
 */
int bee_mm_update(struct mm_struct *mm, struct pid *pid, struct bee_map_diff *diff,
		  struct netlink_ext_ack *extack)
{
	struct bee_map *old, *map;
	struct bee_mm *fresh;
	int ret;

	mutex_lock(&mm_mutex);
	ret = diff_begin(mm, diff, &old, extack);
	if (ret)
		goto unlock;
	map = bee_map_apply(old, diff, extack);
	if (IS_ERR(map)) {
		ret = PTR_ERR(map);
		diff_abandon(old);
		goto unlock;
	}
	ret = diff_fresh(mm, pid, diff, &fresh, extack);
	if (ret) {
		diff_abandon(old);
		bee_map_discard(map);
		goto unlock;
	}
	ret = diff_commit(mm, fresh, diff, old, map, extack);
	if (ret) {
		bee_map_discard(map);
		if (fresh)
			managed_free_now(fresh);
	}
unlock:
	mutex_unlock(&mm_mutex);
	return ret;
}

/* Lockless: most processes that come by are not managed. */
static bool mm_is_managed(const struct mm_struct *mm)
{
	bool managed;

	if (!READ_ONCE(mm_count))
		return false;
	rcu_read_lock();
	managed = bee_mm_find(mm);
	rcu_read_unlock();
	return managed;
}

static bool managed_forget(struct bee_mm *m)
{
	lockdep_assert_held(&mm_lock);
	if (m)
		managed_unpublish(m);
	return m;
}

/**
 * bee_mm_forget() - stop managing an address space
 * @mm: the address space, perhaps one at its end
 *
 * Context: Any but NMI.
 * Return: whether it was managed.
 */
bool bee_mm_forget(const struct mm_struct *mm)
{
	bool found;

	if (!mm_is_managed(mm))
		return false;
	raw_spin_lock(&mm_lock);
	found = managed_forget(bee_mm_find(mm));
	raw_spin_unlock(&mm_lock);
	return found;
}

/**
 * bee_mm_forget_cookie() - the same by cookie
 * @cookie: its cookie
 *
 * Context: Process.
 * Return: whether it was managed.
 */
bool bee_mm_forget_cookie(u64 cookie)
{
	struct bee_mm *m, *found = NULL;

	raw_spin_lock(&mm_lock);
	list_for_each_entry(m, &mm_list, node)
		if (m->cookie == cookie)
			found = m;
	managed_forget(found);
	raw_spin_unlock(&mm_lock);
	return found;
}

/*
 * Changes as they happen.  What cannot be followed for want of memory is not
 * guessed at: the address space loses all its ranges and is back on frame
 * pointers.
 */

static void managed_lose(struct bee_mm *m)
{
	lockdep_assert_held(&mm_lock);
	managed_set_map(m, NULL);
	m->lost = true;
	atomic64_inc(&mm_lost);
}

/* Publish @map if @old is still the current one. */
static bool managed_commit(struct bee_mm *m, const struct bee_map *old, struct bee_map *map)
{
	bool current_one;

	raw_spin_lock(&mm_lock);
	current_one = bee_mm_find(m->mm) == m && !m->lost && mm_dereference(m->map) == old;
	if (current_one && IS_ERR(map)) {
		managed_lose(m);
	} else if (current_one) {
		if (map)
			bee_map_publish(map);
		managed_set_map(m, map);
	}
	raw_spin_unlock(&mm_lock);
	return current_one;
}

/* One try: 0 if there was nothing to do, 1 if it is done, -EAGAIN if somebody was faster. */
static int managed_try_change(struct bee_mm *m, u64 start, u64 end, const struct bee_range *in)
{
	const struct bee_map *old = rcu_dereference(m->map);
	struct bee_map *map;

	if (READ_ONCE(m->lost))
		return 0;
	if (in) {
		if (old && bee_map_covers(old, start, end))
			return 0;
		map = bee_map_fill(old, in);
	} else {
		if (!old || !bee_map_overlaps(old, start, end))
			return 0;
		map = bee_map_cut(old, start, end);
	}
	if (managed_commit(m, old, map))
		return 1;
	if (!IS_ERR(map))
		bee_map_discard(map);
	return -EAGAIN;
}

/* Fill [start, end) with @in where there is no range; or without @in, empty it. */
static bool mm_change(const struct mm_struct *mm, u64 start, u64 end, const struct bee_range *in)
{
	struct bee_mm *m;
	int ret;

	do {
		rcu_read_lock();
		m = bee_mm_find(mm);
		ret = m ? managed_try_change(m, start, end, in) : 0;
		rcu_read_unlock();
	} while (ret == -EAGAIN);
	return ret;
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
	if (mm_is_managed(mm))
		mm_change(mm, start, end, NULL);
}

/*
 * Tell who has news, once each.  The flag is cleared first: what happens while
 * it is told is told again.
 */
static void mm_news_work(struct work_struct *work)
{
	struct bee_mm *m;

	rcu_read_lock();
	list_for_each_entry_rcu(m, &mm_list, node)
		if (READ_ONCE(m->news)) {
			WRITE_ONCE(m->news, false);
			mm_tell(m);
		}
	rcu_read_unlock();
}

/* Told at once: a library's first samples are lost until somebody has loaded it. */
static void mm_set_news(const struct mm_struct *mm)
{
	struct bee_mm *m;

	rcu_read_lock();
	m = bee_mm_find(mm);
	if (m)
		WRITE_ONCE(m->news, true);
	if (!READ_ONCE(mm_hushed))
		queue_work(mm_wq, &mm_news);
	rcu_read_unlock();
}

/**
 * bee_mm_attach() - executable memory has been mapped
 * @mm: the address space
 * @start: first address
 * @end: address after the last
 * @offset: byte of the file at @start
 * @file: the file, or NULL
 *
 * With the file's table, if the store has one; else as executable memory without
 * one, and whoever listens is told.  What is known to be mapped stays as it is:
 * mappings are reported again when they are split, merged or changed.
 *
 * Context: Any but NMI.
 */
void bee_mm_attach(const struct mm_struct *mm, u64 start, u64 end, u64 offset,
		   const struct file *file)
{
	struct bee_range in = { .start = start, .end = end };

	if (!mm_is_managed(mm))
		return;
	in.stored = file ? bee_store_get_file(file) : NULL;
	if (in.stored && !bee_table_bias(&in.stored->table, start, offset, &in.bias)) {
		bee_store_put(in.stored);
		in.stored = NULL;
	}
	if (mm_change(mm, start, end, &in) && file && !in.stored)
		mm_set_news(mm);
	if (in.stored)
		bee_store_put(in.stored);
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

	if (!mm_is_managed(parent))
		return;
	fresh = managed_alloc(child, NULL, false);
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
		managed_set_map(fresh, map);
		fresh = NULL;
	}
	raw_spin_unlock(&mm_lock);
	if (fresh)
		managed_free_now(fresh);
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
 * @wq: runs the freeing and the telling
 * @tell: tells the world that an address space has mapped a file without a table
 *
 * Context: Process.
 * Return: 0.
 */
int bee_mm_init(struct workqueue_struct *wq, bee_mm_tell_t tell)
{
	mm_wq = wq;
	mm_tell = tell;
	bee_map_init(wq);
	return 0;
}

/**
 * bee_mm_hush() - tell no more news
 *
 * Context: Process, may sleep.
 */
void bee_mm_hush(void)
{
	WRITE_ONCE(mm_hushed, true);
	/* A callback that has not seen that yet is over after a grace period. */
	synchronize_rcu();
	cancel_work_sync(&mm_news);
}

/**
 * bee_mm_exit() - forget all; the hooks are gone and no request can come
 *
 * Context: Process, may sleep.
 */
void bee_mm_exit(void)
{
	struct bee_mm *m, *next;

	raw_spin_lock(&mm_lock);
	list_for_each_entry_safe(m, next, &mm_list, node)
		managed_unpublish(m);
	raw_spin_unlock(&mm_lock);
	/* First until the grace periods are over and the work queued, then for it. */
	rcu_barrier();
	flush_workqueue(mm_wq);
}
