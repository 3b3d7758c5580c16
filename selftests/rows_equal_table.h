/* SPDX-License-Identifier: GPL-2.0 */
/* Compare a table with the rows that it was made from. */
#ifndef SELFTESTS_ROWS_EQUAL_TABLE_H
#define SELFTESTS_ROWS_EQUAL_TABLE_H

#include <string.h>

#include "random.h"
#include "rows.h"

/* Numbers of comparisons, and of those that failed. */
struct table_comparison {
	u64	checked;
	u64	wrong;
};

static inline void table_count(struct table_comparison *c, bool right)
{
	c->checked++;
	c->wrong += !right;
}

/* A lookup of @pc must find @expected. */
static inline void table_expect(const struct bee_table *table, u64 pc,
				const struct bee_rule *expected, struct table_comparison *c)
{
	struct bee_rule found;

	bee_table_lookup(table, pc, &found);
	table_count(c, !memcmp(&found, expected, sizeof(found)));
}

/**
 * table_compare() - compare a table with the rows that it was made from
 * @rows: the rows; not empty
 * @table: the table
 * @c: where to count comparisons
 *
 * Listing the table must give the rows.  Lookups at the first, the last and a random pc of each
 * row must give its rule, those outside all rows a gap.
 */
static inline void table_compare(const struct row_set *rows, const struct bee_table *table,
				 struct table_comparison *c)
{
	static const struct bee_rule gap = { .kind = BEE_RULE_GAP };
	u64 pc = table->base, end;
	struct bee_rule listed;
	size_t i;

	for (i = 0; i < rows->nrows && bee_table_next(table, pc, &end, &listed); i++, pc = end)
		table_count(c, pc == rows->rows[i].pc &&
			    !memcmp(&listed, row_rule(rows, i), sizeof(listed)));
	table_count(c, i == rows->nrows && pc == rows->end &&
		    !bee_table_next(table, pc, &end, &listed));

	for (i = 0; i < rows->nrows; i++) {
		const struct bee_rule *rule = row_rule(rows, i);

		pc = rows->rows[i].pc;
		end = row_end(rows, i);
		table_expect(table, pc, rule, c);
		table_expect(table, end - 1, rule, c);
		table_expect(table, pc + random_u64() % (end - pc), rule, c);
	}
	table_expect(table, rows->rows[0].pc - 1, &gap, c);
	table_expect(table, rows->end, &gap, c);
	table_expect(table, 0, &gap, c);
	table_expect(table, ~0ull, &gap, c);
}

static inline bool rows_equal_table(const struct row_set *rows, const struct bee_table *table)
{
	struct table_comparison c = {};

	table_compare(rows, table, &c);
	return !c.wrong;
}

#endif /* SELFTESTS_ROWS_EQUAL_TABLE_H */
