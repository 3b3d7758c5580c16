// SPDX-License-Identifier: GPL-2.0
/*
 * Compare a table with what libdw makes of the file's CFI, over all text.
 *
 * Text is cut wherever libdw's answer changes or the table's does.  In each piece
 * the table is looked up at the first byte, the last one (the byte before the
 * next boundary) and in the middle, and both sides are computed on a made-up machine:
 * equal results are equal rules, however they are written.  Two things a table says
 * that CFI does not, and they are held to their own definitions: padding between
 * functions goes with the row before it, and the code at the entry point without an
 * FDE is outermost.
 */
#include <string.h>

#include "coverage.h"
#include "eh_frame.h"
#include "padding.h"
#include "compare.h"

#include "alloc.h"

/* Text of FDEs that overlap: [@start, @end). */
struct verify_overlap {
	u64	start;
	u64	end;
};

struct verify {
	const struct elf_file	*elf;
	const struct bee_table	*table;
	struct libdw		*oracle;
	struct verify_result	*result;
	struct machine		 machine;
	u64			 row_end;	/* of the row looked at last */
	struct fde_list		 list;		/* ascending by begin */
	size_t			 next_fde;	/* the first that begins behind the pc */
	struct verify_overlap	*overlaps;
	size_t			 noverlaps;
	size_t			 room_overlaps;
};

/* What the table's rules yield; a frame of another kind yields nothing. */
static void verify_compute(const struct bee_rule *row, const struct machine *m,
			   struct machine_frame *frame)
{
	const u64 *regs = m->regs;
	u64 cfa = 0;

	switch (row->cfa) {
	case BEE_CFA_REG:
		cfa = regs[row->cfa_reg] + row->cfa_off;
		break;
	case BEE_CFA_DEREF:
		cfa = machine_read(regs[row->cfa_reg] + row->cfa_off) + row->cfa_add;
		break;
	case BEE_CFA_INDEX:
		cfa = regs[row->cfa_reg & 15] + 8 * regs[row->cfa_reg >> 4] + row->cfa_off;
		cfa = machine_read(cfa) + row->cfa_add;
		break;
	case BEE_CFA_PLT:
		cfa = regs[BEE_REG_RSP] + 8 + ((regs[MACHINE_RIP] & 15) >= row->cfa_off ? 8 : 0);
		break;
	}
	frame->cfa = machine_known(cfa);
	frame->sp = frame->cfa;
	frame->fp = (struct machine_value){ .how = VALUE_UNDEFINED };
	switch (row->fp) {
	case BEE_FP_SAME:
		frame->fp = machine_known(regs[BEE_REG_RBP]);
		break;
	case BEE_FP_CFA:
		frame->fp = machine_known(machine_read(cfa + row->fp_off));
		break;
	case BEE_FP_DEREF:
		frame->fp = machine_known(machine_read(regs[row->fp_reg] + row->fp_off));
		break;
	case BEE_FP_REG:
		frame->fp = machine_known(regs[row->fp_reg]);
		break;
	}
	frame->ra = (struct machine_value){ .how = VALUE_UNDEFINED };
	switch (row->ra) {
	case BEE_RA_CFA:
		frame->ra = machine_known(machine_read(cfa + row->ra_off));
		break;
	case BEE_RA_DEREF:
		frame->ra = machine_known(machine_read(regs[row->ra_reg] + row->ra_off));
		break;
	case BEE_RA_REG:
		frame->ra = machine_known(regs[row->ra_reg]);
		break;
	}
}

static bool verify_same(const struct machine_value *a, const struct machine_value *b)
{
	return a->how == b->how && a->bits == b->bits && a->how != VALUE_UNKNOWN;
}

/* The last FDE of the file's list that begins at or before @pc, if it describes @pc. */
static const struct fde *verify_find_fde(const struct verify *v, u64 pc)
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
 * Does libdw refuse the FDE that ends behind @pc?  It runs the instructions up to a
 * pc and no further, the compiler takes none of a malformed FDE's rows.
 */
static bool verify_is_malformed(const struct verify *v, u64 pc)
{
	const struct fde *fde = verify_find_fde(v, pc);
	enum libdw_answer answer = LIBDW_NONE;
	u64 end;

	if (fde)
		answer = libdw_find(v->oracle, fde->end - 1, &end);
	libdw_find(v->oracle, pc, &end);
	return answer == LIBDW_REFUSED;
}

/* Is it right that the table has no rules here? */
static bool verify_is_unsupported(const struct verify *v, const struct bee_rule *row)
{
	if (row->arg == BEE_UNSUP_CFI)
		return verify_is_malformed(v, v->machine.regs[MACHINE_RIP]);
	return !libdw_is_plain(v->oracle);
}

/* Does the row say what libdw's frame does, at one pc? */
static bool verify_row(const struct verify *v, const struct bee_rule *row)
{
	struct machine_frame ours, theirs;

	if (row->kind == BEE_RULE_UNSUPPORTED)
		return verify_is_unsupported(v, row);
	if (row->kind != BEE_RULE_KNOWN ||
	    !!(row->arg & BEE_RULE_SIGNAL) != libdw_is_signal(v->oracle))
		return false;
	libdw_compute(v->oracle, &v->machine, &theirs);
	verify_compute(row, &v->machine, &ours);
	if (!verify_same(&ours.ra, &theirs.ra))
		return false;
	/* Nobody asks for the registers of a caller that does not exist. */
	if (row->ra == BEE_RA_UNDEF)
		return verify_same(&ours.cfa, &theirs.cfa) &&
		       (row->fp == BEE_FP_UNDEF || verify_same(&ours.fp, &theirs.fp));
	/* The CFA is the caller's rsp unless there is a rule for that (longjmp). */
	return verify_same(&ours.sp, &theirs.sp) && verify_same(&ours.fp, &theirs.fp);
}

static bool verify_is_overlap(const struct verify *v, u64 pc)
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
static bool verify_is_unlisted(const struct verify *v, u64 pc)
{
	const struct fde *fde = verify_find_fde(v, pc);

	return fde && !fde->debug_frame && !eh_frame_hdr_lists(v->elf, fde->begin);
}

static enum verify_doubt verify_doubt(const struct verify *v, u64 pc, bool no_frame)
{
	if (verify_is_overlap(v, pc))
		return VERIFY_OVERLAP;
	return no_frame && verify_is_unlisted(v, pc) ? VERIFY_UNLISTED : VERIFY_NO_DOUBT;
}

/* Count @pcs of [@start, @end) as different; @says is what should be there. */
static void verify_differs(struct verify *v, u64 start, u64 end, u64 pcs, const char *says)
{
	struct verify_result *r = v->result;
	enum verify_doubt doubt = verify_doubt(v, start, says);
	struct verify_range *range;
	struct bee_rule row;

	*(doubt ? &r->contradictory : &r->differences) += pcs;
	if (r->nshown == r->max_shown)
		return;
	r->shown = alloc_room(r->shown, r->nshown, &r->room_shown, sizeof(*r->shown));
	range = &r->shown[r->nshown++];
	*range = (struct verify_range){
		.start = start, .end = end, .doubt = doubt,
	};
	if (says)
		snprintf(range->oracle, sizeof(range->oracle), "%s", says);
	else
		libdw_format(v->oracle, range->oracle);
	bee_table_lookup(v->table, start, &row);
	rule_format(&row, range->table);
}

static struct verify_form *verify_find_form(struct verify_result *r, u8 reason, const char *text)
{
	size_t i;

	for (i = 0; i < r->nforms; i++)
		if (r->forms[i].reason == reason && !strcmp(r->forms[i].text, text))
			return &r->forms[i];
	r->forms = alloc_room(r->forms, r->nforms, &r->room_forms, sizeof(*r->forms));
	r->forms[i] = (struct verify_form){ .reason = reason };
	snprintf(r->forms[i].text, sizeof(r->forms[i].text), "%s", text);
	r->nforms++;
	return &r->forms[i];
}

/* Text that is unsupported; @says is what libdw has to say of it. */
static void verify_unsupported(struct verify *v, u8 reason, u64 bytes, const char *says)
{
	char text[LIBDW_TEXT_MAX];
	struct verify_form *form;

	form = verify_find_form(v->result, reason, says ?: libdw_format(v->oracle, text));
	form->rows++;
	form->bytes += bytes;
	v->result->unsupported[reason]++;
	v->result->unsupported_bytes[reason] += bytes;
}

/* End of the table's row at @pc.  Asked in ascending order. */
static u64 verify_row_end(struct verify *v, u64 pc)
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
static unsigned int verify_plt(struct verify *v, u64 start, u64 end)
{
	unsigned int wrong = 0;
	struct bee_rule row;
	u64 pc;

	for (pc = start; pc < end && pc < start + 16; pc++) {
		v->machine.regs[MACHINE_RIP] = pc;
		bee_table_lookup(v->table, pc, &row);
		wrong += !verify_row(v, &row);
		v->result->pcs++;
	}
	return wrong;
}

/* One row of the table, or a part of it, and one frame. */
static void verify_frame_piece(struct verify *v, u64 start, u64 end)
{
	unsigned int i, wrong = 0;
	struct bee_rule row;

	for (i = 0; i < PIECE_PCS; i++) {
		u64 pc = piece_pc(start, end, i);

		v->machine.regs[MACHINE_RIP] = pc;
		bee_table_lookup(v->table, pc, &row);
		wrong += !verify_row(v, &row);
	}
	v->result->pcs += PIECE_PCS;
	if (row.kind == BEE_RULE_KNOWN && row.cfa == BEE_CFA_PLT)
		wrong += verify_plt(v, start, end);
	if (row.kind == BEE_RULE_UNSUPPORTED)
		verify_unsupported(v, row.arg, end - start, NULL);
	if (wrong)
		verify_differs(v, start, end, wrong, NULL);
}

static void verify_frame(struct verify *v, u64 start, u64 end)
{
	v->result->frames++;
	while (start < end) {
		u64 stop = verify_row_end(v, start);

		if (stop > end)
			stop = end;
		verify_frame_piece(v, start, stop);
		start = stop;
	}
}

/* Text where the table has to say @expected; @says is why. */
static void verify_constant(struct verify *v, u64 start, u64 end, const struct bee_rule *expected,
			    const char *says)
{
	while (start < end) {
		u64 stop = verify_row_end(v, start);
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
			verify_differs(v, start, stop, wrong, says);
		start = stop;
	}
}

static void verify_gap(struct verify *v, u64 start, u64 end)
{
	static const struct bee_rule gap = { .kind = BEE_RULE_GAP };
	static const struct bee_rule outermost = {
		.kind = BEE_RULE_KNOWN, .cfa_reg = BEE_REG_RSP, .cfa_off = 8, .ra = BEE_RA_UNDEF,
	};
	u64 entry = v->elf->entry, after = end;

	/* Where there is no FDE at all there is no table. */
	if (!entry || entry < start || entry >= end || !v->table->nrows) {
		verify_constant(v, start, end, &gap, "no FDE");
		return;
	}
	if (end - entry > COVER_ENTRY_MAX)
		after = entry + COVER_ENTRY_MAX;
	verify_constant(v, start, entry, &gap, "no FDE");
	verify_constant(v, entry, after, &outermost, "no FDE, and the entry point");
	verify_constant(v, after, end, &gap, "no FDE");
}

/*
 * Text without FDE, from the end of a frame or segment to the start of the next
 * one; @between says that there are frames on both sides.
 */
static void verify_hole(struct verify *v, u64 start, u64 end, bool between)
{
	struct bee_rule before;

	v->result->gaps += end - start;
	if (!between || !padding_fills(v->elf, start, end)) {
		verify_gap(v, start, end);
		return;
	}
	v->result->padding += end - start;
	bee_table_lookup(v->table, start - 1, &before);
	verify_constant(v, start, end, &before, "no FDE, but padding: as the byte before it");
	if (before.kind == BEE_RULE_UNSUPPORTED)
		verify_unsupported(v, before.arg, end - start, "(padding behind such)");
}

/* Text with an FDE that libdw refuses. */
static void verify_refused(struct verify *v, u64 start, u64 end)
{
	static const struct bee_rule malformed = {
		.kind = BEE_RULE_UNSUPPORTED, .arg = BEE_UNSUP_CFI,
	};

	verify_constant(v, start, end, &malformed, "an FDE that libdw refuses");
	verify_unsupported(v, BEE_UNSUP_CFI, end - start, "refused");
}

/*
 * Where to ask next in text that has no FDE from @start up to @pc: at every byte, and
 * later at every 16th and where the file's own list says that an FDE begins; data in
 * executable segments can be megabytes.
 */
static u64 verify_next_ask(struct verify *v, u64 start, u64 pc)
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
static u64 verify_skip(struct verify *v, u64 start, u64 stop, enum libdw_answer answer)
{
	u64 pc = start, end;

	do
		pc = verify_next_ask(v, start, pc);
	while (pc < stop && libdw_find(v->oracle, pc, &end) == answer);
	return pc < stop ? pc : stop;
}

static void verify_segment(struct verify *v, const struct elf_segment *text)
{
	u64 pc = text->vaddr, stop = text->vaddr + text->size, end;

	v->result->text += text->size;
	for (; pc < stop; pc = end) {
		enum libdw_answer answer = libdw_find(v->oracle, pc, &end);

		if (answer != LIBDW_FRAME) {
			end = verify_skip(v, pc, stop, answer);
		} else {
			if (end > stop)
				end = stop;
			verify_frame(v, pc, end);
		}
		if (answer == LIBDW_NONE)
			verify_hole(v, pc, end, pc > text->vaddr && end < stop);
		if (answer == LIBDW_REFUSED)
			verify_refused(v, pc, end);
	}
}

/* Do two FDEs that overlap, @a not behind @b, say the same of the text of both? */
static bool verify_fdes_agree(const struct fde *a, const struct fde *b)
{
	/* .eh_frame comes first, and that is all if there is no more text. */
	if (a->debug_frame != b->debug_frame)
		return a->debug_frame ? a->begin == b->begin && a->end <= b->end : b->end <= a->end;
	return a->begin == b->begin && a->end == b->end && a->cie == b->cie &&
	       a->size == b->size && !memcmp(a->insns, b->insns, a->size);
}

static int verify_compare_fdes(const void *a, const void *b)
{
	const struct fde *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* @start ascends. */
static void verify_add_overlap(struct verify *v, u64 start, u64 end)
{
	struct verify_overlap *last = v->noverlaps ? &v->overlaps[v->noverlaps - 1] : NULL;

	if (last && start < last->end) {
		if (end > last->end) {
			v->result->overlaps += end - last->end;
			last->end = end;
		}
		return;
	}
	v->overlaps = alloc_room(v->overlaps, v->noverlaps, &v->room_overlaps,
				 sizeof(*v->overlaps));
	v->overlaps[v->noverlaps++] = (struct verify_overlap){ .start = start, .end = end };
	v->result->overlaps += end - start;
}

/*
 * Find FDEs that overlap and do not say the same.  All text of both is in doubt, as libdw
 * drops the one that it reads later.
 */
static void verify_find_overlaps(struct verify *v)
{
	const struct fde *widest = NULL, *fde;
	struct fde_list *list = &v->list;

	for (fde = list->fdes; fde < list->fdes + list->nfdes; fde++) {
		if (!elf_find_text(v->elf, fde->begin)) {
			v->result->outside++;
			continue;
		}
		if (widest && fde->begin < widest->end && !verify_fdes_agree(widest, fde))
			verify_add_overlap(v, widest->begin,
					   fde->end > widest->end ? fde->end : widest->end);
		if (!widest || fde->end > widest->end)
			widest = fde;
	}
}

/**
 * verify_file() - compare a table with libdw's view of its file
 * @elf: the file
 * @table: validated; all zero if the file has no CFI, so that all must be a gap
 * @result: zero but for @max_shown; filled, verify_free() releases it
 *
 * Time is linear in the text without CFI and the rows, but for large FDEs.
 */
void verify_file(const struct elf_file *elf, const struct bee_table *table,
		     struct verify_result *result)
{
	struct verify v = {
		.elf = elf, .table = table, .result = result, .row_end = table->base,
	};
	size_t i;

	machine_init(&v.machine);
	result->rows = table->nrows;
	eh_frame_read(elf, &v.list);
	if (v.list.nfdes)
		qsort(v.list.fdes, v.list.nfdes, sizeof(*v.list.fdes), verify_compare_fdes);
	verify_find_overlaps(&v);
	v.oracle = libdw_open(elf);
	for (i = 0; i < elf->ntext; i++)
		verify_segment(&v, &elf->text[i]);
	libdw_close(v.oracle);
	eh_frame_free(&v.list);
	free(v.overlaps);
}

/**
 * verify_add() - add up results
 * @sum: what @result is added to, except for what @result shows
 * @result: of one file
 */
void verify_add(struct verify_result *sum, const struct verify_result *result)
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
		const struct verify_form *form = &result->forms[i];
		struct verify_form *to = verify_find_form(sum, form->reason, form->text);

		to->rows += form->rows;
		to->bytes += form->bytes;
	}
}

/**
 * verify_free() - release what a comparison found
 * @result: the result
 */
void verify_free(struct verify_result *result)
{
	free(result->shown);
	free(result->forms);
}
