/* SPDX-License-Identifier: GPL-2.0 */
/* Tables of jump targets. */
#ifndef BEE_JUMP_TABLE_H
#define BEE_JUMP_TABLE_H

#include "starts.h"
#include "values.h"

/**
 * struct jump_table - where an indirect jump leads
 * @targets: places
 * @count: entries in @targets
 * @read: entries that were looked at
 * @room: places there is memory for
 */
struct jump_table {
	size_t	*targets;
	size_t	 count;
	size_t	 read;
	size_t	 room;
};

void jump_table_read(struct jump_table *table, const struct starts *starts,
		     const struct value *value, bool is_entry);

#endif /* BEE_JUMP_TABLE_H */
