/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The shadow stack of a single-stepped thread: its callers, known from the calls, returns and
 * signals that it executes, not from any table.
 */
#ifndef BEE_SHADOW_H
#define BEE_SHADOW_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

/**
 * struct shadow_frame - a caller, with its registers after its callee has returned
 * @slot: address of the return address on the stack; of an interrupted frame, the address that
 *	sp is above once the handler has returned
 * @ip: the return address, or the interrupted instruction
 * @sp: stack pointer
 * @fp: rbp
 * @claim: the table's value of rbp, if @claimed
 * @claimed: the table has another value than @fp, so rbp is to be checked after the return
 * @activation: it was interrupted by a signal
 * @popped: the return address has been popped and is kept elsewhere
 */
struct shadow_frame {
	u64	slot;
	u64	ip;
	u64	sp;
	u64	fp;
	u64	claim;
	bool	claimed;
	bool	activation;
	bool	popped;
};

/**
 * enum shadow_insn - instructions that matter to the shadow stack, after they were executed
 * @SHADOW_OTHER: may have changed sp in any way
 * @SHADOW_CALL: has pushed a return address
 * @SHADOW_RET: has popped one and gone there
 * @SHADOW_POP: has popped a word
 * @SHADOW_JUMP: an indirect jump
 * @SHADOW_SYSCALL: a system call
 */
enum shadow_insn {
	SHADOW_OTHER,
	SHADOW_CALL,
	SHADOW_RET,
	SHADOW_POP,
	SHADOW_JUMP,
	SHADOW_SYSCALL,
};

/**
 * struct shadow - the callers, outermost first
 * @frame: the callers
 * @count: how many
 * @room: memory for so many
 * @alt: start of the alternate signal stack
 * @alt_end: its end; 0 without one
 */
struct shadow {
	struct shadow_frame	*frame;
	size_t			 count;
	size_t			 room;
	u64			 alt;
	u64			 alt_end;
};

enum shadow_insn shadow_decode(const u8 *code, size_t n);
void shadow_call(struct shadow *shadow, u64 slot, u64 ra, u64 fp);
void shadow_signal(struct shadow *shadow, const struct shadow_frame *interrupted, u64 slot,
		   u64 restorer);
bool shadow_sigreturn(struct shadow *shadow, u64 ip, u64 sp);
size_t shadow_gone(struct shadow *shadow, enum shadow_insn insn, u64 sp);

/* The n-th caller, from 0; NULL beyond the outermost. */
static inline struct shadow_frame *shadow_caller(const struct shadow *shadow, size_t n)
{
	return n < shadow->count ? &shadow->frame[shadow->count - 1 - n] : NULL;
}

#endif /* BEE_SHADOW_H */
