/* SPDX-License-Identifier: GPL-2.0 */
/* DWARF expressions (DWARF 5, 2.5) whose value a table can express. */
#ifndef BEE_EXPR_H
#define BEE_EXPR_H

#include <linux/types.h>

#include "cfi.h"

#define EXPR_REG_CFA	0xff

/**
 * enum expr_kind - form of a value
 * @EXPR_CONST: off
 * @EXPR_REG: reg + off, or reg + 8 * index + off
 * @EXPR_DEREF: \*(reg + off) + add, or \*(reg + 8 * index + off) + add
 * @EXPR_DEREF2: \*(\*(reg + off) + mid) + add
 * @EXPR_IP: ip + off
 * @EXPR_SCALED: 8 * reg + off; only within an expression
 */
enum expr_kind {
	EXPR_CONST,
	EXPR_REG,
	EXPR_DEREF,
	EXPR_DEREF2,
	EXPR_IP,
	EXPR_SCALED,
};

/**
 * struct expr_value - the value of an expression, in symbols
 * @kind: enum expr_kind
 * @reg: DWARF number of a GPR, or EXPR_REG_CFA; 0 for EXPR_CONST and EXPR_IP
 * @indexed: there is an @index
 * @index: DWARF number of a GPR; 0 if there is none
 * @off: bytes added before any load, modulo 2^64; of EXPR_CONST, the value
 * @add: bytes added after the last load, modulo 2^64; 0 in kinds without a load
 * @mid: bytes added between the two loads of EXPR_DEREF2, modulo 2^64; 0 in other kinds
 */
struct expr_value {
	u8	kind;
	u8	reg;
	bool	indexed;
	u8	index;
	u64	off;
	u64	add;
	u64	mid;
};

void expr_add(struct expr_value *value, u64 bytes);
bool expr_value(const struct cfi_rule *rule, bool push_cfa, struct expr_value *value);
bool expr_is_plt(const struct cfi_rule *rule, s32 *threshold);

#endif /* BEE_EXPR_H */
