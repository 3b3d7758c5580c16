// SPDX-License-Identifier: GPL-2.0
/*
 * Manage address spaces on request, and repair those that have lost their ranges.
 *
 * Lock order: mm_mutex, mmap_lock, then the locks of mm.c.  mm_mutex admits one request at a
 * time.  mmap_lock is only tried, for a second: a process can hold its own for as long as it
 * likes (in a page fault on a file whose FUSE server it is), and with it block all requests.
 *
 * Callers hold mm_users, from get_task_mm() or mmget_not_zero().  With that and mm_mutex a
 * struct bee_mm that was found stays.  All drop it by mmput_async(), and not by mmput(): if the
 * process was killed meanwhile, the last mmput() ends its address space, and for that waits until
 * its asynchronous I/O has ended, which may be on a FUSE file system that never answers.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sched/mm.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "manage.h"
#include "payer.h"
#include "stray.h"

/*
 * Each rescan that fails doubles the delay until the next one of the same address space.  The work
 * item runs every second and rescans those that are due, so that none waits for the delay of
 * another.  In one run it waits for RESCAN_TRY until mmap_locks are free, however many are held;
 * from then on it tries each of them once.
 */
#define RESCAN_PERIOD	HZ
#define RESCAN_LAST	(10 * HZ)
#define RESCAN_TRY	(HZ / 50)

static DEFINE_MUTEX(mm_mutex);
static DEFINE_MUTEX(manage_settle_mutex);	/* outside of mm_mutex */
static struct workqueue_struct *manage_wq;

/*
 * Take mm_mutex and mmap_lock, of an address space whose mappings are whole, before jiffies are
 * @end; if they are, there is one try, without a sleep.  On false neither is held.
 */
static bool manage_lock(struct mm_struct *mm, unsigned long end)
{
	for (;;) {
		mutex_lock(&mm_mutex);
		if (mmap_read_trylock(mm)) {
			if (bee_compat_is_whole(mm))
				return true;
			mmap_read_unlock(mm);
		}
		mutex_unlock(&mm_mutex);
		if (time_after_eq(jiffies, end) || fatal_signal_pending(current))
			return false;
		usleep_range(500, 1000);
	}
}

static void manage_unlock(struct mm_struct *mm)
{
	mmap_read_unlock(mm);
	mutex_unlock(&mm_mutex);
}

static struct bee_mm *manage_find(const struct mm_struct *mm)
{
	struct bee_mm *m;

	lockdep_assert_held(&mm_mutex);
	rcu_read_lock();
	m = bee_mm_find(mm);
	rcu_read_unlock();
	return m;
}

static int manage_no_memory(struct netlink_ext_ack *extack)
{
	NL_SET_ERR_MSG(extack, "out of memory, over budget or over the user's share");
	return -ENOMEM;
}

/* Who pays for an address space that is not managed yet, with a reference, or ERR_PTR(). */
static struct bee_payer *manage_get_payer(struct pid *pid, struct netlink_ext_ack *extack)
{
	struct bee_payer *payer = bee_payer_get_pid(pid);

	if (payer == ERR_PTR(-ESRCH))
		NL_SET_ERR_MSG(extack, "the process has ended");
	else if (IS_ERR(payer))
		manage_no_memory(extack);
	return payer;
}

/* Without ranges.  Return: the address space, or ERR_PTR(). */
static struct bee_mm *manage_new(struct mm_struct *mm, struct pid *pid,
				 struct netlink_ext_ack *extack)
{
	struct bee_payer *payer = manage_get_payer(pid, extack);
	struct bee_mm *m;

	if (IS_ERR(payer))
		return ERR_CAST(payer);
	m = bee_mm_new(mm, pid, payer, NULL);
	bee_payer_put(payer);
	return m ?: ERR_PTR(manage_no_memory(extack));
}

static int update_stale(const struct bee_mm *m, struct netlink_ext_ack *extack)
{
	if (m && READ_ONCE(m->lost))
		NL_SET_ERR_MSG(extack, "stale: ranges were lost, and are to be looked up again");
	else if (m)
		NL_SET_ERR_MSG_FMT(extack, "stale: cookie is %llu, generation %llu", m->cookie,
				   READ_ONCE(m->generation));
	else
		NL_SET_ERR_MSG(extack, "stale: not managed, so cookie and generation are 0");
	return -ESTALE;
}

/* Files that @diff has laid over ranges are not fresh any longer. */
static void update_set_laid(const struct bee_map_diff *diff)
{
	u32 i;

	for (i = 0; i < diff->nr_add; i++)
		if (diff->add[i].file)
			bee_file_set_laid(diff->add[i].file);
}

static int update_locked(struct mm_struct *mm, struct pid *pid, struct bee_map_diff *diff,
			 struct bee_mm_state *state, struct netlink_ext_ack *extack)
{
	struct bee_mm *m = manage_find(mm);
	struct bee_map_list *old;
	struct bee_payer *payer;
	struct bee_map *map;
	u64 generation = 0;

	old = m ? bee_mm_get_list(m, &generation, extack) : bee_map_list_alloc(0, extack);
	if (old == ERR_PTR(-ESTALE))
		return update_stale(m, extack);
	if (IS_ERR(old))
		return PTR_ERR(old);
	/* A change of lost ranges would make them pass for whole. */
	if (state->generation != generation || state->cookie != (m ? m->cookie : 0) ||
	    (m && READ_ONCE(m->lost))) {
		bee_map_list_free(old);
		return update_stale(m, extack);
	}
	payer = m ? bee_payer_hold(m->payer) : manage_get_payer(pid, extack);
	if (IS_ERR(payer)) {
		bee_map_list_free(old);
		return PTR_ERR(payer);
	}
	diff->owner = state->cookie;
	map = bee_map_apply(old, diff, payer, extack);
	bee_payer_put(payer);
	bee_map_list_free(old);
	if (IS_ERR(map))
		return PTR_ERR(map);
	if (m && !bee_mm_commit_map(m, generation, map, true))
		return update_stale(m, extack);
	/* With its ranges: it may fork at once, so nothing could be taken back. */
	if (!m)
		m = bee_mm_new(mm, pid, map->payer, map);
	if (!m)
		return manage_no_memory(extack);
	update_set_laid(diff);
	bee_mm_get_state(m, state);
	return 0;
}

/**
 * bee_manage_update() - apply a diff to the ranges of an address space, whole or not at all
 * @mm: the address space; the caller holds mm_users
 * @pid: the process that it was named by, for listings
 * @diff: the change; its owner is filled
 * @state: in: cookie and generation that @diff is against, 0 if not managed; out, on success:
 *	the new state
 * @extack: the reason of a refusal
 *
 * Context: Process, may sleep.
 * Return: 0 or -errno; -ESTALE if @state is not the current one, or the ranges are lost.
 */
int bee_manage_update(struct mm_struct *mm, struct pid *pid, struct bee_map_diff *diff,
		      struct bee_mm_state *state, struct netlink_ext_ack *extack)
{
	int ret;

	mutex_lock(&mm_mutex);
	ret = update_locked(mm, pid, diff, state, extack);
	mutex_unlock(&mm_mutex);
	return ret;
}

/* Return: 0 or -errno; -ESTALE: another writer was faster. */
static int scan_try(struct bee_mm *m, struct netlink_ext_ack *extack)
{
	struct bee_map_list *old, *list;
	struct bee_map *map = NULL;
	u64 generation;
	bool same;

	old = bee_mm_get_list(m, &generation, extack);
	if (IS_ERR(old))
		return PTR_ERR(old);
	list = bee_map_scan(old, m->mm, m->payer, extack);
	same = !READ_ONCE(m->lost) && !IS_ERR(list) && bee_map_list_is_same(old, list);
	bee_map_list_free(old);
	if (IS_ERR(list))
		return PTR_ERR(list);
	if (!same)
		map = bee_map_build(list, m->payer, extack);
	bee_map_list_free(list);
	if (IS_ERR(map))
		return PTR_ERR(map);
	if (same)
		WRITE_ONCE(m->by_hand, false);
	return same || bee_mm_commit_map(m, generation, map, false) ? 0 : -ESTALE;
}

/*
 * mmap_lock keeps out all other writers but the callback of an munmap() that has downgraded it, and
 * bee_mm_drop_gone().
 */
static int scan_locked(struct bee_mm *m, struct netlink_ext_ack *extack)
{
	int ret;

	lockdep_assert_held(&mm_mutex);
	do
		ret = scan_try(m, extack);
	while (ret == -ESTALE && !READ_ONCE(m->dead));
	return ret;
}

/**
 * bee_manage_scan() - manage an address space with the ranges that are mapped in it
 * @mm: the address space; the caller holds mm_users
 * @pid: the process that it was named by, for listings
 * @nowait: do not wait for its mmap_lock
 * @state: out, on success: the state
 * @extack: the reason of a refusal
 *
 * Nothing changes if it is managed already and its ranges are right.
 *
 * Context: Process, may sleep.
 * Return: 0 or -errno; -EBUSY: others had its mmap_lock for a second or, with @nowait, at that
 * moment.
 */
int bee_manage_scan(struct mm_struct *mm, struct pid *pid, bool nowait, struct bee_mm_state *state,
		    struct netlink_ext_ack *extack)
{
	struct bee_mm *known, *m;
	bool stray;
	int ret;

	if (!manage_lock(mm, nowait ? jiffies : jiffies + HZ)) {
		NL_SET_ERR_MSG(extack, "the process is changing its memory map; try again");
		return -EBUSY;
	}
	known = manage_find(mm);
	stray = bee_stray_find(mm);
	/* Managed before the scan, so that callbacks report all changes from the scan on. */
	m = known ?: manage_new(mm, pid, extack);
	ret = IS_ERR(m) ? PTR_ERR(m) : scan_locked(m, extack);
	if (!ret) {
		bee_mm_get_state(m, state);
	} else if (!IS_ERR(m) && !known) {
		/* A stray first: bee_mm_is_wanted() of an exec must find it in one of both. */
		if (stray)
			bee_stray_add(mm);
		bee_mm_forget(mm);
	}
	manage_unlock(mm);
	return ret;
}

/**
 * bee_manage_new_file() - a file that stands for memory of an address space, for its table
 * @mm: the address space; the caller holds mm_users
 * @name: to show to people
 * @extack: the reason of a refusal
 *
 * Context: Process, may sleep.
 * Return: the file with a reference; -ENOENT if @mm is not managed, -ENOMEM.
 */
struct bee_file *bee_manage_new_file(const struct mm_struct *mm, const char *name,
				     struct netlink_ext_ack *extack)
{
	struct bee_file *f = ERR_PTR(-ENOENT);
	struct bee_mm *m;

	/* Held until the file has its owner: bee_file_owner_gone() finds it from then on. */
	mutex_lock(&mm_mutex);
	m = manage_find(mm);
	if (m) {
		WRITE_ONCE(m->has_tables, true);
		f = bee_file_new_owned(m->cookie, m->payer, name);
	}
	mutex_unlock(&mm_mutex);
	if (!m)
		NL_SET_ERR_MSG(extack, "the process is not managed");
	else if (IS_ERR(f))
		manage_no_memory(extack);
	return f;
}

/**
 * bee_manage_stop() - forget an address space
 * @mm: the address space
 *
 * Context: Process, may sleep.
 * Return: whether it was managed, or a stray.
 */
bool bee_manage_stop(const struct mm_struct *mm)
{
	bool managed;

	mutex_lock(&mm_mutex);
	managed = bee_stray_del(mm) || bee_mm_is_managed(mm);
	bee_mm_forget(mm);
	mutex_unlock(&mm_mutex);
	return managed;
}

/**
 * bee_manage_stop_cookie() - as bee_manage_stop(), by the cookie
 * @cookie: of the address space
 *
 * Context: Process, may sleep.
 * Return: whether there was one.
 */
bool bee_manage_stop_cookie(u64 cookie)
{
	bool managed;

	mutex_lock(&mm_mutex);
	managed = bee_mm_forget_cookie(cookie);
	mutex_unlock(&mm_mutex);
	return managed;
}

/*
 * The next address space that has lost its ranges and is due, with mm_users held, from *@cookie on;
 * *@left is set if there is any, due or not.
 */
static struct mm_struct *rescan_get_next(u64 *cookie, bool *left)
{
	struct mm_struct *mm = NULL;
	struct bee_mm *m;
	u32 delay;

	rcu_read_lock();
	while (!mm && (m = bee_mm_next_lost(*cookie))) {
		*cookie = m->cookie + 1;
		*left = true;
		if (time_before(jiffies, READ_ONCE(m->retry)))
			continue;
		delay = min_t(u32, 2 * READ_ONCE(m->delay), RESCAN_LAST);
		WRITE_ONCE(m->delay, delay);
		WRITE_ONCE(m->retry, jiffies + delay);
		if (mmget_not_zero(m->mm))
			mm = m->mm;
	}
	rcu_read_unlock();
	return mm;
}

static void rescan_work(struct work_struct *work)
{
	unsigned long end = jiffies + RESCAN_TRY;
	struct mm_struct *mm;
	struct bee_mm *m;
	bool left = false;
	u64 cookie = 0;

	while ((mm = rescan_get_next(&cookie, &left))) {
		if (manage_lock(mm, end)) {
			/* A request may have found it meanwhile, and changed its ranges by hand. */
			m = manage_find(mm);
			if (m && READ_ONCE(m->lost))
				scan_locked(m, NULL);
			manage_unlock(mm);
		}
		mmput_async(mm);
	}
	if (left)
		queue_delayed_work(manage_wq, &bee_manage_rescan, RESCAN_PERIOD);
}

DECLARE_DELAYED_WORK(bee_manage_rescan, rescan_work);

/*
 * What a client has made of the ranges by hand, and tables of code in memory, are not in the
 * mappings, and a look would undo them.
 */
static bool look_is_wanted(const struct bee_mm *m)
{
	const struct bee_range *range;
	struct bee_map_cursor cursor;

	if (READ_ONCE(m->lost))
		return true;
	if (READ_ONCE(m->by_hand))
		return false;
	rcu_read_lock();
	bee_map_seek(&cursor, rcu_dereference(m->map), 0);
	do
		range = bee_map_next(&cursor);
	while (range && !(range->file && range->file->owner));
	rcu_read_unlock();
	return !range;
}

/*
 * The delay until walks may ask again doubles if they ask often: nothing may be mapped where the
 * code runs (the vsyscall page), the user's share may be used up, or somebody may want to keep the
 * worker busy.  Not if memory was short: as soon as there is some, ranges are there again.
 */
static void look_locked(struct bee_mm *m)
{
	bool often = time_before(jiffies, m->looked + 2 * RESCAN_LAST);
	u32 delay = BEE_MM_LOOK_DELAY;
	int ret = look_is_wanted(m) ? scan_locked(m, NULL) : 0;

	if (often && ret != -ENOMEM)
		delay = min_t(u32, 2 * READ_ONCE(m->look_delay), RESCAN_LAST);
	m->looked = jiffies;
	WRITE_ONCE(m->look_delay, delay);
	WRITE_ONCE(m->look, jiffies + delay);
}

/**
 * bee_manage_look() - look at what is mapped, for a walk that has found code without a range
 * @cookie: the address space, which may be gone
 *
 * Context: Process, may sleep.
 */
void bee_manage_look(u64 cookie)
{
	struct mm_struct *mm = NULL;
	const struct bee_mm *first;
	struct bee_mm *m;

	rcu_read_lock();
	first = bee_mm_next(cookie, NULL);
	if (first && first->cookie == cookie && mmget_not_zero(first->mm))
		mm = first->mm;
	rcu_read_unlock();
	if (!mm)
		return;
	if (manage_lock(mm, jiffies + RESCAN_TRY)) {
		m = manage_find(mm);
		if (m)
			look_locked(m);
		manage_unlock(mm);
	}
	mmput_async(mm);
}

/**
 * bee_manage_get_mm() - the address space of a process
 * @task: one of its threads; the caller holds a reference
 *
 * Looks at all threads, as the first one may have ended before the others.
 *
 * Context: Process.
 * Return: the address space with mm_users held; NULL: the process is exiting, or a kernel thread.
 */
struct mm_struct *bee_manage_get_mm(struct task_struct *task)
{
	struct mm_struct *mm = NULL;
	struct task_struct *t;

	rcu_read_lock();
	for_each_thread(task, t) {
		mm = get_task_mm(t);
		if (mm)
			break;
	}
	rcu_read_unlock();
	return mm;
}

/**
 * bee_manage_stray() - manage a process that was to be managed and is not, as it has been sampled
 * @nr: pid of the process in the initial pid namespace.  The process may have ended since, and
 *	another one may have got its pid
 *
 * Context: Process, may sleep.
 */
void bee_manage_stray(pid_t nr)
{
	struct pid *pid = find_get_pid(nr);
	struct task_struct *task = get_pid_task(pid, PIDTYPE_TGID);
	struct mm_struct *mm = task ? bee_manage_get_mm(task) : NULL;
	struct bee_mm *m;

	if (task)
		put_task_struct(task);
	if (mm && manage_lock(mm, jiffies + RESCAN_TRY)) {
		/* Under mm_mutex, so that a request which makes it no stray has the last word. */
		m = !bee_stray_find(mm) ? NULL : manage_find(mm) ?: manage_new(mm, pid, NULL);
		/* Managed, but without ranges: bee_manage_rescan looks for them again. */
		if (!IS_ERR_OR_NULL(m) && scan_locked(m, NULL))
			bee_mm_lose(m);
		manage_unlock(mm);
	}
	if (mm)
		mmput_async(mm);
	put_pid(pid);
}

/**
 * bee_manage_settle() - do for files and address spaces what callbacks have left
 *
 * A worker calls it soon after such a callback, and each request before it begins.  Waits for
 * mmap_locks as a rescan does; an address space whose lock is held then is left for the next time.
 *
 * Context: Process, may sleep.
 */
void bee_manage_settle(void)
{
	struct mm_struct *mm;
	unsigned long end;
	struct bee_mm *m;
	u32 nr;

	/* Held so that it is done on return if it was begun by somebody else. */
	mutex_lock(&manage_settle_mutex);
	bee_mm_drop_gone();
	bee_file_settle();
	end = jiffies + RESCAN_TRY;
	nr = bee_mm_nr_unsettled();
	while (nr-- && (mm = bee_mm_get_unsettled())) {
		if (manage_lock(mm, end)) {
			m = manage_find(mm);
			if (m && READ_ONCE(m->lost))
				scan_locked(m, NULL);
			if (m)
				bee_mm_settle(m);
			manage_unlock(mm);
		} else {
			bee_mm_unsettle(mm);
		}
		mmput_async(mm);
	}
	mutex_unlock(&manage_settle_mutex);
}

static void settle_work(struct work_struct *work)
{
	bee_manage_settle();
}

DECLARE_DELAYED_WORK(bee_manage_settle_work, settle_work);

/** bee_manage_init() - @wq runs bee_manage_rescan.  Context: Process. */
void bee_manage_init(struct workqueue_struct *wq)
{
	manage_wq = wq;
}

/** bee_manage_exit() - end rescans; callbacks and requests are over.  Context: Process, sleeps. */
void bee_manage_exit(void)
{
	/* This one first: if it finds no room for ranges they are lost, and a rescan is queued. */
	cancel_delayed_work_sync(&bee_manage_settle_work);
	cancel_delayed_work_sync(&bee_manage_rescan);
}
