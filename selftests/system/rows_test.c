// SPDX-License-Identifier: GPL-2.0
/* Tables of stock files, compared with the rows that they were made from. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "compile.h"
#include "coverage.h"
#include "kselftest.h"
#include "rows_equal_table.h"

static const char *const files[] = {
	"/lib/x86_64-linux-gnu/libc.so.6",
	"/lib64/ld-linux-x86-64.so.2",
	"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
	"/lib/x86_64-linux-gnu/libpthread.so.0",
	"/usr/bin/python3",
	"/usr/bin/perl",
};

static bool encodes_alike(const struct elf_file *elf, const struct row_set *rows,
			const struct compile_result *result)
{
	struct bee_error why;
	size_t size;
	void *blob = compile_encode(elf, rows, &size, &why);
	bool alike = blob && size == result->size && !memcmp(blob, result->blob, size);

	free(blob);
	return alike;
}

/* Are the rows ascending, inside the text, and each of another rule than the one before? */
static bool rows_are_sound(const struct row_set *rows, const struct elf_file *elf)
{
	size_t i;

	for (i = 0; i < rows->nrows; i++) {
		if (rows->rows[i].rule >= rows->nrules)
			return false;
		if (i && (rows->rows[i].pc <= rows->rows[i - 1].pc ||
			  rows->rows[i].rule == rows->rows[i - 1].rule))
			return false;
	}
	return rows->end > rows->rows[i - 1].pc && elf_find_text(elf, rows->rows[0].pc) &&
	       elf_find_text(elf, rows->end - 1);
}

/* Is the table not larger than a list of its rows would be? */
static bool size_is_bounded(const struct bee_table *table)
{
	return table->size <= sizeof(*table->header) + table->nsegments * sizeof(*table->segments) +
			      table->nfull * sizeof(*table->full) +
			      table->nrows * sizeof(*table->rows);
}

static bool compare(int fd, const struct compile_result *result)
{
	struct bee_table_error error;
	struct row_set rows = {};
	struct bee_table table;
	struct elf_file elf;
	struct bee_error why;
	bool good;

	good = !elf_open(&elf, fd, &why) && !coverage_rows(&elf, &rows, &why) &&
	       !bee_table_validate(result->blob, result->size, &table, &error) &&
	       result->rows == rows.nrows && table.nrows == rows.nrows &&
	       rows_are_sound(&rows, &elf) && rows_equal_table(&rows, &table) &&
	       size_is_bounded(&table) &&
	       encodes_alike(&elf, &rows, result);
	row_set_free(&rows);
	elf_close(&elf);
	return good;
}

static void test_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct compile_result result;
	struct bee_error why;

	if (fd < 0) {
		ksft_test_result_skip("%s # SKIP not installed\n", path);
		return;
	}
	if (compile_elf(fd, NULL, &result, &why))
		ksft_test_result_fail("%s: %s\n", path, why.text);
	else
		ksft_test_result(compare(fd, &result), "%s: %zu rows\n", path, result.rows);
	compile_result_free(&result);
	close(fd);
}

int main(void)
{
	size_t i;

	ksft_print_header();
	ksft_set_plan(sizeof(files) / sizeof(files[0]));
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		test_file(files[i]);
	ksft_finished();
}
