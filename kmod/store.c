// SPDX-License-Identifier: GPL-2.0
/*
 * The store: files with their tables, by inode; and how much memory the module may keep.
 *
 * A file is known by the address of its inode.  No reference is held, since a table must not keep a
 * file system from being unmounted: the kernel reports the end of each inode (__destroy_inode(), see
 * hook.c) before its memory can become another inode, and with the inode its file goes.  If the inode is
 * read again it is unknown, and user space adds the table again.
 *
 * A file that has been written to since its table was added has another size or mtime, and is unknown, too.
 * Someone who patches a file and sets its mtime back gets wrong stacks for it.  ctime is not compared: perf
 * record changes it when it links the files that it has seen into its build-id cache.
 *
 * A file is never changed: a new table comes with a new file, which takes the place of the old one.
 *
 * bee_store_mutex is held to add and remove files.  store_lock protects the lists by inode; the end of an inode
 * that is known takes it, with preemption off, and leaves the rest to a worker.
 *
 * Room.  All that grows with what users do is charged to a user and to the budget, before memory is taken.
 * Where a user's share or the budget has no room, files are evicted that nobody has mapped, and then those that
 * no walk has come through for long; but no file that a walk has come through in the last seconds, or else tables
 * of two users that do not fit together would displace each other for ever.
 */
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/netlink.h>
#include <linux/shrinker.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "compat.h"
#include "store.h"

/* Most files: so many in each list by inode, on average. */
#define STORE_MOST	(16 << BEE_STORE_INODES_BITS)

/* Mapped files that no walk has come through for so long are evicted, seconds: in passes. */
static const unsigned int store_idle[] = { 3600, 60, 10 };

DEFINE_MUTEX(bee_store_mutex);
static DEFINE_RAW_SPINLOCK(store_lock);		/* inside of bee_store_mutex */
struct hlist_head bee_store_inodes[1 << BEE_STORE_INODES_BITS];
u32 bee_store_changes;				/* store_lock */
static DEFINE_XARRAY_ALLOC1(store_files);	/* by id (bee_store_mutex, RCU for reading) */
static DEFINE_XARRAY(store_users);		/* bytes charged, by uid (bee_store_mutex) */

/* Under bee_store_mutex; READ_ONCE() for reading. */
static u64 store_budget;
static u64 store_bytes;
static u32 store_share = 50;
static u32 store_nr_files;
static u32 store_nr_tables;
static unsigned long store_nothing_idle;	/* jiffies when memory pressure found no idle file */
static LIST_HEAD(store_order);			/* all files: those that eviction looks at next come first */

static atomic64_t store_serial;			/* of the last table */
static LLIST_HEAD(store_dead);			/* files whose inode has ended */
static struct shrinker *store_shrinker;

struct bee_file bee_file_unknown;

static void blob_free(void *blob, size_t size)
{
	if (size <= PAGE_SIZE || is_vmalloc_addr(blob))
		kvfree(blob);
	else
		free_pages_exact(blob, size);
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

static void file_free(struct bee_file *f)
{
	blob_free(f->stored.blob, f->stored.table.size);
	kfree(f);
}

static void file_free_rcu(struct rcu_head *rcu)
{
	file_free(container_of(rcu, struct bee_file, rcu));
}

/* Whether a table can be read from @table, into how many bytes. */
static int table_size(struct file *table, size_t *size, struct netlink_ext_ack *extack)
{
	const struct inode *inode = file_inode(table);
	loff_t len = i_size_read(inode);

	if (!S_ISREG(inode->i_mode) || !(table->f_mode & FMODE_READ)) {
		NL_SET_ERR_MSG(extack, "table: fd is not a regular file open for reading");
		return -EBADF;
	}
	/* mm/shmem.c.  Other file systems may let the read wait long, under genetlink's cb_lock. */
	if (inode->i_sb->s_magic != TMPFS_MAGIC) {
		NL_SET_ERR_MSG(extack, "table: fd is not in memory; copy it into a memfd");
		return -EINVAL;
	}
	if (len <= 0 || len > BEE_TABLE_MAX_SIZE) {
		NL_SET_ERR_MSG(extack, "table: empty or larger than a table may be");
		return -EFBIG;
	}
	*size = len;
	return 0;
}

/* Read @table and validate the copy, which nobody else can change. */
static int table_read(struct bee_stored *stored, struct file *table, struct netlink_ext_ack *extack)
{
	const struct bee_table_segment *segment;
	size_t len = stored->table.size;
	struct bee_table_error error;
	loff_t pos = 0;
	ssize_t n = 1;
	int err;

	while (pos < len && n > 0)
		n = kernel_read(table, (u8 *)stored->blob + pos, len - pos, &pos);
	if (pos != len) {
		NL_SET_ERR_MSG(extack, "table: the file shrank or failed while it was read");
		return n < 0 ? n : -EIO;
	}
	err = bee_table_validate(stored->blob, len, &stored->table, &error);
	/* The validator may have changed it, and it says how the blob is freed. */
	stored->table.size = len;
	if (err) {
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

/* What the kernel takes for a file with @size bytes of table: whole pages if they are more than one. */
static u64 file_bytes(size_t size)
{
	u64 blob = size > PAGE_SIZE ? PAGE_ALIGN(size) : kmalloc_size_roundup(size);

	return kmalloc_size_roundup(sizeof(struct bee_file)) + (size ? blob : 0);
}

/* The end of a path, or "?". */
static void file_set_path(struct bee_file *f, const struct path *path)
{
	char *buf = kmalloc(PATH_MAX, GFP_KERNEL);
	const char *name = buf ? d_path(path, buf, PATH_MAX) : ERR_PTR(-ENOMEM);

	if (IS_ERR(name))
		name = "?";
	name += max_t(ssize_t, strlen(name) - (sizeof(f->name) - 1), 0);
	strscpy(f->name, name, sizeof(f->name));
	kfree(buf);
}

/*
 * A file with the table in @table, or none if that is NULL, published nowhere.  Its bytes are charged to @uid.
 * May sleep long.
 */
static struct bee_file *file_make(struct file *table, u32 uid, struct netlink_ext_ack *extack)
{
	struct bee_file *f;
	size_t size = 0;
	int err = table ? table_size(table, &size, extack) : 0;

	mutex_lock(&bee_store_mutex);
	err = err ?: bee_store_charge(uid, file_bytes(size), extack);
	mutex_unlock(&bee_store_mutex);
	if (err)
		return ERR_PTR(err);
	f = kzalloc(sizeof(*f), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (f && size)
		f->stored.blob = blob_alloc(size);
	if (!f || (size && !f->stored.blob)) {
		kfree(f);
		NL_SET_ERR_MSG(extack, "table: out of memory");
		err = -ENOMEM;
		goto uncharge;
	}
	f->stored.table.size = size;
	f->bytes = file_bytes(size);
	f->uid = uid;
	f->used = jiffies;
	if (size)
		err = table_read(&f->stored, table, extack);
	if (!err)
		return f;
	file_free(f);
uncharge:
	mutex_lock(&bee_store_mutex);
	bee_store_uncharge(uid, file_bytes(size));
	mutex_unlock(&bee_store_mutex);
	return ERR_PTR(err);
}

static u64 user_bytes(u32 uid)
{
	void *entry = xa_load(&store_users, uid);

	return entry ? xa_to_value(entry) : 0;
}

/* Needs no memory if the user has any. */
static int user_set_bytes(u32 uid, u64 bytes)
{
	if (!bytes) {
		xa_erase(&store_users, uid);
		return 0;
	}
	return xa_err(xa_store(&store_users, uid, xa_mk_value(bytes), GFP_KERNEL));
}

/**
 * bee_store_uncharge() - give back what bee_store_charge() has charged
 * @uid: to whom
 * @bytes: how many
 *
 * Context: Process, bee_store_mutex held.
 */
void bee_store_uncharge(u32 uid, u64 bytes)
{
	lockdep_assert_held(&bee_store_mutex);
	WRITE_ONCE(store_bytes, store_bytes - bytes);
	user_set_bytes(uid, user_bytes(uid) - bytes);
}

/**
 * bee_store_recharge() - charge bytes in the place of at least as many that will be given back
 * @uid: to whom
 * @bytes: how many
 *
 * Context: Process, bee_store_mutex held.
 */
void bee_store_recharge(u32 uid, u64 bytes)
{
	lockdep_assert_held(&bee_store_mutex);
	WRITE_ONCE(store_bytes, store_bytes + bytes);
	user_set_bytes(uid, user_bytes(uid) + bytes);
}

/* No walk comes to it any more. */
static void store_free(struct bee_file *f)
{
	lockdep_assert_held(&bee_store_mutex);
	WRITE_ONCE(store_nr_files, store_nr_files - 1);
	WRITE_ONCE(store_nr_tables, store_nr_tables - !!f->stored.serial);
	list_del(&f->order);
	bee_store_uncharge(f->uid, f->bytes);
	call_rcu(&f->rcu, file_free_rcu);
}

/* Make void what walks have kept of files. */
static void store_changed(void)
{
	lockdep_assert_held(&store_lock);
	smp_store_release(&bee_store_changes, bee_store_changes + 1);
}

/* Return: false if it was so already. */
static bool file_unhash(struct bee_file *f)
{
	lockdep_assert_held(&store_lock);
	if (f->gone)
		return false;
	hlist_del_rcu(&f->by_inode);
	WRITE_ONCE(f->gone, true);
	store_changed();
	return true;
}

/**
 * bee_store_remove() - remove a file and its table
 * @f: the file, in no range of code in memory
 *
 * Context: Process, bee_store_mutex held.
 * Return: bytes that are not charged any more; 0 if its inode has ended: then the worker removes it.
 */
u64 bee_store_remove(struct bee_file *f)
{
	bool unhashed = true;
	u64 bytes = f->bytes;

	if (!f->code) {
		raw_spin_lock(&store_lock);
		unhashed = file_unhash(f);
		raw_spin_unlock(&store_lock);
	}
	if (!unhashed)
		return 0;
	xa_erase(&store_files, f->id);
	store_free(f);
	return bytes;
}

/* Remove the files whose inodes have ended. */
static void store_bury(void)
{
	struct bee_file *f, *next;

	lockdep_assert_held(&bee_store_mutex);
	llist_for_each_entry_safe(f, next, llist_del_all(&store_dead), dead) {
		xa_erase(&store_files, f->id);
		store_free(f);
	}
}

static void store_bury_fn(struct work_struct *work)
{
	mutex_lock(&bee_store_mutex);
	store_bury();
	mutex_unlock(&bee_store_mutex);
}

static DECLARE_WORK(store_bury_work, store_bury_fn);

/**
 * bee_store_end_inode() - an inode ends; its address may become that of another
 * @inode: the inode; nobody uses it any more
 *
 * Takes no lock if the inode is unknown, as nearly all are.  Whoever adds a file has its inode in use, so no
 * other file of this inode can come.
 *
 * Context: Process; preemption may be off.
 */
void bee_store_end_inode(const struct inode *inode)
{
	struct bee_file *f;

	rcu_read_lock();
	hlist_for_each_entry_rcu(f, bee_store_bucket(inode), by_inode) {
		if (f->inode != inode)
			continue;
		raw_spin_lock(&store_lock);
		if (file_unhash(f)) {
			llist_add(&f->dead, &store_dead);
			schedule_work(&store_bury_work);
		}
		raw_spin_unlock(&store_lock);
		break;
	}
	rcu_read_unlock();
}

/**
 * bee_file_is_mapped() - whether some process has a file mapped
 * @f: the file
 *
 * Context: Any but NMI.
 * Return: true if one has, or nobody can tell: of the vDSO and code in memory.
 */
bool bee_file_is_mapped(const struct bee_file *f)
{
	bool mapped = true;

	if (!f->inode)
		return true;
	/* The end of an inode takes it, too, so one that has not ended does not. */
	raw_spin_lock(&store_lock);
	mapped = !f->gone && mapping_mapped(f->inode->i_mapping);
	raw_spin_unlock(&store_lock);
	return mapped;
}

/*
 * Look at @most files, and evict those that nobody has mapped, or if @idle is not 0 those that no walk has come
 * through for so many seconds, until @bytes are free.  Of @uid only, unless that is negative.
 */
static u64 store_evict_pass(s64 uid, unsigned int idle, u64 bytes, u32 most)
{
	u64 freed = 0;

	for (; most && freed < bytes && !list_empty(&store_order); most--) {
		struct bee_file *f = list_first_entry(&store_order, struct bee_file, order);

		list_rotate_left(&store_order);
		cond_resched();
		if (f->code || (uid >= 0 && f->uid != uid))
			continue;
		if (idle ? time_after(jiffies, READ_ONCE(f->used) + idle * HZ) : !bee_file_is_mapped(f))
			freed += bee_store_remove(f);
	}
	return freed;
}

/* Evict files until @bytes are free, or as many as may be; of @uid only, unless that is negative. */
static void store_evict(s64 uid, u64 bytes)
{
	u64 freed;
	int i;

	lockdep_assert_held(&bee_store_mutex);
	store_bury();
	freed = store_evict_pass(uid, 0, bytes, store_nr_files);
	for (i = 0; i < ARRAY_SIZE(store_idle) && freed < bytes; i++)
		freed += store_evict_pass(uid, store_idle[i], bytes - freed, store_nr_files);
}

/* The most that a user may have; root is bounded by the budget only. */
static u64 store_most(u32 uid)
{
	return uid ? div_u64(store_budget, 100) * store_share : U64_MAX / 2;
}

/**
 * bee_store_charge() - charge bytes to a user, after eviction if there is no room
 * @uid: the user, in the initial user namespace
 * @bytes: how many
 * @extack: the reason of a refusal
 *
 * Context: Process, bee_store_mutex held; may sleep.
 * Return: 0; -EDQUOT: over the user's share; -ENOSPC: over the budget; -ENOMEM.  Then nothing is charged.
 */
int bee_store_charge(u32 uid, u64 bytes, struct netlink_ext_ack *extack)
{
	u64 most = store_most(uid);
	int err;

	lockdep_assert_held(&bee_store_mutex);
	/* An eighth more, so that the next requests need not evict. */
	if (bytes <= most && user_bytes(uid) + bytes > most)
		store_evict(uid, user_bytes(uid) + bytes - most + most / 8);
	if (user_bytes(uid) + bytes > most) {
		NL_SET_ERR_MSG_FMT(extack, "user %u has %llu of %llu bytes, and needs %llu more",
				   uid, user_bytes(uid), most, bytes);
		return -EDQUOT;
	}
	if (store_bytes + bytes > store_budget)
		store_evict(-1, store_bytes + bytes - store_budget + store_budget / 8);
	if (store_bytes + bytes > store_budget) {
		NL_SET_ERR_MSG_FMT(extack, "over budget: %llu of %llu bytes in use, %llu needed",
				   store_bytes, store_budget, bytes);
		return -ENOSPC;
	}
	if (store_nr_files >= STORE_MOST)
		store_evict(-1, STORE_MOST / 8 * file_bytes(0));
	if (store_nr_files >= STORE_MOST) {
		NL_SET_ERR_MSG(extack, "too many files");
		return -ENOSPC;
	}
	err = user_set_bytes(uid, user_bytes(uid) + bytes);
	if (err)
		NL_SET_ERR_MSG(extack, "out of memory");
	else
		WRITE_ONCE(store_bytes, store_bytes + bytes);
	return err;
}

/* The file of an inode, or NULL.  The inode is in use, or NULL. */
static struct bee_file *store_find(const struct inode *inode)
{
	struct bee_file *f;

	lockdep_assert_held(&bee_store_mutex);
	hlist_for_each_entry_rcu(f, bee_store_bucket(inode), by_inode, true)
		if (f->inode == inode)
			return f;
	return NULL;
}

static bool file_is_same(const struct bee_file *f, const struct bee_file *g)
{
	size_t size = f->stored.table.size;

	return f->size == g->size && f->mtime_sec == g->mtime_sec && f->mtime_nsec == g->mtime_nsec &&
	       size == g->stored.table.size && (!size || !memcmp(f->stored.blob, g->stored.blob, size));
}

/* Enter a file, whose bytes are charged, in the place of one that its inode has.  Return: 0 or -ENOMEM. */
static int store_publish(struct bee_file *f)
{
	struct bee_file *old = f->code ? NULL : store_find(f->inode);
	static u32 next;
	int err = 0;

	if (old) {
		f->id = old->id;
		/* Needs no memory. */
		xa_store(&store_files, f->id, f, GFP_KERNEL);
	} else {
		err = xa_alloc_cyclic(&store_files, &f->id, f, xa_limit_32b, &next, GFP_KERNEL);
	}
	if (err < 0)
		return err;
	WRITE_ONCE(store_nr_files, store_nr_files + 1);
	WRITE_ONCE(store_nr_tables, store_nr_tables + !!f->stored.serial);
	list_add_tail(&f->order, &store_order);
	if (f->code)
		return 0;
	raw_spin_lock(&store_lock);
	if (old) {
		f->tally = old->tally;
		hlist_replace_rcu(&old->by_inode, &f->by_inode);
		WRITE_ONCE(old->gone, true);
	} else {
		hlist_add_head_rcu(&f->by_inode, bee_store_bucket(f->inode));
	}
	store_changed();
	raw_spin_unlock(&store_lock);
	if (old)
		store_free(old);
	return 0;
}

/*
 * The inode that mappings of an open file have.  An open file of overlayfs has an inode of overlayfs's own, but
 * its mappings have that of the layer below.
 */
static struct inode *mapped_inode(const struct file *exe)
{
	struct dentry *dentry = exe->f_path.dentry;

	/* 6.1 has files of the layer below whose path is that of overlayfs. */
	return file_inode(exe) == d_inode(dentry) ? d_real_inode(dentry) : file_inode(exe);
}

/**
 * bee_store_add() - have a file known, with its table or as one that has none
 * @exe: the file, open; NULL: the vDSO that all 64-bit processes have
 * @table: a memfd or a file of tmpfs with its table, which is read once, now; or NULL
 * @uid: to whom it is charged
 * @id: filled: the file's id
 * @extack: the reason of a refusal
 *
 * Takes the place of what was known of the file.
 *
 * Context: Process, may sleep.
 * Return: 0, also if the file is known so already, or -errno.
 */
int bee_store_add(struct file *exe, struct file *table, u32 uid, u32 *id,
		  struct netlink_ext_ack *extack)
{
	const struct inode *inode = exe ? mapped_inode(exe) : NULL;
	/* Before the table is read, which takes long: the file may be written to meanwhile. */
	struct timespec64 mtime = inode ? bee_compat_inode_mtime(inode) : (struct timespec64) {};
	u64 inode_size = inode ? i_size_read(inode) : 0;
	struct bee_file *f = file_make(table, uid, extack), *old;
	int err = 0;

	if (IS_ERR(f))
		return PTR_ERR(f);
	f->inode = inode;
	f->size = inode_size;
	f->mtime_sec = mtime.tv_sec;
	f->mtime_nsec = mtime.tv_nsec;
	if (exe)
		file_set_path(f, &exe->f_path);
	else
		strscpy(f->name, "[vdso]", sizeof(f->name));
	f->device = inode ? inode->i_sb->s_dev : 0;
	f->ino = inode ? inode->i_ino : 0;
	mutex_lock(&bee_store_mutex);
	old = store_find(inode);
	if (!old || !file_is_same(old, f)) {
		err = store_publish(f);
		*id = f->id;
		if (!err)
			goto unlock;
		NL_SET_ERR_MSG(extack, "out of memory");
	} else {
		*id = old->id;
	}
	bee_store_uncharge(uid, f->bytes);
	file_free(f);
unlock:
	mutex_unlock(&bee_store_mutex);
	return err;
}

/**
 * bee_store_make_code() - read the table of code in memory, for bee_store_add_code()
 * @name: to show to people
 * @table: as for bee_store_add()
 * @uid: to whom it is charged
 * @extack: the reason of a refusal
 *
 * Context: Process, may sleep.
 * Return: the file, or an error pointer.
 */
struct bee_file *bee_store_make_code(const char *name, struct file *table, u32 uid,
				     struct netlink_ext_ack *extack)
{
	struct bee_file *f = file_make(table, uid, extack);

	if (!IS_ERR(f))
		strscpy(f->name, name, sizeof(f->name));
	return f;
}

/**
 * bee_store_add_code() - have the table of code in memory known, or free it
 * @f: from bee_store_make_code()
 * @code: the process that has it, and removes it; NULL: free it
 * @extack: the reason of a refusal
 *
 * Context: Process, bee_store_mutex held; may sleep.
 * Return: 0, or -ENOMEM, and it is freed.
 */
int bee_store_add_code(struct bee_file *f, struct bee_code *code, struct netlink_ext_ack *extack)
{
	int err = -ESRCH;

	lockdep_assert_held(&bee_store_mutex);
	if (code) {
		f->code = code;
		err = store_publish(f);
		if (!err)
			return 0;
		NL_SET_ERR_MSG(extack, "out of memory");
	}
	bee_store_uncharge(f->uid, f->bytes);
	file_free(f);
	return err;
}

/**
 * bee_store_find() - the file of an open file description
 * @exe: as for bee_store_add()
 *
 * Context: Process, bee_store_mutex held.
 * Return: the file, also if it was written to meanwhile, or NULL.
 */
const struct bee_file *bee_store_find(struct file *exe)
{
	return store_find(exe ? mapped_inode(exe) : NULL);
}

/** bee_store_get() - the file with an id, or NULL.  Context: Process, bee_store_mutex held. */
struct bee_file *bee_store_get(u32 id)
{
	return xa_load(&store_files, id);
}

/**
 * bee_store_next() - the first file from an id on
 * @id: the first id wanted
 *
 * Context: Any but NMI.  Caller holds the RCU read lock, or bee_store_mutex.
 * Return: the file, or NULL.
 */
struct bee_file *bee_store_next(unsigned long id)
{
	return xa_find(&store_files, &id, U32_MAX, XA_PRESENT);
}

/**
 * bee_store_set_budget() - change the budget, after eviction if necessary
 * @bytes: the new one
 * @extack: the reason of a refusal
 *
 * Context: Process, may sleep.
 * Return: 0, or -ENOSPC: more than that is in use, and the budget stays.
 */
int bee_store_set_budget(u64 bytes, struct netlink_ext_ack *extack)
{
	int err = 0;

	mutex_lock(&bee_store_mutex);
	if (store_bytes > bytes)
		store_evict(-1, store_bytes - bytes);
	if (store_bytes > bytes) {
		NL_SET_ERR_MSG_FMT(extack, "%llu bytes are in use", store_bytes);
		err = -ENOSPC;
	} else {
		WRITE_ONCE(store_budget, bytes);
	}
	mutex_unlock(&bee_store_mutex);
	return err;
}

/** bee_store_set_share() - change the share; what is charged stays.  Context: Process. */
void bee_store_set_share(u32 percent)
{
	mutex_lock(&bee_store_mutex);
	WRITE_ONCE(store_share, percent);
	mutex_unlock(&bee_store_mutex);
}

/** bee_store_sum() - what the module keeps.  @totals: filled.  Context: Any. */
void bee_store_sum(struct bee_store_totals *totals)
{
	totals->files = READ_ONCE(store_nr_files);
	totals->tables = READ_ONCE(store_nr_tables);
	totals->bytes = READ_ONCE(store_bytes);
	totals->budget = READ_ONCE(store_budget);
	totals->share = READ_ONCE(store_share);
}

/*
 * Memory pressure.  Objects are pages: the kernel asks for a share of the number of objects, and a few
 * large tables would count as next to nothing.  How many are of files that nobody has mapped is not known
 * before it is looked for; if there are none, that is not repeated within a second.  Reclaim can run in a
 * task that holds bee_store_mutex, or that its owner waits for: trylock, and free nothing if it is taken.
 */
#define STORE_SHRINK	1024	/* files that are looked at once */

static unsigned long store_shrink_count(struct shrinker *shrinker, struct shrink_control *sc)
{
	if (time_before(jiffies, READ_ONCE(store_nothing_idle) + HZ))
		return SHRINK_EMPTY;
	return READ_ONCE(store_bytes) >> PAGE_SHIFT ?: SHRINK_EMPTY;
}

static unsigned long store_shrink_scan(struct shrinker *shrinker, struct shrink_control *sc)
{
	u64 freed;

	if (!mutex_trylock(&bee_store_mutex))
		return SHRINK_STOP;
	store_bury();
	freed = store_evict_pass(-1, 0, (u64)sc->nr_to_scan << PAGE_SHIFT,
				 min_t(u32, store_nr_files, STORE_SHRINK));
	if (!freed)
		WRITE_ONCE(store_nothing_idle, jiffies);
	mutex_unlock(&bee_store_mutex);
	return DIV_ROUND_UP_ULL(freed, PAGE_SIZE) ?: SHRINK_STOP;
}

/**
 * bee_store_init() - begin with an empty store
 * @budget: bytes
 *
 * Context: Process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int bee_store_init(u64 budget)
{
	store_budget = budget;
	store_nothing_idle = jiffies - HZ;
	store_shrinker = bee_compat_shrinker_register(store_shrink_count, store_shrink_scan);
	return store_shrinker ? 0 : -ENOMEM;
}

/**
 * bee_store_stop() - memory pressure evicts nothing any more
 *
 * Before the end of inodes is told no longer, as eviction looks at inodes.
 *
 * Context: Process, may sleep.
 */
void bee_store_stop(void)
{
	bee_compat_shrinker_unregister(store_shrinker);
}

/** bee_store_exit() - forget all files; no request and no callback comes any more.  Context: Process. */
void bee_store_exit(void)
{
	struct bee_file *f;
	unsigned long id;

	flush_work(&store_bury_work);
	mutex_lock(&bee_store_mutex);
	xa_for_each(&store_files, id, f)
		bee_store_remove(f);
	mutex_unlock(&bee_store_mutex);
	rcu_barrier();
	WARN_ON(store_nr_files || store_nr_tables);
	xa_destroy(&store_files);
	xa_destroy(&store_users);
}
