// SPDX-License-Identifier: GPL-2.0
/* DWARF expressions, evaluated in symbols. */
#include <dwarf.h>
#include <linux/beeunwind_table.h>
#include <string.h>

#include "expr.h"

#define EXPR_MAX_STACK	8
#define EXPR_RIP	16	/* its DWARF number (x86-64 psABI 1.0, figure 3.36) */
#define EXPR_MAX_SIZE	128	/* bytes; each row of an FDE evaluates them again */

struct expr_stack {
	struct cursor		c;
	struct expr_value	v[EXPR_MAX_STACK];
	unsigned int		n;
};

/* The expression has no value of a form that enum expr_kind has. */
static void expr_give_up(struct expr_stack *s)
{
	s->c.bad = true;
}

static void expr_push(struct expr_stack *s, u8 kind, u64 reg, u64 off)
{
	if (s->n == EXPR_MAX_STACK)
		return expr_give_up(s);
	s->v[s->n++] = (struct expr_value){ .kind = kind, .reg = reg, .off = off };
}

static void expr_push_reg(struct expr_stack *s, u64 reg, s64 off)
{
	if (reg == EXPR_RIP)
		return expr_push(s, EXPR_IP, 0, off);
	if (reg >= __BEE_REG_MAX)
		return expr_give_up(s);
	expr_push(s, EXPR_REG, reg, off);
}

/** expr_add() - add @bytes to @value */
void expr_add(struct expr_value *value, u64 bytes)
{
	bool deref = value->kind == EXPR_DEREF || value->kind == EXPR_DEREF2;

	*(deref ? &value->add : &value->off) += bytes;
}

static void expr_add_top(struct expr_stack *s, u64 value)
{
	if (!s->n)
		return expr_give_up(s);
	expr_add(&s->v[s->n - 1], value);
}

static void expr_deref(struct expr_stack *s)
{
	struct expr_value *top;

	if (!s->n)
		return expr_give_up(s);
	top = &s->v[s->n - 1];
	if (top->kind == EXPR_REG) {
		top->kind = EXPR_DEREF;
	} else if (top->kind == EXPR_DEREF && !top->indexed) {
		top->kind = EXPR_DEREF2;
		top->mid = top->add;
		top->add = 0;
	} else {
		expr_give_up(s);
	}
}

static bool expr_is_gpr(const struct expr_value *v)
{
	return v->kind == EXPR_REG && v->reg != EXPR_REG_CFA && !v->indexed;
}

/* The only product that tables have is a register times eight. */
static void expr_mul(struct expr_stack *s)
{
	struct expr_value *below;

	if (s->n < 2)
		return expr_give_up(s);
	below = &s->v[--s->n - 1];
	if (s->v[s->n].kind != EXPR_CONST || s->v[s->n].off != 8 || !expr_is_gpr(below))
		return expr_give_up(s);
	below->kind = EXPR_SCALED;
	below->off *= 8;
}

static void expr_plus(struct expr_stack *s)
{
	struct expr_value top;

	if (s->n < 2)
		return expr_give_up(s);
	top = s->v[--s->n];
	if (top.kind == EXPR_SCALED && expr_is_gpr(&s->v[s->n - 1])) {
		s->v[s->n - 1].indexed = true;
		s->v[s->n - 1].index = top.reg;
		return expr_add_top(s, top.off);
	}
	if (top.kind != EXPR_CONST) {
		struct expr_value below = s->v[s->n - 1];

		if (below.kind != EXPR_CONST)
			return expr_give_up(s);
		s->v[s->n - 1] = top;
		top = below;
	}
	expr_add_top(s, top.off);
}

static void expr_step(struct expr_stack *s)
{
	struct cursor *c = &s->c;
	u8 op = cursor_u8(c);
	unsigned int size;
	u64 reg;

	switch (op) {
	case DW_OP_nop:
		break;
	case DW_OP_lit0 ... DW_OP_lit31:
		expr_push(s, EXPR_CONST, 0, op - DW_OP_lit0);
		break;
	/* const1u, const1s, const2u, ... const8s (DWARF 5, 7.7.1) */
	case DW_OP_const1u ... DW_OP_const8s:
		size = 1u << (op - DW_OP_const1u) / 2;
		expr_push(s, EXPR_CONST, 0, (op - DW_OP_const1u) % 2 ? (u64)cursor_sint(c, size) :
								       cursor_uint(c, size));
		break;
	case DW_OP_constu:
		expr_push(s, EXPR_CONST, 0, cursor_uleb(c));
		break;
	case DW_OP_consts:
		expr_push(s, EXPR_CONST, 0, cursor_sleb(c));
		break;
	case DW_OP_breg0 ... DW_OP_breg31:
		expr_push_reg(s, op - DW_OP_breg0, cursor_sleb(c));
		break;
	case DW_OP_bregx:
		reg = cursor_uleb(c);
		expr_push_reg(s, reg, cursor_sleb(c));
		break;
	case DW_OP_plus_uconst:
		expr_add_top(s, cursor_uleb(c));
		break;
	case DW_OP_plus:
		expr_plus(s);
		break;
	case DW_OP_mul:
		expr_mul(s);
		break;
	case DW_OP_minus:
		if (s->n < 2 || s->v[s->n - 1].kind != EXPR_CONST)
			return expr_give_up(s);
		s->n--;
		expr_add_top(s, -s->v[s->n].off);
		break;
	case DW_OP_deref:
		expr_deref(s);
		break;
	default:
		expr_give_up(s);
	}
}

/**
 * expr_value() - the value of an expression, in symbols
 * @rule: a rule with an expression
 * @push_cfa: the CFA is on the stack at the start, as it is for registers
 * @value: the value
 *
 * Return: false if it has none of the forms of enum expr_kind.
 */
bool expr_value(const struct cfi_rule *rule, bool push_cfa, struct expr_value *value)
{
	struct expr_stack s;

	if (rule->size > EXPR_MAX_SIZE)
		return false;
	s.c = cursor_of(rule->expr, rule->size);
	s.n = 0;
	if (push_cfa)
		expr_push(&s, EXPR_REG, EXPR_REG_CFA, 0);
	while (!s.c.bad && cursor_left(&s.c))
		expr_step(&s);
	if (s.c.bad || !s.n || s.v[s.n - 1].kind == EXPR_SCALED)
		return false;
	*value = s.v[s.n - 1];
	return true;
}

/**
 * expr_is_plt() - recognise the linkers' CFA expression for .plt
 * @rule: a rule with an expression
 * @threshold: offset into a 16-byte entry: from there on, one word more is on the stack
 *
 * Return: true for rsp + 8 + ((rip & 15) >= threshold) * 8 in the bytes that linkers write.
 */
bool expr_is_plt(const struct cfi_rule *rule, s32 *threshold)
{
	static const u8 before[] = {
		DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and,
	};
	static const u8 after[] = { DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus };
	const u8 *expr = rule->expr;

	if (rule->size != sizeof(before) + 1 + sizeof(after) ||
	    memcmp(expr, before, sizeof(before)) ||
	    memcmp(expr + sizeof(before) + 1, after, sizeof(after)))
		return false;
	*threshold = expr[sizeof(before)] - DW_OP_lit0;
	return *threshold >= 9 && *threshold <= 11;
}
