/* SPDX-License-Identifier: GPL-2.0 */
/* The store: one copy of each table, who uses it, and what memory all this takes. */
#ifndef BEE_STORE_H
#define BEE_STORE_H

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "table.h"

struct file;
struct inode;
struct netlink_ext_ack;

/**
 * struct bee_file_key - a file, as long as nobody changes it
 * @dev: device of its file system
 * @ino: inode number
 * @generation: tells users of the same inode number apart
 * @size: bytes
 * @ctime_sec: time of the last change, seconds
 * @ctime_nsec: and nanoseconds
 *
 * No reference is kept on the inode, so that an idle table never keeps a file
 * system from being unmounted; a file that is replaced or written to gets
 * another ctime and so another key.
 */
struct bee_file_key {
	u64	dev;
	u64	ino;
	u64	generation;
	u64	size;
	s64	ctime_sec;
	s64	ctime_nsec;
};

/**
 * struct bee_stored - a table in the store
 * @table: the validated table (I)
 * @blob: its memory (I)
 * @id: name in the protocol, never used again (I)
 * @key: the file it belongs to (I)
 * @has_key: @key is valid and the table is found by it (S)
 * @name: path of the file, for people (I)
 * @refs: one of the store until the table is deleted, one for each range of a map
 * @uses: struct bee_use: the reverse map, to the ranges that use it (S)
 * @users: length of @uses (S)
 * @by_key: in the hash of files (S)
 * @lru: in the store's list, unused longest first (S)
 * @free: frees it once @refs is 0
 *
 * I: set before publication. S: store_lock.
 */
struct bee_stored {
	struct bee_table	table;
	void			*blob;
	u32			id;
	struct bee_file_key	key;
	bool			has_key;
	char			*name;
	refcount_t		refs;
	struct list_head	uses;
	u32			users;
	struct hlist_node	by_key;
	struct list_head	lru;
	struct work_struct	free;
};

/**
 * struct bee_use - one range that uses a table, in the table's list
 * @node: in stored->uses (S)
 * @map: the map that the range is in (I)
 */
struct bee_use {
	struct list_head	 node;
	struct bee_map		*map;
};

/**
 * struct bee_store_totals - sums over the store
 * @tables: tables
 * @table_bytes: memory they take
 * @other_bytes: memory charged by bee_store_charge()
 * @budget: the most that both may be together
 */
struct bee_store_totals {
	u32	tables;
	u64	table_bytes;
	u64	other_bytes;
	u64	budget;
};

int bee_store_init(struct workqueue_struct *wq, u64 budget);
void bee_store_exit(void);

int bee_store_add(struct file *file, struct file *exe, const char *name,
		  struct netlink_ext_ack *extack, u32 *id);
int bee_store_del(u32 id, struct netlink_ext_ack *extack);
struct bee_stored *bee_store_get(u32 id);
struct bee_stored *bee_store_get_next(u32 id);
struct bee_stored *bee_store_get_file(const struct file *file);
void bee_store_put(struct bee_stored *stored);
u64 bee_stored_bytes(const struct bee_stored *stored);
u32 bee_stored_users(struct bee_stored *stored);
unsigned int bee_store_seq(void);

void bee_store_use(struct bee_stored *stored, struct bee_use *use);
void bee_store_unuse(struct bee_stored *stored, struct bee_use *use);

bool bee_store_charge(u64 bytes);
bool bee_store_charge_evict(u64 bytes, struct netlink_ext_ack *extack);
void bee_store_uncharge(u64 bytes);
int bee_store_set_budget(u64 budget, struct netlink_ext_ack *extack);
void bee_store_sum(struct bee_store_totals *totals);

#endif /* BEE_STORE_H */
