// SPDX-License-Identifier: GPL-2.0
/*
 * Rows made from code, by proof (synth.c) and by the ABI (abi.c), compared with the CFI of the same
 * code: the CFI of stock files is put aside, and all of their text taken for a gap.  No row may say
 * anything else than the CFI.
 *
 *	synth_test [FILE...]
 *
 * CFA = rsp + n and CFA = rbp + m are not compared with each other, but counted.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi.h"
#include "coverage.h"
#include "eh_frame.h"
#include "insn.h"
#include "kselftest.h"
#include "order.h"
#include "padding.h"
#include "rule_text.h"
#include "synth.h"

#define SHOWN	10

static char *const files[] = {
	"/lib/x86_64-linux-gnu/libc.so.6",
	"/lib/x86_64-linux-gnu/libm.so.6",
	"/lib64/ld-linux-x86-64.so.2",
	"/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
	"/usr/lib/x86_64-linux-gnu/libgmp.so.10",
	"/usr/lib/x86_64-linux-gnu/libglib-2.0.so.0",
	"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
	"/usr/lib/x86_64-linux-gnu/libgfortran.so.5",
	"/usr/lib/x86_64-linux-gnu/libgnat-12.so",
	"/usr/bin/bash",
	"/usr/bin/git",
	NULL,
};

/**
 * struct tally - bytes of text by how the two agree
 * @same: they say the same
 * @weaker: the CFI knows rbp, the row does not
 * @other: the CFA is based on another register
 * @no_cfi: there is no CFI, or none that a table can hold, or it is of a signal frame
 * @refuted: the code shows that it is the CFI that is wrong: cfi_is_refuted()
 * @wrong: they contradict each other
 * @text: all that has CFI
 * @shown: ranges printed
 */
struct tally {
	u64		same;
	u64		weaker;
	u64		other;
	u64		no_cfi;
	u64		refuted;
	u64		wrong;
	u64		text;
	unsigned int	shown;
};

static bool same_cfa(const struct bee_rule *a, const struct bee_rule *b)
{
	return a->cfa == b->cfa && a->cfa_reg == b->cfa_reg && a->cfa_off == b->cfa_off &&
	       a->cfa_add == b->cfa_add;
}

/* A CFI row of a call whose callee saves the CFA's register says what the row before it does. */
static struct bee_rule plain(const struct bee_rule *rule)
{
	struct bee_rule r = *rule;

	if (r.cfa == BEE_CFA_SAVED)
		r = (struct bee_rule){ .cfa_reg = r.cfa_reg, .cfa_off = r.cfa_add, .fp = r.fp,
				       .fp_off = r.fp_off, .ra = r.ra, .ra_off = r.ra_off };
	return r;
}

/* Has rbp been popped, as @a says, or is it still in the red zone, as @b says?  Both are right. */
static bool is_popped(const struct bee_rule *a, const struct bee_rule *b)
{
	return a->fp == BEE_FP_SAME && b->fp == BEE_FP_CFA && b->cfa == BEE_CFA_REG &&
	       b->cfa_reg == BEE_REG_RSP && -b->fp_off > b->cfa_off &&
	       -b->fp_off <= b->cfa_off + 128;
}

static u64 *tally_of(struct tally *t, const struct bee_rule *ours, const struct bee_rule *cfi)
{
	struct bee_rule theirs = plain(cfi);
	bool same_fp = ours->fp == theirs.fp && ours->fp_off == theirs.fp_off;

	if (cfi->kind != BEE_RULE_KNOWN || cfi->ra == BEE_RA_UNDEF || cfi->arg)
		return &t->no_cfi;
	if (cfi->ra == BEE_RA_REG)
		return &t->other;
	if (ours->ra != theirs.ra || ours->ra_off != theirs.ra_off)
		return &t->wrong;
	if (!same_cfa(ours, &theirs))
		return ours->cfa == theirs.cfa && ours->cfa_reg == theirs.cfa_reg ? &t->wrong : &t->other;
	if (same_fp || is_popped(ours, &theirs) || is_popped(&theirs, ours))
		return &t->same;
	return ours->fp == BEE_FP_UNDEF || theirs.fp == BEE_FP_UNDEF ? &t->weaker : &t->wrong;
}

static void show(struct tally *t, u64 start, u64 end, const struct bee_rule *ours,
		 const struct bee_rule *theirs)
{
	char a[RULE_TEXT_MAX], b[RULE_TEXT_MAX];

	if (t->shown++ < SHOWN)
		ksft_print_msg("%#llx-%#llx: CFI %s, row %s\n", (unsigned long long)start,
			       (unsigned long long)end, rule_format(theirs, a),
			       rule_format(ours, b));
}

static int fde_order(const void *a, const void *b)
{
	const struct fde *x = a, *y = b;

	return order(x->begin, y->begin);
}

/* @list: ascending */
static const struct fde *find_fde(const struct fde_list *list, u64 pc)
{
	size_t upto = order_upto(list->fdes, list->nfdes, sizeof(*list->fdes),
				 offsetof(struct fde, begin), pc);

	return upto && pc < list->fdes[upto - 1].end ? &list->fdes[upto - 1] : NULL;
}

static bool is_bare(const struct fde *fde)
{
	size_t k;

	for (k = 0; k < fde->size; k++)
		if (fde->insns[k])
			return false;
	return true;
}

static const struct bee_rule *rule_at(const struct row_set *rows, u64 pc)
{
	size_t upto = order_upto(rows->rows, rows->nrows, sizeof(*rows->rows),
				 offsetof(struct row_start, pc), pc);

	return row_rule(rows, upto ? upto - 1 : 0);
}

/* Is the CFA rsp + n, with the same n before and behind this instruction, which moves rsp? */
static bool misses_move(const struct row_set *rows, u64 pc, const struct insn *insn)
{
	const struct bee_rule *before = rule_at(rows, pc), *behind = rule_at(rows, pc + insn->length);

	return insn->kind == INSN_LEA && insn->to == BEE_REG_RSP && insn->from == BEE_REG_RSP &&
	       insn->disp && same_cfa(before, behind) && before->kind == BEE_RULE_KNOWN &&
	       before->cfa == BEE_CFA_REG && before->cfa_reg == BEE_REG_RSP;
}

/*
 * Stock assembly has wrong CFI: FDEs without instructions for functions that push registers; another
 * CFA than rsp + 8 at a ret; rbp "the same" behind an instruction that writes it; no word of an
 * instruction that moves rsp (libcrypto of OpenSSL 3.5).
 */
static bool cfi_is_refuted(const struct elf_file *elf, const struct fde_list *list,
			   const struct row_set *rows, u64 at, const struct bee_rule *theirs)
{
	const struct fde *fde = find_fde(list, at);
	struct insn insn;
	u64 pc;

	if (!fde)
		return false;
	if (is_bare(fde))
		return true;
	if (insn_read(elf, at, fde->end, &insn) && insn.kind == INSN_RET &&
	    (theirs->cfa != BEE_CFA_REG || theirs->cfa_reg != BEE_REG_RSP || theirs->cfa_off != 8))
		return true;
	for (pc = fde->begin; pc < fde->end; pc += insn.length) {
		if (!insn_read(elf, pc, fde->end, &insn))
			return false;
		if (misses_move(rows, pc, &insn) ||
		    (theirs->fp == BEE_FP_SAME && insn.kind != INSN_POP &&
		     insn.writes & 1 << BEE_REG_RBP))
			return true;
	}
	return false;
}

static void compare(const struct elf_file *elf, const struct synth *synth,
		    const struct row_set *rows, const struct fde_list *list, struct tally *t)
{
	size_t i, row = 0;

	for (i = 0; i < synth->nranges; i++) {
		const struct synth_range *range = &synth->ranges[i];
		u64 at = range->start, stop;

		for (; at < range->end; at = stop) {
			u64 *count = &t->no_cfi;

			while (row + 1 < rows->nrows && rows->rows[row + 1].pc <= at)
				row++;
			stop = row_end(rows, row);
			if (at < rows->rows[0].pc)
				stop = rows->rows[0].pc;
			else if (at >= rows->end)
				stop = range->end;
			else
				count = tally_of(t, &range->rule, row_rule(rows, row));
			if (stop > range->end)
				stop = range->end;
			/* No control comes to padding. */
			if (count == &t->wrong && padding_fills(elf, at, stop))
				count = &t->no_cfi;
			if (count == &t->wrong && cfi_is_refuted(elf, list, rows, at, row_rule(rows, row)))
				count = &t->refuted;
			*count += stop - at;
			if (count == &t->wrong)
				show(t, at, stop, &range->rule, row_rule(rows, row));
		}
	}
}

typedef void (*make_fn)(const struct synth_input *input, struct synth *synth);

static bool test_elf(const struct elf_file *elf, const char *path, make_fn make, u64 *proven)
{
	/* Compiled code is not what it is for: libm needs 27, libc 30, ld.so of Debian 13 more. */
	struct synth_input input = { .elf = elf, .patience = 400 };
	struct elf_segment *sections;
	struct code_gap *gaps;
	struct row_set rows;
	struct tally t = {};
	struct bee_error why;
	struct fde_list list;
	struct synth synth;
	size_t i, n;

	if (coverage_cfi_rows(elf, &rows, &why)) {
		ksft_print_msg("%s: %s\n", path, why.text);
		row_set_free(&rows);
		return false;
	}
	n = elf_code_sections(elf, &sections);
	gaps = calloc(n + 1, sizeof(*gaps));
	for (i = 0; i < n; i++)
		gaps[i] = (struct code_gap){ sections[i].vaddr,
					      sections[i].vaddr + sections[i].size };
	input.gaps = gaps;
	input.ngaps = n;
	make(&input, &synth);
	eh_frame_read(elf, &list);
	qsort(list.fdes, list.nfdes, sizeof(*list.fdes), fde_order);
	compare(elf, &synth, &rows, &list, &t);
	eh_frame_free(&list);
	for (i = 0; i < rows.nrows; i++)
		if (row_rule(&rows, i)->kind == BEE_RULE_KNOWN)
			t.text += row_end(&rows, i) - rows.rows[i].pc;
	ksft_print_msg("%s: of %llu bytes with CFI %llu the same, %llu without rbp, "
		       "%llu by another register, %llu wrong; %llu bytes without CFI, %llu with "
		       "wrong CFI\n", path,
		       (unsigned long long)t.text, (unsigned long long)t.same,
		       (unsigned long long)t.weaker, (unsigned long long)t.other,
		       (unsigned long long)t.wrong, (unsigned long long)t.no_cfi,
		       (unsigned long long)t.refuted);
	*proven = t.same;
	synth_free(&synth);
	row_set_free(&rows);
	free(gaps);
	free(sections);
	return !t.wrong;
}

static void test_file(const char *path, make_fn make, const char *how)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct bee_error why = {};
	struct elf_file elf;
	u64 proven = 0;

	if (fd < 0) {
		ksft_test_result_skip("%s: %s # SKIP not installed\n", how, path);
		return;
	}
	if (elf_open(&elf, fd, &why))
		ksft_test_result_fail("%s: %s: %s\n", how, path, why.text);
	else
		ksft_test_result(test_elf(&elf, path, make, &proven) && proven, "%s: %s\n", how,
				 path);
	elf_close(&elf);
	close(fd);
}

int main(int argc, char **argv)
{
	char *const *list = argc > 1 ? argv + 1 : files;
	unsigned int n = 0;

	while (list[n])
		n++;
	ksft_print_header();
	ksft_set_plan(2 * n);
	for (; *list; list++) {
		test_file(*list, synth_make, "proven");
		test_file(*list, abi_make, "by the ABI");
	}
	ksft_finished();
}
