/* SPDX-License-Identifier: GPL-2.0 */
/* Smaller tables that are not exact: what is left out, and what gets wrong by that. */
#ifndef BEE_LOSSY_H
#define BEE_LOSSY_H

#include <stdbool.h>

#include "elf.h"
#include "error.h"
#include "rows.h"

#define LOSSY_MAX_THIN	90

/**
 * struct lossy_options - what may be lost; all zero: nothing
 * @fp_bypass: the rows of functions that keep a frame pointer
 * @thin: this share of the rows, 0 .. LOSSY_MAX_THIN percent
 */
struct lossy_options {
	bool		fp_bypass;
	unsigned int	thin;
};

/**
 * struct lossy_report - what was lost
 * @text: bytes of text with rules
 * @wrong: of this, bytes that get another rule, or none
 * @edges: of @text, bytes in prologues and epilogues of functions left to the frame pointer
 * @edges_wrong: of these, where the walk does not notice that the frame pointer is not
 *	that of the frame
 * @functions: number of functions
 * @by_fp: of these, left to the frame pointer
 * @rows: number of rows before
 * @dropped: of these, left out by @thin
 */
struct lossy_report {
	u64	text;
	u64	wrong;
	u64	edges;
	u64	edges_wrong;
	size_t	functions;
	size_t	by_fp;
	size_t	rows;
	size_t	dropped;
};

int lossy_apply(const struct elf_file *elf, struct row_set *rows,
		const struct lossy_options *options, struct lossy_report *report,
		struct bee_error *error);
bool lossy_is_exact(const struct lossy_options *options);
const char *lossy_words(unsigned int flags);
bool lossy_rule_is_plain(const struct bee_rule *rule);
void lossy_replace_rows(struct row_set *rows, struct row_set *to);

#endif /* BEE_LOSSY_H */
