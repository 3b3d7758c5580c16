/* SPDX-License-Identifier: GPL-2.0 */
/* The store: tables in kernel memory, at most one for each file. */
#ifndef BEE_STORE_H
#define BEE_STORE_H

#include <linux/rcupdate.h>
#include <linux/types.h>

#include "budget.h"
#include "file.h"
#include "table.h"

struct netlink_ext_ack;

/**
 * struct bee_stored - a table in kernel memory; never changed once published
 * @serial: its number; no other table has had it or will
 * @delta: pc minus file offset, if @one_segment
 * @one_segment: the file has one executable segment
 * @table: the validated table
 * @blob: its memory
 * @rcu: frees it
 *
 * What a walk needs of a table whose rule it has in its cache is on the first cache line.
 */
struct bee_stored {
	u64			 serial;
	u64			 delta;
	bool			 one_segment;
	struct bee_table	 table;
	void			*blob;
	struct rcu_head		 rcu;
};

extern const struct bee_budget_reclaim bee_store_reclaim;

int bee_store_init(void);
void bee_store_exit(void);

u64 bee_store_bytes(size_t size);
int bee_store_add(struct bee_file *f, struct file *file, bool *replaced,
		  struct netlink_ext_ack *extack);
int bee_store_del(struct bee_file *f, bool force, struct netlink_ext_ack *extack);
void bee_store_prune(void);
u32 bee_store_count(void);

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

#endif /* BEE_STORE_H */
