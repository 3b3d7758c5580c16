/* SPDX-License-Identifier: GPL-2.0 */
/* The rows of one file before they are encoded. */
#ifndef BEE_ROWS_H
#define BEE_ROWS_H

#include "kmod/table.h"

/**
 * struct row_start - a row: from @pc to the next row's
 * @pc: its first address
 * @rule: number of its rule in the row set
 *
 * Packed, as there are millions of them.
 */
struct row_start {
	u64	pc;
	u32	rule;
} __attribute__((packed));

/**
 * struct row_set - rows over a dictionary of distinct rules
 * @rules: the dictionary, in the order of first use
 * @nrules: number of them
 * @rows: ascending by pc; neighbours differ in their rule
 * @nrows: number of them
 * @end: pc after the last row
 * @flags: BEE_TABLE_F_*: in what respect the rows are not exact
 * @starts: pcs where functions start, ascending; they help the encoder, and do not change what
 *	the table says
 * @nstarts: number of them
 * @room_starts: starts there is memory for
 * @room_rules: rules there is memory for
 * @room_rows: rows there is memory for
 * @slots: hash from rule to its index plus 1, 0 if free
 * @nslots: power of two, or 0
 *
 * All zero is an empty set.
 */
struct row_set {
	struct bee_rule		*rules;
	size_t			 nrules;
	struct row_start	*rows;
	size_t			 nrows;
	u64			 end;
	u8			 flags;
	u64			*starts;
	size_t			 nstarts;
	size_t			 room_starts;
	size_t			 room_rules;
	size_t			 room_rows;
	u32			*slots;
	size_t			 nslots;
};

void row_set_add(struct row_set *set, u64 pc, const struct bee_rule *rule);
u32 row_set_intern(struct row_set *set, const struct bee_rule *rule);
void row_set_add_start(struct row_set *set, u64 pc);
void row_set_replace(struct row_set *set, struct row_set *rows);
void row_set_free(struct row_set *set);

/* The pc after row @i. */
static inline u64 row_end(const struct row_set *set, size_t i)
{
	return i + 1 < set->nrows ? set->rows[i + 1].pc : set->end;
}

/* The rule of row @i. */
static inline const struct bee_rule *row_rule(const struct row_set *set, size_t i)
{
	return &set->rules[set->rows[i].rule];
}

#endif /* BEE_ROWS_H */
