// SPDX-License-Identifier: GPL-2.0
/*
 * The store: one copy of each table, who uses it, and what memory all this takes.
 *
 * Locks: store_mutex (add, delete, evict, budget) before store_lock (the lists,
 * the hash, users).  store_lock is taken under mm.c's mm_lock, with preemption
 * off, hence raw; nothing is allocated or freed under it.
 *
 * Death of a table: bee_store_del() takes it out of the xarray and the hash, so
 * that no range can begin to use it, and drops the store's reference.  Who may
 * still hold it: a map (a reference for each range; given back a grace period
 * after the map was replaced, when no walk can see it), or a request at work (its
 * own reference).  The last of them queues the work that frees it.
 */
#include <linux/dcache.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>

#include "compat.h"
#include "store.h"

static DEFINE_MUTEX(store_mutex);
static DEFINE_RAW_SPINLOCK(store_lock);
static DEFINE_XARRAY(store_ids);
static DEFINE_HASHTABLE(store_files, 10);
static LIST_HEAD(store_lru);
static struct workqueue_struct *store_wq;
static u32 store_next_id = 1;		/* store_mutex */
static unsigned int store_seq = 1;	/* store_mutex; odd on purpose: 0 means "no check" */
static u32 store_tables;		/* store_mutex */
static u64 store_budget;
static atomic64_t store_table_bytes;
static atomic64_t store_other_bytes;

static void store_evict_work(struct work_struct *work);
static DECLARE_WORK(store_evict, store_evict_work);

static void store_key(struct inode *inode, struct bee_file_key *key)
{
	struct timespec64 ctime = bee_inode_ctime(inode);

	*key = (struct bee_file_key) {
		.dev = inode->i_sb->s_dev,
		.ino = inode->i_ino,
		.generation = inode->i_generation,
		.size = i_size_read(inode),
		.ctime_sec = ctime.tv_sec,
		.ctime_nsec = ctime.tv_nsec,
	};
}

static u32 store_key_hash(const struct bee_file_key *key)
{
	return jhash2((const u32 *)key, sizeof(*key) / sizeof(u32), 0);
}

static struct bee_stored *store_find_key(const struct bee_file_key *key)
{
	struct bee_stored *s;

	lockdep_assert_held(&store_lock);
	hash_for_each_possible(store_files, s, by_key, store_key_hash(key))
		if (!memcmp(&s->key, key, sizeof(*key)))
			return s;
	return NULL;
}

/**
 * bee_stored_bytes() - kernel memory of a table
 * @stored: the table
 *
 * Context: Any.
 * Return: bytes.
 */
u64 bee_stored_bytes(const struct bee_stored *stored)
{
	return sizeof(*stored) + stored->table.size + strlen(stored->name) + 1;
}

static void stored_free(struct bee_stored *stored)
{
	kvfree(stored->blob);
	kfree(stored->name);
	kfree(stored);
}

static void stored_free_work(struct work_struct *work)
{
	struct bee_stored *stored = container_of(work, struct bee_stored, free);

	atomic64_sub(bee_stored_bytes(stored), &store_table_bytes);
	stored_free(stored);
}

/**
 * bee_store_put() - give a reference back
 * @stored: the table
 *
 * Context: Any but NMI.
 */
void bee_store_put(struct bee_stored *stored)
{
	if (refcount_dec_and_test(&stored->refs))
		queue_work(store_wq, &stored->free);
}

/* Read a whole regular file; kernel_read() needs no access of its own. */
static void *store_read_file(struct file *file, size_t *size, struct netlink_ext_ack *extack)
{
	struct inode *inode = file_inode(file);
	loff_t pos = 0, len = i_size_read(inode);
	ssize_t n = 1;
	void *blob;

	if (!S_ISREG(inode->i_mode) || !(file->f_mode & FMODE_READ)) {
		NL_SET_ERR_MSG(extack, "table: fd is not a regular file open for reading");
		return ERR_PTR(-EBADF);
	}
	if (len <= 0 || len > BEE_TABLE_MAX_SIZE) {
		NL_SET_ERR_MSG(extack, "table: empty or larger than a table may be");
		return ERR_PTR(-EFBIG);
	}
	blob = kvmalloc(len, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!blob) {
		NL_SET_ERR_MSG(extack, "table: out of memory");
		return ERR_PTR(-ENOMEM);
	}
	while (pos < len && n > 0)
		n = kernel_read(file, (u8 *)blob + pos, len - pos, &pos);
	if (pos != len) {
		kvfree(blob);
		NL_SET_ERR_MSG(extack, "table: the file shrank or failed while it was read");
		return ERR_PTR(n < 0 ? n : -EIO);
	}
	*size = len;
	return blob;
}

/* The copy is checked, not the file: nobody can change it afterwards. */
static struct bee_stored *stored_create(struct file *file, struct netlink_ext_ack *extack)
{
	struct bee_table_error error;
	struct bee_stored *stored;
	size_t size;

	stored = kzalloc(sizeof(*stored), GFP_KERNEL_ACCOUNT);
	if (!stored)
		return ERR_PTR(-ENOMEM);
	stored->blob = store_read_file(file, &size, extack);
	if (IS_ERR(stored->blob)) {
		void *err = stored->blob;

		kfree(stored);
		return err;
	}
	if (bee_table_validate(stored->blob, size, &stored->table, &error)) {
		NL_SET_ERR_MSG_FMT(extack, "table: %s (at offset %llu)", error.why, error.offset);
		stored_free(stored);
		return ERR_PTR(-EINVAL);
	}
	INIT_LIST_HEAD(&stored->uses);
	INIT_WORK(&stored->free, stored_free_work);
	refcount_set(&stored->refs, 1);
	return stored;
}

/* Same file, same content: the table is there already. */
static u32 store_find_same(const struct bee_stored *stored)
{
	const struct bee_stored *other;
	u32 id = 0;

	raw_spin_lock(&store_lock);
	other = stored->has_key ? store_find_key(&stored->key) : NULL;
	if (other && other->table.size == stored->table.size &&
	    other->table.header->crc == stored->table.header->crc)
		id = other->id;
	raw_spin_unlock(&store_lock);
	return id;
}

static void store_publish(struct bee_stored *stored)
{
	struct bee_stored *old;

	raw_spin_lock(&store_lock);
	if (stored->has_key) {
		/* A new table for the same file: the old one serves its users only. */
		old = store_find_key(&stored->key);
		if (old) {
			hash_del(&old->by_key);
			old->has_key = false;
		}
		hash_add(store_files, &stored->by_key, store_key_hash(&stored->key));
	}
	list_add_tail(&stored->lru, &store_lru);
	raw_spin_unlock(&store_lock);
	store_tables++;
	store_seq += 2;
}

static void store_unpublish(struct bee_stored *stored)
{
	lockdep_assert_held(&store_mutex);
	xa_erase(&store_ids, stored->id);
	store_tables--;
	store_seq += 2;
}

/* Take a table out of the lists, so that nobody can begin to use it. */
static void store_retire(struct bee_stored *stored)
{
	lockdep_assert_held(&store_lock);
	if (stored->has_key)
		hash_del(&stored->by_key);
	stored->has_key = false;
	list_del_init(&stored->lru);
}

/*
 * Nobody but the store has it: no range, no map that walks may still see, no
 * request that is about to use it.  References are taken under store_lock or
 * store_mutex only, so under both this stays so.
 */
static bool store_is_idle(const struct bee_stored *stored)
{
	return !stored->users && refcount_read(&stored->refs) == 1;
}

static u64 store_used(void)
{
	return atomic64_read(&store_table_bytes) + atomic64_read(&store_other_bytes);
}

static bool store_fits(u64 bytes)
{
	return store_used() + bytes <= READ_ONCE(store_budget);
}

/* Whether evicting every idle table would make room. */
static bool store_could_fit(u64 bytes)
{
	struct bee_stored *s;
	u64 idle = 0;

	raw_spin_lock(&store_lock);
	list_for_each_entry(s, &store_lru, lru)
		if (store_is_idle(s))
			idle += bee_stored_bytes(s);
	raw_spin_unlock(&store_lock);
	return store_used() - min(idle, store_used()) + bytes <= READ_ONCE(store_budget);
}

/* Idle tables go in the order in which they became unused. */
static bool store_evict_one(void)
{
	struct bee_stored *s, *victim = NULL;

	lockdep_assert_held(&store_mutex);
	raw_spin_lock(&store_lock);
	list_for_each_entry(s, &store_lru, lru) {
		if (store_is_idle(s)) {
			victim = s;
			store_retire(s);
			break;
		}
	}
	raw_spin_unlock(&store_lock);
	if (!victim)
		return false;
	store_unpublish(victim);
	bee_store_put(victim);
	/* For the memory: or the sum would make us evict too much. */
	flush_workqueue(store_wq);
	return true;
}

/* Have everything freed that only waits for its grace period. */
static void store_settle(void)
{
	rcu_barrier();			/* rcu_work is queued, */
	flush_workqueue(store_wq);	/* maps are freed, and their tables' work queued, */
	flush_workqueue(store_wq);	/* tables are freed */
}

static bool store_make_room(u64 bytes)
{
	lockdep_assert_held(&store_mutex);
	if (store_fits(bytes))
		return true;
	store_settle();
	if (!store_could_fit(bytes))
		return false;
	while (!store_fits(bytes))
		if (!store_evict_one())
			return false;
	return true;
}

/* What callbacks have taken beyond the budget is given back from idle tables. */
static void store_evict_work(struct work_struct *work)
{
	mutex_lock(&store_mutex);
	while (!store_fits(0) && store_evict_one())
		;
	mutex_unlock(&store_mutex);
}

static void store_say_over_budget(struct netlink_ext_ack *extack, u64 bytes)
{
	NL_SET_ERR_MSG_FMT(extack, "over budget: %llu bytes needed, %llu of %llu in use",
			   bytes, store_used(), READ_ONCE(store_budget));
}

static int store_insert(struct bee_stored *stored, struct netlink_ext_ack *extack)
{
	u64 bytes = bee_stored_bytes(stored);
	int ret;

	lockdep_assert_held(&store_mutex);
	if (!store_make_room(bytes)) {
		store_say_over_budget(extack, bytes);
		return -ENOSPC;
	}
	stored->id = store_next_id;
	ret = xa_err(xa_store(&store_ids, stored->id, stored, GFP_KERNEL_ACCOUNT));
	if (ret)
		return ret;
	store_next_id++;
	atomic64_add(bytes, &store_table_bytes);
	store_publish(stored);
	return 0;
}

/**
 * bee_store_add() - read, check and keep a table
 * @file: the table; read once, now
 * @exe: the ELF file it was made from, or NULL: then it is not attached to
 *	mappings of that file by itself
 * @name: path of the ELF file, for people
 * @extack: the reason of a refusal
 * @id: the table's id; that of an equal table if there is one for the same file
 *
 * Context: Process, may sleep.
 * Return: 0 or -errno.
 */
int bee_store_add(struct file *file, struct file *exe, const char *name,
		  struct netlink_ext_ack *extack, u32 *id)
{
	struct bee_stored *stored;
	int ret = 0;

	stored = stored_create(file, extack);
	if (IS_ERR(stored))
		return PTR_ERR(stored);
	stored->name = kstrdup(name, GFP_KERNEL_ACCOUNT);
	if (!stored->name) {
		stored_free(stored);
		return -ENOMEM;
	}
	if (exe) {
		/* overlayfs shows its own inode here, but maps the real one. */
		store_key(d_real_inode(exe->f_path.dentry), &stored->key);
		stored->has_key = true;
	}

	mutex_lock(&store_mutex);
	*id = store_find_same(stored);
	if (!*id) {
		ret = store_insert(stored, extack);
		if (!ret) {
			*id = stored->id;
			stored = NULL;
		}
	}
	mutex_unlock(&store_mutex);
	if (stored)
		stored_free(stored);
	return ret;
}

/**
 * bee_store_del() - forget a table that no range uses
 * @id: the table
 * @extack: the reason of a refusal
 *
 * Context: Process, may sleep.
 * Return: 0, -ENOENT or -EBUSY.
 */
int bee_store_del(u32 id, struct netlink_ext_ack *extack)
{
	struct bee_stored *stored;
	bool retired = false;
	u32 users = 0;

	mutex_lock(&store_mutex);
	stored = xa_load(&store_ids, id);
	if (stored) {
		raw_spin_lock(&store_lock);
		users = stored->users;
		retired = !users;
		if (retired)
			store_retire(stored);
		raw_spin_unlock(&store_lock);
		if (retired)
			store_unpublish(stored);
	}
	mutex_unlock(&store_mutex);

	if (!stored) {
		NL_SET_ERR_MSG_FMT(extack, "no table %u", id);
		return -ENOENT;
	}
	if (!retired) {
		NL_SET_ERR_MSG_FMT(extack, "table %u is used by %u mappings", id, users);
		return -EBUSY;
	}
	bee_store_put(stored);
	return 0;
}

/**
 * bee_store_get() - a table by id
 * @id: the table
 *
 * Context: Process.
 * Return: the table with a reference, or NULL.
 */
struct bee_stored *bee_store_get(u32 id)
{
	struct bee_stored *stored;

	mutex_lock(&store_mutex);
	stored = xa_load(&store_ids, id);
	if (stored)
		refcount_inc(&stored->refs);
	mutex_unlock(&store_mutex);
	return stored;
}

/**
 * bee_store_get_next() - the first table from an id on, for listing
 * @id: the first id wanted
 *
 * Context: Process.
 * Return: the table with a reference, or NULL.
 */
struct bee_stored *bee_store_get_next(u32 id)
{
	struct bee_stored *stored;
	unsigned long index = id;

	mutex_lock(&store_mutex);
	stored = xa_find(&store_ids, &index, ULONG_MAX, XA_PRESENT);
	if (stored)
		refcount_inc(&stored->refs);
	mutex_unlock(&store_mutex);
	return stored;
}

/**
 * bee_store_get_file() - the table of a mapped file
 * @file: vma->vm_file; its inode is the real one on overlayfs as well
 *
 * Context: Any but NMI.
 * Return: the table with a reference, or NULL.
 */
struct bee_stored *bee_store_get_file(const struct file *file)
{
	struct bee_stored *stored;
	struct bee_file_key key;

	store_key(file_inode(file), &key);
	raw_spin_lock(&store_lock);
	stored = store_find_key(&key);
	if (stored)
		refcount_inc(&stored->refs);
	raw_spin_unlock(&store_lock);
	return stored;
}

/**
 * bee_stored_users() - ranges that use a table
 * @stored: the table
 *
 * Context: Any but NMI.
 */
u32 bee_stored_users(struct bee_stored *stored)
{
	return READ_ONCE(stored->users);
}

/**
 * bee_store_seq() - changes with every table that comes or goes
 *
 * Context: Any.
 * Return: never 0.
 */
unsigned int bee_store_seq(void)
{
	return READ_ONCE(store_seq);
}

/**
 * bee_store_use() - enter a range into the reverse map
 * @stored: the table; the caller holds a reference for the range
 * @use: storage, part of the range's map
 *
 * Context: Any but NMI; under mm_lock.
 */
void bee_store_use(struct bee_stored *stored, struct bee_use *use)
{
	raw_spin_lock(&store_lock);
	list_add(&use->node, &stored->uses);
	stored->users++;
	raw_spin_unlock(&store_lock);
}

/**
 * bee_store_unuse() - take it out again
 * @stored: the table
 * @use: as given to bee_store_use()
 *
 * The reference stays, for walks can still see the range.
 *
 * Context: Any but NMI; under mm_lock.
 */
void bee_store_unuse(struct bee_stored *stored, struct bee_use *use)
{
	raw_spin_lock(&store_lock);
	list_del(&use->node);
	if (!--stored->users && !list_empty(&stored->lru))
		list_move_tail(&stored->lru, &store_lru);
	raw_spin_unlock(&store_lock);
}

/**
 * bee_store_charge() - charge other memory than tables to the budget
 * @bytes: how much
 *
 * For callbacks, which cannot evict: they may go an eighth beyond the budget, so
 * that a store full of idle tables does not stop processes from being followed.
 *
 * Context: Any but NMI.
 * Return: false if it does not fit; then nothing is charged.
 */
bool bee_store_charge(u64 bytes)
{
	u64 budget = READ_ONCE(store_budget);
	u64 used = store_used() + bytes;

	if (used > budget + budget / 8)
		return false;
	atomic64_add(bytes, &store_other_bytes);
	if (used > budget)
		queue_work(system_unbound_wq, &store_evict);
	return true;
}

/**
 * bee_store_charge_evict() - the same, evicting unused tables if need be
 * @bytes: how much
 * @extack: the reason of a refusal
 *
 * Context: Process, may sleep.
 * Return: false if it does not fit; then nothing is charged.
 */
bool bee_store_charge_evict(u64 bytes, struct netlink_ext_ack *extack)
{
	bool fits;

	mutex_lock(&store_mutex);
	fits = store_make_room(bytes);
	if (fits)
		atomic64_add(bytes, &store_other_bytes);
	mutex_unlock(&store_mutex);
	if (!fits)
		store_say_over_budget(extack, bytes);
	return fits;
}

/**
 * bee_store_uncharge() - give charged memory back
 * @bytes: how much
 *
 * Context: Any.
 */
void bee_store_uncharge(u64 bytes)
{
	atomic64_sub(bytes, &store_other_bytes);
}

/**
 * bee_store_set_budget() - change the budget, evicting unused tables if need be
 * @budget: bytes
 * @extack: the reason of a refusal
 *
 * Context: Process, may sleep.
 * Return: 0, or -ENOSPC if more than that is in use: then nothing changes but
 * that unused tables may be gone.
 */
int bee_store_set_budget(u64 budget, struct netlink_ext_ack *extack)
{
	u64 old;
	int ret = 0;

	mutex_lock(&store_mutex);
	old = store_budget;
	WRITE_ONCE(store_budget, budget);
	if (!store_make_room(0)) {
		store_say_over_budget(extack, 0);
		WRITE_ONCE(store_budget, old);
		ret = -ENOSPC;
	}
	mutex_unlock(&store_mutex);
	return ret;
}

/**
 * bee_store_sum() - sums over the store
 * @totals: the result
 *
 * Context: Any.
 */
void bee_store_sum(struct bee_store_totals *totals)
{
	totals->tables = READ_ONCE(store_tables);
	totals->table_bytes = atomic64_read(&store_table_bytes);
	totals->other_bytes = atomic64_read(&store_other_bytes);
	totals->budget = READ_ONCE(store_budget);
}

/**
 * bee_store_init() - begin with an empty store
 * @wq: runs the freeing of tables
 * @budget: bytes
 *
 * Context: Process.
 * Return: 0.
 */
int bee_store_init(struct workqueue_struct *wq, u64 budget)
{
	store_wq = wq;
	store_budget = budget;
	return 0;
}

/**
 * bee_store_exit() - forget all tables; no map uses one any more
 *
 * Context: Process, may sleep.
 */
void bee_store_exit(void)
{
	cancel_work_sync(&store_evict);
	mutex_lock(&store_mutex);
	while (store_evict_one())
		;
	mutex_unlock(&store_mutex);
	flush_workqueue(store_wq);
	WARN_ON(!xa_empty(&store_ids));
	WARN_ON(store_used());
	xa_destroy(&store_ids);
}
