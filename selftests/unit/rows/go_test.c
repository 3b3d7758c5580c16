// SPDX-License-Identifier: GPL-2.0
/*
 * Go's function table, made byte by byte: its layouts, and what is left of it when it is cut off
 * anywhere or has any byte changed.  selftests/golden/asm/go.S has all kinds of functions.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "coverage.h"
#include "gopclntab.h"
#include "reader.h"
#include "rule_text.h"
#include "kselftest.h"

#define TEXT	0x1000
#define TABLE	0x2000
#define RELA	0x3000
#define MODULE	0x3800
#define FILE_SIZE 0x4000

#define RELOCATIONS 4

#define FIRST	0	/* "push %rbp; mov %rsp,%rbp; pop %rbp; ret" */
#define SECOND	0x20	/* "nop; ret", outermost */
#define TEXT_SIZE 0x40

static u8 image[FILE_SIZE];
static u64 module_size;

struct layout {
	const char	*name;
	u32		 magic;
	unsigned int	 record;	/* bytes of struct _func */
	bool		 relocated;
	bool		 merged;	/* something else is before the table */
	bool		 module;	/* only the module's data says where text is */
};

static const struct layout layouts[] = {
	{ "of Go 1.18", 0xfffffff0, 40 },
	{ "of Go 1.20", 0xfffffff1, 44 },
	{ "of Go 1.20, relocated", 0xfffffff1, 44, .relocated = true },
	{ "of Go 1.18 in a larger section", 0xfffffff0, 40, .merged = true },
	{ "of Go 1.26", 0xfffffff1, 44, .module = true },
	{ "of Go 1.26, relocated", 0xfffffff1, 44, .module = true, .relocated = true },
	{ "of Go 1.26 in a larger section", 0xfffffff1, 44, .module = true, .merged = true },
};

static void put(size_t at, u64 value, unsigned int size)
{
	memcpy(image + at, &value, size);
}

/* Parts of the table, from its start. */
#define NAMES	0x48
#define PCTAB	0x68
#define FUNCS	0x80
#define RECORDS	0x18	/* from FUNCS */

/* Parts of struct moduledata */
#define HEADER	0
#define MINPC	160
#define STARTS	176	/* text */
#define MODULE_SIZE 184

/* An address; it is in the @number-th relocation only if the file is @relocated. */
static void put_address(size_t at, u64 value, unsigned int number, bool relocated)
{
	size_t rela = RELA + 24 * number;

	put(at, relocated ? 0 : value, 8);
	put(rela, relocated ? at : 0, 8);
	put(rela + 8, R_X86_64_RELATIVE, 8);
	put(rela + 16, value, 8);
}

/* Return: bytes of the section. */
static size_t put_table(const struct layout *layout)
{
	static const u8 code[] = { 0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc3 };
	/* 1 byte at 0, 4 at 8, 1 at 0; 2 bytes at 0 */
	static const u8 pctab[] = { 0, 2, 1, 16, 4, 15, 1, 0, 2, 2, 0 };
	size_t at = TABLE + (layout->merged ? 0x28 : 0), funcs = at + FUNCS, i;

	module_size = layout->module ? MODULE_SIZE : 0;
	memset(image, 0, sizeof(image));
	memset(image + TEXT, 0xcc, TEXT_SIZE);
	memcpy(image + TEXT + FIRST, code, sizeof(code));
	memcpy(image + TEXT + SECOND, (const u8[]){ 0x90, 0xc3 }, 2);
	put(at, layout->magic, 4);
	put(at + 6, 1, 1);
	put(at + 7, 8, 1);
	put(at + 8, 2, 8);
	put(at + 32, NAMES, 8);
	put(at + 40, PCTAB - 8, 8);
	put(at + 56, PCTAB, 8);
	put(at + 64, FUNCS, 8);
	memcpy(image + at + NAMES, "main.main\0runtime.goexit", 25);
	memcpy(image + at + PCTAB, pctab, sizeof(pctab));
	for (i = 0; i < 2; i++) {
		size_t record = RECORDS + i * layout->record;

		put(funcs + 8 * i, i ? SECOND : FIRST, 4);
		put(funcs + 8 * i + 4, record, 4);
		put(funcs + record, i ? SECOND : FIRST, 4);
		put(funcs + record + 4, i ? 10 : 0, 4);
		put(funcs + record + 16, i ? 8 : 1, 4);
		put(funcs + record + layout->record - 3, i, 1);	/* flags: TOPFRAME */
	}
	put(funcs + 16, TEXT_SIZE, 4);
	put(RELA, at + 24, 8);
	put(RELA + 8, R_X86_64_64, 8);
	put(RELA + 16, 0x1234, 8);
	if (layout->module) {
		put_address(MODULE + HEADER, at, 1, layout->relocated);
		put_address(MODULE + MINPC, TEXT + FIRST, 2, layout->relocated);
		put_address(MODULE + STARTS, TEXT, 3, layout->relocated);
	} else {
		put_address(at + 24, TEXT, 1, layout->relocated);
	}
	return FUNCS + RECORDS + 2 * layout->record + (at - TABLE);
}

/* The rows of the file, or why there are none, as text. */
static const char *rows_text(size_t table_size, struct row_set *rows)
{
	static char text[512];
	static int fd = -1;
	struct elf_segment load = { .size = FILE_SIZE };
	struct elf_file elf = {
		.ntext = 1, .text[0] = { .vaddr = TEXT, .offset = TEXT, .size = TEXT_SIZE },
		.loads = &load, .nloads = 1, .is_go = true,
		.gopclntab = { .vaddr = TABLE, .offset = TABLE, .size = table_size },
		.go_module = { .vaddr = MODULE, .offset = MODULE, .size = module_size },
		.rela = { .vaddr = RELA, .size = 24 * RELOCATIONS },
	};
	char rule[RULE_TEXT_MAX], *tab;
	struct bee_error error = {};
	size_t i, n = 0;

	if (fd < 0)
		fd = memfd_create("go", MFD_CLOEXEC);
	if (fd < 0 || pwrite(fd, image, sizeof(image), 0) != sizeof(image))
		exit(1);
	elf.reader = reader_open(fd, &error);
	if (coverage_rows(&elf, rows, &error))
		snprintf(text, sizeof(text), "%s", error.text);
	for (i = 0; i < rows->nrows && n < sizeof(text); i++) {
		rule_format(row_rule(rows, i), rule);
		while ((tab = strchr(rule, '\t')))
			*tab = ' ';
		n += snprintf(text + n, sizeof(text) - n, "%llx %s|",
			      (unsigned long long)rows->rows[i].pc, rule);
	}
	reader_close(elf.reader);
	return text;
}

static const char good_rows[] = "1000 rsp+8 same cfa-8|1001 rsp+16 cfa-16 cfa-8|"
				"1005 rsp+8 same cfa-8|1020 rsp+8 same undef|";

static void test_good(const struct layout *layout)
{
	struct row_set rows;
	const char *text = rows_text(put_table(layout), &rows);

	if (strcmp(text, good_rows))
		ksft_print_msg("%s\n", text);
	ksft_test_result(!strcmp(text, good_rows), "Go's function table %s\n", layout->name);
	row_set_free(&rows);
}

/* Are there none or only rows that ascend within the text? */
static bool rows_are_sane(size_t table_size)
{
	struct row_set rows;
	bool sane = true;
	size_t i;

	rows_text(table_size, &rows);
	for (i = 0; i < rows.nrows; i++)
		sane &= rows.rows[i].pc >= TEXT && rows.rows[i].pc < row_end(&rows, i) &&
			row_end(&rows, i) <= TEXT + TEXT_SIZE;
	row_set_free(&rows);
	return sane;
}

static void test_truncated(const struct layout *layout)
{
	size_t size = put_table(layout), n;
	bool sane = true;

	for (n = 0; n < size; n++)
		sane &= rows_are_sane(n);
	ksft_test_result(sane, "Go's function table cut off anywhere, %s\n", layout->name);
}

/* Give each byte of a part of the image other values. */
static bool mutated_is_sane(size_t start, size_t size, size_t table_size)
{
	static const u8 values[] = { 0, 1, 2, 7, 8, 0x7f, 0x80, 0xfe, 0xff };
	bool sane = true;
	size_t at, i;

	for (at = start; at < start + size; at++) {
		u8 before = image[at];

		for (i = 0; i < sizeof(values); i++) {
			image[at] = values[i];
			sane &= rows_are_sane(table_size);
		}
		image[at] = before;
	}
	return sane;
}

static void test_mutated(const struct layout *layout)
{
	size_t size = put_table(layout);
	bool sane = mutated_is_sane(TABLE, size, size) &&
		    mutated_is_sane(MODULE, module_size, size);

	ksft_test_result(sane, "Go's function table with any byte changed, %s\n", layout->name);
}

static void test_refused_of(const struct layout *layout, const char *name, size_t at, u64 value,
			    unsigned int size, const char *expected)
{
	size_t table_size = put_table(layout);
	struct row_set rows;
	const char *text;

	put(at, value, size);
	text = rows_text(table_size, &rows);
	if (!strstr(text, expected))
		ksft_print_msg("%s\n", text);
	ksft_test_result(strstr(text, expected) && !rows.nrows, "Go's function table is refused: %s\n", name);
	row_set_free(&rows);
}

static void test_refused(const char *name, size_t at, u64 value, unsigned int size,
			 const char *expected)
{
	test_refused_of(&layouts[1], name, TABLE + at, value, size, expected);
}

/* The module's data is not what was expected. */
static void test_refused_module(const char *name, size_t at, u64 value)
{
	const struct layout layout = { "", 0xfffffff1, 44, .module = true };

	test_refused_of(&layout, name, MODULE + at, value, 8, "where Go's text is");
}

static void test_module_truncated(void)
{
	const struct layout layout = { "", 0xfffffff1, 44, .module = true };
	size_t table_size = put_table(&layout);
	struct row_set rows;
	bool good = true;

	for (module_size = 0; module_size < MODULE_SIZE; module_size++) {
		good &= strstr(rows_text(table_size, &rows), "where Go's text is") && !rows.nrows;
		row_set_free(&rows);
	}
	ksft_test_result(good, "the module's data is cut off anywhere\n");
}

int main(void)
{
	const size_t n = sizeof(layouts) / sizeof(layouts[0]);
	size_t i;

	ksft_print_header();
	ksft_set_plan(3 * n + 14);
	for (i = 0; i < n; i++) {
		test_good(&layouts[i]);
		test_truncated(&layouts[i]);
		test_mutated(&layouts[i]);
	}
	test_refused("the layout of Go 1.16", 0, 0xfffffffa, 4, "no function table of Go 1.18");
	test_refused("an unknown layout", 0, 0xfffffff2, 4, "no function table of Go 1.18");
	test_refused("Go's function table of another machine", 6, 4, 1, "no function table of Go 1.18");
	test_refused("functions outside of text", 24, 0x3800, 8, "where Go's text is");
	test_refused("neither a start of text nor the module's data", 24, 0, 8,
		     "where Go's text is");
	test_refused_module("the module's data is of another table", HEADER, TABLE + 8);
	test_refused_module("the module's data does not say where text is", STARTS, 0);
	test_refused_module("the module's data has text elsewhere", STARTS, TEXT + 8);
	test_refused_module("the module's data has its first function elsewhere", MINPC, TEXT + 1);
	test_refused_module("the module's data has functions outside of text", STARTS, 0x3800);
	test_refused_module("the module's data has text at the end of the address space", STARTS, ~0ull);
	test_module_truncated();
	test_refused("Go's function table with more functions than there is room for", 8, 1ull << 61, 8, "malformed");
	test_refused("names behind the table's end", 40, ~0ull, 8, "malformed");
	ksft_finished();
}
