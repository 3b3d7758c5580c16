// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzz the validator and the lookup: bytes with a repaired size and checksum, in
 * memory of exactly their size.  In a table that is accepted lookups must stay within bounds,
 * and the lookup of a pc must give the row in which a listing of the table has that pc.
 */
#include <linux/crc32.h>
#include <stdint.h>

#include "use_table.h"

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

/* No more rows are listed: the time is better spent on the next input. */
#define FUZZ_ROWS	300
#define FUZZ_PLACES	64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bee_table_error error = {};
	struct bee_table table;
	void *blob = malloc(size ?: 1);

	memcpy(blob, data, size);
	if (size >= sizeof(struct bee_table_header) && size < BEE_TABLE_MAX_SIZE)
		fuzz_repair(blob, size);
	if (!bee_table_validate(blob, size, &table, &error))
		use_table(&table, FUZZ_ROWS, FUZZ_PLACES);
	else if (!error.why || !*error.why || error.offset > size)
		abort();
	free(blob);
	return 0;
}
