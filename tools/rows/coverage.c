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
struct cover_part {
	u64			 start;
	u64			 end;
	const struct fde	*fde;
};

struct cover {
	const struct elf_file	*elf;
	const struct elf_segment *text;
	struct fde_list		 list;
	struct cover_part	*parts;
	size_t			 nparts;
	struct row_set		*rows;
	bool			 blind;
	/* While a part is interpreted: */
	const struct cover_part	*part;
	bool			 signal;
};

/* Linkers leave pc 0 behind for discarded code, which can be the ELF header's. */
static bool cover_is_elf_header(const struct elf_segment *text, u64 pc)
{
	return text->offset + (pc - text->vaddr) < sizeof(Elf64_Ehdr);
}

/* The executable segment at @pc, which mostly is the one asked for before. */
static const struct elf_segment *cover_text(struct cover *cover, u64 pc)
{
	const struct elf_segment *text = cover->text;

	if (!text || pc - text->vaddr >= text->size)
		text = elf_find_text(cover->elf, pc);
	cover->text = text;
	return text;
}

/* By start; parts that start together stay in the order of the file. */
static int cover_compare(const void *a, const void *b)
{
	const struct cover_part *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->fde->order < y->fde->order ? -1 : x->fde->order > y->fde->order;
}

static void cover_collect(struct cover *cover)
{
	size_t i;

	cover->parts = alloc_array(NULL, cover->list.nfdes + 1, sizeof(*cover->parts));
	for (i = 0; i < cover->list.nfdes; i++) {
		const struct fde *fde = &cover->list.fdes[i];
		const struct elf_segment *text = cover_text(cover, fde->begin);
		struct cover_part *part = &cover->parts[cover->nparts];

		if (!text || cover_is_elf_header(text, fde->begin))
			continue;
		*part = (struct cover_part){ .start = fde->begin, .end = fde->end, .fde = fde };
		if (part->end > text->vaddr + text->size)
			part->end = text->vaddr + text->size;
		cover->nparts++;
	}
	qsort(cover->parts, cover->nparts, sizeof(*cover->parts), cover_compare);
}

/* Cut from each part what an earlier one of its kind has, forwards. */
static void cover_resolve_forwards(struct cover *cover)
{
	u64 end[2] = {};
	size_t i;

	for (i = 0; i < cover->nparts; i++) {
		struct cover_part *part = &cover->parts[i];
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
static void cover_resolve_backwards(struct cover *cover)
{
	u64 next = ~0ull;
	size_t i;

	for (i = cover->nparts; i-- > 0;) {
		struct cover_part *part = &cover->parts[i];

		if (part->start == part->end)
			continue;
		if (!part->fde->debug_frame)
			next = part->start;
		else if (part->end > next)
			part->end = part->start;
	}
}

static void cover_add_kind(struct cover *cover, u64 pc, u8 kind, u8 arg)
{
	struct bee_rule row = { .kind = kind, .arg = arg };

	row_set_add(cover->rows, pc, &row);
}

/*
 * The code at the entry point has no caller (psABI 3.4.1, "Initial Stack"), and
 * that of the dynamic linker has no FDE to say so.  How long it is nobody tells.
 */
static void cover_gap(struct cover *cover, u64 start, u64 end)
{
	const struct bee_rule outermost = {
		.kind = BEE_RULE_KNOWN, .cfa_reg = BEE_REG_RSP, .cfa_off = 8, .ra = BEE_RA_UNDEF,
	};
	u64 entry = cover->elf->entry;
	bool has_entry = entry >= start && entry < end;

	if (!has_entry || entry > start)
		cover_add_kind(cover, start, BEE_RULE_GAP, 0);
	if (!has_entry)
		return;
	row_set_add(cover->rows, entry, &outermost);
	if (end - entry > COVER_ENTRY_MAX)
		cover_add_kind(cover, entry + COVER_ENTRY_MAX, BEE_RULE_GAP, 0);
}

/* Text between parts: padding belongs to the row before it, the rest is a gap. */
static void cover_hole(struct cover *cover, u64 start, u64 end)
{
	const struct elf_segment *text;

	if (cover->blind)
		return;
	text = cover_text(cover, start);
	if (!text || end - start > text->size - (start - text->vaddr) ||
	    !padding_fills(cover->elf, start, end))
		cover_gap(cover, start, end);
}

static void cover_emit(void *arg, u64 start, u64 end, const struct cfi_row *from)
{
	struct cover *cover = arg;
	struct bee_rule row;

	if (start < cover->part->start)
		start = cover->part->start;
	if (end > cover->part->end)
		end = cover->part->end;
	if (start >= end)
		return;
	rule_from_cfi(from, cover->signal, &row);
	row_set_add(cover->rows, start, &row);
}

static void cover_interpret(struct cover *cover, const struct cover_part *part)
{
	const struct fde *fde = part->fde;
	const struct cfi_cie *cie = &cover->list.cies[fde->cie].cfi;
	size_t nrows = cover->rows->nrows;

	cover->part = part;
	cover->signal = cie->signal;
	if (!fde->malformed && !cfi_run(cie, fde->insns, fde->size, fde->begin, fde->end,
					    cover_emit, cover))
		return;
	row_set_truncate(cover->rows, nrows);
	cover_add_kind(cover, part->start, BEE_RULE_UNSUPPORTED, BEE_UNSUP_CFI);
}

/* The entry point can lie before all FDEs (musl, Free Pascal) or behind them. */
static void cover_entry_before(struct cover *cover, u64 end)
{
	u64 entry = cover->elf->entry;

	if (entry && entry < end && elf_find_text(cover->elf, entry))
		cover_gap(cover, entry, end);
}

static void cover_entry_behind(struct cover *cover)
{
	const struct elf_segment *text = elf_find_text(cover->elf, cover->elf->entry);
	struct row_set *rows = cover->rows;
	u64 entry = cover->elf->entry, end = entry + COVER_ENTRY_MAX;

	if (!text || !rows->nrows || entry < rows->end)
		return;
	if (end > text->vaddr + text->size)
		end = text->vaddr + text->size;
	cover_gap(cover, rows->end, end);
	rows->end = end;
}

static void cover_interpret_all(struct cover *cover)
{
	struct row_set *rows = cover->rows;
	size_t i;

	for (i = 0; i < cover->nparts; i++) {
		const struct cover_part *part = &cover->parts[i];

		if (part->start == part->end)
			continue;
		if (rows->nrows && part->start > rows->end)
			cover_hole(cover, rows->end, part->start);
		if (!rows->nrows)
			cover_entry_before(cover, part->start);
		if (part->start == part->fde->begin)
			row_set_add_start(rows, part->start);
		cover_interpret(cover, part);
		rows->end = part->end;
	}
	cover_entry_behind(cover);
	row_set_drop_unused_rules(rows);
}

static int cover_rows(const struct elf_file *elf, struct row_set *rows, bool blind, struct bee_error *error)
{
	struct cover cover = { .elf = elf, .rows = rows, .blind = blind };
	size_t nfdes;

	*rows = (struct row_set){};
	eh_frame_read(elf, &cover.list);
	cover_collect(&cover);
	cover_resolve_forwards(&cover);
	cover_resolve_backwards(&cover);
	cover_interpret_all(&cover);
	nfdes = cover.list.nfdes;
	free(cover.parts);
	eh_frame_free(&cover.list);
	if (elf_trouble(elf)) {
		error_set(error, 0, "%s", elf_trouble(elf));
		return -1;
	}
	if (rows->nrows)
		return 0;
	if (!elf->nframes && !elf->hdr.size)
		error_set(error, 0, "no .eh_frame or .debug_frame");
	else if (!nfdes)
		error_set(error, 0, "no readable FDE in its .eh_frame or .debug_frame");
	else
		error_set(error, 0, "no FDE describes code of an executable segment");
	return -1;
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
	return cover_rows(elf, rows, false, error);
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
	return cover_rows(elf, rows, true, error);
}
