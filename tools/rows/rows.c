// SPDX-License-Identifier: GPL-2.0
/* The rows of one file before they are encoded. */
#include <linux/build_bug.h>
#include <string.h>

#include "alloc.h"
#include "rows.h"

const struct bee_rule rule_outermost = {
	.kind = BEE_RULE_KNOWN, .cfa_reg = BEE_REG_RSP, .cfa_off = 8, .ra = BEE_RA_UNDEF,
};

static u64 rule_hash(const struct bee_rule *rule)
{
	u64 words[3], h;

	BUILD_BUG_ON(sizeof(*rule) != sizeof(words));
	memcpy(words, rule, sizeof(words));
	h = words[0] * 0x9e3779b97f4a7c15ull;
	h = (h ^ h >> 29 ^ words[1]) * 0xbf58476d1ce4e5b9ull;
	h = (h ^ h >> 32 ^ words[2]) * 0x94d049bb133111ebull;
	return h ^ h >> 31;
}

static u32 *row_set_slot(const struct row_set *set, const struct bee_rule *rule)
{
	size_t at = rule_hash(rule) & (set->nslots - 1);

	while (set->slots[at] && memcmp(&set->rules[set->slots[at] - 1], rule, sizeof(*rule)))
		at = (at + 1) & (set->nslots - 1);
	return &set->slots[at];
}

static void row_set_rehash(struct row_set *set, size_t nslots)
{
	size_t i;

	free(set->slots);
	set->slots = alloc_zero(nslots, sizeof(*set->slots));
	set->nslots = nslots;
	for (i = 0; i < set->nrules; i++)
		*row_set_slot(set, &set->rules[i]) = i + 1;
}

/**
 * row_set_intern() - find or add a rule
 * @set: the rows
 * @rule: fields that its kind does not use are zero
 *
 * Return: its index in the dictionary.
 */
u32 row_set_intern(struct row_set *set, const struct bee_rule *rule)
{
	u32 *slot;

	if (set->nrules * 2 >= set->nslots)
		row_set_rehash(set, set->nslots ? set->nslots * 2 : 256);
	slot = row_set_slot(set, rule);
	if (*slot)
		return *slot - 1;
	set->rules = alloc_room(set->rules, set->nrules, &set->room_rules, sizeof(*set->rules));
	set->rules[set->nrules++] = *rule;
	*slot = set->nrules;
	return *slot - 1;
}

/**
 * row_set_add() - append a row
 * @set: the rows
 * @pc: its start.  The row before may not start later; if it starts there, the new row replaces it
 * @rule: its rule; fields that its kind does not use are zero
 *
 * Adds nothing if the row before has the same rule: that row extends to the next one.
 */
void row_set_add(struct row_set *set, u64 pc, const struct bee_rule *rule)
{
	u32 index = row_set_intern(set, rule);

	if (set->nrows && set->rows[set->nrows - 1].pc == pc)
		set->nrows--;
	if (set->nrows && set->rows[set->nrows - 1].rule == index)
		return;
	set->rows = alloc_room(set->rows, set->nrows, &set->room_rows, sizeof(*set->rows));
	set->rows[set->nrows++] = (struct row_start){ .pc = pc, .rule = index };
}

/**
 * row_set_meet() - the rule that holds for two ways to an instruction
 * @set: the rows
 * @one: what holds on one way: the number of a rule, plus 1, or RULE_INSIDE
 * @other: what holds on the other way: the number of a rule, plus 1
 *
 * Where functions enter each other in the middle, one may have written to rbp, and the other not.
 * Return: the number of the rule, plus 1; RULE_NONE if the two differ in more than rbp.
 */
u32 row_set_meet(struct row_set *set, u32 one, u32 other)
{
	struct bee_rule a, b;
	u32 number;

	if (one == RULE_INSIDE)
		return RULE_NONE;
	if (one == other)
		return one;
	a = set->rules[one - 1];
	b = set->rules[other - 1];
	a.fp = b.fp = BEE_FP_UNDEF;
	a.fp_off = b.fp_off = 0;
	if (memcmp(&a, &b, sizeof(a)))
		return RULE_NONE;
	number = row_set_intern(set, &a) + 1;
	return number > RULE_MAX ? RULE_NONE : number;
}

/* row_set_add_start(): note that a function starts at @pc, greater than the one before */
void row_set_add_start(struct row_set *set, u64 pc)
{
	set->starts = alloc_room(set->starts, set->nstarts, &set->room_starts,
				 sizeof(*set->starts));
	set->starts[set->nstarts++] = pc;
}

/* row_set_add_made(): note that the rows of [@start, @end) were made from code; called ascending */
void row_set_add_made(struct row_set *set, u64 start, u64 end, bool by_abi)
{
	if (set->nmade && set->made[set->nmade - 1].end == start &&
	    set->made[set->nmade - 1].by_abi == by_abi) {
		set->made[set->nmade - 1].end = end;
		return;
	}
	set->made = alloc_room(set->made, set->nmade, &set->room_made, sizeof(*set->made));
	set->made[set->nmade++] = (struct row_made){ start, end, by_abi };
}

/**
 * row_set_count_made() - count the rows that were made from code
 * @set: the rows
 * @by_abi: those that trust the ABI; otherwise those that are proven
 * @rows: set to the number of rows that begin in such text
 * @bytes: set to the bytes of such text
 */
void row_set_count_made(const struct row_set *set, bool by_abi, uint64_t *rows, uint64_t *bytes)
{
	size_t i, row = 0;

	*rows = *bytes = 0;
	for (i = 0; i < set->nmade; i++) {
		const struct row_made *made = &set->made[i];
		bool counts = made->by_abi == by_abi;

		*bytes += counts ? made->end - made->start : 0;
		for (; row < set->nrows && set->rows[row].pc < made->end; row++)
			*rows += counts && set->rows[row].pc >= made->start;
	}
}

/**
 * row_set_replace() - give a file other rows
 * @set: the file's rows; freed, then set to @rows with the function starts and @made of @set
 * @rows: the new rows, without function starts; @set owns their memory afterwards
 */
void row_set_replace(struct row_set *set, struct row_set *rows)
{
	rows->starts = set->starts;
	rows->nstarts = set->nstarts;
	rows->room_starts = set->room_starts;
	rows->made = set->made;
	rows->nmade = set->nmade;
	rows->room_made = set->room_made;
	set->starts = NULL;
	set->made = NULL;
	row_set_free(set);
	*set = *rows;
}

/* row_set_free(): release the memory of a set, which is empty afterwards */
void row_set_free(struct row_set *set)
{
	free(set->rules);
	free(set->rows);
	free(set->slots);
	free(set->starts);
	free(set->made);
	memset(set, 0, sizeof(*set));
}
