// SPDX-License-Identifier: GPL-2.0
/*
 * Which FDE or Go function describes which text, and what lies between them.
 *
 * An FDE describes the part of its range that lies in the executable segment where it starts; the
 * linker has discarded the code of one that starts elsewhere.  Where FDEs of .eh_frame overlap, it
 * is as in libgcc's search of .eh_frame_hdr: the one that starts last at or before a pc counts, of
 * two with the same start the first in the file; where it has ended there is none.  A .debug_frame
 * FDE counts only if it overlaps no FDE of .eh_frame; of two that overlap the one that starts first
 * wins, and the other keeps what is beyond its end.  The same is true of a function in Go's table;
 * in a file that has this table no FDE of .debug_frame counts.
 */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "callee.h"
#include "error.h"
#include "from_cfi.h"
#include "coverage.h"
#include "eh_frame.h"
#include "from_go.h"
#include "gopclntab.h"
#include "made.h"
#include "order.h"
#include "padding.h"
#include "ucontext.h"

/*
 * The part of its range that an FDE or function describes: [@start, @end), empty if others have all
 * of it.
 */
struct coverage_part {
	u64			 start;
	u64			 end;
	const struct fde	*fde;		/* NULL: it is a function of Go's */
	u64			 number;	/* of that function */
};

/**
 * enum coverage_scope - which text gets rows
 * @COVERAGE_ALL: text with CFI, and text whose code proves its rows
 * @COVERAGE_CFI: text with CFI, padding between it, and the entry point
 * @COVERAGE_FDES: text with CFI: its last row goes on to the next FDE
 */
enum coverage_scope {
	COVERAGE_ALL,
	COVERAGE_CFI,
	COVERAGE_FDES,
};

struct coverage {
	const struct elf_file	*elf;
	const struct elf_segment *text;
	struct fde_list		 list;
	struct gopclntab	 go;
	struct coverage_part	*parts;
	size_t			 nparts;
	size_t			 room_parts;
	struct row_set		*rows;
	enum coverage_scope	 scope;
	struct synth		 synth;		/* rows made from code */
	size_t			 next_synth;	/* the first of them that has not been added */
	struct callee_proofs	 proofs;
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

	return order(x->start, y->start) ?: order(!x->fde, !y->fde) ?:
	       (x->fde ? order(x->fde->order, y->fde->order) : order(x->number, y->number));
}

/* Does the part count only where no FDE of .eh_frame does? */
static bool part_is_second(const struct coverage_part *part)
{
	return !part->fde || part->fde->debug_frame;
}

static void coverage_add_part(struct coverage *coverage, struct coverage_part part)
{
	const struct elf_segment *text = coverage_text(coverage, part.start);

	/* Linkers write pc 0 for discarded code, which can be that of the ELF header. */
	if (!text || text->offset + (part.start - text->vaddr) < sizeof(Elf64_Ehdr))
		return;
	if (part.end > text->vaddr + text->size)
		part.end = text->vaddr + text->size;
	coverage->parts = alloc_room(coverage->parts, coverage->nparts, &coverage->room_parts,
				     sizeof(*coverage->parts));
	coverage->parts[coverage->nparts++] = part;
}

static void coverage_collect(struct coverage *coverage)
{
	struct gopclntab_func func;
	u64 i;

	for (i = 0; i < coverage->list.nfdes; i++) {
		const struct fde *fde = &coverage->list.fdes[i];

		if (!fde->debug_frame || !coverage->go.exists)
			coverage_add_part(coverage, (struct coverage_part){
				.start = fde->begin, .end = fde->end, .fde = fde });
	}
	for (i = 0; i < coverage->go.count; i++)
		if (gopclntab_find(&coverage->go, i, &func))
			coverage_add_part(coverage, (struct coverage_part){
				.start = go_func_start(coverage->elf, &func), .end = func.end,
				.number = i });
	if (coverage->nparts)
		qsort(coverage->parts, coverage->nparts, sizeof(*coverage->parts),
		      coverage_compare);
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
		covered = &end[part_is_second(part)];
		if (!part_is_second(part)) {
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
	/* Drop each part that counts second and runs into a later one of .eh_frame. */
	for (i = coverage->nparts; i-- > 0;) {
		part = &coverage->parts[i];
		if (part->start == part->end)
			continue;
		if (!part_is_second(part))
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

/* The text that no part describes, ascending; for free().  Return: number of pieces. */
static size_t coverage_find_gaps(struct coverage *coverage, struct code_gap **gaps)
{
	struct elf_segment *sections;
	size_t n = elf_code_sections(coverage->elf, &sections), i, part = 0, count = 0, room = 0;

	*gaps = NULL;
	for (i = 0; i < n; i++) {
		u64 at = sections[i].vaddr, end = at + sections[i].size;

		while (at < end) {
			struct coverage_part *next = part < coverage->nparts ? &coverage->parts[part] : NULL;
			u64 stop = next && next->start < end ? next->start : end;

			if (next && next->end <= at) {
				part++;
				continue;
			}
			if (at < stop) {
				*gaps = alloc_room(*gaps, count, &room, sizeof(**gaps));
				(*gaps)[count++] = (struct code_gap){ at, stop };
			}
			at = stop < end && next->end > stop ? next->end : stop;
			if (at == stop && stop < end)
				part++;
		}
	}
	free(sections);
	return count;
}

static void coverage_first_row(void *arg, u64 start, u64 end, const struct cfi_row *row)
{
	bool *has_caller = arg;

	(void)start;
	(void)end;
	*has_caller = row->ra.how != CFI_UNDEFINED;
}

/*
 * Can a jump to the FDE's start be a tail call?  Not if the code there has no caller: behind the
 * system call of glibc's clone() a jump leads to the code of the new thread.
 */
static bool coverage_is_function(const struct coverage *coverage, const struct fde *fde)
{
	bool has_caller = true;

	if (!fde->malformed)
		cfi_run(&coverage->list.cies[fde->cie].cfi, fde->insns, fde->size, fde->begin,
			fde->begin + 1, coverage_first_row, &has_caller);
	return has_caller;
}

static void coverage_synthesise(struct coverage *coverage)
{
	struct synth_input input = { .elf = coverage->elf, .patience = SYNTH_PATIENCE };
	u64 *functions = alloc_array(NULL, coverage->nparts + 1, sizeof(*functions));
	struct code_gap *gaps;
	size_t i;

	input.ngaps = coverage_find_gaps(coverage, &gaps);
	input.gaps = gaps;
	input.functions = functions;
	for (i = 0; i < coverage->nparts; i++) {
		const struct coverage_part *part = &coverage->parts[i];

		if (part->fde && part->start == part->fde->begin &&
		    coverage_is_function(coverage, part->fde))
			functions[input.nfunctions++] = part->start;
	}
	made_find(&input, &coverage->synth);
	free(functions);
	free(gaps);
}

/*
 * Add a gap.  If the entry point is in it (as in the dynamic linker), the code there is outermost:
 * it has no caller (psABI 3.4.1, "Initial Stack").  Its length is not known: COVERAGE_ENTRY_MAX.
 */
static void coverage_plain_gap(struct coverage *coverage, u64 start, u64 end)
{
	u64 entry = coverage->elf->entry;
	bool has_entry = entry >= start && entry < end;

	if (!has_entry || entry > start)
		coverage_add_kind(coverage, start, BEE_RULE_GAP, 0);
	if (!has_entry)
		return;
	row_set_add(coverage->rows, entry, &rule_outermost);
	if (end - entry > COVERAGE_ENTRY_MAX)
		coverage_add_kind(coverage, entry + COVERAGE_ENTRY_MAX, BEE_RULE_GAP, 0);
}

/*
 * Does the row before @start go on to @end?  Padding belongs to what it follows: a function has no
 * other row there than its last one.
 */
static bool coverage_goes_on(const struct coverage *coverage, u64 start, u64 end)
{
	return coverage->rows->nrows && padding_fills(coverage->elf, start, end);
}

/* Add the rows made from the code of a gap, and what is left of it. */
static void coverage_gap(struct coverage *coverage, u64 start, u64 end)
{
	const struct synth *synth = &coverage->synth;

	for (; coverage->next_synth < synth->nranges; coverage->next_synth++) {
		const struct synth_range *range = &synth->ranges[coverage->next_synth];

		if (range->start >= end)
			break;
		if (range->start < start)
			continue;
		if (range->start > start && !coverage_goes_on(coverage, start, range->start))
			coverage_plain_gap(coverage, start, range->start);
		row_set_add(coverage->rows, range->start, &range->rule);
		row_set_add_made(coverage->rows, range->start, range->end, range->by_abi);
		start = range->end;
	}
	if (start < end && !coverage_goes_on(coverage, start, end))
		coverage_plain_gap(coverage, start, end);
}

/*
 * Text between parts: padding gets the rule of the row before it, but for the byte in front of
 * __start_context; anything else is a gap.
 */
static void coverage_hole(struct coverage *coverage, u64 start, u64 end)
{
	const struct elf_segment *text = coverage_text(coverage, start);

	if (!text || end - start > text->size - (start - text->vaddr) ||
	    !padding_fills(coverage->elf, start, end))
		coverage_gap(coverage, start, end);
	else if (ucontext_is_start(coverage->elf, end))
		row_set_add(coverage->rows, end - 1, &rule_outermost);
}

/**
 * coverage_is_entry() - is a row of CFI only for the endbr64 at a program's entry point?
 * @elf: the file
 * @start: first pc of a row of CFI
 * @end: pc after it
 *
 * crt1.o of some distributions has ".cfi_undefined rip" behind the endbr64 only.
 */
bool coverage_is_entry(const struct elf_file *elf, u64 start, u64 end)
{
	static const u8 endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };

	return start && start == elf->entry && end == start + sizeof(endbr64) &&
	       elf_text_is(elf, start, endbr64, sizeof(endbr64));
}

/* Add an FDE's row, with the texts in it for which it is wrong. */
static void coverage_add_row(struct coverage *coverage, u64 start, u64 end,
			     const struct bee_rule *row)
{
	static const struct bee_rule called = {
		.kind = BEE_RULE_KNOWN, .cfa_reg = BEE_REG_RSP, .cfa_off = 8,
		.ra = BEE_RA_CFA, .ra_off = -8,
	};
	struct ucontext_text texts[UCONTEXT_MAX], *text = texts, *last = texts;

	if (!memcmp(row, &called, sizeof(called)))
		last += ucontext_find(coverage->elf, start, end, texts);
	for (; text < last; start = text->end, text++) {
		if (text->start > start)
			row_set_add(coverage->rows, start, row);
		row_set_add(coverage->rows, text->start, text->rule);
	}
	if (coverage_is_entry(coverage->elf, start, end))
		row = &rule_outermost;
	if (start < end)
		row_set_add(coverage->rows, start, row);
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
	coverage_add_row(coverage, start, end, &row);
	if (callee_can_save(&row))
		callee_add_rows(coverage->elf, &coverage->list, &coverage->proofs, &row, start, end,
				coverage->rows);
}

static void coverage_interpret_go(struct coverage *coverage, const struct coverage_part *part)
{
	struct gopclntab_func func;

	gopclntab_find(&coverage->go, part->number, &func);
	if (func.begin >= part->start)
		row_set_add_start(coverage->rows, func.begin);
	go_func_rows(coverage->elf, &coverage->go, &func, part->start, part->end, coverage->rows);
}

static void coverage_interpret(struct coverage *coverage, const struct coverage_part *part)
{
	const struct fde *fde = part->fde;
	const struct cfi_cie *cie = &coverage->list.cies[fde->cie].cfi;
	u64 end = fde->begin;

	if (part->start == fde->begin)
		row_set_add_start(coverage->rows, part->start);
	coverage->part = part;
	coverage->signal = cie->signal;
	if (!fde->malformed)
		end = cfi_run(cie, fde->insns, fde->size, fde->begin, fde->end, coverage_emit,
			      coverage);
	if (end < part->end)
		coverage_add_kind(coverage, end > part->start ? end : part->start,
				  BEE_RULE_UNSUPPORTED, BEE_UNSUP_CFI);
}

/*
 * The entry point can lie before all FDEs (musl, Free Pascal) or after them.  So can code that rows
 * have been made of.
 */
static void coverage_interpret_all(struct coverage *coverage)
{
	u64 entry = coverage->elf->entry, end = entry + COVERAGE_ENTRY_MAX, first;
	const struct elf_segment *text = elf_find_text(coverage->elf, entry);
	const struct synth *synth = &coverage->synth;
	struct row_set *rows = coverage->rows;
	size_t i;

	for (i = 0; i < coverage->nparts; i++) {
		const struct coverage_part *part = &coverage->parts[i];

		if (part->start == part->end)
			continue;
		first = entry && text ? entry : part->start;
		if (synth->nranges && synth->ranges[0].start < first)
			first = synth->ranges[0].start;
		if (!rows->nrows && first < part->start)
			coverage_gap(coverage, first, part->start);
		else if (rows->nrows && part->start > rows->end &&
			 coverage->scope != COVERAGE_FDES)
			coverage_hole(coverage, rows->end, part->start);
		if (part->fde)
			coverage_interpret(coverage, part);
		else
			coverage_interpret_go(coverage, part);
		rows->end = part->end;
	}
	if (!rows->nrows && !synth->nranges)
		return;
	if (!rows->nrows) {
		rows->end = synth->ranges[0].start;
		if (entry && text && entry < rows->end)
			rows->end = entry;
	}
	if (text && end > text->vaddr + text->size)
		end = text->vaddr + text->size;
	if (!text || entry < rows->end)
		end = rows->end;
	if (synth->nranges && synth->ranges[synth->nranges - 1].end > end)
		end = synth->ranges[synth->nranges - 1].end;
	if (end > rows->end) {
		coverage_gap(coverage, rows->end, end);
		rows->end = end;
	}
}

/* @list: FDEs to use, or NULL: those of the file */
static int coverage_make(const struct elf_file *elf, const struct fde_list *list,
			 struct row_set *rows, enum coverage_scope scope, struct bee_error *error)
{
	struct coverage coverage = { .elf = elf, .rows = rows, .scope = scope };
	size_t nfdes;

	*rows = (struct row_set){};
	if (list)
		coverage.list = *list;
	else
		eh_frame_read(elf, &coverage.list);
	gopclntab_open(elf, &coverage.go);
	coverage_collect(&coverage);
	coverage_resolve(&coverage);
	/* Functions of Go that have no rows are left to frame pointers. */
	if (scope == COVERAGE_ALL && !coverage.go.trouble)
		coverage_synthesise(&coverage);
	coverage_interpret_all(&coverage);
	synth_free(&coverage.synth);
	nfdes = coverage.list.nfdes;
	free(coverage.parts);
	if (!list)
		eh_frame_free(&coverage.list);
	if (elf_check(elf, error))
		return -1;
	if (rows->nrows)
		return 0;
	if (coverage.go.trouble)
		return error_set(error, 0, "a Go program, to be walked by frame pointers: %s",
				 coverage.go.trouble);
	if (!list && !elf->nframes && !elf->hdr.size)
		return error_set(error, 0, "no .eh_frame or .debug_frame%s; -fasynchronous-unwind-tables has "
				 "compilers write it", scope == COVERAGE_ALL ? ", and no rows come of its code" : "");
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
	return coverage_make(elf, NULL, rows, COVERAGE_ALL, error);
}

/**
 * coverage_list_rows() - all rows of text that is in no file
 * @elf: says where the text is; its text segments and their bytes are used, nothing else
 * @list: the FDEs
 * @rows: filled; row_set_free() releases it, also after a failure
 * @error: filled on failure
 *
 * Return: 0 or -1.
 */
int coverage_list_rows(const struct elf_file *elf, const struct fde_list *list,
		       struct row_set *rows, struct bee_error *error)
{
	return coverage_make(elf, list, rows, COVERAGE_CFI, error);
}

/* coverage_cfi_rows(): coverage_rows() without rows that are made from code */
int coverage_cfi_rows(const struct elf_file *elf, struct row_set *rows, struct bee_error *error)
{
	return coverage_make(elf, NULL, rows, COVERAGE_CFI, error);
}

/* coverage_fde_rows(): coverage_rows() without a look at text between FDEs, for measurements */
int coverage_fde_rows(const struct elf_file *elf, struct row_set *rows, struct bee_error *error)
{
	return coverage_make(elf, NULL, rows, COVERAGE_FDES, error);
}
