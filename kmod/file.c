// SPDX-License-Identifier: GPL-2.0
/*
 * Files: every file that is mapped by a managed address space, or has a table.
 *
 * Ranges refer to files, not to tables: adding, replacing or deleting a table takes effect for all
 * mappings of its file at once.
 *
 * file_lock protects the hashes and the list.  It is raw since ftrace callbacks that may run
 * with preemption off take it.  Nothing is allocated or freed and no lock taken under it.
 */
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "budget.h"
#include "compat.h"
#include "file.h"

#define FILE_NAME_MAX	255		/* bytes kept of a path: the last ones */

static DEFINE_RAW_SPINLOCK(file_lock);
static DEFINE_HASHTABLE(file_keys, 10);
static DEFINE_HASHTABLE(file_ids, 10);
LIST_HEAD(bee_file_list);
static u32 file_next_id = 1;		/* file_lock */
static u32 file_nr;			/* file_lock */
static atomic_t file_seq;

static u32 file_key_hash(const struct bee_file_key *key)
{
	return jhash2((const u32 *)key, sizeof(*key) / sizeof(u32), 0);
}

/* Takes a reference.  A file whose last reference is being dropped is not found. */
static struct bee_file *file_get_key(const struct bee_file_key *key)
{
	struct bee_file *f, *found = NULL;

	lockdep_assert_held(&file_lock);
	hash_for_each_possible(file_keys, f, by_key, file_key_hash(key))
		if (!memcmp(&f->key, key, sizeof(*key)) && refcount_inc_not_zero(&f->refs))
			found = f;
	return found;
}

static struct bee_file *file_find_id(u32 id)
{
	struct bee_file *f;

	lockdep_assert_held(&file_lock);
	hash_for_each_possible(file_ids, f, by_id, id)
		if (f->id == id)
			return f;
	return NULL;
}

/** bee_file_bytes() - kernel memory of a file without its table, bytes.  Context: Any. */
u64 bee_file_bytes(const struct bee_file *f)
{
	return struct_size(f, name, strlen(f->name) + 1);
}

static struct bee_file *file_alloc(const struct bee_file_key *key, const struct path *path,
				   gfp_t gfp)
{
	char *buffer = kmalloc(PATH_MAX, gfp | __GFP_NOWARN);
	const char *name = "[vdso]";
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
		f->key = *key;
		memcpy(f->name, name, length);
		refcount_set(&f->refs, 1);
		bee_file_touch(f);
		if (!bee_budget_charge_nowait(BEE_BUDGET_FILES, bee_file_bytes(f))) {
			kfree(f);
			f = NULL;
		}
	}
	kfree(buffer);
	return f;
}

static void file_free(struct bee_file *f)
{
	bee_budget_uncharge(BEE_BUDGET_FILES, bee_file_bytes(f));
	kfree(f);
}

static void file_free_rcu(struct rcu_head *rcu)
{
	file_free(container_of(rcu, struct bee_file, rcu));
}

/* @inode and @path: NULL for the vDSO. */
static struct bee_file *file_get_or_create(const struct inode *inode, const struct path *path,
					   gfp_t gfp)
{
	struct bee_file *f, *fresh;
	struct bee_file_key key = {};

	if (inode) {
		struct timespec64 mtime = bee_compat_inode_mtime(inode);

		key = (struct bee_file_key) {
			.dev = inode->i_sb->s_dev,
			.ino = inode->i_ino,
			.generation = inode->i_generation,
			.size = i_size_read(inode),
			.mtime_sec = mtime.tv_sec,
			.mtime_nsec = mtime.tv_nsec,
		};
	}
	raw_spin_lock(&file_lock);
	f = file_get_key(&key);
	raw_spin_unlock(&file_lock);
	if (f)
		return f;
	fresh = file_alloc(&key, path, gfp);
	if (!fresh)
		return ERR_PTR(-ENOMEM);
	raw_spin_lock(&file_lock);
	f = file_get_key(&key);
	if (f) {
		/* Another CPU has published the same file meanwhile. */
		raw_spin_unlock(&file_lock);
		file_free(fresh);
		return f;
	}
	do
		fresh->id = file_next_id++;
	while (!fresh->id || file_find_id(fresh->id));
	hash_add(file_keys, &fresh->by_key, file_key_hash(&fresh->key));
	hash_add(file_ids, &fresh->by_id, fresh->id);
	list_add_tail_rcu(&fresh->node, &bee_file_list);
	WRITE_ONCE(file_nr, file_nr + 1);
	bee_file_changed();
	raw_spin_unlock(&file_lock);
	return fresh;
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
	return file_get_or_create(d_real_inode(exe->f_path.dentry), &exe->f_path, GFP_KERNEL);
}

/*
 * bee_file_get_vdso() - as bee_file_get(); the vDSO has one image for all 64-bit processes.
 * Context: Process, may sleep.
 */
struct bee_file *bee_file_get_vdso(void)
{
	return file_get_or_create(NULL, NULL, GFP_KERNEL);
}

/**
 * bee_file_get_vma() - the file behind a mapping
 * @vma: the mapping; on overlayfs its vm_file has the inode of the layer below
 * @gfp: GFP_KERNEL, or GFP_NOWAIT in a callback
 *
 * Context: Any but NMI; process with GFP_KERNEL.  mmap_lock held.
 * Return: as bee_file_get(); NULL for anonymous memory.
 */
struct bee_file *bee_file_get_vma(const struct vm_area_struct *vma, gfp_t gfp)
{
	const char *name = NULL;

	if (vma->vm_file)
		return file_get_or_create(file_inode(vma->vm_file),
					  bee_compat_file_user_path(vma->vm_file), gfp);
	/* The vDSO by its name, as in perf_event_mmap_event() (kernel/events/core.c). */
	if (vma->vm_ops && vma->vm_ops->name)
		name = vma->vm_ops->name((struct vm_area_struct *)vma);
	return name && !strcmp(name, "[vdso]") ? file_get_or_create(NULL, NULL, gfp) : NULL;
}

/** bee_file_get_id() - the file with a reference, or NULL.  Context: Any but NMI. */
struct bee_file *bee_file_get_id(u32 id)
{
	struct bee_file *f;

	raw_spin_lock(&file_lock);
	f = file_find_id(id);
	if (f && !refcount_inc_not_zero(&f->refs))
		f = NULL;
	raw_spin_unlock(&file_lock);
	return f;
}

/** bee_file_put() - drop a reference; @f may be NULL.  Context: Any but NMI. */
void bee_file_put(struct bee_file *f)
{
	if (!f)
		return;
	bee_file_touch(f);
	if (!refcount_dec_and_test(&f->refs))
		return;
	raw_spin_lock(&file_lock);
	hash_del(&f->by_key);
	hash_del(&f->by_id);
	list_del_rcu(&f->node);
	WRITE_ONCE(file_nr, file_nr - 1);
	bee_file_changed();
	raw_spin_unlock(&file_lock);
	call_rcu(&f->rcu, file_free_rcu);
}

/**
 * bee_file_is_inode() - whether a file is this inode
 * @f: the file
 * @inode: the inode
 *
 * Writing to a mapped file changes its mtime, and so the key that it would get now; the
 * mapping still shows the same inode.
 *
 * Context: Any.
 * Return: true, even if the contents have changed since.
 */
bool bee_file_is_inode(const struct bee_file *f, const struct inode *inode)
{
	return f->key.ino == inode->i_ino && f->key.dev == inode->i_sb->s_dev &&
	       f->key.generation == inode->i_generation;
}

/** bee_file_changed() - note that a file or table was added or removed.  Context: Any. */
void bee_file_changed(void)
{
	atomic_inc(&file_seq);
}

/*
 * bee_file_seq() - for dumps, a number that changes with every bee_file_changed().  Odd, since
 * genl_dump_check_consistent() does not check 0.  Context: Any.
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

/** bee_file_exit() - wait until all files are freed; nothing refers to any.  Context: Process. */
void bee_file_exit(void)
{
	rcu_barrier();
	WARN_ON(!list_empty(&bee_file_list));
}
