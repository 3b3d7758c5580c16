// SPDX-License-Identifier: GPL-2.0
/*
 * Frame pointer bypass: a function that keeps a frame pointer gets a gap row.  In a gap the walk
 * uses the frame pointer and checks it; bee_frame_step_fp() looks at the instruction to see whether
 * the frame pointer is set up.  The same code runs here, to count the bytes of prologues and
 * epilogues where it finds the right caller.  A rule "CFA = rbp+16" for the whole function would be
 * as small, but wrong at its first instruction, and unchecked.
 */
#include "error.h"
#include "lossy_ways.h"
#include "padding.h"

struct bee_uread {
	const struct elf_file *elf;
};

/* For kmod/frame.h: of its functions only frame_peek() is called here, and it reads only code. */
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

struct fp_bypass {
	const struct elf_file	*elf;
	const struct row_set	*rows;
	struct row_set		*to;
	struct lossy_report	*report;
};

/* A function: [@start, @end), and the row at its start. */
struct fp_function {
	u64	start;
	u64	end;
	size_t	first;
};

/**
 * enum fp_role - how a function uses rbp, by one of its rows
 * @FP_BODY: CFA = rbp+16, FP at CFA-16: rbp is the frame pointer
 * @FP_ENTRY: CFA = rsp+8: before push %rbp, or after it was popped
 * @FP_PUSHED: CFA = rsp+16, FP at CFA-16: between push %rbp and mov %rsp,%rbp
 * @FP_OTHER: plain, but of a function that keeps no frame pointer
 * @FP_SPECIAL: not plain: says nothing about the frame pointer
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

	if (!lossy_rule_is_plain(r))
		return FP_SPECIAL;
	if (r->cfa_reg == BEE_REG_RBP)
		return r->cfa_off == 16 && saved ? FP_BODY : FP_OTHER;
	if (r->cfa_off == 8 && (saved || r->fp == BEE_FP_SAME))
		return FP_ENTRY;
	return r->cfa_off == 16 && saved ? FP_PUSHED : FP_OTHER;
}

/*
 * Is it the first entry of a PLT?  That pushes GOT+8 with an instruction of 6 bytes and jumps, with
 * two words on the stack at its start.  If there is no second entry, its FDE has no expression that
 * would make it FP_SPECIAL.
 */
static bool fp_is_plt(const struct row_set *rows, const struct fp_function *f)
{
	size_t i;

	for (i = 0; i < 2; i++) {
		const struct bee_rule *rule;

		if (f->first + i >= rows->nrows)
			return false;
		rule = row_rule(rows, f->first + i);
		if (!lossy_rule_is_plain(rule) || rule->cfa_reg != BEE_REG_RSP ||
		    rule->fp != BEE_FP_SAME || rule->cfa_off != (i ? 24 : 16) ||
		    (i && rows->rows[f->first + 1].pc != f->start + 6))
			return false;
	}
	return true;
}

/*
 * At how many bytes of a row of a prologue or epilogue, from its start, does the walk find the
 * right caller by the frame pointer?  Up to the first instruction that frame_peek() does not know.
 */
static u64 fp_right_bytes(const struct elf_file *elf, u64 start, u64 end, enum fp_role role)
{
	const u64 stack = 8, wanted = role == FP_ENTRY ? stack : stack + 8;
	const enum frame_peek told = role == FP_ENTRY ? FRAME_PEEK_RA : FRAME_PEEK_PUSHED;
	struct bee_frame frame = { .ip = start, .sp = stack, .activation = true };
	struct bee_uread mem = { .elf = elf };
	u64 slot = 0;

	while (frame.ip < end && frame_peek(&mem, &frame, &slot) == told && slot == wanted) {
		u8 op = 0, second = 0;

		/* The lengths of the instructions that frame_peek() knows. */
		bee_uread_u8(&mem, frame.ip, &op);
		bee_uread_u8(&mem, frame.ip + 1, &second);
		if (op == 0xf3 || (op == 0x48 && second == 0x83))
			frame.ip += 4;
		else
			frame.ip += op == 0x48 ? 3 : 1;
	}
	/* After a ret there may be padding. */
	if (frame.ip > start && padding_fills(elf, frame.ip, end))
		frame.ip = end;
	return (frame.ip < end ? frame.ip : end) - start;
}

/* Copy a function's rows to @fp->to; with @bypass, plain rules become gaps. */
static void fp_copy_function(struct fp_bypass *fp, const struct fp_function *f, bool bypass)
{
	const struct bee_rule gap = { .kind = BEE_RULE_GAP };
	const struct row_set *rows = fp->rows;
	size_t i;

	fp->report->by_fp += bypass;
	for (i = f->first; i < rows->nrows && rows->rows[i].pc < f->end; i++) {
		const struct bee_rule *rule = row_rule(rows, i);
		enum fp_role role = bypass ? fp_role_of(rule) : FP_SPECIAL;
		u64 start = rows->rows[i].pc, end = row_end(rows, i);

		if (start < f->start)
			start = f->start;
		if (end > f->end)
			end = f->end;
		if (start >= end)
			continue;
		row_set_add(fp->to, start, role == FP_SPECIAL ? rule : &gap);
		if (role == FP_SPECIAL || role == FP_BODY)
			continue;
		fp->report->edges += end - start;
		fp->report->edges_wrong += end - start -
					   fp_right_bytes(fp->elf, start, end, role);
	}
}

/**
 * lossy_fp_bypass() - leave functions that keep a frame pointer to it
 * @elf: the file
 * @rows: its rows; unchanged after a failure
 * @report: functions, by_fp, edges, edges_wrong and wrong are set
 * @error: filled on failure
 *
 * Return: 0; -1 if the file is not made with frame pointers.
 */
int lossy_fp_bypass(const struct elf_file *elf, struct row_set *rows, struct lossy_report *report,
		    struct bee_error *error)
{
	struct row_set to = { .end = rows->end };
	struct fp_bypass fp = { .elf = elf, .rows = rows, .to = &to, .report = report };
	struct fp_function f = {};
	size_t i, others = 0;
	u64 first_other = 0;

	report->functions = rows->nstarts;
	for (i = 0; i < rows->nstarts; i++) {
		unsigned int roles = 0;
		bool other;
		size_t row;

		f.start = i ? rows->starts[i] : rows->rows[0].pc;
		f.end = i + 1 < rows->nstarts ? rows->starts[i + 1] : rows->end;
		while (row_end(rows, f.first) <= f.start)
			f.first++;
		for (row = f.first; row < rows->nrows && rows->rows[row].pc < f.end; row++)
			if (row_end(rows, row) > f.start)
				roles |= fp_role_of(row_rule(rows, row));
		/*
		 * Does it move the stack pointer without a frame pointer?  A function with special
		 * rows (a PLT, a signal frame, a realigned stack) keeps them and does not count.
		 */
		other = !(roles & FP_SPECIAL) &&
			(roles & FP_OTHER || (roles & FP_PUSHED && !(roles & FP_BODY)));
		if (other && !fp_is_plt(rows, &f)) {
			if (!others++)
				first_other = f.start;
		} else {
			fp_copy_function(&fp, &f, roles & FP_BODY && !(roles & FP_OTHER));
		}
	}
	if (!others && report->by_fp) {
		row_set_replace(rows, &to);
		report->wrong += report->edges_wrong;
		return 0;
	}
	row_set_free(&to);
	if (!others)
		return error_set(error, 0, "none of its functions keeps a frame pointer");
	return error_set(error, 0,
			 "%zu of %zu functions keep no frame pointer, first that at 0x%llx",
			 others, report->functions, (unsigned long long)first_other);
}
