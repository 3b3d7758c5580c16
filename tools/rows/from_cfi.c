// SPDX-License-Identifier: GPL-2.0
/*
 * From DWARF's rules to a table's: a rule with exactly the same meaning, or one of kind
 * BEE_RULE_UNSUPPORTED with the reason why there is none.
 */
#include "from_cfi.h"
#include "expr.h"

/* Success, where enum bee_unsupported are the failures. */
#define CONVERTED	(-1)

/* Largest second offset of a BEE_CFA_DEREF2, which has four bits. */
#define MAX_MID		15

static bool convert_s32(u64 value, s32 *to)
{
	*to = (s32)value;
	return (u64)(s64)*to == value;
}

/* The CFA in symbols.  Return: false if it is no value that enum expr_kind has. */
static bool convert_cfa_value(const struct cfi_rule *cfa, struct expr_value *value)
{
	if (cfa->how == CFI_EXPR)
		return expr_value(cfa, false, value);
	*value = (struct expr_value){ .kind = EXPR_REG, .reg = cfa->reg, .off = cfa->offset };
	return true;
}

static int convert_cfa(const struct cfi_rule *from, struct bee_rule *to)
{
	struct expr_value v;

	if (from->how == CFI_UNSPECIFIED)
		return BEE_UNSUP_CFA_UNDEF;
	if (from->how == CFI_REGISTER && from->reg >= __BEE_REG_MAX)
		return BEE_UNSUP_CFA_REG;
	if (from->how == CFI_EXPR && expr_is_plt(from, &to->cfa_off)) {
		to->cfa = BEE_CFA_PLT;
		return CONVERTED;
	}
	if (!convert_cfa_value(from, &v) || v.kind == EXPR_CONST || v.kind == EXPR_IP ||
	    (v.indexed && v.kind != EXPR_DEREF) || v.mid % 8 || v.mid / 8 > MAX_MID)
		return BEE_UNSUP_CFA_EXPR;
	to->cfa = v.kind == EXPR_REG ? BEE_CFA_REG :
		  v.kind == EXPR_DEREF ? BEE_CFA_DEREF : BEE_CFA_DEREF2;
	to->cfa_reg = v.reg | v.mid / 8 << 4;
	if (v.indexed) {
		to->cfa = BEE_CFA_INDEX;
		to->cfa_reg |= v.index << 4;
	}
	if (!convert_s32(v.off, &to->cfa_off) || !convert_s32(v.add, &to->cfa_add))
		return BEE_UNSUP_OFFSET;
	return CONVERTED;
}

/*
 * The value that a register's rule gives, in symbols: EXPR_DEREF if the register is saved in
 * memory, EXPR_REG if it can be computed.  A value CFA + n is said by the register that the CFA is
 * based on, where it has one.
 */
static bool convert_rule_value(const struct cfi_row *row, const struct cfi_rule *rule,
			       struct expr_value *v)
{
	struct expr_value cfa;

	*v = (struct expr_value){ .kind = EXPR_REG, .reg = EXPR_REG_CFA };
	switch (rule->how) {
	case CFI_OFFSET:
		v->kind = EXPR_DEREF;
		v->off = rule->offset;
		return true;
	case CFI_REGISTER:
		v->reg = rule->reg;
		return true;
	case CFI_EXPR:
		if (!expr_value(rule, true, v) || v->kind != EXPR_REG)
			return false;
		v->kind = EXPR_DEREF;
		return true;
	case CFI_VAL_OFFSET:
		v->off = rule->offset;
		break;
	case CFI_VAL_EXPR:
		if (!expr_value(rule, true, v))
			return false;
		break;
	default:
		return false;
	}
	if (v->kind == EXPR_REG && v->reg == EXPR_REG_CFA &&
	    convert_cfa_value(&row->cfa, &cfa)) {
		expr_add(&cfa, v->off);
		*v = cfa;
	}
	return true;
}

/* A table's rule for FP or RA; the two have the same forms with other numbers. */
struct convert_column {
	enum { COLUMN_CFA, COLUMN_DEREF, COLUMN_REG, COLUMN_IP } form;
	u8	reg;
	s32	off;
};

/* Return: CONVERTED, or why it cannot be said in a table. */
static int convert_column(const struct cfi_row *row, const struct cfi_rule *rule,
			  struct convert_column *to, int bad_expr, int bad_reg)
{
	struct expr_value v;

	if (rule->how == CFI_REGISTER && rule->reg >= __BEE_REG_MAX)
		return bad_reg;
	if (!convert_rule_value(row, rule, &v) || v.indexed)
		return bad_expr;
	to->reg = v.reg;
	if (v.kind == EXPR_REG && v.reg != EXPR_REG_CFA && !v.off) {
		to->form = COLUMN_REG;
		to->off = 0;
		return CONVERTED;
	}
	if (v.kind != EXPR_IP && (v.kind != EXPR_DEREF || v.add))
		return bad_expr;
	to->form = v.kind == EXPR_IP ? COLUMN_IP : COLUMN_DEREF;
	if (v.reg == EXPR_REG_CFA) {
		to->form = COLUMN_CFA;
		to->reg = 0;
	}
	return convert_s32(v.off, &to->off) ? CONVERTED : BEE_UNSUP_OFFSET;
}

static int convert_fp(const struct cfi_row *from, struct bee_rule *to)
{
	static const u8 forms[] = {
		[COLUMN_CFA] = BEE_FP_CFA, [COLUMN_DEREF] = BEE_FP_DEREF,
		[COLUMN_REG] = BEE_FP_REG,
	};
	struct convert_column column;
	int reason;

	to->fp = from->fp.how == CFI_UNDEFINED ? BEE_FP_UNDEF : BEE_FP_SAME;
	if (from->fp.how == CFI_UNSPECIFIED || from->fp.how == CFI_SAME ||
	    from->fp.how == CFI_UNDEFINED)
		return CONVERTED;
	reason = convert_column(from, &from->fp, &column, BEE_UNSUP_FP_EXPR, BEE_UNSUP_FP_REG);
	if (reason == CONVERTED && column.form == COLUMN_IP)
		return BEE_UNSUP_FP_EXPR;
	if (reason != CONVERTED || (column.form == COLUMN_REG && column.reg == BEE_REG_RBP))
		return reason;
	to->fp = forms[column.form];
	to->fp_reg = column.reg;
	to->fp_off = column.off;
	return CONVERTED;
}

/*
 * A return address column without a rule, or with "same value", means that the return address is in
 * the register of that number (gdb reads it so; libdw and libgcc keep the old value, which is the
 * same).  Column 16 is rip: callee and caller would be the same place.  No such code exists, so
 * the row is unsupported rather than an endless stack.
 */
static int convert_ra(const struct cfi_row *from, struct bee_rule *to)
{
	static const u8 forms[] = {
		[COLUMN_CFA] = BEE_RA_CFA, [COLUMN_DEREF] = BEE_RA_DEREF,
		[COLUMN_REG] = BEE_RA_REG, [COLUMN_IP] = BEE_RA_IP,
	};
	struct convert_column column;
	int reason;

	if (from->ra.how == CFI_UNSPECIFIED || from->ra.how == CFI_SAME)
		return BEE_UNSUP_RA_REG;
	reason = convert_column(from, &from->ra, &column, BEE_UNSUP_RA_EXPR, BEE_UNSUP_RA_REG);
	if (reason != CONVERTED)
		return reason;
	to->ra = forms[column.form];
	to->ra_reg = column.reg;
	to->ra_off = column.off;
	return CONVERTED;
}

/* Change @off from an offset to the CFA into one to the register that the CFA is based on. */
static int convert_from_cfa(const struct bee_rule *row, s32 *off)
{
	if (row->cfa != BEE_CFA_REG)
		return BEE_UNSUP_SP_RULE;
	return convert_s32((s64)row->cfa_off + *off, off) ? CONVERTED : BEE_UNSUP_OFFSET;
}

/*
 * Where the caller's rsp is not the CFA (longjmp, setcontext), DWARF needs the CFA only to say
 * where registers are saved.  Say that by the CFA's register, and make the caller's rsp the CFA.
 */
static int convert_elsewhere(const struct expr_value *sp, struct bee_rule *to)
{
	struct bee_rule row = *to;
	int reason = CONVERTED;

	if (to->fp == BEE_FP_CFA) {
		reason = convert_from_cfa(to, &row.fp_off);
		row.fp = BEE_FP_DEREF;
		row.fp_reg = to->cfa_reg;
	}
	if (reason == CONVERTED && to->ra == BEE_RA_CFA) {
		reason = convert_from_cfa(to, &row.ra_off);
		row.ra = BEE_RA_DEREF;
		row.ra_reg = to->cfa_reg;
	}
	if (reason != CONVERTED)
		return reason;
	row.cfa = sp->kind == EXPR_REG ? BEE_CFA_REG : BEE_CFA_DEREF;
	row.cfa_reg = sp->reg;
	if (!convert_s32(sp->off, &row.cfa_off) || !convert_s32(sp->add, &row.cfa_add))
		return BEE_UNSUP_OFFSET;
	*to = row;
	return CONVERTED;
}

/*
 * In a table the caller's rsp is the CFA.  A rule for rsp can say the same in other words, as
 * in signal trampolines: CFA = *(rsp+160), and rsp is saved at rsp+160.
 */
static int convert_sp(const struct cfi_row *from, struct bee_rule *to)
{
	struct expr_value sp = { .kind = EXPR_REG, .reg = BEE_REG_RSP }, cfa;
	bool known;

	if (from->sp.how == CFI_UNSPECIFIED)
		return CONVERTED;
	if (from->sp.how != CFI_SAME &&
	    ((from->sp.how == CFI_REGISTER && from->sp.reg >= __BEE_REG_MAX) ||
	     !convert_rule_value(from, &from->sp, &sp)))
		return BEE_UNSUP_SP_RULE;
	known = convert_cfa_value(&from->cfa, &cfa);
	if (sp.reg == EXPR_REG_CFA && sp.kind == EXPR_REG && !sp.off)
		return CONVERTED;
	if (sp.reg == EXPR_REG_CFA && sp.kind == EXPR_DEREF && known && cfa.kind == EXPR_REG) {
		sp.reg = cfa.reg;
		sp.off += cfa.off;
	}
	if (known && sp.kind == cfa.kind && sp.reg == cfa.reg && sp.off == cfa.off &&
	    sp.add == cfa.add && sp.mid == cfa.mid && sp.indexed == cfa.indexed &&
	    sp.index == cfa.index)
		return CONVERTED;
	if (sp.kind == EXPR_CONST || sp.kind == EXPR_IP || sp.kind == EXPR_DEREF2 ||
	    sp.reg == EXPR_REG_CFA || sp.indexed)
		return BEE_UNSUP_SP_RULE;
	return convert_elsewhere(&sp, to);
}

/**
 * rule_from_cfi() - from DWARF's rules to a table's
 * @from: the rules as the CFI says them
 * @signal: their CIE has augmentation 'S'
 * @to: filled: @from as a rule of a table; or BEE_RULE_UNSUPPORTED with the first reason in the order
 *	CFA, FP, RA, rsp
 */
void rule_from_cfi(const struct cfi_row *from, bool signal, struct bee_rule *to)
{
	int reason;

	*to = (struct bee_rule){ .kind = BEE_RULE_KNOWN, .arg = signal ? BEE_RULE_SIGNAL : 0 };
	reason = convert_cfa(&from->cfa, to);
	if (from->ra.how == CFI_UNDEFINED) {
		/* There is no caller, so its registers need no rule. */
		to->ra = BEE_RA_UNDEF;
		if (reason == CONVERTED && convert_fp(from, to) != CONVERTED)
			to->fp = BEE_FP_UNDEF;
	} else {
		if (reason == CONVERTED)
			reason = convert_fp(from, to);
		if (reason == CONVERTED)
			reason = convert_ra(from, to);
		if (reason == CONVERTED)
			reason = convert_sp(from, to);
	}
	if (reason != CONVERTED)
		*to = (struct bee_rule){ .kind = BEE_RULE_UNSUPPORTED, .arg = reason };
}
