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
#include "text.h"

static const char dump_help[] =
	"Usage: beectl dump [--rows [--unpacked]] ELF|TABLE\n"
	"\n"
	"Show the unwind table that an ELF file gets, or one that \"beectl compile\" wrote:\n"
	"what file it is for, what text it covers, and how often each rule is used.\n"
	"\n"
	"Options:\n"
	"  -r, --rows      One line for each row instead, separated by tabs: pc, CFA, frame\n"
	"                  pointer, return address, and \"signal\" in signal frames; or pc and\n"
	"                  \"gap\", \"unsupported:REASON\"; last the end of the text\n"
	"  -u, --unpacked  The rows of an ELF file as they are before packing\n"
	"  -h, --help      Show this text\n"
	"\n"
	"Example:\n"
	"  beectl dump --rows /usr/bin/git | head\n";

struct dump_options {
	const char	*file;
	bool		 rows;
	bool		 unpacked;
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

static int dump_unpacked(int fd, const struct dump_options *o)
{
	struct row_set rows = {};
	struct bee_error error;
	struct elf_file elf;
	int ret;
	size_t i;

	ret = elf_open(&elf, fd, &error);
	if (!ret)
		ret = coverage_rows(&elf, &rows, &error);
	if (ret)
		message_error("dump", o->file, error.text);
	for (i = 0; !ret && i < rows.nrows; i++)
		print_row(rows.rows[i].pc, &rows.rules[rows.rows[i].rule]);
	if (!ret)
		print_end(rows.end);
	row_set_free(&rows);
	elf_close(&elf);
	return ret ? EXIT_FAILED : EXIT_OK;
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

static void dump_summary(const struct bee_table *table)
{
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
	printf("%-10s %u\n", "rows", table->nrows);
	printf("%-10s %u\n", "rules", table->nrules);
	print_uses(table);
}

static int dump_table(const struct bee_table *table, const struct dump_options *o)
{
	if (o->rows)
		dump_rows(table);
	else
		dump_summary(table);
	return EXIT_OK;
}

static int dump_elf(int fd, const struct dump_options *o)
{
	struct compile_result result;
	struct bee_error error;
	int status;

	if (o->unpacked)
		return dump_unpacked(fd, o);
	if (compile_elf(fd, NULL, &result, &error))
		status = message_error("dump", o->file, error.text);
	else
		status = dump_table(&result.table, o);
	compile_result_free(&result);
	return status;
}

/* Of an oversized file one byte more than the limit is read, so that it is refused as such. */
static int dump_table_file(int fd, off_t size, const struct dump_options *o)
{
	struct bee_table_error error;
	struct bee_table table;
	char why[200];
	ssize_t got;
	void *blob;
	int status;

	if (size > BEE_TABLE_MAX_SIZE)
		size = BEE_TABLE_MAX_SIZE + 1;
	blob = alloc_array(NULL, size, 1);
	got = io_read_at(fd, blob, size, 0);
	if (bee_table_validate(blob, got < 0 ? 0 : got, &table, &error)) {
		snprintf(why, sizeof(why), "refused: %s at offset %llu", error.why,
			 (unsigned long long)error.offset);
		status = message_error("dump", o->file, why);
	} else {
		status = dump_table(&table, o);
	}
	free(blob);
	return status;
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

static int dump_file(const struct dump_options *o)
{
	int fd = open(o->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK), status;
	struct stat st;

	if (fd < 0)
		return message_error("dump", o->file, strerror(errno));
	if (fstat(fd, &st))
		status = message_error("dump", o->file, strerror(errno));
	else if (!S_ISREG(st.st_mode) || !is_table(fd))
		status = dump_elf(fd, o);
	else if (o->unpacked)
		status = message_error("dump", o->file,
				       "is a table; --unpacked needs the ELF file");
	else
		status = dump_table_file(fd, st.st_size, o);
	close(fd);
	return status;
}

int cmd_dump(int argc, char **argv)
{
	struct dump_options o = { 0 };
	const struct options options = {
		.command = "dump", .help = dump_help,
		.option = {
			{ 'r', "rows", OPTION_FLAG, &o.rows },
			{ 'u', "unpacked", OPTION_FLAG, &o.unpacked },
		},
	};
	int status = options_parse(&options, argc, &argv);

	if (status != OPTIONS_OK)
		return status;
	if (!argv[0] || argv[1])
		return message_usage("dump", "one ELF or table file is needed");
	if (o.unpacked && !o.rows)
		return message_usage("dump", "--unpacked needs --rows");
	o.file = argv[0];
	return dump_file(&o);
}
