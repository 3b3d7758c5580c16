// SPDX-License-Identifier: GPL-2.0
/* Smaller tables that are not exact: what is common to lossy_fp.c and lossy_thin.c. */
#include "lossy.h"
#include "lossy_fp.h"
#include "lossy_thin.h"

/**
 * lossy_rule_is_plain() - is it a rule that compilers write for most code?
 * @r: the rule
 *
 * Return: true if CFA = rsp or rbp + n, RA is at CFA-8, and FP the same or saved at CFA + n.
 */
bool lossy_rule_is_plain(const struct bee_rule *r)
{
	return r->kind == BEE_RULE_KNOWN && !r->arg && r->cfa == BEE_CFA_REG &&
	       (r->cfa_reg == BEE_REG_RSP || r->cfa_reg == BEE_REG_RBP) &&
	       r->ra == BEE_RA_CFA && r->ra_off == -8 &&
	       (r->fp == BEE_FP_SAME || r->fp == BEE_FP_CFA);
}

/**
 * lossy_replace_rows() - put other rows in the place of a file's
 * @rows: changed
 * @to: the new rows, in the same functions; moved
 */
void lossy_replace_rows(struct row_set *rows, struct row_set *to)
{
	size_t i;

	for (i = 0; i < rows->nstarts; i++)
		row_set_add_start(to, rows->starts[i]);
	row_set_free(rows);
	*rows = *to;
}

/**
 * lossy_apply() - leave out what may be lost
 * @elf: the file
 * @rows: its rows; changed, and of no use after a failure
 * @options: what
 * @report: filled
 * @error: filled on failure
 *
 * Return: 0 or -1.
 */
int lossy_apply(const struct elf_file *elf, struct row_set *rows,
		const struct lossy_options *options, struct lossy_report *report,
		struct bee_error *error)
{
	size_t i;

	*report = (struct lossy_report){ .rows = rows->nrows };
	for (i = 0; i < rows->nrows; i++)
		if (row_rule(rows, i)->kind == BEE_RULE_KNOWN)
			report->text += row_end(rows, i) - rows->rows[i].pc;
	if (options->fp_bypass && lossy_fp_bypass(elf, rows, report, error))
		return -1;
	if (options->thin)
		lossy_thin(rows, options->thin, report);
	rows->flags = (options->fp_bypass ? BEE_TABLE_F_FP_BYPASS : 0) |
		      (options->thin ? BEE_TABLE_F_THINNED : 0);
	return 0;
}

/**
 * lossy_is_exact() - is nothing to be left out?
 * @options: the options
 *
 * Return: true if not.
 */
bool lossy_is_exact(const struct lossy_options *options)
{
	return !options->fp_bypass && !options->thin;
}

/**
 * lossy_words() - in what respect a table is not exact
 * @flags: BEE_TABLE_F_*
 *
 * Return: options of "beectl compile", or "" if it is exact.
 */
const char *lossy_words(unsigned int flags)
{
	static const char *const words[] = {
		[0] = "",
		[BEE_TABLE_F_FP_BYPASS] = "fp-bypass",
		[BEE_TABLE_F_THINNED] = "thin",
		[BEE_TABLE_F_FP_BYPASS | BEE_TABLE_F_THINNED] = "fp-bypass, thin",
	};

	return flags <= BEE_TABLE_F_ALL ? words[flags] : "unknown";
}
