// SPDX-License-Identifier: GPL-2.0
/* Call frame instructions (DWARF 5, 6.4.2). */
#include <dwarf.h>
#include <linux/beeunwind_table.h>

#include "cfi.h"

/* The interpreter. */
struct cfi_machine {
	struct cursor		 c;		/* at the next instruction */
	const struct cfi_cie	*cie;
	struct cfi_row		 row;		/* current rules */
	u64			 pc;		/* start of the current row */
	u64			 end;		/* of the FDE */
	unsigned int		 depth;		/* states to restore; the deepest are in @states */
	bool			 starting;	/* these are a CIE's own instructions */
	bool			 done;		/* @pc has reached @end */
	cfi_emit_fn		 emit;
	void			*arg;		/* of @emit */
	struct cfi_row		*states;	/* room for CFI_MAX_STATES */
};

static struct cfi_rule *cfi_column(struct cfi_row *row, const struct cfi_cie *cie, u64 reg)
{
	if (reg == BEE_REG_RBP)
		return &row->fp;
	if (reg == BEE_REG_RSP)
		return &row->sp;
	if (reg == cie->ra_reg)
		return &row->ra;
	if (reg == cie->other_reg)
		return &row->other;
	return NULL;
}

static void cfi_set(struct cfi_machine *m, u64 reg, struct cfi_rule rule)
{
	struct cfi_rule *column = cfi_column(&m->row, m->cie, reg);

	if (column)
		*column = rule;
}

/*
 * An operand times the data alignment factor, modulo 2^64: as libgcc, gdb, libdw and readelf have it,
 * so a negative offset may be written as an unsigned one (clang writes DW_CFA_def_cfa_offset 2^64-96).
 */
static s64 cfi_factored(const struct cfi_machine *m, u64 operand)
{
	return operand * (u64)m->cie->data_align;
}

static void cfi_set_offset(struct cfi_machine *m, u64 reg, enum cfi_how how, u64 operand)
{
	cfi_set(m, reg, (struct cfi_rule){ .how = how, .offset = cfi_factored(m, operand) });
}

static struct cfi_rule cfi_read_expr(struct cfi_machine *m, enum cfi_how how)
{
	u64 size = cursor_uleb(&m->c);
	const u8 *expr = cursor_take(&m->c, size);

	return (struct cfi_rule){ .how = how, .expr = expr, .size = size };
}

static void cfi_restore(struct cfi_machine *m, u64 reg)
{
	struct cfi_row initial = m->cie->initial;
	struct cfi_rule *column = cfi_column(&initial, m->cie, reg);

	if (m->starting)
		m->c.bad = true;
	else if (column)
		cfi_set(m, reg, *column);
}

static struct cfi_rule cfi_reg(u64 reg, s64 offset)
{
	return (struct cfi_rule){ .how = CFI_REGISTER, .reg = reg, .offset = offset };
}

/*
 * DWARF does not foresee the instructions for register or offset of the CFA behind an expression;
 * libgcc, gdb and readelf agree: an offset is remembered, and the expression stays; a register ends
 * the expression, and its rule has the offset remembered last.  Without any CFA there is none
 * afterwards.
 */
static void cfi_cfa_register(struct cfi_machine *m, u64 reg)
{
	m->row.cfa.reg = reg;
	if (m->row.cfa.how == CFI_EXPR)
		m->row.cfa.how = CFI_REGISTER;
}

static void cfi_cfa_expression(struct cfi_machine *m)
{
	struct cfi_rule rule = cfi_read_expr(m, CFI_EXPR);

	rule.reg = m->row.cfa.reg;
	rule.offset = m->row.cfa.offset;
	m->row.cfa = rule;
}

static void cfi_advance_to(struct cfi_machine *m, u64 pc)
{
	if (m->starting || pc < m->pc) {
		m->c.bad = true;
		return;
	}
	m->done = pc >= m->end;
	if (m->done)
		pc = m->end;
	if (pc > m->pc && !m->c.bad)
		m->emit(m->arg, m->pc, pc, &m->row);
	m->pc = pc;
}

static void cfi_advance(struct cfi_machine *m, u64 factored)
{
	u64 pc;

	if (__builtin_mul_overflow(factored, m->cie->code_align, &pc) ||
	    __builtin_add_overflow(pc, m->pc, &pc))
		pc = m->end;
	cfi_advance_to(m, pc);
}

static void cfi_step(struct cfi_machine *m)
{
	struct cursor *c = &m->c;
	u8 op = cursor_u8(c), operand = op & 0x3f;
	u64 reg, pc = 0;

	/* Three instructions have their operand in the low six bits. */
	switch (op & 0xc0 ?: op) {
	case DW_CFA_advance_loc:
		cfi_advance(m, operand);
		break;
	case DW_CFA_offset:
		cfi_set_offset(m, operand, CFI_OFFSET, cursor_uleb(c));
		break;
	case DW_CFA_restore:
		cfi_restore(m, operand);
		break;
	case DW_CFA_nop:
		break;
	case DW_CFA_set_loc:
		if (pointer_read(c, m->cie->encoding, &m->cie->base, &pc))
			cfi_advance_to(m, pc);
		else
			c->bad = true;
		break;
	case DW_CFA_advance_loc1:
		cfi_advance(m, cursor_u8(c));
		break;
	case DW_CFA_advance_loc2:
		cfi_advance(m, cursor_uint(c, 2));
		break;
	case DW_CFA_advance_loc4:
		cfi_advance(m, cursor_u32(c));
		break;
	case DW_CFA_def_cfa:
		reg = cursor_uleb(c);
		m->row.cfa = cfi_reg(reg, cursor_uleb(c));
		break;
	case DW_CFA_def_cfa_sf:
		reg = cursor_uleb(c);
		m->row.cfa = cfi_reg(reg, cfi_factored(m, cursor_sleb(c)));
		break;
	case DW_CFA_def_cfa_register:
		cfi_cfa_register(m, cursor_uleb(c));
		break;
	case DW_CFA_def_cfa_offset:
		m->row.cfa.offset = cursor_uleb(c);
		break;
	case DW_CFA_def_cfa_offset_sf:
		m->row.cfa.offset = cfi_factored(m, cursor_sleb(c));
		break;
	case DW_CFA_def_cfa_expression:
		cfi_cfa_expression(m);
		break;
	case DW_CFA_undefined:
		cfi_set(m, cursor_uleb(c), (struct cfi_rule){ .how = CFI_UNDEFINED });
		break;
	case DW_CFA_same_value:
		cfi_set(m, cursor_uleb(c), (struct cfi_rule){ .how = CFI_SAME });
		break;
	case DW_CFA_offset_extended:
		reg = cursor_uleb(c);
		cfi_set_offset(m, reg, CFI_OFFSET, cursor_uleb(c));
		break;
	case DW_CFA_offset_extended_sf:
		reg = cursor_uleb(c);
		cfi_set_offset(m, reg, CFI_OFFSET, cursor_sleb(c));
		break;
	case DW_CFA_GNU_negative_offset_extended:
		reg = cursor_uleb(c);
		cfi_set_offset(m, reg, CFI_OFFSET, -cursor_uleb(c));
		break;
	case DW_CFA_val_offset:
		reg = cursor_uleb(c);
		cfi_set_offset(m, reg, CFI_VAL_OFFSET, cursor_uleb(c));
		break;
	case DW_CFA_val_offset_sf:
		reg = cursor_uleb(c);
		cfi_set_offset(m, reg, CFI_VAL_OFFSET, cursor_sleb(c));
		break;
	case DW_CFA_register:
		reg = cursor_uleb(c);
		cfi_set(m, reg, cfi_reg(cursor_uleb(c), 0));
		break;
	case DW_CFA_expression:
		reg = cursor_uleb(c);
		cfi_set(m, reg, cfi_read_expr(m, CFI_EXPR));
		break;
	case DW_CFA_val_expression:
		reg = cursor_uleb(c);
		cfi_set(m, reg, cfi_read_expr(m, CFI_VAL_EXPR));
		break;
	case DW_CFA_restore_extended:
		cfi_restore(m, cursor_uleb(c));
		break;
	case DW_CFA_remember_state:
		if (m->depth < CFI_MAX_STATES)
			m->states[m->depth] = m->row;
		m->depth++;
		break;
	case DW_CFA_restore_state:
		if (!m->depth || --m->depth >= CFI_MAX_STATES)
			c->bad = true;
		else
			m->row = m->states[m->depth];
		break;
	case DW_CFA_GNU_args_size:
		cursor_uleb(c);
		break;
	default:
		c->bad = true;
	}
}

static int cfi_execute(struct cfi_machine *m)
{
	struct cfi_row states[CFI_MAX_STATES];

	m->states = states;
	while (!m->c.bad && !m->done && cursor_left(&m->c))
		cfi_step(m);
	m->states = NULL;
	return m->c.bad ? -1 : 0;
}

/**
 * cfi_start() - interpret a CIE's own instructions
 * @cie: everything but @cie->initial is set; that is filled
 * @insns: the instructions
 * @size: bytes of @insns
 *
 * Return: 0, or -1 if they are malformed.
 */
int cfi_start(struct cfi_cie *cie, const u8 *insns, size_t size)
{
	struct cfi_machine m = {
		.c = cursor_of(insns, size), .cie = cie, .starting = true,
	};

	/* One column would stand for RA and for FP or rsp; no compiler writes that. */
	if (cie->ra_reg == BEE_REG_RBP || cie->ra_reg == BEE_REG_RSP)
		return -1;
	if (cfi_execute(&m))
		return -1;
	cie->initial = m.row;
	return 0;
}

/**
 * cfi_run() - interpret an FDE's instructions
 * @cie: its CIE, started
 * @insns: the instructions
 * @size: bytes of @insns
 * @begin: first pc of the FDE
 * @end: pc after it, > @begin
 * @emit: called for every row in ascending order; the rows are adjacent
 * @arg: passed to @emit
 *
 * Instructions after the advance to @end describe no pc and are not interpreted.
 *
 * Return: the end of the last row: @end, or where the row begins that has a malformed instruction.
 */
u64 cfi_run(const struct cfi_cie *cie, const u8 *insns, size_t size, u64 begin, u64 end,
	    cfi_emit_fn emit, void *arg)
{
	struct cfi_machine m = {
		.c = cursor_of(insns, size), .cie = cie, .row = cie->initial,
		.pc = begin, .end = end, .emit = emit, .arg = arg,
	};

	if (!cfi_execute(&m) && !m.done)
		cfi_advance_to(&m, end);
	return m.pc;
}
