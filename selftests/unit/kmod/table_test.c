// SPDX-License-Identifier: GPL-2.0
/* The validator refuses each damaged table and says what is wrong and where; lookups find rows. */
#include <stddef.h>

#include "kselftest.h"
#include "kmod/table.h"
#include "blob.h"

static const char *const all_reasons[] = {
#include "reasons.h"
};

#define NREASONS	(sizeof(all_reasons) / sizeof(all_reasons[0]))

static bool reason_met[NREASONS];

static void note_reason(const char *why)
{
	size_t i;

	for (i = 0; i < NREASONS; i++)
		if (!strcmp(why, all_reasons[i]))
			reason_met[i] = true;
}

/* List all rows, and look up each pc of a row: the lookup must give the rule of the row. */
static bool use_table(const struct bee_table *table)
{
	struct bee_rule row, found;
	u64 pc, end, at;

	for (pc = table->base; bee_table_next(table, pc, &end, &row); pc = end) {
		if (end <= pc)
			return false;
		for (at = pc; at < end && at < pc + 4096; at++) {
			bee_table_lookup(table, at, &found);
			if (memcmp(&found, &row, sizeof(row)))
				return false;
		}
	}
	bee_table_lookup(table, table->base - 1, &row);
	bee_table_lookup(table, 0, &row);
	bee_table_lookup(table, ~0ull, &row);
	bee_table_pc(table, 0x1000);
	return pc == table->base + table->span;
}

/* Validate a copy in memory of exactly @size bytes, so that ASan finds overruns. */
static int validate_exact(const void *bytes, size_t size, struct bee_table_error *error)
{
	struct bee_table table;
	void *copy = malloc(size ?: 1);
	int ret;

	memcpy(copy, bytes, size);
	*error = (struct bee_table_error){};
	ret = bee_table_validate(copy, size, &table, error);
	if (ret)
		note_reason(error->why);
	else if (!use_table(&table))
		abort();
	free(copy);
	return ret;
}

static bool rows_equal(const struct bee_rule *a, const struct bee_rule *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/* A row of an example: CFA = rsp + @cfa, FP saved at CFA - 16 or unchanged. */
struct example_row {
	u64	pc;
	u8	kind;
	u8	cfa;
	bool	saved;
};

static const struct example_row first_rows[] = {
	{ 0x1100, BEE_RULE_GAP }, { 0x1130, BEE_RULE_KNOWN, 8 },
	{ 0x1131, BEE_RULE_KNOWN, 16, true },
	{ 0x1140, BEE_RULE_GAP }, { 0x1200 },
};

static const struct example_row second_rows[] = {
	{ 0x1f00, BEE_RULE_GAP }, { 0x2000, BEE_RULE_KNOWN, 8 }, { 0x2001, BEE_RULE_KNOWN, 16 },
	{ 0x2005, BEE_RULE_KNOWN, 32 },
	{ 0x2030, BEE_RULE_KNOWN, 16 }, { 0x2031, BEE_RULE_KNOWN, 8 },
	{ 0x2040, BEE_RULE_KNOWN, 32 }, { 0x2180, BEE_RULE_GAP }, { 0x2200 },
};

static struct bee_rule example_rules(const struct example_row *e)
{
	struct bee_rule row = { .kind = e->kind };

	if (e->kind == BEE_RULE_GAP)
		return row;
	row.cfa_reg = BEE_REG_RSP;
	row.cfa_off = e->cfa;
	row.fp = e->saved ? BEE_FP_CFA : BEE_FP_SAME;
	row.fp_off = e->saved ? -16 : 0;
	row.ra_off = -8;
	return row;
}

static bool example_looks_up(const struct bee_table *table, const struct example_row *e)
{
	struct bee_rule row, expected;
	u64 pc;

	for (; e[1].pc; e++) {
		expected = example_rules(e);
		for (pc = e->pc; pc < e[1].pc; pc++) {
			bee_table_lookup(table, pc, &row);
			if (rows_equal(&row, &expected))
				continue;
			ksft_print_msg("wrong at pc %#llx\n", (unsigned long long)pc);
			return false;
		}
		if (e[1].pc == 0x1200 || e[1].pc == 0x2200)
			break;
	}
	return true;
}

static bool example_lists(const struct bee_table *table, const struct example_row *e)
{
	struct bee_rule row, expected;
	u64 pc, end;

	e++;
	for (pc = table->base; bee_table_next(table, pc, &end, &row); pc = end, e++) {
		expected = example_rules(e);
		if (pc != e->pc || !rows_equal(&row, &expected))
			return false;
	}
	return pc == table->base + table->span;
}

static void test_example(const char *name, u8 *blob, size_t size, const struct example_row *rows)
{
	struct bee_table_error error = {};
	struct bee_table table = {};
	int ret = bee_table_validate(blob, size, &table, &error);

	if (ret)
		ksft_print_msg("%s at %llu\n", error.why, (unsigned long long)error.offset);
	ksft_test_result(!ret, "%s worked example: accepted\n", name);
	ksft_test_result(!ret && example_looks_up(&table, rows),
			 "%s worked example: rules at each pc\n", name);
	ksft_test_result(!ret && example_lists(&table, rows), "%s worked example: listed\n", name);
	free(blob);
}

/* The list has the rows of the first example, and a full rule at one byte more. */
static void test_list(void)
{
	static const struct bee_rule full = {
		.cfa = BEE_CFA_DEREF, .cfa_reg = BEE_REG_RBP, .cfa_off = -8,
		.fp = BEE_FP_DEREF, .fp_reg = BEE_REG_RBP, .ra_off = -8,
	};
	const u64 last = EXAMPLE_BASE + EXAMPLE_SPAN;
	struct bee_table_error error = {};
	const struct example_row *e = first_rows;
	struct bee_table table = {};
	u8 *blob = blob_list();
	int ret = bee_table_validate(blob, LIST_SIZE, &table, &error);
	struct bee_rule row, expected;
	u64 pc, end, starts = 0;
	bool good = !ret;

	if (ret)
		ksft_print_msg("%s at %llu\n", error.why, (unsigned long long)error.offset);
	ksft_test_result(!ret, "list: accepted\n");
	for (pc = e->pc; good && pc < 0x1200; pc++) {
		if (pc == e[1].pc)
			e++;
		expected = pc == last ? full : example_rules(e);
		bee_table_lookup(&table, pc, &row);
		good = rows_equal(&row, &expected);
	}
	ksft_test_result(good, "list: rules at each pc\n");
	for (pc = table.base; !ret && bee_table_next(&table, pc, &end, &row); pc = end)
		starts = starts << 8 | (u8)(pc - table.base);
	ksft_test_result(starts == 0x00011050 && pc == last + 1, "list: bee_table_rows() lists its rows\n");
	free(blob);
}

/* Whether the function at @start can have 0x20, which is in a gap; the list's second row has @word. */
static bool is_one(u32 start, u32 first, u32 second)
{
	struct bee_table_error error = {};
	struct bee_table table = {};
	s32 left = 1000000;
	u8 *blob = blob_list();
	bool one;

	memcpy(blob + LIST_ROW(0) + 4, &first, sizeof(first));
	memcpy(blob + LIST_ROW(1) + 4, &second, sizeof(second));
	blob_fix_crc(blob, LIST_SIZE);
	one = !bee_table_validate(blob, LIST_SIZE, &table, &error) &&
	      bee_table_is_one(&table, start, 0x20, &left);
	free(blob);
	return one && left < 1000000;
}

/* Rows at 0 and 1, a gap from 0x10 to 0x50. */
static void test_is_one(void)
{
	const u32 init = BEE_WORD_INIT, pushed = BEE_WORD_RSP | 2 << BEE_WORD_CFA_SHIFT;

	ksft_test_result(is_one(0x10, init, pushed) && is_one(0x18, init, pushed) &&
			 is_one(0x30, init, pushed), "code within a gap is one with it\n");
	ksft_test_result(is_one(0, init, pushed),
			 "a function whose last row has a push goes on in the gap behind it\n");
	ksft_test_result(!is_one(0, init, init) && is_one(0x18, init, init),
			 "a function that has returned does not go on in the gap behind it\n");
	ksft_test_result(!is_one(0, BEE_WORD_GAP, pushed), "a function in an earlier gap does not go on in the gap\n");
	ksft_test_result(!is_one(0x50, init, pushed) && !is_one(0x1000, init, pushed),
			 "a function behind the gap, or outside of the text, is not one with it\n");
}

static void test_pc(void)
{
	u8 *blob = blob_example();
	struct bee_table_segment *s = (void *)(blob + EXAMPLE_SEGMENTS_AT);
	struct bee_table_error error;
	struct bee_table table = {};
	struct bee_table_segment two[2] = {
		{ cpu_to_le64(0x402300), cpu_to_le64(0x1300), cpu_to_le64(0x2000) },
		{ cpu_to_le64(0x405300), cpu_to_le64(0x3300), cpu_to_le64(0x100) },
	};
	u64 none;

	s->vaddr = cpu_to_le64(0x402300);
	s->offset = cpu_to_le64(0x1300);
	s->size = cpu_to_le64(0x2000);
	blob_fix_crc(blob, EXAMPLE_SIZE);
	bee_table_validate(blob, EXAMPLE_SIZE, &table, &error);
	none = table.base + table.span;
	ksft_test_result(bee_table_pc(&table, 0x1300) == 0x402300 &&
			 bee_table_pc(&table, 0x32ff) == 0x4042ff, "pc: first and last byte\n");
	ksft_test_result(bee_table_pc(&table, 0x12ff) == none &&
			 bee_table_pc(&table, 0x3300) == none, "pc: bytes before and after\n");
	table.segments = two;
	table.nsegments = 2;
	ksft_test_result(bee_table_pc(&table, 0x32ff) == 0x4042ff &&
			 bee_table_pc(&table, 0x3300) == 0x405300 &&
			 bee_table_pc(&table, 0x3400) == none,
			 "pc: two segments that share a page\n");
	free(blob);
}

static void test_flips(const char *name, u8 *blob, size_t size)
{
	struct bee_table_error error;
	bool refused = true;
	unsigned int accepted = 0;
	size_t bit;

	for (bit = 0; bit < size * 8; bit++) {
		blob[bit / 8] ^= 1 << bit % 8;
		if (!validate_exact(blob, size, &error) || !error.why || !*error.why ||
		    error.offset > size) {
			ksft_print_msg("bit %zu: %s\n", bit, error.why ?: "accepted");
			refused = false;
		}
		blob[bit / 8] ^= 1 << bit % 8;
	}
	ksft_test_result(refused, "%s: each bit flipped: refused\n", name);

	for (bit = 0; bit < size * 8; bit++) {
		blob[bit / 8] ^= 1 << bit % 8;
		blob_fix_crc(blob, size);
		accepted += !validate_exact(blob, size, &error);
		blob[bit / 8] ^= 1 << bit % 8;
	}
	ksft_print_msg("%u of %zu flips with a good checksum accepted\n", accepted, size * 8);
	ksft_test_result(accepted && accepted < size * 8,
			 "%s: each bit flipped, good checksum: lookups in bounds\n", name);
	free(blob);
}

static void test_truncation(const char *name, u8 *blob, size_t full)
{
	u8 *longer = calloc(1, full + 8);
	struct bee_table_error error;
	bool refused = true;
	size_t size;

	memcpy(longer, blob, full);
	for (size = 0; size < full; size++)
		refused &= validate_exact(blob, size, &error) && error.offset <= size;
	ksft_test_result(refused, "%s: each truncation: refused\n", name);

	/* Tables cut at each byte, with the size and the checksum in the header made right again. */
	for (size = sizeof(struct bee_table_header); size < full; size++) {
		((struct bee_table_header *)blob)->size = cpu_to_le32(size);
		blob_fix_crc(blob, size);
		refused &= validate_exact(blob, size, &error) && error.offset <= size;
	}
	ksft_test_result(refused, "%s: each truncation, good size and checksum: refused\n", name);
	ksft_test_result(validate_exact(longer, full + 1, &error), "%s: one byte more: refused\n",
			 name);
	free(longer);
	free(blob);
}

/*
 * THIRD_ADD and those after it are the third example with another addend, FP offset, a register that
 * a callee saves, the first one without head phrases, and the list.
 */
enum { FIRST, SECOND, THIRD, THIRD_ADD, THIRD_FP, THIRD_SAVED, HEADLESS, LIST };

/* After @value is written over @size bytes at @at of an example, the validator must say @why. */
struct damage {
	size_t		 at;
	unsigned int	 size;
	u64		 value;
	const char	*why;
	u64		 offset;
	int		 example;
};

#define HEADER(field)	offsetof(struct bee_table_header, field)
#define SEGMENT(field)	(EXAMPLE_SEGMENTS_AT + offsetof(struct bee_table_segment, field))
#define CLASS(n)	(HEADER(classes) + 2 * (n))
#define RULE(n)		(EXAMPLE_RULES_AT + 4 * (n))
#define PAGE(n)		(EXAMPLE_PAGES_AT + 4 * (n))
#define NPHRASES(k, n)	(HEADER(nphrases) + 16 * (k) + 2 * ((n) - 1))
#define NSHAPES(k, n)	(HEADER(nshapes) + 16 * (k) + 2 * ((n) - 1))
#define FULL(field)	(THIRD_FULL_AT + offsetof(struct bee_table_rule, field))
#define RECORD		EXAMPLE_RECORD_AT

static const struct damage damages[] = {
	{ HEADER(magic), 4, 0x42454554, "made for the other byte order", 0 },
	{ HEADER(magic), 4, 0x464c457f, "not an unwind table (bad magic)", 0 },
	{ HEADER(version), 2, 1, "another version of the table format", 4 },
	{ HEADER(version), 2, 3, "another version of the table format", 4 },
	{ HEADER(version), 2, 7, "another version of the table format", 4 },
	{ HEADER(machine), 2, 183, "made for another architecture", 6 },
	{ HEADER(size), 4, EXAMPLE_SIZE - 1, "truncated, or longer than its header says", 8 },
	{ HEADER(flags), 1, 8, "unknown table flags", 55 },
	{ HEADER(flags), 1, 128, "unknown table flags", 55 },
	{ HEADER(span), 4, 0, "text interval out of range", 32 },
	{ HEADER(span), 4, 0xfff00001, "text interval out of range", 32 },
	{ HEADER(base), 8, -16ull, "text interval out of range", 32 },
	{ HEADER(nrows), 4, 0, "no rows", 36 },
	{ HEADER(nrules), 2, 0, "no rules", 40 },
	{ HEADER(id_type), 1, 2, "unknown kind of file identity", 53 },
	{ HEADER(id_len), 1, 0, "bad length of the file identity", 54 },
	{ HEADER(id_len), 1, 33, "bad length of the file identity", 54 },
	{ HEADER(id_len), 1, 19, "bad length of the file identity", 54 },
	{ HEADER(nsegments), 1, 0, "number of segments out of range", 44 },
	{ HEADER(nsegments), 1, 65, "number of segments out of range", 44 },
	{ HEADER(window), 1, 7, "size of a window out of range", 45 },
	{ HEADER(window), 1, 14, "size of a window out of range", 45 },
	{ HEADER(page), 1, 6, "size of a page out of range", 46 },
	{ HEADER(grain), 1, 5, "grain of head tokens out of range", 47 },
	{ HEADER(border_bits), 1, 17, "width of a window's border out of range", 48 },
	{ HEADER(body_bits), 1, 2, "short body rules past the end of the dictionary", 49 },
	{ HEADER(body_bits), 1, 255, "short body rules past the end of the dictionary", 49 },
	{ HEADER(nmenus), 1, 0, "number of menus out of range", 50 },
	{ HEADER(nmenus), 1, 33, "number of menus out of range", 50 },
	{ HEADER(menu_bits), 1, 13, "size of a menu out of range", 51 },
	{ HEADER(menu_bits) + 1, 1, 13, "size of a menu out of range", 51 },
	{ HEADER(nrules), 2, 65535, "sections do not fit the table's size", 40 },
	{ HEADER(nfull), 2, 65535, "sections do not fit the table's size", 40 },
	{ HEADER(span), 4, 0xfff00000, "sections do not fit the table's size", 40 },
	{ NPHRASES(1, 8), 2, 65535, "sections do not fit the table's size", 40 },
	{ SEGMENT(size), 8, 0, "segments overlap, wrap or are empty", EXAMPLE_SEGMENTS_AT },
	{ SEGMENT(size), 8, -1ull, "segments overlap, wrap or are empty", EXAMPLE_SEGMENTS_AT },
	{ SEGMENT(vaddr), 8, -1ull, "segments overlap, wrap or are empty", EXAMPLE_SEGMENTS_AT },
	{ SEGMENT(offset), 8, -1ull, "segments overlap, wrap or are empty", EXAMPLE_SEGMENTS_AT },
	{ RULE(0), 4, 1u << 27, "rule with a menu that does not exist", RULE(0) },
	{ RULE(1), 4, 3 | 1 << 17, "unused rule field not zero", RULE(1) },
	{ RULE(1), 4, 2 | 1 << 17, "unused rule field not zero", RULE(1) },
	{ RULE(1), 4, 2, "full rule past the end of the dictionary", RULE(1) },
	{ RULE(1), 4, 3 | 11 << 2, "unknown reason of an unsupported rule", RULE(1) },
	{ RULE(0), 4, 0x7ff1 << 2, "CFA offset of a simple rule out of range", RULE(0) },
	{ CLASS(0), 1, 0xa4, "unknown class flags", CLASS(0) },
	{ CLASS(0), 1, 0x85, "class with gaps wider than a window", CLASS(0) },
	{ CLASS(9), 1, 0x49, "class with gaps wider than a window", CLASS(9) },
	{ CLASS(0) + 1, 1, 1, "class with a wrong width of phrase numbers", CLASS(0) },
	{ CLASS(1), 2, 0x148, "class with places past the end of a menu", CLASS(1) },
	{ NPHRASES(0, 1), 2, 0, "class of a kind without phrases", CLASS(0) },
	{ NSHAPES(0, 1), 2, 0, "numbers of phrases and shapes contradict each other",
	  NSHAPES(0, 1) },
	{ NSHAPES(1, 3), 2, 2, "numbers of phrases and shapes contradict each other", NSHAPES(1, 3),
	  SECOND },
	{ EXAMPLE_HEADS_AT + 1, 1, 0x22, "op with a rule that does not exist",
	  EXAMPLE_HEADS_AT + 1 },
	{ THIRD_HEADS_AT, 1, 0x07, "head phrase with a body rule that does not exist",
	  THIRD_HEADS_AT, THIRD },
	{ PAGE(0), 4, 5, "page with a rule that does not exist", PAGE(0) },
	{ PAGE(0), 4, 1 << 4, "page records are not back to back", PAGE(0) },
	{ PAGE(0), 4, 1 << 1, "page with borders of less than no bits", PAGE(0) },
	{ PAGE(0), 4, 6 << 1, "page with borders of less than no bits", PAGE(0), SECOND },
	{ PAGE(0), 4, 1, "end of the table is not zero", RECORD },
	{ EXAMPLE_SIZE - 1, 1, 1, "end of the table is not zero", EXAMPLE_SIZE - 8 },
	{ RECORD, 1, 0x0f, "page record without windows, or past the end", RECORD },
	{ RECORD, 1, 0x29, "page record without windows, or past the end", RECORD },
	{ SECOND_RECORD_AT + 2, 1, 0x00, "windows of a page overlap or leave it", SECOND_RECORD_AT,
	  SECOND },
	{ SECOND_RECORD_AT + 2, 1, 0x1f, "windows of a page overlap or leave it", SECOND_RECORD_AT,
	  SECOND },
	{ RECORD, 1, 0x10, "window too short for its body rule", RECORD + 2 },
	{ THIRD_RECORD_AT, 1, 0x14, "window too short for its body rule",
	  THIRD_RECORD_AT + 2, THIRD },
	{ RECORD, 1, 0x12, "window that ends inside a token", RECORD + 2 },
	{ RECORD, 1, 0x23, "window that ends inside a token", RECORD + 2 },
	{ HEADER(menu_bits), 1, 1, "menu of a kind without phrases", HEADER(menu_bits), HEADLESS },
	{ THIRD_HEAD_MENU_AT, 1, 1, "menu names a phrase that does not exist", THIRD_HEAD_MENU_AT,
	  THIRD },
	{ THIRD_HEAD_MENU_AT, 1, 8, "menu names a phrase that does not exist", THIRD_HEAD_MENU_AT,
	  THIRD },
	{ THIRD_HEAD_MENU_AT + 2, 1, 1, "menu with another body rule than its phrase",
	  THIRD_HEAD_MENU_AT, THIRD },
	{ THIRD_STEP_MENU_AT + 2, 1, 24, "menu names a phrase that does not exist",
	  THIRD_STEP_MENU_AT + 2, THIRD },
	{ THIRD_STEPS_AT, 1, 0x27, "phrase with a shape that does not exist",
	  THIRD_STEPS_AT, THIRD },
	{ THIRD_RECORD_AT + 3, 1, 0xe2, "token with a phrase that does not exist",
	  THIRD_RECORD_AT + 2, THIRD },
	{ THIRD_RECORD_AT + 2, 1, 0xb9, "window with a body rule that does not exist",
	  THIRD_RECORD_AT + 2, THIRD },
	{ FULL(flags), 1, 2, "unknown rule flags", THIRD_FULL_AT, THIRD },
	{ FULL(reserved), 1, 1, "unknown rule flags", THIRD_FULL_AT, THIRD },
	{ FULL(cfa), 1, 6, "unknown CFA rule", THIRD_FULL_AT, THIRD },
	{ FULL(cfa_reg), 1, 16, "CFA register out of range", THIRD_FULL_AT, THIRD },
	{ FULL(cfa), 1, 0, "unused CFA field not zero", THIRD_FULL_AT, THIRD_ADD },
	{ FULL(fp), 2, 0, "unused FP field not zero", THIRD_FULL_AT, THIRD_FP },
	{ FULL(cfa), 2, 0x602, "PLT rule with other constants than 9 to 11", THIRD_FULL_AT, THIRD },
	{ FULL(cfa), 2, 0x002, "PLT rule with other constants than 9 to 11", THIRD_FULL_AT, THIRD },
	{ FULL(fp), 1, 5, "unknown FP rule", THIRD_FULL_AT, THIRD },
	{ FULL(fp_reg), 1, 16, "FP register out of range", THIRD_FULL_AT, THIRD },
	{ FULL(fp), 1, 1, "FP register out of range", THIRD_FULL_AT, THIRD },
	{ FULL(cfa_off), 4, 0, "register saved by a callee, but not below its frame", THIRD_FULL_AT,
	  THIRD_SAVED },
	{ FULL(ra), 1, 5, "unknown RA rule", THIRD_FULL_AT, THIRD },
	{ FULL(ra_reg), 1, 1, "RA register out of range", THIRD_FULL_AT, THIRD },
	{ FULL(ra), 2, 0x1002, "RA register out of range", THIRD_FULL_AT, THIRD },
	{ FULL(ra), 1, 3, "unused RA field not zero", THIRD_FULL_AT, THIRD },
	{ HEADER(nrules), 2, 1, "list with fields of windows", 46, LIST },
	{ HEADER(page), 1, 1, "list with fields of windows", 46, LIST },
	{ HEADER(menu_bits) + 1, 1, 1, "list with fields of windows", 46, LIST },
	{ CLASS(0), 1, 1, "list with fields of windows", 46, LIST },
	{ NSHAPES(1, 8) + 1, 1, 1, "list with fields of windows", 46, LIST },
	{ HEADER(window), 1, 8, "no rules", 40, LIST },
	{ HEADER(nrows), 4, 3, "rows of a list do not fit the table's size", 36, LIST },
	{ HEADER(nrows), 4, 5, "rows of a list do not fit the table's size", 36, LIST },
	{ HEADER(nrows), 4, ~0u, "rows of a list do not fit the table's size", 36, LIST },
	{ HEADER(nfull), 2, 2, "rows of a list do not fit the table's size", 36, LIST },
	{ SEGMENT(size), 8, 0, "segments overlap, wrap or are empty", EXAMPLE_SEGMENTS_AT, LIST },
	{ FULL(cfa), 1, 255, "unknown CFA rule", THIRD_FULL_AT, LIST },
	{ LIST_ROW(0), 4, 1, "rows of a list do not ascend within its text", LIST_ROW(0), LIST },
	{ LIST_ROW(1), 4, 0, "rows of a list do not ascend within its text", LIST_ROW(1), LIST },
	{ LIST_ROW(2), 4, 1, "rows of a list do not ascend within its text", LIST_ROW(2), LIST },
	{ LIST_ROW(3), 4, 0x51, "rows of a list do not ascend within its text", LIST_ROW(3), LIST },
	{ LIST_ROW(1) + 4, 4, 1u << 27, "rule with a menu that does not exist", LIST_ROW(1) + 4,
	  LIST },
	{ LIST_ROW(3) + 4, 4, 2 | 1 << 2, "full rule past the end of the dictionary",
	  LIST_ROW(3) + 4, LIST },
};

static u8 *damaged_example(int example, size_t *size)
{
	u8 *blob = example == FIRST ? blob_example() :
		   example == SECOND ? blob_second() :
		   example == LIST ? blob_list() : blob_third();

	*size = example == FIRST ? EXAMPLE_SIZE : example == SECOND ? SECOND_SIZE :
		example == LIST ? LIST_SIZE : THIRD_SIZE;
	if (example == THIRD_ADD)
		blob[FULL(cfa_add)] = 8;
	if (example == THIRD_FP)
		blob[FULL(fp_off)] = 8;
	if (example == THIRD_SAVED)
		blob[FULL(cfa)] = BEE_CFA_SAVED;
	if (example == HEADLESS)
		blob[NPHRASES(0, 1)] = blob[NSHAPES(0, 1)] = 0;
	return blob;
}

static void test_damage(const struct damage *d)
{
	size_t size;
	u8 *blob = damaged_example(d->example, &size);
	struct bee_table_error error;
	__le64 value = cpu_to_le64(d->value);
	bool good;

	memcpy(blob + d->at, &value, d->size);
	blob_fix_crc(blob, size);
	good = validate_exact(blob, size, &error) && !strcmp(error.why, d->why) &&
	       error.offset == d->offset;
	if (!good)
		ksft_print_msg("got \"%s\" at %llu\n", error.why ?: "accepted",
			       (unsigned long long)error.offset);
	ksft_test_result(good, "byte %zu = %#llx: %s\n", d->at, (unsigned long long)d->value,
			 d->why);
	free(blob);
}

/* A window with one token more than a lookup may have to pass; each token is only a tag. */
static void test_too_many_tokens(void)
{
	const size_t ntokens = BEE_TABLE_MAX_TOKENS + 1, end = 16 + 2 + 4 * ntokens;
	const size_t size = THIRD_RECORD_AT + (end + 7) / 8 + BEE_TABLE_PAD;
	u8 *third = blob_third(), *blob = calloc(1, size);
	struct bee_table_header *h = (void *)blob;
	struct bee_table_error error;
	size_t i;

	memcpy(blob, third, THIRD_RECORD_AT + 2);
	blob_set_classes(blob, 0x40, 0x40);
	for (i = 0; i < BEE_TABLE_CLASSES; i++)
		h->classes[i].id = 0;
	h->size = cpu_to_le32(size);
	blob[THIRD_RECORD_AT] = end & 0xff;
	blob[THIRD_RECORD_AT + 1] = end >> 8;
	blob_fix_crc(blob, size);
	ksft_test_result(validate_exact(blob, size, &error) &&
			 !strcmp(error.why, "window with too many tokens") &&
			 error.offset == THIRD_RECORD_AT + 2, "a window with too many tokens: refused\n");
	/* One token fewer is accepted.  Two zero bits begin the window: a short body rule number. */
	blob[THIRD_RECORD_AT] = (16 + 2 + 4 * BEE_TABLE_MAX_TOKENS) & 0xff;
	blob[THIRD_RECORD_AT + 1] = (16 + 2 + 4 * BEE_TABLE_MAX_TOKENS) >> 8;
	blob_fix_crc(blob, size);
	ksft_test_result(!validate_exact(blob, size, &error),
			 "as many tokens as there may be in a window: accepted\n");
	free(blob);
	free(third);
}

static void test_too_large(void)
{
	size_t size = (size_t)BEE_TABLE_MAX_SIZE + 1;
	u8 *blob = blob_example(), *large = calloc(1, size);
	struct bee_table_error error = {};
	struct bee_table table;

	memcpy(large, blob, EXAMPLE_SIZE);
	((struct bee_table_header *)large)->size = cpu_to_le32(size);
	bee_table_validate(large, size, &table, &error);
	note_reason(error.why);
	ksft_test_result(!strcmp(error.why, "larger than a table may be"), "a table larger than may be: refused\n");
	free(large);
	free(blob);
}

static void test_reasons_met(void)
{
	bool all = NREASONS > 20;
	size_t i;

	for (i = 0; i < NREASONS; i++) {
		if (reason_met[i])
			continue;
		ksft_print_msg("never given: \"%s\"\n", all_reasons[i]);
		all = false;
	}
	ksft_test_result(all, "each of the validator's %zu reasons was given\n", NREASONS);
}

int main(void)
{
	const size_t ndamages = sizeof(damages) / sizeof(damages[0]);
	size_t i;

	ksft_print_header();
	ksft_set_plan(5 + 3 * 3 + 3 + 4 * 5 + ndamages + 4);
	test_example("first", blob_example(), EXAMPLE_SIZE, first_rows);
	test_example("second", blob_second(), SECOND_SIZE, second_rows);
	test_list();
	test_is_one();
	test_pc();
	test_flips("first", blob_example(), EXAMPLE_SIZE);
	test_flips("second", blob_second(), SECOND_SIZE);
	test_flips("third", blob_third(), THIRD_SIZE);
	test_flips("list", blob_list(), LIST_SIZE);
	test_truncation("first", blob_example(), EXAMPLE_SIZE);
	test_truncation("second", blob_second(), SECOND_SIZE);
	test_truncation("third", blob_third(), THIRD_SIZE);
	test_truncation("list", blob_list(), LIST_SIZE);
	for (i = 0; i < ndamages; i++)
		test_damage(&damages[i]);
	test_too_many_tokens();
	test_too_large();
	test_reasons_met();
	ksft_finished();
}
