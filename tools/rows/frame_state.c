// SPDX-License-Identifier: GPL-2.0
/*
 * What is known of the frame of a function at one instruction, and what instructions do to it.
 *
 * Addresses are known as distances from the CFA, downwards.  A register or a word that holds no
 * such address is not known.  What the code stores through other pointers, or with an index, is
 * taken not to hit the return address and the saved registers, as CFI takes it, too.
 */
#include <string.h>

#include "frame_state.h"

/* Nobody but the function itself writes to so many bytes below rsp (psABI 3.2.2). */
#define RED_ZONE	128

static u16 bit_of(u8 reg)
{
	return 1u << reg;
}

static bool copy_has(const struct frame_state *s, u8 reg)
{
	return reg < __BEE_REG_MAX && s->copies & bit_of(reg);
}

static void copy_drop(struct frame_state *s, u16 regs)
{
	unsigned int i;

	for (i = 0; i < __BEE_REG_MAX; i++)
		if (regs & bit_of(i))
			s->copy[i] = 0;
	s->copies &= ~regs;
}

/* frame_state_entry(): at the first instruction of a function */
void frame_state_entry(struct frame_state *state)
{
	/* States are compared as bytes. */
	memset(state, 0, sizeof(*state));
	state->depth = 8;
	state->known = true;
	state->fp_same = true;
}

/* frame_state_is_entry(): is the frame as at the first instruction of a function? */
bool frame_state_is_entry(const struct frame_state *state)
{
	return state->known && state->depth == 8 && state->fp_same;
}

/* CFA - the register.  Return: false if it is not known. */
static bool reg_distance(const struct frame_state *s, u8 reg, s64 *distance)
{
	if (reg == BEE_REG_RSP && s->known)
		*distance = s->depth;
	else if (copy_has(s, reg))
		*distance = s->copy[reg];
	else
		return false;
	return true;
}

/* The distance of rsp from the CFA is lost; a register or a word on the stack may still have it. */
static bool rsp_lose(struct frame_state *s)
{
	s->known = false;
	s->has_word = false;
	s->depth = 0;
	s->word = s->word_at = 0;
	return s->copies;
}

static bool rsp_set(struct frame_state *s, s64 distance)
{
	s->known = true;
	s->has_word = false;
	s->depth = distance;
	s->word = s->word_at = 0;
	if (s->fp_at > distance + RED_ZONE)
		s->fp_at = 0;
	return distance >= 8;
}

/* rsp rises by @bytes, or falls if they are negative. */
static bool rsp_move(struct frame_state *s, s64 bytes)
{
	if (s->known)
		return rsp_set(s, s->depth - bytes);
	s->depth -= bytes;
	if (s->has_word && s->word_at > s->depth) {
		s->has_word = false;
		s->word = s->word_at = 0;
	}
	return true;
}

/* A register, not rsp, gets a value of which nothing is known. */
static void reg_lose(struct frame_state *s, u8 reg)
{
	if (reg >= __BEE_REG_MAX)
		return;
	copy_drop(s, bit_of(reg));
	if (reg == BEE_REG_RBP)
		s->fp_same = false;
}

static void reg_set(struct frame_state *s, u8 reg, s64 distance)
{
	reg_lose(s, reg);
	s->copies |= bit_of(reg);
	s->copy[reg] = distance;
}

static bool word_overlaps(s64 at, s64 size, s64 word)
{
	/* Distances grow downwards: the bytes are [-at, -at + size) and [-word, -word + 8). */
	return -at < -word + 8 && -word < -at + size;
}

/* Is there anything that tells the CFA? */
static bool state_is_good(const struct frame_state *s)
{
	return s->known || s->copies || s->has_word;
}

/* Store the 8 bytes of @reg, or @size others, at CFA - @at. */
static bool store_in_frame(struct frame_state *s, s64 at, s64 size, u8 reg)
{
	bool is_fp = reg == BEE_REG_RBP && s->fp_same && size == 8;

	if (word_overlaps(at, size, 8))
		return false;
	if (is_fp && (!s->fp_at || s->fp_at == at))
		s->fp_at = at;
	else if (s->fp_at && word_overlaps(at, size, s->fp_at))
		s->fp_at = 0;
	return true;
}

/* The place at origin - @at. */
static bool store_below(struct frame_state *s, s64 at, s64 size, u8 reg)
{
	s64 distance;

	if (size == 8 && reg_distance(s, reg, &distance) &&
	    (!s->has_word || word_overlaps(at, size, s->word_at))) {
		s->has_word = true;
		s->word_at = at;
		s->word = distance;
	} else if (s->has_word && word_overlaps(at, size, s->word_at)) {
		s->has_word = false;
		s->word = s->word_at = 0;
	}
	return state_is_good(s);
}

static bool state_store(struct frame_state *s, u8 base, s64 disp, s64 size, u8 reg)
{
	s64 distance;

	if (base == BEE_REG_RSP && !s->known)
		return store_below(s, s->depth - disp, size, reg);
	if (reg_distance(s, base, &distance))
		return store_in_frame(s, distance - disp, size, reg);
	return true;
}

/*
 * Load 8 bytes at @base + @disp into @to.  @popped: by a pop, after which the CFI of compilers goes
 * on to say that the word holds the caller's rbp.
 */
static bool state_load(struct frame_state *s, u8 to, u8 base, s64 disp, bool popped)
{
	s64 distance;

	if (base == BEE_REG_RSP && !s->known && s->has_word && s->depth - disp == s->word_at) {
		distance = s->word;
		if (to == BEE_REG_RSP)
			return rsp_set(s, distance);
		reg_set(s, to, distance);
		return true;
	}
	if (to == BEE_REG_RSP)
		return rsp_lose(s);
	distance = 0;
	if (to == BEE_REG_RBP && s->fp_at && reg_distance(s, base, &distance) &&
	    distance - disp == s->fp_at) {
		copy_drop(s, bit_of(BEE_REG_RBP));
		s->fp_same = true;
		if (!popped)
			s->fp_at = 0;
		return true;
	}
	reg_lose(s, to);
	return state_is_good(s);
}

static bool state_push(struct frame_state *s, u8 from)
{
	s->depth += 8;
	/* A push of rsp stores what rsp was before. */
	if (from == BEE_REG_RSP)
		from = INSN_NO_REG;
	return state_store(s, BEE_REG_RSP, 0, 8, from);
}

static bool state_pop(struct frame_state *s, u8 to)
{
	if (to == BEE_REG_RSP)
		return false;
	if (to != INSN_NO_REG && !state_load(s, to, BEE_REG_RSP, 0, true))
		return false;
	return rsp_move(s, 8);
}

static bool state_lea(struct frame_state *s, u8 to, u8 from, s64 disp)
{
	s64 distance;

	if (to == BEE_REG_RSP) {
		if (from == BEE_REG_RSP)
			return rsp_move(s, disp);
		return reg_distance(s, from, &distance) ? rsp_set(s, distance - disp) : rsp_lose(s);
	}
	if (to == from && !disp)
		return true;
	if (reg_distance(s, from, &distance))
		reg_set(s, to, distance - disp);
	else
		reg_lose(s, to);
	return state_is_good(s);
}

/* An instruction that is not known: the registers that it writes are lost. */
static bool state_step_unknown(struct frame_state *s, const struct insn *insn)
{
	u16 writes = insn->writes & ~bit_of(BEE_REG_RSP);

	copy_drop(s, writes);
	if (writes & bit_of(BEE_REG_RBP))
		s->fp_same = false;
	if (insn->writes & bit_of(BEE_REG_RSP))
		return rsp_lose(s);
	return state_is_good(s);
}

/**
 * frame_state_step() - execute an instruction
 * @state: the frame before it; afterwards, the frame before the next one
 * @insn: the instruction; of calls see frame_state_call()
 *
 * Return: false if the frame is lost.
 */
bool frame_state_step(struct frame_state *state, const struct insn *insn)
{
	s64 distance;

	if (insn->kind != INSN_PUSH && insn->store &&
	    !state_store(state, insn->store_base, insn->store_disp, insn->store, insn->stored))
		return false;
	switch (insn->kind) {
	case INSN_PUSH:
		return state_push(state, insn->from);
	case INSN_POP:
		return state_pop(state, insn->to);
	case INSN_LEA:
		return state_lea(state, insn->to, insn->from, insn->disp);
	case INSN_LOAD:
		return state_load(state, insn->to, insn->from, insn->disp, false);
	case INSN_LEAVE:
		return reg_distance(state, BEE_REG_RBP, &distance) && rsp_set(state, distance) &&
		       state_pop(state, BEE_REG_RBP);
	default:
		return state_step_unknown(state, insn);
	}
}

/**
 * frame_state_call() - execute a call that returns
 * @state: the frame
 * @keeps_fp: the callee keeps rbp
 * @keeps_others: it keeps the other registers that the ABI wants it to keep
 */
void frame_state_call(struct frame_state *state, bool keeps_fp, bool keeps_others)
{
	copy_drop(state, keeps_others ? INSN_CALLER_SAVED : ~bit_of(BEE_REG_RBP));
	if (!keeps_fp)
		reg_lose(state, BEE_REG_RBP);
	/* What is below rsp is the callee's. */
	if (state->known && state->fp_at > state->depth)
		state->fp_at = 0;
	if (state->has_word && state->word_at > state->depth) {
		state->has_word = false;
		state->word = state->word_at = 0;
	}
}

/* frame_state_keep_rsp(): forget all registers but rsp that have a known distance from the CFA */
void frame_state_keep_rsp(struct frame_state *state)
{
	copy_drop(state, state->copies);
}

/* frame_state_keep_fp(): forget all but rbp; return: false if its distance from the CFA is not known */
bool frame_state_keep_fp(struct frame_state *state)
{
	copy_drop(state, state->copies & ~bit_of(BEE_REG_RBP));
	return rsp_lose(state);
}

/**
 * frame_state_meet() - what is known where two ways of the control join
 * @state: the frame that comes one way; set to what both have in common
 * @other: the frame that comes the other way
 *
 * Return: false if they disagree on the stack pointer, or have no way to the CFA in common.
 */
bool frame_state_meet(struct frame_state *state, const struct frame_state *other)
{
	unsigned int i;

	if (state->known != other->known || state->depth != other->depth)
		return false;
	for (i = 0; i < __BEE_REG_MAX; i++)
		if (!(other->copies & bit_of(i)) || other->copy[i] != state->copy[i])
			copy_drop(state, bit_of(i));
	if (!other->has_word || other->word_at != state->word_at || other->word != state->word) {
		state->has_word = false;
		state->word = state->word_at = 0;
	}
	state->fp_same &= other->fp_same;
	if (state->fp_at != other->fp_at)
		state->fp_at = 0;
	return state_is_good(state);
}

/**
 * frame_state_rule() - the rule that says a frame
 * @state: the frame
 * @rule: filled
 *
 * Return: false if a table cannot say it, or nothing is known that tells the CFA.
 */
bool frame_state_rule(const struct frame_state *state, struct bee_rule *rule)
{
	s64 off = state->depth;
	u8 reg = BEE_REG_RSP;

	if (!state_is_good(state))
		return false;
	*rule = (struct bee_rule){ .kind = BEE_RULE_KNOWN, .ra_off = -8 };
	if (!state->known && !copy_has(state, BEE_REG_RBP) && state->has_word) {
		rule->cfa = BEE_CFA_DEREF;
		rule->cfa_add = state->word;
		if (rule->cfa_add != state->word)
			return false;
		off = state->depth - state->word_at;
	} else if (!state->known) {
		reg = BEE_REG_RBP;
		if (!copy_has(state, reg))
			reg = __builtin_ctz(state->copies);
		off = state->copy[reg];
	}
	rule->cfa_reg = reg;
	rule->cfa_off = off;
	if (rule->cfa_off != off)
		return false;
	if (state->fp_at) {
		rule->fp = BEE_FP_CFA;
		rule->fp_off = -state->fp_at;
		return rule->fp_off == -state->fp_at;
	}
	rule->fp = state->fp_same ? BEE_FP_SAME : BEE_FP_UNDEF;
	return true;
}
