// SPDX-License-Identifier: GPL-2.0
/* As fuzz_cfi; then the rows are packed into a table, which must be valid and give the rows. */
#include "fuzz_rows.h"
#include "rows_equal_table.h"
#include "compile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_pack(const struct elf_file *elf, const struct row_set *rows)
{
	struct bee_table_error error;
	struct bee_table table;
	struct bee_error why = {};
	size_t size;
	void *blob = compile_encode(elf, rows, &size, &why);

	if (!blob || bee_table_validate(blob, size, &table, &error) ||
	    !rows_equal_table(rows, &table))
		abort();
	free(blob);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_rows(data, size, fuzz_pack);
}
