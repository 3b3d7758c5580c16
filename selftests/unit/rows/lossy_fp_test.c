// SPDX-License-Identifier: GPL-2.0
/* Frame pointer bypass: small functions; the bytes where the walk errs were counted by hand. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest.h"
#include "lossy_ways.h"
#include "reader.h"

#define TEXT	0x1000

#define RULE(from, bytes, how, at)	{ .kind = BEE_RULE_KNOWN, .cfa_reg = (from), \
	.cfa_off = (bytes), .fp = (how), .fp_off = (at), .ra_off = -8 }

static const struct bee_rule entry = RULE(BEE_REG_RSP, 8, BEE_FP_SAME, 0);
static const struct bee_rule pushed = RULE(BEE_REG_RSP, 16, BEE_FP_CFA, -16);
static const struct bee_rule body = RULE(BEE_REG_RBP, 16, BEE_FP_CFA, -16);
static const struct bee_rule moved = RULE(BEE_REG_RSP, 40, BEE_FP_SAME, 0);

/* push %rbp; mov %rsp,%rbp; 8 of nop; pop %rbp; ret */
static const u8 plain[] = { 0x55, 0x48, 0x89, 0xe5, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
			    0x5d, 0xc3, 0x00, 0x00 };
/* @plain with a mov %esi,%eax before it, which the walk by frame pointer does not recognize. */
static const u8 late[] = { 0x89, 0xf0, 0x55, 0x48, 0x89, 0xe5, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
			   0x5d, 0xc3, 0x00, 0x00 };

static struct elf_file elf = { .ntext = 1, .text[0] = { TEXT, TEXT, 16 } };

static void open_text(const u8 *text)
{
	struct bee_error why;
	int fd = memfd_create("text", MFD_CLOEXEC);

	if (fd < 0 || pwrite(fd, text, 16, TEXT) != 16)
		exit(1);
	elf.reader = reader_open(fd, &why);
}

/* Add the rows of a function whose prologue begins @skip bytes behind its start. */
static void add_function(struct row_set *rows, u64 pc, u32 skip)
{
	row_set_add_start(rows, pc);
	row_set_add(rows, pc, &entry);
	row_set_add(rows, pc + skip + 1, &pushed);
	row_set_add(rows, pc + skip + 4, &body);
	row_set_add(rows, pc + 13, &entry);
	rows->end = pc + 14;
}

/* The function must become one gap; its edges are 1 byte of entry, 3 of pushed, 1 of ret. */
static void test_function(const char *name, const u8 *text, u32 skip, u64 edges, u64 wrong)
{
	struct lossy_report report = {};
	struct row_set rows = {};
	struct bee_error why;
	bool good;

	open_text(text);
	add_function(&rows, TEXT, skip);
	good = !lossy_fp_bypass(&elf, &rows, &report, &why) && rows.nrows == 1 &&
	       row_rule(&rows, 0)->kind == BEE_RULE_GAP && rows.rows[0].pc == TEXT &&
	       rows.end == TEXT + 14 && rows.nstarts == 1;
	ksft_test_result(good && report.functions == 1 && report.by_fp == 1 &&
			 report.edges == edges && report.edges_wrong == wrong &&
			 report.wrong == wrong, "%s: %llu of %llu bytes of edges wrong\n", name,
			 report.edges_wrong, report.edges);
	row_set_free(&rows);
	reader_close(elf.reader);
}

/* A function that has only one row must keep it. */
static void test_leaf(void)
{
	struct lossy_report report = {};
	struct row_set rows = {};
	struct bee_error why;
	bool good;

	open_text(plain);
	add_function(&rows, TEXT, 0);
	row_set_add_start(&rows, TEXT + 14);
	rows.end = TEXT + 16;
	good = !lossy_fp_bypass(&elf, &rows, &report, &why);
	ksft_test_result(good && report.functions == 2 && report.by_fp == 1 && rows.nrows == 2 &&
			 rows.rows[1].pc == TEXT + 14 &&
			 !memcmp(row_rule(&rows, 1), &entry, sizeof(entry)),
			 "a leaf keeps its row\n");
	row_set_free(&rows);
	reader_close(elf.reader);
}

static void test_refused(const char *name, const struct bee_rule *rule, const char *word)
{
	struct lossy_report report = {};
	struct row_set rows = {};
	struct bee_error why = {};
	size_t nrows;

	row_set_add_start(&rows, TEXT);
	row_set_add(&rows, TEXT, &entry);
	row_set_add(&rows, TEXT + 8, rule);
	rows.end = TEXT + 16;
	nrows = rows.nrows;
	ksft_test_result(lossy_fp_bypass(&elf, &rows, &report, &why) && strstr(why.text, word) &&
			 rows.nrows == nrows, "%s: %s\n", name, why.text);
	row_set_free(&rows);
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(5);
	test_function("push at once", plain, 0, 5, 0);
	test_function("push after something else", late, 2, 7, 3);
	test_leaf();
	test_refused("rsp moved", &moved,
		     "1 of 1 functions keep no frame pointer, first that at 0x1000");
	test_refused("nothing but leaves", &entry, "none of its functions");
	ksft_finished();
}
