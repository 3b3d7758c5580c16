// SPDX-License-Identifier: GPL-2.0
/*
 * Is the table exact?  Its rows are listed and compared with those it was made from.  Lookups in
 * the table and in the plain formats are compared at each row's first and last byte, and at
 * random pcs, for which a linear scan over the rows gives the right answer.
 */
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "bench.h"
#include "formats.h"
#include "rows_equal_table.h"

#define RANDOM_PCS	100000

static bool rules_equal(const struct bee_rule *a, const struct bee_rule *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static int compare_pcs(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* Random pcs in ascending order, so that one scan over the rows gives all answers. */
static u64 *exact_random_pcs(const struct bee_table *table)
{
	u64 *pcs = alloc_array(NULL, RANDOM_PCS, sizeof(*pcs));
	size_t i;

	for (i = 0; i < RANDOM_PCS; i++)
		pcs[i] = table->base + bench_random() % table->span;
	qsort(pcs, RANDOM_PCS, sizeof(*pcs), compare_pcs);
	return pcs;
}

static void exact_random(const struct row_set *set, const struct bee_table *table,
			 struct table_comparison *c)
{
	u64 *pcs = exact_random_pcs(table);
	size_t row = 0, i;
	struct bee_rule plain;
	struct rows8 rows8;
	struct rows4 rows4;

	rows8_make(set, &rows8);
	rows4_make(set, &rows4);
	for (i = 0; i < RANDOM_PCS; i++) {
		const struct bee_rule *expected;

		while (row + 1 < set->nrows && set->rows[row + 1].pc <= pcs[i])
			row++;
		expected = &set->rules[set->rows[row].rule];
		table_expect(table, pcs[i], expected, c);
		rows8_lookup(&rows8, pcs[i], &plain);
		c->wrong += !rules_equal(&plain, expected);
		rows4_lookup(&rows4, pcs[i], &plain);
		c->wrong += !rules_equal(&plain, expected);
	}
	free(rows8.rows);
	free(rows4.rows);
	free(rows4.pages);
	free(pcs);
}

/**
 * bench_exact() - compare a table with its rows
 * @set: the rows
 * @table: the table made from them
 * @file: its wrong and checked are filled
 */
void bench_exact(const struct row_set *set, const struct bee_table *table, struct bench_file *file)
{
	struct table_comparison c = {};

	table_compare(set, table, &c);
	exact_random(set, table, &c);
	file->checked = c.checked;
	file->wrong = c.wrong;
}
