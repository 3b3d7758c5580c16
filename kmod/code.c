// SPDX-License-Identifier: GPL-2.0
/*
 * Code that processes have in memory, without a file behind it, and its tables.
 *
 * Compilers at run time make such code, and tell debuggers of it; user space makes the tables and says
 * where in the process they hold.  Walks look here only for what is not mapped from a known file.
 *
 * A process is known by its address space, its start time and its number of exec(): the address of an
 * mm can come back as another's.  Nobody tells when a process ends or executes another program, so a
 * worker looks, as long as any process is known.  Until then its memory is charged to its user.
 */
#include <linux/cred.h>
#include <linux/delay.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/netlink.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "code.h"
#include "compat.h"
#include "store.h"

#define CODE_LOCK_TRIES	20		/* milliseconds at most */
#define CODE_LOOK	(2 * HZ)	/* so often the worker looks for processes that have ended */

struct hlist_head bee_code_buckets[1 << BEE_CODE_BITS];
u32 bee_code_nr;
u64 bee_code_generation;		/* the last one (bee_store_mutex) */
static u64 code_bytes;			/* of ranges and code heaps (bee_store_mutex, READ_ONCE() for reading) */

/* What tells a process with an address space from others. */
struct code_key {
	const struct mm_struct	*mm;
	u64			 born;
	u64			 execs;
};

/* Caller holds the RCU read lock, and @task is alive. */
static struct code_key code_key(struct task_struct *task, const struct mm_struct *mm)
{
	return (struct code_key) {
		.mm = mm,
		.born = READ_ONCE(task->group_leader)->start_boottime,
		.execs = READ_ONCE(task->self_exec_id),
	};
}

/* Caller holds the RCU read lock or bee_store_mutex. */
static struct bee_code *code_find(const struct code_key *key)
{
	struct bee_code *c;

	hlist_for_each_entry_rcu(c, &bee_code_buckets[hash_ptr(key->mm, BEE_CODE_BITS)], by_mm, true)
		if (c->mm == key->mm && c->born == key->born && c->execs == key->execs)
			return c;
	return NULL;
}

/**
 * bee_code_current() - what is known of current's code in memory
 *
 * Context: Any, NMI-safe.  Caller holds the RCU read lock, which keeps the result.
 * Return: it, or NULL.
 */
const struct bee_code *bee_code_current(void)
{
	struct code_key key = code_key(current, current->mm);

	return code_find(&key);
}

/**
 * bee_code_find() - the range of an address
 * @ranges: of bee_code_current(), or NULL
 * @ip: the address
 *
 * Context: Any, NMI-safe.  Caller holds the RCU read lock.
 * Return: the range, or NULL.
 */
const struct bee_range *bee_code_find(const struct bee_code_ranges *ranges, u64 ip)
{
	const struct bee_range *low;
	u32 n;

	if (!ranges || !ranges->nr)
		return NULL;
	low = ranges->at;
	for (n = ranges->nr; n > 1; n -= n / 2)
		if (low[n / 2].start <= ip)
			low += n / 2;
	return bee_range_contains(low, ip) ? low : NULL;
}

static u64 ranges_bytes(const struct bee_code_ranges *ranges)
{
	return ranges ? kmalloc_size_roundup(struct_size(ranges, at, ranges->nr)) : 0;
}

/* Ranges that are charged, or NULL, take the place of others, which are not charged any more. */
static void code_set_ranges(struct bee_code *c, struct bee_code_ranges *ranges)
{
	struct bee_code_ranges *old = rcu_dereference_protected(c->ranges,
								lockdep_is_held(&bee_store_mutex));

	rcu_assign_pointer(c->ranges, ranges);
	bee_code_generation++;
	WRITE_ONCE(c->generation, bee_code_generation);
	WRITE_ONCE(code_bytes, code_bytes + ranges_bytes(ranges) - ranges_bytes(old));
	if (!old)
		return;
	bee_store_uncharge(c->uid, ranges_bytes(old));
	kvfree_rcu(old, rcu);
}

static void vm_free(const struct bee_code *c, struct bee_code_vm *vm)
{
	bee_store_uncharge(c->uid, sizeof(*vm));
	kfree_rcu(vm, rcu);
}

/* Heaps that are charged, or NULL, take the place of others, which are not charged any more. */
static void code_set_vm(struct bee_code *c, struct bee_code_vm *vm)
{
	struct bee_code_vm *old = rcu_dereference_protected(c->vm, lockdep_is_held(&bee_store_mutex));

	rcu_assign_pointer(c->vm, vm);
	WRITE_ONCE(code_bytes, code_bytes + (vm ? sizeof(*vm) : 0) - (old ? sizeof(*old) : 0));
	bee_code_generation++;
	WRITE_ONCE(c->generation, bee_code_generation);
	if (old)
		vm_free(c, old);
}

static void code_forget(struct bee_code *c)
{
	struct bee_file *f, *next;

	lockdep_assert_held(&bee_store_mutex);
	hlist_del_rcu(&c->by_mm);
	WRITE_ONCE(bee_code_nr, bee_code_nr - 1);
	code_set_ranges(c, NULL);
	code_set_vm(c, NULL);
	list_for_each_entry_safe(f, next, &c->files, in_code) {
		list_del(&f->in_code);
		bee_store_remove(f);
	}
	bee_store_uncharge(c->uid, sizeof(*c));
	put_pid(c->pid);
	kfree_rcu(c, rcu);
}

/* Whether a thread of the process still runs the program in the address space. */
static bool code_lives(const struct bee_code *c)
{
	struct task_struct *leader, *task;
	bool lives = false;

	rcu_read_lock();
	leader = pid_task(c->pid, PIDTYPE_TGID);
	if (leader) {
		for_each_thread(leader, task) {
			lives = READ_ONCE(task->mm) == c->mm &&
				READ_ONCE(task->self_exec_id) == c->execs;
			if (lives)
				break;
		}
	}
	rcu_read_unlock();
	return lives;
}

static void code_look(struct work_struct *work);
static DECLARE_DELAYED_WORK(code_look_work, code_look);

static void code_look(struct work_struct *work)
{
	struct hlist_node *next;
	struct bee_code *c;
	int i;

	mutex_lock(&bee_store_mutex);
	for (i = 0; i < ARRAY_SIZE(bee_code_buckets); i++)
		hlist_for_each_entry_safe(c, next, &bee_code_buckets[i], by_mm)
			if (!code_lives(c))
				code_forget(c);
	if (bee_code_nr)
		schedule_delayed_work(&code_look_work, CODE_LOOK);
	mutex_unlock(&bee_store_mutex);
}

/* Who pays for what a process has. */
static u32 code_uid(struct task_struct *task)
{
	return from_kuid(&init_user_ns, task_uid(task));
}

/* A process that a request has made known is not, if it has nothing. */
static void code_forget_empty(struct bee_code *c)
{
	if (!IS_ERR(c) && !rcu_access_pointer(c->ranges) && !rcu_access_pointer(c->vm) && list_empty(&c->files))
		code_forget(c);
}

/* What is known of the process of @task; made if nothing is.  Return: it, or an error pointer and a sentence. */
static struct bee_code *code_of(struct task_struct *task, struct netlink_ext_ack *extack)
{
	struct mm_struct *mm = task->flags & PF_KTHREAD ? NULL : get_task_mm(task);
	struct code_key key = {};
	struct bee_code *c;
	u32 uid = code_uid(task);
	int err;

	lockdep_assert_held(&bee_store_mutex);
	rcu_read_lock();
	/* The leader of a task that is not alive may be gone. */
	if (mm && pid_alive(task))
		key = code_key(task, mm);
	rcu_read_unlock();
	/* The mm's address is only compared, and if another mm gets it @key has changed. */
	if (mm)
		mmput_async(mm);
	if (!key.mm) {
		NL_SET_ERR_MSG(extack, "the process is exiting, or a kernel thread");
		return ERR_PTR(-ESRCH);
	}
	c = code_find(&key);
	if (c)
		return c;
	err = bee_store_charge(uid, sizeof(*c), extack);
	if (err)
		return ERR_PTR(err);
	c = kzalloc(sizeof(*c), GFP_KERNEL_ACCOUNT);
	if (!c) {
		bee_store_uncharge(uid, sizeof(*c));
		NL_SET_ERR_MSG(extack, "out of memory");
		return ERR_PTR(-ENOMEM);
	}
	c->mm = key.mm;
	c->born = key.born;
	c->execs = key.execs;
	c->pid = get_task_pid(task, PIDTYPE_TGID);
	c->uid = uid;
	INIT_LIST_HEAD(&c->files);
	hlist_add_head_rcu(&c->by_mm, &bee_code_buckets[hash_ptr(c->mm, BEE_CODE_BITS)]);
	WRITE_ONCE(bee_code_nr, bee_code_nr + 1);
	schedule_delayed_work(&code_look_work, CODE_LOOK);
	return c;
}

static bool edit_is(const struct bee_code_edit *edit, const struct bee_range *range)
{
	return edit->start == range->start && edit->end == range->end &&
	       edit->offset == range->offset && edit->file == range->file->id;
}

/* The range of @edit, which has a table of @c.  Return: false if there is none. */
static bool range_make(struct bee_range *range, const struct bee_code *c,
		       const struct bee_code_edit *edit)
{
	*range = (struct bee_range) {
		.start = edit->start, .end = edit->end, .offset = edit->offset,
		.file = bee_store_get(edit->file),
	};
	return range->file && range->file->code == c;
}

/* Fill @new, which has @room, with @old after @diff.  Return: 0 or -EINVAL, and a sentence. */
static int ranges_apply(const struct bee_code *c, struct bee_code_ranges *new, u32 room,
			const struct bee_code_ranges *old, const struct bee_code_diff *diff,
			struct netlink_ext_ack *extack)
{
	u32 nr = old ? old->nr : 0, i = 0, del = 0, add = 0;
	u64 last = 0;

	while (i < nr || add < diff->nr_add) {
		const struct bee_code_edit *edit = &diff->add[add];
		struct bee_range *range = &new->at[new->nr];

		if (i < nr && del < diff->nr_del && edit_is(&diff->del[del], &old->at[i])) {
			i++;
			del++;
			continue;
		}
		/* One that is to be removed has not been found. */
		if (new->nr == room)
			break;
		if (add == diff->nr_add || (i < nr && old->at[i].start < edit->start)) {
			*range = old->at[i++];
		} else if (range_make(range, c, edit)) {
			add++;
		} else {
			NL_SET_ERR_MSG_FMT(extack, "the process has no table %u", edit->file);
			return -EINVAL;
		}
		if (range->start < last || range->end <= range->start || range->end > TASK_SIZE_MAX) {
			NL_SET_ERR_MSG_FMT(extack, "range at %#llx is empty, out of order or overlaps another",
					   range->start);
			return -EINVAL;
		}
		last = range->end;
		new->nr++;
	}
	if (del == diff->nr_del)
		return 0;
	NL_SET_ERR_MSG_FMT(extack, "there is no such range at %#llx to remove",
			   diff->del[del].start);
	return -EINVAL;
}

/* Note which mappings the ranges are in.  Return: 0 or -ESTALE, and a sentence. */
static int ranges_mark(struct bee_code_ranges *ranges, struct task_struct *task,
		       struct netlink_ext_ack *extack)
{
	struct mm_struct *mm = get_task_mm(task);
	bool locked = mm && mmap_read_trylock(mm);
	int tries = CODE_LOCK_TRIES;
	u32 i;

	/* A process can have its lock held for as long as it likes. */
	for (; mm && !locked && tries; tries--) {
		usleep_range(500, 1000);
		locked = mmap_read_trylock(mm);
	}
	for (i = 0; locked && i < ranges->nr; i++) {
		const struct vm_area_struct *vma = vma_lookup(mm, ranges->at[i].start);

		ranges->at[i].mark = vma ? bee_compat_vma_mark(vma) : 0;
	}
	if (locked)
		mmap_read_unlock(mm);
	if (mm)
		mmput_async(mm);
	if (locked)
		return 0;
	NL_SET_ERR_MSG(extack, "the process is just changing its mappings");
	return -ESTALE;
}

/* Whether a field of @size bytes at a multiple of that is below BEE_HEAP_FIELD_MAX. */
static bool field_is_sound(u32 at, u32 size)
{
	return at < BEE_HEAP_FIELD_MAX && !(at % size);
}

static bool address_is_sound(u32 at, u32 size)
{
	return (size == 2 || size == 4 || size == 8) && field_is_sound(at, size);
}

/* Whether walks may read by @h, whatever is found there. */
static bool heaps_are_sound(const struct bee_code_heaps *h)
{
	u64 last = 0;
	u32 i;

	if (!h->nr || h->nr > BEE_CODE_HEAPS || h->shift < 3 || h->shift > 20)
		return false;
	for (i = 0; i < h->nr; last = h->heap[i++].end)
		if (h->heap[i].start < last || h->heap[i].end <= h->heap[i].start || h->heap[i].end > TASK_SIZE_MAX)
			return false;
	return h->interpreter <= h->interpreter_end && h->barrier <= h->barrier_end &&
	       field_is_sound(h->used, 1) && field_is_sound(h->blob, 8) && field_is_sound(h->frame_size, 4) &&
	       h->complete_size < 8 && address_is_sound(h->complete, h->complete_size) &&
	       address_is_sound(h->code, h->code_size) && address_is_sound(h->code_end, h->code_end_size);
}

/* What takes the place of the process's code heaps, charged; NULL: none.  Or an error pointer, and a sentence. */
static struct bee_code_vm *vm_make(const struct bee_code *c, const struct bee_code_heaps *heaps,
				   struct netlink_ext_ack *extack)
{
	struct bee_code_vm *vm;
	int err;

	if (!heaps)
		return NULL;
	if (!heaps_are_sound(heaps)) {
		NL_SET_ERR_MSG(extack, "the code heaps overlap or are out of bounds, or a field of theirs is");
		return ERR_PTR(-EINVAL);
	}
	err = bee_store_charge(c->uid, sizeof(*vm), extack);
	if (err)
		return ERR_PTR(err);
	vm = kmalloc(sizeof(*vm), GFP_KERNEL_ACCOUNT);
	if (!vm) {
		bee_store_uncharge(c->uid, sizeof(*vm));
		NL_SET_ERR_MSG(extack, "out of memory");
		return ERR_PTR(-ENOMEM);
	}
	vm->heaps = *heaps;
	return vm;
}

static int code_apply(struct bee_code *c, struct task_struct *task, const struct bee_code_diff *diff, u32 *nr,
		      struct netlink_ext_ack *extack)
{
	struct bee_code_ranges *old = rcu_dereference_protected(c->ranges,
								lockdep_is_held(&bee_store_mutex));
	u64 all = (old ? old->nr : 0) + (u64)diff->nr_add;
	u64 room = all - min_t(u64, all, diff->nr_del);
	struct bee_code_ranges *new;
	int err;

	if (room > BEE_CODE_MOST) {
		NL_SET_ERR_MSG(extack, "more ranges than a process may have");
		return -E2BIG;
	}
	new = kvzalloc(struct_size(new, at, room), GFP_KERNEL_ACCOUNT);
	if (!new) {
		NL_SET_ERR_MSG(extack, "out of memory");
		return -ENOMEM;
	}
	err = ranges_apply(c, new, room, old, diff, extack);
	if (!err && new->nr)
		err = ranges_mark(new, task, extack) ?: bee_store_charge(c->uid, ranges_bytes(new), extack);
	*nr = new->nr;
	if (err || !new->nr)
		kvfree(new);
	if (!err)
		code_set_ranges(c, *nr ? new : NULL);
	return err;
}

/**
 * bee_code_update() - change where a process has code in memory and its code heaps, completely or not at all,
 *	and say that all ranges hold now
 * @task: a thread of the process
 * @diff: the change
 * @generation: filled: number of the change; if there are no ranges, tables and heaps any more the next is 0
 * @nr: filled: how many ranges there are
 * @extack: the reason of a refusal
 *
 * A range holds as long as the kernel has not changed the mapping that it is in (bee_compat_vma_mark()).
 *
 * Context: Process, may sleep.
 * Return: 0 or -errno; -ESTALE: @diff is for other ranges than those that are there, or the process is just changing
 * its mappings.
 */
int bee_code_update(struct task_struct *task, const struct bee_code_diff *diff, u64 *generation,
		    u32 *nr, struct netlink_ext_ack *extack)
{
	struct bee_code_vm *vm = NULL;
	struct bee_code *c;
	int err;

	mutex_lock(&bee_store_mutex);
	c = code_of(task, extack);
	err = PTR_ERR_OR_ZERO(c);
	if (!err && c->generation != diff->generation) {
		NL_SET_ERR_MSG_FMT(extack, "the ranges are those of generation %llu", c->generation);
		err = -ESTALE;
	}
	if (!err)
		vm = vm_make(c, diff->heaps, extack);
	err = err ?: PTR_ERR_OR_ZERO(vm) ?: code_apply(c, task, diff, nr, extack);
	if (!err && diff->set_heaps)
		code_set_vm(c, vm);
	else if (err && !IS_ERR_OR_NULL(vm))
		vm_free(c, vm);
	if (!err)
		*generation = c->generation;
	code_forget_empty(c);
	mutex_unlock(&bee_store_mutex);
	return err;
}

/**
 * bee_code_add_table() - keep a table of code that a process has in memory
 * @task: a thread of the process
 * @name: to show to people
 * @table: a memfd or a file of tmpfs with the table, which is read once, now
 * @id: filled: the id for ranges
 * @extack: the reason of a refusal
 *
 * Context: Process, may sleep.
 * Return: 0 or -errno.
 */
int bee_code_add_table(struct task_struct *task, const char *name, struct file *table, u32 *id,
		       struct netlink_ext_ack *extack)
{
	struct bee_file *f = bee_store_make_code(name, table, code_uid(task), extack);
	struct bee_code *c;
	int err;

	if (IS_ERR(f))
		return PTR_ERR(f);
	mutex_lock(&bee_store_mutex);
	c = code_of(task, extack);
	err = bee_store_add_code(f, IS_ERR(c) ? NULL : c, extack);
	if (!err) {
		list_add(&f->in_code, &c->files);
		*id = f->id;
	}
	err = PTR_ERR_OR_ZERO(c) ?: err;
	code_forget_empty(c);
	mutex_unlock(&bee_store_mutex);
	return err;
}

/**
 * bee_code_del_table() - remove a table of code in memory, and its ranges
 * @f: the table
 * @extack: the reason of a refusal
 *
 * Context: Process, bee_store_mutex held; may sleep.
 * Return: 0 or -ENOMEM, and nothing changes.
 */
int bee_code_del_table(struct bee_file *f, struct netlink_ext_ack *extack)
{
	struct bee_code *c = f->code;
	struct bee_code_ranges *old = rcu_dereference_protected(c->ranges,
								lockdep_is_held(&bee_store_mutex));
	struct bee_code_ranges *new = NULL;
	u32 nr = 0, i;

	for (i = 0; old && i < old->nr; i++)
		nr += old->at[i].file != f;
	if (nr) {
		new = kvzalloc(struct_size(new, at, nr), GFP_KERNEL_ACCOUNT);
		if (!new) {
			NL_SET_ERR_MSG(extack, "out of memory");
			return -ENOMEM;
		}
		for (i = 0; i < old->nr; i++)
			if (old->at[i].file != f)
				new->at[new->nr++] = old->at[i];
		/* No more than what code_set_ranges() gives back. */
		bee_store_recharge(c->uid, ranges_bytes(new));
	}
	if (old)
		code_set_ranges(c, new);
	list_del(&f->in_code);
	bee_store_remove(f);
	code_forget_empty(c);
	return 0;
}

/**
 * bee_code_next() - the process with ranges whose generation is the lowest above a given one
 * @after: the given one
 *
 * Context: Process, bee_store_mutex held.
 * Return: it, or NULL.
 */
const struct bee_code *bee_code_next(u64 after)
{
	const struct bee_code *c, *next = NULL;
	int i;

	lockdep_assert_held(&bee_store_mutex);
	for (i = 0; i < ARRAY_SIZE(bee_code_buckets); i++)
		hlist_for_each_entry(c, &bee_code_buckets[i], by_mm)
			if (c->generation > after && (!next || c->generation < next->generation))
				next = c;
	return next;
}

/** bee_code_bytes() - kernel memory of ranges and code heaps.  Context: Any. */
u64 bee_code_bytes(void)
{
	return READ_ONCE(code_bytes);
}

/** bee_code_exit() - forget all processes; no request comes any more.  Context: Process, may sleep. */
void bee_code_exit(void)
{
	struct hlist_node *next;
	struct bee_code *c;
	int i;

	cancel_delayed_work_sync(&code_look_work);
	mutex_lock(&bee_store_mutex);
	for (i = 0; i < ARRAY_SIZE(bee_code_buckets); i++)
		hlist_for_each_entry_safe(c, next, &bee_code_buckets[i], by_mm)
			code_forget(c);
	mutex_unlock(&bee_store_mutex);
}
