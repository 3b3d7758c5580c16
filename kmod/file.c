// SPDX-License-Identifier: GPL-2.0
/*
 * Files: what is mapped somewhere or has a table.  Ranges refer to files, not to
 * tables; so a table that comes late, goes, or is replaced, does so for every
 * mapping of its file at once.
 *
 * file_lock (the hashes, the list) is taken in callbacks that may have preemption
 * off, hence raw; nothing is allocated or freed under it, no lock taken.
 */
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "budget.h"
#include "compat.h"
#include "file.h"

/* What is kept of a path: its tail. */
#define FILE_NAME_MAX	255

static DEFINE_RAW_SPINLOCK(file_lock);
static DEFINE_HASHTABLE(file_keys, 10);
static DEFINE_HASHTABLE(file_ids, 10);
LIST_HEAD(bee_file_list);
static u32 file_next_id = 1;		/* file_lock */
static u32 file_nr;			/* file_lock */
static atomic_t file_seq;

static struct workqueue_struct *file_wq;
static bee_file_tell_t file_tell;
static bool file_hushed;

static void file_news_work(struct work_struct *work);
static DECLARE_WORK(file_news, file_news_work);

static void file_key(const struct inode *inode, struct bee_file_key *key)
{
	struct timespec64 mtime = bee_inode_mtime(inode);

	*key = (struct bee_file_key) {
		.dev = inode->i_sb->s_dev,
		.ino = inode->i_ino,
		.generation = inode->i_generation,
		.size = i_size_read(inode),
		.mtime_sec = mtime.tv_sec,
		.mtime_nsec = mtime.tv_nsec,
	};
}

static u32 file_key_hash(const struct bee_file_key *key)
{
	return jhash2((const u32 *)key, sizeof(*key) / sizeof(u32), 0);
}

/* With a reference.  One that is losing its last is as good as gone. */
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

/**
 * bee_file_bytes() - kernel memory of a file without its table
 * @f: the file
 *
 * Context: Any.
 * Return: bytes.
 */
u64 bee_file_bytes(const struct bee_file *f)
{
	return struct_size(f, name, strlen(f->name) + 1);
}

static struct bee_file *file_new(const struct bee_file_key *key, const char *name, gfp_t gfp)
{
	size_t length = strlen(name);
	struct bee_file *f;

	if (length > FILE_NAME_MAX)
		name += length - FILE_NAME_MAX;
	f = kzalloc(struct_size(f, name, min_t(size_t, length, FILE_NAME_MAX) + 1), gfp);
	if (!f)
		return NULL;
	f->key = *key;
	memcpy(f->name, name, strlen(name));	/* and a zero of kzalloc() */
	refcount_set(&f->refs, 1);
	bee_file_touch(f);
	if (bee_budget_charge(BEE_BUDGET_FILES, bee_file_bytes(f)))
		return f;
	kfree(f);
	return NULL;
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

/* Somebody else may be as fast with the same file. */
static struct bee_file *file_publish_or_get(struct bee_file *fresh)
{
	struct bee_file *f;

	raw_spin_lock(&file_lock);
	f = file_get_key(&fresh->key);
	if (!f)
		file_publish(fresh);
	raw_spin_unlock(&file_lock);
	if (!f)
		return fresh;
	file_free(fresh);
	return f;
}

static struct bee_file *file_create(const struct bee_file_key *key, const struct path *path,
				    gfp_t gfp)
{
	char *buffer = kmalloc(PATH_MAX, gfp | __GFP_NOWARN);
	struct bee_file *fresh = NULL;
	const char *name = "[vdso]";

	if (buffer) {
		if (path)
			name = d_path(path, buffer, PATH_MAX);
		fresh = file_new(key, IS_ERR(name) ? "?" : name, gfp | __GFP_NOWARN);
	}
	kfree(buffer);
	return fresh ? file_publish_or_get(fresh) : ERR_PTR(-ENOMEM);
}

static struct bee_file *file_get_or_create(const struct inode *inode, const struct path *path,
					   gfp_t gfp)
{
	struct bee_file_key key = {};
	struct bee_file *f;

	if (inode)
		file_key(inode, &key);
	raw_spin_lock(&file_lock);
	f = file_get_key(&key);
	raw_spin_unlock(&file_lock);
	return f ?: file_create(&key, path, gfp);
}

/**
 * bee_file_get() - the file that somebody has open
 * @exe: as opened; overlayfs shows its own inode there, but maps the real one
 *
 * Context: Process, may sleep.
 * Return: the file with a reference, or ERR_PTR(-ENOMEM).
 */
struct bee_file *bee_file_get(struct file *exe)
{
	return file_get_or_create(d_real_inode(exe->f_path.dentry), &exe->f_path, GFP_KERNEL);
}

/**
 * bee_file_get_vdso() - the vDSO
 *
 * Every 64-bit process has the same image.  32-bit ones have another, but their
 * stacks are not walked.
 *
 * Context: Process, may sleep.
 * Return: it with a reference, or ERR_PTR(-ENOMEM).
 */
struct bee_file *bee_file_get_vdso(void)
{
	return file_get_or_create(NULL, NULL, GFP_KERNEL);
}

/* By its name, like perf_event_mmap_event() (kernel/events/core.c). */
static bool vma_is_vdso(const struct vm_area_struct *vma)
{
	const char *name = NULL;

	if (vma->vm_ops && vma->vm_ops->name)
		name = vma->vm_ops->name((struct vm_area_struct *)vma);
	return name && !strcmp(name, "[vdso]");
}

/**
 * bee_file_get_vma() - the file behind a mapping
 * @vma: the mapping; vm_file's inode is the real one on overlayfs as well
 * @gfp: GFP_KERNEL, or GFP_NOWAIT in a callback
 *
 * Context: Any but NMI; process with GFP_KERNEL.  mmap_lock held.
 * Return: the file with a reference, NULL for anonymous memory, or ERR_PTR(-ENOMEM).
 */
struct bee_file *bee_file_get_vma(const struct vm_area_struct *vma, gfp_t gfp)
{
	if (vma->vm_file)
		return file_get_or_create(file_inode(vma->vm_file),
					  bee_file_user_path(vma->vm_file), gfp);
	return vma_is_vdso(vma) ? file_get_or_create(NULL, NULL, gfp) : NULL;
}

/**
 * bee_file_get_id() - a file by id
 * @id: the file
 *
 * Context: Any but NMI.
 * Return: the file with a reference, or NULL.
 */
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

/**
 * bee_file_put() - give a reference back
 * @f: the file, or NULL
 *
 * Context: Any but NMI.
 */
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
 * bee_file_is_inode() - whether a file is this inode, changed since or not
 * @f: the file
 * @inode: the inode
 *
 * A mapped file that is written to has another mtime, and with it another key; it
 * is still what is mapped.
 *
 * Context: Any.
 */
bool bee_file_is_inode(const struct bee_file *f, const struct inode *inode)
{
	return f->key.ino == inode->i_ino && f->key.dev == inode->i_sb->s_dev &&
	       f->key.generation == inode->i_generation;
}

/** bee_file_changed() - a file or table has come or gone.  Context: Any. */
void bee_file_changed(void)
{
	atomic_inc(&file_seq);
}

/**
 * bee_file_seq() - changes with every file and table that comes or goes
 *
 * Context: Any.
 * Return: odd, since 0 means "no check".
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

/*
 * News.  Walks cannot do more than raise an irq_work, which cannot do more than
 * queue this.
 */
static void file_news_work(struct work_struct *work)
{
	struct bee_file *f;

	rcu_read_lock();
	list_for_each_entry_rcu(f, &bee_file_list, node) {
		if (atomic_read_acquire(&f->news) != BEE_NEWS_READY || rcu_access_pointer(f->table))
			continue;
		atomic_set(&f->news, file_tell(f) ? BEE_NEWS_TOLD : BEE_NEWS_NONE);
	}
	rcu_read_unlock();
}

static void file_news_raised(struct irq_work *work)
{
	if (!READ_ONCE(file_hushed))
		queue_work(file_wq, &file_news);
}

struct irq_work bee_file_news_irq = IRQ_WORK_INIT(file_news_raised);

/**
 * bee_file_hush() - tell no more news
 *
 * Context: Process, may sleep.
 */
void bee_file_hush(void)
{
	WRITE_ONCE(file_hushed, true);
	/* A callback that has not seen that yet is over after a grace period. */
	synchronize_rcu();
	irq_work_sync(&bee_file_news_irq);
	cancel_work_sync(&file_news);
}

/**
 * bee_file_init() - begin with no file
 * @wq: runs the telling
 * @tell: tells the world
 *
 * Context: Process.
 */
void bee_file_init(struct workqueue_struct *wq, bee_file_tell_t tell)
{
	file_wq = wq;
	file_tell = tell;
}

/**
 * bee_file_exit() - no range and no table refers to a file any more
 *
 * Context: Process, may sleep.
 */
void bee_file_exit(void)
{
	rcu_barrier();
	irq_work_sync(&bee_file_news_irq);
	WARN_ON(!list_empty(&bee_file_list));
}
