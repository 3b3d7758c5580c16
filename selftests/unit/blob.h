/* SPDX-License-Identifier: GPL-2.0 */
/* Small tables for tests, written by hand from <linux/beeunwind_table.h>. */
#ifndef BEE_TEST_BLOB_H
#define BEE_TEST_BLOB_H

#include <linux/beeunwind_table.h>
#include <linux/crc32.h>
#include <asm/byteorder.h>
#include <stdlib.h>
#include <string.h>

/* The worked example of the format's header, byte by byte, and what it stands in. */
#define EXAMPLE_BASE	0x1130
#define EXAMPLE_SPAN	0x50
#define EXAMPLE_RULES	3
#define EXAMPLE_ROWS	3

static const u8 example_rules[EXAMPLE_RULES * 24] = {
	0x00, 0x00, 0x00, 0x07, 0x00, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xf8, 0xff, 0xff, 0xff,
	0x00, 0x00, 0x00, 0x07, 0x01, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0xf0, 0xff, 0xff, 0xff, 0xf8, 0xff, 0xff, 0xff,
	0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
};

static const u8 example_starts[EXAMPLE_ROWS * 4] = {
	0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00,
};

static const u8 example_indices[EXAMPLE_ROWS * 2] = {
	0x00, 0x00, 0x01, 0x00, 0x02, 0x00,
};

#define EXAMPLE_SEGMENTS_AT	sizeof(struct bee_table_header)
#define EXAMPLE_RULES_AT	(EXAMPLE_SEGMENTS_AT + sizeof(struct bee_table_segment))
#define EXAMPLE_STARTS_AT	(EXAMPLE_RULES_AT + sizeof(example_rules))
#define EXAMPLE_INDICES_AT	(EXAMPLE_STARTS_AT + sizeof(example_starts))
#define EXAMPLE_SIZE		(EXAMPLE_INDICES_AT + sizeof(example_indices))

static inline void blob_fix_crc(void *blob, size_t size)
{
	struct bee_table_header *h = blob;

	h->crc = 0;
	h->crc = cpu_to_le32(~crc32_le(~0u, blob, size));
}

/* The example as a table; free() releases it. */
static inline u8 *blob_example(void)
{
	u8 *blob = calloc(1, EXAMPLE_SIZE);
	struct bee_table_header *h = (void *)blob;
	struct bee_table_segment *segment = (void *)(blob + EXAMPLE_SEGMENTS_AT);

	h->magic = cpu_to_le32(BEE_TABLE_MAGIC);
	h->version = cpu_to_le16(1);
	h->machine = cpu_to_le16(62);
	h->size = cpu_to_le32(EXAMPLE_SIZE);
	h->nsegments = cpu_to_le32(1);
	h->nrules = cpu_to_le32(EXAMPLE_RULES);
	h->nrows = cpu_to_le32(EXAMPLE_ROWS);
	h->base = cpu_to_le64(EXAMPLE_BASE);
	h->span = cpu_to_le64(EXAMPLE_SPAN);
	h->file_size = cpu_to_le64(4711);
	h->id_type = BEE_ID_BUILD_ID;
	h->id_len = 20;
	memset(h->id, 0xab, 20);
	segment->vaddr = cpu_to_le64(0x1000);
	segment->offset = cpu_to_le64(0x1000);
	segment->size = cpu_to_le64(0x1000);
	memcpy(blob + EXAMPLE_RULES_AT, example_rules, sizeof(example_rules));
	memcpy(blob + EXAMPLE_STARTS_AT, example_starts, sizeof(example_starts));
	memcpy(blob + EXAMPLE_INDICES_AT, example_indices, sizeof(example_indices));
	blob_fix_crc(blob, EXAMPLE_SIZE);
	return blob;
}

#endif /* BEE_TEST_BLOB_H */
