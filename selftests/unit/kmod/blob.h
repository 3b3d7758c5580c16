/* SPDX-License-Identifier: GPL-2.0 */
/* Small tables for tests, written by hand from <linux/beeunwind_table.h>. */
#ifndef BEE_TEST_BLOB_H
#define BEE_TEST_BLOB_H

#include <linux/beeunwind_table.h>
#include <linux/crc32.h>
#include <asm/byteorder.h>
#include <stdlib.h>
#include <string.h>

/* The two examples of <linux/beeunwind_table.h>: their bytes, from the rules on. */
#define EXAMPLE_BASE	0x1130
#define EXAMPLE_SPAN	0x50

static const u8 example_sections[] = {
	0x08, 0x00, 0x04, 0x00, 0x03, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00,
	0x00, 0x00,
	0x02,
	0x21,
	0x28, 0x00, 0x06, 0x10, 0x01,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
};

#define SECOND_BASE	0x2000
#define SECOND_SPAN	0x180

static const u8 second_sections[] = {
	0x10, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00,
	0x01, 0x00, 0x00, 0x00,
	0x02, 0x00,
	0x82, 0x00,
	0x01,
	0xf1,
	0x11, 0x04, 0x00,
	0x25, 0x00, 0x17, 0x1c, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
};

#define EXAMPLE_SEGMENTS_AT	sizeof(struct bee_table_header)
#define EXAMPLE_RULES_AT	(EXAMPLE_SEGMENTS_AT + sizeof(struct bee_table_segment))
#define EXAMPLE_PAGES_AT	(EXAMPLE_RULES_AT + 8)
#define EXAMPLE_MENUS_AT	(EXAMPLE_PAGES_AT + 4)
#define EXAMPLE_HEADS_AT	(EXAMPLE_MENUS_AT + 6)
#define EXAMPLE_RECORD_AT	(EXAMPLE_HEADS_AT + 2)
#define EXAMPLE_SIZE		(EXAMPLE_RULES_AT + sizeof(example_sections))
#define SECOND_SIZE		(EXAMPLE_RULES_AT + sizeof(second_sections))
#define SECOND_RECORD_AT	(EXAMPLE_HEADS_AT + 7)

static inline void blob_fix_crc(void *blob, size_t size)
{
	struct bee_table_header *h = blob;

	h->crc = 0;
	h->crc = cpu_to_le32(~crc32_le(~0u, blob, size));
}

/* A new table: the header and segment that the examples share, then @sections. */
static inline u8 *blob_begin(size_t size, u64 base, u32 span, const u8 *sections)
{
	u8 *blob = calloc(1, size);
	struct bee_table_header *h = (void *)blob;
	struct bee_table_segment *segment = (void *)(blob + EXAMPLE_SEGMENTS_AT);

	h->magic = cpu_to_le32(BEE_TABLE_MAGIC);
	h->version = cpu_to_le16(6);
	h->machine = cpu_to_le16(62);
	h->size = cpu_to_le32(size);
	h->base = cpu_to_le64(base);
	h->file_size = cpu_to_le64(4711);
	h->span = cpu_to_le32(span);
	h->nrows = cpu_to_le32(3);
	h->nrules = cpu_to_le16(2);
	h->nsegments = 1;
	h->window = 8;
	h->grain = 4;
	h->nmenus = 1;
	h->id_type = BEE_ID_BUILD_ID;
	h->id_len = 20;
	memset(h->id, 0xab, 20);
	segment->vaddr = cpu_to_le64(0x1000);
	segment->offset = cpu_to_le64(0x1000);
	segment->size = cpu_to_le64(0x2000);
	memcpy(blob + EXAMPLE_RULES_AT, sections, size - EXAMPLE_RULES_AT);
	return blob;
}

static inline void blob_set_classes(void *blob, u8 head_gap, u8 step_gap)
{
	struct bee_table_header *h = blob;
	unsigned int i;

	h->classes[0].gap = head_gap;
	for (i = 1; i < BEE_TABLE_CLASSES; i++)
		h->classes[i].gap = step_gap;
}

/* A copy of the first example; the caller frees it with free(). */
static inline u8 *blob_example(void)
{
	u8 *blob = blob_begin(EXAMPLE_SIZE, EXAMPLE_BASE, EXAMPLE_SPAN, example_sections);
	struct bee_table_header *h = (void *)blob;

	blob_set_classes(blob, 0x84, 0x48);
	h->classes[0].id = 3;
	h->nphrases[0][0] = h->nshapes[0][0] = cpu_to_le16(1);
	h->nphrases[1][0] = h->nshapes[1][0] = cpu_to_le16(1);
	blob_fix_crc(blob, EXAMPLE_SIZE);
	return blob;
}

/* A copy of the second example; the caller frees it with free(). */
static inline u8 *blob_second(void)
{
	u8 *blob = blob_begin(SECOND_SIZE, SECOND_BASE, SECOND_SPAN, second_sections);
	struct bee_table_header *h = (void *)blob;

	blob_set_classes(blob, 0x00, 0x46);
	h->page = 1;
	h->border_bits = 5;
	h->nrows = cpu_to_le32(6);
	h->nphrases[0][1] = h->nshapes[0][1] = cpu_to_le16(1);
	h->nphrases[1][2] = h->nshapes[1][2] = cpu_to_le16(1);
	blob_fix_crc(blob, SECOND_SIZE);
	return blob;
}

/*
 * A third example, with what the first two lack and a test wants to damage: a full rule, three
 * rules and step phrases, a menu of two places, a head phrase that no token uses, a long body
 * rule number.
 */
#define THIRD_BASE	0x3000
#define THIRD_SPAN	0x100

static const u8 third_sections[] = {
	0x00, 0x00, 0x01, 0x06, 0x02, 0x06, 0x00, 0x00,		/* CFA = *(rbp-8)+0 */
	0xf8, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00,		/* FP = *(rbp+0) */
	0x00, 0x00, 0x00, 0x00, 0xf8, 0xff, 0xff, 0xff,		/* RA = *(CFA-8) */
	0x02, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00,					/* head 0 */
	0x08, 0x00, 0x10, 0x00,					/* steps 1, 2 */
	0x04,							/* body rule 0, distance 1 */
	0x24,							/* shapes 0, 1, 2 */
	0x60, 0x28, 0x02,					/* ops 32, 33, 34 */
	0x27, 0x00, 0xb1, 0x82, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
};

#define THIRD_FULL_AT		EXAMPLE_RULES_AT
#define THIRD_HEAD_MENU_AT	(THIRD_FULL_AT + 24 + 12 + 4)
#define THIRD_STEP_MENU_AT	(THIRD_HEAD_MENU_AT + 4)
#define THIRD_HEADS_AT		(THIRD_STEP_MENU_AT + 4)
#define THIRD_STEPS_AT		(THIRD_HEADS_AT + 1)
#define THIRD_RECORD_AT		(THIRD_STEPS_AT + 4)
#define THIRD_SIZE		(THIRD_FULL_AT + sizeof(third_sections))

static inline u8 *blob_third(void)
{
	u8 *blob = blob_begin(THIRD_SIZE, THIRD_BASE, THIRD_SPAN, third_sections);
	struct bee_table_header *h = (void *)blob;
	unsigned int i;

	blob_set_classes(blob, 0x44, 0xc0);
	h->classes[0].id = 1;
	for (i = 1; i < BEE_TABLE_CLASSES; i++)
		h->classes[i].id = 5;
	h->grain = 0;
	h->body_bits = 1;
	h->menu_bits[1] = 1;
	h->nfull = cpu_to_le16(1);
	h->nrules = cpu_to_le16(3);
	h->nrows = cpu_to_le32(2);
	h->nphrases[0][0] = h->nshapes[0][0] = cpu_to_le16(1);
	h->nphrases[1][0] = h->nshapes[1][0] = cpu_to_le16(3);
	blob_fix_crc(blob, THIRD_SIZE);
	return blob;
}

/* The first example as a list, with a full rule (that of the third one) in a fourth row. */
static const u8 list_sections[] = {
	0x00, 0x00, 0x01, 0x06, 0x02, 0x06, 0x00, 0x00,
	0xf8, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0xf8, 0xff, 0xff, 0xff,
	0x00, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00,
	0x01, 0x00, 0x00, 0x00, 0x08, 0x00, 0x04, 0x00,
	0x10, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00,
	0x50, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00,
};

#define LIST_ROW(n)	(EXAMPLE_RULES_AT + 24 + 8 * (n))
#define LIST_SIZE	(EXAMPLE_RULES_AT + sizeof(list_sections))

/* A copy of the list; the caller frees it with free(). */
static inline u8 *blob_list(void)
{
	u8 *blob = blob_begin(LIST_SIZE, EXAMPLE_BASE, EXAMPLE_SPAN + 1, list_sections);
	struct bee_table_header *h = (void *)blob;

	h->window = h->grain = h->nmenus = 0;
	h->nrules = 0;
	h->nfull = cpu_to_le16(1);
	h->nrows = cpu_to_le32(4);
	blob_fix_crc(blob, LIST_SIZE);
	return blob;
}

#endif /* BEE_TEST_BLOB_H */
