/* SPDX-License-Identifier: GPL-2.0 */
/* Random rows, such as no compiler would write, and tables of them. */
#ifndef SELFTESTS_MADE_ROWS_H
#define SELFTESTS_MADE_ROWS_H

#include <stdlib.h>

#include "encode.h"
#include "kselftest.h"
#include "rows_equal_table.h"

/* Make @nrows rows, up to @distance bytes apart, with at most @nrules distinct rules. */
static inline void make_rows(struct row_set *rows, size_t nrows, u32 nrules, u32 distance)
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

/* Make such rows, encode them, and compare the table with the rows. */
static inline void test_made(size_t nrows, u32 nrules, u32 distance)
{
	const struct table_info info = {
		.nsegments = 1, .id_len = 1,
		.segments[0] = { .vaddr = 0x400000, .size = 0x10000000 },
	};
	struct bee_table_error error = {};
	struct row_set rows = {};
	struct bee_table table;
	struct bee_error why = {};
	size_t size = 0;
	bool good;
	void *blob;

	make_rows(&rows, nrows, nrules, distance);
	blob = encode_table(&info, &rows, &size, &why);
	good = blob && !bee_table_validate(blob, size, &table, &error) &&
	       rows_equal_table(&rows, &table);
	if (!good)
		ksft_print_msg("%s %s\n", why.text, error.why ?: "");
	ksft_test_result(good, "%zu made rows, %u rules, up to %u bytes apart: %zu bytes\n", nrows,
			 nrules, distance, size);
	free(blob);
	row_set_free(&rows);
}

#endif /* SELFTESTS_MADE_ROWS_H */
