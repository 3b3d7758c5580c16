// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzz the validator and the lookup: bytes with a repaired size and checksum, in
 * memory that ends where they end.  What is accepted must look up within bounds, and
 * each pc must get the row that a listing of the table puts it in.
 */
#include <linux/crc32.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "row.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_repair(void *blob, size_t size)
{
	struct bee_table_header *h = blob;

	h->magic = BEE_TABLE_MAGIC;
	h->version = BEE_TABLE_VERSION;
	h->machine = BEE_TABLE_MACHINE;
	h->size = size;
	h->crc = 0;
	h->crc = ~crc32_le(~0u, blob, size);
}

static void fuzz_expect(const struct bee_table *table, u64 pc, const struct bee_row *expected)
{
	struct bee_row row;

	bee_table_lookup(table, pc, &row);
	if (memcmp(&row, expected, sizeof(row)))
		abort();
}

/* As many rows as are listed before the next input is worth more. */
#define FUZZ_ROWS	300

static void fuzz_use(const struct bee_table *table)
{
	const struct bee_row gap = { .kind = BEE_ROW_GAP };
	char text[ROW_TEXT_MAX];
	u64 pc = table->base, end;
	struct bee_row row;
	u32 i;

	for (i = 0; i < FUZZ_ROWS && bee_table_next(table, pc, &end, &row); i++, pc = end) {
		if (pc >= end || end > table->base + table->span)
			abort();
		fuzz_expect(table, pc, &row);
		fuzz_expect(table, end - 1, &row);
		fuzz_expect(table, pc + (end - pc) / 2, &row);
		if (strlen(bee_row_format(&row, text)) >= sizeof(text))
			abort();
	}
	if (i < FUZZ_ROWS && pc != table->base + table->span)
		abort();
	/* Places that the listing may not have reached. */
	for (i = 1; i < 64; i++)
		bee_table_lookup(table, table->base + table->span * i / 64, &row);
	bee_table_lookup(table, table->base + table->span - 1, &row);
	fuzz_expect(table, table->base - 1, &gap);
	fuzz_expect(table, table->base + table->span, &gap);
	for (i = 0; i < 8; i++)
		bee_table_pc(table, (u64)i << 12);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bee_table_error error = {};
	struct bee_table table;
	void *blob = malloc(size ?: 1);

	memcpy(blob, data, size);
	if (size >= sizeof(struct bee_table_header) && size < BEE_TABLE_MAX_SIZE)
		fuzz_repair(blob, size);
	if (!bee_table_validate(blob, size, &table, &error))
		fuzz_use(&table);
	else if (!error.why || !*error.why || error.offset > size)
		abort();
	free(blob);
	return 0;
}
