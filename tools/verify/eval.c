// SPDX-License-Identifier: GPL-2.0
/* DWARF expressions (DWARF 5, 2.5) on a made-up machine, and as text. */
#include <dwarf.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "eval.h"

#define EVAL_MAX_STACK	64

struct eval_stack {
	const struct eval_machine	*machine;
	u64			 cfa;
	u64			 v[EVAL_MAX_STACK];
	unsigned int		 n;
	bool			 bad;
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

static u64 stack_register(struct eval_stack *s, u64 reg)
{
	if (reg < EVAL_REGS)
		return s->machine->regs[reg];
	s->bad = true;
	return 0;
}

static void stack_copy(struct eval_stack *s, u64 depth)
{
	if (depth < s->n)
		stack_push(s, s->v[s->n - 1 - depth]);
	else
		s->bad = true;
}

/* The topmost @n, turned by one: the first becomes the last of them. */
static void stack_turn(struct eval_stack *s, unsigned int n)
{
	u64 top = stack_pop(s);

	if (s->n < n - 1) {
		s->bad = true;
		return;
	}
	memmove(&s->v[s->n - n + 2], &s->v[s->n - n + 1], (n - 1) * sizeof(s->v[0]));
	s->v[s->n - n + 1] = top;
	s->n++;
}

static u64 stack_divide(struct eval_stack *s, u8 op, u64 a, u64 b)
{
	if (!b || (b == ~0ull && a == 1ull << 63)) {
		s->bad = true;
		return 0;
	}
	return op == DW_OP_div ? (s64)a / (s64)b : a % b;
}

static u64 stack_shift(u8 op, u64 a, u64 b)
{
	if (op == DW_OP_shra)
		return (s64)a >> (b < 63 ? b : 63);
	if (b > 63)
		return 0;
	return op == DW_OP_shl ? a << b : a >> b;
}

static void stack_binary(struct eval_stack *s, u8 op)
{
	u64 b = stack_pop(s), a = stack_pop(s), value = 0;

	switch (op) {
	case DW_OP_and:
		value = a & b;
		break;
	case DW_OP_or:
		value = a | b;
		break;
	case DW_OP_xor:
		value = a ^ b;
		break;
	case DW_OP_plus:
		value = a + b;
		break;
	case DW_OP_minus:
		value = a - b;
		break;
	case DW_OP_mul:
		value = a * b;
		break;
	case DW_OP_div:
	case DW_OP_mod:
		value = stack_divide(s, op, a, b);
		break;
	case DW_OP_shl:
	case DW_OP_shr:
	case DW_OP_shra:
		value = stack_shift(op, a, b);
		break;
	case DW_OP_eq:
		value = a == b;
		break;
	case DW_OP_ne:
		value = a != b;
		break;
	case DW_OP_lt:
		value = (s64)a < (s64)b;
		break;
	case DW_OP_le:
		value = (s64)a <= (s64)b;
		break;
	case DW_OP_gt:
		value = (s64)a > (s64)b;
		break;
	case DW_OP_ge:
		value = (s64)a >= (s64)b;
		break;
	default:
		s->bad = true;
	}
	stack_push(s, value);
}

static void stack_step(struct eval_stack *s, const struct eval_op *op)
{
	u8 atom = op->atom;

	if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
		return stack_push(s, atom - DW_OP_lit0);
	if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
		return stack_push(s, stack_register(s, atom - DW_OP_breg0) + op->number);
	switch (atom) {
	case DW_OP_nop:
		break;
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts:
		stack_push(s, op->number);
		break;
	case DW_OP_bregx:
		stack_push(s, stack_register(s, op->number) + op->number2);
		break;
	case DW_OP_call_frame_cfa:
		stack_push(s, s->cfa);
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
		stack_turn(s, 2);
		break;
	case DW_OP_rot:
		stack_turn(s, 3);
		break;
	default:
		stack_binary(s, atom);
	}
}

/**
 * eval_run() - compute an expression
 * @m: the machine
 * @cfa: what DW_OP_call_frame_cfa pushes
 * @ops: the operations
 * @nops: number of them
 *
 * Return: the topmost value at the end; EVAL_UNKNOWN if there is none, if something is
 * not there or an operation is not known (none that jumps is).
 */
struct eval_value eval_run(const struct eval_machine *m, u64 cfa,
				     const struct eval_op *ops, size_t nops)
{
	struct eval_stack s = { .machine = m, .cfa = cfa };
	size_t i;

	for (i = 0; i < nops && !s.bad; i++)
		stack_step(&s, &ops[i]);
	if (s.bad || !s.n)
		return (struct eval_value){ .how = EVAL_UNKNOWN };
	return eval_known(s.v[s.n - 1]);
}

/**
 * eval_text() - append text, as far as it fits
 * @t: what there is
 * @format: as of printf()
 */
void eval_text(struct eval_text *t, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(t->text + t->used, t->size - t->used, format, args);
	va_end(args);
	if (n > 0)
		t->used += n;
	if (t->used >= t->size)
		t->used = t->size - 1;
}

static void text_register(struct eval_text *t, u64 reg)
{
	static const char *const names[EVAL_REGS] = {
		"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
		"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip",
	};

	if (reg < EVAL_REGS)
		eval_text(t, "%s", names[reg]);
	else
		eval_text(t, "reg%llu", (unsigned long long)reg);
}

static const char *const op_names[256] = {
	[DW_OP_deref] = "deref", [DW_OP_dup] = "dup", [DW_OP_drop] = "drop",
	[DW_OP_over] = "over", [DW_OP_pick] = "pick", [DW_OP_swap] = "swap",
	[DW_OP_rot] = "rot", [DW_OP_and] = "and", [DW_OP_div] = "div",
	[DW_OP_minus] = "minus", [DW_OP_mod] = "mod", [DW_OP_mul] = "mul",
	[DW_OP_neg] = "neg", [DW_OP_not] = "not", [DW_OP_or] = "or",
	[DW_OP_plus] = "plus", [DW_OP_shl] = "shl", [DW_OP_shr] = "shr",
	[DW_OP_shra] = "shra", [DW_OP_xor] = "xor", [DW_OP_bra] = "bra",
	[DW_OP_eq] = "eq", [DW_OP_ge] = "ge", [DW_OP_gt] = "gt", [DW_OP_le] = "le",
	[DW_OP_lt] = "lt", [DW_OP_ne] = "ne", [DW_OP_skip] = "skip", [DW_OP_nop] = "nop",
	[DW_OP_call_frame_cfa] = "cfa", [DW_OP_stack_value] = "value",
};

/**
 * eval_text_op() - append an operation
 * @t: the text
 * @op: the operation, as it is read in postfix: pushed registers and numbers by what
 *	they are, others by name
 */
void eval_text_op(struct eval_text *t, const struct eval_op *op)
{
	u8 atom = op->atom;

	if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) {
		eval_text(t, "%d", atom - DW_OP_lit0);
	} else if (atom >= DW_OP_const1u && atom <= DW_OP_consts) {
		eval_text(t, "%lld", (long long)op->number);
	} else if (atom == DW_OP_plus_uconst) {
		eval_text(t, "%lld plus", (long long)op->number);
	} else if (atom == DW_OP_regx) {
		text_register(t, op->number);
	} else if (atom == DW_OP_bregx) {
		text_register(t, op->number);
		eval_text(t, "%+lld", (long long)op->number2);
	} else if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31) {
		text_register(t, atom - DW_OP_breg0);
		eval_text(t, "%+lld", (long long)op->number);
	} else if (op_names[atom]) {
		eval_text(t, "%s", op_names[atom]);
	} else {
		eval_text(t, "op 0x%02x %lld", atom, (long long)op->number);
	}
}
