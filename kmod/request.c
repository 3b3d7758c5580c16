// SPDX-License-Identifier: GPL-2.0
/*
 * Requests about address spaces, and the looking again for ranges that were lost.
 *
 * Locks: mm_mutex (one request at a time) before mmap_lock, which is tried for a second:
 * its owner can hold it for as long as he likes, say in a page fault of a file whose
 * FUSE server he is, and generic netlink, of all families, would come to wait for him.
 * The caller has the mm from get_task_mm(); that and mm_mutex keep its struct bee_mm,
 * once found, where it is.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "mm.h"
#include "mm_impl.h"

static DEFINE_MUTEX(mm_mutex);
static struct workqueue_struct *request_wq;

/* Ranges that were lost are looked for again: soon, then less and less often. */
#define MM_FIND_FIRST	(HZ / 10)
#define MM_FIND_LAST	(60 * HZ)
static void mm_find_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(mm_find, mm_find_work);
static unsigned long mm_find_delay = MM_FIND_FIRST;	/* of mm_find_work() alone */

/* Both locks; mm_mutex is not held while the other is waited for.  False: it stays held. */
static bool request_lock(struct mm_struct *mm)
{
	unsigned long end = jiffies + HZ;

	do {
		mutex_lock(&mm_mutex);
		if (mmap_read_trylock(mm))
			return true;
		mutex_unlock(&mm_mutex);
		usleep_range(500, 1000);
	} while (time_before(jiffies, end) && !fatal_signal_pending(current));
	return false;
}

static void request_unlock(struct mm_struct *mm)
{
	mmap_read_unlock(mm);
	mutex_unlock(&mm_mutex);
}

static struct bee_mm *request_find(const struct mm_struct *mm)
{
	struct bee_mm *m;

	lockdep_assert_held(&mm_mutex);
	rcu_read_lock();
	m = bee_mm_find(mm);
	rcu_read_unlock();
	return m;
}

static struct bee_mm *request_manage(struct mm_struct *mm, struct pid *pid,
				     struct netlink_ext_ack *extack)
{
	struct bee_mm *m = bee_mm_new(mm, pid, GFP_KERNEL_ACCOUNT);

	if (!m)
		NL_SET_ERR_MSG(extack, "out of memory or over budget");
	return m;
}

static int diff_stale(const struct bee_mm *m, struct netlink_ext_ack *extack)
{
	if (m)
		NL_SET_ERR_MSG_FMT(extack, "stale: cookie is %llu, generation %llu", m->cookie,
				   READ_ONCE(m->generation));
	else
		NL_SET_ERR_MSG(extack, "stale: not managed, so cookie and generation are 0");
	return -ESTALE;
}

static int mm_update(struct mm_struct *mm, struct pid *pid, const struct bee_map_diff *diff,
		     struct bee_mm_state *state, struct netlink_ext_ack *extack)
{
	struct bee_mm *known = request_find(mm), *m = known;
	struct bee_map *old = NULL, *map;
	u64 generation = 0;

	if (m)
		old = bee_managed_hold(m, &generation);
	if (state->generation != generation || state->cookie != (m ? m->cookie : 0)) {
		bee_map_put(old);
		return diff_stale(m, extack);
	}
	map = bee_map_apply(old, diff, extack);
	bee_map_put(old);
	if (IS_ERR(map))
		return PTR_ERR(map);
	if (!m)
		m = request_manage(mm, pid, extack);
	if (!m) {
		bee_map_put(map);
		return -ENOMEM;
	}
	if (bee_managed_commit(m, generation, map)) {
		bee_managed_state(m, state);
		return 0;
	}
	if (!known)
		bee_mm_forget(mm);
	return diff_stale(known, extack);
}

/**
 * bee_mm_update() - apply a diff, whole or not at all
 * @mm: the address space; the caller has it from get_task_mm()
 * @pid: the process that it was named by, for listings
 * @diff: the request
 * @state: in: the state that it is against; out, on success: the new one
 * @extack: the reason of a refusal
 *
 * Context: Process, may sleep.
 * Return: 0 or -errno; -ESTALE if somebody else changed the ranges.
 */
int bee_mm_update(struct mm_struct *mm, struct pid *pid, const struct bee_map_diff *diff,
		  struct bee_mm_state *state, struct netlink_ext_ack *extack)
{
	int ret;

	mutex_lock(&mm_mutex);
	ret = mm_update(mm, pid, diff, state, extack);
	mutex_unlock(&mm_mutex);
	return ret;
}

/* With mmap_lock held only requests and the tail of an munmap can be faster. */
static int managed_scan(struct bee_mm *m, struct netlink_ext_ack *extack)
{
	struct bee_map *old, *map;
	u64 generation;
	bool same;

	do {
		old = bee_managed_hold(m, &generation);
		map = bee_map_scan(old, m->mm, extack);
		same = !READ_ONCE(m->lost) && !IS_ERR(map) && bee_map_is_same(old, map);
		bee_map_put(old);
		if (IS_ERR(map))
			return PTR_ERR(map);
		if (same) {
			bee_map_put(map);
			return 0;
		}
	} while (!bee_managed_commit(m, generation, map));
	return 0;
}

static int mm_scan(struct mm_struct *mm, struct pid *pid, struct bee_mm_state *state,
		   struct netlink_ext_ack *extack)
{
	struct bee_mm *known = request_find(mm), *m = known;
	int ret;

	/* Managed first: from then on callbacks follow. */
	if (!m)
		m = request_manage(mm, pid, extack);
	if (!m)
		return -ENOMEM;
	ret = managed_scan(m, extack);
	if (!ret)
		bee_managed_state(m, state);
	else if (!known)
		bee_mm_forget(mm);
	return ret;
}

/**
 * bee_mm_scan() - manage an address space with what is mapped there
 * @mm: the address space; the caller has it from get_task_mm()
 * @pid: the process that it was named by, for listings
 * @state: out, on success: the state
 * @extack: the reason of a refusal
 *
 * Nothing changes if it is managed already and the ranges are right.
 *
 * Context: Process, may sleep.
 * Return: 0 or -errno; -EBUSY if its mmap_lock was not to be had for a second.
 */
int bee_mm_scan(struct mm_struct *mm, struct pid *pid, struct bee_mm_state *state,
		struct netlink_ext_ack *extack)
{
	int ret;

	if (!request_lock(mm)) {
		NL_SET_ERR_MSG(extack, "the process is changing its memory map; try again");
		return -EBUSY;
	}
	ret = mm_scan(mm, pid, state, extack);
	request_unlock(mm);
	return ret;
}

/**
 * bee_mm_del() - stop managing an address space
 * @mm: the address space
 *
 * Context: Process, may sleep.
 * Return: whether it was managed.
 */
bool bee_mm_del(const struct mm_struct *mm)
{
	bool managed;

	mutex_lock(&mm_mutex);
	managed = bee_mm_is_managed(mm);
	bee_mm_forget(mm);
	mutex_unlock(&mm_mutex);
	return managed;
}

/**
 * bee_mm_del_cookie() - the same by cookie
 * @cookie: its cookie
 *
 * Context: Process, may sleep.
 * Return: whether it was managed.
 */
bool bee_mm_del_cookie(u64 cookie)
{
	bool managed;

	mutex_lock(&mm_mutex);
	managed = bee_mm_forget_cookie(cookie);
	mutex_unlock(&mm_mutex);
	return managed;
}

/*
 * Finding what was lost
 */

/* With a user of the mm, which keeps it from ending meanwhile; its last may be us. */
static struct mm_struct *mm_get_lost(u64 *cookie)
{
	struct mm_struct *mm = NULL;
	const struct bee_mm *m;

	rcu_read_lock();
	while (!mm && (m = bee_mm_next(*cookie, NULL))) {
		*cookie = m->cookie + 1;
		if (READ_ONCE(m->lost) && mmget_not_zero(m->mm))
			mm = m->mm;
	}
	rcu_read_unlock();
	return mm;
}

static int mm_find_one(struct mm_struct *mm)
{
	struct bee_mm *m;
	int ret = 0;

	if (!request_lock(mm))
		return -EBUSY;
	m = request_find(mm);
	if (m)
		ret = managed_scan(m, NULL);
	request_unlock(mm);
	return ret;
}

static void mm_find_work(struct work_struct *work)
{
	struct mm_struct *mm;
	bool again = false;
	u64 cookie = 0;

	while ((mm = mm_get_lost(&cookie))) {
		again |= !!mm_find_one(mm);
		mmput(mm);
	}
	mm_find_delay = min_t(unsigned long, 2 * mm_find_delay, MM_FIND_LAST);
	if (again)
		queue_delayed_work(request_wq, &mm_find, mm_find_delay);
	else
		mm_find_delay = MM_FIND_FIRST;
}

/**
 * bee_mm_look_again() - an address space has lost its ranges
 *
 * Context: Any but NMI.
 */
void bee_mm_look_again(void)
{
	queue_delayed_work(request_wq, &mm_find, MM_FIND_FIRST);
}

/**
 * bee_request_init() - be ready for requests
 * @wq: runs the looking again
 *
 * Context: Process.
 */
void bee_request_init(struct workqueue_struct *wq)
{
	request_wq = wq;
}

/**
 * bee_request_exit() - the hooks are gone and no request can come
 *
 * Context: Process, may sleep.
 */
void bee_request_exit(void)
{
	cancel_delayed_work_sync(&mm_find);
}
