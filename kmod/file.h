/* SPDX-License-Identifier: GPL-2.0 */
/* Files: what is mapped somewhere or has a table. */
#ifndef BEE_FILE_H
#define BEE_FILE_H

#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <linux/beeunwind.h>

struct bee_stored;
struct file;
struct inode;
struct vm_area_struct;
struct workqueue_struct;

/**
 * struct bee_file_key - a file, as long as nobody changes it
 * @dev: device of its file system
 * @ino: inode number
 * @generation: tells users of the same inode number apart
 * @size: bytes
 * @mtime_sec: when its contents changed last, seconds
 * @mtime_nsec: and nanoseconds
 *
 * All zero: the vDSO.
 *
 * No reference is kept on the inode, so that an idle table never keeps a file
 * system from being unmounted; a file that is replaced or written to has another
 * mtime and so another key. Not ctime: perf record links all that it has seen into
 * its build-id cache. Who sets the mtime back after writing gets wrong stacks, of
 * that file.
 */
struct bee_file_key {
	u64	dev;
	u64	ino;
	u64	generation;
	u64	size;
	s64	mtime_sec;
	s64	mtime_nsec;
};

/**
 * enum bee_news - what is known in user space of a file without a table
 * @BEE_NEWS_NONE: nothing
 * @BEE_NEWS_TAKEN: somebody is filling in struct bee_news_hint
 * @BEE_NEWS_READY: to be told
 * @BEE_NEWS_TOLD: not to be told again until the file has had a table
 */
enum bee_news {
	BEE_NEWS_NONE,
	BEE_NEWS_TAKEN,
	BEE_NEWS_READY,
	BEE_NEWS_TOLD,
};

/**
 * struct bee_news_hint - where the file was mapped when it became news
 * @tgid: by which process, in the initial pid namespace
 * @start: first address
 * @end: address after the last
 */
struct bee_news_hint {
	u32	tgid;
	u64	start;
	u64	end;
};

/**
 * struct bee_file - a file that is mapped somewhere, or has a table
 * @table: its table, or NULL (store_mutex, RCU for reading)
 * @used: jiffies when it was last used: mapped, unmapped, walked through
 * @refs: one for each range, one for the table, one for each request at work
 * @id: its name in the protocol, ascending along @node (I)
 * @key: the file (I)
 * @by_key: in the hash (F)
 * @by_id: in the hash (F)
 * @node: in the list of all (F, RCU for reading)
 * @rcu: frees it
 * @news: enum bee_news
 * @hint: valid from BEE_NEWS_READY on; no more than a hint, for a table that comes and goes
 *	while it is read can make it news again
 * @hits: samples taken in its code
 * @missed: walks that wanted a row when it had no table
 * @stop: walks that ended in its code, by reason
 * @name: its path when it was first seen, for people (I)
 *
 * I: set before publication.  F: file_lock of file.c.  The counters are modulo 2^32.
 *
 * It is freed a grace period after the last reference went; so who finds it
 * through a map under RCU may use it.
 */
struct bee_file {
	struct bee_stored __rcu	*table;
	unsigned long		 used;
	refcount_t		 refs;
	u32			 id;
	struct bee_file_key	 key;
	struct hlist_node	 by_key;
	struct hlist_node	 by_id;
	struct list_head	 node;
	struct rcu_head		 rcu;
	atomic_t		 news;
	struct bee_news_hint	 hint;
	atomic_t		 hits;
	atomic_t		 missed;
	atomic_t		 stop[BEEUNWIND_STOP_MAX + 1];
	char			 name[];
};

/* Tells the world about a file without a table; under RCU.  False: try again later. */
typedef bool (*bee_file_tell_t)(const struct bee_file *f);

extern struct irq_work bee_file_news_irq;

/* All files, by id.  For list_for_each_entry_rcu(): while the reader stays, they do. */
extern struct list_head bee_file_list;

void bee_file_init(struct workqueue_struct *wq, bee_file_tell_t tell);
void bee_file_hush(void);
void bee_file_exit(void);

struct bee_file *bee_file_get(struct file *exe);
struct bee_file *bee_file_get_vdso(void);
struct bee_file *bee_file_get_vma(const struct vm_area_struct *vma, gfp_t gfp);
struct bee_file *bee_file_get_id(u32 id);
void bee_file_put(struct bee_file *f);

u64 bee_file_bytes(const struct bee_file *f);
bool bee_file_is_inode(const struct bee_file *f, const struct inode *inode);
unsigned int bee_file_seq(void);
void bee_file_changed(void);
u32 bee_file_count(void);

/**
 * bee_file_users() - ranges that refer to a file
 * @f: the file
 *
 * Requests at work count as well, for as long as they last.
 *
 * Context: Any.
 */
static inline u32 bee_file_users(const struct bee_file *f)
{
	u32 refs = refcount_read(&f->refs);

	return rcu_access_pointer(f->table) && refs ? refs - 1 : refs;
}

/**
 * bee_file_touch() - a file is being used
 * @f: the file
 *
 * Context: Any, NMI-safe.  Writes once in a tick.
 */
static inline void bee_file_touch(struct bee_file *f)
{
	unsigned long now = READ_ONCE(jiffies);

	if (READ_ONCE(f->used) != now)
		WRITE_ONCE(f->used, now);
}

/**
 * bee_file_announce() - have it told that a file has no table, once
 * @f: the file
 * @start: first address where current has it mapped
 * @end: address after the last
 *
 * Context: Any, NMI-safe.  Does not fault, sleep, allocate, lock or print.
 */
static inline void bee_file_announce(struct bee_file *f, u64 start, u64 end)
{
	if (atomic_read(&f->news) != BEE_NEWS_NONE ||
	    atomic_cmpxchg(&f->news, BEE_NEWS_NONE, BEE_NEWS_TAKEN) != BEE_NEWS_NONE)
		return;
	f->hint = (struct bee_news_hint) { .tgid = current->tgid, .start = start, .end = end };
	atomic_set_release(&f->news, BEE_NEWS_READY);
	irq_work_queue(&bee_file_news_irq);
}

/**
 * bee_file_miss() - a walk wanted a row of a file that has no table
 * @f: the file
 * @start: first address where current has it mapped
 * @end: address after the last
 *
 * Context: Any, NMI-safe.  Does not fault, sleep, allocate, lock or print.
 */
static inline void bee_file_miss(struct bee_file *f, u64 start, u64 end)
{
	atomic_inc(&f->missed);
	bee_file_announce(f, start, end);
}

#endif /* BEE_FILE_H */
