// SPDX-License-Identifier: GPL-2.0
/* DWARF expressions (DWARF 5, 2.5), computed with made-up registers and memory. */
#include <dwarf.h>

#include "eval.h"

#define EVAL_MAX_STACK	64

/* @bad: an operand is missing or not valid, the stack is full, or an operation is not known. */
struct eval_stack {
	u64		v[EVAL_MAX_STACK];
	unsigned int	n;
	bool		bad;
};

static void stack_push(struct eval_stack *s, u64 value)
{
	if (s->n == EVAL_MAX_STACK)
		s->bad = true;
	else
		s->v[s->n++] = value;
}

static u64 stack_pop(struct eval_stack *s)
{
	if (s->n)
		return s->v[--s->n];
	s->bad = true;
	return 0;
}

static void stack_push_register(struct eval_stack *s, const u64 *regs, u64 reg, u64 offset)
{
	if (reg < EVAL_REGS)
		stack_push(s, regs[reg] + offset);
	else
		s->bad = true;
}

/* Push the value that lies below @depth others. */
static void stack_copy(struct eval_stack *s, u64 depth)
{
	if (depth < s->n)
		stack_push(s, s->v[s->n - 1 - depth]);
	else
		s->bad = true;
}

static u64 stack_binary(struct eval_stack *s, u8 atom)
{
	u64 b = stack_pop(s), a = stack_pop(s);

	switch (atom) {
	case DW_OP_and:
		return a & b;
	case DW_OP_or:
		return a | b;
	case DW_OP_xor:
		return a ^ b;
	case DW_OP_plus:
		return a + b;
	case DW_OP_minus:
		return a - b;
	case DW_OP_mul:
		return a * b;
	case DW_OP_div:
	case DW_OP_mod:
		/* Where the processor has no quotient. */
		if (!b || (b == ~0ull && a == 1ull << 63))
			break;
		return atom == DW_OP_div ? (s64)a / (s64)b : a % b;
	case DW_OP_shl:
		return b < 64 ? a << b : 0;
	case DW_OP_shr:
		return b < 64 ? a >> b : 0;
	case DW_OP_shra:
		return (s64)a >> (b < 64 ? b : 63);
	case DW_OP_eq:
		return a == b;
	case DW_OP_ne:
		return a != b;
	case DW_OP_lt:
		return (s64)a < (s64)b;
	case DW_OP_le:
		return (s64)a <= (s64)b;
	case DW_OP_gt:
		return (s64)a > (s64)b;
	case DW_OP_ge:
		return (s64)a >= (s64)b;
	}
	s->bad = true;
	return 0;
}

static void stack_step(struct eval_stack *s, const u64 *regs, u64 cfa, const struct eval_op *op)
{
	u64 top, second, third;

	switch (op->atom) {
	case DW_OP_nop:
		break;
	case DW_OP_lit0 ... DW_OP_lit31:
		stack_push(s, op->atom - DW_OP_lit0);
		break;
	case DW_OP_const1u ... DW_OP_consts:
		stack_push(s, op->number);
		break;
	case DW_OP_breg0 ... DW_OP_breg31:
		stack_push_register(s, regs, op->atom - DW_OP_breg0, op->number);
		break;
	case DW_OP_bregx:
		stack_push_register(s, regs, op->number, op->number2);
		break;
	case DW_OP_call_frame_cfa:
		stack_push(s, cfa);
		break;
	case DW_OP_plus_uconst:
		stack_push(s, stack_pop(s) + op->number);
		break;
	case DW_OP_deref:
		stack_push(s, eval_read(stack_pop(s)));
		break;
	case DW_OP_neg:
		stack_push(s, -stack_pop(s));
		break;
	case DW_OP_not:
		stack_push(s, ~stack_pop(s));
		break;
	case DW_OP_dup:
		stack_copy(s, 0);
		break;
	case DW_OP_over:
		stack_copy(s, 1);
		break;
	case DW_OP_pick:
		stack_copy(s, op->number);
		break;
	case DW_OP_drop:
		stack_pop(s);
		break;
	case DW_OP_swap:
		top = stack_pop(s);
		second = stack_pop(s);
		stack_push(s, top);
		stack_push(s, second);
		break;
	case DW_OP_rot:
		top = stack_pop(s);
		second = stack_pop(s);
		third = stack_pop(s);
		stack_push(s, top);
		stack_push(s, third);
		stack_push(s, second);
		break;
	default:
		stack_push(s, stack_binary(s, op->atom));
	}
}

/**
 * eval_run() - compute an expression
 * @regs: the registers, by DWARF number
 * @cfa: what DW_OP_call_frame_cfa pushes
 * @ops: the operations
 * @nops: entries in @ops
 *
 * Return: the topmost value at the end; EVAL_UNKNOWN if there is none, or an operation cannot
 * be computed.  Operations that jump cannot.
 */
struct eval_value eval_run(const u64 regs[EVAL_REGS], u64 cfa, const struct eval_op *ops,
			   size_t nops)
{
	struct eval_stack s = { .n = 0 };
	size_t i;

	for (i = 0; i < nops && !s.bad; i++)
		stack_step(&s, regs, cfa, &ops[i]);
	if (s.bad || !s.n)
		return (struct eval_value){ .how = EVAL_UNKNOWN };
	return eval_known(s.v[s.n - 1]);
}
