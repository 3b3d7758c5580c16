/* SPDX-License-Identifier: GPL-2.0 */
/* The store: one copy of each file's table, as long as there is room. */
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
 * @table: the validated table
 * @blob: its memory
 * @delta: pc minus file offset, if there is one executable segment
 * @rcu: frees it
 */
struct bee_stored {
	struct bee_table	 table;
	void			*blob;
	u64			 delta;
	struct rcu_head		 rcu;
};

int bee_store_init(void);
void bee_store_exit(void);
extern struct work_struct bee_store_evict;

int bee_store_add(struct bee_file *f, struct file *file, struct netlink_ext_ack *extack);
int bee_store_del(u32 id, bool force, struct netlink_ext_ack *extack);
u64 bee_stored_bytes(const struct bee_stored *stored);
u32 bee_store_count(void);

int bee_store_charge(enum bee_budget_kind kind, u64 bytes, struct netlink_ext_ack *extack);
int bee_store_set_budget(u64 limit, struct netlink_ext_ack *extack);

/**
 * bee_stored_pc() - from a place in the file to the pc there
 * @stored: the file's table
 * @offset: byte of the file
 *
 * Context: Any, NMI-safe.
 */
static inline u64 bee_stored_pc(const struct bee_stored *stored, u64 offset)
{
	if (likely(stored->table.nsegments == 1))
		return offset + stored->delta;
	return bee_table_pc(&stored->table, offset);
}

#endif /* BEE_STORE_H */
