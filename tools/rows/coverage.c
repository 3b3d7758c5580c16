// SPDX-License-Identifier: GPL-2.0
/*
 * Which FDE describes which text, and what lies between them.
 *
 * An FDE describes the part of its range that lies in the executable segment where it starts; the
 * linker has discarded the code of one that starts elsewhere.  Where FDEs of .eh_frame overlap, it
 * is as in libgcc's search of .eh_frame_hdr: the one that starts last at or before a pc counts, of
 * two with the same start the first in the file; where it has ended there is none.  A .debug_frame
 * FDE counts only if it overlaps no FDE of .eh_frame; of two that overlap the one that starts first
 * wins, and the other keeps what is beyond its end.
 */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "error.h"
#include "from_cfi.h"
#include "coverage.h"
#include "eh_frame.h"
#include "order.h"
#include "padding.h"

/* The part of its range that an FDE describes: [@start, @end), empty if others have all of it. */
struct coverage_part {
	u64			 start;
	u64			 end;
	const struct fde	*fde;
};

struct coverage {
	const struct elf_file	*elf;
	const struct elf_segment *text;
	struct fde_list		 list;
	struct coverage_part	*parts;
	size_t			 nparts;
	struct row_set		*rows;
	bool			 fdes_only;	/* do not look at text between FDEs */
	/* For coverage_emit(): */
	const struct coverage_part	*part;
	bool			 signal;
};

/* The executable segment at @pc.  Mostly that of the call before. */
static const struct elf_segment *coverage_text(struct coverage *coverage, u64 pc)
{
	const struct elf_segment *text = coverage->text;

	if (!text || pc - text->vaddr >= text->size)
		text = elf_find_text(coverage->elf, pc);
	coverage->text = text;
	return text;
}

static int coverage_compare(const void *a, const void *b)
{
	const struct coverage_part *x = a, *y = b;

	return order(x->start, y->start) ?: order(x->fde->order, y->fde->order);
}

static void coverage_collect(struct coverage *coverage)
{
	size_t i;

	coverage->parts = alloc_array(NULL, coverage->list.nfdes + 1, sizeof(*coverage->parts));
	for (i = 0; i < coverage->list.nfdes; i++) {
		const struct fde *fde = &coverage->list.fdes[i];
		const struct elf_segment *text = coverage_text(coverage, fde->begin);
		struct coverage_part *part = &coverage->parts[coverage->nparts];

		/* Linkers write pc 0 for discarded code, which can be that of the ELF header. */
		if (!text || text->offset + (fde->begin - text->vaddr) < sizeof(Elf64_Ehdr))
			continue;
		*part = (struct coverage_part){ .start = fde->begin, .end = fde->end, .fde = fde };
		if (part->end > text->vaddr + text->size)
			part->end = text->vaddr + text->size;
		coverage->nparts++;
	}
	qsort(coverage->parts, coverage->nparts, sizeof(*coverage->parts), coverage_compare);
}

/* Where parts overlap, leave the text to one of them. */
static void coverage_resolve(struct coverage *coverage)
{
	struct coverage_part *part, *last = NULL;
	u64 end[2] = {}, next = ~0ull;
	size_t i;

	for (i = 0; i < coverage->nparts; i++) {
		u64 *covered;

		part = &coverage->parts[i];
		covered = &end[part->fde->debug_frame];
		if (!part->fde->debug_frame) {
			if (last && last->start == part->start)
				part->end = part->start;
			else if (last && last->end > part->start)
				last->end = part->start;
			if (part->start < part->end)
				last = part;
		} else if (part->start < end[false]) {
			part->end = part->start;
		} else if (part->start < *covered) {
			/* Cut from it what earlier parts have. */
			part->start = *covered < part->end ? *covered : part->end;
		}
		if (part->end > *covered)
			*covered = part->end;
	}
	/* Drop each part of .debug_frame that runs into a later one of .eh_frame. */
	for (i = coverage->nparts; i-- > 0;) {
		part = &coverage->parts[i];
		if (part->start == part->end)
			continue;
		if (!part->fde->debug_frame)
			next = part->start;
		else if (part->end > next)
			part->end = part->start;
	}
}

static void coverage_add_kind(struct coverage *coverage, u64 pc, u8 kind, u8 arg)
{
	struct bee_rule row = { .kind = kind, .arg = arg };

	row_set_add(coverage->rows, pc, &row);
}

/*
 * Add a gap.  If the entry point is in it (as in the dynamic linker), the code there is outermost:
 * it has no caller (psABI 3.4.1, "Initial Stack").  Its length is not known: COVERAGE_ENTRY_MAX.
 */
static void coverage_gap(struct coverage *coverage, u64 start, u64 end)
{
	const struct bee_rule outermost = {
		.kind = BEE_RULE_KNOWN, .cfa_reg = BEE_REG_RSP, .cfa_off = 8, .ra = BEE_RA_UNDEF,
	};
	u64 entry = coverage->elf->entry;
	bool has_entry = entry >= start && entry < end;

	if (!has_entry || entry > start)
		coverage_add_kind(coverage, start, BEE_RULE_GAP, 0);
	if (!has_entry)
		return;
	row_set_add(coverage->rows, entry, &outermost);
	if (end - entry > COVERAGE_ENTRY_MAX)
		coverage_add_kind(coverage, entry + COVERAGE_ENTRY_MAX, BEE_RULE_GAP, 0);
}

/* Text between parts: padding gets the rule of the row before it, anything else is a gap. */
static void coverage_hole(struct coverage *coverage, u64 start, u64 end)
{
	const struct elf_segment *text = coverage_text(coverage, start);

	if (!text || end - start > text->size - (start - text->vaddr) ||
	    !padding_fills(coverage->elf, start, end))
		coverage_gap(coverage, start, end);
}

static void coverage_emit(void *arg, u64 start, u64 end, const struct cfi_row *from)
{
	struct coverage *coverage = arg;
	struct bee_rule row;

	if (start < coverage->part->start)
		start = coverage->part->start;
	if (end > coverage->part->end)
		end = coverage->part->end;
	if (start >= end)
		return;
	rule_from_cfi(from, coverage->signal, &row);
	row_set_add(coverage->rows, start, &row);
}

static void coverage_interpret(struct coverage *coverage, const struct coverage_part *part)
{
	const struct fde *fde = part->fde;
	const struct cfi_cie *cie = &coverage->list.cies[fde->cie].cfi;
	u64 end = fde->begin;

	coverage->part = part;
	coverage->signal = cie->signal;
	if (!fde->malformed)
		end = cfi_run(cie, fde->insns, fde->size, fde->begin, fde->end, coverage_emit,
			      coverage);
	if (end < part->end)
		coverage_add_kind(coverage, end > part->start ? end : part->start,
				  BEE_RULE_UNSUPPORTED, BEE_UNSUP_CFI);
}

/* The entry point can lie before all FDEs (musl, Free Pascal) or after them. */
static void coverage_interpret_all(struct coverage *coverage)
{
	u64 entry = coverage->elf->entry, end = entry + COVERAGE_ENTRY_MAX;
	const struct elf_segment *text = elf_find_text(coverage->elf, entry);
	struct row_set *rows = coverage->rows;
	size_t i;

	for (i = 0; i < coverage->nparts; i++) {
		const struct coverage_part *part = &coverage->parts[i];

		if (part->start == part->end)
			continue;
		if (!rows->nrows && entry && entry < part->start && text)
			coverage_gap(coverage, entry, part->start);
		else if (rows->nrows && part->start > rows->end && !coverage->fdes_only)
			coverage_hole(coverage, rows->end, part->start);
		if (part->start == part->fde->begin)
			row_set_add_start(rows, part->start);
		coverage_interpret(coverage, part);
		rows->end = part->end;
	}
	if (text && rows->nrows && entry >= rows->end) {
		if (end > text->vaddr + text->size)
			end = text->vaddr + text->size;
		coverage_gap(coverage, rows->end, end);
		rows->end = end;
	}
}

static int coverage_make(const struct elf_file *elf, struct row_set *rows, bool fdes_only,
			 struct bee_error *error)
{
	struct coverage coverage = { .elf = elf, .rows = rows, .fdes_only = fdes_only };
	size_t nfdes;

	*rows = (struct row_set){};
	eh_frame_read(elf, &coverage.list);
	coverage_collect(&coverage);
	coverage_resolve(&coverage);
	coverage_interpret_all(&coverage);
	nfdes = coverage.list.nfdes;
	free(coverage.parts);
	eh_frame_free(&coverage.list);
	if (elf_trouble(elf))
		return error_set(error, 0, "%s", elf_trouble(elf));
	if (rows->nrows)
		return 0;
	if (!elf->nframes && !elf->hdr.size)
		return error_set(error, 0, "no .eh_frame or .debug_frame");
	if (!nfdes)
		return error_set(error, 0, "no readable FDE in its .eh_frame or .debug_frame");
	return error_set(error, 0, "no FDE describes code of an executable segment");
}

/**
 * coverage_rows() - all rows of a file
 * @elf: the file
 * @rows: filled; row_set_free() releases it, also after a failure
 * @error: filled on failure
 *
 * Return: 0 or -1.
 */
int coverage_rows(const struct elf_file *elf, struct row_set *rows, struct bee_error *error)
{
	return coverage_make(elf, rows, false, error);
}

/* coverage_fde_rows(): coverage_rows() without a look at text between FDEs, for measurements */
int coverage_fde_rows(const struct elf_file *elf, struct row_set *rows, struct bee_error *error)
{
	return coverage_make(elf, rows, true, error);
}
