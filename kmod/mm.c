// SPDX-License-Identifier: GPL-2.0
/*
 * Managed address spaces: which ranges each one has.
 *
 * An address space is known by its mm_struct, held with mmgrab() as long as it is managed so
 * that the address is not reused.  Pids that are reused, exec (which makes a new mm) and threads
 * that exit therefore do not matter.
 *
 * A writer prepares a change without a lock, and carries it out under mm_lock if no other writer
 * was faster; otherwise it tries again.  See map.c for what a change is.
 *
 * Lock order: mm_lock (the hash, publication, who shares a map) has few locks inside of it, which
 * design.rst lists.  ftrace callbacks take it with preemption off, so it does not sleep with
 * PREEMPT_RT either; nothing is allocated or freed under it, and nothing that is done under it
 * takes longer the more ranges or address spaces there are.
 *
 * Who shares a map: an address space is in the list of its map.  If others are as well, all of them
 * have these ranges, from a fork; only one that is alone there may change the map.  The lists
 * change under mm_lock only.
 *
 * End of an address space: __mmput() reports it (uprobe_clear_state(), see hook.c).  struct
 * bee_mm is unhashed and its map dropped under mm_lock; both are freed a grace period later.
 * - Walks, dumps and callbacks use them under the RCU read lock only.
 * - Requests hold mm_users, so the mm cannot end, and mm_mutex, so that no other request can
 *   remove it (manage.c).
 * - Whoever creates a struct bee_mm holds mm_users, so none is created after the end.
 */
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>

#include "budget.h"
#include "mm.h"
#include "news.h"
#include "payer.h"
#include "reserve.h"
#include "rmap.h"
#include "store.h"
#include "stray.h"

#define MM_RESCAN_DELAY	(HZ / 10)

/*
 * If an address space loses its ranges again within this time, with PREEMPT_RT, they are looked up
 * after MM_RESCAN_DELAY and not in the next jiffy.
 */
#define MM_LOST_OFTEN	HZ

/*
 * At fork and exec a callback needs a struct bee_mm, and may not wait for memory.  If it got none,
 * the process would not be managed until it is sampled (stray.c), nor those that it forks later.
 * So this many are kept for when an allocation fails; with PREEMPT_RT callbacks have these alone.
 */
#define MM_RESERVE	(BEE_COMPAT_RT ? 256 : 64)

static DEFINE_RAW_SPINLOCK(mm_lock);
struct hlist_head bee_mm_hash[1 << BEE_MM_HASH_BITS];
/* Of all struct bee_mm, those that are @dead too.  RCU for reading. */
static DEFINE_XARRAY(mm_cookies);
static LIST_HEAD(mm_unsettled);		/* mm_lock */
static u32 mm_nr_unsettled;		/* mm_lock; length of mm_unsettled */
static LIST_HEAD(mm_gone);		/* mm_lock */
static struct workqueue_struct *mm_wq;
static struct delayed_work *mm_rescan;
static struct delayed_work *mm_settle;
static atomic64_t mm_last_cookie;
static unsigned int mm_seq = 1;		/* mm_lock; odd: see bee_mm_seq() */
static u32 mm_count;			/* mm_lock */
static u32 mm_ranges;			/* mm_lock */
static atomic64_t mm_lost;
static struct bee_mm *mm_reserve[MM_RESERVE];	/* mm_lock; not charged */
static u32 mm_reserved;			/* mm_lock; length of mm_reserve */
static void mm_refill_fn(struct work_struct *work);
static DECLARE_WORK(mm_refill, mm_refill_fn);

#define mm_dereference(p)	rcu_dereference_protected(p, lockdep_is_held(&mm_lock))

static bool mm_is_live(const struct bee_mm *m)
{
	/* With the release in mm_publish(). */
	return !smp_load_acquire(&m->dead);
}

static struct bee_mm *mm_take_reserve(void)
{
	struct bee_mm *m = NULL;

	raw_spin_lock(&mm_lock);
	if (mm_reserved) {
		WRITE_ONCE(mm_reserved, mm_reserved - 1);
		m = mm_reserve[mm_reserved];
	}
	raw_spin_unlock(&mm_lock);
	queue_work(system_highpri_wq, &mm_refill);
	return m;
}

/* Allocate without charging, and give it a cookie. */
static struct bee_mm *mm_alloc_bare(gfp_t gfp)
{
	struct bee_mm *m;

	if (bee_reserve_is_for(gfp))
		return mm_take_reserve();
	m = kzalloc(sizeof(*m), gfp | __GFP_NOWARN);
	if (!m)
		return NULL;
	m->dead = true;
	INIT_LIST_HEAD(&m->unsettled);
	INIT_LIST_HEAD(&m->gone);
	m->cookie = atomic64_inc_return(&mm_last_cookie);
	if (!xa_insert(&mm_cookies, m->cookie, m, gfp | __GFP_NOWARN))
		return m;
	kfree(m);
	return NULL;
}

static void mm_free_bare(struct bee_mm *m)
{
	xa_erase(&mm_cookies, m->cookie);
	/* Somebody may just look whether it is @dead. */
	kfree_rcu(m, free.rcu);
}

static void mm_free(struct bee_mm *m)
{
	bee_payer_uncharge_mm(m->payer, sizeof(*m) + bee_tally_bytes(&m->tally));
	bee_payer_put(m->payer);
	put_pid(m->pid);
	mmdrop(m->mm);
	free_percpu(m->tally.cpus);
	mm_free_bare(m);
}

/*
 * A work item, since an RCU callback may not call mmdrop(), and a callback of hook.c may not take
 * store_mutex.  The ranges have been dropped, so bee_store_prune() finds their files
 * lost.  Only a request may hold some longer; then a later bee_store_prune() removes the tables of
 * their files.
 */
static void mm_free_work(struct work_struct *work)
{
	struct bee_mm *m = container_of(to_rcu_work(work), struct bee_mm, free);

	if (READ_ONCE(m->has_tables)) {
		bee_file_owner_gone(m->cookie);
		bee_file_settle();
		bee_store_prune();
	}
	mm_free(m);
}

/* Fill @m, so that mm_publish() can follow. */
static struct bee_mm *mm_init_managed(struct bee_mm *m, struct mm_struct *mm, struct pid *pid,
				      struct bee_payer *payer)
{
	m->payer = bee_payer_hold(payer);
	mmgrab(mm);
	m->mm = mm;
	m->pid = get_pid(pid);
	m->look_delay = BEE_MM_LOOK_DELAY;
	m->look = jiffies;
	m->looked = jiffies;
	m->retry = jiffies - MM_LOST_OFTEN;
	INIT_RCU_WORK(&m->free, mm_free_work);
	return m;
}

static struct bee_mm *mm_alloc_managed(struct mm_struct *mm, struct pid *pid,
				       struct bee_payer *payer, gfp_t gfp)
{
	struct bee_mm *m;

	if (!bee_payer_charge_mm(payer, sizeof(*m)))
		return NULL;
	m = mm_alloc_bare(gfp);
	if (m)
		return mm_init_managed(m, mm, pid, payer);
	bee_payer_uncharge_mm(payer, sizeof(*m));
	return NULL;
}

static void mm_refill_fn(struct work_struct *work)
{
	struct bee_mm *m;

	while (READ_ONCE(mm_reserved) < MM_RESERVE) {
		m = mm_alloc_bare(GFP_KERNEL);
		if (!m)
			break;
		raw_spin_lock(&mm_lock);
		mm_reserve[mm_reserved] = m;
		WRITE_ONCE(mm_reserved, mm_reserved + 1);
		raw_spin_unlock(&mm_lock);
	}
}

static bool mm_charge_reserve(struct bee_payer *payer)
{
	if (!bee_payer_charge_reserve(payer, sizeof(struct bee_mm)))
		return false;
	if (bee_budget_charge_reserve(BEE_BUDGET_MMS, sizeof(struct bee_mm)))
		return true;
	bee_payer_uncharge(payer, sizeof(struct bee_mm));
	return false;
}

/* As mm_alloc_managed(), for forks and execs: the last resort is the reserve. */
static struct bee_mm *mm_alloc_followed(struct mm_struct *mm, struct pid *pid,
					struct bee_payer *payer)
{
	struct bee_mm *m = mm_alloc_managed(mm, pid, payer, GFP_NOWAIT);

	if (m || !mm_charge_reserve(payer))
		return m;
	m = mm_take_reserve();
	if (m)
		mm_init_managed(m, mm, pid, payer);
	else
		bee_payer_uncharge_mm(payer, sizeof(*m));
	return m;
}

static struct bee_mm *mm_alloc_callback(struct mm_struct *mm, struct pid *pid)
{
	struct bee_payer *payer = bee_payer_get_current(GFP_NOWAIT);
	struct bee_mm *m = payer ? mm_alloc_followed(mm, pid, payer) : NULL;

	bee_payer_put(payer);
	return m;
}

static void mm_publish(struct bee_mm *m)
{
	lockdep_assert_held(&mm_lock);
	/* With the acquire in mm_is_live(). */
	smp_store_release(&m->dead, false);
	hlist_add_head_rcu(&m->by_mm, bee_mm_bucket(m->mm));
	WRITE_ONCE(mm_count, mm_count + 1);
	/* After the above, and with a barrier: see bee_mm_is_wanted(). */
	bee_stray_del(m->mm);
	WRITE_ONCE(mm_seq, mm_seq + 2);
}

/* The ranges of @m have changed, their number by @more, modulo 2^32. */
static void mm_changed(struct bee_mm *m, u32 more)
{
	lockdep_assert_held(&mm_lock);
	/* After the ranges: a reader that sees the new generation sees them. */
	smp_store_release(&m->generation, m->generation + 1);
	WRITE_ONCE(mm_ranges, mm_ranges + more);
	WRITE_ONCE(mm_seq, mm_seq + 2);
}

/*
 * Replace the map by @map, whose reference passes to @m; either may be NULL.
 *
 * Return: the old map; the caller drops it by bee_map_put() after it has released mm_lock, as
 * that can take long.
 */
static struct bee_map *mm_set_map(struct bee_mm *m, struct bee_map *map)
{
	struct bee_map *old = mm_dereference(m->map);

	if (old)
		hlist_del_rcu(&m->by_map);
	if (map)
		hlist_add_head_rcu(&m->by_map, &map->mms);
	rcu_assign_pointer(m->map, map);
	mm_changed(m, (map ? map->nr : 0) - (old ? old->nr : 0));
	return old;
}

/* @m is lost, or has ranges of bee_file_unknown: see bee_mm_settle().  @delay: jiffies, at most. */
static void mm_set_unsettled(struct bee_mm *m, unsigned long delay)
{
	lockdep_assert_held(&mm_lock);
	if (m->dead || !list_empty(&m->unsettled))
		return;
	list_add_tail(&m->unsettled, &mm_unsettled);
	WRITE_ONCE(mm_nr_unsettled, mm_nr_unsettled + 1);
	queue_delayed_work(mm_wq, mm_settle, delay);
}

static void mm_clear_unsettled(struct bee_mm *m)
{
	lockdep_assert_held(&mm_lock);
	if (list_empty(&m->unsettled))
		return;
	list_del_init(&m->unsettled);
	WRITE_ONCE(mm_nr_unsettled, mm_nr_unsettled - 1);
}

/* Return: as mm_set_map(). */
static struct bee_map *mm_unpublish(struct bee_mm *m)
{
	struct bee_map *old;

	lockdep_assert_held(&mm_lock);
	old = mm_set_map(m, NULL);
	mm_clear_unsettled(m);
	list_del_init(&m->gone);
	WRITE_ONCE(m->dead, true);
	hlist_del_rcu(&m->by_mm);
	WRITE_ONCE(mm_count, mm_count - 1);
	queue_rcu_work(mm_wq, &m->free);
	return old;
}

/**
 * bee_mm_get_list() - the ranges, for a request that makes others from them
 * @m: the address space
 * @generation: filled, for bee_mm_commit_map()
 * @extack: the reason of a failure; or NULL
 *
 * Context: Process, may sleep.  Caller keeps @m alive.
 * Return: the ranges of @generation; -ESTALE if they have been changed meanwhile, -ENOMEM.
 */
struct bee_map_list *bee_mm_get_list(const struct bee_mm *m, u64 *generation,
				     struct netlink_ext_ack *extack)
{
	const struct bee_map *map;
	struct bee_map_list *list;
	bool good;
	u32 nr;

	/* Before the map, which mm_set_map() writes first. */
	*generation = smp_load_acquire(&m->generation);
	rcu_read_lock();
	map = rcu_dereference(m->map);
	nr = map ? READ_ONCE(map->nr) : 0;
	rcu_read_unlock();
	list = bee_map_list_alloc(nr, extack);
	if (IS_ERR(list))
		return list;
	rcu_read_lock();
	good = bee_map_list_copy(list, rcu_dereference(m->map)) &&
	       bee_mm_is_unchanged(m, *generation);
	rcu_read_unlock();
	if (good)
		return list;
	bee_map_list_free(list);
	return ERR_PTR(-ESTALE);
}

/**
 * bee_mm_commit_map() - replace the ranges, if nobody else has done so meanwhile
 * @m: the address space
 * @generation: of the ranges from which the new ones were made
 * @map: the new ranges or NULL; the caller's reference is taken over.  If the ranges of @generation
 *	were lost, these are what is mapped
 * @by_hand: a request has changed them since they were last looked up
 *
 * Context: Any but NMI.  Caller keeps @m alive.
 * Return: false if the ranges have changed since, or @m is dead; @map is dropped then.
 */
bool bee_mm_commit_map(struct bee_mm *m, u64 generation, struct bee_map *map, bool by_hand)
{
	bool done;

	raw_spin_lock(&mm_lock);
	done = !m->dead && m->generation == generation;
	if (done) {
		WRITE_ONCE(m->lost, false);
		WRITE_ONCE(m->by_hand, by_hand);
		map = mm_set_map(m, map);
	}
	raw_spin_unlock(&mm_lock);
	bee_map_put(map);
	return done;
}

/**
 * bee_mm_new() - begin to manage an address space
 * @mm: the address space; the caller holds mm_users, and no one else can begin to manage it
 * @pid: a process in it, for listings
 * @payer: to whom it is charged
 * @map: its ranges, as a request gives them, or NULL; the caller's reference is taken over
 *
 * Context: Process, may sleep.
 * Return: the managed address space; or NULL: out of memory or over budget, and @map is dropped.
 */
struct bee_mm *bee_mm_new(struct mm_struct *mm, struct pid *pid, struct bee_payer *payer,
			  struct bee_map *map)
{
	struct bee_mm *m = mm_alloc_managed(mm, pid, payer, GFP_KERNEL_ACCOUNT);

	if (!m) {
		bee_map_put(map);
		return NULL;
	}
	m->by_hand = map;
	raw_spin_lock(&mm_lock);
	mm_publish(m);
	if (map)
		mm_set_map(m, map);
	raw_spin_unlock(&mm_lock);
	return m;
}

/** bee_mm_get_state() - state as published.  Context: Any but NMI.  Caller keeps @m alive. */
void bee_mm_get_state(const struct bee_mm *m, struct bee_mm_state *state)
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
 * bee_mm_is_managed() - is an address space managed?
 * @mm: the address space
 *
 * Takes no lock, as callbacks ask for every process and few are managed.
 *
 * Context: Any.
 * Return: whether it is.
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
 * bee_mm_is_wanted() - is an address space managed, or a stray?
 * @mm: the address space
 *
 * When a stray becomes managed, mm_publish() puts it into the hash first and removes it from the
 * strays afterwards, so it is found in one of them at any time.
 *
 * Context: Any.
 * Return: whether it is.
 */
bool bee_mm_is_wanted(const struct mm_struct *mm)
{
	if (bee_stray_find(mm))
		return true;
	/* With the barrier of bee_stray_del(). */
	smp_rmb();
	return bee_mm_is_managed(mm);
}

/** bee_mm_forget() - stop managing @mm, if it is managed.  Context: Any but NMI. */
void bee_mm_forget(const struct mm_struct *mm)
{
	struct bee_map *map = NULL;
	struct bee_mm *m;

	if (!bee_mm_is_managed(mm))
		return;
	/* mm_free_work() begins when the ranges have been dropped. */
	rcu_read_lock();
	raw_spin_lock(&mm_lock);
	m = bee_mm_find(mm);
	if (m)
		map = mm_unpublish(m);
	raw_spin_unlock(&mm_lock);
	bee_map_put(map);
	rcu_read_unlock();
}

/**
 * bee_mm_forget_cookie() - as bee_mm_forget(), by the cookie
 * @cookie: of the address space
 *
 * Context: Any but NMI.
 * Return: whether there was one.
 */
bool bee_mm_forget_cookie(u64 cookie)
{
	struct bee_map *map = NULL;
	struct bee_mm *m;
	bool found;

	rcu_read_lock();
	m = xa_load(&mm_cookies, cookie);
	raw_spin_lock(&mm_lock);
	found = m && !m->dead;
	if (found)
		map = mm_unpublish(m);
	raw_spin_unlock(&mm_lock);
	/* As in bee_mm_forget(). */
	bee_map_put(map);
	rcu_read_unlock();
	return found;
}

/* manage.c finds its ranges again. */
static void mm_set_lost(struct bee_mm *m)
{
	bool often = time_before(jiffies, m->retry + MM_LOST_OFTEN);

	lockdep_assert_held(&mm_lock);
	WRITE_ONCE(m->delay, MM_RESCAN_DELAY);
	WRITE_ONCE(m->retry, jiffies + MM_RESCAN_DELAY);
	WRITE_ONCE(m->lost, true);
	queue_delayed_work(mm_wq, mm_rescan, MM_RESCAN_DELAY);
	/*
	 * With PREEMPT_RT ranges are mostly lost because a reserve was used up, not because memory
	 * is short.  A worker fills the reserve again at once, so the next jiffy is soon enough.
	 * But a process can have more ranges than anything in the reserve has room for, and would
	 * keep the worker busy.
	 */
	if (BEE_COMPAT_RT && !often)
		mm_set_unsettled(m, 1);
}

/* Return: as mm_set_map(). */
static struct bee_map *mm_lose(struct bee_mm *m)
{
	lockdep_assert_held(&mm_lock);
	if (m->dead || m->lost)
		return NULL;
	/* First, so that who has read the new generation sees that the ranges are lost. */
	mm_set_lost(m);
	atomic64_inc(&mm_lost);
	return mm_set_map(m, NULL);
}

/**
 * bee_mm_lose() - the address space loses all its ranges, rather than keep ranges that may be wrong
 * @m: the address space; the caller keeps it alive
 *
 * For want of memory.  Its stacks are perf's own until a rescan succeeds (manage.c).
 *
 * Context: Any but NMI.
 */
void bee_mm_lose(struct bee_mm *m)
{
	struct bee_map *map;

	raw_spin_lock(&mm_lock);
	map = mm_lose(m);
	raw_spin_unlock(&mm_lock);
	bee_map_put(map);
}

/* As bee_mm_lose(), if the ranges are those of @generation.  Return: whether they are. */
static bool mm_lose_unchanged(struct bee_mm *m, u64 generation)
{
	struct bee_map *map = NULL;
	bool unchanged;

	raw_spin_lock(&mm_lock);
	unchanged = m->generation == generation;
	if (unchanged)
		map = mm_lose(m);
	raw_spin_unlock(&mm_lock);
	bee_map_put(map);
	return unchanged;
}

/* Give @m, which shares its map, one of its own with these ranges.  Return: as mm_try_change(). */
static int mm_unshare(struct bee_mm *m, struct bee_map *shared, u64 generation)
{
	struct bee_map *map = bee_map_copy(shared, m->payer);
	bool done;

	if (IS_ERR(map))
		return PTR_ERR(map);
	raw_spin_lock(&mm_lock);
	done = !m->dead && m->generation == generation && mm_dereference(m->map) == shared;
	if (done) {
		hlist_del_rcu(&m->by_map);
		hlist_add_head_rcu(&m->by_map, &map->mms);
		rcu_assign_pointer(m->map, map);
		/* The ranges are the same, but a search may have missed @m in both lists. */
		WRITE_ONCE(mm_seq, mm_seq + 2);
	}
	raw_spin_unlock(&mm_lock);
	bee_map_put(done ? shared : map);
	return -EAGAIN;
}

/* Whether @map may be changed as was prepared while @m was of this generation. */
static bool mm_may_change(const struct bee_mm *m, const struct bee_map *map, u64 generation)
{
	lockdep_assert_held(&mm_lock);
	return !m->dead && m->generation == generation && mm_dereference(m->map) == map &&
	       bee_map_is_single(map);
}

/* The map of @m has a range that has gone.  @delay: jiffies until it is to be removed. */
static void mm_set_gone(struct bee_mm *m, unsigned long delay)
{
	lockdep_assert_held(&mm_lock);
	if (m->dead || !list_empty(&m->gone))
		return;
	list_add_tail(&m->gone, &mm_gone);
	queue_delayed_work(mm_wq, mm_settle, delay);
}

/*
 * Let @range, from bee_map_ask(), go (@in is NULL), or come back with the end of @in.
 * Return: as mm_try_change().
 */
static int mm_turn(struct bee_mm *m, struct bee_map *map, struct bee_range *range,
		   const struct bee_range *in, u64 generation)
{
	u32 before;
	bool done;

	raw_spin_lock(&mm_lock);
	done = mm_may_change(m, map, generation);
	if (done) {
		before = map->nr;
		bee_map_turn(map, range, in ? in->end : range->start);
		mm_changed(m, map->nr - before);
		if (map->gone)
			mm_set_gone(m, 1);
	}
	raw_spin_unlock(&mm_lock);
	return done ? 0 : -EAGAIN;
}

static bool mm_carry_out(struct bee_mm *m, struct bee_map_change *change, u64 generation)
{
	struct bee_map *map = change->map;
	bool done;

	raw_spin_lock(&mm_lock);
	done = mm_may_change(m, map, generation);
	if (done) {
		u32 more = change->nr - map->nr;

		bee_map_carry_out(change);
		mm_changed(m, more);
	}
	raw_spin_unlock(&mm_lock);
	bee_map_finish(change, done);
	return done;
}

/* Return: 0 or -errno; -EAGAIN: another writer was faster, or @m has a map of its own now. */
static int mm_try_change(struct bee_mm *m, u64 start, u64 end, const struct bee_range *in,
			 u64 generation)
{
	struct bee_map *map = rcu_dereference(m->map);
	struct bee_map_change change;
	struct bee_range *range;
	enum bee_map_way way;
	int ret;

	/* Most calls change nothing: they end here, without a write that other CPUs would see. */
	way = bee_map_ask(map, start, end, in, &range);
	if (way == BEE_MAP_SAME || READ_ONCE(m->lost) || READ_ONCE(m->dead))
		return 0;
	if (!map) {
		map = bee_map_new(in, m->payer);
		if (IS_ERR(map))
			return PTR_ERR(map);
		return bee_mm_commit_map(m, generation, map, READ_ONCE(m->by_hand)) ? 0 : -EAGAIN;
	}
	if (map->payer != m->payer || !bee_map_is_single(map))
		return mm_unshare(m, map, generation);
	if (way == BEE_MAP_TURN)
		return mm_turn(m, map, range, in, generation);
	ret = bee_map_prepare(&change, map, start, end, in);
	if (ret > 0)
		return bee_mm_commit_map(m, generation, NULL, READ_ONCE(m->by_hand)) ? 0 : -EAGAIN;
	if (ret)
		return ret;
	return mm_carry_out(m, &change, generation) ? 0 : -EAGAIN;
}

/*
 * Whether mm_try_change(), whose result is @ret, is to be called again.  If it has failed for good
 * the ranges are lost.
 */
static bool mm_is_to_try_again(struct bee_mm *m, int ret, u64 generation)
{
	if (!ret)
		return false;
	if (ret != -EAGAIN && mm_lose_unchanged(m, generation))
		return false;
	cpu_relax();
	return true;
}

/* Replace [start, end) by @in, or with NULL remove it.  Under RCU. */
static void mm_change(struct bee_mm *m, u64 start, u64 end, const struct bee_range *in)
{
	u64 generation;
	int ret;

	do {
		/* Before the map, which mm_set_map() writes first. */
		generation = smp_load_acquire(&m->generation);
		ret = mm_try_change(m, start, end, in, generation);
	} while (mm_is_to_try_again(m, ret, generation));
}

/*
 * Remove from its chunk the range that has gone, if there is one.  Under RCU.
 * @generation: filled.  Return: as mm_try_change().
 */
static int mm_try_drop_gone(struct bee_mm *m, u64 *generation)
{
	const struct bee_map *map;
	u64 gone;

	/* Before the map, as in mm_change(). */
	*generation = smp_load_acquire(&m->generation);
	map = rcu_dereference(m->map);
	gone = map ? READ_ONCE(map->gone) : 0;
	/* If it comes back meanwhile, the generation is another one. */
	return gone ? mm_try_change(m, gone, gone + PAGE_SIZE, NULL, *generation) : 0;
}

/*
 * Before @m's map is shared with a forked child: remove the range that has gone, if there is one.  No callback
 * changes the map meanwhile.  Under RCU.
 *
 * Return: true; false if there is no memory for it, and the range is still there.
 */
static bool mm_drop_gone(struct bee_mm *m)
{
	u64 generation;
	int ret;

	while ((ret = mm_try_drop_gone(m, &generation)) == -EAGAIN)
		cpu_relax();
	return !ret;
}

/**
 * bee_mm_drop_gone() - remove ranges that have been unmapped, and have not come back, for good
 *
 * Those that were unmapped before; the caller sees to it that there is one call at a time.  Each is
 * tried once: the process may be changing its map all the time.  If memory is short, it stays: it
 * does no harm.
 *
 * Context: Process, may sleep.
 */
void bee_mm_drop_gone(void)
{
	struct bee_mm *m;
	LIST_HEAD(gone);
	u64 generation;

	raw_spin_lock(&mm_lock);
	list_splice_init(&mm_gone, &gone);
	raw_spin_unlock(&mm_lock);
	do {
		rcu_read_lock();
		raw_spin_lock(&mm_lock);
		m = list_first_entry_or_null(&gone, struct bee_mm, gone);
		if (m)
			list_del_init(&m->gone);
		raw_spin_unlock(&mm_lock);
		if (m && mm_try_drop_gone(m, &generation)) {
			raw_spin_lock(&mm_lock);
			mm_set_gone(m, MM_RESCAN_DELAY);
			raw_spin_unlock(&mm_lock);
		}
		rcu_read_unlock();
		cond_resched();
	} while (m);
}

/**
 * bee_mm_unmap() - [@start, @end) of @mm is being unmapped
 * @mm: the address space
 * @start: first address
 * @end: address after the last
 *
 * If no range is there it only reads.
 *
 * Context: Any but NMI.
 */
void bee_mm_unmap(const struct mm_struct *mm, u64 start, u64 end)
{
	struct bee_mm *m;

	if (!READ_ONCE(mm_count))
		return;
	rcu_read_lock();
	m = bee_mm_find(mm);
	if (m)
		mm_change(m, start, end, NULL);
	rcu_read_unlock();
}

/*
 * The callback that runs has given a range bee_file_unknown.  A worker will look for the file, and
 * tell user space of it if @announce.
 */
static void mm_attach_later(struct bee_mm *m, bool announce)
{
	raw_spin_lock(&mm_lock);
	m->changer = current->tgid;
	m->announce |= announce;
	m->unknown = true;
	mm_set_unsettled(m, 1);
	raw_spin_unlock(&mm_lock);
}

/**
 * bee_mm_attach() - executable memory has been mapped, or a mapping has changed
 * @vma: a mapping of it
 * @start: first address
 * @end: address after the last
 * @offset: byte of the mapping's file at @start
 * @announce: tell user space at once if the file has no table
 *
 * Replaces whatever ranges are there, unless they already say the same: mappings are reported
 * again when they are split, merged or changed.
 *
 * Context: Any but NMI.  mmap_lock of the address space held.
 */
void bee_mm_attach(const struct vm_area_struct *vma, u64 start, u64 end, u64 offset,
		   bool announce)
{
	struct bee_range in = { .start = start, .end = end, .offset = offset };
	const struct bee_range *there = NULL;
	const struct bee_map *map;
	struct bee_mm *m;

	if (!READ_ONCE(mm_count))
		return;
	rcu_read_lock();
	m = bee_mm_find(vma->vm_mm);
	if (!m || READ_ONCE(m->lost))
		goto unlock;
	map = rcu_dereference(m->map);
	if (map)
		there = bee_map_find(map, start);
	in.file = bee_map_get_file(there, vma, m->payer, GFP_NOWAIT);
	if (IS_ERR(in.file)) {
		bee_mm_lose(m);
		goto unlock;
	}
	if (!in.file)
		in.offset = 0;
	mm_change(m, start, end, &in);
	if (in.file == &bee_file_unknown)
		mm_attach_later(m, announce);
	else if (announce && in.file && !rcu_access_pointer(in.file->table))
		bee_news_announce(in.file, current->tgid, m->payer->uid, start, end);
	bee_file_put_nowait(in.file);
unlock:
	rcu_read_unlock();
}

static void mm_stray(const struct mm_struct *mm)
{
	bee_stray_add(mm);
	atomic64_inc(&mm_lost);
}

/**
 * bee_mm_exec() - manage an address space that has no mappings yet
 * @mm: the address space; the caller holds mm_users
 * @pid: the process that will run in it
 *
 * Without memory, and if the reserve is used up too, it is a stray.
 *
 * Context: Any but NMI.
 */
void bee_mm_exec(struct mm_struct *mm, struct pid *pid)
{
	struct bee_mm *m;

	if (bee_mm_is_managed(mm))
		return;
	m = mm_alloc_callback(mm, pid);
	if (!m) {
		mm_stray(mm);
		return;
	}
	raw_spin_lock(&mm_lock);
	mm_publish(m);
	raw_spin_unlock(&mm_lock);
}

/* Give @child, which has no map, that of @parent. */
static void mm_share(struct bee_mm *child, const struct bee_mm *parent)
{
	struct bee_map *map = mm_dereference(parent->map);

	if (map)
		refcount_inc(&map->refs);
	WRITE_ONCE(child->has_tables, READ_ONCE(parent->has_tables));
	WRITE_ONCE(child->by_hand, READ_ONCE(parent->by_hand));
	mm_set_map(child, map);
	if (parent->lost)
		mm_set_lost(child);
	/* It need not be in the list any more: the worker may be waiting for its mmap_lock. */
	if (parent->unknown) {
		child->changer = parent->changer;
		child->announce = parent->announce;
		child->unknown = true;
		mm_set_unsettled(child, 1);
	}
}

/**
 * bee_mm_fork() - manage the copy of an address space, if the original is managed
 * @parent: the original
 * @child: the copy, which no one runs in yet
 *
 * Both share one map until one of them changes.  Without memory, and if the reserve is used up too,
 * the child is a stray; so are children of strays.  If there is none to remove a range that has gone
 * the child has lost its ranges; its parent keeps its own.
 *
 * Context: Any but NMI.  mmap_lock of @parent held for writing.
 */
void bee_mm_fork(const struct mm_struct *parent, struct mm_struct *child)
{
	struct bee_mm *m, *fresh = NULL;
	bool stray = bee_stray_find(parent), whole = true;

	/* In this order, as in bee_mm_is_wanted(). */
	smp_rmb();
	if (bee_mm_is_managed(parent)) {
		/* A live patch with a function of the same name has the callback called twice. */
		if (bee_mm_is_managed(child))
			return;
		fresh = mm_alloc_callback(child, NULL);
	} else if (!stray) {
		return;
	}
	if (!fresh) {
		mm_stray(child);
		return;
	}
	/* Remove the range that has gone first: a map that two address spaces share has none. */
	rcu_read_lock();
	m = bee_mm_find(parent);
	if (m)
		whole = mm_drop_gone(m);
	rcu_read_unlock();
	raw_spin_lock(&mm_lock);
	m = bee_mm_find(parent);
	if (m) {
		mm_publish(fresh);
		if (whole)
			mm_share(fresh, m);
		else
			mm_lose(fresh);
	}
	raw_spin_unlock(&mm_lock);
	/* A work item frees it: with PREEMPT_RT a callback may not. */
	if (!m)
		queue_rcu_work(mm_wq, &fresh->free);
}

/**
 * bee_mm_get_unsettled() - an address space that callbacks could not follow
 *
 * Context: Any but NMI.
 * Return: the address space with mm_users held, for bee_mm_settle(), or if it is lost for a look at
 * what is mapped; NULL if there is none.
 */
struct mm_struct *bee_mm_get_unsettled(void)
{
	struct mm_struct *mm = NULL;
	struct bee_mm *m;

	raw_spin_lock(&mm_lock);
	while (!mm && !list_empty(&mm_unsettled)) {
		m = list_first_entry(&mm_unsettled, struct bee_mm, unsettled);
		mm_clear_unsettled(m);
		if (mmget_not_zero(m->mm))
			mm = m->mm;
	}
	raw_spin_unlock(&mm_lock);
	return mm;
}

/** bee_mm_nr_unsettled() - how many bee_mm_get_unsettled() would find.  Context: Any. */
u32 bee_mm_nr_unsettled(void)
{
	return READ_ONCE(mm_nr_unsettled);
}

/**
 * bee_mm_unsettle() - have an address space settled later, if it is managed
 * @mm: the address space
 *
 * The worker waits a while before, as it would find the mmap_lock held again and again.
 *
 * Context: Any but NMI.
 */
void bee_mm_unsettle(const struct mm_struct *mm)
{
	struct bee_mm *m;

	raw_spin_lock(&mm_lock);
	m = bee_mm_find(mm);
	if (m)
		mm_set_unsettled(m, MM_RESCAN_DELAY);
	raw_spin_unlock(&mm_lock);
}

/*
 * Find the first range that ends after @addr and whose file no callback has looked for yet.
 * Return: whether there is one; it is in @range.
 */
static bool mm_next_unknown(const struct bee_mm *m, u64 addr, struct bee_range *range)
{
	struct bee_map_cursor cursor;
	const struct bee_range *r;

	rcu_read_lock();
	/* Not from the first range on: there can be thousands of unknown ones. */
	bee_map_seek(&cursor, rcu_dereference(m->map), addr);
	while ((r = bee_map_next(&cursor)))
		if (r->file == &bee_file_unknown)
			break;
	if (r)
		*range = *r;
	rcu_read_unlock();
	return r;
}

/* Replace what one mapping has of [start, end).  Return: the address after it. */
static u64 mm_settle_mapping(struct bee_mm *m, u64 start, u64 end, bool announce)
{
	struct vm_area_struct *vma = vma_lookup(m->mm, start);
	struct bee_range in = { .start = start };

	in.end = vma ? min_t(u64, end, vma->vm_end) : end;
	if (vma && vma->vm_flags & VM_EXEC) {
		in.file = bee_file_get_vma(vma, m->payer, GFP_KERNEL);
		if (IS_ERR(in.file)) {
			bee_mm_lose(m);
			return U64_MAX;
		}
		if (in.file)
			in.offset = start - vma->vm_start + ((u64)vma->vm_pgoff << PAGE_SHIFT);
	} else {
		vma = NULL;
	}
	rcu_read_lock();
	mm_change(m, start, in.end, vma ? &in : NULL);
	rcu_read_unlock();
	if (announce && in.file && !rcu_access_pointer(in.file->table))
		bee_news_announce(in.file, m->changer, m->payer->uid, start, in.end);
	bee_file_put(in.file);
	return in.end;
}

/**
 * bee_mm_settle() - give ranges of bee_file_unknown their files
 * @m: the address space; the caller keeps it alive
 *
 * Context: Process, may sleep.  mmap_lock of the address space held.
 */
void bee_mm_settle(struct bee_mm *m)
{
	struct bee_range r;
	bool announce;
	u64 addr = 0;

	mmap_assert_locked(m->mm);
	raw_spin_lock(&mm_lock);
	announce = m->announce;
	m->announce = false;
	m->unknown = false;
	raw_spin_unlock(&mm_lock);
	while (mm_next_unknown(m, addr, &r))
		addr = mm_settle_mapping(m, max(r.start, addr), r.end, announce);
}

/**
 * bee_mm_next() - the first managed address space from a cookie on
 * @cookie: the first cookie wanted
 * @only: if not NULL, none but this one
 *
 * Context: Process.  Caller holds the RCU read lock, which keeps the result and its map.
 * Return: the address space, or NULL.
 */
const struct bee_mm *bee_mm_next(u64 cookie, const struct mm_struct *only)
{
	const struct bee_mm *m;
	unsigned long at;

	if (only) {
		m = bee_mm_find(only);
		return m && m->cookie >= cookie ? m : NULL;
	}
	xa_for_each_start(&mm_cookies, at, m, cookie)
		if (mm_is_live(m))
			return m;
	return NULL;
}

/**
 * bee_mm_next_lost() - as bee_mm_next(), of those that have lost their ranges
 * @cookie: the first one that is wanted
 *
 * Context: as bee_mm_next().
 * Return: as bee_mm_next().
 */
struct bee_mm *bee_mm_next_lost(u64 cookie)
{
	struct bee_mm *m;
	unsigned long at;

	xa_for_each_start(&mm_cookies, at, m, cookie)
		if (mm_is_live(m) && READ_ONCE(m->lost))
			return m;
	return NULL;
}

static DEFINE_MUTEX(mm_search_mutex);	/* outside of all locks of this file */
static u32 mm_searches;			/* mm_search_mutex */

/*
 * Search the list of @f for address spaces, each at most once: a map that has the file more
 * than once notes in which search it was found.  Writes the cookies of the first @room.
 * Return: how many there are.
 */
static u32 mm_search_users(const struct bee_file *f, u64 *cookies, u32 room)
{
	const struct bee_rmap_node *node;
	const struct bee_mm *m;
	u32 nr = 0;

	mutex_lock(&mm_search_mutex);
	/* 0 is that of a new map. */
	mm_searches += 1 + (mm_searches == U32_MAX);
	rcu_read_lock();
	hlist_for_each_entry_rcu(node, &f->rmap, in_file) {
		if (node->map->seen == mm_searches)
			continue;
		node->map->seen = mm_searches;
		hlist_for_each_entry_rcu(m, &node->map->mms, by_map) {
			if (nr < room)
				cookies[nr] = m->cookie;
			nr++;
		}
	}
	rcu_read_unlock();
	mutex_unlock(&mm_search_mutex);
	return nr;
}

/**
 * bee_mm_count_users() - how many address spaces have a file mapped
 * @f: the file; the caller holds a reference
 *
 * Takes time in proportion to the ranges that refer to the file.
 *
 * Context: Process, may sleep.
 * Return: the number; an address space that changes its ranges meanwhile may be counted or not.
 */
u32 bee_mm_count_users(const struct bee_file *f)
{
	return mm_search_users(f, NULL, 0);
}

/**
 * bee_mm_move_file() - find a user whose share has room for a file that is mapped
 * @f: the file; the caller holds a reference
 * @bytes: that are to be charged for it next
 *
 * Takes time in proportion to the ranges that have it mapped.
 *
 * Context: Process.
 * Return: whether another user pays for it than before.
 */
bool bee_mm_move_file(struct bee_file *f, u64 bytes)
{
	const struct bee_rmap_node *node;
	struct bee_payer *last = NULL;
	int ret = -ENOENT;

	rcu_read_lock();
	hlist_for_each_entry_rcu(node, &f->rmap, in_file) {
		if (node->map->payer == last)
			continue;
		ret = bee_file_move(f, node->map->payer, &node->in_file, bytes);
		if (!ret)
			break;
		if (ret == -EDQUOT)
			last = node->map->payer;
	}
	rcu_read_unlock();
	return !ret;
}

static int cookie_compare(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/**
 * bee_mm_list_users() - the address spaces that have a file mapped
 * @f: the file; the caller holds a reference
 * @cookies: their cookies, ascending; the caller frees them by kvfree().  Some may have ended or no
 *	longer have it mapped
 * @nr: length of @cookies
 * @seq: bee_mm_seq() before: if it is another one afterwards, some may be missing or be there twice
 *
 * Takes time in proportion to the ranges that refer to the file.
 *
 * Context: Process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int bee_mm_list_users(const struct bee_file *f, u64 **cookies, u32 *nr, unsigned int *seq)
{
	u32 found = bee_mm_count_users(f), room;

	do {
		room = found;
		*seq = bee_mm_seq();
		*cookies = kvmalloc_array(room + 1, sizeof(**cookies), GFP_KERNEL_ACCOUNT);
		if (!*cookies)
			return -ENOMEM;
		found = mm_search_users(f, *cookies, room);
		if (found > room)
			kvfree(*cookies);
	} while (found > room);
	/*
	 * mm_unshare() moves an address space between lists and then changes mm_seq, both under
	 * mm_lock.  If the search ran in between, the caller must see the change.
	 */
	raw_spin_lock(&mm_lock);
	raw_spin_unlock(&mm_lock);
	sort(*cookies, found, sizeof(**cookies), cookie_compare, NULL);
	*nr = found;
	return 0;
}

/**
 * bee_mm_seq() - for dumps, a number that changes with every change of a managed address space
 *
 * Context: Any.
 * Return: the number; odd, so never 0, which genl_dump_check_consistent() does not compare.
 */
unsigned int bee_mm_seq(void)
{
	return READ_ONCE(mm_seq);
}

/** bee_mm_sum() - sums over all managed address spaces.  Context: Any. */
void bee_mm_sum(struct bee_mm_totals *totals)
{
	totals->mms = READ_ONCE(mm_count);
	totals->ranges = READ_ONCE(mm_ranges);
	totals->lost = atomic64_read(&mm_lost);
}

/**
 * bee_mm_spread() - give each CPU counters of its own for the walks of an address space
 * @cookie: the address space, which may be gone
 *
 * As bee_file_spread().
 *
 * Context: Process, may sleep; one at a time.
 */
void bee_mm_spread(u64 cookie)
{
	struct bee_tally_cpu __percpu *cpus = bee_tally_alloc();
	struct bee_mm *m;

	rcu_read_lock();
	m = xa_load(&mm_cookies, cookie);
	if (cpus && m && mm_is_live(m) && !m->tally.cpus &&
	    bee_payer_charge_mm(m->payer, bee_tally_spread_bytes())) {
		bee_tally_spread(&m->tally, cpus);
		cpus = NULL;
	}
	rcu_read_unlock();
	free_percpu(cpus);
}

/**
 * bee_mm_init() - prepare to manage address spaces
 * @wq: runs @rescan and frees address spaces
 * @rescan: queued when an address space has lost its ranges, to find them again
 * @settle: queued when there is one for bee_mm_get_unsettled() or bee_mm_drop_gone()
 *
 * Context: Process, may sleep.
 */
void bee_mm_init(struct workqueue_struct *wq, struct delayed_work *rescan,
		 struct delayed_work *settle)
{
	mm_wq = wq;
	mm_rescan = rescan;
	mm_settle = settle;
	mm_refill_fn(&mm_refill);
}

/**
 * bee_mm_exit() - forget all address spaces, and drop their references on files
 *
 * There are no callbacks and no requests any more.
 *
 * Context: Process, may sleep.
 */
void bee_mm_exit(void)
{
	unsigned long cookie;
	struct bee_mm *m;

	xa_for_each(&mm_cookies, cookie, m)
		bee_mm_forget_cookie(cookie);
	/* queue_rcu_work() queues the work after a grace period, so wait for that first. */
	rcu_barrier();
	flush_workqueue(mm_wq);
	cancel_work_sync(&mm_refill);
	while (mm_reserved)
		mm_free_bare(mm_reserve[--mm_reserved]);
	bee_file_settle();
}
