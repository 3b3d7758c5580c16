// SPDX-License-Identifier: GPL-2.0
/* From an ELF file to its unwind table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile.h"
#include "cover.h"
#include "elf.h"
#include "pack.h"
#include "row.h"

static void compile_count(const struct row_set *rows, struct compile_result *result)
{
	size_t i;

	result->rows = rows->nrows;
	for (i = 0; i < rows->nrows; i++)
		if (rows->rules[rows->rows[i].rule].kind == BEE_ROW_UNSUPPORTED)
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

static int compile_opened(const struct bee_elf *elf, struct compile_result *result)
{
	struct row_set rows;
	int ret = bee_cover_rows(elf, &rows, result->message, sizeof(result->message));

	result->cfi_size = bee_elf_frames_size(elf);
	if (!ret) {
		compile_count(&rows, result);
		result->blob = bee_pack_table(elf, &rows, &result->size, result->message,
					      sizeof(result->message));
		ret = result->blob ? compile_check(result) : -1;
	}
	bee_row_free(&rows);
	return ret;
}

int compile_elf(int fd, struct compile_result *result)
{
	struct bee_elf elf;
	int ret;

	memset(result, 0, sizeof(*result));
	ret = bee_elf_open(&elf, fd);
	if (ret)
		snprintf(result->message, sizeof(result->message), "%s", elf.message);
	else
		ret = compile_opened(&elf, result);
	bee_elf_close(&elf);
	if (ret) {
		free(result->blob);
		result->blob = NULL;
	}
	return ret;
}

void compile_result_free(struct compile_result *result)
{
	free(result->blob);
	result->blob = NULL;
}
