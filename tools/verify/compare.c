// SPDX-License-Identifier: GPL-2.0
/*
 * Compare a table with what libdw makes of the file's CFI, over all text.
 *
 * Text is cut wherever libdw's answer changes or the table's does.  In each piece
 * the table is looked up at the first byte, the last one (the byte before the
 * next boundary) and in the middle, and both sides are computed on a made-up machine:
 * equal results are equal rules, however they are written.  A table says two things that CFI
 * does not, which are checked by their definitions: padding between functions belongs to the
 * row before it, and code at the entry point without an FDE is outermost.
 */
#include <string.h>

#include "coverage.h"
#include "eh_frame.h"
#include "padding.h"
#include "compare.h"

#include "alloc.h"

/* Text of FDEs that overlap: [@start, @end). */
struct compare_overlap {
	u64	start;
	u64	end;
};

struct compare {
	const struct elf_file	*elf;
	const struct bee_table	*table;
	struct libdw		*oracle;
	struct compare_result	*result;
	u64			 regs[EVAL_REGS];
	u64			 row_end;	/* of the row looked at last */
	struct fde_list		 list;		/* ascending by begin */
	size_t			 next_fde;	/* the first that begins behind the pc */
	struct compare_overlap	*overlaps;
	size_t			 noverlaps;
	size_t			 room_overlaps;
};

static struct eval_value compare_saved(u64 address)
{
	return eval_known(eval_read(address));
}

/* What a rule of kind BEE_RULE_KNOWN yields. */
static void compare_compute(const struct bee_rule *row, const u64 *regs,
			   struct eval_frame *frame)
{
	u64 cfa = 0;

	switch (row->cfa) {
	case BEE_CFA_REG:
		cfa = regs[row->cfa_reg] + row->cfa_off;
		break;
	case BEE_CFA_DEREF:
		cfa = eval_read(regs[row->cfa_reg] + row->cfa_off) + row->cfa_add;
		break;
	case BEE_CFA_INDEX:
		cfa = regs[row->cfa_reg & 15] + 8 * regs[row->cfa_reg >> 4] + row->cfa_off;
		cfa = eval_read(cfa) + row->cfa_add;
		break;
	case BEE_CFA_PLT:
		cfa = regs[BEE_REG_RSP] + 8 + ((regs[EVAL_RIP] & 15) >= row->cfa_off ? 8 : 0);
		break;
	}
	frame->signal = row->arg & BEE_RULE_SIGNAL;
	frame->cfa = eval_known(cfa);
	frame->sp = frame->cfa;
	frame->fp = (struct eval_value){ .how = EVAL_UNDEFINED };
	switch (row->fp) {
	case BEE_FP_SAME:
		frame->fp = eval_known(regs[BEE_REG_RBP]);
		break;
	case BEE_FP_CFA:
		frame->fp = compare_saved(cfa + row->fp_off);
		break;
	case BEE_FP_DEREF:
		frame->fp = compare_saved(regs[row->fp_reg] + row->fp_off);
		break;
	case BEE_FP_REG:
		frame->fp = eval_known(regs[row->fp_reg]);
		break;
	}
	frame->ra = (struct eval_value){ .how = EVAL_UNDEFINED };
	switch (row->ra) {
	case BEE_RA_CFA:
		frame->ra = compare_saved(cfa + row->ra_off);
		break;
	case BEE_RA_DEREF:
		frame->ra = compare_saved(regs[row->ra_reg] + row->ra_off);
		break;
	case BEE_RA_REG:
		frame->ra = eval_known(regs[row->ra_reg]);
		break;
	}
}

static bool compare_same(const struct eval_value *a, const struct eval_value *b)
{
	return a->how == b->how && a->bits == b->bits && a->how != EVAL_UNKNOWN;
}

/* The last FDE of the file's list that begins at or before @pc, if it describes @pc. */
static const struct fde *compare_find_fde(const struct compare *v, u64 pc)
{
	const struct fde *fdes = v->list.fdes;
	size_t low = 0, high = v->list.nfdes;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (fdes[middle].begin <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low && fdes[low - 1].end > pc ? &fdes[low - 1] : NULL;
}

/*
 * Does libdw refuse the FDE at @pc?  libdw interprets instructions up to a pc only, so it is
 * asked for the last one: the compiler uses no row of a malformed FDE.
 */
static bool compare_is_malformed(const struct compare *v, u64 pc)
{
	const struct fde *fde = compare_find_fde(v, pc);
	enum libdw_answer answer = LIBDW_NONE;
	u64 end;

	if (fde)
		answer = libdw_find(v->oracle, fde->end - 1, &end);
	libdw_find(v->oracle, pc, &end);
	return answer == LIBDW_REFUSED;
}

/* Is it right that the table has no rules here? */
static bool compare_is_unsupported(const struct compare *v, const struct bee_rule *row)
{
	if (row->arg == BEE_UNSUP_CFI)
		return compare_is_malformed(v, v->regs[EVAL_RIP]);
	return !libdw_is_plain(v->oracle);
}

/* Does the row say what libdw's frame does, at one pc? */
static bool compare_row(const struct compare *v, const struct bee_rule *row)
{
	struct eval_frame ours, theirs;

	if (row->kind == BEE_RULE_UNSUPPORTED)
		return compare_is_unsupported(v, row);
	if (row->kind != BEE_RULE_KNOWN)
		return false;
	libdw_compute(v->oracle, v->regs, &theirs);
	compare_compute(row, v->regs, &ours);
	if (ours.signal != theirs.signal || !compare_same(&ours.ra, &theirs.ra))
		return false;
	/* Without a caller, its registers do not matter. */
	if (row->ra == BEE_RA_UNDEF)
		return compare_same(&ours.cfa, &theirs.cfa) &&
		       (row->fp == BEE_FP_UNDEF || compare_same(&ours.fp, &theirs.fp));
	/* The CFA is the caller's rsp unless there is a rule for that (longjmp). */
	return compare_same(&ours.sp, &theirs.sp) && compare_same(&ours.fp, &theirs.fp);
}

static bool compare_is_overlap(const struct compare *v, u64 pc)
{
	size_t low = 0, high = v->noverlaps;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pc < v->overlaps[middle].start)
			high = middle;
		else if (pc >= v->overlaps[middle].end)
			low = middle + 1;
		else
			return true;
	}
	return false;
}

/* Is there an FDE at @pc that libdw cannot find by the file's search table? */
static bool compare_is_unlisted(const struct compare *v, u64 pc)
{
	const struct fde *fde = compare_find_fde(v, pc);

	return fde && !fde->debug_frame && !eh_frame_hdr_lists(v->elf, fde->begin);
}

static enum compare_doubt compare_doubt(const struct compare *v, u64 pc, bool no_frame)
{
	if (compare_is_overlap(v, pc))
		return COMPARE_OVERLAP;
	return no_frame && compare_is_unlisted(v, pc) ? COMPARE_UNLISTED : COMPARE_NO_DOUBT;
}

/* Count @pcs of [@start, @end) as different; @says is what should be there. */
static void compare_differs(struct compare *v, u64 start, u64 end, u64 pcs, const char *says)
{
	struct compare_result *r = v->result;
	enum compare_doubt doubt = compare_doubt(v, start, says);
	struct compare_range *range;
	struct bee_rule row;

	*(doubt ? &r->contradictory : &r->differences) += pcs;
	if (r->nshown == r->max_shown)
		return;
	r->shown = alloc_room(r->shown, r->nshown, &r->room_shown, sizeof(*r->shown));
	range = &r->shown[r->nshown++];
	*range = (struct compare_range){
		.start = start, .end = end, .doubt = doubt,
	};
	if (says)
		snprintf(range->oracle, sizeof(range->oracle), "%s", says);
	else
		libdw_format(v->oracle, range->oracle);
	bee_table_lookup(v->table, start, &row);
	rule_format(&row, range->table);
}

static struct compare_form *compare_find_form(struct compare_result *r, u8 reason, const char *text)
{
	size_t i;

	for (i = 0; i < r->nforms; i++)
		if (r->forms[i].reason == reason && !strcmp(r->forms[i].text, text))
			return &r->forms[i];
	r->forms = alloc_room(r->forms, r->nforms, &r->room_forms, sizeof(*r->forms));
	r->forms[i] = (struct compare_form){ .reason = reason };
	snprintf(r->forms[i].text, sizeof(r->forms[i].text), "%s", text);
	r->nforms++;
	return &r->forms[i];
}

/* Text that is unsupported; @says is what libdw has to say of it. */
static void compare_unsupported(struct compare *v, u8 reason, u64 bytes, const char *says)
{
	char text[LIBDW_TEXT_MAX];
	struct compare_form *form;

	form = compare_find_form(v->result, reason, says ?: libdw_format(v->oracle, text));
	form->rows++;
	form->bytes += bytes;
	v->result->unsupported[reason]++;
	v->result->unsupported_bytes[reason] += bytes;
}

/* End of the table's row at @pc.  Asked in ascending order. */
static u64 compare_row_end(struct compare *v, u64 pc)
{
	struct bee_rule row;

	if (pc < v->table->base)
		return v->table->base;
	while (v->row_end <= pc)
		if (!bee_table_next(v->table, v->row_end, &v->row_end, &row))
			return ~0ull;
	return v->row_end;
}

#define SKIP_BYTES	256

/* How many of the pcs of a piece are looked up, and the @i-th of them. */
#define PIECE_PCS	3

static u64 piece_pc(u64 start, u64 end, unsigned int i)
{
	return i == 0 ? start : i == 1 ? start + (end - start) / 2 : end - 1;
}

/* The linkers' .plt expression depends on the pc: all 16 of them. */
static unsigned int compare_plt(struct compare *v, u64 start, u64 end)
{
	unsigned int wrong = 0;
	struct bee_rule row;
	u64 pc;

	for (pc = start; pc < end && pc < start + 16; pc++) {
		v->regs[EVAL_RIP] = pc;
		bee_table_lookup(v->table, pc, &row);
		wrong += !compare_row(v, &row);
		v->result->pcs++;
	}
	return wrong;
}

/* One row of the table, or a part of it, and one frame. */
static void compare_frame_piece(struct compare *v, u64 start, u64 end)
{
	unsigned int i, wrong = 0;
	struct bee_rule row;

	for (i = 0; i < PIECE_PCS; i++) {
		u64 pc = piece_pc(start, end, i);

		v->regs[EVAL_RIP] = pc;
		bee_table_lookup(v->table, pc, &row);
		wrong += !compare_row(v, &row);
	}
	v->result->pcs += PIECE_PCS;
	if (row.kind == BEE_RULE_KNOWN && row.cfa == BEE_CFA_PLT)
		wrong += compare_plt(v, start, end);
	if (row.kind == BEE_RULE_UNSUPPORTED)
		compare_unsupported(v, row.arg, end - start, NULL);
	if (wrong)
		compare_differs(v, start, end, wrong, NULL);
}

static void compare_frame(struct compare *v, u64 start, u64 end)
{
	v->result->frames++;
	while (start < end) {
		u64 stop = compare_row_end(v, start);

		if (stop > end)
			stop = end;
		compare_frame_piece(v, start, stop);
		start = stop;
	}
}

/* Text where the table has to say @expected; @says is why. */
static void compare_constant(struct compare *v, u64 start, u64 end, const struct bee_rule *expected,
			    const char *says)
{
	while (start < end) {
		u64 stop = compare_row_end(v, start);
		unsigned int i, wrong = 0;
		struct bee_rule row;

		if (stop > end)
			stop = end;
		for (i = 0; i < PIECE_PCS; i++) {
			bee_table_lookup(v->table, piece_pc(start, stop, i), &row);
			wrong += memcmp(&row, expected, sizeof(row)) != 0;
		}
		v->result->pcs += PIECE_PCS;
		if (wrong)
			compare_differs(v, start, stop, wrong, says);
		start = stop;
	}
}

static void compare_gap(struct compare *v, u64 start, u64 end)
{
	static const struct bee_rule gap = { .kind = BEE_RULE_GAP };
	static const struct bee_rule outermost = {
		.kind = BEE_RULE_KNOWN, .cfa_reg = BEE_REG_RSP, .cfa_off = 8, .ra = BEE_RA_UNDEF,
	};
	u64 entry = v->elf->entry, after = end;

	/* Where there is no FDE at all there is no table. */
	if (!entry || entry < start || entry >= end || !v->table->nrows) {
		compare_constant(v, start, end, &gap, "no FDE");
		return;
	}
	if (end - entry > COVERAGE_ENTRY_MAX)
		after = entry + COVERAGE_ENTRY_MAX;
	compare_constant(v, start, entry, &gap, "no FDE");
	compare_constant(v, entry, after, &outermost, "no FDE, and the entry point");
	compare_constant(v, after, end, &gap, "no FDE");
}

/*
 * Text without FDE, from the end of a frame or segment to the start of the next
 * one; @between says that there are frames on both sides.
 */
static void compare_hole(struct compare *v, u64 start, u64 end, bool between)
{
	struct bee_rule before;

	v->result->gaps += end - start;
	if (!between || !padding_fills(v->elf, start, end)) {
		compare_gap(v, start, end);
		return;
	}
	v->result->padding += end - start;
	bee_table_lookup(v->table, start - 1, &before);
	compare_constant(v, start, end, &before, "no FDE, but padding: as the byte before it");
	if (before.kind == BEE_RULE_UNSUPPORTED)
		compare_unsupported(v, before.arg, end - start, "(padding behind such)");
}

/* Text with an FDE that libdw refuses. */
static void compare_refused(struct compare *v, u64 start, u64 end)
{
	static const struct bee_rule malformed = {
		.kind = BEE_RULE_UNSUPPORTED, .arg = BEE_UNSUP_CFI,
	};

	compare_constant(v, start, end, &malformed, "an FDE that libdw refuses");
	compare_unsupported(v, BEE_UNSUP_CFI, end - start, "refused");
}

/*
 * Where to ask next in text that has no FDE from @start up to @pc: at every byte, and
 * later at every 16th and where the file's own list says that an FDE begins; data in
 * executable segments can be megabytes.
 */
static u64 compare_next_ask(struct compare *v, u64 start, u64 pc)
{
	const struct fde_list *list = &v->list;
	u64 next = (pc | 15) + 1;

	if (pc - start < SKIP_BYTES)
		return pc + 1;
	while (v->next_fde < list->nfdes && list->fdes[v->next_fde].begin <= pc)
		v->next_fde++;
	if (v->next_fde < list->nfdes && list->fdes[v->next_fde].begin < next)
		return list->fdes[v->next_fde].begin;
	return next;
}

/* First pc behind @start, below @stop, of which libdw says something else; or @stop. */
static u64 compare_skip(struct compare *v, u64 start, u64 stop, enum libdw_answer answer)
{
	u64 pc = start, end;

	do
		pc = compare_next_ask(v, start, pc);
	while (pc < stop && libdw_find(v->oracle, pc, &end) == answer);
	return pc < stop ? pc : stop;
}

static void compare_segment(struct compare *v, const struct elf_segment *text)
{
	u64 pc = text->vaddr, stop = text->vaddr + text->size, end;

	v->result->text += text->size;
	for (; pc < stop; pc = end) {
		enum libdw_answer answer = libdw_find(v->oracle, pc, &end);

		if (answer != LIBDW_FRAME) {
			end = compare_skip(v, pc, stop, answer);
		} else {
			if (end > stop)
				end = stop;
			compare_frame(v, pc, end);
		}
		if (answer == LIBDW_NONE)
			compare_hole(v, pc, end, pc > text->vaddr && end < stop);
		if (answer == LIBDW_REFUSED)
			compare_refused(v, pc, end);
	}
}

/* Do two FDEs that overlap, @a not behind @b, say the same of the text of both? */
static bool compare_fdes_agree(const struct fde *a, const struct fde *b)
{
	/* .eh_frame wins, and all is said if .debug_frame describes no further text. */
	if (a->debug_frame != b->debug_frame)
		return a->debug_frame ? a->begin == b->begin && a->end <= b->end : b->end <= a->end;
	return a->begin == b->begin && a->end == b->end && a->cie == b->cie &&
	       a->size == b->size && !memcmp(a->insns, b->insns, a->size);
}

static int compare_fdes(const void *a, const void *b)
{
	const struct fde *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* @start ascends. */
static void compare_add_overlap(struct compare *v, u64 start, u64 end)
{
	struct compare_overlap *last = v->noverlaps ? &v->overlaps[v->noverlaps - 1] : NULL;

	if (last && start < last->end) {
		if (end > last->end) {
			v->result->overlaps += end - last->end;
			last->end = end;
		}
		return;
	}
	v->overlaps = alloc_room(v->overlaps, v->noverlaps, &v->room_overlaps,
				 sizeof(*v->overlaps));
	v->overlaps[v->noverlaps++] = (struct compare_overlap){ .start = start, .end = end };
	v->result->overlaps += end - start;
}

/*
 * Find FDEs that overlap and do not say the same.  All text of both is in doubt, as libdw
 * drops the one that it reads later.
 */
static void compare_find_overlaps(struct compare *v)
{
	const struct fde *widest = NULL, *fde;
	struct fde_list *list = &v->list;

	for (fde = list->fdes; fde < list->fdes + list->nfdes; fde++) {
		if (!elf_find_text(v->elf, fde->begin)) {
			v->result->outside++;
			continue;
		}
		if (widest && fde->begin < widest->end && !compare_fdes_agree(widest, fde))
			compare_add_overlap(v, widest->begin,
					   fde->end > widest->end ? fde->end : widest->end);
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
 * Time is linear in the text without CFI and the rows, but for large FDEs.
 */
void compare_file(const struct elf_file *elf, const struct bee_table *table,
		     struct compare_result *result)
{
	struct compare v = {
		.elf = elf, .table = table, .result = result, .row_end = table->base,
	};
	size_t i;

	for (i = 0; i < EVAL_REGS; i++)
		v.regs[i] = eval_hash(i + 1);
	result->rows = table->nrows;
	eh_frame_read(elf, &v.list);
	if (v.list.nfdes)
		qsort(v.list.fdes, v.list.nfdes, sizeof(*v.list.fdes), compare_fdes);
	compare_find_overlaps(&v);
	v.oracle = libdw_open(elf);
	for (i = 0; i < elf->ntext; i++)
		compare_segment(&v, &elf->text[i]);
	libdw_close(v.oracle);
	eh_frame_free(&v.list);
	free(v.overlaps);
}

/**
 * compare_add() - add up results
 * @sum: what @result is added to, except for what @result shows
 * @result: of one file
 */
void compare_add(struct compare_result *sum, const struct compare_result *result)
{
	size_t i;

	sum->rows += result->rows;
	sum->frames += result->frames;
	sum->pcs += result->pcs;
	sum->text += result->text;
	sum->gaps += result->gaps;
	sum->padding += result->padding;
	sum->differences += result->differences;
	sum->contradictory += result->contradictory;
	sum->overlaps += result->overlaps;
	sum->outside += result->outside;
	for (i = 0; i < __BEE_UNSUP_MAX; i++) {
		sum->unsupported[i] += result->unsupported[i];
		sum->unsupported_bytes[i] += result->unsupported_bytes[i];
	}
	for (i = 0; i < result->nforms; i++) {
		const struct compare_form *form = &result->forms[i];
		struct compare_form *to = compare_find_form(sum, form->reason, form->text);

		to->rows += form->rows;
		to->bytes += form->bytes;
	}
}

/**
 * compare_free() - release what a comparison found
 * @result: the result
 */
void compare_free(struct compare_result *result)
{
	free(result->shown);
	free(result->forms);
}
