// SPDX-License-Identifier: GPL-2.0
/*
 * Lookups in the tables of stock files against a linear scan over the rows they
 * were made from: first, last and a random pc of each row.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "compile.h"
#include "cover.h"
#include "kselftest.h"

static const char *const files[] = {
	"/lib/x86_64-linux-gnu/libc.so.6",
	"/lib64/ld-linux-x86-64.so.2",
	"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
	"/usr/bin/python3",
	"/usr/bin/perl",
};

/* xorshift64; the same numbers in each run. */
static u64 random_u64(void)
{
	static u64 x = 88172645463325252ull;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

static bool lookup_is(const struct bee_table *table, u64 pc, const struct bee_row *expected)
{
	struct bee_row row;

	bee_table_lookup(table, pc, &row);
	if (!memcmp(&row, expected, sizeof(row)))
		return true;
	ksft_print_msg("wrong at pc %#llx\n", (unsigned long long)pc);
	return false;
}

/* The naive twin: walk all rows in order. */
static size_t scan_rows(const struct row_set *rows, const struct bee_table *table)
{
	static const struct bee_row gap = { .kind = BEE_ROW_GAP };
	size_t i, wrong = 0;

	for (i = 0; i < rows->nrows; i++) {
		const struct bee_row *rule = &rows->rules[rows->rows[i].rule];
		u64 start = rows->rows[i].pc;
		u64 end = i + 1 < rows->nrows ? rows->rows[i + 1].pc : rows->end;

		wrong += !lookup_is(table, start, rule);
		wrong += !lookup_is(table, end - 1, rule);
		wrong += !lookup_is(table, start + random_u64() % (end - start), rule);
	}
	wrong += !lookup_is(table, rows->rows[0].pc - 1, &gap);
	wrong += !lookup_is(table, rows->end, &gap);
	wrong += !lookup_is(table, 0, &gap);
	wrong += !lookup_is(table, ~0ull, &gap);
	return wrong;
}

/* Ascending, inside the text, no two alike side by side. */
static bool rows_are_sound(const struct row_set *rows, const struct bee_elf *elf)
{
	size_t i;

	for (i = 0; i < rows->nrows; i++) {
		if (rows->rows[i].rule >= rows->nrules)
			return false;
		if (i && (rows->rows[i].pc <= rows->rows[i - 1].pc ||
			  rows->rows[i].rule == rows->rows[i - 1].rule))
			return false;
	}
	return rows->end > rows->rows[i - 1].pc && bee_elf_find_text(elf, rows->rows[0].pc) &&
	       bee_elf_find_text(elf, rows->end - 1);
}

static bool compare(int fd, const struct compile_result *result)
{
	struct bee_table_error error;
	struct row_set rows = {};
	struct bee_table table;
	struct bee_elf elf;
	char message[256];
	bool good;

	good = !bee_elf_open(&elf, fd) && !bee_cover_rows(&elf, &rows, message, sizeof(message)) &&
	       !bee_table_validate(result->blob, result->size, &table, &error) &&
	       result->rows == rows.nrows && table.nrows == rows.nrows &&
	       rows_are_sound(&rows, &elf) && !scan_rows(&rows, &table);
	bee_row_free(&rows);
	bee_elf_close(&elf);
	return good;
}

static void test_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct compile_result result;

	if (fd < 0) {
		ksft_test_result_skip("%s # SKIP not installed\n", path);
		return;
	}
	if (compile_elf(fd, &result))
		ksft_test_result_fail("%s: %s\n", path, result.message);
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
