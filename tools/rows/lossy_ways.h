/* SPDX-License-Identifier: GPL-2.0 */
/* The two ways to leave rows out, of lossy_fp.c and lossy_thin.c, and what both share. */
#ifndef BEE_LOSSY_WAYS_H
#define BEE_LOSSY_WAYS_H

#include "elf.h"
#include "error.h"
#include "rows.h"

/**
 * struct lossy_report - what was left out, and what is wrong because of that
 * @text: bytes of text with rules
 * @wrong: bytes of @text where the table leads to another caller
 * @edges: bytes of @text in prologues and epilogues of the functions of @by_fp
 * @edges_wrong: bytes of @edges where the walk takes the frame pointer for the frame's own, and
 *	it is not
 * @functions: number of functions
 * @by_fp: how many of @functions are left to the frame pointer
 * @rows: number of rows before
 * @dropped: how many of @rows thinning left out
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

int lossy_fp_bypass(const struct elf_file *elf, struct row_set *rows, struct lossy_report *report,
		    struct bee_error *error);
void lossy_thin(struct row_set *rows, unsigned int percent, struct lossy_report *report);

/*
 * Is it a rule that compilers write for most code?  That is: CFA = rsp or rbp + n, RA at CFA-8, and
 * FP the same or saved at CFA + n.
 */
static inline bool lossy_rule_is_plain(const struct bee_rule *r)
{
	return r->kind == BEE_RULE_KNOWN && !r->arg && r->cfa == BEE_CFA_REG &&
	       (r->cfa_reg == BEE_REG_RSP || r->cfa_reg == BEE_REG_RBP) &&
	       r->ra == BEE_RA_CFA && r->ra_off == -8 &&
	       (r->fp == BEE_FP_SAME || r->fp == BEE_FP_CFA);
}

#endif /* BEE_LOSSY_WAYS_H */
