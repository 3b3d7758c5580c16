/* SPDX-License-Identifier: GPL-2.0 */
/* The rows of one file before they are encoded. */
#ifndef BEE_ROWS_H
#define BEE_ROWS_H

#include <stdint.h>

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
 * struct row_made - text [@start, @end) whose rows were made from its code
 * @start: first pc
 * @end: pc after the last
 * @by_abi: the rows are right if the code keeps the ABI; if false, the code proves the rows
 */
struct row_made {
	u64	start;
	u64	end;
	bool	by_abi;
};

/* What makers of rows from code keep for each byte: the number of its rule in a row_set, plus 1, or one of these. */
#define RULE_NONE	0
#define RULE_INSIDE	0xffff			/* the byte is in an instruction, and not its first */
#define RULE_MAX	0xfffe

/**
 * struct row_set - rows over a dictionary of distinct rules
 * @rules: the dictionary, in the order of first use
 * @nrules: entries in @rules
 * @rows: ascending by pc; neighbours differ in their rule
 * @nrows: entries in @rows
 * @end: pc after the last row
 * @flags: BEE_TABLE_F_*: in what respect the rows are not exact
 * @starts: pcs where functions start, ascending; they help the encoder, and do not change what
 *	the table says
 * @nstarts: entries in @starts
 * @made: text whose rows were made from its code, as it has no CFI; ascending
 * @nmade: number of ranges
 * @room_made: ranges there is memory for
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
	struct row_made		*made;
	size_t			 nmade;
	size_t			 room_made;
	size_t			 room_starts;
	size_t			 room_rules;
	size_t			 room_rows;
	u32			*slots;
	size_t			 nslots;
};

/* What begins there has no caller: the outermost frame of a program, thread, coroutine or goroutine. */
extern const struct bee_rule rule_outermost;

void row_set_add(struct row_set *set, u64 pc, const struct bee_rule *rule);
u32 row_set_intern(struct row_set *set, const struct bee_rule *rule);
u32 row_set_meet(struct row_set *set, u32 one, u32 other);
void row_set_add_start(struct row_set *set, u64 pc);
void row_set_add_made(struct row_set *set, u64 start, u64 end, bool by_abi);
void row_set_count_made(const struct row_set *set, bool by_abi, uint64_t *rows, uint64_t *bytes);
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
