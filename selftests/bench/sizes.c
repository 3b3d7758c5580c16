// SPDX-License-Identifier: GPL-2.0
/*
 * Sizes of the unwind information of files: their CFI, their tables, and other formats.  Other
 * formats are not written: their sizes are computed from the rows of the table, that of SFrame
 * from the FDEs.
 *
 *	sizes ELF|DIR...	print one JSON object: files, problems (path, error), total
 *
 * Sizes are in bytes:
 *	text	executable segments
 *	cfi	.eh_frame and .eh_frame_hdr
 *	table	the table
 *	rows8	rows of 8 bytes: u32 pc, u32 rule as in a table; and 24 bytes for each full rule
 *	rows4	rows of 4 bytes: u16 pc, u8 CFA / 8, two types of 4 bits (CFA = rsp or rbp + 8n,
 *		FP same or at CFA-16 .. CFA-120, and rules without offsets); 8 bytes more for each
 *		row that this does not fit, 4 for each 64 KiB of text
 *	deltas	stack deltas as in OpenTelemetry's eBPF profiler: u16 pc, u16 rule index, with two
 *		rows 1 or 2 bytes apart that differ by 8 bytes of CFA in one; 12 bytes for each
 *		rule, 24 for each 64 KiB of text that has rows
 *	orc	Linux's ORC: 6 bytes and a pc of 4 for each row, an index of 4 bytes for each 256
 *		bytes of text
 *	sframe	SFrame version 2, see sframe_measure()
 * and fdes, rows, sframe_fdes, sframe_fres, sframe_skipped are numbers.
 *
 * As in tables, adjacent rows with the same rule are one row, and padding between functions
 * belongs to the row before it; not so in SFrame.  Only the table's size includes what a file
 * needs besides its rows (identity, segments).  ORC could not express all rules of user space.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <asm/byteorder.h>

#include "alloc.h"
#include "commands.h"
#include "compile.h"
#include "each_file.h"
#include "json.h"
#include "messages.h"
#include "sframe.h"

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

/* Number of 64 KiB pages from the first row to the end. */
static u64 measure_pages(const struct row_set *rows)
{
	return ((rows->end - 1) >> PAGE_SHIFT_64K) - (rows->rows[0].pc >> PAGE_SHIFT_64K) + 1;
}

/* Is the rule CFA = rsp or rbp + 8n, FP same or saved below the CFA, RA at CFA-8? */
static bool row_is_usual(const struct bee_rule *r)
{
	return r->kind == BEE_RULE_KNOWN && !r->arg && r->cfa == BEE_CFA_REG &&
	       (r->cfa_reg == BEE_REG_RSP || r->cfa_reg == BEE_REG_RBP) &&
	       r->cfa_off >= 0 && !(r->cfa_off % 8) && r->ra == BEE_RA_CFA && r->ra_off == -8 &&
	       (r->fp == BEE_FP_SAME ||
		(r->fp == BEE_FP_CFA && r->fp_off <= -16 && !(r->fp_off % 8)));
}

/* Does the rule fit into one byte and two types of four bits? */
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

/* In which of four ways row @i and the next can be one stack delta, 1 .. 4; 0: they cannot. */
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

/* Needs the row a rule?  Stop, invalid, PLT and signal frames are commands without one. */
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

enum size {
	SIZE_TEXT, SIZE_FDES, SIZE_ROWS, SIZE_CFI, SIZE_TABLE, SIZE_ROWS8, SIZE_ROWS4, SIZE_DELTAS,
	SIZE_ORC, SIZE_SFRAME, SIZE_SFRAME_FDES, SIZE_SFRAME_FRES, SIZE_SFRAME_SKIPPED, __SIZE_MAX
};

static const char *const size_names[__SIZE_MAX] = {
	"text", "fdes", "rows", "cfi", "table", "rows8", "rows4", "deltas",
	"orc", "sframe", "sframe_fdes", "sframe_fres", "sframe_skipped",
};

/* struct sizes_run - the figures of all files */
struct sizes_run {
	u64			 total[__SIZE_MAX];
	struct json_object	*files;
	struct json_object	*problems;
	size_t			 nfiles;
	int			 status;
};

static void measure_opened(const struct elf_file *elf, const struct row_set *rows,
			   const struct compile_result *result, u64 sizes[__SIZE_MAX])
{
	const struct bee_table_header *h = result->blob;
	struct sframe_size sframe;

	sframe_measure(elf, &sframe);
	sizes[SIZE_TEXT] = measure_text(elf);
	sizes[SIZE_FDES] = sframe.functions;
	sizes[SIZE_ROWS] = rows->nrows;
	sizes[SIZE_CFI] = result->cfi_size;
	sizes[SIZE_TABLE] = result->size;
	sizes[SIZE_ROWS8] = 8 * rows->nrows + le16_to_cpu(h->nfull) * sizeof(struct bee_table_rule);
	sizes[SIZE_ROWS4] = measure_row4(rows);
	sizes[SIZE_DELTAS] = measure_deltas(rows);
	sizes[SIZE_ORC] = measure_orc(rows);
	sizes[SIZE_SFRAME] = sframe.bytes;
	sizes[SIZE_SFRAME_FDES] = sframe.nfdes;
	sizes[SIZE_SFRAME_FRES] = sframe.nfres;
	sizes[SIZE_SFRAME_SKIPPED] = sframe.skipped;
}

static int sizes_work(void *arg, const struct input_file *file, int fd, FILE *out,
		      struct bee_error *error)
{
	struct compile_result result = { 0 };
	u64 sizes[__SIZE_MAX] = { 0 };
	struct row_set rows = { 0 };
	struct elf_file elf;
	int ret;

	(void)arg;
	(void)file;
	ret = elf_open(&elf, fd, error) ?: compile_rows(&elf, NULL, &rows, &result, error);
	if (!ret) {
		measure_opened(&elf, &rows, &result, sizes);
		fwrite(sizes, sizeof(sizes), 1, out);
	}
	compile_result_free(&result);
	row_set_free(&rows);
	elf_close(&elf);
	return ret;
}

static void json_add_sizes(struct json_object *object, const u64 sizes[__SIZE_MAX])
{
	size_t i;

	for (i = 0; i < __SIZE_MAX; i++)
		json_add_uint(object, size_names[i], sizes[i]);
}

static void sizes_done(void *arg, const struct input_file *file, const void *data, size_t size)
{
	struct json_object *object = json_object_new_object();
	struct sizes_run *run = arg;
	const u64 *sizes = data;
	size_t i;

	(void)size;
	json_add_string(object, "path", file->path);
	json_add_sizes(object, sizes);
	json_object_array_add(run->files, object);
	for (i = 0; i < __SIZE_MAX; i++)
		run->total[i] += sizes[i];
	run->nfiles++;
}

static void sizes_failed(void *arg, const struct input_file *file, const char *why, bool died)
{
	struct sizes_run *run = arg;

	message_error("sizes", file->path, why);
	json_append_problem(run->problems, file->path, why);
	run->status |= each_file_status(file, died);
}

int main(int argc, char **argv)
{
	struct sizes_run run = {
		.files = json_object_new_array(), .problems = json_object_new_array(),
	};
	struct json_object *all = json_object_new_object(), *total = json_object_new_object();
	struct input_files files = { 0 };
	const struct each_file each = {
		.command = "sizes", .files = &files, .report_size = sizeof(run.total), .arg = &run,
		.work = sizes_work, .done = sizes_done, .failed = sizes_failed,
	};

	(void)argc;
	input_files_collect(&files, argv + 1);
	run.status |= each_file_run(&each);
	json_add(all, "files", run.files);
	json_add(all, "problems", run.problems);
	json_add_uint(total, "files", run.nfiles);
	json_add_sizes(total, run.total);
	json_add(all, "total", total);
	json_print(all);
	input_files_free(&files);
	return run.status;
}
