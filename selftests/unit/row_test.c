// SPDX-License-Identifier: GPL-2.0
/*
 * Lookups in the tables of stock files against a linear scan over the rows they
 * were made from: first, last and a random pc of each row.  A listing of the table
 * gives the same rows, and the same rows give the same bytes.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "compile.h"
#include "coverage.h"
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

static bool lookup_is(const struct bee_table *table, u64 pc, const struct bee_rule *expected)
{
	struct bee_rule row;

	bee_table_lookup(table, pc, &row);
	if (!memcmp(&row, expected, sizeof(row)))
		return true;
	ksft_print_msg("wrong at pc %#llx\n", (unsigned long long)pc);
	return false;
}

/* The naive twin: walk all rows in order. */
static size_t scan_rows(const struct row_set *rows, const struct bee_table *table)
{
	static const struct bee_rule gap = { .kind = BEE_RULE_GAP };
	size_t i, wrong = 0;

	for (i = 0; i < rows->nrows; i++) {
		const struct bee_rule *rule = &rows->rules[rows->rows[i].rule];
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

/* What the table lists, row by row. */
static bool listing_is(const struct row_set *rows, const struct bee_table *table)
{
	u64 pc = table->base, end;
	struct bee_rule row;
	size_t i;

	for (i = 0; bee_table_next(table, pc, &end, &row); pc = end, i++)
		if (i == rows->nrows || pc != rows->rows[i].pc ||
		    memcmp(&row, &rows->rules[rows->rows[i].rule], sizeof(row)))
			return false;
	return i == rows->nrows && pc == rows->end;
}

static bool packs_alike(const struct elf_file *elf, const struct row_set *rows,
			const struct compile_result *result)
{
	struct bee_error why = {};
	size_t size;
	void *blob = compile_encode(elf, rows, &size, &why);
	bool alike = blob && size == result->size && !memcmp(blob, result->blob, size);

	free(blob);
	return alike;
}

/* Ascending, inside the text, no two alike side by side. */
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

static bool compare(int fd, const struct compile_result *result)
{
	struct bee_table_error error;
	struct row_set rows = {};
	struct bee_table table;
	struct elf_file elf;
	struct bee_error why = {};
	bool good;

	good = !elf_open(&elf, fd, &why) && !coverage_rows(&elf, &rows, &why) &&
	       !bee_table_validate(result->blob, result->size, &table, &error) &&
	       result->rows == rows.nrows && table.nrows == rows.nrows &&
	       rows_are_sound(&rows, &elf) && !scan_rows(&rows, &table) &&
	       listing_is(&rows, &table) && packs_alike(&elf, &rows, result);
	row_set_free(&rows);
	elf_close(&elf);
	return good;
}

static void test_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct compile_result result;
	struct bee_error why = {};

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

/* Rows that no compiler would write, at random distances; @nrules distinct rules. */
static void make_rows(struct row_set *rows, size_t nrows, u32 nrules, u32 distance)
{
	u64 pc = 0x401005 + random_u64() % 4096;
	size_t i;

	for (i = 0; i < nrows; i++) {
		u32 pick = random_u64() % nrules;
		struct bee_rule row = {
			.cfa_reg = pick & 1 ? BEE_REG_RSP : BEE_REG_RBP, .cfa_off = 8 * (pick >> 2),
			.fp = pick & 2 ? BEE_FP_CFA : BEE_FP_SAME, .fp_off = pick & 2 ? -16 : 0,
			.ra_off = -8,
		};

		if (pick % 97 == 5)
			row.cfa_off += 3;
		if (pick % 101 == 7)
			row = (struct bee_rule){ .kind = BEE_RULE_UNSUPPORTED, .arg = pick % 10 };
		if (pick % 103 == 11)
			row = (struct bee_rule){ .kind = BEE_RULE_GAP };
		if (!(random_u64() % 5))
			row_set_add_start(rows, pc);
		row_set_add(rows, pc, &row);
		pc += 1 + random_u64() % distance;
	}
	rows->end = pc;
}

static void test_made(size_t nrows, u32 nrules, u32 distance)
{
	struct elf_file elf = {
		.ntext = 1, .id_len = 1, .text[0] = { .vaddr = 0x400000, .size = 0x10000000 },
	};
	struct bee_table_error error = {};
	struct row_set rows = {};
	struct bee_table table;
	struct bee_error why = {};
	size_t size = 0;
	bool good;
	void *blob;

	make_rows(&rows, nrows, nrules, distance);
	blob = compile_encode(&elf, &rows, &size, &why);
	good = blob && !bee_table_validate(blob, size, &table, &error) &&
	       !scan_rows(&rows, &table) && listing_is(&rows, &table);
	if (!good)
		ksft_print_msg("%s %s\n", why.text, error.why ?: "");
	ksft_test_result(good, "%zu made rows, %u rules, up to %u bytes apart: %zu bytes\n", nrows,
			 nrules, distance, size);
	free(blob);
	row_set_free(&rows);
}

static void test_too_many_rules(void)
{
	struct elf_file elf = { .ntext = 1, .id_len = 1 };
	struct row_set rows = {};
	struct bee_error why = {};
	size_t size;
	u32 i;

	for (i = 0; i < 0x8000; i++) {
		struct bee_rule row = { .cfa_reg = BEE_REG_RAX, .cfa_off = i, .ra_off = -8 };

		row_set_add(&rows, i, &row);
	}
	rows.end = i;
	ksft_test_result(!compile_encode(&elf, &rows, &size, &why) &&
			 strstr(why.text, "32768 distinct rules"), "too many rules: refused\n");
	row_set_free(&rows);
}

int main(void)
{
	static const u32 nrules[] = { 1, 2, 40, 1000, 60000 };
	static const u32 distances[] = { 1, 12, 40, 3000 };
	size_t i, j;

	ksft_print_header();
	ksft_set_plan(sizeof(files) / sizeof(files[0]) + 5 * 4 * 2 + 2);
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		test_file(files[i]);
	for (i = 0; i < 5; i++)
		for (j = 0; j < 4; j++) {
			test_made(3, nrules[i], distances[j]);
			test_made(20000, nrules[i], distances[j]);
		}
	test_made(400000, 60000, 20);
	test_too_many_rules();
	ksft_finished();
}
