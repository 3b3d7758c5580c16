// SPDX-License-Identifier: GPL-2.0
/*
 * The store: one copy of each file's table, as long as there is room.
 *
 * store_mutex is held by who changes a file's table pointer or the budget.  Walks
 * read the pointer under RCU, so a table is freed a grace period after it went.
 *
 * A table holds a reference on its file, so a file that nobody maps stays with it;
 * such a table is idle.  When memory is short idle tables go, least recently used
 * first.  If a mapping of the file comes at that moment it is as if it had come
 * later: it refers to the file, which has no table.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/shrinker.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "store.h"

static DEFINE_MUTEX(store_mutex);
static u32 store_nr;			/* store_mutex */
static struct shrinker *store_shrinker;

#define store_dereference(p)	rcu_dereference_protected(p, lockdep_is_held(&store_mutex))

/**
 * bee_stored_bytes() - kernel memory of a table
 * @stored: the table, or NULL
 *
 * Context: Any.
 * Return: bytes.
 */
u64 bee_stored_bytes(const struct bee_stored *stored)
{
	return stored ? sizeof(*stored) + stored->table.size : 0;
}

/* Together with the bytes that were charged for it. */
static void stored_free(struct bee_stored *stored)
{
	bee_budget_uncharge(BEE_BUDGET_FILES, bee_stored_bytes(stored));
	kvfree(stored->blob);
	kfree(stored);
}

static void stored_free_rcu(struct rcu_head *rcu)
{
	stored_free(container_of(rcu, struct bee_stored, rcu));
}

static ssize_t store_file_size(struct file *file, struct netlink_ext_ack *extack)
{
	const struct inode *inode = file_inode(file);
	loff_t len = i_size_read(inode);

	if (!S_ISREG(inode->i_mode) || !(file->f_mode & FMODE_READ)) {
		NL_SET_ERR_MSG(extack, "table: fd is not a regular file open for reading");
		return -EBADF;
	}
	if (len <= 0 || len > BEE_TABLE_MAX_SIZE) {
		NL_SET_ERR_MSG(extack, "table: empty or larger than a table may be");
		return -EFBIG;
	}
	return len;
}

/* kernel_read() needs no access of its own. */
static int store_read_file(struct file *file, void *blob, size_t len,
			   struct netlink_ext_ack *extack)
{
	loff_t pos = 0;
	ssize_t n = 1;

	while (pos < len && n > 0)
		n = kernel_read(file, (u8 *)blob + pos, len - pos, &pos);
	if (pos == len)
		return 0;
	NL_SET_ERR_MSG(extack, "table: the file shrank or failed while it was read");
	return n < 0 ? n : -EIO;
}

/* Memory for a table of so many bytes, once there is room for it. */
static struct bee_stored *stored_alloc(size_t len, struct netlink_ext_ack *extack)
{
	struct bee_stored *stored;
	int err = bee_store_charge(BEE_BUDGET_FILES, sizeof(*stored) + len, extack);

	if (err)
		return ERR_PTR(err);
	stored = kzalloc(sizeof(*stored), GFP_KERNEL_ACCOUNT);
	if (stored)
		stored->blob = kvmalloc(len, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (stored && stored->blob) {
		stored->table.size = len;
		return stored;
	}
	kfree(stored);
	bee_budget_uncharge(BEE_BUDGET_FILES, sizeof(*stored) + len);
	NL_SET_ERR_MSG(extack, "table: out of memory");
	return ERR_PTR(-ENOMEM);
}

/* The copy is checked, not the file: nobody can change it afterwards. */
static int stored_fill(struct bee_stored *stored, struct file *file, struct netlink_ext_ack *extack)
{
	const struct bee_table_segment *segment;
	size_t len = stored->table.size;
	struct bee_table_error error;
	int err = store_read_file(file, stored->blob, len, extack);

	if (err)
		return err;
	err = bee_table_validate(stored->blob, len, &stored->table, &error);
	if (err) {
		stored->table.size = len;
		NL_SET_ERR_MSG_FMT(extack, "table: %s (at offset %llu)", error.why, error.offset);
		return err;
	}
	segment = stored->table.segments;
	stored->delta = le64_to_cpu(segment->vaddr) - le64_to_cpu(segment->offset);
	return 0;
}

static struct bee_stored *stored_create(struct file *file, struct netlink_ext_ack *extack)
{
	ssize_t len = store_file_size(file, extack);
	struct bee_stored *stored;
	int err;

	if (len < 0)
		return ERR_PTR(len);
	stored = stored_alloc(len, extack);
	if (IS_ERR(stored))
		return stored;
	err = stored_fill(stored, file, extack);
	if (!err)
		return stored;
	stored_free(stored);
	return ERR_PTR(err);
}

static bool stored_is_same(const struct bee_stored *a, const struct bee_stored *b)
{
	return a && a->table.size == b->table.size && !memcmp(a->blob, b->blob, a->table.size);
}

/* Replace a file's table, by none perhaps; the caller holds a reference on the file. */
static void store_set(struct bee_file *f, struct bee_stored *stored)
{
	struct bee_stored *old = store_dereference(f->table);

	if (stored && !old)
		refcount_inc(&f->refs);
	rcu_assign_pointer(f->table, stored);
	if (!stored)
		atomic_set(&f->news, BEE_NEWS_NONE);
	WRITE_ONCE(store_nr, store_nr + !!stored - !!old);
	bee_file_changed();
	if (!old)
		return;
	call_rcu(&old->rcu, stored_free_rcu);
	if (!stored)
		bee_file_put(f);
}

static bool store_is_idle(const struct bee_file *f)
{
	return rcu_access_pointer(f->table) && !bee_file_users(f);
}

/* What evicting an idle table gives back; its file goes with it. */
static u64 store_idle_bytes(const struct bee_file *f)
{
	return bee_file_bytes(f) + bee_stored_bytes(rcu_dereference(f->table));
}

static u64 store_sum_idle(void)
{
	struct bee_file *f;
	u64 bytes = 0;

	rcu_read_lock();
	list_for_each_entry_rcu(f, &bee_file_list, node)
		if (store_is_idle(f))
			bytes += store_idle_bytes(f);
	rcu_read_unlock();
	return bytes;
}

/* Return: the least recently used idle table's file, with a reference; or NULL. */
static struct bee_file *store_get_oldest(void)
{
	struct bee_file *f, *oldest = NULL;

	rcu_read_lock();
	list_for_each_entry_rcu(f, &bee_file_list, node)
		if (store_is_idle(f) &&
		    (!oldest || time_before(READ_ONCE(f->used), READ_ONCE(oldest->used))))
			oldest = f;
	if (oldest && !refcount_inc_not_zero(&oldest->refs))
		oldest = NULL;
	rcu_read_unlock();
	return oldest;
}

/* Return: bytes that will be free after a grace period, 0 if no table was idle. */
static u64 store_evict_one(void)
{
	struct bee_file *f;
	u64 bytes;

	lockdep_assert_held(&store_mutex);
	f = store_get_oldest();
	if (!f)
		return 0;
	rcu_read_lock();
	bytes = store_idle_bytes(f);
	rcu_read_unlock();
	store_set(f, NULL);
	bee_file_put(f);
	return bytes;
}

/* Once memory is short make enough room for a while: down to seven eighths. */
static void store_evict_down(u64 bytes)
{
	u64 low = bee_budget_limit() - bee_budget_limit() / 8, used = bee_budget_total(), freed;

	lockdep_assert_held(&store_mutex);
	while (used + bytes > low) {
		freed = store_evict_one();
		if (!freed)
			break;
		used -= min(freed, used);
	}
	rcu_barrier();
}

/* Nothing is evicted in vain. */
static bool store_make_room(u64 bytes)
{
	lockdep_assert_held(&store_mutex);
	if (bee_budget_fits(bytes))
		return true;
	rcu_barrier();		/* what only waits for its grace period */
	if (bee_budget_fits(bytes))
		return true;
	if (bee_budget_total() + bytes > bee_budget_limit() + store_sum_idle())
		return false;
	store_evict_down(bytes);
	return bee_budget_fits(bytes);
}

/* What callbacks have taken beyond the budget is given back from idle tables. */
static void store_evict_work(struct work_struct *work)
{
	mutex_lock(&store_mutex);
	rcu_barrier();
	if (!bee_budget_fits(0))
		store_evict_down(0);
	mutex_unlock(&store_mutex);
}

DECLARE_WORK(bee_store_evict, store_evict_work);

static void store_say_over_budget(struct netlink_ext_ack *extack, u64 bytes)
{
	u64 limit = bee_budget_limit(), used = bee_budget_total();
	u64 free = store_sum_idle() + limit - min(used, limit);

	NL_SET_ERR_MSG_FMT(extack, "over budget: %llu bytes needed, %llu of %llu to be had",
			   bytes, min(free, limit), limit);
}

/**
 * bee_store_charge() - count bytes for a request, evicting idle tables if need be
 * @kind: what they are for
 * @bytes: how many
 * @extack: the reason of a refusal
 *
 * Context: Process, may sleep.
 * Return: 0 or -ENOSPC; then nothing is counted.
 */
int bee_store_charge(enum bee_budget_kind kind, u64 bytes, struct netlink_ext_ack *extack)
{
	bool fits;

	mutex_lock(&store_mutex);
	fits = store_make_room(bytes);
	if (fits)
		bee_budget_add(kind, bytes);
	mutex_unlock(&store_mutex);
	if (fits)
		return 0;
	store_say_over_budget(extack, bytes);
	return -ENOSPC;
}

/**
 * bee_store_set_budget() - change the budget, evicting idle tables if need be
 * @limit: bytes
 * @extack: the reason of a refusal
 *
 * Context: Process, may sleep.
 * Return: 0, or -ENOSPC if more than that is in use: then nothing changes.
 */
int bee_store_set_budget(u64 limit, struct netlink_ext_ack *extack)
{
	u64 old;
	int ret = 0;

	mutex_lock(&store_mutex);
	old = bee_budget_limit();
	bee_budget_set_limit(limit);
	if (!store_make_room(0)) {
		store_say_over_budget(extack, bee_budget_total());
		bee_budget_set_limit(old);
		ret = -ENOSPC;
	}
	mutex_unlock(&store_mutex);
	return ret;
}

/**
 * bee_store_add() - read, check and keep the table of a file
 * @f: the file; the caller holds a reference
 * @file: the table; read once, now
 * @extack: the reason of a refusal
 *
 * All mappings of the file have it from now on, instead of another perhaps.
 *
 * Context: Process, may sleep.
 * Return: 0, also if the file has an equal table already, or -errno.
 */
int bee_store_add(struct bee_file *f, struct file *file, struct netlink_ext_ack *extack)
{
	struct bee_stored *stored = stored_create(file, extack);

	if (IS_ERR(stored))
		return PTR_ERR(stored);
	mutex_lock(&store_mutex);
	if (stored_is_same(store_dereference(f->table), stored))
		stored_free(stored);
	else
		store_set(f, stored);
	mutex_unlock(&store_mutex);
	return 0;
}

static int store_refuse_del(const struct bee_file *f, u32 id, struct netlink_ext_ack *extack)
{
	if (f && rcu_access_pointer(f->table)) {
		NL_SET_ERR_MSG_FMT(extack, "table %u is used by %u mappings", id,
				   bee_file_users(f) - 1);
		return -EBUSY;
	}
	NL_SET_ERR_MSG_FMT(extack, "no table %u", id);
	return -ENOENT;
}

/**
 * bee_store_del() - forget the table of a file
 * @id: the file
 * @force: even if it is mapped; its mappings are back on frame pointers
 * @extack: the reason of a refusal
 *
 * Context: Process, may sleep.
 * Return: 0, -ENOENT or -EBUSY.
 */
int bee_store_del(u32 id, bool force, struct netlink_ext_ack *extack)
{
	struct bee_file *f = bee_file_get_id(id);
	int ret = 0;

	mutex_lock(&store_mutex);
	/* One user is this request. */
	if (f && rcu_access_pointer(f->table) && (force || bee_file_users(f) == 1))
		store_set(f, NULL);
	else
		ret = store_refuse_del(f, id, extack);
	mutex_unlock(&store_mutex);
	bee_file_put(f);
	return ret;
}

/** bee_store_count() - number of tables.  Context: Any. */
u32 bee_store_count(void)
{
	return READ_ONCE(store_nr);
}

/*
 * Memory pressure, in pages: what the kernel asks for is a share of what there is, and a
 * few large tables would seem to be next to nothing.  Whoever needs memory may hold
 * store_mutex, or be held up by who does; then another time.
 */
static unsigned long store_shrink_count(struct shrinker *shrinker, struct shrink_control *sc)
{
	return DIV_ROUND_UP_ULL(store_sum_idle(), PAGE_SIZE) ?: SHRINK_EMPTY;
}

static unsigned long store_shrink_scan(struct shrinker *shrinker, struct shrink_control *sc)
{
	u64 wanted = (u64)sc->nr_to_scan << PAGE_SHIFT, freed = 0, one;

	if (!mutex_trylock(&store_mutex))
		return SHRINK_STOP;
	do {
		one = store_evict_one();
		freed += one;
	} while (one && freed < wanted);
	mutex_unlock(&store_mutex);
	return DIV_ROUND_UP_ULL(freed, PAGE_SIZE) ?: SHRINK_STOP;
}

/**
 * bee_store_init() - begin with an empty store
 *
 * Context: Process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int bee_store_init(void)
{
	store_shrinker = bee_shrinker_register(store_shrink_count, store_shrink_scan);
	return store_shrinker ? 0 : -ENOMEM;
}

/**
 * bee_store_exit() - forget all tables; no range refers to a file any more
 *
 * Context: Process, may sleep.
 */
void bee_store_exit(void)
{
	bee_shrinker_unregister(store_shrinker);
	cancel_work_sync(&bee_store_evict);
	mutex_lock(&store_mutex);
	while (store_evict_one())
		;
	mutex_unlock(&store_mutex);
	WARN_ON(store_nr);
}
