// SPDX-License-Identifier: GPL-2.0
/*
 * How large a file's unwind information is in several formats.  Those of others are
 * counted, not written, all over the rows that the table has; only SFrame starts from
 * the FDEs.
 */
#include <stdio.h>
#include <string.h>

#include <asm/byteorder.h>

#include "alloc.h"
#include "compile.h"
#include "error.h"
#include "measure.h"

#define PAGE_SHIFT_64K	16
#define ORC_BLOCK	256

static u64 measure_text(const struct elf_file *elf)
{
	u64 bytes = 0;
	size_t i;

	for (i = 0; i < elf->ntext; i++)
		bytes += elf->text[i].size;
	return bytes;
}

/* Pages of 64 KiB from the first row to the end. */
static u64 measure_pages(const struct row_set *rows)
{
	return ((rows->end - 1) >> PAGE_SHIFT_64K) - (rows->rows[0].pc >> PAGE_SHIFT_64K) + 1;
}

/* CFA = rsp or rbp + 8n, FP same or saved below the CFA, RA at CFA-8. */
static bool row_is_usual(const struct bee_rule *r)
{
	return r->kind == BEE_RULE_KNOWN && !r->arg && r->cfa == BEE_CFA_REG &&
	       (r->cfa_reg == BEE_REG_RSP || r->cfa_reg == BEE_REG_RBP) &&
	       r->cfa_off >= 0 && !(r->cfa_off % 8) && r->ra == BEE_RA_CFA && r->ra_off == -8 &&
	       (r->fp == BEE_FP_SAME ||
		(r->fp == BEE_FP_CFA && r->fp_off <= -16 && !(r->fp_off % 8)));
}

/* Do one byte and two types of four bits say it? */
static bool row4_fits(const struct bee_rule *r)
{
	if (r->kind != BEE_RULE_KNOWN || r->cfa == BEE_CFA_PLT || r->ra == BEE_RA_UNDEF)
		return true;
	return row_is_usual(r) && r->cfa_off <= 255 * 8 && r->fp_off >= -120;
}

static u64 measure_row4(const struct row_set *rows)
{
	u64 bytes = 4 * rows->nrows + 4 * measure_pages(rows);
	size_t i;

	for (i = 0; i < rows->nrows; i++)
		if (!row4_fits(&rows->rules[rows->rows[i].rule]))
			bytes += 8;
	return bytes;
}

/* How a stack delta's rule can go over into the next one's: forms 1 .. 4, or 0. */
static unsigned int delta_merges(const struct row_set *rows, size_t i)
{
	const struct bee_rule *a, *b;
	struct bee_rule moved;
	u64 distance;

	if (i + 1 == rows->nrows)
		return 0;
	distance = rows->rows[i + 1].pc - rows->rows[i].pc;
	a = &rows->rules[rows->rows[i].rule];
	b = &rows->rules[rows->rows[i + 1].rule];
	if (distance > 2 || a->kind != BEE_RULE_KNOWN || a->cfa != BEE_CFA_REG)
		return 0;
	moved = *a;
	moved.cfa_off = b->cfa_off;
	if (memcmp(&moved, b, sizeof(moved)))
		return 0;
	if (b->cfa_off == a->cfa_off + 8)
		return distance;
	return b->cfa_off == a->cfa_off - 8 ? 2 + distance : 0;
}

/* Stop, invalid and the like are commands, which need no rule. */
static bool delta_needs_rule(const struct bee_rule *row)
{
	return row->kind == BEE_RULE_KNOWN && row->cfa != BEE_CFA_PLT && row->ra != BEE_RA_UNDEF &&
	       !(row->arg & BEE_RULE_SIGNAL);
}

static u64 measure_deltas(const struct row_set *rows)
{
	bool *seen = alloc_array(NULL, rows->nrules, 5);
	u64 ndeltas = 0, nrules = 0, npages = 0, page = ~0ull;
	unsigned int form;
	size_t i;

	memset(seen, 0, rows->nrules * 5);
	for (i = 0; i < rows->nrows; i += form ? 2 : 1) {
		u32 rule = rows->rows[i].rule;

		form = delta_merges(rows, i);
		if (delta_needs_rule(&rows->rules[rule]) && !seen[rule * 5 + form]) {
			seen[rule * 5 + form] = true;
			nrules++;
		}
		npages += rows->rows[i].pc >> PAGE_SHIFT_64K != page;
		page = rows->rows[i].pc >> PAGE_SHIFT_64K;
		ndeltas++;
	}
	free(seen);
	return 4 * ndeltas + 12 * nrules + 24 * npages;
}

static u64 measure_orc(const struct row_set *rows)
{
	u64 span = rows->end - rows->rows[0].pc;

	return 10 * rows->nrows + 4 * ((span + ORC_BLOCK - 1) / ORC_BLOCK + 1);
}

static void measure_rows(const struct row_set *rows, struct measures *measures)
{
	measures->value[MEASURE_ROWS] = rows->nrows;
	measures->value[MEASURE_ROW4] = measure_row4(rows);
	measures->value[MEASURE_DELTAS] = measure_deltas(rows);
	measures->value[MEASURE_ORC] = measure_orc(rows);
}

static void measure_result(const struct compile_result *result, struct measures *measures)
{
	const struct bee_table_header *h = result->blob;
	u64 full = le16_to_cpu(h->nfull) * sizeof(struct bee_table_rule);

	measures->unsupported = result->unsupported;
	measures->value[MEASURE_CFI] = result->cfi_size;
	measures->value[MEASURE_TABLE] = result->size;
	measures->value[MEASURE_ROW8] = 8 * result->rows + full;
}

static void measure_elf(const struct elf_file *elf, struct measures *measures)
{
	sframe_measure(elf, &measures->sframe);
	measures->value[MEASURE_TEXT] = measure_text(elf);
	measures->value[MEASURE_FDES] = measures->sframe.functions;
	measures->value[MEASURE_SFRAME] = measures->sframe.bytes;
}

static int measure_opened(const struct elf_file *elf, struct measures *measures, struct bee_error *error)
{
	struct compile_result result;
	struct row_set rows = {};
	int ret = compile_rows(elf, NULL, &rows, &result, error);

	if (!ret) {
		measure_rows(&rows, measures);
		measure_result(&result, measures);
		measure_elf(elf, measures);
	}
	compile_result_free(&result);
	row_set_free(&rows);
	return ret;
}

/**
 * measure_file() - how large a file's unwind information is
 * @fd: the file
 * @measures: filled
 * @error: filled on failure
 *
 * Return: 0 or -1.
 */
int measure_file(int fd, struct measures *measures, struct bee_error *error)
{
	struct elf_file elf;
	int ret = elf_open(&elf, fd, error);

	*measures = (struct measures){};
	if (!ret)
		ret = measure_opened(&elf, measures, error);
	elf_close(&elf);
	return ret;
}

/**
 * measure_add() - add up
 * @total: of several files
 * @measures: of one more
 */
void measure_add(struct measures *total, const struct measures *measures)
{
	size_t i;

	for (i = 0; i < __MEASURE_MAX; i++)
		total->value[i] += measures->value[i];
	total->unsupported += measures->unsupported;
	total->sframe.bytes += measures->sframe.bytes;
	total->sframe.nfdes += measures->sframe.nfdes;
	total->sframe.nfres += measures->sframe.nfres;
	total->sframe.skipped += measures->sframe.skipped;
	total->sframe.functions += measures->sframe.functions;
}
