// SPDX-License-Identifier: GPL-2.0
/* From rows to the bytes of a table; the same rows always give the same bytes. */
#include <asm/byteorder.h>
#include <linux/crc32.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "pack.h"

static struct bee_table_rule pack_rule(const struct bee_row *row)
{
	return (struct bee_table_rule){
		.kind = row->kind, .arg = row->arg,
		.cfa = row->cfa, .cfa_reg = row->cfa_reg,
		.fp = row->fp, .fp_reg = row->fp_reg,
		.ra = row->ra, .ra_reg = row->ra_reg,
		.cfa_off = cpu_to_le32(row->cfa_off), .cfa_add = cpu_to_le32(row->cfa_add),
		.fp_off = cpu_to_le32(row->fp_off), .ra_off = cpu_to_le32(row->ra_off),
	};
}

static void pack_header(struct bee_table_header *h, const struct bee_elf *elf,
			const struct row_set *rows, size_t size)
{
	u64 base = rows->rows[0].pc;

	h->magic = cpu_to_le32(BEE_TABLE_MAGIC);
	h->version = cpu_to_le16(BEE_TABLE_VERSION);
	h->machine = cpu_to_le16(BEE_TABLE_MACHINE);
	h->size = cpu_to_le32(size);
	h->nsegments = cpu_to_le32(elf->ntext);
	h->nrules = cpu_to_le32(rows->nrules);
	h->nrows = cpu_to_le32(rows->nrows);
	h->base = cpu_to_le64(base);
	h->span = cpu_to_le64(rows->end - base);
	h->file_size = cpu_to_le64(elf->file_size);
	h->id_type = elf->id_type;
	h->id_len = elf->id_len;
	memcpy(h->id, elf->id, elf->id_len);
}

/* Fill the sections behind the header, which follow each other. */
static void pack_sections(void *at, const struct bee_elf *elf, const struct row_set *rows)
{
	struct bee_table_segment *segments = at;
	struct bee_table_rule *rules = (void *)(segments + elf->ntext);
	__le32 *start = (void *)(rules + rows->nrules);
	__le16 *rule = (void *)(start + rows->nrows);
	size_t i;

	for (i = 0; i < elf->ntext; i++)
		segments[i] = (struct bee_table_segment){
			.vaddr = cpu_to_le64(elf->text[i].vaddr),
			.offset = cpu_to_le64(elf->text[i].offset),
			.size = cpu_to_le64(elf->text[i].size),
		};
	for (i = 0; i < rows->nrules; i++)
		rules[i] = pack_rule(&rows->rules[i]);
	for (i = 0; i < rows->nrows; i++) {
		start[i] = cpu_to_le32(rows->rows[i].pc - rows->rows[0].pc);
		rule[i] = cpu_to_le16(rows->rows[i].rule);
	}
}

/* Bytes of the table; 0 with @message set if there can be none. */
static size_t pack_size(const struct bee_elf *elf, const struct row_set *rows, char *message,
			size_t message_size)
{
	u64 size = sizeof(struct bee_table_header) +
		   elf->ntext * sizeof(struct bee_table_segment) +
		   rows->nrules * sizeof(struct bee_table_rule) +
		   rows->nrows * (sizeof(__le32) + sizeof(__le16));

	if (rows->end - rows->rows[0].pc > BEE_TABLE_MAX_SPAN)
		snprintf(message, message_size, "more than 4 GiB of text");
	else if (rows->nrules > BEE_TABLE_MAX_RULES)
		snprintf(message, message_size, "%zu distinct rules, more than the %d of a table",
			 rows->nrules, BEE_TABLE_MAX_RULES);
	else if (size > BEE_TABLE_MAX_SIZE)
		snprintf(message, message_size, "%zu rows, more than a table of %u MiB holds",
			 rows->nrows, BEE_TABLE_MAX_SIZE >> 20);
	else
		return size;
	return 0;
}

/**
 * bee_pack_table() - write a table
 * @elf: the file
 * @rows: its rows, at least one
 * @size: bytes of the table
 * @message: on failure, why
 * @message_size: bytes of @message
 *
 * Return: the table, for free(); NULL with @message set if it exceeds a limit.
 */
void *bee_pack_table(const struct bee_elf *elf, const struct row_set *rows, size_t *size,
		     char *message, size_t message_size)
{
	struct bee_table_header *h;

	*size = pack_size(elf, rows, message, message_size);
	if (!*size)
		return NULL;
	h = alloc_array(NULL, *size, 1);
	memset(h, 0, *size);
	pack_header(h, elf, rows, *size);
	pack_sections(h + 1, elf, rows);
	h->crc = cpu_to_le32(~crc32_le(~0u, h, *size));
	return h;
}
