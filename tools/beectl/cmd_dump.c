// SPDX-License-Identifier: GPL-2.0
/* beectl dump: show the unwind table of an ELF file, or a table file. */
#include <asm/byteorder.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "commands.h"
#include "compile.h"
#include "coverage.h"
#include "elf.h"
#include "error.h"
#include "io.h"
#include "messages.h"
#include "options.h"
#include "rows.h"
#include "rule_text.h"

static const char dump_help[] =
	"Usage: beectl dump [--rows [--unpacked]] [--cfi-only] ELF|TABLE\n"
	"\n"
	"Show the unwind table that an ELF file gets, or one that \"beectl compile\"\n"
	"wrote: what file it is for, what text it covers, and how often each rule is\n"
	"used.\n"
	"\n"
	"Options:\n"
	"  -r, --rows      One line for each row instead, separated by tabs: pc, CFA,\n"
	"                  frame pointer, return address, and \"signal\" in signal frames;\n"
	"                  or pc and \"gap\", \"unsupported:REASON\"; last the end of the\n"
	"                  text\n"
	"      --unpacked  The rows of an ELF file as they are before packing\n"
	"      --cfi-only  Of an ELF file, without rows for code that has no unwind\n"
	"                  information\n"
	"  -h, --help      Show this text\n"
	"\n"
	"Example:\n"
	"  beectl dump --rows /usr/bin/git | head\n";

struct dump_options {
	bool			rows;
	bool			unpacked;
	struct lossy_options	lossy;
};

static void print_row(u64 pc, const struct bee_rule *row)
{
	char text[RULE_TEXT_MAX];

	printf("%016llx\t%s\n", (unsigned long long)pc, rule_format(row, text));
}

static void print_end(u64 pc)
{
	printf("%016llx\tend\n", (unsigned long long)pc);
}

static int dump_unpacked(int fd, bool cfi_only, struct bee_error *error)
{
	struct row_set rows = {};
	struct elf_file elf;
	int ret = elf_open(&elf, fd, error);
	size_t i;

	if (!ret)
		ret = cfi_only ? coverage_cfi_rows(&elf, &rows, error) :
				 coverage_rows(&elf, &rows, error);
	for (i = 0; !ret && i < rows.nrows; i++)
		print_row(rows.rows[i].pc, &rows.rules[rows.rows[i].rule]);
	if (!ret)
		print_end(rows.end);
	row_set_free(&rows);
	elf_close(&elf);
	return ret;
}

static void dump_rows(const struct bee_table *table)
{
	struct bee_rule row;
	u64 pc, end;

	for (pc = table->base; bee_table_next(table, pc, &end, &row); pc = end)
		print_row(pc, &row);
	print_end(pc);
}

/* How often a rule is used. */
struct rule_use {
	struct bee_rule	row;
	u32		rows;
	u64		bytes;
};

static int compare_uses(const void *a, const void *b)
{
	const struct rule_use *x = a, *y = b;
	char s[RULE_TEXT_MAX], t[RULE_TEXT_MAX];

	if (x->rows != y->rows)
		return x->rows > y->rows ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return strcmp(rule_format(&x->row, s), rule_format(&y->row, t));
}

static void print_uses(const struct bee_table *table)
{
	size_t i, room = 0;
	struct rule_use *uses = alloc_room(NULL, 0, &room, sizeof(*uses));
	char text[RULE_TEXT_MAX], *tab;
	struct row_set rules = {};
	struct bee_rule row;
	u64 pc, end;

	for (pc = table->base; bee_table_next(table, pc, &end, &row); pc = end) {
		size_t known = rules.nrules;
		u32 rule = row_set_intern(&rules, &row);

		if (rule == known) {
			uses = alloc_room(uses, known, &room, sizeof(*uses));
			uses[rule] = (struct rule_use){ .row = row };
		}
		uses[rule].rows++;
		uses[rule].bytes += end - pc;
	}
	qsort(uses, rules.nrules, sizeof(*uses), compare_uses);
	printf("\n%10s %12s  %s\n", "rows", "text bytes", "rule (CFA, FP, RA)");
	for (i = 0; i < rules.nrules; i++) {
		rule_format(&uses[i].row, text);
		for (tab = text; (tab = strchr(tab, '\t')); )
			*tab = ' ';
		printf("%10u %12llu  %s\n", uses[i].rows, (unsigned long long)uses[i].bytes, text);
	}
	row_set_free(&rules);
	free(uses);
}

/* Only the ELF file can tell which rows were made from code without CFI, a table does not. */
static void dump_summary(const struct compile_result *result)
{
	const struct bee_table *table = &result->table;
	const struct bee_table_header *h = table->header;
	u32 i;

	printf("%-10s version %u, %u bytes\n", "table", le16_to_cpu(h->version), table->size);
	printf("%-10s ", h->id_type == BEE_ID_BUILD_ID ? "build-id" : "sha256");
	for (i = 0; i < h->id_len; i++)
		printf("%02x", h->id[i]);
	putchar('\n');
	if (h->flags)
		printf("%-10s %s\n", "not exact", lossy_words(h->flags));
	printf("%-10s %llu bytes\n", "file", (unsigned long long)le64_to_cpu(h->file_size));
	printf("%-10s 0x%llx-0x%llx\n", "text", (unsigned long long)table->base,
	       (unsigned long long)(table->base + table->span));
	for (i = 0; i < table->nsegments; i++) {
		const struct bee_table_segment *s = &table->segments[i];

		printf("%-10s 0x%llx, 0x%llx bytes at file offset 0x%llx\n", "segment",
		       (unsigned long long)le64_to_cpu(s->vaddr),
		       (unsigned long long)le64_to_cpu(s->size),
		       (unsigned long long)le64_to_cpu(s->offset));
	}
	printf("%-10s %u%s\n", "rows", table->nrows, table->window ? "" : ", as a list");
	if (result->synth_rows)
		printf("%-10s %llu rows, %llu bytes without unwind information\n", "synth",
		       (unsigned long long)result->synth_rows, (unsigned long long)result->synth);
	if (result->abi)
		printf("%-10s %llu rows, %llu bytes without unwind information, if they keep the ABI\n",
		       "abi", (unsigned long long)result->abi_rows, (unsigned long long)result->abi);
	if (table->window)
		printf("%-10s %u\n", "rules", table->nrules);
	if (result->go)
		printf("%-10s %llu functions, from Go's function table\n", "Go",
		       (unsigned long long)result->go);
	if (result->go_trouble)
		printf("%-10s left to frame pointers: %s\n", "Go", result->go_trouble);
	print_uses(table);
}

static bool is_table(int fd)
{
	__le32 magic;
	u32 value;

	if (pread(fd, &magic, sizeof(magic), 0) != sizeof(magic))
		return false;
	value = le32_to_cpu(magic);
	return value == BEE_TABLE_MAGIC || value == __builtin_bswap32(BEE_TABLE_MAGIC);
}

/* Reads at most one byte more than the limit, so that a larger file is refused for its size. */
static int read_table(int fd, off_t size, struct compile_result *result, struct bee_error *error)
{
	struct bee_table_error why;
	ssize_t got;

	if (size > BEE_TABLE_MAX_SIZE)
		size = BEE_TABLE_MAX_SIZE + 1;
	result->blob = alloc_array(NULL, size, 1);
	got = io_read_at(fd, result->blob, size, 0);
	if (!bee_table_validate(result->blob, got < 0 ? 0 : got, &result->table, &why))
		return 0;
	return error_set(error, 0, "refused: %s at offset %llu", why.why,
			 (unsigned long long)why.offset);
}

static int dump_file(int fd, const struct dump_options *o, struct bee_error *error)
{
	struct compile_result result = { 0 };
	struct stat st;
	int ret;

	if (fstat(fd, &st))
		return error_set(error, errno, "%s", strerror(errno));
	if (S_ISREG(st.st_mode) && is_table(fd))
		ret = o->unpacked || o->lossy.cfi_only ?
		      error_set(error, 0, "is a table; --%s needs the ELF file",
				o->unpacked ? "unpacked" : "cfi-only") :
		      read_table(fd, st.st_size, &result, error);
	else if (o->unpacked)
		return dump_unpacked(fd, o->lossy.cfi_only, error);
	else
		ret = compile_elf(fd, &o->lossy, &result, error);
	if (!ret && o->rows)
		dump_rows(&result.table);
	else if (!ret)
		dump_summary(&result);
	compile_result_free(&result);
	return ret;
}

int cmd_dump(int argc, char **argv)
{
	struct dump_options o = { 0 };
	const struct options options = {
		.command = "dump", .help = dump_help,
		.option = {
			{ 'r', "rows", OPTION_FLAG, &o.rows },
			{ 0, "unpacked", OPTION_FLAG, &o.unpacked },
			{ 0, "cfi-only", OPTION_FLAG, &o.lossy.cfi_only },
		},
	};
	int status = options_parse(&options, argc, &argv);
	struct bee_error error;
	int fd, ret;

	if (status != OPTIONS_OK)
		return status;
	if (!argv[0] || argv[1])
		return message_usage("dump", "one ELF or table file is needed");
	if (o.unpacked && !o.rows)
		return message_usage("dump", "--unpacked needs --rows");
	fd = open(argv[0], O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return message_error("dump", argv[0], strerror(errno));
	ret = dump_file(fd, &o, &error);
	close(fd);
	return ret ? message_error("dump", argv[0], error.text) : EXIT_OK;
}
