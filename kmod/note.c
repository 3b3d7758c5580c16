// SPDX-License-Identifier: GPL-2.0
/*
 * Notes: what callbacks see where they may neither lock nor allocate, for the worker.
 *
 * With PREEMPT_RT a spinlock is one that sleeps, and the allocator takes such locks.  A callback
 * must not sleep: preemption is off if somebody else traces the function too; and if it is on,
 * ftrace frees what has called the callback after an RCU-tasks grace period, which a task that
 * waits for such a lock does not hold up.  So there callbacks take notes, under raw spinlocks that
 * are held for a moment (if BEE_NOTES is defined).  A worker settles them, as does each request
 * before it begins:
 *
 * - A change of the executable mappings of a managed address space is counted (struct bee_mm,
 *   @noted).  From that moment on walks leave its stacks to perf, until the worker has looked at
 *   its mappings.
 * - A fork or exec by which an address space is to become managed is a *birth*.  There is room for
 *   NOTE_BIRTHS; a process for which there is none is not managed, and counted as lost.  What
 *   changes in an address space before the worker has it managed is noted in its birth.
 * - The end of an address space is a change: the worker sees that it has no user.
 *
 * Other kernels do not need this: see mm.c.  The end of inodes is noted in file.c.
 */
#include <linux/hashtable.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "budget.h"
#include "compat.h"
#include "mm.h"
#include "note.h"
#include "payer.h"

#if BEE_COMPAT_NOTES

#define NOTE_BIRTHS	512
#define NOTE_HASH_BITS	8

/**
 * struct note_birth - an address space that is to become managed
 * @node: in note_free or note_births (N)
 * @by_mm: in note_hash (N)
 * @mm: the address space, with a reference of mmgrab()
 * @pid: the process that will run in it, with a reference; or NULL
 * @uid: who pays for it, as bee_payer_current_uid() says
 * @parent: cookie of the address space that it is a copy of, or 0
 * @generation: of @parent's ranges at that time
 * @noted: bee_mm_noted() of @parent at that time
 * @changed: its mappings have changed since (N)
 *
 * N: bee_mm_note_lock.
 */
struct note_birth {
	struct list_head	 node;
	struct hlist_node	 by_mm;
	struct mm_struct	*mm;
	struct pid		*pid;
	u32			 uid;
	u64			 parent;
	u64			 generation;
	u32			 noted;
	bool			 changed;
};

static struct note_birth *note_room;
static LIST_HEAD(note_free);				/* bee_mm_note_lock */
static LIST_HEAD(note_births);				/* bee_mm_note_lock */
static DEFINE_HASHTABLE(note_hash, NOTE_HASH_BITS);	/* bee_mm_note_lock */
static LIST_HEAD(note_changed);				/* bee_mm_note_lock; of struct bee_mm */
static u32 note_nr_births;				/* bee_mm_note_lock; of note_births */
static struct workqueue_struct *note_wq;
static struct delayed_work *note_work;

static struct note_birth *note_find_birth(const struct mm_struct *mm)
{
	struct note_birth *birth;

	lockdep_assert_held(&bee_mm_note_lock);
	hash_for_each_possible(note_hash, birth, by_mm, (unsigned long)mm)
		if (birth->mm == mm)
			return birth;
	return NULL;
}

/*
 * Whether the birth of @mm is noted; if so its mappings have @changed.  To be asked before
 * bee_mm_find(): the worker has an address space managed before it drops the birth.
 */
static bool note_is_birth(const struct mm_struct *mm, bool changed)
{
	struct note_birth *birth;

	/* With the release in birth_drop(). */
	if (!smp_load_acquire(&note_nr_births))
		return false;
	raw_spin_lock(&bee_mm_note_lock);
	birth = note_find_birth(mm);
	if (birth)
		birth->changed |= changed;
	raw_spin_unlock(&bee_mm_note_lock);
	return birth;
}

static void note_birth(const struct note_birth *what)
{
	struct note_birth *birth;

	raw_spin_lock(&bee_mm_note_lock);
	birth = list_first_entry_or_null(&note_free, struct note_birth, node);
	if (birth) {
		list_del(&birth->node);
		*birth = *what;
		mmgrab(birth->mm);
		get_pid(birth->pid);
		list_add_tail(&birth->node, &note_births);
		hash_add(note_hash, &birth->by_mm, (unsigned long)birth->mm);
		WRITE_ONCE(note_nr_births, note_nr_births + 1);
	}
	raw_spin_unlock(&bee_mm_note_lock);
	if (birth)
		mod_delayed_work(note_wq, note_work, 0);
	else
		bee_mm_count_lost();
}

static void note_add_place(struct bee_mm_change *change, u64 start, u64 end)
{
	struct bee_mm_place *at;

	lockdep_assert_held(&bee_mm_note_lock);
	for (at = change->at; at < change->at + change->nr; at++)
		if (start <= at->end && end >= at->start)
			break;
	if (at == change->at + BEE_MM_PLACES)
		at--;
	if (at == change->at + change->nr) {
		*at = (struct bee_mm_place) { .start = start, .end = end };
		change->nr++;
	} else {
		at->start = min(at->start, start);
		at->end = max(at->end, end);
	}
}

static void note_list(struct bee_mm *m)
{
	lockdep_assert_held(&bee_mm_note_lock);
	if (list_empty(&m->note))
		list_add_tail(&m->note, &note_changed);
}

static void note_change(struct bee_mm *m, u64 start, u64 end, bool announce)
{
	raw_spin_lock(&bee_mm_note_lock);
	if (!m->dead) {
		WRITE_ONCE(m->noted, m->noted + 1);
		note_add_place(&m->change, start, end);
		m->change.changer = current->tgid;
		m->change.announce |= announce;
		note_list(m);
	}
	raw_spin_unlock(&bee_mm_note_lock);
	/* More changes follow soon, when a program begins. */
	queue_delayed_work(note_wq, note_work, 1);
}

/**
 * bee_note_is_followed() - whether an address space is managed, or is to be
 * @mm: the address space
 *
 * Context: Any but NMI; preemption may be off.
 * Return: true if it is.
 */
bool bee_note_is_followed(const struct mm_struct *mm)
{
	return note_is_birth(mm, false) || bee_mm_is_managed(mm);
}

/**
 * bee_note_exec() - an address space that has no mappings yet is to be managed
 * @mm: the address space
 * @pid: the process that will run in it
 *
 * Context: Process; preemption may be off.
 */
void bee_note_exec(struct mm_struct *mm, struct pid *pid)
{
	note_birth(&(struct note_birth) {
		.mm = mm, .pid = pid, .uid = bee_payer_current_uid(),
	});
}

/**
 * bee_note_fork() - the copy of an address space is to be managed, if the original is
 * @parent: the original
 * @child: the copy, which no one runs in yet
 *
 * Context: Process; preemption may be off.  mmap_lock of @parent held for writing.
 */
void bee_note_fork(const struct mm_struct *parent, struct mm_struct *child)
{
	struct note_birth birth = { .mm = child, .uid = bee_payer_current_uid() };
	bool followed = note_is_birth(parent, false);
	const struct bee_mm *m;

	rcu_read_lock();
	m = bee_mm_find(parent);
	if (m) {
		birth.parent = m->cookie;
		birth.generation = READ_ONCE(m->generation);
		birth.noted = bee_mm_noted(m);
	}
	rcu_read_unlock();
	if (followed || m)
		note_birth(&birth);
}

/* Whether the map says of @vma what bee_mm_attach() would have it say. */
static bool note_is_known(const struct bee_map *map, const struct vm_area_struct *vma, u64 start,
			  u64 end, u64 offset)
{
	const struct bee_range *there = map ? bee_map_find(map, start) : NULL;

	if (!there || there->end < end)
		return false;
	if (!vma->vm_file)
		return !there->file;
	return there->file && bee_range_offset(there, start) == offset &&
	       bee_file_is_inode(there->file, file_inode(vma->vm_file));
}

/**
 * bee_note_mapping() - executable memory has been mapped, or a mapping has changed
 * @vma: a mapping of it
 * @start: first address
 * @end: address after the last
 * @offset: byte of the mapping's file at @start
 * @announce: tell user space if the file has no table
 *
 * Context: Process; preemption may be off.  mmap_lock held.
 */
void bee_note_mapping(const struct vm_area_struct *vma, u64 start, u64 end, u64 offset,
		      bool announce)
{
	struct bee_mm *m;

	note_is_birth(vma->vm_mm, true);
	rcu_read_lock();
	m = bee_mm_find(vma->vm_mm);
	if (m && !note_is_known(rcu_dereference(m->map), vma, start, end, offset))
		note_change(m, start, end, announce);
	rcu_read_unlock();
}

/**
 * bee_note_unmap() - a part of an address space is being unmapped
 * @mm: the address space
 * @start: first address
 * @end: address after the last
 *
 * Context: Process; preemption may be off.
 */
void bee_note_unmap(const struct mm_struct *mm, u64 start, u64 end)
{
	struct bee_mm *m;

	note_is_birth(mm, true);
	rcu_read_lock();
	m = bee_mm_find(mm);
	if (m && !bee_map_has(rcu_dereference(m->map), start, end, NULL))
		note_change(m, start, end, false);
	rcu_read_unlock();
}

/** bee_note_end() - the last user of @mm is gone.  Context: Process; preemption may be off. */
void bee_note_end(const struct mm_struct *mm)
{
	struct bee_mm *m;

	rcu_read_lock();
	m = bee_mm_find(mm);
	if (m)
		note_change(m, 0, 0, false);
	rcu_read_unlock();
}

/* Return: whether its mappings have changed since. */
static bool birth_drop(struct note_birth *birth)
{
	bool changed;

	raw_spin_lock(&bee_mm_note_lock);
	changed = birth->changed;
	hash_del(&birth->by_mm);
	list_del(&birth->node);
	/* After it is managed: see note_is_birth(). */
	smp_store_release(&note_nr_births, note_nr_births - 1);
	raw_spin_unlock(&bee_mm_note_lock);
	put_pid(birth->pid);
	mmdrop(birth->mm);
	raw_spin_lock(&bee_mm_note_lock);
	list_add(&birth->node, &note_free);
	raw_spin_unlock(&bee_mm_note_lock);
	return changed;
}

/*
 * Have the address space managed.  Until the birth is dropped callbacks note there what changes;
 * from then on they find the ranges that it has inherited.
 */
static void birth_manage(struct note_birth *birth, struct bee_payer *payer)
{
	struct bee_mm *m = bee_mm_new_followed(birth->mm, birth->pid, payer);
	bool known;

	if (!m) {
		birth_drop(birth);
		return;
	}
	known = bee_mm_inherit(m, birth->parent, birth->generation, birth->noted);
	if (birth_drop(birth) || !known)
		note_change(m, 0, U64_MAX, false);
	else
		bee_mm_set_scanned(m, 1);
}

static void birth_settle(struct note_birth *birth)
{
	struct mm_struct *mm = birth->mm;
	struct bee_payer *payer;

	if (!mmget_not_zero(mm)) {
		birth_drop(birth);
		return;
	}
	payer = bee_payer_get_uid(birth->uid, GFP_KERNEL);
	if (bee_mm_is_managed(mm))
		birth_drop(birth);
	else
		birth_manage(birth, payer);
	bee_payer_put(payer);
	mmput_async(mm);
}

static struct note_birth *note_first_birth(void)
{
	struct note_birth *birth;

	raw_spin_lock(&bee_mm_note_lock);
	birth = list_first_entry_or_null(&note_births, struct note_birth, node);
	raw_spin_unlock(&bee_mm_note_lock);
	return birth;
}

/**
 * bee_note_settle_births() - have all address spaces managed that are to be
 *
 * Context: Process, may sleep.  The caller lets only one at a time come here, and holds back
 * whoever else changes ranges.
 */
void bee_note_settle_births(void)
{
	struct note_birth *birth;

	while ((birth = note_first_birth()))
		birth_settle(birth);
}

/** bee_note_count() - how many address spaces are to be looked at.  Context: Process. */
u32 bee_note_count(void)
{
	struct list_head *at;
	u32 nr = 0;

	raw_spin_lock(&bee_mm_note_lock);
	list_for_each(at, &note_changed)
		nr++;
	raw_spin_unlock(&bee_mm_note_lock);
	return nr;
}

/**
 * bee_note_next() - an address space that is to be looked at: changed, or ended
 * @change: filled: what has changed; for bee_note_again()
 *
 * Context: Process.  The caller keeps it alive, by the lock that is held to remove one.
 * Return: the address space, or NULL.
 */
struct bee_mm *bee_note_next(struct bee_mm_change *change)
{
	struct bee_mm *m;

	raw_spin_lock(&bee_mm_note_lock);
	m = list_first_entry_or_null(&note_changed, struct bee_mm, note);
	if (m) {
		list_del_init(&m->note);
		*change = m->change;
		change->noted = m->noted;
		m->change = (struct bee_mm_change) {};
	}
	raw_spin_unlock(&bee_mm_note_lock);
	return m;
}

/** bee_note_again() - look at @m again, after the others.  Context: as bee_note_next(). */
void bee_note_again(struct bee_mm *m, const struct bee_mm_change *change)
{
	const struct bee_mm_place *at;

	raw_spin_lock(&bee_mm_note_lock);
	for (at = change->at; at < change->at + change->nr; at++)
		note_add_place(&m->change, at->start, at->end);
	m->change.announce |= change->announce;
	/* Unless somebody else has changed it since. */
	m->change.changer = m->change.changer ?: change->changer;
	note_list(m);
	raw_spin_unlock(&bee_mm_note_lock);
	queue_delayed_work(note_wq, note_work, 1);
}

/**
 * bee_note_init() - prepare to take notes
 * @wq: runs @work
 * @work: settles what is noted
 *
 * Context: Process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int bee_note_init(struct workqueue_struct *wq, struct delayed_work *work)
{
	struct note_birth *birth;

	note_room = kvcalloc(NOTE_BIRTHS, sizeof(*note_room), GFP_KERNEL);
	if (!note_room)
		return -ENOMEM;
	bee_budget_charge_fixed(BEE_BUDGET_CACHES, NOTE_BIRTHS * sizeof(*note_room));
	for (birth = note_room; birth < note_room + NOTE_BIRTHS; birth++)
		list_add_tail(&birth->node, &note_free);
	note_wq = wq;
	note_work = work;
	return 0;
}

/** bee_note_exit() - drop what is noted; there are no callbacks any more.  Context: Process. */
void bee_note_exit(void)
{
	struct note_birth *birth;

	cancel_delayed_work_sync(note_work);
	while ((birth = note_first_birth()))
		birth_drop(birth);
	bee_budget_uncharge(BEE_BUDGET_CACHES, NOTE_BIRTHS * sizeof(*note_room));
	kvfree(note_room);
}

#endif
