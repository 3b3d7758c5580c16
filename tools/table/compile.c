// SPDX-License-Identifier: GPL-2.0
/* From an ELF file to its unwind table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile.h"
#include "coverage.h"
#include "elf.h"
#include "pack.h"
#include "rows.h"

static void compile_count(const struct row_set *rows, struct compile_result *result)
{
	size_t i;

	result->rows = rows->nrows;
	for (i = 0; i < rows->nrows; i++)
		if (rows->rules[rows->rows[i].rule].kind == BEE_RULE_UNSUPPORTED)
			result->unsupported++;
}

/* What the module will ask, asked before anyone sees the table. */
static int compile_check(struct compile_result *result)
{
	struct bee_table_error error;
	struct bee_table table;

	if (!bee_table_validate(result->blob, result->size, &table, &error))
		return 0;
	snprintf(result->message, sizeof(result->message),
		 "bug in the compiler: its table is refused: %s at offset %llu", error.why,
		 (unsigned long long)error.offset);
	return -1;
}

/* What was made of a file that others have changed meanwhile belongs to none of the two. */
static int compile_read_well(const struct elf_file *elf, struct compile_result *result)
{
	if (!elf_trouble(elf))
		return 0;
	snprintf(result->message, sizeof(result->message), "%s", elf_trouble(elf));
	return -1;
}

/**
 * compile_rows() - make the unwind table of an open ELF file
 * @elf: the file
 * @lossy: what may be left out
 * @rows: filled with what the table says; row_set_free() releases it, also after a
 *	failure
 * @result: always filled; compile_result_free() releases it
 *
 * Return: 0, or -1 with @result->message set.
 */
int compile_rows(const struct elf_file *elf, const struct lossy_options *lossy,
		 struct row_set *rows, struct compile_result *result)
{
	memset(result, 0, sizeof(*result));
	result->cfi_size = elf_frames_size(elf);
	if (coverage_rows(elf, rows, result->message, sizeof(result->message)))
		return -1;
	if (!lossy_is_exact(lossy) &&
	    lossy_apply(elf, rows, lossy, &result->lossy, result->message,
			    sizeof(result->message)))
		return -1;
	compile_count(rows, result);
	result->blob = pack_table(elf, rows, &result->size, result->message,
				      sizeof(result->message));
	if (result->blob && !compile_check(result) && !compile_read_well(elf, result))
		return 0;
	compile_result_free(result);
	return -1;
}

/**
 * compile_elf_lossy() - make an unwind table that may leave things out
 * @fd: as for compile_elf()
 * @lossy: what may be left out
 * @result: always filled; compile_result_free() releases it
 *
 * Return: 0, or -1 with @result->message set.
 */
int compile_elf_lossy(int fd, const struct lossy_options *lossy, struct compile_result *result)
{
	struct row_set rows = {};
	struct elf_file elf;
	int ret;

	memset(result, 0, sizeof(*result));
	ret = elf_open(&elf, fd);
	if (ret)
		snprintf(result->message, sizeof(result->message), "%s", elf.message);
	else
		ret = compile_rows(&elf, lossy, &rows, result);
	row_set_free(&rows);
	elf_close(&elf);
	return ret;
}

/**
 * compile_elf() - make the unwind table of an ELF file
 * @fd: open for reading, a regular file or memfd; the offset is not used, and
 *	the caller closes it
 * @result: always filled; compile_result_free() releases it
 *
 * Return: 0, or -1 with @result->message set.
 */
int compile_elf(int fd, struct compile_result *result)
{
	static const struct lossy_options exact;

	return compile_elf_lossy(fd, &exact, result);
}

/**
 * compile_empty() - make the table of a file of which nothing is known
 * @result: always filled; compile_result_free() releases it
 *
 * All of such a file is a gap.
 *
 * Return: 0, or -1 with @result->message set.
 */
int compile_empty(struct compile_result *result)
{
	static const struct bee_rule gap = { .kind = BEE_RULE_GAP };
	const struct elf_file none = {
		.text = { { .size = 1 } }, .ntext = 1, .id_type = BEE_ID_SHA256,
		.id_len = BEE_TABLE_ID_MAX,
	};
	struct row_set rows = { .end = 1 };
	int ret;

	memset(result, 0, sizeof(*result));
	row_set_add(&rows, 0, &gap);
	compile_count(&rows, result);
	result->blob = pack_table(&none, &rows, &result->size, result->message,
				      sizeof(result->message));
	ret = result->blob ? compile_check(result) : -1;
	if (ret)
		compile_result_free(result);
	row_set_free(&rows);
	return ret;
}

/* compile_result_free(): release what is in it */
void compile_result_free(struct compile_result *result)
{
	free(result->blob);
	result->blob = NULL;
}
