// SPDX-License-Identifier: GPL-2.0
/*
 * Files: every file that is mapped by a managed address space, or has a table.
 *
 * Ranges refer to files, not to tables: adding, replacing or deleting a table takes effect for all
 * mappings of its file at once.
 *
 * Which inode shows which file:
 * - An inode in memory shows one file as long as its key stays the same.  It is known by its
 *   address.  No reference is held, since an idle table must not keep a file system from being
 *   unmounted; the kernel reports the end of each inode (__destroy_inode(), see hook.c) before its
 *   memory can become another inode.
 * - A file that is written to gets another mtime, and so another key: it is another file.
 * - perf record changes ctime when it links the files that it has seen into its build-id cache.
 *   So a new ctime alone does not make another file, unless the build-id has changed too.
 * - An inode that is not known shows a known file only if key, ctime and build-id are equal: it
 *   was evicted and read again, or is that of a snapshot which has not been changed.  Key and
 *   build-id can be chosen by whoever makes a file, ctime only by whoever makes the file system.
 * Someone who patches a file, keeps its build-id and sets its mtime back, gets wrong stacks for it.
 *
 * A file without an inode stands for code that one address space, its owner, has made in memory;
 * it exists so that this code can have a table.  Only requests create such files and lay them over
 * ranges.  Until a file is first laid it is fresh: it is idle like any other file without users,
 * and it is lost when its owner ends.  A file that has been laid is lost when its last range goes:
 * nothing can find it again.
 *
 * Users of a file are the ranges that refer to it and the requests that work with it.  A file
 * without users is forgotten, unless it has a table: then it is idle, and in a list of such files,
 * the one that has been idle longest first.  @users goes to 0 only under file_lock and
 * file_user_lock, and comes back from 0 only under file_user_lock.  So who holds file_lock finds
 * files that are either in use or in a list of idle ones.  Who holds only file_user_lock may also
 * find one that bee_file_put() is just forgetting: it has no users, and is in no list.  Whoever
 * changes the table of a file is a user of it.
 *
 * A file and its table are charged to the user who maps it first.  When that user unmaps it, or
 * has no share with room for the table, another user who has the file mapped is charged (rmap.c).
 * Idle tables are charged to no user; they are evicted as soon as anything else needs the room.
 * Unpaid tables are evicted when no idle ones are left.  A table is unpaid if its file is in use,
 * but the user who pays for the file had no room in its share for the table when it began to pay.
 *
 * file_lock protects the hashes and lists.  The two most frequent operations take only the RCU read
 * lock: to find the file of an inode that is known and has not changed since the last look
 * (file_get_unchanged(), which takes file_user_lock if the file is idle), and to see at the end of
 * an inode that it is not known (bee_file_inode_gone()).  Under file_lock only file_user_lock,
 * payer_lock, file_gone_lock and the locks of the hashes and the xarray are taken.
 *
 * The callbacks of hook.c take file_lock with preemption off, and its holder allocates memory for
 * the hashes and the xarray (GFP_NOWAIT).  With PREEMPT_RT (BEE_COMPAT_RT) neither is allowed, so
 * there a callback leaves three things to a worker, and to each request before it begins:
 * - It finds only files that file_get_unchanged() finds.  For others it gets bee_file_unknown, and
 *   bee_mm_settle() looks again.
 * - It does not drop the last reference on a file (bee_file_put_nowait()).
 * - It marks the entry of an inode that has ended (file_forget_inode()); file_settle() is called
 *   before the file of any inode is looked for.
 *
 * No bucket can be made long, as users choose most of what identifies a file: the hashes have a
 * random seed and grow; no two entries of file_equals are equal; and an inode shows at most
 * INODE_FILES_MAX files, a file has at most FILE_INODES_MAX inodes.  When there is one more, the
 * oldest link goes.  A mapping whose file has lost its link to the inode in this way is taken for
 * the inode's latest file when the mapping is reported again.  An inode that has lost its link is
 * looked up as an unknown one, and found to be equal to its file.
 */
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/jhash.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "budget.h"
#include "compat.h"
#include "file.h"
#include "payer.h"
#include "reserve.h"

#define FILE_NAME_MAX	255		/* bytes kept of a path: the last ones */

/* Mark in file_ids: the file has an owner, and has not been laid over a range yet. */
#define FILE_FRESH	XA_MARK_1
#define FILE_FRESH_MAX	1024

#define INODE_FILES_MAX	16
#define FILE_INODES_MAX	64

static DEFINE_SPINLOCK(file_lock);
static DEFINE_RAW_SPINLOCK(file_user_lock);	/* inside of file_lock */
static DEFINE_XARRAY_ALLOC1(file_ids);	/* file_lock, RCU for reading */
static u32 file_next_id;		/* file_lock */
static struct rhltable file_inodes;	/* file_lock, RCU for reading */
static struct rhashtable file_equals;	/* file_lock */
static LIST_HEAD(file_idle);		/* file_user_lock */
static LIST_HEAD(file_lost);		/* likewise; idle, and no inode can show them again */
static LIST_HEAD(file_unpaid);		/* likewise; in use, and nobody pays for their tables */
static u64 file_evictable;		/* file_user_lock; bytes, of all in these lists */
static u32 file_nr;			/* file_lock */
static u32 file_nr_fresh;		/* file_lock */
static atomic_t file_seq;

/**
 * struct file_inode - an inode in memory that shows a file
 * @inode: its address, which is compared and never followed
 * @file: the file
 * @by_inode: in file_inodes (file_lock, RCU for reading)
 * @node: in the file's list (file_lock)
 * @rcu: frees it
 * @gone: in file_gone, when the inode has ended; then @inode may be another (file_gone_lock)
 * @is_gone: likewise (READ_ONCE() for reading)
 * @unlinked: it is not to be put there any more (file_gone_lock)
 * @shown: it showed @file then
 * @ctime: ctime of the inode then
 *
 * The last five are there with BEE_COMPAT_RT.
 *
 * An inode that has been written to shows several files: of each its mappings from that time.
 */
struct file_inode {
	const struct inode	*inode;
	struct bee_file		*file;
	struct rhlist_head	 by_inode;
	struct hlist_node	 node;
	struct rcu_head		 rcu;
#if BEE_COMPAT_RT
	struct list_head	 gone;
	bool			 is_gone;
	bool			 unlinked;
	bool			 shown;
	s64			 ctime;
#endif
};

#if BEE_COMPAT_RT
static DEFINE_RAW_SPINLOCK(file_gone_lock);	/* nothing is taken inside */
static LIST_HEAD(file_gone);			/* file_gone_lock */
static DEFINE_MUTEX(file_drop_mutex);		/* outside of file_lock */
static LLIST_HEAD(file_dropped);		/* of struct bee_file: see bee_file_put_nowait() */
static struct workqueue_struct *file_wq;
static void file_late_work_fn(struct work_struct *work);
static DECLARE_WORK(file_late_work, file_late_work_fn);
#endif

struct bee_file bee_file_unknown = {
	.users = REFCOUNT_INIT(1),
	.live = ATOMIC_INIT(1),
	.owner = U64_MAX,
	.rmap_lock = __RAW_SPIN_LOCK_UNLOCKED(bee_file_unknown.rmap_lock),
	.name = "",
};

static const struct rhashtable_params file_inode_params = {
	.key_len = sizeof(const struct inode *),
	.key_offset = offsetof(struct file_inode, inode),
	.head_offset = offsetof(struct file_inode, by_inode),
	.automatic_shrinking = true,
};

static struct file_inode *file_inode_alloc(gfp_t gfp)
{
	struct file_inode *i;

	if (!bee_budget_charge_nowait(BEE_BUDGET_FILES, sizeof(*i)))
		return NULL;
	i = kzalloc(sizeof(*i), gfp | __GFP_NOWARN);
	if (!i) {
		bee_budget_uncharge(BEE_BUDGET_FILES, sizeof(*i));
		return NULL;
	}
#if BEE_COMPAT_RT
	INIT_LIST_HEAD(&i->gone);
#endif
	return i;
}

/* Whether the inode has ended, and that is only noted yet. */
static bool file_inode_is_gone(const struct file_inode *i)
{
#if BEE_COMPAT_RT
	return READ_ONCE(i->is_gone);
#else
	return false;
#endif
}

static void file_inode_free(struct file_inode *i)
{
	if (i)
		bee_budget_uncharge(BEE_BUDGET_FILES, sizeof(*i));
	kfree(i);
}

static void file_inode_free_rcu(struct rcu_head *rcu)
{
	file_inode_free(container_of(rcu, struct file_inode, rcu));
}

/* Free what file_inode_unlink() has collected. */
static void file_inodes_free(struct hlist_head *gone)
{
	struct file_inode *i;
	struct hlist_node *next;

	hlist_for_each_entry_safe(i, next, gone, node)
		call_rcu(&i->rcu, file_inode_free_rcu);
}

/* The files that an inode shows, for rhl_for_each_entry_rcu(); under RCU. */
static struct rhlist_head *file_inode_list(const struct inode *inode)
{
	return rhltable_lookup(&file_inodes, &inode, file_inode_params);
}

static bool file_is_idle(const struct bee_file *f)
{
	lockdep_assert_held(&file_user_lock);
	return !list_empty(&f->evict) && !refcount_read(&f->users);
}

static bool file_is_unpaid(const struct bee_file *f)
{
	lockdep_assert_held(&file_user_lock);
	return !list_empty(&f->evict) && refcount_read(&f->users);
}

static void file_set_evictable(struct bee_file *f, u64 bytes)
{
	lockdep_assert_held(&file_user_lock);
	WRITE_ONCE(file_evictable, file_evictable + bytes - f->evictable);
	f->evictable = bytes;
}

static bool file_is_fresh(const struct bee_file *f)
{
	lockdep_assert_held(&file_lock);
	return f->owner && xa_get_mark(&file_ids, f->id, FILE_FRESH);
}

/*
 * Whether nothing can find @f again: its inodes are gone and its build-id is not known.  A fresh
 * file has neither, but its owner can still lay it.
 */
static bool file_is_lost(const struct bee_file *f)
{
	lockdep_assert_held(&file_lock);
	return hlist_empty(&f->inodes) && !f->build_id.len && !file_is_fresh(f);
}

/* Charge @bytes to the payer of a file, if it has one; negative: uncharge. */
static void file_pay(struct bee_file *f, s64 bytes)
{
	lockdep_assert_held(&file_user_lock);
	if (!f->payer)
		return;
	if (bytes > 0)
		bee_payer_charge_fixed(f->payer, bytes);
	else
		bee_payer_uncharge(f->payer, -bytes);
	f->paid += bytes;
}

static void file_set_payer(struct bee_file *f, struct bee_payer *payer, u64 paid)
{
	lockdep_assert_held(&file_user_lock);
	WRITE_ONCE(f->payer, bee_payer_hold(payer));
	f->paid = paid;
}

static void file_drop_payer(struct bee_file *f)
{
	struct bee_payer *payer = f->payer;

	lockdep_assert_held(&file_user_lock);
	bee_payer_uncharge(payer, f->paid);
	file_set_payer(f, NULL, 0);
	bee_payer_put(payer);
}

/* Unlink @i and put it into @gone, for file_inodes_free(). */
static void file_inode_unlink(struct file_inode *i, struct hlist_head *gone)
{
	struct bee_file *f = i->file;

	lockdep_assert_held(&file_lock);
#if BEE_COMPAT_RT
	raw_spin_lock(&file_gone_lock);
	list_del_init(&i->gone);
	i->unlinked = true;
	raw_spin_unlock(&file_gone_lock);
#endif
	rhltable_remove(&file_inodes, &i->by_inode, file_inode_params);
	hlist_del(&i->node);
	hlist_add_head(&i->node, gone);
	raw_spin_lock(&file_user_lock);
	WRITE_ONCE(f->ninodes, f->ninodes - 1);
	file_pay(f, -(s64)sizeof(*i));
	if (file_is_idle(f)) {
		file_set_evictable(f, f->evictable - sizeof(*i));
		if (file_is_lost(f))
			list_move_tail(&f->evict, &file_lost);
	}
	raw_spin_unlock(&file_user_lock);
}

/* Drop the oldest link of @inode if there is no room for another. */
static void file_inode_limit(const struct inode *inode, struct hlist_head *gone)
{
	struct file_inode *i, *oldest = NULL;
	struct rhlist_head *at;
	int n = 0;

	rcu_read_lock();
	rhl_for_each_entry_rcu(i, at, file_inode_list(inode), by_inode) {
		n++;
		if (!oldest || (s32)(i->file->id - oldest->file->id) < 0)
			oldest = i;
	}
	rcu_read_unlock();
	if (n >= INODE_FILES_MAX)
		file_inode_unlink(oldest, gone);
}

/* Return: 0, or -errno and @i is not used. */
static int file_inode_link(struct bee_file *f, struct file_inode *i, const struct inode *inode,
			   struct hlist_head *gone)
{
	struct hlist_node *last;
	int err;

	lockdep_assert_held(&file_lock);
	file_inode_limit(inode, gone);
	if (f->ninodes >= FILE_INODES_MAX) {
		for (last = f->inodes.first; last->next; )
			last = last->next;
		file_inode_unlink(hlist_entry(last, struct file_inode, node), gone);
	}
	i->inode = inode;
	i->file = f;
	err = rhltable_insert(&file_inodes, &i->by_inode, file_inode_params);
	if (err)
		return err;
	hlist_add_head(&i->node, &f->inodes);
	raw_spin_lock(&file_user_lock);
	WRITE_ONCE(f->ninodes, f->ninodes + 1);
	file_pay(f, sizeof(*i));
	raw_spin_unlock(&file_user_lock);
	return 0;
}

static bool file_has_key(const struct bee_file *f, const struct bee_file_key *key)
{
	return !memcmp(&f->key, key, sizeof(*key));
}

static u32 equal_hash(const struct bee_file_key *key, s64 ctime, const struct bee_build_id *id,
		      u32 seed)
{
	seed = jhash2((const u32 *)key, sizeof(*key) / sizeof(u32), seed);
	seed = jhash(&ctime, sizeof(ctime), seed);
	return jhash(id->id, id->len, seed);
}

static u32 equal_hash_look(const void *data, u32 len, u32 seed)
{
	const struct bee_inode_look *look = data;

	return equal_hash(&look->key, look->ctime, &look->build_id, seed);
}

static u32 equal_hash_file(const void *data, u32 len, u32 seed)
{
	const struct bee_file *f = data;

	return equal_hash(&f->key, f->ctime, &f->build_id, seed);
}

static int equal_compare(struct rhashtable_compare_arg *arg, const void *obj)
{
	const struct bee_inode_look *look = arg->key;
	const struct bee_file *f = obj;

	return !file_has_key(f, &look->key) || f->ctime != look->ctime ||
	       !bee_build_id_equal(&f->build_id, &look->build_id);
}

static const struct rhashtable_params file_equal_params = {
	.key_len = sizeof(struct bee_inode_look),
	.head_offset = offsetof(struct bee_file, by_equal),
	.hashfn = equal_hash_look,
	.obj_hashfn = equal_hash_file,
	.obj_cmpfn = equal_compare,
	.automatic_shrinking = true,
};

static void file_equal_remove(struct bee_file *f)
{
	lockdep_assert_held(&file_lock);
	if (f->equal)
		rhashtable_remove_fast(&file_equals, &f->by_equal, file_equal_params);
	f->equal = false;
}

/*
 * Enter a file with a build-id into file_equals, unless an equal file is there: that one will do.
 * If memory is short the file is not entered, and not recognised after its inode is gone.
 */
static void file_equal_add(struct bee_file *f)
{
	struct bee_inode_look look = {
		.key = f->key, .ctime = f->ctime, .build_id = f->build_id,
	};

	lockdep_assert_held(&file_lock);
	f->equal = f->build_id.len &&
		   !rhashtable_lookup_insert_key(&file_equals, &look, &f->by_equal,
						 file_equal_params);
}

/*
 * Store ctime and build-id as an inode of @f shows them now.  They can differ from those of the
 * last look: link() or chmod() sets ctime, and the first page with the build-id was perhaps not in
 * memory then.  Both are part of the key in file_equals, so @f is taken out and put back.
 */
static void file_note(struct bee_file *f, s64 ctime, const struct bee_build_id *build_id)
{
	lockdep_assert_held(&file_lock);
	if (f->ctime == ctime && !memcmp(&f->build_id, build_id, sizeof(*build_id)))
		return;
	file_equal_remove(f);
	WRITE_ONCE(f->ctime, ctime);
	f->build_id = *build_id;
	file_equal_add(f);
}

/* The table can be evicted no longer, or there is none. */
static void file_unlist(struct bee_file *f)
{
	list_del_init(&f->evict);
	file_set_evictable(f, 0);
}

/*
 * Have a user pay for a file that nobody pays for.  If its share has no room for the table, the
 * user pays for the rest of the file, and the table is unpaid.  A table of code in memory cannot be
 * unpaid: it could be evicted while it is used, and nobody would make it again.
 *
 * Return: true; false if the share has no room for what is to be paid, and @fixed is not set.
 */
static bool file_begin_payment(struct bee_file *f, struct bee_payer *payer, bool fixed)
{
	u64 bytes = bee_file_bytes(f), paid = f->owner ? bytes : bytes - f->table_bytes;

	if (bee_payer_charge_spare(payer, bytes))
		paid = bytes;
	else if (fixed)
		bee_payer_charge_fixed(payer, paid);
	else if (!bee_payer_charge(payer, paid))
		return false;
	file_set_payer(f, payer, paid);
	file_unlist(f);
	if (paid < bytes) {
		list_add_tail(&f->evict, &file_unpaid);
		file_set_evictable(f, f->table_bytes);
	}
	return true;
}

/*
 * Become a user of a file that has been found.  If nobody pays for it @payer does.
 *
 * Return: 0; -EDQUOT: the share of @payer has no room for it; -ENOENT: bee_file_put() is just
 * forgetting it, which cannot be if the caller holds file_lock.
 */
static int file_take(struct bee_file *f, struct bee_payer *payer)
{
	int ret = 0;

	/* Mostly it is in use and paid for. */
	if ((!payer || READ_ONCE(f->payer)) && refcount_inc_not_zero(&f->users))
		return 0;
	raw_spin_lock(&file_user_lock);
	if (!refcount_read(&f->users) && !file_is_idle(f)) {
		ret = -ENOENT;
	} else if (payer && !f->payer && !file_begin_payment(f, payer, false)) {
		ret = -EDQUOT;
	} else if (!refcount_inc_not_zero(&f->users)) {
		if (!payer)
			file_unlist(f);
		refcount_set(&f->users, 1);
	}
	raw_spin_unlock(&file_user_lock);
	return ret;
}

/*
 * Become a user of the file that an inode shows, if the inode is as it was at the last look: then
 * its build-id is the same, too.  Does not take file_lock.  A file whose build-id is not known yet
 * is left to file_get_changed(), which looks for it, but not where @gfp says that this must not be
 * called.
 *
 * Return: the file with a reference; NULL: not found; -EDQUOT.
 */
static struct bee_file *file_get_unchanged(const struct bee_inode_look *look,
					   struct bee_payer *payer, gfp_t gfp)
{
	struct bee_file *f = NULL;
	struct rhlist_head *at;
	struct file_inode *i;
	int err;

	rcu_read_lock();
	rhl_for_each_entry_rcu(i, at, file_inode_list(look->inode), by_inode) {
		if (file_inode_is_gone(i) || !file_has_key(i->file, &look->key) ||
		    READ_ONCE(i->file->ctime) != look->ctime ||
		    !(READ_ONCE(i->file->build_id.looked) || bee_reserve_is_for(gfp)))
			continue;
		err = file_take(i->file, payer);
		if (err != -ENOENT)
			f = err ? ERR_PTR(err) : i->file;
		break;
	}
	rcu_read_unlock();
	return f;
}

/* As file_get_unchanged(), but compares the build-id if it is known, and stores what is new. */
static struct bee_file *file_get_changed(const struct bee_inode_look *look,
					 struct bee_payer *payer)
{
	struct bee_file *f = NULL;
	struct rhlist_head *at;
	struct file_inode *i;
	int err;

	lockdep_assert_held(&file_lock);
	rcu_read_lock();
	rhl_for_each_entry_rcu(i, at, file_inode_list(look->inode), by_inode)
		if (file_has_key(i->file, &look->key) &&
		    !bee_build_id_differ(&i->file->build_id, &look->build_id) &&
		    (!f || (s32)(i->file->id - f->id) > 0))
			f = i->file;
	rcu_read_unlock();
	if (!f)
		return NULL;
	err = file_take(f, payer);
	if (err)
		return ERR_PTR(err);
	file_note(f, look->ctime, look->build_id.looked ? &look->build_id : &f->build_id);
	return f;
}

/* Become a user of the file that an unknown inode shows, if that is known.  Return: as there. */
static struct bee_file *file_get_equal(const struct bee_inode_look *look, struct bee_payer *payer)
{
	struct bee_file *f;
	int err;

	lockdep_assert_held(&file_lock);
	f = look->build_id.len ? rhashtable_lookup_fast(&file_equals, look, file_equal_params) :
				 NULL;
	err = f ? file_take(f, payer) : 0;
	return err ? ERR_PTR(err) : f;
}

static u64 file_size(const struct bee_file *f)
{
	return struct_size(f, name, strlen(f->name) + 1) + bee_tally_bytes(&f->tally);
}

/** bee_file_bytes() - kernel memory of a file, its inodes and its table.  Context: Any. */
u64 bee_file_bytes(const struct bee_file *f)
{
	return file_size(f) + READ_ONCE(f->ninodes) * sizeof(struct file_inode) +
	       READ_ONCE(f->table_bytes);
}

/**
 * bee_file_has_room() - whether the share of who pays for a file has room for another table
 * @f: the file; the caller is a user of it
 * @bytes: kernel memory of that table
 *
 * A table is charged by bee_file_set_table_bytes(), which can be refused all the same.
 *
 * Context: Any but NMI.
 * Return: whether there is room now.
 */
bool bee_file_has_room(const struct bee_file *f, u64 bytes)
{
	bool fits;
	u64 old;

	raw_spin_lock(&file_user_lock);
	/*
	 * The payer has not paid for an unpaid table, so it would pay for all of the new one.  But if that
	 * is as large it may be the same table, and then bee_store_add() charges nothing.
	 */
	old = file_is_unpaid(f) && bytes != f->table_bytes ? 0 : f->table_bytes;
	fits = bytes <= old || bee_payer_has_room(f->payer, bytes - old);
	raw_spin_unlock(&file_user_lock);
	return fits;
}

static bool file_set_table_bytes(struct bee_file *f, u64 bytes)
{
	u64 old = file_is_unpaid(f) ? 0 : f->table_bytes;
	bool fits = true;

	lockdep_assert_held(&file_user_lock);
	if (f->payer && bytes > old) {
		fits = bee_payer_charge(f->payer, bytes - old);
		if (fits)
			f->paid += bytes - old;
	} else {
		file_pay(f, (s64)(bytes - old));
	}
	if (fits) {
		WRITE_ONCE(f->table_bytes, bytes);
		file_unlist(f);
	}
	return fits;
}

/**
 * bee_file_set_table_bytes() - note the size of a file's table, and charge it to the file's payer
 * @f: the file; the caller is a user of it
 * @bytes: kernel memory of the table that it gets; 0: of none
 *
 * Context: Any but NMI.
 * Return: true, or false if that is beyond the payer's share, and nothing has changed.
 */
bool bee_file_set_table_bytes(struct bee_file *f, u64 bytes)
{
	bool fits;

	raw_spin_lock(&file_user_lock);
	fits = file_set_table_bytes(f, bytes);
	raw_spin_unlock(&file_user_lock);
	return fits;
}

/**
 * bee_file_evict_table_bytes() - note that a file's table is evicted
 * @f: from bee_file_get_evictable()
 *
 * Context: Any but NMI.
 * Return: true, or false if it is one of memory that has been laid over a range since: it stays.
 */
bool bee_file_evict_table_bytes(struct bee_file *f)
{
	bool may;

	raw_spin_lock(&file_user_lock);
	may = !(f->owner && f->payer);
	if (may)
		file_set_table_bytes(f, 0);
	raw_spin_unlock(&file_user_lock);
	return may;
}

/**
 * bee_file_hand_on() - the user who is due pays for a file from now on
 * @f: the file; the caller is a user of it
 *
 * If the share of that user has no room, it pays for the file all the same, but not for its table,
 * which is unpaid then.
 *
 * Context: Any but NMI; @rmap_lock not held.
 */
void bee_file_hand_on(struct bee_file *f)
{
	raw_spin_lock(&file_user_lock);
	raw_spin_lock(&f->rmap_lock);
	if (f->due && f->due != f->payer) {
		file_drop_payer(f);
		file_begin_payment(f, f->due, true);
	}
	raw_spin_unlock(&f->rmap_lock);
	raw_spin_unlock(&file_user_lock);
}

/**
 * bee_file_move() - have another user pay for a file
 * @f: the file; the caller is a user of it
 * @payer: who is to pay
 * @range: one of that user's, in @rmap of @f
 * @bytes: kernel memory of the table that the file is to get next
 *
 * Context: Any but NMI.  Caller holds the RCU read lock.
 * Return: 0; -EDQUOT: @payer pays for the file already, or its share has no room for the file with
 * that table; -ENOENT: @range is gone.
 */
int bee_file_move(struct bee_file *f, struct bee_payer *payer, const struct hlist_node *range,
		  u64 bytes)
{
	int ret = -EDQUOT;
	u64 now, more;

	raw_spin_lock(&file_user_lock);
	raw_spin_lock(&f->rmap_lock);
	now = bee_file_bytes(f);
	more = bytes - min(bytes, f->table_bytes);
	if (hlist_unhashed(range)) {
		ret = -ENOENT;
	} else if (payer && payer != f->payer && bee_payer_charge(payer, now + more)) {
		file_drop_payer(f);
		file_set_payer(f, payer, now);
		file_unlist(f);
		bee_payer_uncharge(payer, more);
		f->paying = range;
		f->due = payer;
		ret = 0;
	}
	raw_spin_unlock(&f->rmap_lock);
	raw_spin_unlock(&file_user_lock);
	return ret;
}

/* @name: if there is no @path */
static struct bee_file *file_alloc(const struct bee_inode_look *look, const struct path *path,
				   const char *name, gfp_t gfp)
{
	char *buffer = kmalloc(PATH_MAX, gfp | __GFP_NOWARN);
	struct bee_file *f;
	size_t length;

	if (!buffer)
		return NULL;
	if (path)
		name = d_path(path, buffer, PATH_MAX);
	if (IS_ERR(name))
		name = "?";
	length = strlen(name);
	if (length > FILE_NAME_MAX) {
		name += length - FILE_NAME_MAX;
		length = FILE_NAME_MAX;
	}
	f = kzalloc(struct_size(f, name, length + 1), gfp | __GFP_NOWARN);
	if (f) {
		f->key = look->key;
		f->ctime = look->ctime;
		f->build_id = look->build_id;
		memcpy(f->name, name, length);
		refcount_set(&f->users, 1);
		atomic_set(&f->live, 1);
		INIT_LIST_HEAD(&f->evict);
		raw_spin_lock_init(&f->rmap_lock);
		bee_file_touch(f);
		if (!bee_budget_charge_nowait(BEE_BUDGET_FILES, file_size(f))) {
			kfree(f);
			f = NULL;
		}
	}
	kfree(buffer);
	return f;
}

static void file_free(struct bee_file *f)
{
	bee_budget_uncharge(BEE_BUDGET_FILES, file_size(f));
	free_percpu(f->tally.cpus);
	kfree(f);
}

static void file_free_rcu(struct rcu_head *rcu)
{
	file_free(container_of(rcu, struct bee_file, rcu));
}

/**
 * bee_file_put_live() - drop a reference on the memory of a file
 * @f: the file; the caller held a count of @live
 *
 * Context: Any but NMI.
 */
void bee_file_put_live(struct bee_file *f)
{
	if (atomic_dec_and_test(&f->live))
		call_rcu(&f->rcu, file_free_rcu);
}

/* Give a new file its id. */
static int file_publish(struct bee_file *f)
{
	int err;

	lockdep_assert_held(&file_lock);
	err = xa_alloc_cyclic(&file_ids, &f->id, f, xa_limit_32b, &file_next_id,
			      GFP_NOWAIT | __GFP_NOWARN);
	if (err < 0)
		return err;
	WRITE_ONCE(file_nr, file_nr + 1);
	bee_file_changed();
	return 0;
}

/* Dumps may still see it until a grace period has passed. */
static void file_unpublish(struct bee_file *f, struct hlist_head *gone)
{
	struct file_inode *i;
	struct hlist_node *next;

	lockdep_assert_held(&file_lock);
	hlist_for_each_entry_safe(i, next, &f->inodes, node)
		file_inode_unlink(i, gone);
	raw_spin_lock(&file_user_lock);
	file_drop_payer(f);
	raw_spin_unlock(&file_user_lock);
	file_equal_remove(f);
	WRITE_ONCE(file_nr_fresh, file_nr_fresh - file_is_fresh(f));
	xa_erase(&file_ids, f->id);
	WRITE_ONCE(file_nr, file_nr - 1);
	bee_file_changed();
}

/*
 * The file that an inode shows at the first look at it: a known one, or else *@fresh, which is
 * then published.  What *@fresh takes is charged to @payer already.  *@i becomes NULL if the caller
 * must not free it; so does *@fresh, and then the caller must not uncharge it either.
 *
 * Return: the file with a reference; NULL: out of memory; -EDQUOT.
 */
static struct bee_file *file_get_first(const struct bee_inode_look *look, struct bee_payer *payer,
				       struct bee_file **fresh, struct file_inode **i,
				       struct hlist_head *gone)
{
	/* Another CPU may have been here since the inode was found to be unknown. */
	struct bee_file *f = file_get_changed(look, payer), *known;

	if (f)
		return f;
	known = file_get_equal(look, payer);
	if (IS_ERR(known))
		return known;
	f = known ?: *fresh;
	if (!known) {
		if (file_publish(f))
			return NULL;
		/*
		 * As soon as it has an inode other CPUs can find it, and the first one would
		 * become its payer.
		 */
		raw_spin_lock(&file_user_lock);
		file_set_payer(f, payer, payer ? bee_file_bytes(f) : 0);
		raw_spin_unlock(&file_user_lock);
		*fresh = NULL;
	}
	if (file_inode_link(f, *i, look->inode, gone)) {
		/* A known file can be used without the link; the inode stays unknown. */
		if (known)
			return known;
		file_unpublish(f, gone);
		bee_file_put_live(f);
		return NULL;
	}
	*i = NULL;
	if (!known)
		file_equal_add(f);
	return f;
}

#if BEE_COMPAT_RT
static struct file_inode *file_first_gone(void)
{
	struct file_inode *i;

	raw_spin_lock(&file_gone_lock);
	i = list_first_entry_or_null(&file_gone, struct file_inode, gone);
	raw_spin_unlock(&file_gone_lock);
	return i;
}
#endif

/* Unlink the inodes whose end is noted. */
static void file_settle(void)
{
#if BEE_COMPAT_RT
	struct file_inode *i;
	HLIST_HEAD(gone);

	if (list_empty_careful(&file_gone))
		return;
	spin_lock(&file_lock);
	while ((i = file_first_gone())) {
		/* When it is read again its ctime is this one. */
		if (i->shown)
			file_note(i->file, i->ctime, &i->file->build_id);
		file_inode_unlink(i, &gone);
	}
	spin_unlock(&file_lock);
	file_inodes_free(&gone);
#endif
}

/* @inode and @path: NULL for the vDSO; @payer: NULL for a request. */
static struct bee_file *file_get_or_create(const struct inode *inode, const struct path *path,
					   struct bee_payer *payer, gfp_t gfp)
{
	struct bee_inode_look look;
	struct bee_file *f, *fresh;
	struct file_inode *i;
	HLIST_HEAD(gone);
	u64 bytes;
	int err = -ENOMEM;

	bee_inode_look(&look, inode);
	f = file_get_unchanged(&look, payer, gfp);
	if (f)
		return f;
	if (bee_reserve_is_for(gfp)) {
		refcount_inc(&bee_file_unknown.users);
		return &bee_file_unknown;
	}
	/* The inode may have the address of one that has ended. */
	file_settle();
	bee_inode_look_build_id(&look, gfp);
	spin_lock(&file_lock);
	f = file_get_changed(&look, payer);
	spin_unlock(&file_lock);
	if (f)
		return f;
	fresh = file_alloc(&look, path, "[vdso]", gfp);
	i = file_inode_alloc(gfp);
	bytes = fresh ? file_size(fresh) : 0;
	if (fresh && i && !bee_payer_charge(payer, bytes)) {
		err = -EDQUOT;
	} else if (fresh && i) {
		spin_lock(&file_lock);
		f = file_get_first(&look, payer, &fresh, &i, &gone);
		spin_unlock(&file_lock);
		if (fresh)
			bee_payer_uncharge(payer, bytes);
	}
	file_inodes_free(&gone);
	if (fresh)
		file_free(fresh);
	file_inode_free(i);
	return f ?: ERR_PTR(err);
}

/**
 * bee_file_get() - the file of an open file description
 * @exe: the open file; on overlayfs its inode is overlayfs's own, but mappings have the inode
 *	of the layer below, which is used here
 *
 * Context: Process, may sleep.
 * Return: the file with a reference, or ERR_PTR(-ENOMEM): out of memory or over budget.
 */
struct bee_file *bee_file_get(struct file *exe)
{
	return file_get_or_create(d_real_inode(exe->f_path.dentry), &exe->f_path, NULL,
				  GFP_KERNEL);
}

/**
 * bee_file_get_vdso() - as bee_file_get(), for the image of the vDSO that all 64-bit processes have
 *
 * Context: Process, may sleep.
 * Return: as bee_file_get().
 */
struct bee_file *bee_file_get_vdso(void)
{
	return file_get_or_create(NULL, NULL, NULL, GFP_KERNEL);
}

/**
 * bee_file_get_vma() - the file behind a mapping
 * @vma: the mapping; on overlayfs its vm_file has the inode of the layer below
 * @payer: to whom the file is charged, if nobody pays for it
 * @gfp: GFP_KERNEL, or GFP_NOWAIT in a callback
 *
 * Context: Any but NMI; process with GFP_KERNEL.  mmap_lock held.
 * Return: as bee_file_get(), or ERR_PTR(-EDQUOT): over the share of @payer; NULL for anonymous
 * memory; bee_file_unknown in a callback that may not look further.
 */
struct bee_file *bee_file_get_vma(const struct vm_area_struct *vma, struct bee_payer *payer,
				  gfp_t gfp)
{
	const char *name = NULL;

	if (vma->vm_file)
		return file_get_or_create(file_inode(vma->vm_file),
					  bee_compat_file_user_path(vma->vm_file), payer, gfp);
	/* The vDSO by its name, as in perf_event_mmap_event() (kernel/events/core.c). */
	if (vma->vm_ops && vma->vm_ops->name)
		name = vma->vm_ops->name((struct vm_area_struct *)vma);
	return name && !strcmp(name, "[vdso]") ? file_get_or_create(NULL, NULL, payer, gfp) : NULL;
}

/** bee_file_get_id() - the file with a reference, or NULL.  Context: Any but NMI. */
struct bee_file *bee_file_get_id(u32 id)
{
	struct bee_file *f;

	spin_lock(&file_lock);
	f = xa_load(&file_ids, id);
	if (f)
		file_take(f, NULL);
	spin_unlock(&file_lock);
	return f;
}

/**
 * bee_file_get_id_for() - as bee_file_get_id(), for a range
 * @id: the file
 * @owner: cookie of the address space that is to have the range
 * @payer: to whom the file is charged, if nobody pays for it
 *
 * Context: Any but NMI.
 * Return: the file with a reference; NULL: there is none, or it stands for memory of another
 * address space, or for memory and has no table; -EDQUOT: the share of @payer has no room for it.
 */
struct bee_file *bee_file_get_id_for(u32 id, u64 owner, struct bee_payer *payer)
{
	struct bee_file *f;
	int err;

	spin_lock(&file_lock);
	f = xa_load(&file_ids, id);
	if (f && f->owner && f->owner != owner)
		f = NULL;
	err = f ? file_take(f, payer) : 0;
	spin_unlock(&file_lock);
	if (err)
		return ERR_PTR(err);
	/* It was evicted just now.  From here on it cannot be: somebody pays for it. */
	if (f && f->owner && !READ_ONCE(f->table_bytes)) {
		bee_file_put(f);
		f = NULL;
	}
	return f;
}

/**
 * bee_file_spread() - give each CPU counters of its own for what walks count in a file
 * @id: the file, which may be gone
 *
 * They go with the file.  Without memory, or room in the share of who pays for the file, all CPUs
 * count in the same ones as before.
 *
 * Context: Process, may sleep; one at a time.
 */
void bee_file_spread(u32 id)
{
	struct bee_file *f = bee_file_get_id(id);
	struct bee_tally_cpu __percpu *cpus;
	u64 bytes = bee_tally_spread_bytes();

	if (!f)
		return;
	cpus = f->tally.cpus ? NULL : bee_tally_alloc();
	if (cpus && bee_budget_charge_nowait(BEE_BUDGET_FILES, bytes)) {
		raw_spin_lock(&file_user_lock);
		if (bee_payer_charge(f->payer, bytes)) {
			f->paid += f->payer ? bytes : 0;
			bee_tally_spread(&f->tally, cpus);
			cpus = NULL;
		}
		raw_spin_unlock(&file_user_lock);
		if (cpus)
			bee_budget_uncharge(BEE_BUDGET_FILES, bytes);
	}
	free_percpu(cpus);
	bee_file_put(f);
}

/* It is not fresh any longer. */
static void file_clear_fresh(struct bee_file *f)
{
	lockdep_assert_held(&file_lock);
	if (!file_is_fresh(f))
		return;
	xa_clear_mark(&file_ids, f->id, FILE_FRESH);
	WRITE_ONCE(file_nr_fresh, file_nr_fresh - 1);
	raw_spin_lock(&file_user_lock);
	if (file_is_idle(f))
		list_move_tail(&f->evict, &file_lost);
	raw_spin_unlock(&file_user_lock);
}

/**
 * bee_file_new_owned() - a file that stands for memory of an address space
 * @owner: cookie of the address space
 * @payer: to whom it is charged, with its table, until the caller drops its reference; then it is
 *	idle, and charged to nobody until a range has it
 * @name: to show to people
 *
 * The file is fresh.  If FILE_FRESH_MAX others are fresh too, the one with the lowest id is given
 * up, as if it had been laid: whoever made it has had time to lay it.
 *
 * Context: Process, may sleep.
 * Return: the file with a reference, or ERR_PTR(-ENOMEM): out of memory or over budget.
 */
struct bee_file *bee_file_new_owned(u64 owner, struct bee_payer *payer, const char *name)
{
	const struct bee_inode_look none = {};
	struct bee_file *f = file_alloc(&none, NULL, name, GFP_KERNEL);
	struct bee_file *oldest;
	unsigned long id = 0;
	int err;

	if (!f)
		return ERR_PTR(-ENOMEM);
	f->owner = owner;
	spin_lock(&file_lock);
	err = file_publish(f);
	if (!err) {
		oldest = file_nr_fresh < FILE_FRESH_MAX ? NULL :
			 xa_find(&file_ids, &id, ULONG_MAX, FILE_FRESH);
		if (oldest)
			file_clear_fresh(oldest);
		xa_set_mark(&file_ids, f->id, FILE_FRESH);
		WRITE_ONCE(file_nr_fresh, file_nr_fresh + 1);
		raw_spin_lock(&file_user_lock);
		file_set_payer(f, payer, 0);
		file_pay(f, bee_file_bytes(f));
		raw_spin_unlock(&file_user_lock);
	}
	spin_unlock(&file_lock);
	if (!err)
		return f;
	file_free(f);
	return ERR_PTR(-ENOMEM);
}

/**
 * bee_file_set_laid() - a request has laid a file over a range: it is not fresh any longer
 * @id: the file; nothing happens if it is not fresh, or gone
 *
 * Context: Any but NMI.
 */
void bee_file_set_laid(u32 id)
{
	struct bee_file *f;

	if (!READ_ONCE(file_nr_fresh))
		return;
	spin_lock(&file_lock);
	f = xa_load(&file_ids, id);
	if (f)
		file_clear_fresh(f);
	spin_unlock(&file_lock);
}

/**
 * bee_file_owner_gone() - an address space has ended: nobody will lay its fresh files
 * @owner: its cookie
 *
 * Context: Any but NMI.
 */
void bee_file_owner_gone(u64 owner)
{
	struct bee_file *f;
	unsigned long id;

	spin_lock(&file_lock);
	xa_for_each_marked(&file_ids, id, f, FILE_FRESH)
		if (f->owner == owner)
			file_clear_fresh(f);
	spin_unlock(&file_lock);
}

/**
 * bee_file_get_evictable() - find the file whose table is to be evicted next
 * @only_lost: look only for files that no inode can show again; otherwise these come first, then
 *	the one that has been idle longest, and last one whose table is unpaid
 *
 * Context: Any but NMI.
 * Return: the file with a reference, or NULL if there is none.
 */
struct bee_file *bee_file_get_evictable(bool only_lost)
{
	struct bee_file *f;

	/* Held so that none is forgotten: it can be used as soon as file_user_lock is not. */
	spin_lock(&file_lock);
	raw_spin_lock(&file_user_lock);
	f = list_first_entry_or_null(&file_lost, struct bee_file, evict);
	if (!f && !only_lost)
		f = list_first_entry_or_null(&file_idle, struct bee_file, evict) ?:
		    list_first_entry_or_null(&file_unpaid, struct bee_file, evict);
	raw_spin_unlock(&file_user_lock);
	if (f)
		file_take(f, NULL);
	spin_unlock(&file_lock);
	return f;
}

/**
 * bee_file_next() - the first file from an id on
 * @id: the first id wanted
 *
 * Context: Any but NMI.  Caller holds the RCU read lock, which keeps the result.
 * Return: the file, or NULL.
 */
struct bee_file *bee_file_next(unsigned long id)
{
	return xa_find(&file_ids, &id, ULONG_MAX, XA_PRESENT);
}

/* Drop a reference.  Return: whether it was the last one of a file that is to be forgotten. */
static bool file_put_locked(struct bee_file *f)
{
	bool last;

	lockdep_assert_held(&file_lock);
	raw_spin_lock(&file_user_lock);
	last = refcount_dec_and_test(&f->users);
	if (last && rcu_access_pointer(f->table)) {
		list_move_tail(&f->evict, file_is_lost(f) ? &file_lost : &file_idle);
		file_set_evictable(f, bee_file_bytes(f));
		file_drop_payer(f);
		last = false;
	}
	raw_spin_unlock(&file_user_lock);
	return last;
}

/** bee_file_put() - drop a reference; @f may be NULL.  Context: as bee_file_get_id(). */
void bee_file_put(struct bee_file *f)
{
	HLIST_HEAD(gone);
	bool last;

	if (!f)
		return;
	bee_file_touch(f);
	if (refcount_dec_not_one(&f->users))
		return;
	spin_lock(&file_lock);
	last = file_put_locked(f);
	if (last)
		file_unpublish(f, &gone);
	spin_unlock(&file_lock);
	if (!last)
		return;
	file_inodes_free(&gone);
	bee_file_put_live(f);
}

#if BEE_COMPAT_RT
static void file_drop_late(void)
{
	struct bee_file *f, *next;
	struct llist_node *node;

	/* Held so that it is done on return if it was begun by somebody else. */
	mutex_lock(&file_drop_mutex);
	node = llist_reverse_order(llist_del_all(&file_dropped));
	llist_for_each_entry_safe(f, next, node, dropped)
		bee_file_put(f);
	mutex_unlock(&file_drop_mutex);
}

static void file_late_work_fn(struct work_struct *work)
{
	bee_file_settle();
}
#endif

/**
 * bee_file_put_nowait() - as bee_file_put(), for callbacks
 * @f: the file, or NULL
 *
 * Where they may not take file_lock, the worker drops the last reference.  A file has one such
 * reference at most, as any two make it two users.
 *
 * Context: Any but NMI; preemption may be off.
 */
void bee_file_put_nowait(struct bee_file *f)
{
#if BEE_COMPAT_RT
	if (!f)
		return;
	bee_file_touch(f);
	if (refcount_dec_not_one(&f->users))
		return;
	llist_add(&f->dropped, &file_dropped);
	queue_work(file_wq, &file_late_work);
#else
	bee_file_put(f);
#endif
}

/**
 * bee_file_settle() - unlink inodes that have ended, and drop references that callbacks could not
 *
 * Nothing but with BEE_COMPAT_RT.
 *
 * Context: Process, may sleep.
 */
void bee_file_settle(void)
{
#if BEE_COMPAT_RT
	file_settle();
	file_drop_late();
#endif
}

/**
 * bee_file_is_inode() - whether an inode shows a file, or has shown it before it was written to
 * @f: the file
 * @inode: the inode, in use by the caller
 *
 * Writing to a mapped file changes its mtime, and so the key that it would get now; the
 * mapping still shows the same inode.
 *
 * Context: Any but NMI.
 * Return: true if it does.
 */
bool bee_file_is_inode(const struct bee_file *f, const struct inode *inode)
{
	const struct file_inode *i;
	struct rhlist_head *at;
	bool is = false;

	rcu_read_lock();
	rhl_for_each_entry_rcu(i, at, file_inode_list(inode), by_inode)
		is |= i->file == f && !file_inode_is_gone(i);
	rcu_read_unlock();
	return is;
}

#if !BEE_COMPAT_RT
/* Not inlined, so that the end of an unknown inode does not pay for its variables. */
static noinline void file_forget_inode(const struct inode *inode)
{
	struct bee_inode_look look;
	struct rhlist_head *list;
	struct file_inode *i;
	HLIST_HEAD(gone);

	bee_inode_look(&look, inode);
	spin_lock(&file_lock);
	rcu_read_lock();
	while ((list = file_inode_list(inode))) {
		i = container_of(list, struct file_inode, by_inode);
		/* The ctime that the inode will have when it is read again. */
		if (file_has_key(i->file, &look.key))
			file_note(i->file, look.ctime, &i->file->build_id);
		file_inode_unlink(i, &gone);
	}
	rcu_read_unlock();
	spin_unlock(&file_lock);
	file_inodes_free(&gone);
}
#else
/* Note that it has ended; file_settle() does what there is to do, which takes file_lock. */
static noinline void file_forget_inode(const struct inode *inode)
{
	struct bee_inode_look look;
	struct rhlist_head *at;
	struct file_inode *i;

	bee_inode_look(&look, inode);
	rcu_read_lock();
	rhl_for_each_entry_rcu(i, at, file_inode_list(inode), by_inode) {
		raw_spin_lock(&file_gone_lock);
		if (!i->unlinked && list_empty(&i->gone)) {
			i->shown = file_has_key(i->file, &look.key);
			i->ctime = look.ctime;
			WRITE_ONCE(i->is_gone, true);
			list_add_tail(&i->gone, &file_gone);
		}
		raw_spin_unlock(&file_gone_lock);
	}
	rcu_read_unlock();
	queue_work(file_wq, &file_late_work);
}
#endif

/**
 * bee_file_inode_gone() - an inode ends; its address may become that of another
 * @inode: the inode; nobody uses it any more
 *
 * Takes no lock if the inode is unknown, as nearly all are.
 *
 * Context: Process; preemption may be off.
 */
void bee_file_inode_gone(const struct inode *inode)
{
	bool known;

	if (!bee_file_count())
		return;
	rcu_read_lock();
	known = file_inode_list(inode);
	rcu_read_unlock();
	if (known)
		file_forget_inode(inode);
}

/** bee_file_changed() - note that a file or table was added or removed.  Context: Any. */
void bee_file_changed(void)
{
	atomic_inc(&file_seq);
}

/**
 * bee_file_seq() - for dumps, a number that changes with every bee_file_changed()
 *
 * Context: Any.
 * Return: the number; odd, so never 0, which genl_dump_check_consistent() does not compare.
 */
unsigned int bee_file_seq(void)
{
	return 2 * (unsigned int)atomic_read(&file_seq) + 1;
}

/** bee_file_count() - number of files.  Context: Any. */
u32 bee_file_count(void)
{
	return READ_ONCE(file_nr);
}

/** bee_file_evictable() - bytes of idle files, and of unpaid tables.  Context: Any. */
u64 bee_file_evictable(void)
{
	return READ_ONCE(file_evictable);
}

/**
 * bee_file_init() - make the hashes
 * @wq: runs what callbacks may not do, with BEE_COMPAT_RT
 *
 * Context: Process, may sleep.
 * Return: 0 or -errno.
 */
int bee_file_init(struct workqueue_struct *wq)
{
	int err = rhltable_init(&file_inodes, &file_inode_params);

#if BEE_COMPAT_RT
	file_wq = wq;
#endif
	if (err)
		return err;
	err = rhashtable_init(&file_equals, &file_equal_params);
	if (err)
		rhltable_destroy(&file_inodes);
	return err;
}

/**
 * bee_file_exit() - wait until all files are freed; nothing refers to any
 *
 * Context: Process, may sleep.
 */
void bee_file_exit(void)
{
#if BEE_COMPAT_RT
	cancel_work_sync(&file_late_work);
#endif
	bee_file_settle();
	rcu_barrier();
	WARN_ON(!xa_empty(&file_ids) || file_evictable);
	rhashtable_destroy(&file_equals);
	rhltable_destroy(&file_inodes);
}
