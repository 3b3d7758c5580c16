// SPDX-License-Identifier: GPL-2.0
/*
 * What libdw refuses: a second reading of an FDE's instructions.
 *
 * libdw has no CFA where an instruction changes only the register or only the offset of a CFA that
 * is an expression, and calls a register undefined whose expression is empty.  This follows the tables of
 * DWARF 5, 7.24 and 7.7.1, and for those places what libgcc, gdb and readelf do.  To be worth something it
 * has nothing in common with tools/elf/cfi.c and tools/elf/expr.c: it skips what does not concern these,
 * and keeps expressions as they are.
 */
#include <dwarf.h>

#include "alloc.h"
#include "cursor.h"
#include "judge.h"
#include "pointer.h"

/* The CFA: an expression if @expr, otherwise @reg + @offset if @set. */
struct judge_cfa {
	bool		set;
	u64		reg;
	s64		offset;
	const u8	*expr;
	u64		size;
};

/* @cfa; @empty: registers that have an empty expression. */
struct judge_state {
	struct judge_cfa	cfa;
	struct judge_empty	empty;
};

struct judge_run {
	const struct cfi_cie	*cie;
	struct judge_state	 state;
	struct judge_empty	 initial;	/* what the CIE leaves */
	struct judge_state	*states;
	size_t			 nstates;
	size_t			 room;
	bool			 too_deep;
	u64			 at;		/* where the instructions have come to */
	u64			 pc;		/* that is asked for */
};

/*
 * Operands: '1', '2', '4': so many bytes; 'u': ULEB128; 's': SLEB128; 'b': a block behind its
 * length; 'p': an encoded pointer.  NULL: no such instruction.
 */
static const char *const insn_operands[64] = {
	[DW_CFA_nop] = "", [DW_CFA_set_loc] = "p", [DW_CFA_advance_loc1] = "1",
	[DW_CFA_advance_loc2] = "2", [DW_CFA_advance_loc4] = "4", [DW_CFA_offset_extended] = "uu",
	[DW_CFA_restore_extended] = "u", [DW_CFA_undefined] = "u", [DW_CFA_same_value] = "u",
	[DW_CFA_register] = "uu", [DW_CFA_remember_state] = "", [DW_CFA_restore_state] = "",
	[DW_CFA_def_cfa] = "uu", [DW_CFA_def_cfa_register] = "u", [DW_CFA_def_cfa_offset] = "u",
	[DW_CFA_def_cfa_expression] = "b", [DW_CFA_expression] = "ub",
	[DW_CFA_offset_extended_sf] = "us", [DW_CFA_def_cfa_sf] = "us",
	[DW_CFA_def_cfa_offset_sf] = "s", [DW_CFA_val_offset] = "uu", [DW_CFA_val_offset_sf] = "us",
	[DW_CFA_val_expression] = "ub", [DW_CFA_GNU_args_size] = "u",
	[DW_CFA_GNU_negative_offset_extended] = "uu",
};

struct operand {
	u64		 value;		/* of a block: its length */
	const u8	*block;
};

static struct operand operand_read(struct cursor *c, char kind, const struct cfi_cie *cie)
{
	struct operand operand = {};

	switch (kind) {
	case '1':
	case '2':
	case '4':
		operand.value = cursor_uint(c, kind - '0');
		break;
	case 'u':
		operand.value = cursor_uleb(c);
		break;
	case 's':
		operand.value = cursor_sleb(c);
		break;
	case 'b':
		operand.value = cursor_uleb(c);
		operand.block = cursor_take(c, operand.value);
		break;
	case 'p':
		if (!pointer_read(c, cie->encoding, &cie->base, &operand.value))
			c->bad = true;
		break;
	}
	return operand;
}

static bool judge_restore(struct judge_run *run)
{
	if (!run->nstates)
		return false;
	run->state = run->states[--run->nstates];
	run->too_deep |= run->nstates >= CFI_MAX_STATES;
	return true;
}

static u32 reg_bit(u64 reg)
{
	return reg < EVAL_REGS ? 1u << reg : 0;
}

/* @reg gets a rule. */
static void judge_register(struct judge_run *run, u64 reg)
{
	run->state.empty.place &= ~reg_bit(reg);
	run->state.empty.value &= ~reg_bit(reg);
}

/* @reg gets the rule that the CIE has for it. */
static void judge_restore_register(struct judge_run *run, u64 reg)
{
	judge_register(run, reg);
	run->state.empty.place |= run->initial.place & reg_bit(reg);
	run->state.empty.value |= run->initial.value & reg_bit(reg);
}

/* Return: false if the instruction cannot be read, or the pc asked for is before it. */
static bool judge_step(struct judge_run *run, struct cursor *c)
{
	u8 op = cursor_u8(c), low = op & 0x3f;
	u64 align = run->cie->code_align;
	struct operand o[2] = {};
	const char *kinds;
	struct judge_cfa *cfa = &run->state.cfa;
	size_t i;

	switch (op & 0xc0) {
	case DW_CFA_advance_loc:
		run->at += low * align;
		return run->at <= run->pc;
	case DW_CFA_offset:
		cursor_uleb(c);
		judge_register(run, low);
		return !c->bad;
	case DW_CFA_restore:
		judge_restore_register(run, low);
		return true;
	}
	kinds = insn_operands[op];
	for (i = 0; kinds && kinds[i]; i++)
		o[i] = operand_read(c, kinds[i], run->cie);
	if (!kinds || c->bad)
		return false;
	switch (op) {
	case DW_CFA_set_loc:
		run->at = o[0].value;
		return run->at <= run->pc;
	case DW_CFA_advance_loc1:
	case DW_CFA_advance_loc2:
	case DW_CFA_advance_loc4:
		run->at += o[0].value * align;
		return run->at <= run->pc;
	case DW_CFA_remember_state:
		run->states = alloc_room(run->states, run->nstates, &run->room,
					 sizeof(*run->states));
		run->states[run->nstates++] = run->state;
		return true;
	case DW_CFA_restore_state:
		return judge_restore(run);
	case DW_CFA_def_cfa:
		*cfa = (struct judge_cfa){ true, o[0].value, o[1].value };
		return true;
	case DW_CFA_def_cfa_sf:
		*cfa = (struct judge_cfa){ true, o[0].value, o[1].value * run->cie->data_align };
		return true;
	case DW_CFA_def_cfa_register:
		cfa->set = cfa->set || cfa->expr;
		cfa->reg = o[0].value;
		cfa->expr = NULL;
		return true;
	case DW_CFA_def_cfa_offset:
		cfa->offset = o[0].value;
		return true;
	case DW_CFA_def_cfa_offset_sf:
		cfa->offset = o[0].value * run->cie->data_align;
		return true;
	case DW_CFA_def_cfa_expression:
		cfa->expr = o[0].block;
		cfa->size = o[0].value;
		return true;
	case DW_CFA_restore_extended:
		judge_restore_register(run, o[0].value);
		return true;
	case DW_CFA_nop:
	case DW_CFA_GNU_args_size:
		return true;
	}
	/* All others are rules of the register that is their first operand. */
	judge_register(run, o[0].value);
	if (!o[1].value && op == DW_CFA_expression)
		run->state.empty.place |= reg_bit(o[0].value);
	if (!o[1].value && op == DW_CFA_val_expression)
		run->state.empty.value |= reg_bit(o[0].value);
	return true;
}

/* Run instructions.  Return: false if there is one that cannot be read, at or before the pc. */
static bool judge_run(struct judge_run *run, const u8 *insns, size_t size)
{
	struct cursor c = cursor_of(insns, size);

	while (cursor_left(&c))
		if (!judge_step(run, &c))
			return run->at > run->pc;
	return true;
}

/* A letter for each operand of an operation, see op_operand(); "" if eval.h does not know the operation. */
static const char *op_operands(u8 op)
{
	static const char *const consts[] = { "1", "x", "2", "y", "4", "z", "8", "8", "u", "s" };

	if (op >= DW_OP_const1u && op <= DW_OP_consts)
		return consts[op - DW_OP_const1u];
	if (op >= DW_OP_breg0 && op <= DW_OP_breg31)
		return "s";
	switch (op) {
	case DW_OP_plus_uconst:
		return "u";
	case DW_OP_bregx:
		return "us";
	case DW_OP_pick:
		return "1";
	}
	return "";
}

static u64 op_operand(struct cursor *c, char kind)
{
	switch (kind) {
	case 'x':
		return (s64)(s8)cursor_uint(c, 1);
	case 'y':
		return (s64)(s16)cursor_uint(c, 2);
	case 'z':
		return (s64)(s32)cursor_uint(c, 4);
	case '8':
		return cursor_uint(c, 8);
	}
	return operand_read(c, kind, NULL).value;
}

/* Return: false if the expression cannot be read, or has too many operations. */
static bool judge_decode(const struct judge_cfa *cfa, struct judge *judge)
{
	struct cursor c = cursor_of(cfa->expr, cfa->size);

	while (cursor_left(&c) && judge->nops < LIBDW_MAX_OPS) {
		struct eval_op *op = &judge->ops[judge->nops++];
		const char *kinds;

		*op = (struct eval_op){ .atom = cursor_u8(&c) };
		kinds = op_operands(op->atom);
		if (kinds[0])
			op->number = op_operand(&c, kinds[0]);
		if (kinds[0] && kinds[1])
			op->number2 = op_operand(&c, kinds[1]);
	}
	return !c.bad && !cursor_left(&c) && judge->nops;
}

/**
 * judge_fde() - read an FDE's instructions up to a pc
 * @cie: its CIE
 * @fde: the FDE, which describes @pc
 * @pc: address as in the file
 * @judge: filled
 */
void judge_fde(const struct cie *cie, const struct fde *fde, u64 pc, struct judge *judge)
{
	struct judge_run run = { .cie = &cie->cfi, .at = fde->begin, .pc = pc };
	const struct judge_cfa *cfa;

	*judge = (struct judge){ .known = judge_run(&run, cie->insns, cie->size) };
	run.initial = run.state.empty;
	judge->known = judge->known && judge_run(&run, fde->insns, fde->size);
	judge->too_deep = run.too_deep;
	if (judge->known)
		judge->empty = run.state.empty;
	cfa = &run.state.cfa;
	if (judge->known && cfa->expr) {
		judge->known = judge_decode(cfa, judge);
	} else if (judge->known && cfa->set) {
		judge->ops[judge->nops++] = (struct eval_op){
			.atom = DW_OP_bregx, .number = cfa->reg, .number2 = cfa->offset,
		};
	} else {
		judge->known = false;
	}
	free(run.states);
}
