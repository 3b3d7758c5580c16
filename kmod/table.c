// SPDX-License-Identifier: GPL-2.0
/*
 * Validate and look up unwind tables.  [S]: pure; needs only crc32_le(),
 * memchr_inv() and byte order helpers.
 */
#include <linux/crc32.h>
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <asm/byteorder.h>

#include "table.h"

static int table_refuse(struct bee_table_error *error, const char *why, u64 offset)
{
	error->why = why;
	error->offset = offset;
	return -EINVAL;
}

#define HEADER_OFFSET(field)	offsetof(struct bee_table_header, field)

static int table_check_header(const struct bee_table_header *h, size_t size,
			      struct bee_table_error *error)
{
	if (size < sizeof(*h))
		return table_refuse(error, "shorter than a table header", size);
	if (le32_to_cpu(h->magic) == __builtin_bswap32(BEE_TABLE_MAGIC))
		return table_refuse(error, "made for the other byte order", 0);
	if (le32_to_cpu(h->magic) != BEE_TABLE_MAGIC)
		return table_refuse(error, "not an unwind table (bad magic)", 0);
	if (le16_to_cpu(h->version) != BEE_TABLE_VERSION)
		return table_refuse(error, "another version of the table format",
				    HEADER_OFFSET(version));
	if (le16_to_cpu(h->machine) != BEE_TABLE_MACHINE)
		return table_refuse(error, "made for another architecture",
				    HEADER_OFFSET(machine));
	if (size > BEE_TABLE_MAX_SIZE)
		return table_refuse(error, "larger than a table may be", size);
	if (le32_to_cpu(h->size) != size)
		return table_refuse(error, "truncated, or longer than its header says",
				    HEADER_OFFSET(size));
	return 0;
}

/* The CRC covers the blob with the crc field as zero. */
static u32 table_crc(const void *blob, size_t size)
{
	static const u8 zero[sizeof(__le32)];
	size_t at = HEADER_OFFSET(crc);
	size_t after = at + sizeof(zero);
	u32 crc = ~0u;

	crc = crc32_le(crc, blob, at);
	crc = crc32_le(crc, zero, sizeof(zero));
	crc = crc32_le(crc, (const u8 *)blob + after, size - after);
	return ~crc;
}

static int table_check_fields(const struct bee_table_header *h, struct bee_table_error *error)
{
	u64 base = le64_to_cpu(h->base), span = le64_to_cpu(h->span);

	if (h->flags)
		return table_refuse(error, "unknown flags", HEADER_OFFSET(flags));
	if (h->reserved)
		return table_refuse(error, "reserved field not zero", HEADER_OFFSET(reserved));
	if (memchr_inv(h->reserved2, 0, sizeof(h->reserved2)))
		return table_refuse(error, "reserved field not zero", HEADER_OFFSET(reserved2));
	if (!span || span > BEE_TABLE_MAX_SPAN || base + span < base)
		return table_refuse(error, "text interval out of range", HEADER_OFFSET(span));
	if (h->id_type >= __BEE_ID_MAX)
		return table_refuse(error, "unknown kind of file identity", HEADER_OFFSET(id_type));
	if (!h->id_len || h->id_len > BEE_TABLE_ID_MAX ||
	    memchr_inv(h->id + h->id_len, 0, BEE_TABLE_ID_MAX - h->id_len))
		return table_refuse(error, "bad length of the file identity",
				    HEADER_OFFSET(id_len));
	return 0;
}

/* Point @table at the sections and check that they fill the blob exactly. */
static int table_layout(const struct bee_table_header *h, struct bee_table *table,
			struct bee_table_error *error)
{
	u32 nsegments = le32_to_cpu(h->nsegments);
	u32 nrules = le32_to_cpu(h->nrules);
	u32 nrows = le32_to_cpu(h->nrows);
	u64 size = sizeof(*h);

	BUILD_BUG_ON(sizeof(struct bee_table_header) != 104);
	BUILD_BUG_ON(sizeof(struct bee_table_segment) != 24);
	BUILD_BUG_ON(sizeof(struct bee_table_rule) != 24);

	if (!nsegments || nsegments > BEE_TABLE_MAX_SEGMENTS)
		return table_refuse(error, "number of segments out of range",
				    HEADER_OFFSET(nsegments));
	if (!nrules || nrules > BEE_TABLE_MAX_RULES)
		return table_refuse(error, "number of rules out of range", HEADER_OFFSET(nrules));
	if (!nrows)
		return table_refuse(error, "no rows", HEADER_OFFSET(nrows));

	table->segments = (const void *)((const u8 *)h + size);
	size += (u64)nsegments * sizeof(*table->segments);
	table->rules = (const void *)((const u8 *)h + size);
	size += (u64)nrules * sizeof(*table->rules);
	table->start = (const void *)((const u8 *)h + size);
	size += (u64)nrows * sizeof(*table->start);
	table->rule = (const void *)((const u8 *)h + size);
	size += (u64)nrows * sizeof(*table->rule);
	if (size != le32_to_cpu(h->size))
		return table_refuse(error, "section sizes do not add up to the table's size",
				    HEADER_OFFSET(nrows));

	table->header = h;
	table->base = le64_to_cpu(h->base);
	table->span = le64_to_cpu(h->span);
	table->size = size;
	table->nsegments = nsegments;
	table->nrules = nrules;
	table->nrows = nrows;
	return 0;
}

static u64 table_offset_of(const struct bee_table *table, const void *p)
{
	return (const u8 *)p - (const u8 *)table->header;
}

static int table_check_segments(const struct bee_table *table, struct bee_table_error *error)
{
	u64 floor = 0;
	u32 i;

	for (i = 0; i < table->nsegments; i++) {
		const struct bee_table_segment *s = &table->segments[i];
		u64 vaddr = le64_to_cpu(s->vaddr), size = le64_to_cpu(s->size);
		u64 offset = le64_to_cpu(s->offset);

		if (!size || vaddr < floor || vaddr + size < vaddr || offset + size < offset)
			return table_refuse(error, "segments overlap, wrap or are empty",
					    table_offset_of(table, s));
		floor = vaddr + size;
	}
	return 0;
}

static bool rule_needs_no_fields(const struct bee_table_rule *r)
{
	return !r->cfa && !r->cfa_reg && !r->fp && !r->fp_reg && !r->ra && !r->ra_reg &&
	       !r->cfa_off && !r->cfa_add && !r->fp_off && !r->ra_off;
}

static const char *rule_check_cfa(const struct bee_table_rule *r)
{
	u32 off = le32_to_cpu(r->cfa_off);

	if (r->cfa >= __BEE_CFA_MAX)
		return "unknown CFA rule";
	if (r->cfa_reg >= __BEE_REG_MAX)
		return "CFA register out of range";
	if (r->cfa != BEE_CFA_DEREF && r->cfa_add)
		return "unused CFA field not zero";
	if (r->cfa == BEE_CFA_PLT && (r->cfa_reg || (off != 10 && off != 11)))
		return "PLT rule with other constants than 10 and 11";
	return NULL;
}

static const char *rule_check_fp(const struct bee_table_rule *r)
{
	bool has_reg = r->fp == BEE_FP_DEREF || r->fp == BEE_FP_REG;
	bool has_off = r->fp == BEE_FP_DEREF || r->fp == BEE_FP_CFA;

	if (r->fp >= __BEE_FP_MAX)
		return "unknown FP rule";
	if (r->fp_reg >= (has_reg ? __BEE_REG_MAX : 1))
		return "FP register out of range";
	if (!has_off && r->fp_off)
		return "unused FP field not zero";
	return NULL;
}

static const char *rule_check_ra(const struct bee_table_rule *r)
{
	bool has_reg = r->ra == BEE_RA_DEREF || r->ra == BEE_RA_REG;
	bool has_off = r->ra == BEE_RA_DEREF || r->ra == BEE_RA_CFA;

	if (r->ra >= __BEE_RA_MAX)
		return "unknown RA rule";
	if (r->ra_reg >= (has_reg ? __BEE_REG_MAX : 1))
		return "RA register out of range";
	if (!has_off && r->ra_off)
		return "unused RA field not zero";
	return NULL;
}

static const char *rule_check(const struct bee_table_rule *r)
{
	const char *why;

	switch (r->kind) {
	case BEE_ROW_RULES:
		if (r->arg & ~BEE_RULE_SIGNAL)
			return "unknown rule flags";
		why = rule_check_cfa(r);
		if (!why)
			why = rule_check_fp(r);
		if (!why)
			why = rule_check_ra(r);
		return why;
	case BEE_ROW_GAP:
		return r->arg || !rule_needs_no_fields(r) ? "gap rule with content" : NULL;
	case BEE_ROW_UNSUPPORTED:
		if (r->arg >= __BEE_UNSUP_MAX)
			return "unknown reason of an unsupported rule";
		return rule_needs_no_fields(r) ? NULL : "unsupported rule with content";
	}
	return "unknown kind of rule";
}

static int table_check_rules(const struct bee_table *table, struct bee_table_error *error)
{
	u32 i;

	for (i = 0; i < table->nrules; i++) {
		const char *why = rule_check(&table->rules[i]);

		if (why)
			return table_refuse(error, why, table_offset_of(table, &table->rules[i]));
	}
	return 0;
}

static int table_check_rows(const struct bee_table *table, struct bee_table_error *error)
{
	u32 i;

	if (table->start[0])
		return table_refuse(error, "first row does not start at base",
				    table_offset_of(table, &table->start[0]));
	for (i = 1; i < table->nrows; i++)
		if (le32_to_cpu(table->start[i]) <= le32_to_cpu(table->start[i - 1]))
			return table_refuse(error, "rows are not sorted",
					    table_offset_of(table, &table->start[i]));
	if (le32_to_cpu(table->start[table->nrows - 1]) >= table->span)
		return table_refuse(error, "last row starts past the end of the text",
				    table_offset_of(table, &table->start[table->nrows - 1]));
	for (i = 0; i < table->nrows; i++)
		if (le16_to_cpu(table->rule[i]) >= table->nrules)
			return table_refuse(error, "rule index past the end of the dictionary",
					    table_offset_of(table, &table->rule[i]));
	return 0;
}

/**
 * bee_table_validate() - decide whether a blob may be used, and prepare it
 * @blob: the table, 8-byte aligned; must not change any more
 * @size: bytes of @blob
 * @table: filled on success; points into @blob
 * @error: filled on refusal
 *
 * The one gate between bytes from user space and the sampling path: after it,
 * bee_table_lookup() can neither read outside the blob nor loop.  It cannot know
 * whether the rows are true; the walk treats what they yield as untrusted.
 *
 * Context: Any; linear in @size, so meant for process context.
 * Return: 0, or -EINVAL with @error set.
 */
int bee_table_validate(const void *blob, size_t size, struct bee_table *table,
		       struct bee_table_error *error)
{
	const struct bee_table_header *h = blob;
	int ret;

	ret = table_check_header(h, size, error);
	if (ret)
		return ret;
	if (le32_to_cpu(h->crc) != table_crc(blob, size))
		return table_refuse(error, "checksum does not match: the table is damaged",
				    HEADER_OFFSET(crc));
	ret = table_check_fields(h, error);
	if (!ret)
		ret = table_layout(h, table, error);
	if (!ret)
		ret = table_check_segments(table, error);
	if (!ret)
		ret = table_check_rules(table, error);
	if (!ret)
		ret = table_check_rows(table, error);
	return ret;
}

static void rule_decode(const struct bee_table_rule *r, struct bee_row *row)
{
	row->kind = r->kind;
	row->arg = r->arg;
	row->cfa = r->cfa;
	row->cfa_reg = r->cfa_reg;
	row->fp = r->fp;
	row->fp_reg = r->fp_reg;
	row->ra = r->ra;
	row->ra_reg = r->ra_reg;
	row->cfa_off = le32_to_cpu(r->cfa_off);
	row->cfa_add = le32_to_cpu(r->cfa_add);
	row->fp_off = le32_to_cpu(r->fp_off);
	row->ra_off = le32_to_cpu(r->ra_off);
}

/* Index of the last row that starts at or before @x; start[0] is 0. */
static u32 table_find_row(const struct bee_table *table, u32 x)
{
	u32 low = 0, n = table->nrows;

	while (n > 1) {
		u32 half = n / 2;

		if (le32_to_cpu(table->start[low + half]) <= x)
			low += half;
		n -= half;
	}
	return low;
}

/**
 * bee_table_lookup() - the rules at a pc
 * @table: a validated table
 * @pc: address as in the ELF file
 * @row: the rules; a gap where the table covers nothing
 *
 * Context: Any, NMI-safe: does not fault, sleep, allocate, lock or print.
 * At most 32 probes.
 */
void bee_table_lookup(const struct bee_table *table, u64 pc, struct bee_row *row)
{
	u64 x = pc - table->base;

	if (x >= table->span) {
		*row = (struct bee_row){ .kind = BEE_ROW_GAP };
		return;
	}
	rule_decode(&table->rules[le16_to_cpu(table->rule[table_find_row(table, x)])], row);
}

/**
 * bee_table_row() - one row by index, for listing a table
 * @table: a validated table
 * @index: less than @table->nrows
 * @start: pc of the row
 * @end: pc after the row
 * @row: its rules
 *
 * Context: Any.
 */
void bee_table_row(const struct bee_table *table, u32 index, u64 *start, u64 *end,
		   struct bee_row *row)
{
	bool last = index + 1 == table->nrows;

	*start = table->base + le32_to_cpu(table->start[index]);
	*end = table->base + (last ? table->span : le32_to_cpu(table->start[index + 1]));
	rule_decode(&table->rules[le16_to_cpu(table->rule[index])], row);
}

/**
 * bee_table_bias() - bias of a mapping of the table's file
 * @table: a validated table
 * @start: address of the mapping
 * @offset: file offset mapped at @start, page aligned
 * @bias: address in the process minus pc, modulo 2^64
 *
 * The loader maps whole pages, so a segment's first page is mapped from the
 * page-aligned offset below p_offset (gABI, "Program Loading"), which can also
 * be the last page of the segment before; the segment that starts there wins.
 *
 * Context: Any.
 * Return: true if an executable segment has bytes in the page at @offset.
 */
bool bee_table_bias(const struct bee_table *table, u64 start, u64 offset, u64 *bias)
{
	bool found = false;
	u32 i;

	for (i = 0; i < table->nsegments; i++) {
		const struct bee_table_segment *s = &table->segments[i];
		u64 first = le64_to_cpu(s->offset);
		u64 first_page = first & ~0xfffull;

		if (offset < first_page || offset >= first + le64_to_cpu(s->size))
			continue;
		*bias = start - (le64_to_cpu(s->vaddr) + offset - first);
		found = true;
		if (offset == first_page)
			break;
	}
	return found;
}
