// SPDX-License-Identifier: GPL-2.0
/*
 * What is known of the values of registers: as far as it tells where indirect jumps lead.
 *
 * Compilers write a switch as: compare the index with the last one, branch to the default, load an
 * entry of the table, which is an address, or a distance to be added to that of the table; jump.
 */
#include <string.h>

#include "values.h"

#define MAX_BOUND	4096	/* entries of a table are no more than that */

static struct value bound_value(u32 bound, u8 width)
{
	return (struct value){ .kind = VALUE_BOUND, .width = width, .bound = bound };
}

/* What a load of @width bits at @mem gives, if @mem is an entry of a table. */
static struct value value_load(const struct values *v, const struct insn_mem *mem, u8 width)
{
	struct value value = {
		.kind = width == 64 ? VALUE_POINTER : VALUE_ENTRY, .number = mem->disp,
		.bound = VALUE_UNBOUNDED,
	};
	const struct value *base, *index;

	if (mem->index >= __BEE_REG_MAX || mem->scale * 8 != width)
		return (struct value){};
	if (mem->base < __BEE_REG_MAX) {
		base = &v->reg[mem->base];
		if (base->kind != VALUE_CONST)
			return (struct value){};
		value.number += base->number;
	} else if (width != 64) {
		return (struct value){};
	}
	index = &v->reg[mem->index];
	if (index->kind == VALUE_BOUND && index->width >= 32)
		value.bound = index->bound;
	return value;
}

static struct value value_add(const struct value *one, const struct value *other)
{
	struct value sum = {};

	if (one->kind == VALUE_CONST)
		return other->kind == VALUE_CONST ? sum : value_add(other, one);
	if (one->kind != VALUE_ENTRY || other->kind != VALUE_CONST)
		return sum;
	sum = *one;
	sum.kind = VALUE_TARGET;
	sum.base = other->number;
	return sum;
}

/* The lowest @width bits of a value, zero-extended. */
static struct value value_move(const struct value *from, u8 width)
{
	struct value to = *from;

	if (width == 64)
		return to;
	if (from->kind == VALUE_CHILD && width == 32)
		return to;
	if (from->kind != VALUE_BOUND || from->width < width)
		return (struct value){};
	to.width = 64;
	return to;
}

/* The value that an instruction leaves in its destination. */
static struct value value_result(const struct values *v, const struct insn_value *moves)
{
	const struct value *old = &v->reg[moves->dest], *from;
	struct value none = {}, number = { .kind = VALUE_CONST, .number = moves->value };

	from = moves->source < __BEE_REG_MAX ? &v->reg[moves->source] : &none;
	switch (moves->op) {
	case INSN_OP_SET:
		return number;
	case INSN_OP_SET_LOW:
		number.number = (old->number & ~0xffull) | (u8)moves->value;
		return old->kind == VALUE_CONST ? number : none;
	case INSN_OP_MOVE:
		return value_move(from, moves->width);
	case INSN_OP_SIGN_EXTEND:
		return from->kind == VALUE_BOUND ? *from : none;
	case INSN_OP_AND:
		return moves->value < MAX_BOUND ? bound_value(moves->value, 64) : none;
	case INSN_OP_LOAD:
		return value_load(v, &moves->mem, moves->width);
	case INSN_OP_ADD:
		return value_add(old, from);
	default:
		return none;
	}
}

static void compare_step(struct value_compare *compare, const struct insn *insn)
{
	const struct insn_value *moves = &insn->moves;
	struct value_compare next = { .op = moves->op, .reg = moves->dest, .width = moves->width };

	if (moves->op == INSN_OP_COMPARE && moves->value < MAX_BOUND) {
		next.number = moves->value;
		*compare = next;
	} else if (moves->op == INSN_OP_COMPARE_REGS &&
		   (moves->dest == BEE_REG_RSP || moves->source == BEE_REG_RSP)) {
		if (moves->dest == BEE_REG_RSP)
			next.reg = moves->source;
		*compare = next;
	} else if (moves->op == INSN_OP_TEST) {
		*compare = next;
	} else if (moves->flags ||
		   (compare->op != INSN_OP_NONE && insn->writes >> compare->reg & 1)) {
		*compare = (struct value_compare){};
	}
}

/* values_step(): execute an instruction that goes on to the next one, but for calls */
void values_step(struct values *values, const struct insn *insn)
{
	u8 dest = insn->moves.dest;
	struct value result = {};
	unsigned int i;

	if (dest < __BEE_REG_MAX && dest != BEE_REG_RSP)
		result = value_result(values, &insn->moves);
	compare_step(&values->compare, insn);
	for (i = 0; i < __BEE_REG_MAX; i++)
		if (insn->writes >> i & 1)
			values->reg[i] = (struct value){};
	if (result.kind != VALUE_NONE)
		values->reg[dest] = result;
}

/* values_call(): what is left behind a call */
void values_call(struct values *values)
{
	unsigned int i;

	for (i = 0; i < __BEE_REG_MAX; i++)
		if (INSN_CALLER_SAVED >> i & 1)
			values->reg[i] = (struct value){};
	values->compare = (struct value_compare){};
}

/* Return: whether @one has changed. */
static bool value_meet(struct value *one, const struct value *other)
{
	struct value wide = *one;

	if (one->kind == VALUE_NONE || !memcmp(one, other, sizeof(*one)))
		return false;
	wide.bound = other->bound;
	if (memcmp(&wide, other, sizeof(wide)))
		wide = (struct value){};
	else if (other->bound <= one->bound)
		return false;
	*one = wide;
	return true;
}

/**
 * values_meet() - what is known where two ways of the control join
 * @values: what is known one way; set to what both have in common
 * @other: what is known the other way
 *
 * Return: whether @values has changed.
 */
bool values_meet(struct values *values, const struct values *other)
{
	bool changed = false;
	unsigned int i;

	for (i = 0; i < __BEE_REG_MAX; i++)
		changed |= value_meet(&values->reg[i], &other->reg[i]);
	if (values->compare.op != INSN_OP_NONE &&
	    memcmp(&values->compare, &other->compare, sizeof(values->compare))) {
		values->compare = (struct value_compare){};
		changed = true;
	}
	return changed;
}

/* The index bound of a way of a branch behind a comparison with @number; -1: none */
static s64 branch_bound(u8 condition, bool taken, u64 number)
{
	switch (condition) {
	case INSN_IF_ABOVE:
		return taken ? -1 : (s64)number;
	case INSN_IF_AT_LEAST:
		return taken ? -1 : (s64)number - 1;
	case INSN_IF_AT_MOST:
		return taken ? (s64)number : -1;
	case INSN_IF_BELOW:
		return taken ? (s64)number - 1 : -1;
	default:
		return -1;
	}
}

/* rsp equals a register on this way of the branch: it has the same distance from the CFA. */
static enum values_way branch_rsp(const struct value_compare *compare, struct frame_state *state)
{
	if (!(state->copies >> compare->reg & 1))
		return VALUES_OPEN;
	if (state->known)
		return state->depth == state->copy[compare->reg] ? VALUES_OPEN : VALUES_CLOSED;
	state->known = true;
	state->depth = state->copy[compare->reg];
	state->has_word = false;
	state->word = state->word_at = 0;
	return VALUES_OPEN;
}

/**
 * values_branch() - what is known on one way of a branch
 * @values: what is known before it; what it adds is added
 * @state: the frame before it; what it adds is added
 * @insn: the branch
 * @taken: the way is to its target, not behind it
 *
 * Return: who can take it.
 */
enum values_way values_branch(struct values *values, struct frame_state *state,
			      const struct insn *insn, bool taken)
{
	const struct value_compare compare = values->compare;
	u8 condition = insn->moves.condition;
	bool equal = condition == (taken ? INSN_IF_EQUAL : INSN_IF_OTHERWISE);
	struct value *value;
	s64 bound;

	if (compare.op == INSN_OP_NONE || compare.reg >= __BEE_REG_MAX)
		return VALUES_OPEN;
	value = &values->reg[compare.reg];
	if (compare.op == INSN_OP_COMPARE_REGS)
		return equal ? branch_rsp(&compare, state) : VALUES_OPEN;
	if (compare.op == INSN_OP_TEST)
		return equal && value->kind == VALUE_CHILD ? VALUES_CHILD : VALUES_OPEN;
	bound = branch_bound(condition, taken, compare.number);
	if (bound >= 0 && (value->kind == VALUE_NONE || value->kind == VALUE_BOUND))
		*value = bound_value(bound, compare.width);
	return VALUES_OPEN;
}

/* values_target(): what an indirect jump leads to; of kind VALUE_NONE if that is not known */
struct value values_target(const struct values *values, const struct insn *insn)
{
	const struct insn_value *moves = &insn->moves;

	if (moves->op == INSN_OP_GOTO && moves->source < __BEE_REG_MAX)
		return values->reg[moves->source];
	if (moves->op == INSN_OP_GOTO_MEM && !moves->mem.fixed)
		return value_load(values, &moves->mem, 64);
	return (struct value){};
}
