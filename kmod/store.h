/* SPDX-License-Identifier: GPL-2.0 */
/* The store: files with their tables, by inode; and how much memory the module may keep. */
#ifndef BEE_STORE_H
#define BEE_STORE_H

#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/types.h>

#include "table.h"
#include "tally.h"

struct bee_code;
struct file;
struct netlink_ext_ack;

/**
 * struct bee_stored - a table in kernel memory; never changed once published
 * @serial: its number; no other table has had it or will; 0: there is no table
 * @delta: pc minus file offset, if @one_segment
 * @one_segment: the file has one executable segment
 * @table: the validated table
 * @blob: its memory
 *
 * What a walk needs of a table whose rule it has in its cache is on the first cache line.
 */
struct bee_stored {
	u64			 serial;
	u64			 delta;
	bool			 one_segment;
	struct bee_table	 table;
	void			*blob;
};

/**
 * struct bee_file - a file that the module knows, or code that a process has in memory
 * @stored: its table, if it has one (I)
 * @inode: the inode that shows it; NULL: the vDSO, or code in memory (I).  It is followed only while @gone is
 *	not set (L)
 * @size: bytes of the file when its table was added (I)
 * @mtime_sec: time of the last change of its contents then, seconds (I)
 * @mtime_nsec: and nanoseconds (I)
 * @by_inode: in bee_store_inodes (L, RCU for reading)
 * @gone: it is in no list by inode any more: the inode has ended, or another file has its place (L)
 * @id: its name in the protocol; a file that replaces another gets the id of that (I)
 * @uid: the user whose share it is part of (I)
 * @code: the process that has the code in memory; NULL for a file (I)
 * @in_code: among the tables of @code (M)
 * @order: among all files (M)
 * @device: s_dev of its file system (I)
 * @ino: number of its inode (I)
 * @bytes: kernel memory of all of it (I)
 * @used: jiffies when it was added or walked through
 * @tally: samples whose topmost frame was in it, and walks that ended in it, by reason
 * @dead: among those whose inode has ended
 * @rcu: frees it
 * @name: the end of its path when it was added, to show to people (I)
 *
 * I: set before publication, and not changed after it.  L: store_lock of store.c.  M: bee_store_mutex.
 *
 * Freed a grace period after nothing leads to it: what is found under the RCU read lock can be used.
 */
struct bee_file {
	struct bee_stored	 stored;
	const struct inode	*inode;
	u64			 size;
	s64			 mtime_sec;
	s64			 mtime_nsec;
	struct hlist_node	 by_inode;
	bool			 gone;
	u32			 id;
	u32			 uid;
	struct bee_code		*code;
	struct list_head	 in_code;
	struct list_head	 order;
	u64			 device;
	u64			 ino;
	u64			 bytes;
	unsigned long		 used;
	struct bee_tally	 tally;
	struct llist_node	 dead;
	struct rcu_head		 rcu;
	char			 name[256];
};

/* The file of a mapping whose inode is not known, or has been written to since its table was added. */
extern struct bee_file bee_file_unknown;

/* Held by whoever changes the store, or ranges of code in memory. */
extern struct mutex bee_store_mutex;

#define BEE_STORE_INODES_BITS	12

/*
 * Files by inode.  Of a fixed size: rhashtable moves an entry while readers look, and a reader in an NMI
 * that has interrupted that on its own CPU may look for ever.  Nobody chooses the address of an inode.
 */
extern struct hlist_head bee_store_inodes[1 << BEE_STORE_INODES_BITS];

static inline struct hlist_head *bee_store_bucket(const struct inode *inode)
{
	return &bee_store_inodes[hash_ptr(inode, BEE_STORE_INODES_BITS)];
}

/* For bee_store_generation() */
extern u32 bee_store_changes;

/**
 * bee_store_generation() - a number that changes before the file of an inode becomes another one
 *
 * Context: Any, NMI-safe.
 * Return: the number; as long as it is the same under the RCU read lock, a file that was found before is
 * not freed.
 */
static inline u32 bee_store_generation(void)
{
	return smp_load_acquire(&bee_store_changes);
}

/** bee_file_stored() - the table of a file, or NULL.  Context: Any, NMI-safe; RCU read lock held. */
static inline const struct bee_stored *bee_file_stored(const struct bee_file *f)
{
	return f->stored.serial ? &f->stored : NULL;
}

/** bee_file_touch() - note a use, at most once in a jiffy.  Context: Any, NMI-safe. */
static inline void bee_file_touch(struct bee_file *f)
{
	unsigned long now = READ_ONCE(jiffies);

	if (READ_ONCE(f->used) != now)
		WRITE_ONCE(f->used, now);
}

/**
 * bee_stored_pc() - from a byte of the file to its pc
 * @stored: the file's table
 * @offset: byte of the file
 *
 * Context: Any, NMI-safe.
 * Return: the pc; see bee_table_pc().
 */
static inline u64 bee_stored_pc(const struct bee_stored *stored, u64 offset)
{
	if (likely(stored->one_segment))
		return offset + stored->delta;
	return bee_table_pc(&stored->table, offset);
}

/**
 * struct bee_store_totals - what the module keeps
 * @files: files and code in memory
 * @tables: those of them that have a table
 * @bytes: that are charged
 * @budget: the most that may be
 * @share: percent of @budget that one user may have
 */
struct bee_store_totals {
	u32	files;
	u32	tables;
	u64	bytes;
	u64	budget;
	u32	share;
};

int bee_store_init(u64 budget);
void bee_store_stop(void);
void bee_store_exit(void);

int bee_store_add(struct file *exe, struct file *table, u32 uid, u32 *id,
		  struct netlink_ext_ack *extack);
struct bee_file *bee_store_make_code(const char *name, struct file *table, u32 uid,
				     struct netlink_ext_ack *extack);
int bee_store_add_code(struct bee_file *f, struct bee_code *code, struct netlink_ext_ack *extack);
u64 bee_store_remove(struct bee_file *f);
struct bee_file *bee_store_get(u32 id);
const struct bee_file *bee_store_find(struct file *exe);
struct bee_file *bee_store_next(unsigned long id);
bool bee_file_is_mapped(const struct bee_file *f);
void bee_store_end_inode(const struct inode *inode);

int bee_store_charge(u32 uid, u64 bytes, struct netlink_ext_ack *extack);
void bee_store_recharge(u32 uid, u64 bytes);
void bee_store_uncharge(u32 uid, u64 bytes);
int bee_store_set_budget(u64 bytes, struct netlink_ext_ack *extack);
void bee_store_set_share(u32 percent);
void bee_store_sum(struct bee_store_totals *totals);

#endif /* BEE_STORE_H */
