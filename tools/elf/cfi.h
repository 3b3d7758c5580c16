/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Call frame instructions (DWARF 5, 6.4.2): interpret those of a CIE and an FDE into DWARF's rows,
 * for the columns that a walk needs.
 */
#ifndef BEE_CFI_H
#define BEE_CFI_H

#include <linux/types.h>

#include "pointer.h"

/* States that an FDE can remember and restore; compilers nest two deep. */
#define CFI_MAX_STATES	16

/**
 * enum cfi_how - rule of a column
 * @CFI_UNSPECIFIED: nothing was said
 * @CFI_UNDEFINED: cannot be recovered
 * @CFI_SAME: unchanged
 * @CFI_OFFSET: \*(CFA + offset)
 * @CFI_VAL_OFFSET: CFA + offset
 * @CFI_REGISTER: reg; as CFA rule, reg + offset
 * @CFI_EXPR: \*(value of the expression); as CFA rule, its value, and reg and offset are those from
 *	before, as DW_CFA_def_cfa_register can bring them back
 * @CFI_VAL_EXPR: value of the expression
 */
enum cfi_how {
	CFI_UNSPECIFIED,
	CFI_UNDEFINED,
	CFI_SAME,
	CFI_OFFSET,
	CFI_VAL_OFFSET,
	CFI_REGISTER,
	CFI_EXPR,
	CFI_VAL_EXPR,
};

/**
 * struct cfi_rule - how to recover one register, or the CFA
 * @how: enum cfi_how
 * @reg: DWARF register
 * @offset: bytes
 * @expr: the expression's bytes
 * @size: how many
 */
struct cfi_rule {
	u8			 how;
	u64			 reg;
	s64			 offset;
	const u8		*expr;
	size_t			 size;
};

/**
 * struct cfi_row - the rules at one pc
 * @cfa: CFI_UNSPECIFIED, CFI_REGISTER or CFI_EXPR
 * @fp: rbp
 * @sp: rsp
 * @ra: the CIE's return address column
 * @other: the CIE's @other_reg
 */
struct cfi_row {
	struct cfi_rule	cfa;
	struct cfi_rule	fp;
	struct cfi_rule	sp;
	struct cfi_rule	ra;
	struct cfi_rule	other;
};

/**
 * struct cfi_cie - the part of a CIE that the instructions of its FDEs depend on
 * @code_align: code alignment factor
 * @data_align: data alignment factor
 * @ra_reg: return address column
 * @encoding: DW_EH_PE_* of DW_CFA_set_loc
 * @signal: augmentation 'S'
 * @other_reg: one register more to keep the rule of, if it is none of those of struct cfi_row
 * @base: what encoded pointers of the section are relative to
 * @initial: the row after the CIE's own instructions
 */
struct cfi_cie {
	u64			 code_align;
	s64			 data_align;
	u64			 ra_reg;
	u8			 encoding;
	bool			 signal;
	u8			 other_reg;
	struct pointer_base	 base;
	struct cfi_row		 initial;
};

/**
 * typedef cfi_emit_fn - take a row
 * @arg: the caller's
 * @start: first pc of the row
 * @end: pc after it, > @start
 * @row: its rules
 */
typedef void (*cfi_emit_fn)(void *arg, u64 start, u64 end, const struct cfi_row *row);

int cfi_start(struct cfi_cie *cie, const u8 *insns, size_t size);
u64 cfi_run(const struct cfi_cie *cie, const u8 *insns, size_t size, u64 begin, u64 end,
	    cfi_emit_fn emit, void *arg);

#endif /* BEE_CFI_H */
