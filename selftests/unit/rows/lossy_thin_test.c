// SPDX-License-Identifier: GPL-2.0
/* Thinning: which rows are left out, against a choice made by hand. */
#include "kselftest.h"
#include "lossy_ways.h"

static const struct bee_rule entry = {
	.kind = BEE_RULE_KNOWN, .cfa_reg = BEE_REG_RSP, .cfa_off = 8, .ra_off = -8,
};
static const struct bee_rule body = {
	.kind = BEE_RULE_KNOWN, .cfa_reg = BEE_REG_RSP, .cfa_off = 64, .ra_off = -8,
};
static const struct bee_rule gap = { .kind = BEE_RULE_GAP };

/* A function with a prologue of 4 bytes and two epilogues, of 2 and of 10 bytes. */
static void make_rows(struct row_set *rows, const struct bee_rule *way_out)
{
	row_set_add_start(rows, 0x1000);
	row_set_add(rows, 0x1000, &entry);
	row_set_add(rows, 0x1004, &body);
	row_set_add(rows, 0x1100, way_out);
	row_set_add(rows, 0x1102, &body);
	row_set_add(rows, 0x1200, way_out);
	row_set_add(rows, 0x120a, &body);
	rows->end = 0x1300;
}

static void test_percent(unsigned int percent, size_t nrows, u64 wrong)
{
	struct lossy_report report = {};
	struct row_set rows = {};

	make_rows(&rows, &entry);
	lossy_thin(&rows, percent, &report);
	ksft_test_result(rows.nrows == nrows && report.dropped == 6 - nrows &&
			 report.wrong == wrong && rows.rows[0].pc == 0x1000 &&
			 rows.rows[1].pc == 0x1004 && rows.end == 0x1300 && rows.nstarts == 1 &&
			 (nrows != 4 || rows.rows[2].pc == 0x1200),
			 "%u%% of 6 rows: %zu go, %llu bytes wrong\n", percent, report.dropped,
			 report.wrong);
	row_set_free(&rows);
}

static void test_special(void)
{
	struct lossy_report report = {};
	struct row_set rows = {};

	make_rows(&rows, &gap);
	lossy_thin(&rows, 90, &report);
	ksft_test_result(rows.nrows == 6 && !report.dropped && !report.wrong,
			 "rows that are not plain stay\n");
	row_set_free(&rows);
}

/* The last row of a function is left out, but the first row of the next function stays. */
static void test_functions(void)
{
	struct lossy_report report = {};
	struct row_set rows = {};

	row_set_add_start(&rows, 0x1000);
	row_set_add(&rows, 0x1000, &body);
	row_set_add(&rows, 0x1100, &entry);
	row_set_add_start(&rows, 0x1110);
	rows.end = 0x1200;
	lossy_thin(&rows, 50, &report);
	/* The next function has the rule of that last row, so a row is needed there all the same. */
	ksft_test_result(rows.nrows == 2 && !report.dropped && !report.wrong &&
			 rows.rows[1].pc == 0x1100, "a row that the next function needs stays\n");
	row_set_free(&rows);
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(5);
	test_percent(1, 6, 0);
	test_percent(30, 4, 2);
	test_percent(90, 2, 12);
	test_special();
	test_functions();
	ksft_finished();
}
