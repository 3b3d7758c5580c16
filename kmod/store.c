// SPDX-License-Identifier: GPL-2.0
/*
 * The store: tables in kernel memory, at most one for each file.
 *
 * store_mutex is held to change a file's table pointer.  Walks read the pointer under RCU, so
 * a table is freed a grace period after it was replaced or removed.
 *
 * A file that is no longer mapped stays as long as it has a table; such a table is idle, and in a
 * list of file.c.  When memory is short idle tables are evicted, the one that has been idle longest
 * first.  If the file is mapped again while its table is evicted, the new range refers to a file
 * without a table, as if the mapping had come later.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/shrinker.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "news.h"
#include "store.h"

static DEFINE_MUTEX(store_mutex);
static u32 store_nr;			/* store_mutex */
static atomic64_t store_serial;		/* of the last table */
static struct shrinker *store_shrinker;

#define store_dereference(p)	rcu_dereference_protected(p, lockdep_is_held(&store_mutex))

/**
 * bee_store_bytes() - kernel memory of a table
 * @size: its bytes
 *
 * Context: Any.
 * Return: the bytes that the kernel takes for it: whole pages if it is larger than a page, else the
 * slab object that kmalloc() returns.
 */
u64 bee_store_bytes(size_t size)
{
	return kmalloc_size_roundup(sizeof(struct bee_stored)) +
	       (size > PAGE_SIZE ? PAGE_ALIGN(size) : kmalloc_size_roundup(size));
}

/*
 * Not kvmalloc(): it takes a power of two of pages, if there are so many in one piece, and keeps
 * them all.  alloc_pages_exact() gives those back that are not needed.
 */
static void *blob_alloc(size_t size)
{
	const gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_NOWARN;

	if (size <= PAGE_SIZE)
		return kmalloc(size, gfp);
	return alloc_pages_exact(size, gfp | __GFP_NORETRY) ?: __vmalloc(size, gfp);
}

static void blob_free(void *blob, size_t size)
{
	if (size <= PAGE_SIZE || is_vmalloc_addr(blob))
		kvfree(blob);
	else
		free_pages_exact(blob, size);
}

static void stored_free(struct bee_stored *stored)
{
	bee_budget_uncharge(BEE_BUDGET_FILES, bee_store_bytes(stored->table.size));
	blob_free(stored->blob, stored->table.size);
	kfree(stored);
}

static void stored_free_rcu(struct rcu_head *rcu)
{
	stored_free(container_of(rcu, struct bee_stored, rcu));
}

static int store_refuse(struct netlink_ext_ack *extack)
{
	NL_SET_ERR_MSG(extack, "table: over the share of the user who has the file mapped");
	return -EDQUOT;
}

/* Memory for the table that @file holds, for @f, charged to the budget. */
static struct bee_stored *stored_alloc(const struct bee_file *f, struct file *file,
				       struct netlink_ext_ack *extack)
{
	const struct inode *inode = file_inode(file);
	loff_t len = i_size_read(inode);
	struct bee_stored *stored;
	int err;

	if (!S_ISREG(inode->i_mode) || !(file->f_mode & FMODE_READ)) {
		NL_SET_ERR_MSG(extack, "table: fd is not a regular file open for reading");
		return ERR_PTR(-EBADF);
	}
	/* mm/shmem.c.  Other file systems may let the read wait long, under genetlink's cb_lock. */
	if (inode->i_sb->s_magic != TMPFS_MAGIC) {
		NL_SET_ERR_MSG(extack, "table: fd is not in memory; copy it into a memfd");
		return ERR_PTR(-EINVAL);
	}
	if (len <= 0 || len > BEE_TABLE_MAX_SIZE) {
		NL_SET_ERR_MSG(extack, "table: empty or larger than a table may be");
		return ERR_PTR(-EFBIG);
	}
	/* First: the budget would evict tables of others for it. */
	if (!bee_file_has_room(f, bee_store_bytes(len)))
		return ERR_PTR(store_refuse(extack));
	err = bee_budget_charge(BEE_BUDGET_FILES, bee_store_bytes(len), extack);
	if (err)
		return ERR_PTR(err);
	stored = kzalloc(sizeof(*stored), GFP_KERNEL_ACCOUNT);
	if (stored)
		stored->blob = blob_alloc(len);
	if (stored && stored->blob) {
		stored->table.size = len;
		return stored;
	}
	kfree(stored);
	bee_budget_uncharge(BEE_BUDGET_FILES, bee_store_bytes(len));
	NL_SET_ERR_MSG(extack, "table: out of memory");
	return ERR_PTR(-ENOMEM);
}

/* Read @file and validate the copy, which nobody else can change. */
static int stored_fill(struct bee_stored *stored, struct file *file, struct netlink_ext_ack *extack)
{
	const struct bee_table_segment *segment;
	size_t len = stored->table.size;
	struct bee_table_error error;
	loff_t pos = 0;
	ssize_t n = 1;
	int err;

	while (pos < len && n > 0)
		n = kernel_read(file, (u8 *)stored->blob + pos, len - pos, &pos);
	if (pos != len) {
		NL_SET_ERR_MSG(extack, "table: the file shrank or failed while it was read");
		return n < 0 ? n : -EIO;
	}
	err = bee_table_validate(stored->blob, len, &stored->table, &error);
	if (err) {
		/* For stored_free(): the validator may have changed it. */
		stored->table.size = len;
		NL_SET_ERR_MSG_FMT(extack, "table: %s (at offset %llu)", error.why, error.offset);
		return err;
	}
	segment = stored->table.segments;
	stored->delta = le64_to_cpu(segment->vaddr) - le64_to_cpu(segment->offset);
	stored->one_segment = stored->table.nsegments == 1;
	/* 64 bits do not wrap. */
	stored->serial = atomic64_inc_return(&store_serial);
	return 0;
}

/*
 * Replace a file's table, or with NULL remove it; then bee_news_reset() is to follow.  The caller
 * holds a reference on the file, and has called bee_file_set_table_bytes().
 */
static void store_set(struct bee_file *f, struct bee_stored *stored)
{
	struct bee_stored *old = store_dereference(f->table);

	rcu_assign_pointer(f->table, stored);
	WRITE_ONCE(store_nr, store_nr + !!stored - !!old);
	bee_file_changed();
	if (old)
		call_rcu(&old->rcu, stored_free_rcu);
}

/* Remove the table of a file that bee_file_get_evictable() has found.  Return: bytes to be freed. */
static u64 store_drop(struct bee_file *f)
{
	/* One that is mapped stays, without its table. */
	u64 bytes = bee_file_users(f) == 1 ? bee_file_bytes(f) : READ_ONCE(f->table_bytes);

	if (bee_file_evict_table_bytes(f)) {
		store_set(f, NULL);
		bee_news_reset(f);
	} else {
		bytes = 0;
	}
	bee_file_put(f);
	return bytes;
}

/*
 * Evict tables, the one that has been idle longest first, unpaid ones last: @bytes, but at least
 * one table if there is any.
 *
 * Return: bytes to be freed after a grace period.
 */
static u64 store_evict_locked(u64 bytes)
{
	struct bee_file *f;
	u64 freed = 0;

	lockdep_assert_held(&store_mutex);
	do {
		f = bee_file_get_evictable(false);
		if (!f)
			break;
		freed += store_drop(f);
		cond_resched();
	} while (freed < bytes);
	return freed;
}

/*
 * Remove tables that can serve no one any more: of files that were evicted from memory and cannot
 * be recognised, and of memory that is gone.  Whoever maps such a file next is told that it has no
 * table.
 */
static void store_remove_lost(void)
{
	struct bee_file *f;

	lockdep_assert_held(&store_mutex);
	while ((f = bee_file_get_evictable(true))) {
		store_drop(f);
		cond_resched();
	}
}

static u64 store_evict(u64 bytes)
{
	u64 freed;

	mutex_lock(&store_mutex);
	freed = store_evict_locked(bytes);
	mutex_unlock(&store_mutex);
	return freed;
}

const struct bee_budget_reclaim bee_store_reclaim = {
	.evictable = bee_file_evictable,
	.evict = store_evict,
};

/**
 * bee_store_add() - read, validate and keep the table of a file
 * @f: the file; the caller holds a reference
 * @file: the table, a memfd or a file of tmpfs; read once, now
 * @replaced: filled: the file had a table, which was another one
 * @extack: the reason of a refusal
 *
 * The table replaces one that the file has, and holds for all mappings of the file at once.
 *
 * Context: Process, may sleep.
 * Return: 0, also if the file has an equal table already, or -errno; -EDQUOT if the share of who
 * pays for the file has no room.
 */
int bee_store_add(struct bee_file *f, struct file *file, bool *replaced,
		  struct netlink_ext_ack *extack)
{
	struct bee_stored *stored = stored_alloc(f, file, extack), *old;
	int err;

	*replaced = false;
	if (IS_ERR(stored))
		return PTR_ERR(stored);
	err = stored_fill(stored, file, extack);
	if (err) {
		stored_free(stored);
		return err;
	}
	mutex_lock(&store_mutex);
	store_remove_lost();
	old = store_dereference(f->table);
	if (old && old->table.size == stored->table.size &&
	    !memcmp(old->blob, stored->blob, old->table.size)) {
		stored_free(stored);
	} else if (bee_file_set_table_bytes(f, bee_store_bytes(stored->table.size))) {
		*replaced = old;
		store_set(f, stored);
	} else {
		stored_free(stored);
		err = store_refuse(extack);
	}
	mutex_unlock(&store_mutex);
	return err;
}

/**
 * bee_store_del() - remove the table of a file
 * @f: the file; the caller holds a reference
 * @force: even if it is mapped; walks through its mappings then use the frame pointer
 * @extack: the reason of a refusal
 *
 * The file is not announced again before the caller has said bee_news_reset().
 *
 * Context: Process, may sleep.
 * Return: 0, -ENOENT or -EBUSY.
 */
int bee_store_del(struct bee_file *f, bool force, struct netlink_ext_ack *extack)
{
	int ret = 0;

	mutex_lock(&store_mutex);
	/* The reference that this request holds counts as one user. */
	if (!rcu_access_pointer(f->table)) {
		NL_SET_ERR_MSG_FMT(extack, "file %u has no table", f->id);
		ret = -ENOENT;
	} else if (!force && bee_file_users(f) != 1) {
		NL_SET_ERR_MSG_FMT(extack, "the table of file %u is used by %u mappings", f->id,
				   bee_file_users(f) - 1);
		ret = -EBUSY;
	} else {
		bee_file_set_table_bytes(f, 0);
		store_set(f, NULL);
	}
	mutex_unlock(&store_mutex);
	return ret;
}

/** bee_store_prune() - remove tables that can serve no one.  Context: Process, may sleep. */
void bee_store_prune(void)
{
	mutex_lock(&store_mutex);
	store_remove_lost();
	mutex_unlock(&store_mutex);
}

/** bee_store_count() - number of tables.  Context: Any. */
u32 bee_store_count(void)
{
	return READ_ONCE(store_nr);
}

/*
 * Memory pressure.  Objects are pages of idle tables: the kernel asks for a share of the number
 * of objects, and a few large tables would count as next to nothing.  Reclaim can run in a task
 * that holds store_mutex, or that its owner waits for: trylock, and free nothing if it is taken.
 */
static unsigned long store_shrink_count(struct shrinker *shrinker, struct shrink_control *sc)
{
	return DIV_ROUND_UP_ULL(bee_file_evictable(), PAGE_SIZE) ?: SHRINK_EMPTY;
}

static unsigned long store_shrink_scan(struct shrinker *shrinker, struct shrink_control *sc)
{
	u64 freed;

	if (!mutex_trylock(&store_mutex))
		return SHRINK_STOP;
	freed = store_evict_locked((u64)sc->nr_to_scan << PAGE_SHIFT);
	mutex_unlock(&store_mutex);
	return DIV_ROUND_UP_ULL(freed, PAGE_SIZE) ?: SHRINK_STOP;
}

/**
 * bee_store_init() - allow eviction under memory pressure
 *
 * Context: Process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int bee_store_init(void)
{
	store_shrinker = bee_compat_shrinker_register(store_shrink_count, store_shrink_scan);
	return store_shrinker ? 0 : -ENOMEM;
}

/** bee_store_exit() - evict all tables; no file is mapped.  Context: Process, may sleep. */
void bee_store_exit(void)
{
	bee_compat_shrinker_unregister(store_shrinker);
	store_evict(U64_MAX);
	WARN_ON(store_nr);
}
