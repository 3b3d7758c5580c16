// SPDX-License-Identifier: GPL-2.0
/* Rules as text. */
#include <stdio.h>
#include <string.h>

#include "rule_text.h"

static const char *const rule_registers[] = {
	[BEE_REG_RAX] = "rax", [BEE_REG_RDX] = "rdx", [BEE_REG_RCX] = "rcx",
	[BEE_REG_RBX] = "rbx", [BEE_REG_RSI] = "rsi", [BEE_REG_RDI] = "rdi",
	[BEE_REG_RBP] = "rbp", [BEE_REG_RSP] = "rsp", [BEE_REG_R8] = "r8",
	[BEE_REG_R9] = "r9", [BEE_REG_R10] = "r10", [BEE_REG_R11] = "r11",
	[BEE_REG_R12] = "r12", [BEE_REG_R13] = "r13", [BEE_REG_R14] = "r14",
	[BEE_REG_R15] = "r15",
};

/**
 * rule_reason() - name of a reason
 * @reason: enum bee_unsupported
 *
 * Return: a word.
 */
const char *rule_reason(u8 reason)
{
	static const char *const reasons[] = {
		[BEE_UNSUP_CFA_EXPR] = "cfa-expr", [BEE_UNSUP_CFA_UNDEF] = "cfa-undef",
		[BEE_UNSUP_CFA_REG] = "cfa-reg", [BEE_UNSUP_FP_EXPR] = "fp-expr",
		[BEE_UNSUP_FP_REG] = "fp-reg", [BEE_UNSUP_RA_EXPR] = "ra-expr",
		[BEE_UNSUP_RA_REG] = "ra-reg", [BEE_UNSUP_SP_RULE] = "sp-rule",
		[BEE_UNSUP_OFFSET] = "offset", [BEE_UNSUP_CFI] = "cfi",
	};

	return reasons[reason];
}

/* Each rule_put_*() appends at @at and returns the new end. */
static char *rule_put_sum(char *at, const char *name, s32 offset)
{
	return at + sprintf(at, "%s%+d", name, offset);
}

static char *rule_put_deref(char *at, u8 reg, s32 offset)
{
	return at + sprintf(at, "*(%s%+d)", rule_registers[reg], offset);
}

static char *rule_put_cfa(char *at, const struct bee_rule *rule)
{
	switch (rule->cfa) {
	case BEE_CFA_INDEX:
		return at + sprintf(at, "*(%s+8*%s%+d)%+d", rule_registers[rule->cfa_reg & 15],
				    rule_registers[rule->cfa_reg >> 4], rule->cfa_off,
				    rule->cfa_add);
	case BEE_CFA_DEREF:
		at = rule_put_deref(at, rule->cfa_reg, rule->cfa_off);
		return rule_put_sum(at, "", rule->cfa_add);
	case BEE_CFA_DEREF2:
		return at + sprintf(at, "*(*(%s%+d)%+d)%+d", rule_registers[rule->cfa_reg & 15],
				    rule->cfa_off, 8 * (rule->cfa_reg >> 4), rule->cfa_add);
	case BEE_CFA_SAVED:
		at = rule_put_sum(at, rule_registers[rule->cfa_reg], rule->cfa_add);
		return at + sprintf(at, " or *(rsp%+d)%+d", rule->cfa_off, rule->cfa_add);
	case BEE_CFA_PLT:
		return at + sprintf(at, "plt%d", rule->cfa_off);
	}
	return rule_put_sum(at, rule_registers[rule->cfa_reg], rule->cfa_off);
}

static char *rule_put_fp(char *at, const struct bee_rule *rule)
{
	switch (rule->fp) {
	case BEE_FP_CFA:
		return rule_put_sum(at, "cfa", rule->fp_off);
	case BEE_FP_DEREF:
		return rule_put_deref(at, rule->fp_reg, rule->fp_off);
	case BEE_FP_REG:
		return stpcpy(at, rule_registers[rule->fp_reg]);
	}
	return stpcpy(at, rule->fp == BEE_FP_UNDEF ? "undef" : "same");
}

static char *rule_put_ra(char *at, const struct bee_rule *rule)
{
	switch (rule->ra) {
	case BEE_RA_CFA:
		return rule_put_sum(at, "cfa", rule->ra_off);
	case BEE_RA_DEREF:
		return rule_put_deref(at, rule->ra_reg, rule->ra_off);
	case BEE_RA_REG:
		return stpcpy(at, rule_registers[rule->ra_reg]);
	case BEE_RA_IP:
		return rule_put_sum(at, "ip", rule->ra_off);
	}
	return stpcpy(at, "undef");
}

/**
 * rule_format() - a rule as text
 * @rule: a valid rule
 * @text: filled: the columns CFA, FP and RA, then "signal" for a signal frame,
 *	separated by tabs; or "gap", or "unsupported:" and the reason
 *
 * Return: @text.
 */
const char *rule_format(const struct bee_rule *rule, char text[RULE_TEXT_MAX])
{
	char *at = text;

	if (rule->kind == BEE_RULE_GAP)
		return strcpy(text, "gap");
	if (rule->kind == BEE_RULE_UNSUPPORTED) {
		sprintf(text, "unsupported:%s", rule_reason(rule->arg));
		return text;
	}
	at = stpcpy(rule_put_cfa(at, rule), "\t");
	at = stpcpy(rule_put_fp(at, rule), "\t");
	at = rule_put_ra(at, rule);
	if (rule->arg & BEE_RULE_SIGNAL)
		strcpy(at, "\tsignal");
	return text;
}
