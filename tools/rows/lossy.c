// SPDX-License-Identifier: GPL-2.0
/* Smaller tables that are not exact: what the user asks for, and how a table says that. */
#include "lossy.h"

/**
 * lossy_apply() - leave out rows
 * @elf: the file
 * @rows: its rows; changed, and unusable after a failure
 * @options: which
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

/* lossy_is_exact(): do the options leave no row of the CFI out? */
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
		[BEE_TABLE_F_CFI_ONLY] = "cfi-only",
		[BEE_TABLE_F_CFI_ONLY | BEE_TABLE_F_FP_BYPASS] = "cfi-only, fp-bypass",
		[BEE_TABLE_F_CFI_ONLY | BEE_TABLE_F_THINNED] = "cfi-only, thin",
		[BEE_TABLE_F_ALL] = "cfi-only, fp-bypass, thin",
	};

	return flags <= BEE_TABLE_F_ALL ? words[flags] : "unknown";
}
