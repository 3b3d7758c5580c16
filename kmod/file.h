/* SPDX-License-Identifier: GPL-2.0 */
/* Files: every file that is mapped by a managed address space, or has a table. */
#ifndef BEE_FILE_H
#define BEE_FILE_H

#include <linux/atomic.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/rhashtable-types.h>
#include <linux/spinlock_types.h>
#include <linux/types.h>
#include <linux/beeunwind.h>

#include "inode.h"
#include "tally.h"

struct workqueue_struct;

struct bee_payer;
struct bee_stored;
struct file;
struct vm_area_struct;

/**
 * struct bee_news - whether user space has been told that a file has no table
 * @state: enum news_state of news.h
 * @tgid: a process that has the file mapped, in the initial pid namespace
 * @uid: who pays for that process's ranges
 * @start: first address of the mapping
 * @end: address after the last
 * @node: in the list of files to tell of, if @state is NEWS_READY
 *
 * Owned by news.c.
 */
struct bee_news {
	atomic_t		state;
	u32			tgid;
	u32			uid;
	u64			start;
	u64			end;
	struct llist_node	node;
};

/**
 * struct bee_file - a file that is mapped by a managed address space, or has a table; or code that
 *	an address space has in memory without a file
 * @table: its table, or NULL (store_mutex, RCU for reading)
 * @used: jiffies when it was last mapped, unmapped, named by a request or walked through
 * @users: one for each range, one for each request at work; see file.c for when it is 0
 * @live: 1 until it is forgotten, and 1 more while news.c has it in its list; freed at 0
 * @id: its name in the protocol (I)
 * @key: its identity, but two files can have equal ones (I)
 * @inodes: its inodes in memory: one, none, or some in snapshots of a file system (F)
 * @ninodes: length of @inodes (F and U, READ_ONCE() for reading)
 * @owner: 0; or the cookie of the address space whose memory it stands for, without inodes (I)
 * @equal: in the hash of files that can be recognised without an inode (F)
 * @refused: there was no room for its table in the share of any user who had it mapped (@rmap_lock)
 * @rmap_lock: of @refused, @rmap, @paying and @due
 * @rmap: a node of rmap.h for each range that refers to it (@rmap_lock, RCU for reading)
 * @paying: in @rmap: the range whose user pays; NULL: there are none (@rmap_lock)
 * @due: the user of that range (@rmap_lock)
 * @ctime: ctime of one of @inodes, the one that was looked at last, ns (F, READ_ONCE() for reading)
 * @build_id: of its contents, if known (F; file_get_unchanged() reads @build_id.looked without the
 *	lock, with READ_ONCE())
 * @by_equal: in file_equals, if @equal (F)
 * @evict: in a list of files whose tables can be evicted: idle ones, and those in use whose table
 *	is unpaid (U)
 * @evictable: bytes that this would free; 0: it is in no such list (U)
 * @dropped: see bee_file_put_nowait()
 * @table_bytes: kernel memory of its table (U, READ_ONCE() for reading)
 * @payer: to whom it is charged, with a reference; NULL: nobody, as long as only requests use it,
 *	and while it is idle (U, READ_ONCE() for reading)
 * @paid: bytes charged to @payer (U)
 * @rcu: frees it
 * @news: whether user space knows that it has no table
 * @tally: samples whose topmost frame was in it, frames in it for which a walk found no table, and
 *	walks that ended in it, by reason
 * @name: the end of its path when it was first seen, to show to people (I)
 *
 * I: set before publication, and not changed after it.  F: protected by file_lock of file.c.
 * U: protected by file_user_lock of file.c.
 *
 * Freed a grace period after it was forgotten, so a file that is found through a map under the RCU
 * read lock can be used without a reference.
 */
struct bee_file {
	struct bee_stored __rcu	*table;
	unsigned long		 used;
	refcount_t		 users;
	atomic_t		 live;
	u32			 id;
	u32			 ninodes;
	struct bee_file_key	 key;
	struct hlist_head	 inodes;
	u64			 owner;
	s64			 ctime;
	struct bee_build_id	 build_id;
	bool			 equal;
	bool			 refused;
	raw_spinlock_t		 rmap_lock;	/* of @refused, @rmap, @paying, @due */
	struct hlist_head	 rmap;
	const struct hlist_node	*paying;
	struct bee_payer	*due;
	struct rhash_head	 by_equal;
	struct list_head	 evict;
	u64			 evictable;
	struct llist_node	 dropped;
	u64			 table_bytes;
	struct bee_payer	*payer;
	u64			 paid;
	struct rcu_head		 rcu;
	struct bee_news		 news;
	struct bee_tally	 tally;
	char			 name[];
};

/*
 * With BEE_COMPAT_RT a callback cannot look for every file.  Until a worker has done so, the range
 * that is mapped has this one.  It is never idle, has no table and no id, and is not announced.
 */
extern struct bee_file bee_file_unknown;

int bee_file_init(struct workqueue_struct *wq);
void bee_file_exit(void);

struct bee_file *bee_file_get(struct file *exe);
struct bee_file *bee_file_get_vdso(void);
struct bee_file *bee_file_get_vma(const struct vm_area_struct *vma, struct bee_payer *payer,
				  gfp_t gfp);
struct bee_file *bee_file_get_id(u32 id);
struct bee_file *bee_file_get_id_for(u32 id, u64 owner, struct bee_payer *payer);
struct bee_file *bee_file_get_evictable(bool only_lost);
struct bee_file *bee_file_new_owned(u64 owner, struct bee_payer *payer, const char *name);
void bee_file_set_laid(u32 id);
void bee_file_owner_gone(u64 owner);
void bee_file_spread(u32 id);
struct bee_file *bee_file_next(unsigned long id);
void bee_file_put(struct bee_file *f);
void bee_file_put_nowait(struct bee_file *f);
void bee_file_settle(void);
void bee_file_put_live(struct bee_file *f);

u64 bee_file_bytes(const struct bee_file *f);
bool bee_file_has_room(const struct bee_file *f, u64 bytes);
bool bee_file_set_table_bytes(struct bee_file *f, u64 bytes);
bool bee_file_evict_table_bytes(struct bee_file *f);
int bee_file_move(struct bee_file *f, struct bee_payer *payer, const struct hlist_node *range,
		  u64 bytes);
void bee_file_hand_on(struct bee_file *f);
bool bee_file_is_inode(const struct bee_file *f, const struct inode *inode);
void bee_file_inode_gone(const struct inode *inode);
unsigned int bee_file_seq(void);
void bee_file_changed(void);
u32 bee_file_count(void);
u64 bee_file_evictable(void);

/** bee_file_users() - how many ranges and requests refer to a file.  Context: Any. */
static inline u32 bee_file_users(const struct bee_file *f)
{
	return refcount_read(&f->users);
}

/** bee_file_touch() - note a use, at most once in a jiffy.  Context: Any, NMI-safe. */
static inline void bee_file_touch(struct bee_file *f)
{
	unsigned long now = READ_ONCE(jiffies);

	if (READ_ONCE(f->used) != now)
		WRITE_ONCE(f->used, now);
}

#endif /* BEE_FILE_H */
