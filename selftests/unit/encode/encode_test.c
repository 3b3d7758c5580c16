// SPDX-License-Identifier: GPL-2.0
/* Tables of rows that no compiler would write: each pc must have the rule of its row. */
#include <stdlib.h>
#include <string.h>

#include "kselftest.h"
#include "made_rows.h"

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

int main(void)
{
	static const u32 nrules[] = { 1, 2, 40, 1000, 60000 };
	static const u32 distances[] = { 1, 12, 40, 3000 };
	size_t i, j;

	ksft_print_header();
	ksft_set_plan(5 * 4 * 2 + 2);
	for (i = 0; i < 5; i++)
		for (j = 0; j < 4; j++) {
			test_made(3, nrules[i], distances[j]);
			test_made(600, nrules[i], distances[j]);
		}
	test_made(5000, 60000, 20);
	test_too_many_rules();
	ksft_finished();
}
