// SPDX-License-Identifier: GPL-2.0
/* Tables of jump targets. */
#include <string.h>

#include "alloc.h"
#include "jump_table.h"

#define TABLE_MAX	4096	/* entries */

/* The place that entry @i leads to, or CODE_NOWHERE. */
static size_t table_target(const struct starts *starts, const struct value *value, u64 i)
{
	bool pointers = value->kind == VALUE_POINTER;
	u64 where = value->number + i * (pointers ? sizeof(u64) : sizeof(s32)), to = 0;
	const struct reloc *reloc = pointers ? relocs_find(&starts->relocs, where) : NULL;
	const u8 *bytes;
	s32 distance;

	if (reloc)
		return code_place(starts->code, reloc->value);
	bytes = elf_data(starts->code->elf, where, pointers ? sizeof(to) : sizeof(distance));
	if (!bytes)
		return CODE_NOWHERE;
	if (pointers) {
		memcpy(&to, bytes, sizeof(to));
	} else {
		memcpy(&distance, bytes, sizeof(distance));
		to = value->base + distance;
	}
	return code_place(starts->code, to);
}

/**
 * jump_table_read() - read the targets of an indirect jump
 * @table: emptied, and filled with places; none if the targets are not known
 * @starts: what is known of the code
 * @value: what the jump leads to: a VALUE_TARGET or VALUE_POINTER
 * @is_entry: the frame is as at the start of a function
 *
 * If the index has a bound all entries must lead into the code.  Otherwise the table ends where the
 * next one begins that code names, at an entry that does not lead into the code, or at one that
 * leads to the start of another function, which could only be a tail call.
 */
void jump_table_read(struct jump_table *table, const struct starts *starts,
		     const struct value *value, bool is_entry)
{
	bool bounded = value->bound != VALUE_UNBOUNDED;
	u64 size = value->kind == VALUE_POINTER ? sizeof(u64) : sizeof(s32), i, count = TABLE_MAX;

	table->count = table->read = 0;
	if (value->kind != VALUE_POINTER && value->kind != VALUE_TARGET)
		return;
	if (bounded && value->bound < TABLE_MAX)
		count = value->bound + 1;
	else if (!bounded)
		count = (starts_next_named(starts, value->number) - value->number + size - 1) / size;
	for (i = 0; i < count && i < TABLE_MAX; i++) {
		size_t to = table_target(starts, value, i);

		table->read++;
		if (to == CODE_NOWHERE && bounded)
			table->count = 0;
		if (to == CODE_NOWHERE ||
		    (!bounded && !is_entry && starts->at[to] & START_STRONG))
			return;
		table->targets = alloc_room(table->targets, table->count, &table->room,
					    sizeof(*table->targets));
		table->targets[table->count++] = to;
	}
}
