// SPDX-License-Identifier: GPL-2.0
/*
 * Registers that a function has saved, for the frame of its caller.
 *
 * In a caller's frame only rsp and rbp are known.  Where a CFA is based on another register that
 * functions preserve, as in the dynamic linker's _dl_runtime_resolve(), it can be had from the
 * frame of the callee, if the callee is known and saves the register in one place.  This file finds
 * the direct calls, and proves of each callee that
 *
 * - whenever its rsp is at or below that place, its CFI says that the register is saved there;
 * - whenever its rsp is above, the register has the caller's value: it has not been pushed yet, or
 *   has been popped;
 * - it does not jump into another function, which would have a frame of its own below the call; but
 *   while its frame exists it may jump to one cold part, which the compiler has put elsewhere with
 *   an FDE of its own.
 */
#include "alloc.h"
#include "callee.h"
#include "insn.h"

/* What is looked at of a function; those of interest are small. */
#define CALLEE_MAX_INSNS	10000
#define CALLEE_MAX_CFI		10000	/* bytes */

/**
 * struct callee - the proof of one function
 * @fde: its FDE
 * @cold: the FDE of its cold part, or NULL
 * @offset: the register is saved at CFA + @offset; 0 before the first row says so
 * @popped: the row before has the register saved, at the end of its frame or beyond
 * @depth: CFA - rsp in the row before
 * @deepest: the largest CFA - rsp of the rows before the register is saved
 * @bad: the proof has failed
 * @rows: start and end of the rows in which rsp is at or below the place
 * @nrows: entries in @rows
 * @room: rows there is memory for
 */
struct callee {
	const struct fde	*fde;
	const struct fde	*cold;
	s64			 offset;
	bool			 popped;
	s64			 depth;
	s64			 deepest;
	bool			 bad;
	struct callee_range {
		u64	start;
		u64	end;
	}			*rows;
	size_t			 nrows;
	size_t			 room;
};

/* A row of the callee.  Its frame is deep enough for the register from "push" to "pop". */
static void callee_row(void *arg, u64 start, u64 end, const struct cfi_row *row)
{
	struct callee *callee = arg;
	bool saved = row->other.how == CFI_OFFSET, popped = false;

	if (row->cfa.how != CFI_REGISTER || row->cfa.reg != BEE_REG_RSP ||
	    (!saved && row->other.how != CFI_UNSPECIFIED && row->other.how != CFI_SAME)) {
		callee->bad = true;
		return;
	}
	if (saved && !callee->offset) {
		callee->offset = row->other.offset;
		callee->bad |= callee->deepest >= -callee->offset;
	}
	if (row->cfa.offset > callee->deepest)
		callee->deepest = row->cfa.offset;
	callee->bad |= saved && row->other.offset != callee->offset;
	if (callee->offset && row->cfa.offset >= -callee->offset) {
		callee->bad |= !saved;
		callee->rows = alloc_room(callee->rows, callee->nrows, &callee->room,
					  sizeof(*callee->rows));
		callee->rows[callee->nrows++] = (struct callee_range){ start, end };
		popped = row->cfa.offset == -callee->offset;
	} else if (saved) {
		/* CFI need not say that a register has been popped. */
		callee->bad |= !callee->popped || row->cfa.offset != callee->depth - 8;
		popped = true;
	}
	callee->popped = popped;
	callee->depth = row->cfa.offset;
}

static bool callee_frame_exists(const struct callee *callee, u64 pc)
{
	size_t first = 0, last = callee->nrows;

	while (first < last) {
		size_t i = first + (last - first) / 2;

		if (pc >= callee->rows[i].start && pc < callee->rows[i].end)
			return true;
		if (pc < callee->rows[i].start)
			last = i;
		else
			first = i + 1;
	}
	return false;
}

/* The FDE that covers @pc, or NULL. */
static const struct fde *callee_fde(const struct fde_list *list, u64 pc)
{
	size_t i;

	for (i = 0; i < list->nfdes; i++)
		if (list->fdes[i].begin <= pc && pc < list->fdes[i].end && !list->fdes[i].malformed)
			return &list->fdes[i];
	return NULL;
}

/* What cfi_run() needs to follow @reg through @fde.  Return: whether that makes sense, and ends soon. */
static bool callee_cie(const struct fde_list *list, const struct fde *fde, u8 reg,
		       struct cfi_cie *cie)
{
	const struct cie *found = &list->cies[fde->cie];

	*cie = found->cfi;
	cie->other_reg = reg;
	return !cie->signal && cie->ra_reg != reg && found->size + fde->size <= CALLEE_MAX_CFI &&
	       !cfi_start(cie, found->insns, found->size);
}

/* A row of the cold part: the frame is there, and the register in it. */
static void callee_cold_row(void *arg, u64 start, u64 end, const struct cfi_row *row)
{
	struct callee *callee = arg;

	(void)start;
	(void)end;
	callee->bad |= row->cfa.how != CFI_REGISTER || row->cfa.reg != BEE_REG_RSP ||
		       row->other.how != CFI_OFFSET || row->other.offset != callee->offset ||
		       row->cfa.offset < -callee->offset;
}

/* Does the cold part at @pc go on with the same frame, and jump back into that only? */
static bool callee_goes_cold(const struct elf_file *elf, const struct fde_list *list,
			     struct callee *callee, u64 pc, u8 reg)
{
	const struct fde *fde = callee->cold;
	struct cfi_cie cie;
	struct insn insn;
	size_t n;

	if (fde)
		return fde->begin <= pc && pc < fde->end;
	fde = callee_fde(list, pc);
	if (!fde)
		return false;
	callee->cold = fde;
	if (!callee_cie(list, fde, reg, &cie) ||
	    cfi_run(&cie, fde->insns, fde->size, fde->begin, fde->end, callee_cold_row, callee) !=
		    fde->end || callee->bad)
		return false;
	for (pc = fde->begin, n = 0; pc < fde->end && n < CALLEE_MAX_INSNS; n++, pc += insn.length) {
		if (!insn_read(elf, pc, fde->end, &insn))
			return false;
		if ((insn.kind == INSN_JUMP || insn.kind == INSN_BRANCH) &&
		    (insn.target < fde->begin || insn.target >= fde->end) &&
		    !callee_frame_exists(callee, insn.target))
			return false;
	}
	return pc == fde->end;
}

/*
 * Does every instruction stay in the function?  A function that it jumps to has a frame of its own
 * below the call, in which the word may be anything; or, if the jump is made with this frame on the
 * stack, it returns into that.  Indirect jumps stay where the frame exists (a switch).
 */
static bool callee_stays(const struct elf_file *elf, const struct fde_list *list,
			 struct callee *callee, u8 reg)
{
	u64 pc = callee->fde->begin, end = callee->fde->end;
	struct insn insn;
	size_t n;

	for (n = 0; pc < end && n < CALLEE_MAX_INSNS; n++, pc += insn.length) {
		bool exists = callee_frame_exists(callee, pc);

		if (!insn_read(elf, pc, end, &insn) || (insn.kind == INSN_JUMP_INDIRECT && !exists))
			return false;
		if ((insn.kind == INSN_JUMP || insn.kind == INSN_BRANCH) &&
		    (insn.target < callee->fde->begin || insn.target >= end) &&
		    !(exists && callee_goes_cold(elf, list, callee, insn.target, reg)))
			return false;
	}
	return pc == end;
}

/* Prove where the function at @pc saves @reg: bytes below its CFA, negative; 0: not in one place. */
static s32 callee_prove(const struct elf_file *elf, const struct fde_list *list, u64 pc, u8 reg)
{
	struct callee callee = { .fde = callee_fde(list, pc) };
	struct cfi_cie cie;

	if (!callee.fde || callee.fde->begin != pc)
		return 0;
	if (!callee_cie(list, callee.fde, reg, &cie) ||
	    cfi_run(&cie, callee.fde->insns, callee.fde->size, pc, callee.fde->end, callee_row,
		    &callee) != callee.fde->end ||
	    !callee.offset || callee.bad || !callee_stays(elf, list, &callee, reg))
		callee.bad = true;
	free(callee.rows);
	return callee.bad || callee.offset >= 0 || callee.offset != (s32)callee.offset ?
	       0 : callee.offset;
}

/* As callee_prove(), once for each function and register.  0 also if the file has had its proofs. */
static s32 callee_saves(const struct elf_file *elf, const struct fde_list *list,
			struct callee_proofs *proofs, u64 pc, u8 reg)
{
	unsigned int i;

	for (i = 0; i < proofs->count; i++)
		if (proofs->proof[i].target == pc && proofs->proof[i].reg == reg)
			return proofs->proof[i].offset;
	if (i == CALLEE_MAX_PROOFS)
		return 0;
	proofs->proof[i].target = pc;
	proofs->proof[i].reg = reg;
	proofs->proof[i].offset = callee_prove(elf, list, pc, reg);
	proofs->count++;
	return proofs->proof[i].offset;
}

/** callee_can_save() - is the CFA based on a register that functions preserve, but not rbp? */
bool callee_can_save(const struct bee_rule *rule)
{
	return rule->kind == BEE_RULE_KNOWN && !rule->arg && rule->cfa == BEE_CFA_REG &&
	       (rule->cfa_reg == BEE_REG_RBX ||
		(rule->cfa_reg >= BEE_REG_R12 && rule->cfa_reg <= BEE_REG_R15));
}

/**
 * callee_add_rows() - add the rows of calls whose callee saves the register of the CFA
 * @elf: the file
 * @list: its FDEs
 * @proofs: of the calls before
 * @rule: callee_can_save(); the rule of the last of @rows
 * @start: where that row starts, which is the first byte of an instruction
 * @end: pc after it
 * @rows: the rows; each such call gets one that covers it, and what is behind it gets one with @rule
 */
void callee_add_rows(const struct elf_file *elf, const struct fde_list *list,
		     struct callee_proofs *proofs, const struct bee_rule *rule, u64 start, u64 end,
		     struct row_set *rows)
{
	struct bee_rule saved = *rule;
	struct insn insn;
	size_t n;
	u64 pc;

	saved.cfa = BEE_CFA_SAVED;
	saved.cfa_add = rule->cfa_off;
	for (pc = start, n = 0; pc < end && n < CALLEE_MAX_INSNS; pc += insn.length, n++) {
		if (!insn_read(elf, pc, end, &insn))
			return;
		if (insn.kind != INSN_CALL)
			continue;
		saved.cfa_off = callee_saves(elf, list, proofs, insn.target, rule->cfa_reg);
		if (!saved.cfa_off)
			continue;
		row_set_add(rows, pc, &saved);
		if (pc + insn.length < end)
			row_set_add(rows, pc + insn.length, rule);
	}
}
