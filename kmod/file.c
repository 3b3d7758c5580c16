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
 *   build-id can be chosen by whoever makes a file, ctime cannot, so no file can pass for another.
 * Someone who patches a file, keeps its build-id and sets its mtime back, gets wrong stacks for it.
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
static DEFINE_HASHTABLE(file_inodes, 10);
LIST_HEAD(bee_file_list);
static u32 file_next_id = 1;		/* file_lock */
static u32 file_nr;			/* file_lock */
static atomic_t file_seq;

/**
 * struct file_inode - an inode in memory that shows a file
 * @inode: its address, which is compared and never followed
 * @file: the file
 * @by_inode: in the hash by address (file_lock, RCU for reading)
 * @node: in the file's list (file_lock)
 * @rcu: frees it
 *
 * An inode that has been written to shows several files: of each its mappings from that time.
 */
struct file_inode {
	const struct inode	*inode;
	struct bee_file		*file;
	struct hlist_node	 by_inode;
	struct hlist_node	 node;
	struct rcu_head		 rcu;
};

static struct file_inode *file_inode_alloc(gfp_t gfp)
{
	struct file_inode *i;

	if (!bee_budget_charge_nowait(BEE_BUDGET_FILES, sizeof(*i)))
		return NULL;
	i = kzalloc(sizeof(*i), gfp | __GFP_NOWARN);
	if (!i)
		bee_budget_uncharge(BEE_BUDGET_FILES, sizeof(*i));
	return i;
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

static void file_inode_link(struct bee_file *f, struct file_inode *i, const struct inode *inode)
{
	lockdep_assert_held(&file_lock);
	i->inode = inode;
	i->file = f;
	hash_add_rcu(file_inodes, &i->by_inode, (unsigned long)inode);
	hlist_add_head(&i->node, &f->inodes);
	WRITE_ONCE(f->ninodes, f->ninodes + 1);
}

static void file_inode_unlink(struct file_inode *i, struct hlist_head *gone)
{
	lockdep_assert_held(&file_lock);
	hash_del_rcu(&i->by_inode);
	hlist_del(&i->node);
	WRITE_ONCE(i->file->ninodes, i->file->ninodes - 1);
	hlist_add_head(&i->node, gone);
}

static u32 file_key_hash(const struct bee_file_key *key)
{
	return jhash2((const u32 *)key, sizeof(*key) / sizeof(u32), 0);
}

static bool file_has_key(const struct bee_file *f, const struct bee_file_key *key)
{
	return !memcmp(&f->key, key, sizeof(*key));
}

/* Takes a reference.  A file whose last reference is being dropped is not found. */
static struct bee_file *file_get_inode(const struct bee_inode_look *look)
{
	struct file_inode *i;

	lockdep_assert_held(&file_lock);
	hash_for_each_possible(file_inodes, i, by_inode, (unsigned long)look->inode)
		if (i->inode == look->inode && file_has_key(i->file, &look->key) &&
		    !bee_build_id_differ(&i->file->build_id, &look->build_id) &&
		    refcount_inc_not_zero(&i->file->refs))
			return i->file;
	return NULL;
}

/* As file_get_inode(), without the build-id: enough if the inode is as it was at the last look. */
static struct bee_file *file_get_unchanged(const struct bee_inode_look *look)
{
	struct bee_file *f;
	bool same;

	raw_spin_lock(&file_lock);
	f = file_get_inode(look);
	same = f && f->ctime == look->ctime && f->build_id.looked;
	raw_spin_unlock(&file_lock);
	if (same)
		return f;
	bee_file_put(f);
	return NULL;
}

/* As file_get_inode(), with the build-id if that can be had; notes what the inode says now. */
static struct bee_file *file_get_changed(const struct bee_inode_look *look)
{
	struct bee_file *f = file_get_inode(look);

	if (!f)
		return NULL;
	f->ctime = look->ctime;
	if (look->build_id.looked)
		f->build_id = look->build_id;
	return f;
}

/* As file_get_inode(), for an inode that is not known. */
static struct bee_file *file_get_equal(const struct bee_inode_look *look)
{
	struct bee_file *f;

	lockdep_assert_held(&file_lock);
	hash_for_each_possible(file_keys, f, by_key, file_key_hash(&look->key))
		if (file_has_key(f, &look->key) && f->ctime == look->ctime &&
		    bee_build_id_equal(&f->build_id, &look->build_id) &&
		    refcount_inc_not_zero(&f->refs))
			return f;
	return NULL;
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

static u64 file_size(const struct bee_file *f)
{
	return struct_size(f, name, strlen(f->name) + 1);
}

/** bee_file_bytes() - kernel memory of a file and its inodes, without its table.  Context: Any. */
u64 bee_file_bytes(const struct bee_file *f)
{
	return file_size(f) + READ_ONCE(f->ninodes) * sizeof(struct file_inode);
}

static struct bee_file *file_alloc(const struct bee_inode_look *look, const struct path *path,
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
		f->key = look->key;
		f->ctime = look->ctime;
		f->build_id = look->build_id;
		memcpy(f->name, name, length);
		refcount_set(&f->refs, 1);
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
	kfree(f);
}

static void file_free_rcu(struct rcu_head *rcu)
{
	file_free(container_of(rcu, struct bee_file, rcu));
}

/* Add a new file to the hashes and the list. */
static void file_publish(struct bee_file *f)
{
	lockdep_assert_held(&file_lock);
	do
		f->id = file_next_id++;
	while (!f->id || file_find_id(f->id));
	hash_add(file_keys, &f->by_key, file_key_hash(&f->key));
	hash_add(file_ids, &f->by_id, f->id);
	list_add_tail_rcu(&f->node, &bee_file_list);
	WRITE_ONCE(file_nr, file_nr + 1);
	bee_file_changed();
}

/*
 * The file that an inode shows at the first look at it: a known one, or else *@fresh, which is
 * published.  *@fresh and *@i become NULL if they are used.
 */
static struct bee_file *file_get_first(const struct bee_inode_look *look, struct bee_file **fresh,
				       struct file_inode **i)
{
	/* Another CPU may have been here since the inode was found to be unknown. */
	struct bee_file *f = file_get_changed(look);

	if (f)
		return f;
	f = file_get_equal(look);
	if (!f) {
		f = *fresh;
		*fresh = NULL;
		file_publish(f);
	}
	file_inode_link(f, *i, look->inode);
	*i = NULL;
	return f;
}

/* @inode and @path: NULL for the vDSO. */
static struct bee_file *file_get_or_create(const struct inode *inode, const struct path *path,
					   gfp_t gfp)
{
	struct bee_inode_look look;
	struct bee_file *f, *fresh;
	struct file_inode *i;

	bee_inode_look(&look, inode);
	f = file_get_unchanged(&look);
	if (f)
		return f;
	bee_inode_look_build_id(&look, gfp);
	raw_spin_lock(&file_lock);
	f = file_get_changed(&look);
	raw_spin_unlock(&file_lock);
	if (f)
		return f;
	fresh = file_alloc(&look, path, gfp);
	i = file_inode_alloc(gfp);
	if (fresh && i) {
		raw_spin_lock(&file_lock);
		f = file_get_first(&look, &fresh, &i);
		raw_spin_unlock(&file_lock);
	}
	if (fresh)
		file_free(fresh);
	file_inode_free(i);
	return f ?: ERR_PTR(-ENOMEM);
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
	struct file_inode *i;
	struct hlist_node *next;
	HLIST_HEAD(gone);

	if (!f)
		return;
	bee_file_touch(f);
	if (!refcount_dec_and_test(&f->refs))
		return;
	raw_spin_lock(&file_lock);
	hlist_for_each_entry_safe(i, next, &f->inodes, node)
		file_inode_unlink(i, &gone);
	hash_del(&f->by_key);
	hash_del(&f->by_id);
	list_del_rcu(&f->node);
	WRITE_ONCE(file_nr, file_nr - 1);
	bee_file_changed();
	raw_spin_unlock(&file_lock);
	file_inodes_free(&gone);
	call_rcu(&f->rcu, file_free_rcu);
}

/**
 * bee_file_is_inode() - whether an inode shows a file, or has shown it before it was written to
 * @f: the file
 * @inode: the inode, in use by the caller
 *
 * Writing to a mapped file changes its mtime, and so the key that it would get now; the
 * mapping still shows the same inode.
 *
 * Context: Any, NMI-safe.
 * Return: true if it does.
 */
bool bee_file_is_inode(const struct bee_file *f, const struct inode *inode)
{
	const struct file_inode *i;
	bool is = false;

	rcu_read_lock();
	hash_for_each_possible_rcu(file_inodes, i, by_inode, (unsigned long)inode)
		is |= i->inode == inode && i->file == f;
	rcu_read_unlock();
	return is;
}

/* A function of its own, so that its variables are not set up for inodes that are unknown. */
static noinline void file_forget_inode(const struct inode *inode)
{
	struct bee_inode_look look;
	struct hlist_node *next;
	struct file_inode *i;
	HLIST_HEAD(gone);

	bee_inode_look(&look, inode);
	raw_spin_lock(&file_lock);
	hash_for_each_possible_safe(file_inodes, i, next, by_inode, (unsigned long)inode) {
		if (i->inode != inode)
			continue;
		/* When it is read again its ctime is this one. */
		if (file_has_key(i->file, &look.key))
			i->file->ctime = look.ctime;
		file_inode_unlink(i, &gone);
	}
	raw_spin_unlock(&file_lock);
	file_inodes_free(&gone);
}

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
	const struct file_inode *i;
	bool known = false;

	rcu_read_lock();
	hash_for_each_possible_rcu(file_inodes, i, by_inode, (unsigned long)inode)
		known |= i->inode == inode;
	rcu_read_unlock();
	if (known)
		file_forget_inode(inode);
}

/**
 * bee_file_is_lost() - whether no inode can show a file again
 * @f: the file, without a mapping
 *
 * Context: Any.  Caller keeps @f alive.
 * Return: true if its inodes are gone and its build-id is not known.
 */
bool bee_file_is_lost(const struct bee_file *f)
{
	return hlist_empty(&f->inodes) && !f->build_id.len;
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
