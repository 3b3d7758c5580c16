// SPDX-License-Identifier: GPL-2.0
/*
 * The call frame instructions that compilers use for nearly all code, fast.
 *
 * While the CFA is rsp or rbp and a small number, rbp is as it was or saved below the CFA, and
 * the return address just below it, a row's rules fit a word.  What goes beyond that, and all that
 * is malformed, is left to cfi.c, which begins the FDE anew.
 */
#include <asm/byteorder.h>
#include <dwarf.h>
#include <string.h>

#include "quick.h"

/* The rules of a row in a word. */
#define KEY_RBP		1u		/* CFA = rbp + offset; otherwise rsp + offset */
#define KEY_CFA_SHIFT	1		/* offset of the CFA, bytes */
#define KEY_CFA_BITS	20
#define KEY_CFA		(((1u << KEY_CFA_BITS) - 1) << KEY_CFA_SHIFT)
#define KEY_FP_SHIFT	21		/* rbp at CFA - 8 * this; 0: same */
#define KEY_NONE	(~0u)		/* no rule, as its offset is more than can be said */

/* Of instructions, as each may make a row: room for those is reserved. */
#define QUICK_MAX_BYTES	(1u << 20)

/* Without them nothing is said of the FDE. */
#define QUICK_CODE_ALIGN	1
#define QUICK_DATA_ALIGN	(-8)

/**
 * quick_init() - begin with the FDEs of a file
 * @quick: filled
 * @rows: where rows go
 */
void quick_init(struct quick *quick, struct row_set *rows)
{
	quick->rows = rows;
	memset(quick->keys, 0xff, sizeof(quick->keys));
}

static bool quick_start(const struct cfi_cie *cie, u32 *key)
{
	const struct cfi_row *row = &cie->initial;
	bool rbp = row->cfa.reg == BEE_REG_RBP;

	if (cie->code_align != QUICK_CODE_ALIGN || cie->data_align != QUICK_DATA_ALIGN ||
	    cie->signal || row->fp.how != CFI_UNSPECIFIED || row->sp.how != CFI_UNSPECIFIED ||
	    row->ra.how != CFI_OFFSET || row->ra.offset != -8 || row->cfa.how != CFI_REGISTER ||
	    (!rbp && row->cfa.reg != BEE_REG_RSP) || (u64)row->cfa.offset >> KEY_CFA_BITS)
		return false;
	*key = row->cfa.offset << KEY_CFA_SHIFT | rbp;
	return true;
}

static u32 quick_intern(struct quick *quick, u32 key, u32 place)
{
	s32 slot = key >> KEY_FP_SHIFT;
	const struct bee_rule row = {
		.kind = BEE_RULE_KNOWN,
		.cfa = BEE_CFA_REG, .cfa_reg = key & KEY_RBP ? BEE_REG_RBP : BEE_REG_RSP,
		.cfa_off = (key & KEY_CFA) >> KEY_CFA_SHIFT,
		.fp = slot ? BEE_FP_CFA : BEE_FP_SAME, .fp_off = -8 * slot,
		.ra = BEE_RA_CFA, .ra_off = -8,
	};

	quick->keys[place] = key;
	quick->rules[place] = row_set_intern(quick->rows, &row);
	return quick->rules[place];
}

static inline u32 quick_rule(struct quick *quick, u32 key)
{
	u32 place = (key * 0x9e3779b1u) >> 22;

	return quick->keys[place] == key ? quick->rules[place] : quick_intern(quick, key, place);
}

/* While an FDE is interpreted. */
struct quick_state {
	const u8		*at;
	u64			 pc;
	u32			 key;
	u32			 rule;		/* of the row before */
	struct row_start	*row;		/* the next one */
};

/* The row from here to @bytes further on ends. */
static inline void quick_advance(struct quick *quick, struct quick_state *s, u32 bytes)
{
	u32 rule;

	if (!bytes)
		return;
	rule = quick_rule(quick, s->key);
	*s->row = (struct row_start){ .pc = s->pc, .rule = rule };
	s->row += rule != s->rule;
	s->rule = rule;
	s->pc += bytes;
}

static inline u32 quick_uint(struct quick_state *s, u32 size)
{
	__le32 value = 0;

	memcpy(&value, s->at, size);
	s->at += size;
	return le32_to_cpu(value);
}

/* Unsigned LEB128 of at most three bytes; more than any key can say otherwise. */
static inline u32 quick_uleb(struct quick_state *s)
{
	u32 value = *s->at++;

	if (value < 0x80)
		return value;
	value = (value & 0x7f) | *s->at++ << 7;
	if (value < 0x80 << 7)
		return value;
	value = (value & 0x3fff) | *s->at++ << 14;
	return value;
}

static inline bool quick_set_cfa_offset(struct quick_state *s)
{
	u32 offset = quick_uleb(s);

	s->key = (s->key & ~KEY_CFA) | offset << KEY_CFA_SHIFT;
	return !(offset >> KEY_CFA_BITS);
}

static inline bool quick_set_cfa_register(struct quick_state *s)
{
	u32 reg = *s->at++;

	s->key = (s->key & ~KEY_RBP) | (reg == BEE_REG_RBP);
	return reg == BEE_REG_RBP || reg == BEE_REG_RSP;
}

/* Where @reg is saved, of which only rbp's is of interest here. */
static inline bool quick_set_saved(struct quick_state *s, u32 reg, u32 ra_reg)
{
	u32 slot = *s->at++;

	if (reg == BEE_REG_RBP)
		s->key = (s->key & (KEY_RBP | KEY_CFA)) | slot << KEY_FP_SHIFT;
	return slot - 1 < 0x7f && reg != BEE_REG_RSP && reg != ra_reg;
}

/* All of an FDE's instructions up to @end.  Return: false if there are others. */
static bool quick_execute(struct quick *quick, struct quick_state *s, const u8 *end, u32 ra_reg)
{
	u32 states[CFI_MAX_STATES], depth = 0;

	while (s->at < end) {
		u8 op = *s->at++, operand = op & 0x3f;

		if (op >> 6 == DW_CFA_offset >> 6) {
			if (!quick_set_saved(s, operand, ra_reg))
				return false;
			continue;
		}
		if (op >> 6 == DW_CFA_advance_loc >> 6 || op == DW_CFA_advance_loc1) {
			quick_advance(quick, s, op == DW_CFA_advance_loc1 ? *s->at++ : operand);
			if (*s->at != DW_CFA_def_cfa_offset)
				continue;
			op = *s->at++;
		}
		if (op == DW_CFA_def_cfa_offset) {
			if (!quick_set_cfa_offset(s))
				return false;
			continue;
		}
		switch (op) {
		case DW_CFA_nop:
			break;
		case DW_CFA_advance_loc2:
			quick_advance(quick, s, quick_uint(s, 2));
			break;
		case DW_CFA_advance_loc4:
			quick_advance(quick, s, quick_uint(s, 4));
			break;
		case DW_CFA_remember_state:
			if (depth == CFI_MAX_STATES)
				return false;
			states[depth++] = s->key;
			break;
		case DW_CFA_restore_state:
			if (!depth)
				return false;
			s->key = states[--depth];
			break;
		case DW_CFA_def_cfa:
			if (!quick_set_cfa_register(s) || !quick_set_cfa_offset(s))
				return false;
			break;
		case DW_CFA_def_cfa_register:
			if (!quick_set_cfa_register(s))
				return false;
			break;
		default:
			if (op >> 6 != DW_CFA_restore >> 6)
				return false;
			/* All columns but this one are as they were at the start. */
			if (operand == BEE_REG_RBP)
				s->key &= KEY_RBP | KEY_CFA;
		}
	}
	return s->at == end;
}

/*
 * The end of an FDE's instructions without up to eight zero bytes, which are nops; an operand
 * is missed by the instruction that it belongs to, which then ends too late.
 */
static const u8 *quick_end(const struct fde *fde)
{
	__le64 last;
	u32 zeros;

	/* The head of an FDE has more than eight bytes. */
	memcpy(&last, fde->insns + fde->size - sizeof(last), sizeof(last));
	zeros = last ? __builtin_clzll(le64_to_cpu(last)) / 8 : sizeof(last);
	return fde->insns + fde->size - (zeros < fde->size ? zeros : fde->size);
}

/**
 * quick_run() - the rows of an FDE
 * @quick: where they go
 * @cie: the FDE's
 * @fde: all of it counts
 *
 * Return: true if they have been added; false if cfi_run() has to do it.
 */
bool quick_run(struct quick *quick, const struct cfi_cie *cie, const struct fde *fde)
{
	struct row_set *rows = quick->rows;
	struct quick_state s = { .at = fde->insns, .pc = fde->begin, .rule = ~0u };
	size_t nrules = rows->nrules;

	if (!fde->plain || fde->size > QUICK_MAX_BYTES || !quick_start(cie, &s.key))
		return false;
	row_set_reserve(rows, fde->size + 1);
	s.row = &rows->rows[rows->nrows];
	if (rows->nrows)
		s.rule = s.row[-1].rule;
	if (!quick_execute(quick, &s, quick_end(fde), cie->ra_reg) || s.pc >= fde->end) {
		if (rows->nrules != nrules)
			row_set_truncate(rows, rows->nrows);
		return false;
	}
	quick_advance(quick, &s, 1);
	rows->nrows = s.row - rows->rows;
	return true;
}
