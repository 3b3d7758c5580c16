// SPDX-License-Identifier: GPL-2.0
/* Tables of rows that no compiler would write: each pc must have the rule of its row. */
#include <stdlib.h>
#include <string.h>

#include "encode.h"
#include "kselftest.h"
#include "rows_equal_table.h"

static void test_too_many_rules(void)
{
	const struct table_info info = { .nsegments = 1, .id_len = 1 };
	struct row_set rows = {};
	struct bee_error why = {};
	size_t size;
	u32 i;

	for (i = 0; i < 0x8000; i++) {
		struct bee_rule row = { .cfa_reg = BEE_REG_RAX, .cfa_off = i, .ra_off = -8 };

		row_set_add(&rows, i, &row);
	}
	rows.end = i;
	ksft_test_result(!encode_table(&info, &rows, &size, &why) &&
			 strstr(why.text, "32768 distinct rules"), "too many rules: refused\n");
	row_set_free(&rows);
}

/* Encode rows, compare the table with them, and release them. */
static bool encodes_right(struct row_set *rows, size_t *size, struct bee_error *why)
{
	const struct table_info info = {
		.nsegments = 1, .id_len = 1, .segments[0] = { .size = 1ull << 40 },
	};
	struct bee_table_error error = {};
	struct bee_table table;
	void *blob = encode_table(&info, rows, size, why);
	bool right = blob && !bee_table_validate(blob, *size, &table, &error) &&
		     rows_equal_table(rows, &table);

	if (!right)
		ksft_print_msg("%s %s\n", why->text, error.why ?: "");
	free(blob);
	row_set_free(rows);
	return right;
}

/* Make @nrows random rows, up to @distance bytes apart, with at most @nrules distinct rules. */
static void make_rows(struct row_set *rows, size_t nrows, u32 nrules, u32 distance)
{
	u64 pc = 0x401005 + random_u64() % 4096;
	size_t i;

	for (i = 0; i < nrows; i++) {
		u32 pick = random_u64() % nrules;
		struct bee_rule row = {
			.cfa_reg = pick & 1 ? BEE_REG_RSP : BEE_REG_RBP, .cfa_off = 8 * (pick >> 2),
			.fp = pick & 2 ? BEE_FP_CFA : BEE_FP_SAME, .fp_off = pick & 2 ? -16 : 0,
			.ra_off = -8,
		};

		if (pick % 97 == 5)
			row.cfa_off += 3;
		if (pick % 101 == 7)
			row = (struct bee_rule){ .kind = BEE_RULE_UNSUPPORTED, .arg = pick % 10 };
		if (pick % 103 == 11)
			row = (struct bee_rule){ .kind = BEE_RULE_GAP };
		if (!(random_u64() % 5))
			row_set_add_start(rows, pc);
		row_set_add(rows, pc, &row);
		pc += 1 + random_u64() % distance;
	}
	rows->end = pc;
}

static void test_made(size_t nrows, u32 nrules, u32 distance)
{
	struct bee_error why = {};
	struct row_set rows = {};
	size_t size = 0;
	bool right;

	make_rows(&rows, nrows, nrules, distance);
	right = encodes_right(&rows, &size, &why);
	ksft_test_result(right, "%zu made rows, %u rules, up to %u bytes apart: %zu bytes\n", nrows,
			 nrules, distance, size);
}

/* Six rows over @span bytes take eight bytes each, whatever the span. */
static void test_sparse(u64 span)
{
	size_t size = 0, most = 184 + 24 + 6 * 8;
	struct bee_error why = {};
	struct row_set rows = {};
	bool right;
	u32 i;

	for (i = 0; i < 6; i++) {
		struct bee_rule row = { .cfa_reg = BEE_REG_RSP, .cfa_off = 8 + i % 2 * 8,
					.ra_off = -8 };

		row_set_add_start(&rows, 0x401005 + span / 6 * i);
		row_set_add(&rows, 0x401005 + span / 6 * i, &row);
	}
	rows.end = 0x401005 + span;
	right = encodes_right(&rows, &size, &why);
	ksft_test_result(right && size <= most,
			 "six rows in %llu MiB: %zu bytes, not more than %zu %s\n", span >> 20,
			 size, most, why.text);
}

/* Rows so close that only small windows can hold their tokens, and a gap of 4 GiB behind them. */
static void test_close_and_far(void)
{
	const struct bee_rule gap = { .kind = BEE_RULE_GAP };
	struct bee_error why = {};
	struct row_set rows = {};
	size_t size = 0, most = 184 + 24 + 8001 * 8;
	bool right;
	u32 i;

	for (i = 0; i < 8000; i++) {
		struct bee_rule row = { .cfa_reg = BEE_REG_RSP, .ra_off = -8,
					.cfa_off = 8 + 8 * (random_u64() % 15) };

		row_set_add(&rows, 0x1000 + i, &row);
	}
	row_set_add(&rows, 0x1000 + i, &gap);
	rows.end = 0x1000 + BEE_TABLE_MAX_SPAN;
	right = encodes_right(&rows, &size, &why);
	ksft_test_result(right && size <= most,
			 "8001 rows in 4 GiB: %zu bytes, not more than %zu %s\n", size, most,
			 why.text);
}

/* A row for each byte for a while, where the rest of the file would have larger windows. */
static void test_crowd(u32 crowd)
{
	struct bee_error why = {};
	struct row_set rows = {};
	size_t size = 0;
	u64 pc = 0x1000;
	bool right;
	u32 i;

	for (i = 0; i < crowd + 6000; i++) {
		struct bee_rule row = { .cfa_reg = BEE_REG_RSP, .ra_off = -8,
					.cfa_off = 8 + 8 * (random_u64() % 100) };

		row_set_add(&rows, pc, &row);
		pc += i < crowd ? 1 : 1 + random_u64() % 2000;
	}
	rows.end = pc;
	right = encodes_right(&rows, &size, &why);
	ksft_test_result(right, "%u rows in as many bytes, and 6000 in more: %zu bytes %s\n",
			 crowd, size, why.text);
}

/* A row every 2 KiB, and another rule each time: what windows need for one takes most of a list. */
static void test_as_large(void)
{
	size_t size = 0, most = 184 + 24 + 3000 * 8;
	struct bee_error why = {};
	struct row_set rows = {};
	bool right;
	u32 i;

	for (i = 0; i < 3000; i++) {
		struct bee_rule row = { .cfa_reg = BEE_REG_RSP, .cfa_off = 8 + 8 * i,
					.ra_off = -8 };

		row_set_add(&rows, 0x1000 + i * 2048ull, &row);
	}
	rows.end = 0x1000 + i * 2048ull;
	right = encodes_right(&rows, &size, &why);
	ksft_test_result(right && size <= most,
			 "3000 rules: %zu bytes, not more than %zu %s\n", size, most, why.text);
}

int main(void)
{
	static const u32 nrules[] = { 1, 2, 40, 1000, 60000 };
	static const u32 distances[] = { 1, 12, 40, 3000 };
	size_t i, j;

	ksft_print_header();
	ksft_set_plan(5 * 4 * 2 + 8);
	for (i = 0; i < 5; i++)
		for (j = 0; j < 4; j++) {
			test_made(3, nrules[i], distances[j]);
			test_made(600, nrules[i], distances[j]);
		}
	test_made(5000, 60000, 20);
	test_too_many_rules();
	test_crowd(300);
	test_crowd(3000);
	test_sparse(10u << 20);
	test_sparse(BEE_TABLE_MAX_SPAN);
	test_close_and_far();
	test_as_large();
	ksft_finished();
}
