// SPDX-License-Identifier: GPL-2.0
/* Plain formats to compare tables with: sorted rows with binary search. */
#include "alloc.h"
#include "formats.h"

void rows8_make(const struct row_set *set, struct rows8 *rows)
{
	size_t i;

	*rows = (struct rows8){
		.base = set->rows[0].pc, .span = set->end - set->rows[0].pc,
		.rules = set->rules, .nrows = set->nrows,
		.rows = alloc_array(NULL, set->nrows, sizeof(*rows->rows)),
	};
	for (i = 0; i < set->nrows; i++)
		rows->rows[i] = (struct row8){ set->rows[i].pc - rows->base, set->rows[i].rule };
}

void rows8_lookup(const struct rows8 *rows, u64 pc, struct bee_rule *row)
{
	size_t low = 0, n = rows->nrows;
	u64 x = pc - rows->base;

	if (x >= rows->span) {
		*row = (struct bee_rule){ .kind = BEE_RULE_GAP };
		return;
	}
	while (n > 1) {
		size_t half = n / 2;

		if (rows->rows[low + half].pc <= x)
			low += half;
		n -= half;
	}
	*row = rows->rules[rows->rows[low].rule];
}

void rows4_make(const struct row_set *set, struct rows4 *rows)
{
	size_t i, page;

	*rows = (struct rows4){
		.base = set->rows[0].pc, .span = set->end - set->rows[0].pc, .rules = set->rules,
	};
	rows->npages = ((rows->span - 1) >> 16) + 1;
	rows->rows = alloc_array(NULL, set->nrows + rows->npages, sizeof(*rows->rows));
	rows->pages = alloc_array(NULL, rows->npages + 1, sizeof(*rows->pages));
	for (page = 0, i = 0; page < rows->npages; page++) {
		u64 start = (u64)page << 16;

		rows->pages[page] = rows->nrows;
		if (i && (i == set->nrows || set->rows[i].pc - rows->base > start))
			rows->rows[rows->nrows++] = set->rows[i - 1].rule;
		for (; i < set->nrows && set->rows[i].pc - rows->base < start + 0x10000; i++)
			rows->rows[rows->nrows++] = (set->rows[i].pc - rows->base) << 16 |
						    set->rows[i].rule;
	}
	rows->pages[page] = rows->nrows;
}

void rows4_lookup(const struct rows4 *rows, u64 pc, struct bee_rule *row)
{
	u64 x = pc - rows->base;
	u32 low, n, key;

	if (x >= rows->span) {
		*row = (struct bee_rule){ .kind = BEE_RULE_GAP };
		return;
	}
	low = rows->pages[x >> 16];
	n = rows->pages[(x >> 16) + 1] - low;
	key = x << 16 | 0xffff;
	while (n > 1) {
		u32 half = n / 2;

		if (rows->rows[low + half] <= key)
			low += half;
		n -= half;
	}
	*row = rows->rules[rows->rows[low] & 0xffff];
}
