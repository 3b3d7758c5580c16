// SPDX-License-Identifier: GPL-2.0
/*
 * The comparison with libdw of the table of a stock file: first as it is, then with one row at a
 * time changed as by a wrong compiler.  It must find that change, and no other difference.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "compare.h"
#include "compile.h"
#include "coverage.h"
#include "kselftest.h"
#include "random.h"

#define FILE_NAME	"/lib64/ld-linux-x86-64.so.2"
#define TRIES		12

/* Compare the table of @rows with libdw.  Return: false if the rows give no table. */
static bool verify_rows(const struct elf_file *elf, const struct row_set *rows,
			struct compare_result *result)
{
	struct bee_table_error error;
	struct bee_table table;
	struct bee_error why = {};
	size_t size;
	void *blob = compile_encode(elf, rows, &size, &why);

	*result = (struct compare_result){ .max_shown = 100 };
	if (!blob || bee_table_validate(blob, size, &table, &error)) {
		ksft_print_msg("no table: %s\n", blob ? error.why : why.text);
		free(blob);
		return false;
	}
	compare_file(elf, &table, result);
	free(blob);
	return true;
}

static bool mutate_cfa_off(struct bee_rule *row)
{
	row->cfa_off += 8;
	return row->cfa != BEE_CFA_PLT;
}

static bool mutate_cfa_reg(struct bee_rule *row)
{
	row->cfa_reg ^= BEE_REG_RSP ^ BEE_REG_RBP;
	return row->cfa != BEE_CFA_PLT;
}

static bool mutate_cfa_deref(struct bee_rule *row)
{
	row->cfa = BEE_CFA_DEREF;
	return true;
}

/* As if the callee saved the register one word lower. */
static bool mutate_callee(struct bee_rule *row)
{
	row->cfa_off -= 8;
	return row->cfa == BEE_CFA_SAVED;
}

/* Not a row of CFA = rsp+8 or rsp+16: the PLT rule may give the same CFA there. */
static bool mutate_plt(struct bee_rule *row)
{
	bool other = row->cfa == BEE_CFA_REG && row->cfa_off > 16;

	row->cfa = BEE_CFA_PLT;
	row->cfa_reg = 0;
	row->cfa_off = 11;
	return other;
}

static bool mutate_fp_lost(struct bee_rule *row)
{
	bool had = row->fp == BEE_FP_CFA;

	row->fp = BEE_FP_SAME;
	row->fp_off = 0;
	return had;
}

static bool mutate_fp_off(struct bee_rule *row)
{
	row->fp_off -= 8;
	return row->fp == BEE_FP_CFA;
}

static bool mutate_fp_undef(struct bee_rule *row)
{
	bool had = row->fp == BEE_FP_SAME && row->ra != BEE_RA_UNDEF;

	row->fp = BEE_FP_UNDEF;
	return had;
}

static bool mutate_ra_off(struct bee_rule *row)
{
	row->ra_off += 8;
	return row->ra == BEE_RA_CFA;
}

static bool mutate_ra_undef(struct bee_rule *row)
{
	row->ra = BEE_RA_UNDEF;
	row->ra_off = 0;
	return true;
}

static bool mutate_signal(struct bee_rule *row)
{
	row->arg ^= BEE_RULE_SIGNAL;
	return true;
}

static bool mutate_gap(struct bee_rule *row)
{
	*row = (struct bee_rule){ .kind = BEE_RULE_GAP };
	return true;
}

static bool mutate_unsupported(struct bee_rule *row)
{
	*row = (struct bee_rule){ .kind = BEE_RULE_UNSUPPORTED, .arg = BEE_UNSUP_CFA_EXPR };
	return true;
}

static bool mutate_malformed(struct bee_rule *row)
{
	*row = (struct bee_rule){ .kind = BEE_RULE_UNSUPPORTED, .arg = BEE_UNSUP_CFI };
	return true;
}

static const struct mutation {
	const char	*name;
	bool		(*mutate)(struct bee_rule *row);
} mutations[] = {
	{ "another CFA offset", mutate_cfa_off },
	{ "another CFA register", mutate_cfa_reg },
	{ "CFA in memory", mutate_cfa_deref },
	{ "register saved elsewhere by a callee", mutate_callee },
	{ "CFA as in .plt", mutate_plt },
	{ "FP not saved", mutate_fp_lost },
	{ "FP saved elsewhere", mutate_fp_off },
	{ "FP undefined", mutate_fp_undef },
	{ "RA saved elsewhere", mutate_ra_off },
	{ "RA undefined", mutate_ra_undef },
	{ "signal frame", mutate_signal },
	{ "a gap", mutate_gap },
	{ "unsupported", mutate_unsupported },
	{ "malformed", mutate_malformed },
};

#define NMUTATIONS	(sizeof(mutations) / sizeof(mutations[0]))

/* Is the row from an FDE?  For text without FDE libdw has no rule to compare with. */
static bool row_has_fde(const struct row_set *rows, size_t i)
{
	const struct bee_rule *rule = &rows->rules[rows->rows[i].rule];

	return rule->kind == BEE_RULE_KNOWN && rule->ra != BEE_RA_UNDEF;
}

/* Choose a row that @mutation changes to a rule other than its own and its neighbours'. */
static size_t choose_row(struct row_set *rows, const struct mutation *mutation, u32 *rule)
{
	for (;;) {
		size_t i = 1 + random_u64() % (rows->nrows - 2);
		struct bee_rule row = rows->rules[rows->rows[i].rule];

		if (!row_has_fde(rows, i) || !mutation->mutate(&row))
			continue;
		*rule = row_set_intern(rows, &row);
		if (*rule != rows->rows[i].rule && *rule != rows->rows[i - 1].rule &&
		    *rule != rows->rows[i + 1].rule)
			return i;
	}
}

/* Are all differences in [@start, @end), and does the first begin at @start? */
static bool found_only(const struct compare_result *r, u64 start, u64 end)
{
	size_t i;

	if (!r->differences || !r->nshown || r->shown[0].start != start)
		return false;
	for (i = 0; i < r->nshown; i++)
		if (r->shown[i].start < start || r->shown[i].end > end)
			return false;
	return r->nshown < r->max_shown;
}

static bool report(const struct compare_result *r, u64 start, u64 end, bool good)
{
	size_t i;

	if (good)
		return true;
	ksft_print_msg("changed %#llx-%#llx, %llu differences\n", (unsigned long long)start,
		       (unsigned long long)end, (unsigned long long)r->differences);
	for (i = 0; i < r->nshown; i++)
		ksft_print_msg("%#llx-%#llx libdw %s table %s\n",
			       (unsigned long long)r->shown[i].start,
			       (unsigned long long)r->shown[i].end, r->shown[i].oracle,
			       r->shown[i].table);
	return false;
}

static bool mutation_is_found(const struct elf_file *elf, struct row_set *rows,
			      const struct mutation *mutation)
{
	bool good = true;
	unsigned int n;

	for (n = 0; good && n < TRIES; n++) {
		struct compare_result result;
		u32 rule, was;
		size_t i = choose_row(rows, mutation, &rule);
		u64 start = rows->rows[i].pc, end = row_end(rows, i);

		was = rows->rows[i].rule;
		rows->rows[i].rule = rule;
		good = verify_rows(elf, rows, &result) &&
		       report(&result, start, end, found_only(&result, start, end));
		compare_free(&result);
		rows->rows[i].rule = was;
	}
	return good;
}

/* Has row @i to be that of one instruction? */
static bool row_is_call(const struct row_set *rows, size_t i)
{
	return row_rule(rows, i)->cfa == BEE_CFA_SAVED;
}

/*
 * Let a row begin a byte too early or too late: one pc is wrong, the boundary or the one before.  If that is
 * the last byte of an FDE, the padding behind it is wrong, too, as it is to have that byte's rule.
 */
static bool shift_is_found(const struct elf_file *elf, struct row_set *rows, bool later)
{
	bool good = true;
	unsigned int n = 0;

	while (good && n < TRIES) {
		size_t i = 1 + random_u64() % (rows->nrows - 2);
		u64 pc = rows->rows[i].pc, start = later ? pc : pc - 1;
		struct compare_result result;

		if (row_end(rows, i) - pc < 2 || pc - rows->rows[i - 1].pc < 2 ||
		    !row_has_fde(rows, i) || !row_has_fde(rows, i - 1) ||
		    row_is_call(rows, i) || row_is_call(rows, i - 1))
			continue;
		rows->rows[i].pc = later ? pc + 1 : pc - 1;
		good = verify_rows(elf, rows, &result) &&
		       report(&result, start, start + 1,
			      found_only(&result, start, later ? row_end(rows, i) : start + 1));
		compare_free(&result);
		rows->rows[i].pc = pc;
		n++;
	}
	return good;
}

/* Without a table each pc is in a gap, so each row of libdw's must be a difference. */
static bool missing_table_is_found(const struct elf_file *elf)
{
	struct compare_result result = { .max_shown = 3 };
	struct bee_table none = {};
	bool good;

	compare_file(elf, &none, &result);
	good = result.nshown == 3 && result.differences > result.frames &&
	       !strcmp(result.shown[0].table, "gap");
	compare_free(&result);
	return good;
}

static bool sums_add_up(const struct elf_file *elf, const struct row_set *rows)
{
	struct compare_result one, sum = {};
	bool good;

	if (!verify_rows(elf, rows, &one))
		return false;
	compare_add(&sum, &one);
	compare_add(&sum, &one);
	good = sum.rows == 2 * one.rows && sum.pcs == 2 * one.pcs && sum.text == 2 * one.text &&
	       sum.nforms == one.nforms;
	compare_free(&one);
	compare_free(&sum);
	return good;
}

static bool is_clean(const struct elf_file *elf, const struct row_set *rows)
{
	struct compare_result result;
	bool good;

	if (!verify_rows(elf, rows, &result))
		return false;
	good = !result.differences && result.frames > 1000 && result.pcs >= 3 * result.frames &&
	       result.rows == rows->nrows;
	report(&result, 0, 0, good);
	compare_free(&result);
	return good;
}

int main(void)
{
	struct row_set rows = {};
	struct elf_file elf;
	struct bee_error why = {};
	size_t i;
	int fd;

	ksft_print_header();
	fd = open(FILE_NAME, O_RDONLY);
	if (fd < 0) {
		printf("1..0 # SKIP no %s\n", FILE_NAME);
		return KSFT_SKIP;
	}
	ksft_set_plan(NMUTATIONS + 5);
	if (elf_open(&elf, fd, &why) || coverage_rows(&elf, &rows, &why)) {
		ksft_print_msg("%s: no rows\n", FILE_NAME);
		return KSFT_FAIL;
	}
	ksft_test_result(is_clean(&elf, &rows), "verify finds no difference in a table as it is\n");
	for (i = 0; i < NMUTATIONS; i++)
		ksft_test_result(mutation_is_found(&elf, &rows, &mutations[i]), "%s\n",
				 mutations[i].name);
	ksft_test_result(shift_is_found(&elf, &rows, false), "verify finds a row too early\n");
	ksft_test_result(shift_is_found(&elf, &rows, true), "verify finds a row too late\n");
	ksft_test_result(missing_table_is_found(&elf), "verify finds that there is no table\n");
	ksft_test_result(sums_add_up(&elf, &rows), "results of verify add up\n");
	row_set_free(&rows);
	elf_close(&elf);
	close(fd);
	ksft_finished();
}
