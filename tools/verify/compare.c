// SPDX-License-Identifier: GPL-2.0
/*
 * Compare a table with what libdw makes of the file's CFI, over all text.
 *
 * Text is cut into pieces wherever libdw's answer or the table's row changes.  Each piece is
 * compared at its first byte, in the middle and at its last byte.  Both sides are computed with
 * the same made-up registers and memory (eval.h), so only what rules yield counts, not how
 * they are written.  Where libdw has no CFA, behind some expressions, and of empty expressions, judge.c
 * says it.  A rule that takes a register from the frame of a callee is also compared with all that libdw
 * says of the callee.
 *
 * In five cases the table does not say what the CFI does, and has to say exactly this: padding
 * between functions has the rule of the byte before it, code at the entry point without an FDE is
 * outermost, and so is an endbr64 there for which the CFI has a row of its own, other code without an FDE
 * has the rows that the compiler makes of it (selftests/system/synth_test.c compares such rows with CFI),
 * and glibc's swapcontext() and __start_context, whose CFI is wrong, have the rules of ucontext.c.
 * Functions of Go are left out: their rows are from Go's own table, which libdw does not read.
 */
#include <string.h>

#include "alloc.h"
#include "compare.h"
#include "coverage.h"
#include "eh_frame.h"
#include "entry.h"
#include "gopclntab.h"
#include "insn.h"
#include "judge.h"
#include "order.h"
#include "padding.h"
#include "ucontext.h"

/* Pcs after which the expression that linkers write for .plt yields the same again. */
#define PLT_PCS		16

/*
 * libdw does not say where text without FDE ends.  So it is asked at every byte, and after this
 * many bytes at every 16th and where an FDE begins: data in executable segments can be megabytes.
 */
#define ASK_BYTES	256

/* Text of FDEs that overlap: [@start, @end). */
struct overlap {
	u64	start;
	u64	end;
};

/**
 * struct compare - a comparison under way, in ascending order of pcs
 * @elf: the file
 * @table: its table
 * @oracle: the file's CFI
 * @result: what has been found
 * @entry: where the file is started, or 0
 * @regs: made-up registers, with rip at the pc
 * @row_end: end of the table's row that was looked at last
 * @go: Go's function table
 * @list: FDEs, ascending by begin
 * @damaged: .eh_frame_hdr is, in which libdw searches
 * @next_fde: index of the first FDE that begins behind the pc
 * @overlaps: text of FDEs that overlap, ascending
 * @noverlaps: entries in @overlaps
 * @room_overlaps: overlaps there is memory for
 * @next_overlap: index of the first overlap that ends behind the pc
 * @rows: what the compiler makes of the file again, for text without FDE
 */
struct compare {
	const struct elf_file	*elf;
	const struct bee_table	*table;
	struct libdw		*oracle;
	struct compare_result	*result;
	u64			 entry;
	u64			 regs[EVAL_REGS];
	u64			 row_end;
	struct gopclntab	 go;
	struct fde_list		 list;
	bool			 damaged;
	size_t			 next_fde;
	struct overlap		*overlaps;
	size_t			 noverlaps;
	size_t			 room_overlaps;
	size_t			 next_overlap;
	struct row_set		 rows;
};

static struct eval_value value_saved(u64 address)
{
	return eval_known(eval_read(address));
}

/* Compute the frame that a rule of kind BEE_RULE_KNOWN yields. */
static void rule_compute(const struct bee_rule *rule, const u64 *regs, struct eval_frame *frame)
{
	u64 cfa = 0;

	*frame = (struct eval_frame){
		.fp = { .how = EVAL_UNDEFINED }, .ra = { .how = EVAL_UNDEFINED },
		.signal = rule->arg & BEE_RULE_SIGNAL,
	};
	switch (rule->cfa) {
	case BEE_CFA_REG:
		cfa = regs[rule->cfa_reg] + rule->cfa_off;
		break;
	case BEE_CFA_DEREF:
		cfa = eval_read(regs[rule->cfa_reg] + rule->cfa_off) + rule->cfa_add;
		break;
	case BEE_CFA_INDEX:
		cfa = regs[rule->cfa_reg & 15] + 8 * regs[rule->cfa_reg >> 4] + rule->cfa_off;
		cfa = eval_read(cfa) + rule->cfa_add;
		break;
	case BEE_CFA_DEREF2:
		cfa = eval_read(regs[rule->cfa_reg & 15] + rule->cfa_off);
		cfa = eval_read(cfa + 8 * (rule->cfa_reg >> 4)) + rule->cfa_add;
		break;
	case BEE_CFA_SAVED:
		cfa = regs[rule->cfa_reg] + rule->cfa_add;
		break;
	case BEE_CFA_PLT:
		cfa = regs[BEE_REG_RSP] + 8 + ((regs[EVAL_RIP] & 15) >= rule->cfa_off ? 8 : 0);
		break;
	}
	frame->cfa = eval_known(cfa);
	frame->sp = frame->cfa;
	switch (rule->fp) {
	case BEE_FP_SAME:
		frame->fp = eval_known(regs[BEE_REG_RBP]);
		break;
	case BEE_FP_CFA:
		frame->fp = value_saved(cfa + rule->fp_off);
		break;
	case BEE_FP_DEREF:
		frame->fp = value_saved(regs[rule->fp_reg] + rule->fp_off);
		break;
	case BEE_FP_REG:
		frame->fp = eval_known(regs[rule->fp_reg]);
		break;
	}
	switch (rule->ra) {
	case BEE_RA_CFA:
		frame->ra = value_saved(cfa + rule->ra_off);
		break;
	case BEE_RA_DEREF:
		frame->ra = value_saved(regs[rule->ra_reg] + rule->ra_off);
		break;
	case BEE_RA_REG:
		frame->ra = eval_known(regs[rule->ra_reg]);
		break;
	case BEE_RA_IP:
		frame->ra = eval_known(regs[EVAL_RIP] + rule->ra_off);
		break;
	}
}

static bool value_is_same(const struct eval_value *a, const struct eval_value *b)
{
	return a->how == b->how && a->bits == b->bits && a->how != EVAL_UNKNOWN;
}

/* The last FDE of the file's list that begins at or before @pc, if it describes @pc. */
static const struct fde *compare_find_fde(const struct compare *c, u64 pc)
{
	const struct fde *fdes = c->list.fdes;
	size_t upto = order_upto(fdes, c->list.nfdes, sizeof(*fdes), offsetof(struct fde, begin),
				 pc);

	return upto && fdes[upto - 1].end > pc ? &fdes[upto - 1] : NULL;
}

/*
 * libdw has a frame at @pc, which holds up to @end as libdw says.  Where it refuses the CFA, take
 * that of the second judge, if it has one; so of registers with an empty expression.
 * Return: the end, not after that of the FDE; libdw goes by the instructions alone, which can advance
 * further.
 */
static u64 compare_complete(struct compare *c, u64 pc, u64 end)
{
	const struct fde *fde = compare_find_fde(c, pc);
	struct judge judge;

	if (!fde)
		return end;
	if (libdw_refuses_cfa(c->oracle) || libdw_has_undefined(c->oracle)) {
		judge_fde(&c->list.cies[fde->cie], fde, pc, &judge);
		if (judge.known && libdw_refuses_cfa(c->oracle))
			libdw_set_cfa(c->oracle, judge.ops, judge.nops);
		libdw_set_empty(c->oracle, judge.empty.place, judge.empty.value);
	}
	return end < fde->end ? end : fde->end;
}

/* Does the FDE at @pc restore one of more states than the compiler remembers? */
static bool compare_is_too_deep(const struct compare *c, u64 pc)
{
	const struct fde *fde = compare_find_fde(c, pc);
	struct judge judge = {};

	if (fde)
		judge_fde(&c->list.cies[fde->cie], fde, pc, &judge);
	return judge.too_deep;
}

/*
 * Does the call in [@start, @end) go to a function that keeps the register of @rule, a
 * BEE_CFA_SAVED, in the word that @rule says whenever its rsp is not above it, and otherwise leaves
 * it there or in the register?  libdw says "undefined" of a register that the CFI does not mention.
 * libdw's frame is that of @start again afterwards.
 */
static bool compare_callee(const struct compare *c, u64 start, u64 end, const struct bee_rule *rule)
{
	struct eval_value same = eval_known(c->regs[rule->cfa_reg]), there, value;
	const struct fde *fde = NULL;
	struct eval_frame frame;
	bool good = true;
	struct insn insn;
	u64 pc, next;

	if (insn_read(c->elf, start, end, &insn) && insn.kind == INSN_CALL &&
	    start + insn.length == end)
		fde = compare_find_fde(c, insn.target);
	for (pc = fde ? fde->begin : 0; good && fde && pc < fde->end; pc = next) {
		if (libdw_find(c->oracle, pc, &next) != LIBDW_FRAME)
			return false;
		libdw_compute(c->oracle, c->regs, &frame);
		value = libdw_register(c->oracle, rule->cfa_reg, c->regs, frame.cfa.bits);
		there = value_saved(frame.cfa.bits + rule->cfa_off);
		good = value_is_same(&value, &there) ||
		       ((s64)(frame.cfa.bits - c->regs[BEE_REG_RSP]) < -rule->cfa_off &&
			(value.how == EVAL_UNDEFINED || value_is_same(&value, &same)));
	}
	return libdw_find(c->oracle, start, &next) == LIBDW_FRAME && good && fde &&
	       fde->begin == insn.target;
}

/* Does the table's rule for the pc in @c->regs say what libdw's frame does? */
static bool compare_rule(const struct compare *c, const struct bee_rule *rule)
{
	struct eval_frame ours, theirs;

	if (rule->kind == BEE_RULE_UNSUPPORTED)
		return rule->arg == BEE_UNSUP_CFI ? compare_is_too_deep(c, c->regs[EVAL_RIP]) :
						    !libdw_is_plain(c->oracle);
	if (rule->kind != BEE_RULE_KNOWN)
		return false;
	libdw_compute(c->oracle, c->regs, &theirs);
	rule_compute(rule, c->regs, &ours);
	if (ours.signal != theirs.signal || !value_is_same(&ours.ra, &theirs.ra))
		return false;
	/* Without a caller, its registers do not matter. */
	if (rule->ra == BEE_RA_UNDEF)
		return value_is_same(&ours.cfa, &theirs.cfa) &&
		       (rule->fp == BEE_FP_UNDEF || value_is_same(&ours.fp, &theirs.fp));
	/* The CFA is the caller's rsp unless there is a rule for that (longjmp). */
	return value_is_same(&ours.sp, &theirs.sp) && value_is_same(&ours.fp, &theirs.fp);
}

/* Is the file the reason for a difference at @pc?  @no_frame: libdw has no frame there. */
static enum compare_doubt compare_doubt(struct compare *c, u64 pc, bool no_frame)
{
	const struct fde *fde;

	while (c->next_overlap < c->noverlaps && c->overlaps[c->next_overlap].end <= pc)
		c->next_overlap++;
	if (c->next_overlap < c->noverlaps && c->overlaps[c->next_overlap].start <= pc)
		return COMPARE_OVERLAP;
	if (no_frame && c->damaged)
		return COMPARE_DAMAGED;
	fde = no_frame ? compare_find_fde(c, pc) : NULL;
	if (fde && !fde->debug_frame && !eh_frame_hdr_lists(c->elf, fde))
		return COMPARE_UNLISTED;
	return COMPARE_NO_DOUBT;
}

/* Count @pcs of [@start, @end) as different.  @says as in compare_text(). */
static void compare_differs(struct compare *c, u64 start, u64 end, u64 pcs, const char *says)
{
	enum compare_doubt doubt = compare_doubt(c, start, says);
	struct compare_result *r = c->result;
	struct compare_range *range;
	struct bee_rule rule;
	const char *name;
	u64 offset;

	*(doubt ? &r->contradictory : &r->differences) += pcs;
	if (r->nshown == r->max_shown)
		return;
	r->shown = alloc_room(r->shown, r->nshown, &r->room_shown, sizeof(*r->shown));
	range = &r->shown[r->nshown++];
	*range = (struct compare_range){ .start = start, .end = end, .doubt = doubt };
	name = elf_find_symbol(c->elf, start, &offset);
	if (name)
		snprintf(range->symbol, sizeof(range->symbol), "%.80s+0x%llx", name, offset);
	if (says)
		snprintf(range->oracle, sizeof(range->oracle), "%s", says);
	else
		libdw_format(c->oracle, range->oracle);
	bee_table_lookup(c->table, start, &rule);
	rule_format(&rule, range->table);
}

static void compare_add_form(struct compare_result *r, u8 reason, const char *text, u64 rows,
			     u64 bytes)
{
	struct compare_form *form = r->forms;

	while (form < r->forms + r->nforms && (form->reason != reason || strcmp(form->text, text)))
		form++;
	if (form == r->forms + r->nforms) {
		r->forms = alloc_room(r->forms, r->nforms, &r->room_forms, sizeof(*r->forms));
		form = &r->forms[r->nforms++];
		*form = (struct compare_form){ .reason = reason };
		snprintf(form->text, sizeof(form->text), "%s", text);
	}
	form->rows += rows;
	form->bytes += bytes;
}

/* End of the table's row at @pc.  Asked in ascending order. */
static u64 compare_row_end(struct compare *c, u64 pc)
{
	struct bee_rule rule;

	if (pc < c->table->base)
		return c->table->base;
	while (c->row_end <= pc)
		if (!bee_table_next(c->table, c->row_end, &c->row_end, &rule))
			return ~0ull;
	return c->row_end;
}

/*
 * Compare one pc.  Without @expected, the table has to say what libdw's frame does.
 * Fills @rule, and returns 1 if it is wrong.
 */
static unsigned int compare_pc(struct compare *c, u64 pc, const struct bee_rule *expected,
			       struct bee_rule *rule)
{
	c->result->pcs++;
	c->regs[EVAL_RIP] = pc;
	bee_table_lookup(c->table, pc, rule);
	return expected ? memcmp(rule, expected, sizeof(*rule)) != 0 : !compare_rule(c, rule);
}

/*
 * Compare text for which libdw gives one answer.  Without @expected this is a frame.  Otherwise
 * @says is the answer in words, and @expected the rule that the table has to have.
 */
static void compare_text(struct compare *c, u64 start, u64 end, const struct bee_rule *expected,
			 const char *says)
{
	char text[LIBDW_TEXT_MAX];
	unsigned int i, wrong;
	struct bee_rule rule;
	u64 stop;

	for (; start < end; start = stop) {
		stop = compare_row_end(c, start);
		if (stop > end)
			stop = end;
		wrong = compare_pc(c, start, expected, &rule);
		wrong += compare_pc(c, start + (stop - start) / 2, expected, &rule);
		wrong += compare_pc(c, stop - 1, expected, &rule);
		if (!expected && rule.kind == BEE_RULE_KNOWN && rule.cfa == BEE_CFA_SAVED)
			wrong += !compare_callee(c, start, stop, &rule);
		if (!expected && rule.kind == BEE_RULE_KNOWN && rule.cfa == BEE_CFA_PLT)
			for (i = 0; i < PLT_PCS && i < stop - start; i++)
				wrong += compare_pc(c, start + i, NULL, &rule);
		if (!expected && rule.kind == BEE_RULE_UNSUPPORTED)
			compare_add_form(c->result, rule.arg, libdw_format(c->oracle, text), 1,
					 stop - start);
		if (wrong)
			compare_differs(c, start, stop, wrong, says);
	}
}

/*
 * Compare text without FDE from whose code no rows were made; there are rows on both sides of it if
 * it lies @between.
 */
static void compare_gap(struct compare *c, u64 start, u64 end, bool between)
{
	static const struct bee_rule gap = { .kind = BEE_RULE_GAP };
	u64 entry = c->entry, after;
	struct bee_rule before;

	if (between && padding_fills(c->elf, start, end)) {
		c->result->padding += end - start;
		bee_table_lookup(c->table, start - 1, &before);
		after = ucontext_is_start(c->elf, end) ? end - 1 : end;
		compare_text(c, start, after, &before, "no FDE, but padding: as the byte before it");
		compare_text(c, after, end, &rule_outermost, "no FDE, before __start_context");
		if (before.kind == BEE_RULE_UNSUPPORTED)
			compare_add_form(c->result, before.arg, "(padding behind such)", 1,
					 end - start);
		return;
	}
	/* A file without any FDE has no table. */
	if (!entry || entry < start || entry >= end || !c->table->nrows)
		entry = end;
	after = end - entry > COVERAGE_ENTRY_MAX ? entry + COVERAGE_ENTRY_MAX : end;
	compare_text(c, start, entry, &gap, "no FDE");
	compare_text(c, entry, after, &rule_outermost, "no FDE, and the entry point");
	compare_text(c, after, end, &gap, "no FDE");
}

/* Compare text from whose code rows were made with what is made of it again. */
static void compare_synth(struct compare *c, u64 start, u64 end, bool by_abi)
{
	const struct row_set *rows = &c->rows;
	size_t row = order_upto(rows->rows, rows->nrows, sizeof(*rows->rows),
				offsetof(struct row_start, pc), start) - 1;
	u64 stop;

	*(by_abi ? &c->result->abi : &c->result->synth) += end - start;
	for (; start < end; start = stop, row++) {
		stop = row_end(rows, row) < end ? row_end(rows, row) : end;
		(*(by_abi ? &c->result->abi_rows : &c->result->synth_rows))++;
		compare_text(c, start, stop, row_rule(rows, row), "no FDE; from the code");
	}
}

/* Compare text without FDE.  @before, @behind: there is an FDE on this side of it. */
static void compare_hole(struct compare *c, u64 start, u64 end, bool before, bool behind)
{
	const struct row_made *made = c->rows.made, *last = made + c->rows.nmade;

	c->result->gaps += end - start;
	for (; made < last && made->start < end; made++) {
		u64 stop = made->end < end ? made->end : end;

		if (made->end <= start)
			continue;
		if (made->start > start)
			compare_gap(c, start, made->start, before || start > c->table->base);
		start = made->start > start ? made->start : start;
		compare_synth(c, start, stop, made->by_abi);
		start = stop;
		before = true;
	}
	if (start < end)
		compare_gap(c, start, end, before && behind);
}

/* Does libdw say that the CFA is rsp + 8, the return address the word below it, and rbp the caller's? */
static bool compare_is_called(const struct compare *c)
{
	struct eval_value cfa = eval_known(c->regs[BEE_REG_RSP] + 8);
	struct eval_value ra = value_saved(c->regs[BEE_REG_RSP]);
	struct eval_value fp = eval_known(c->regs[BEE_REG_RBP]);
	struct eval_frame frame;

	libdw_compute(c->oracle, c->regs, &frame);
	return value_is_same(&frame.cfa, &cfa) && value_is_same(&frame.sp, &cfa) &&
	       value_is_same(&frame.ra, &ra) && value_is_same(&frame.fp, &fp) && !frame.signal;
}

/* Compare text for which libdw has a frame.  Some has no caller, or another one than the CFI says. */
static void compare_frame(struct compare *c, u64 start, u64 end)
{
	struct ucontext_text texts[UCONTEXT_MAX], *text = texts, *last = texts;

	if (compare_is_called(c))
		last += ucontext_find(c->elf, start, end, texts);
	for (; text < last; start = text->end, text++) {
		compare_text(c, start, text->start, NULL, NULL);
		compare_text(c, text->start, text->end, text->rule, "an FDE of glibc that is wrong");
	}
	if (start == c->entry && coverage_is_entry(c->elf, start, end))
		compare_text(c, start, end, &rule_outermost, "the endbr64 of the entry point");
	else
		compare_text(c, start, end, NULL, NULL);
}

/* The first pc behind @start and before @stop of which libdw does not say @answer, or @stop. */
static u64 compare_find_change(struct compare *c, u64 start, u64 stop, enum libdw_answer answer)
{
	const struct fde_list *list = &c->list;
	u64 pc = start, next, end;

	do {
		next = pc - start < ASK_BYTES ? pc + 1 : (pc | 15) + 1;
		while (c->next_fde < list->nfdes && list->fdes[c->next_fde].begin <= pc)
			c->next_fde++;
		if (c->next_fde < list->nfdes && list->fdes[c->next_fde].begin < next)
			next = list->fdes[c->next_fde].begin;
		pc = next;
	} while (pc < stop && libdw_find(c->oracle, pc, &end) == answer);
	return pc < stop ? pc : stop;
}

/*
 * Does only Go's function table describe the text at @pc?  That includes text which has an FDE in
 * .debug_frame only, in a file that has Go's table.  @end: end of libdw's answer; lowered to the
 * end of this text.
 */
static bool compare_is_go(const struct compare *c, u64 pc, u64 *end)
{
	const struct fde *fde = c->go.exists ? compare_find_fde(c, pc) : NULL;
	u64 change = pc < c->go.text ? c->go.text : c->go.end;

	if (!c->go.exists || fde)
		return fde && fde->debug_frame;
	if (pc < change && change < *end)
		*end = change;
	return pc >= c->go.text && pc < c->go.end;
}

static void compare_segment(struct compare *c, const struct elf_segment *segment)
{
	static const struct bee_rule malformed = {
		.kind = BEE_RULE_UNSUPPORTED, .arg = BEE_UNSUP_CFI,
	};
	u64 pc, end, stop = segment->vaddr + segment->size;
	enum libdw_answer answer;

	c->result->text += segment->size;
	for (pc = segment->vaddr; pc < stop; pc = end) {
		answer = libdw_find(c->oracle, pc, &end);
		if (answer == LIBDW_FRAME)
			end = compare_complete(c, pc, end);
		else
			end = compare_find_change(c, pc, stop, answer);
		if (end > stop)
			end = stop;
		if (compare_is_go(c, pc, &end)) {
			c->result->go += end - pc;
			continue;
		}
		switch (answer) {
		case LIBDW_FRAME:
			c->result->frames++;
			compare_frame(c, pc, end);
			break;
		case LIBDW_NONE:
			compare_hole(c, pc, end, pc > segment->vaddr, end < stop);
			break;
		case LIBDW_REFUSED:
			compare_text(c, pc, end, &malformed, "an FDE that libdw refuses");
			compare_add_form(c->result, BEE_UNSUP_CFI, "refused", 1, end - pc);
			break;
		}
	}
}

/* Do two FDEs that overlap, @a not behind @b, say the same of the text of both? */
static bool fdes_agree(const struct fde *a, const struct fde *b)
{
	/* .eh_frame wins; nothing is left to .debug_frame unless it describes further text. */
	if (a->debug_frame != b->debug_frame)
		return a->debug_frame ? a->begin == b->begin && a->end <= b->end : b->end <= a->end;
	return a->begin == b->begin && a->end == b->end && a->cie == b->cie &&
	       a->size == b->size && !memcmp(a->insns, b->insns, a->size);
}

static int fdes_order(const void *a, const void *b)
{
	const struct fde *x = a, *y = b;

	return order(x->begin, y->begin) ?: order(x->order, y->order);
}

/*
 * Find FDEs that overlap and do not say the same.  All text of both is in doubt, as libdw
 * drops the one that it reads later.
 */
static void compare_find_overlaps(struct compare *c)
{
	const struct fde *widest = NULL, *fde, *end = c->list.fdes + c->list.nfdes;
	struct overlap *last = NULL;
	u64 stop;

	for (fde = c->list.fdes; fde < end; fde++) {
		if (!elf_find_text(c->elf, fde->begin)) {
			c->result->outside++;
			continue;
		}
		if (widest && fde->begin < widest->end && !fdes_agree(widest, fde)) {
			if (!last || widest->begin >= last->end) {
				c->overlaps = alloc_room(c->overlaps, c->noverlaps,
							 &c->room_overlaps, sizeof(*last));
				last = &c->overlaps[c->noverlaps++];
				*last = (struct overlap){ widest->begin, widest->begin };
			}
			stop = fde->end > widest->end ? fde->end : widest->end;
			if (stop > last->end) {
				c->result->overlaps += stop - last->end;
				last->end = stop;
			}
		}
		if (!widest || fde->end > widest->end)
			widest = fde;
	}
}

/**
 * compare_file() - compare a table with libdw's view of its file
 * @elf: the file
 * @table: validated; all zero if the file has no CFI, so that all must be a gap
 * @result: zero but for @max_shown; filled, compare_free() releases it
 *
 * Time is linear in the text without CFI and the rows, but for large FDEs and the symbols of
 * ranges shown.
 */
void compare_file(const struct elf_file *elf, const struct bee_table *table,
		  struct compare_result *result)
{
	struct compare c = {
		.elf = elf, .table = table, .result = result, .row_end = table->base,
		.entry = entry_find(elf),
	};
	struct bee_error why;
	size_t i;

	for (i = 0; i < EVAL_REGS; i++)
		c.regs[i] = eval_hash(i + 1);
	result->rows = table->nrows;
	eh_frame_read(elf, &c.list);
	c.damaged = !eh_frame_hdr_is_sound(elf, &c.list);
	if (c.list.nfdes)
		qsort(c.list.fdes, c.list.nfdes, sizeof(*c.list.fdes), fdes_order);
	compare_find_overlaps(&c);
	gopclntab_open(elf, &c.go);
	if (table->nrows && !(table->header->flags & BEE_TABLE_F_CFI_ONLY) &&
	    coverage_rows(elf, &c.rows, &why))
		row_set_free(&c.rows);
	c.oracle = libdw_open(elf);
	for (i = 0; i < elf->ntext; i++)
		compare_segment(&c, &elf->text[i]);
	libdw_close(c.oracle);
	row_set_free(&c.rows);
	eh_frame_free(&c.list);
	free(c.overlaps);
}

/**
 * compare_add() - add up results
 * @sum: what @result is added to, except for what @result shows
 * @result: of one file
 */
void compare_add(struct compare_result *sum, const struct compare_result *result)
{
	const struct compare_form *form = result->forms;
	const u64 *from = (const u64 *)result;
	u64 *to = (u64 *)sum;
	size_t i;

	for (i = 0; i < offsetof(struct compare_result, shown) / sizeof(*from); i++)
		to[i] += from[i];
	for (; form < result->forms + result->nforms; form++)
		compare_add_form(sum, form->reason, form->text, form->rows, form->bytes);
}

/** compare_free() - release what compare_file() or compare_add() filled. */
void compare_free(struct compare_result *result)
{
	free(result->shown);
	free(result->forms);
}
