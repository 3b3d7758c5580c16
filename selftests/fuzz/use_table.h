/* SPDX-License-Identifier: GPL-2.0 */
/* Checks that must pass for each table that the validator accepts. */
#ifndef BEE_FUZZ_USE_TABLE_H
#define BEE_FUZZ_USE_TABLE_H

#include <stdlib.h>
#include <string.h>

#include "rule_text.h"
#include "kmod/table.h"

/* Lookups made so far. */
static u64 use_lookups;

static void use_expect(const struct bee_table *table, u64 pc, const struct bee_rule *expected)
{
	struct bee_rule row;

	bee_table_lookup(table, pc, &row);
	use_lookups++;
	if (memcmp(&row, expected, sizeof(row)))
		abort();
}

/*
 * List the first @nrows rows, and look up pcs at their ends and in their middle: each lookup must
 * give the row.  Then look up @nplaces pcs that are evenly spread.
 */
static void use_table(const struct bee_table *table, u32 nrows, u32 nplaces)
{
	const struct bee_rule gap = { .kind = BEE_RULE_GAP };
	char text[RULE_TEXT_MAX];
	u64 pc = table->base, end;
	struct bee_rule row;
	u32 i;

	for (i = 0; i < nrows && bee_table_next(table, pc, &end, &row); i++, pc = end) {
		if (pc >= end || end > table->base + table->span)
			abort();
		use_expect(table, pc, &row);
		use_expect(table, end - 1, &row);
		use_expect(table, pc + (end - pc) / 2, &row);
		if (strlen(rule_format(&row, text)) >= sizeof(text))
			abort();
	}
	if (i < nrows && pc != table->base + table->span)
		abort();
	for (i = 1; i < nplaces; i++)
		bee_table_lookup(table, table->base + table->span * i / nplaces, &row);
	bee_table_lookup(table, table->base + table->span - 1, &row);
	use_lookups += nplaces;
	use_expect(table, table->base - 1, &gap);
	use_expect(table, table->base + table->span, &gap);
	for (i = 0; i < 8; i++)
		bee_table_pc(table, (u64)i << 12);
}

#endif /* BEE_FUZZ_USE_TABLE_H */
