// SPDX-License-Identifier: GPL-2.0
/*
 * Is the table what it was made from?  Its rows are listed and compared, lookups are made at each
 * row's first and last byte and at random pcs, and at some of those a linear scan over
 * the rows has the last word on binary search too.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "formats.h"

#define RANDOM_PCS	100000
#define SCANNED_ROWS	(200ull << 20)	/* rows that linear scans pass in all */

static bool rows_equal(const struct bee_row *a, const struct bee_row *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static void exact_expect(const struct bee_table *table, u64 pc, const struct bee_row *expected,
			 struct bench_file *file)
{
	struct bee_row row;

	bee_table_lookup(table, pc, &row);
	file->checked++;
	file->wrong += !rows_equal(&row, expected);
}

static void exact_rows(const struct row_set *set, const struct bee_table *table,
		       struct bench_file *file)
{
	u64 pc = table->base, end = pc;
	struct bee_row row;
	size_t i;

	for (i = 0; i < set->nrows && bee_table_next(table, pc, &end, &row); i++, pc = end) {
		const struct bee_row *expected = &set->rules[set->rows[i].rule];

		file->checked++;
		file->wrong += pc != set->rows[i].pc || !rows_equal(&row, expected);
		exact_expect(table, pc, expected, file);
		exact_expect(table, end - 1, expected, file);
	}
	file->wrong += i != set->nrows || pc != set->end;
}

static void exact_random(const struct row_set *set, const struct bee_table *table,
			 struct bench_file *file)
{
	size_t scans = SCANNED_ROWS / set->nrows + 1, i;
	struct bee_row row, scanned;
	struct rows8 rows8;
	struct rows4 rows4;

	rows8_make(set, &rows8);
	rows4_make(set, &rows4);
	for (i = 0; i < RANDOM_PCS; i++) {
		u64 pc = table->base + bench_random() % table->span;

		rows8_lookup(&rows8, pc, &row);
		exact_expect(table, pc, &row, file);
		rows4_lookup(&rows4, pc, &scanned);
		file->wrong += !rows_equal(&row, &scanned);
		if (i >= scans)
			continue;
		linear_lookup(set, pc, &scanned);
		file->wrong += !rows_equal(&row, &scanned);
	}
	free(rows8.rows);
	free(rows4.rows);
	free(rows4.pages);
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
