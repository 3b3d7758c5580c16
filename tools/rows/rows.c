// SPDX-License-Identifier: GPL-2.0
/* The rows of one file before they are packed, and rows as text. */
#include <linux/build_bug.h>
#include <string.h>

#include "alloc.h"
#include "rows.h"

static u64 row_hash(const struct bee_rule *rule)
{
	u64 words[3], h;

	BUILD_BUG_ON(sizeof(*rule) != sizeof(words));
	memcpy(words, rule, sizeof(words));
	h = words[0] * 0x9e3779b97f4a7c15ull;
	h = (h ^ h >> 29 ^ words[1]) * 0xbf58476d1ce4e5b9ull;
	h = (h ^ h >> 32 ^ words[2]) * 0x94d049bb133111ebull;
	return h ^ h >> 31;
}

static u32 *row_find_slot(const struct row_set *set, const struct bee_rule *rule)
{
	size_t at = row_hash(rule) & (set->nslots - 1);

	while (set->slots[at] && memcmp(&set->rules[set->slots[at] - 1], rule, sizeof(*rule)))
		at = (at + 1) & (set->nslots - 1);
	return &set->slots[at];
}

static void row_rehash(struct row_set *set, size_t nslots)
{
	size_t i;

	set->slots = alloc_array(set->slots, nslots, sizeof(*set->slots));
	memset(set->slots, 0, nslots * sizeof(*set->slots));
	set->nslots = nslots;
	for (i = 0; i < set->nrules; i++)
		*row_find_slot(set, &set->rules[i]) = i + 1;
}

/**
 * row_set_intern() - find or add a rule
 * @set: the rows
 * @rule: fields that its kind does not use are zero
 *
 * Return: its index in the dictionary.
 */
u32 row_set_intern(struct row_set *set, const struct bee_rule *rule)
{
	u32 *slot;

	if (set->nrules * 2 >= set->nslots)
		row_rehash(set, set->nslots ? set->nslots * 2 : 256);
	slot = row_find_slot(set, rule);
	if (*slot)
		return *slot - 1;
	set->rules = alloc_room(set->rules, set->nrules, &set->room_rules, sizeof(*set->rules));
	set->rules[set->nrules++] = *rule;
	*slot = set->nrules;
	return *slot - 1;
}

/**
 * row_set_add() - append a row
 * @set: the rows
 * @pc: its start, greater than that of the row before
 * @rule: its rules; fields that its kind does not use are zero
 *
 * A row like the one before it extends that one.
 */
void row_set_add(struct row_set *set, u64 pc, const struct bee_rule *rule)
{
	u32 index = row_set_intern(set, rule);

	if (set->nrows && set->rows[set->nrows - 1].rule == index)
		return;
	set->rows = alloc_room(set->rows, set->nrows, &set->room_rows, sizeof(*set->rows));
	set->rows[set->nrows++] = (struct row_start){ .pc = pc, .rule = index };
}

/**
 * row_set_reserve() - make room for rows that the caller writes itself
 * @set: the rows
 * @n: how many
 */
void row_set_reserve(struct row_set *set, size_t n)
{
	if (set->room_rows - set->nrows >= n)
		return;
	set->room_rows = 2 * set->room_rows > set->nrows + n ? 2 * set->room_rows : set->nrows + n;
	set->rows = alloc_array(set->rows, set->room_rows, sizeof(*set->rows));
}

/**
 * row_set_add_start() - note that a function starts
 * @set: the rows
 * @pc: where; greater than the one before
 */
void row_set_add_start(struct row_set *set, u64 pc)
{
	set->starts = alloc_room(set->starts, set->nstarts, &set->room_starts,
				 sizeof(*set->starts));
	set->starts[set->nstarts++] = pc;
}

/**
 * row_set_truncate() - take back rows
 * @set: the rows
 * @nrows: how many to keep
 */
void row_set_truncate(struct row_set *set, size_t nrows)
{
	set->nrows = nrows;
	set->truncated = true;
}

/**
 * row_set_drop_unused_rules() - forget rules that only taken back rows had
 * @set: the rows
 */
void row_set_drop_unused_rules(struct row_set *set)
{
	u32 *renumber;
	size_t i, n = 0;

	if (!set->truncated)
		return;
	renumber = alloc_array(NULL, set->nrules + 1, sizeof(*renumber));
	memset(renumber, 0, (set->nrules + 1) * sizeof(*renumber));
	for (i = 0; i < set->nrows; i++)
		renumber[set->rows[i].rule] = 1;
	for (i = 0; i < set->nrules; i++) {
		if (!renumber[i])
			continue;
		set->rules[n] = set->rules[i];
		renumber[i] = n++;
	}
	for (i = 0; i < set->nrows; i++)
		set->rows[i].rule = renumber[set->rows[i].rule];
	set->nrules = n;
	set->truncated = false;
	if (set->nslots)
		row_rehash(set, set->nslots);
	free(renumber);
}

/**
 * row_set_free() - release the memory of a set
 * @set: the rows; empty afterwards
 */
void row_set_free(struct row_set *set)
{
	free(set->rules);
	free(set->rows);
	free(set->slots);
	free(set->starts);
	memset(set, 0, sizeof(*set));
}

static const char *const row_registers[] = {
	[BEE_REG_RAX] = "rax", [BEE_REG_RDX] = "rdx", [BEE_REG_RCX] = "rcx",
	[BEE_REG_RBX] = "rbx", [BEE_REG_RSI] = "rsi", [BEE_REG_RDI] = "rdi",
	[BEE_REG_RBP] = "rbp", [BEE_REG_RSP] = "rsp", [BEE_REG_R8] = "r8",
	[BEE_REG_R9] = "r9", [BEE_REG_R10] = "r10", [BEE_REG_R11] = "r11",
	[BEE_REG_R12] = "r12", [BEE_REG_R13] = "r13", [BEE_REG_R14] = "r14",
	[BEE_REG_R15] = "r15",
};

static const char *const row_reasons[] = {
	[BEE_UNSUP_CFA_EXPR] = "cfa-expr", [BEE_UNSUP_CFA_UNDEF] = "cfa-undef",
	[BEE_UNSUP_CFA_REG] = "cfa-reg", [BEE_UNSUP_FP_EXPR] = "fp-expr",
	[BEE_UNSUP_FP_REG] = "fp-reg", [BEE_UNSUP_RA_EXPR] = "ra-expr",
	[BEE_UNSUP_RA_REG] = "ra-reg", [BEE_UNSUP_SP_RULE] = "sp-rule",
	[BEE_UNSUP_OFFSET] = "offset", [BEE_UNSUP_CFI] = "cfi",
};

/**
 * rule_reason() - name of a reason
 * @reason: enum bee_unsupported
 *
 * Return: a word.
 */
const char *rule_reason(u8 reason)
{
	return row_reasons[reason];
}

/* Text is appended at @at; a row's longest fits RULE_TEXT_MAX. */
static char *row_put(char *at, const char *text)
{
	return stpcpy(at, text);
}

static char *row_put_offset(char *at, s32 offset)
{
	return at + sprintf(at, "%+d", offset);
}

static char *row_put_sum(char *at, const char *name, s32 offset)
{
	return row_put_offset(row_put(at, name), offset);
}

static char *row_put_deref(char *at, u8 reg, s32 offset)
{
	return row_put(row_put_sum(row_put(at, "*("), row_registers[reg], offset), ")");
}

static char *row_put_index(char *at, u8 regs, s32 offset)
{
	at += sprintf(at, "*(%s+8*%s", row_registers[regs & 15], row_registers[regs >> 4]);
	return row_put(row_put_offset(at, offset), ")");
}

static char *row_put_cfa(char *at, const struct bee_rule *row)
{
	switch (row->cfa) {
	case BEE_CFA_INDEX:
		at = row_put_index(at, row->cfa_reg, row->cfa_off);
		return row_put_offset(at, row->cfa_add);
	case BEE_CFA_DEREF:
		return row_put_offset(row_put_deref(at, row->cfa_reg, row->cfa_off), row->cfa_add);
	case BEE_CFA_PLT:
		return at + sprintf(at, "plt%d", row->cfa_off);
	}
	return row_put_sum(at, row_registers[row->cfa_reg], row->cfa_off);
}

static char *row_put_fp(char *at, const struct bee_rule *row)
{
	switch (row->fp) {
	case BEE_FP_CFA:
		return row_put_sum(at, "cfa", row->fp_off);
	case BEE_FP_DEREF:
		return row_put_deref(at, row->fp_reg, row->fp_off);
	case BEE_FP_REG:
		return row_put(at, row_registers[row->fp_reg]);
	case BEE_FP_UNDEF:
		return row_put(at, "undef");
	}
	return row_put(at, "same");
}

static char *row_put_ra(char *at, const struct bee_rule *row)
{
	switch (row->ra) {
	case BEE_RA_CFA:
		return row_put_sum(at, "cfa", row->ra_off);
	case BEE_RA_DEREF:
		return row_put_deref(at, row->ra_reg, row->ra_off);
	case BEE_RA_REG:
		return row_put(at, row_registers[row->ra_reg]);
	}
	return row_put(at, "undef");
}

/**
 * rule_format() - a row's rules as text
 * @row: valid rules
 * @text: filled: the columns CFA, FP and RA, then "signal" for a signal frame,
 *	separated by tabs; or "gap", or "unsupported:" and the reason
 *
 * Return: @text.
 */
const char *rule_format(const struct bee_rule *row, char text[RULE_TEXT_MAX])
{
	char *at = text;

	if (row->kind == BEE_RULE_GAP) {
		row_put(at, "gap");
		return text;
	}
	if (row->kind == BEE_RULE_UNSUPPORTED) {
		row_put(row_put(at, "unsupported:"), rule_reason(row->arg));
		return text;
	}
	at = row_put(row_put_cfa(at, row), "\t");
	at = row_put(row_put_fp(at, row), "\t");
	at = row_put_ra(at, row);
	if (row->arg & BEE_RULE_SIGNAL)
		row_put(at, "\tsignal");
	return text;
}
