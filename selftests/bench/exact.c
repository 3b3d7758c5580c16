// SPDX-License-Identifier: GPL-2.0
/*
 * Is the table what it was made from?  Its rows are listed and compared, lookups are made at each
 * row's first and last byte and at random pcs, for which a linear scan over the rows says what is
 * right, for binary search too.
 */
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "bench.h"
#include "formats.h"

#define RANDOM_PCS	100000

static bool rows_equal(const struct bee_rule *a, const struct bee_rule *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static void exact_expect(const struct bee_table *table, u64 pc, const struct bee_rule *expected,
			 struct bench_file *file)
{
	struct bee_rule row;

	bee_table_lookup(table, pc, &row);
	file->checked++;
	file->wrong += !rows_equal(&row, expected);
}

static void exact_rows(const struct row_set *set, const struct bee_table *table,
		       struct bench_file *file)
{
	u64 pc = table->base, end = pc;
	struct bee_rule row;
	size_t i;

	for (i = 0; i < set->nrows && bee_table_next(table, pc, &end, &row); i++, pc = end) {
		const struct bee_rule *expected = &set->rules[set->rows[i].rule];

		file->checked++;
		file->wrong += pc != set->rows[i].pc || !rows_equal(&row, expected);
		exact_expect(table, pc, expected, file);
		exact_expect(table, end - 1, expected, file);
	}
	file->wrong += i != set->nrows || pc != set->end;
}

static int compare_pcs(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* Ascending, so that one scan over the rows answers for all. */
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
			 struct bench_file *file)
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
		exact_expect(table, pcs[i], expected, file);
		rows8_lookup(&rows8, pcs[i], &plain);
		file->wrong += !rows_equal(&plain, expected);
		rows4_lookup(&rows4, pcs[i], &plain);
		file->wrong += !rows_equal(&plain, expected);
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
 * @file: wrong and checked are filled
 */
void bench_exact(const struct row_set *set, const struct bee_table *table, struct bench_file *file)
{
	exact_rows(set, table, file);
	exact_random(set, table, file);
}
