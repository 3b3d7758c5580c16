// SPDX-License-Identifier: GPL-2.0
/*
 * Which FDE describes which text, and what lies between them.
 *
 * An FDE counts for the part of its range that lies in the executable segment
 * where it starts; what starts elsewhere was discarded by the linker.  Where
 * FDEs of .eh_frame overlap the one that starts first wins, of those that start
 * together the first in the file; the others keep what is left behind its end.  A
 * .debug_frame FDE counts only if it overlaps no FDE of .eh_frame.
 */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "error.h"
#include "from_cfi.h"
#include "coverage.h"
#include "eh_frame.h"
#include "padding.h"

/* A part of an FDE's range: [@start, @end); empty once it has lost. */
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
	bool			 blind;
	/* While a part is interpreted: */
	const struct coverage_part	*part;
	bool			 signal;
};

/* The executable segment at @pc, which mostly is the one asked for before. */
static const struct elf_segment *coverage_text(struct coverage *coverage, u64 pc)
{
	const struct elf_segment *text = coverage->text;

	if (!text || pc - text->vaddr >= text->size)
		text = elf_find_text(coverage->elf, pc);
	coverage->text = text;
	return text;
}

/* By start; parts that start together stay in the order of the file. */
static int coverage_compare(const void *a, const void *b)
{
	const struct coverage_part *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->fde->order < y->fde->order ? -1 : x->fde->order > y->fde->order;
}

static void coverage_collect(struct coverage *coverage)
{
	size_t i;

	coverage->parts = alloc_array(NULL, coverage->list.nfdes + 1, sizeof(*coverage->parts));
	for (i = 0; i < coverage->list.nfdes; i++) {
		const struct fde *fde = &coverage->list.fdes[i];
		const struct elf_segment *text = coverage_text(coverage, fde->begin);
		struct coverage_part *part = &coverage->parts[coverage->nparts];

		/* Linkers leave pc 0 behind for discarded code, which can be the ELF header's. */
		if (!text || text->offset + (fde->begin - text->vaddr) < sizeof(Elf64_Ehdr))
			continue;
		*part = (struct coverage_part){ .start = fde->begin, .end = fde->end, .fde = fde };
		if (part->end > text->vaddr + text->size)
			part->end = text->vaddr + text->size;
		coverage->nparts++;
	}
	qsort(coverage->parts, coverage->nparts, sizeof(*coverage->parts), coverage_compare);
}

/* Cut from each part what an earlier one of its kind has, forwards. */
static void coverage_resolve_forwards(struct coverage *coverage)
{
	u64 end[2] = {};
	size_t i;

	for (i = 0; i < coverage->nparts; i++) {
		struct coverage_part *part = &coverage->parts[i];
		bool debug_frame = part->fde->debug_frame;
		u64 *covered = &end[debug_frame];

		if (debug_frame && part->start < end[false])
			part->end = part->start;
		if (part->start < *covered)
			part->start = *covered < part->end ? *covered : part->end;
		if (part->end > *covered)
			*covered = part->end;
	}
}

/* Drop each part of .debug_frame that runs into a later one of .eh_frame, backwards. */
static void coverage_resolve_backwards(struct coverage *coverage)
{
	u64 next = ~0ull;
	size_t i;

	for (i = coverage->nparts; i-- > 0;) {
		struct coverage_part *part = &coverage->parts[i];

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
 * The code at the entry point has no caller (psABI 3.4.1, "Initial Stack"), and
 * that of the dynamic linker has no FDE to say so.  Nothing tells how long it is.
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

/* Text between parts: padding belongs to the row before it, the rest is a gap. */
static void coverage_hole(struct coverage *coverage, u64 start, u64 end)
{
	const struct elf_segment *text;

	if (coverage->blind)
		return;
	text = coverage_text(coverage, start);
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
	size_t nrows = coverage->rows->nrows;

	coverage->part = part;
	coverage->signal = cie->signal;
	if (!fde->malformed && !cfi_run(cie, fde->insns, fde->size, fde->begin, fde->end,
					    coverage_emit, coverage))
		return;
	row_set_truncate(coverage->rows, nrows);
	coverage_add_kind(coverage, part->start, BEE_RULE_UNSUPPORTED, BEE_UNSUP_CFI);
}

/* The entry point can lie before all FDEs (musl, Free Pascal) or behind them. */
static void coverage_entry_before(struct coverage *coverage, u64 end)
{
	u64 entry = coverage->elf->entry;

	if (entry && entry < end && elf_find_text(coverage->elf, entry))
		coverage_gap(coverage, entry, end);
}

static void coverage_entry_behind(struct coverage *coverage)
{
	const struct elf_segment *text = elf_find_text(coverage->elf, coverage->elf->entry);
	struct row_set *rows = coverage->rows;
	u64 entry = coverage->elf->entry, end = entry + COVERAGE_ENTRY_MAX;

	if (!text || !rows->nrows || entry < rows->end)
		return;
	if (end > text->vaddr + text->size)
		end = text->vaddr + text->size;
	coverage_gap(coverage, rows->end, end);
	rows->end = end;
}

static void coverage_interpret_all(struct coverage *coverage)
{
	struct row_set *rows = coverage->rows;
	size_t i;

	for (i = 0; i < coverage->nparts; i++) {
		const struct coverage_part *part = &coverage->parts[i];

		if (part->start == part->end)
			continue;
		if (rows->nrows && part->start > rows->end)
			coverage_hole(coverage, rows->end, part->start);
		if (!rows->nrows)
			coverage_entry_before(coverage, part->start);
		if (part->start == part->fde->begin)
			row_set_add_start(rows, part->start);
		coverage_interpret(coverage, part);
		rows->end = part->end;
	}
	coverage_entry_behind(coverage);
	row_set_drop_unused_rules(rows);
}

static int coverage_make(const struct elf_file *elf, struct row_set *rows, bool blind,
			 struct bee_error *error)
{
	struct coverage coverage = { .elf = elf, .rows = rows, .blind = blind };
	size_t nfdes;

	*rows = (struct row_set){};
	eh_frame_read(elf, &coverage.list);
	coverage_collect(&coverage);
	coverage_resolve_forwards(&coverage);
	coverage_resolve_backwards(&coverage);
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

/**
 * coverage_fde_rows() - the rows that FDEs say, for measurements
 * @elf: the file
 * @rows: as for coverage_rows(), but what lies between FDEs is not looked at
 * @error: see there
 *
 * Return: 0 or -1.
 */
int coverage_fde_rows(const struct elf_file *elf, struct row_set *rows, struct bee_error *error)
{
	return coverage_make(elf, rows, true, error);
}
