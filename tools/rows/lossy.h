/* SPDX-License-Identifier: GPL-2.0 */
/* Smaller tables that are not exact. */
#ifndef BEE_LOSSY_H
#define BEE_LOSSY_H

#include "lossy_ways.h"

#define LOSSY_MAX_THIN	90

/**
 * struct lossy_options - what to leave out; all zero: nothing
 * @fp_bypass: the rows of functions that keep a frame pointer
 * @thin: percentage of rows to leave out, 0 .. LOSSY_MAX_THIN
 * @cfi_only: rows of code without CFI; @fp_bypass and @thin leave them out, too
 */
struct lossy_options {
	bool		fp_bypass;
	unsigned int	thin;
	bool		cfi_only;
};

int lossy_apply(const struct elf_file *elf, struct row_set *rows,
		const struct lossy_options *options, struct lossy_report *report,
		struct bee_error *error);
bool lossy_is_exact(const struct lossy_options *options);
const char *lossy_words(unsigned int flags);

#endif /* BEE_LOSSY_H */
