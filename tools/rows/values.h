/* SPDX-License-Identifier: GPL-2.0 */
/* What is known of the values of registers: as far as it tells where indirect jumps lead. */
#ifndef BEE_VALUES_H
#define BEE_VALUES_H

#include "frame_state.h"
#include "insn.h"

#define VALUE_UNBOUNDED	(~0u)

/**
 * enum value_kind - what is known of a value
 * @VALUE_NONE: nothing
 * @VALUE_CONST: it is @number
 * @VALUE_BOUND: it is an index, not above @bound
 * @VALUE_ENTRY: it is a 4-byte entry of a table at @number, by an index not above @bound
 * @VALUE_TARGET: @base plus such an entry
 * @VALUE_POINTER: it is an 8-byte entry of a table at @number, by an index not above @bound
 * @VALUE_CHILD: what clone() has returned: 0 in the child
 */
enum value_kind {
	VALUE_NONE,
	VALUE_CONST,
	VALUE_BOUND,
	VALUE_ENTRY,
	VALUE_TARGET,
	VALUE_POINTER,
	VALUE_CHILD,
};

/**
 * struct value - what is known of one
 * @kind: enum value_kind
 * @width: of a VALUE_BOUND: bits for which the bound holds
 * @unused: 0, as values are compared as bytes
 * @bound: the largest index; VALUE_UNBOUNDED: not known
 * @number: see @kind
 * @base: see @kind
 */
struct value {
	u8	kind;
	u8	width;
	u16	unused;
	u32	bound;
	u64	number;
	u64	base;
};

/**
 * struct value_compare - the last comparison
 * @op: INSN_OP_COMPARE, INSN_OP_COMPARE_REGS of rsp, INSN_OP_TEST; or INSN_OP_NONE
 * @reg: the register; not rsp
 * @width: bits of @reg that are compared
 * @unused: 0
 * @number: what it was compared with
 */
struct value_compare {
	u8	op;
	u8	reg;
	u8	width;
	u8	unused[5];
	u64	number;
};

/**
 * struct values - of all registers
 * @reg: of each
 * @compare: the last comparison
 *
 * Compared as bytes: what is not used is zero.
 */
struct values {
	struct value		reg[__BEE_REG_MAX];
	struct value_compare	compare;
};

/**
 * enum values_way - what a branch says of one of its ways
 * @VALUES_OPEN: control can take it
 * @VALUES_CLOSED: it cannot
 * @VALUES_CHILD: only the child of clone() can
 */
enum values_way {
	VALUES_OPEN,
	VALUES_CLOSED,
	VALUES_CHILD,
};

void values_step(struct values *values, const struct insn *insn);
void values_call(struct values *values);
bool values_meet(struct values *values, const struct values *other);
enum values_way values_branch(struct values *values, struct frame_state *state,
			      const struct insn *insn, bool taken);
struct value values_target(const struct values *values, const struct insn *insn);

#endif /* BEE_VALUES_H */
