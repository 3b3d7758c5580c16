/* SPDX-License-Identifier: GPL-2.0 */
/* What is known of the frame of a function at one instruction, and what instructions do to it. */
#ifndef BEE_FRAME_STATE_H
#define BEE_FRAME_STATE_H

#include "insn.h"
#include "kmod/table.h"

/**
 * struct frame_state - the frame before an instruction
 * @depth: CFA - rsp if @known, otherwise origin - rsp, where the origin is what rsp was when its
 *	distance from the CFA was lost
 * @known: rsp has a known distance from the CFA
 * @copies: registers that have a known distance from the CFA, a bit for each; not rsp
 * @copy: CFA - the register, for these; otherwise 0
 * @has_word: a word on the stack has a known distance from the CFA; only if not @known
 * @word_at: origin - address of the word
 * @word: CFA - what it holds
 * @fp_same: rbp is the caller's
 * @fp_at: CFA - address of a word that holds the caller's rbp; 0: none is known
 */
struct frame_state {
	s64	depth;
	s64	word_at;
	s64	word;
	s64	fp_at;
	s64	copy[__BEE_REG_MAX];
	u16	copies;
	bool	known;
	bool	has_word;
	bool	fp_same;
};

void frame_state_entry(struct frame_state *state);
bool frame_state_is_entry(const struct frame_state *state);
bool frame_state_step(struct frame_state *state, const struct insn *insn);
void frame_state_call(struct frame_state *state, bool keeps_fp, bool keeps_others);
void frame_state_keep_rsp(struct frame_state *state);
bool frame_state_keep_fp(struct frame_state *state);
bool frame_state_meet(struct frame_state *state, const struct frame_state *other);
bool frame_state_rule(const struct frame_state *state, struct bee_rule *rule);

#endif /* BEE_FRAME_STATE_H */
