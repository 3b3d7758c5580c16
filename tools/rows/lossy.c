// SPDX-License-Identifier: GPL-2.0
/*
 * Smaller tables that are not exact.
 *
 * Frame pointer bypass: functions that keep a frame pointer get a gap row, where the
 * walk takes the frame pointer, with its own checks and its own look at the instruction
 * (bee_frame_step_fp(), which is what says here too what that makes of prologues).  A
 * rule "CFA = rbp+16" for all of a function would be as small, but wrong at the first
 * instruction of each, unchecked.
 *
 * Thinning: the shortest rows go, and the row before each covers its text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "error.h"
#include "lossy.h"
#include "padding.h"

struct bee_uread {
	const struct elf_file *elf;
};

/* frame_peek() reads code, and nothing else is asked for. */
static bool bee_uread_u8(struct bee_uread *mem, u64 addr, u8 *value)
{
	u64 size = 1;
	const u8 *text = elf_text(mem->elf, addr, &size);

	if (text)
		*value = *text;
	return text;
}

static bool bee_uread_u64(struct bee_uread *mem, u64 addr, u64 *value)
{
	(void)mem;
	(void)addr;
	(void)value;
	return false;
}

#include "kmod/frame.h"

struct lossy {
	const struct elf_file	*elf;
	struct row_set		*rows;
	struct lossy_report	*report;
	struct bee_error	*error;
};

/* CFA = rsp or rbp + n, RA at CFA-8, FP same or on the stack: what code at work has. */
static bool row_is_plain(const struct bee_rule *r)
{
	return r->kind == BEE_RULE_KNOWN && !r->arg && r->cfa == BEE_CFA_REG &&
	       (r->cfa_reg == BEE_REG_RSP || r->cfa_reg == BEE_REG_RBP) &&
	       r->ra == BEE_RA_CFA && r->ra_off == -8 &&
	       (r->fp == BEE_FP_SAME || r->fp == BEE_FP_CFA);
}

static u64 row_end(const struct row_set *rows, size_t i)
{
	return i + 1 < rows->nrows ? rows->rows[i + 1].pc : rows->end;
}

/* @to takes the place of @rows, with the same functions. */
static void lossy_replace_rows(struct row_set *rows, struct row_set *to)
{
	size_t i;

	for (i = 0; i < rows->nstarts; i++)
		row_set_add_start(to, rows->starts[i]);
	row_set_free(rows);
	*rows = *to;
}

static u64 lossy_text(const struct row_set *rows)
{
	u64 bytes = 0;
	size_t i;

	for (i = 0; i < rows->nrows; i++)
		if (rows->rules[rows->rows[i].rule].kind == BEE_RULE_KNOWN)
			bytes += row_end(rows, i) - rows->rows[i].pc;
	return bytes;
}

/**
 * enum fp_role - what a row tells of how its function uses rbp
 * @FP_BODY: CFA = rbp+16, FP at CFA-16: it is the frame pointer
 * @FP_ENTRY: CFA = rsp+8: before push %rbp, or after it was popped
 * @FP_PUSHED: CFA = rsp+16, FP at CFA-16: between push %rbp and mov %rsp,%rbp
 * @FP_OTHER: plain, but of a function that keeps no frame pointer
 * @FP_SPECIAL: not plain, says nothing
 */
enum fp_role {
	FP_BODY		= 1,
	FP_ENTRY	= 2,
	FP_PUSHED	= 4,
	FP_OTHER	= 8,
	FP_SPECIAL	= 16,
};

static enum fp_role fp_role_of(const struct bee_rule *r)
{
	bool saved = r->fp == BEE_FP_CFA && r->fp_off == -16;

	if (!row_is_plain(r))
		return FP_SPECIAL;
	if (r->cfa_reg == BEE_REG_RBP)
		return r->cfa_off == 16 && saved ? FP_BODY : FP_OTHER;
	if (r->cfa_off == 8 && (saved || r->fp == BEE_FP_SAME))
		return FP_ENTRY;
	return r->cfa_off == 16 && saved ? FP_PUSHED : FP_OTHER;
}

/* The part of a row that lies in a function: [@start, @end). */
struct fp_part {
	u64	start;
	u64	end;
};

static struct fp_part fp_part_of(const struct row_set *rows, size_t i, u64 start, u64 end)
{
	struct fp_part part = { .start = rows->rows[i].pc, .end = row_end(rows, i) };

	if (part.start < start)
		part.start = start;
	if (part.end > end)
		part.end = end;
	return part;
}

/* All roles of the rows in [@start, @end); @first is the first of them. */
static unsigned int fp_roles(const struct row_set *rows, size_t first, u64 start, u64 end)
{
	unsigned int roles = 0;
	size_t i;

	for (i = first; i < rows->nrows && rows->rows[i].pc < end; i++)
		if (row_end(rows, i) > start)
			roles |= fp_role_of(&rows->rules[rows->rows[i].rule]);
	return roles;
}

/*
 * Does the function move the stack pointer without a frame pointer?  Special rows excuse
 * it: of a PLT, of a signal frame, of a realigned stack; it keeps its rows.
 */
static bool fp_is_other(unsigned int roles)
{
	if (roles & FP_SPECIAL)
		return false;
	return roles & FP_OTHER || (roles & FP_PUSHED && !(roles & FP_BODY));
}

/* Is @row CFA = rsp + @n, FP same? */
static bool row_is_rsp(const struct bee_rule *row, s32 n)
{
	return row_is_plain(row) && row->cfa_reg == BEE_REG_RSP && row->cfa_off == n &&
	       row->fp == BEE_FP_SAME;
}

/*
 * The first entry of a PLT, 16 bytes: push GOT+8, which takes 6, and jump; two words on the
 * stack to begin with.  Without a second entry nothing special is in its FDE.
 */
static bool fp_is_plt(const struct row_set *rows, size_t first, u64 start)
{
	return first + 1 < rows->nrows && rows->rows[first + 1].pc == start + 6 &&
	       row_is_rsp(&rows->rules[rows->rows[first].rule], 16) &&
	       row_is_rsp(&rows->rules[rows->rows[first + 1].rule], 24);
}

/* Bytes of the instruction that frame_peek() has known. */
static unsigned int fp_length(struct bee_uread *mem, u64 pc)
{
	u8 op = 0, second = 0;

	bee_uread_u8(mem, pc, &op);
	bee_uread_u8(mem, pc + 1, &second);
	if (op == 0xf3 || (op == 0x48 && second == 0x83))
		return 4;
	return op == 0x48 ? 3 : 1;
}

/*
 * How many bytes from the start of a prologue or epilogue row on have the right caller
 * by the frame pointer: up to the first instruction that the walk does not know.
 */
static u64 fp_right_bytes(const struct elf_file *elf, const struct fp_part *part,
			  enum fp_role role)
{
	const u64 stack = 8, wanted = role == FP_ENTRY ? stack : stack + 8;
	const enum frame_peek told = role == FP_ENTRY ? FRAME_PEEK_RA : FRAME_PEEK_PUSHED;
	struct bee_frame frame = { .ip = part->start, .sp = stack, .activation = true };
	struct bee_uread mem = { .elf = elf };
	u64 slot = 0;

	while (frame.ip < part->end && frame_peek(&mem, &frame, &slot) == told && slot == wanted)
		frame.ip += fp_length(&mem, frame.ip);
	/* Behind a ret there may be bytes that only fill space. */
	if (frame.ip > part->start && padding_fills(elf, frame.ip, part->end))
		frame.ip = part->end;
	return (frame.ip < part->end ? frame.ip : part->end) - part->start;
}

/* Leave a function to the frame pointer. */
static void fp_bypass_function(struct lossy *lossy, struct row_set *to, size_t first, u64 start,
			       u64 end)
{
	const struct bee_rule gap = { .kind = BEE_RULE_GAP };
	const struct row_set *rows = lossy->rows;
	size_t i;

	for (i = first; i < rows->nrows && rows->rows[i].pc < end; i++) {
		const struct bee_rule *row = &rows->rules[rows->rows[i].rule];
		struct fp_part part = fp_part_of(rows, i, start, end);
		enum fp_role role = fp_role_of(row);
		u64 bytes, right;

		if (part.start >= part.end)
			continue;
		row_set_add(to, part.start, role == FP_SPECIAL ? row : &gap);
		if (role == FP_SPECIAL || role == FP_BODY)
			continue;
		bytes = part.end - part.start;
		right = fp_right_bytes(lossy->elf, &part, role);
		lossy->report->edges += bytes;
		lossy->report->edges_wrong += bytes - right;
	}
	lossy->report->by_fp++;
}

static void fp_keep_function(const struct row_set *rows, struct row_set *to, size_t first,
			     u64 start, u64 end)
{
	size_t i;

	for (i = first; i < rows->nrows && rows->rows[i].pc < end; i++) {
		struct fp_part part = fp_part_of(rows, i, start, end);

		if (part.start < part.end)
			row_set_add(to, part.start, &rows->rules[rows->rows[i].rule]);
	}
}

/* One sentence about functions that use rbp for other things. */
static int fp_refuse(const struct lossy *lossy, size_t others, u64 first)
{
	if (!others)
		error_set(lossy->error, 0,
			 "none of its functions keeps a frame pointer");
	else
		error_set(lossy->error, 0,
			 "%zu of %zu functions keep no frame pointer, first that at 0x%llx",
			 others, lossy->report->functions, (unsigned long long)first);
	return -1;
}

/* All functions; @to becomes the new rows. */
static int fp_bypass_all(struct lossy *lossy, struct row_set *to)
{
	const struct row_set *rows = lossy->rows;
	size_t i, first = 0, others = 0;
	u64 start, end, first_other = 0;

	for (i = 0; i < rows->nstarts; i++) {
		unsigned int roles;

		start = i ? rows->starts[i] : rows->rows[0].pc;
		end = i + 1 < rows->nstarts ? rows->starts[i + 1] : rows->end;
		while (row_end(rows, first) <= start)
			first++;
		roles = fp_roles(rows, first, start, end);
		if (fp_is_other(roles) && !fp_is_plt(rows, first, start)) {
			if (!others++)
				first_other = start;
		} else if (roles & FP_BODY && !(roles & FP_OTHER)) {
			fp_bypass_function(lossy, to, first, start, end);
		} else {
			fp_keep_function(rows, to, first, start, end);
		}
	}
	if (others || !lossy->report->by_fp)
		return fp_refuse(lossy, others, first_other);
	return 0;
}

static int fp_bypass(struct lossy *lossy)
{
	struct row_set to = { .end = lossy->rows->end };

	lossy->report->functions = lossy->rows->nstarts;
	if (fp_bypass_all(lossy, &to)) {
		row_set_free(&to);
		return -1;
	}
	lossy_replace_rows(lossy->rows, &to);
	lossy->report->wrong += lossy->report->edges_wrong;
	return 0;
}

/**
 * struct thin_part - a row, or the part of one that is in a function
 * @pc: its start; it ends where the next one starts
 * @rule: index of its rule
 * @starts: a function starts here
 * @split: the part before is of the same row
 * @gone: its text is left to the part before
 */
struct thin_part {
	u64	pc;
	u32	rule;
	bool	starts;
	bool	split;
	bool	gone;
};

/**
 * struct thin_detour - parts between two of the function's body, or behind its last one
 * @first: index of the first part
 * @end: index after the last one
 * @rows: rows that go with it
 * @bytes: of text
 */
struct thin_detour {
	u32	first;
	u32	end;
	u32	rows;
	u64	bytes;
};

/**
 * struct thin - parts and what may go
 * @rows: the rows
 * @parts: of all functions; one more at the end, for its pc
 * @nparts: number of them
 * @room: parts there is memory for
 * @detours: what may go
 * @ndetours: number of them
 * @room_detours: detours there is memory for
 * @bytes_of_rule: in the function at hand; all zero in between
 */
struct thin {
	const struct row_set	*rows;
	struct thin_part	*parts;
	size_t			 nparts;
	size_t			 room;
	struct thin_detour	*detours;
	size_t			 ndetours;
	size_t			 room_detours;
	u64			*bytes_of_rule;
};

static void thin_add_part(struct thin *thin, u64 pc, u32 rule, bool starts, bool split)
{
	thin->parts = alloc_room(thin->parts, thin->nparts, &thin->room, sizeof(*thin->parts));
	thin->parts[thin->nparts++] = (struct thin_part){
		.pc = pc, .rule = rule, .starts = starts, .split = split,
	};
}

/* Cut rows where functions start. */
static void thin_cut(struct thin *thin)
{
	const struct row_set *rows = thin->rows;
	size_t i, start = 0;

	for (i = 0; i < rows->nrows; i++) {
		u64 pc = rows->rows[i].pc, end = row_end(rows, i);
		u32 rule = rows->rows[i].rule;
		bool starts;

		while (start < rows->nstarts && rows->starts[start] < pc)
			start++;
		starts = start < rows->nstarts && rows->starts[start] == pc;
		thin_add_part(thin, pc, rule, starts, false);
		for (start += starts; start < rows->nstarts && rows->starts[start] < end; start++)
			thin_add_part(thin, rows->starts[start], rule, true, true);
	}
	thin_add_part(thin, rows->end, 0, true, false);
	thin->nparts--;
}

static u64 thin_bytes(const struct thin *thin, size_t i)
{
	return thin->parts[i + 1].pc - thin->parts[i].pc;
}

static bool thin_is_plain(const struct thin *thin, size_t i)
{
	return row_is_plain(&thin->rows->rules[thin->parts[i].rule]);
}

/* The rule of most of the text of parts [@first, @end). */
static u32 thin_body_rule(struct thin *thin, size_t first, size_t end)
{
	u64 *bytes = thin->bytes_of_rule;
	u32 body = thin->parts[first].rule;
	size_t i;

	for (i = first; i < end; i++) {
		u32 rule = thin->parts[i].rule;

		bytes[rule] += thin_bytes(thin, i);
		if (bytes[rule] > bytes[body])
			body = rule;
	}
	for (i = first; i < end; i++)
		bytes[thin->parts[i].rule] = 0;
	return body;
}

/* Parts from @first on: up to the body, what is not plain, or @end. */
static void thin_add_detour(struct thin *thin, size_t first, size_t end, u32 body)
{
	const struct thin_part *parts = thin->parts;
	struct thin_detour detour = { .first = first, .end = first };

	while (detour.end < end && parts[detour.end].rule != body &&
	       thin_is_plain(thin, detour.end)) {
		detour.bytes += thin_bytes(thin, detour.end);
		detour.end++;
	}
	detour.rows = detour.end - first;
	if (detour.end < end && parts[detour.end].rule == body)
		detour.rows++;
	else if (parts[detour.end].split)
		detour.rows--;
	if (!detour.rows)
		return;
	thin->detours = alloc_room(thin->detours, thin->ndetours, &thin->room_detours,
				   sizeof(*thin->detours));
	thin->detours[thin->ndetours++] = detour;
}

/* What lies before the body stays: prologues are much the same, and cost next to nothing. */
static void thin_find_detours(struct thin *thin)
{
	size_t i, first, end;

	for (first = 0; first < thin->nparts; first = end) {
		u32 body;

		for (end = first + 1; end < thin->nparts && !thin->parts[end].starts; end++)
			;
		body = thin_body_rule(thin, first, end);
		for (i = first; i + 1 < end; i++)
			if (thin->parts[i].rule == body && thin_is_plain(thin, i))
				thin_add_detour(thin, i + 1, end, body);
	}
}

/* Fewest bytes for each row first. */
static int thin_compare(const void *a, const void *b)
{
	const struct thin_detour *x = a, *y = b;
	u64 left = x->bytes * y->rows, right = y->bytes * x->rows;

	if (left != right)
		return left < right ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

/* Return: bytes of text that have another rule now. */
static u64 thin_drop(struct thin *thin, u64 wanted)
{
	u64 dropped = 0, bytes = 0;
	size_t i, part;

	qsort(thin->detours, thin->ndetours, sizeof(*thin->detours), thin_compare);
	for (i = 0; i < thin->ndetours && dropped < wanted; i++) {
		const struct thin_detour *detour = &thin->detours[i];

		for (part = detour->first; part < detour->end; part++)
			thin->parts[part].gone = true;
		dropped += detour->rows;
		bytes += detour->bytes;
	}
	return bytes;
}

static void thin_rows(struct lossy *lossy, unsigned int percent)
{
	struct row_set *rows = lossy->rows, to = { .end = rows->end };
	struct thin thin = { .rows = rows };
	size_t i;

	thin.bytes_of_rule = alloc_array(NULL, rows->nrules, sizeof(*thin.bytes_of_rule));
	memset(thin.bytes_of_rule, 0, rows->nrules * sizeof(*thin.bytes_of_rule));
	thin_cut(&thin);
	thin_find_detours(&thin);
	lossy->report->wrong += thin_drop(&thin, (u64)rows->nrows * percent / 100);
	for (i = 0; i < thin.nparts; i++)
		if (!thin.parts[i].gone)
			row_set_add(&to, thin.parts[i].pc, &rows->rules[thin.parts[i].rule]);
	lossy->report->dropped = rows->nrows - to.nrows;
	lossy_replace_rows(rows, &to);
	free(thin.parts);
	free(thin.detours);
	free(thin.bytes_of_rule);
}

/**
 * lossy_apply() - leave out what may be lost
 * @elf: the file
 * @rows: its rows; changed, and of no use after a failure
 * @options: what
 * @report: filled
 * @error: filled on failure
 *
 * Return: 0 or -1.
 */
int lossy_apply(const struct elf_file *elf, struct row_set *rows,
		    const struct lossy_options *options, struct lossy_report *report,
		    struct bee_error *error)
{
	struct lossy lossy = {
		.elf = elf, .rows = rows, .report = report,
		.error = error,
	};

	*report = (struct lossy_report){ .text = lossy_text(rows), .rows = rows->nrows };
	if (options->fp_bypass && fp_bypass(&lossy))
		return -1;
	if (options->thin)
		thin_rows(&lossy, options->thin);
	rows->flags = (options->fp_bypass ? BEE_TABLE_F_FP_BYPASS : 0) |
		      (options->thin ? BEE_TABLE_F_THINNED : 0);
	return 0;
}

/* lossy_is_exact(): is nothing to be left out? */
bool lossy_is_exact(const struct lossy_options *options)
{
	return !options->fp_bypass && !options->thin;
}

/**
 * lossy_words() - what a table is not exact in
 * @flags: BEE_TABLE_F_*
 *
 * Return: options of "beectl compile", or "" if it is exact.
 */
const char *lossy_words(unsigned int flags)
{
	static const char *const words[] = {
		[0] = "",
		[BEE_TABLE_F_FP_BYPASS] = "fp-bypass",
		[BEE_TABLE_F_THINNED] = "thin",
		[BEE_TABLE_F_FP_BYPASS | BEE_TABLE_F_THINNED] = "fp-bypass, thin",
	};

	return flags <= BEE_TABLE_F_ALL ? words[flags] : "unknown";
}
