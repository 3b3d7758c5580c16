// SPDX-License-Identifier: GPL-2.0
/* From an ELF file to its unwind table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile.h"
#include "coverage.h"
#include "elf.h"
#include "error.h"
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
static int compile_check(const struct compile_result *result, struct bee_error *error)
{
	struct bee_table_error refusal;
	struct bee_table table;

	if (!bee_table_validate(result->blob, result->size, &table, &refusal))
		return 0;
	return error_set(error, 0, "bug in the compiler: its table is refused: %s at offset %llu",
			 refusal.why, (unsigned long long)refusal.offset);
}

/* The file changed while it was read: reject the table. */
static int compile_read_well(const struct elf_file *elf, struct bee_error *error)
{
	const char *trouble = elf_trouble(elf);

	return trouble ? error_set(error, 0, "%s", trouble) : 0;
}

/**
 * compile_rows() - make the unwind table of an open ELF file
 * @elf: the file
 * @lossy: what may be left out
 * @rows: filled with what the table says; row_set_free() releases it, also after a
 *	failure
 * @result: always filled; compile_result_free() releases it
 * @error: filled on failure
 *
 * Return: 0 or -1.
 */
int compile_rows(const struct elf_file *elf, const struct lossy_options *lossy,
		 struct row_set *rows, struct compile_result *result, struct bee_error *error)
{
	memset(result, 0, sizeof(*result));
	result->cfi_size = elf_frames_size(elf);
	if (coverage_rows(elf, rows, error))
		return -1;
	if (!lossy_is_exact(lossy) &&
	    lossy_apply(elf, rows, lossy, &result->lossy, error))
		return -1;
	compile_count(rows, result);
	result->blob = pack_table(elf, rows, &result->size, error);
	if (result->blob && !compile_check(result, error) && !compile_read_well(elf, error))
		return 0;
	compile_result_free(result);
	return -1;
}

/**
 * compile_elf_lossy() - make an unwind table that may leave things out
 * @fd: as for compile_elf()
 * @lossy: what may be left out
 * @result: always filled; compile_result_free() releases it
 * @error: filled on failure
 *
 * Return: 0 or -1.
 */
int compile_elf_lossy(int fd, const struct lossy_options *lossy, struct compile_result *result,
		      struct bee_error *error)
{
	struct row_set rows = {};
	struct elf_file elf;
	int ret;

	memset(result, 0, sizeof(*result));
	ret = elf_open(&elf, fd, error);
	if (!ret)
		ret = compile_rows(&elf, lossy, &rows, result, error);
	row_set_free(&rows);
	elf_close(&elf);
	return ret;
}

/**
 * compile_elf() - make the unwind table of an ELF file
 * @fd: open for reading, a regular file or memfd; the offset is not used, and
 *	the caller closes it
 * @result: always filled; compile_result_free() releases it
 * @error: filled on failure
 *
 * Return: 0 or -1.
 */
int compile_elf(int fd, struct compile_result *result, struct bee_error *error)
{
	static const struct lossy_options exact;

	return compile_elf_lossy(fd, &exact, result, error);
}

/**
 * compile_empty() - make the table of a file of which nothing is known
 * @result: always filled; compile_result_free() releases it
 * @error: filled on failure
 *
 * All of such a file is a gap.
 *
 * Return: 0 or -1.
 */
int compile_empty(struct compile_result *result, struct bee_error *error)
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
	result->blob = pack_table(&none, &rows, &result->size, error);
	ret = result->blob ? compile_check(result, error) : -1;
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
