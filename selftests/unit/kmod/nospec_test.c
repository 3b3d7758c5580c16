// SPDX-License-Identifier: GPL-2.0
/*
 * Behind a mispredicted branch a lookup can run with numbers that no checked table has.  Here it does:
 * it must not read outside of the blob, which ASan would tell.
 */
#include <stdlib.h>

#include "kernel.h"
#include "kselftest.h"
#include "random.h"

#include "kmod/table.c"
#include "blob.h"

#define ROUNDS	20000

/* Places in a page, bits of windows and numbers of phrases of all kinds, of any value. */
static void use_numbers(const struct bee_table *table)
{
	u32 page = (u32)random_u64() & ~(BEE_PAGE_NARROWER << BEE_PAGE_NARROWER_SHIFT);
	struct page_record record = page_record(table, page);
	struct token token = { (u32)random_u64() & BEE_SCAN_DIRECT, (u32)random_u64() };
	u32 at, end, until, body, x = (u32)random_u64() & table->window_mask;
	s32 left = BEE_TABLE_MAX_TOKENS * BEE_WORK_TOKEN;
	struct phrase phrase;

	token.class |= BEE_SCAN_ID << BEE_SCAN_ID_SHIFT;
	page_window(table, &record, (u32)random_u64() & table->page_mask, &at, &end);
	at = (u32)random_u64();
	window_word(table, at, at + ((u32)random_u64() & 0xfff), x, &left, &until);
	phrase = head_phrase(table, token, &body);
	head_word(table, &phrase, body, 0, x, &until);
	phrase = step_phrase(table, token, (u32)random_u64());
	step_word(table, &phrase, body, 0, x, &until);
}

static bool is_masked(const struct bee_table *table, u32 at)
{
	const u32 last = table->size - sizeof(u64);
	u64 word;

	memcpy(&word, (const u8 *)table->header + (at <= last ? at : 0), sizeof(word));
	return table_word_at(table, at) == word;
}

/* Frees @blob; the table is in a copy of exactly @size bytes. */
static void test_blob(const char *name, u8 *blob, size_t size)
{
	struct bee_table_error error = {};
	u8 *copy = malloc(size);
	struct bee_table table;
	bool masked;
	u32 i;

	memcpy(copy, blob, size);
	free(blob);
	masked = !bee_table_validate(copy, size, &table, &error);
	for (i = 0; masked && i < 2 * size; i++)
		masked = is_masked(&table, i) && is_masked(&table, ~i);
	for (i = 0; masked && i < ROUNDS; i++)
		use_numbers(&table);
	ksft_test_result(masked, "%s: no number leads out of the table\n", name);
	free(copy);
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(3);
	test_blob("first example", blob_example(), EXAMPLE_SIZE);
	test_blob("second example", blob_second(), SECOND_SIZE);
	test_blob("third example", blob_third(), THIRD_SIZE);
	ksft_finished();
}
