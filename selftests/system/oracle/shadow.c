// SPDX-License-Identifier: GPL-2.0
/* The shadow stack: callers known from the calls, returns and signals that were executed. */
#include <stdlib.h>

#include "shadow.h"

/**
 * shadow_decode() - classify an instruction (Intel SDM volume 2, 64-bit mode)
 * @code: its bytes, and what follows
 * @n: how many
 */
enum shadow_insn shadow_decode(const u8 *code, size_t n)
{
	size_t i = 0;

	/* operand and address size, segment, bnd/rep, notrack and REX prefixes */
	while (i + 2 < n &&
	       (code[i] == 0x66 || code[i] == 0x67 || code[i] == 0x2e || code[i] == 0x3e ||
		code[i] == 0xf2 || code[i] == 0xf3 || (code[i] & 0xf0) == 0x40))
		i++;
	switch (code[i]) {
	case 0xe8:
		return SHADOW_CALL;
	case 0xc2:
	case 0xc3:
		return SHADOW_RET;
	case 0x58 ... 0x5f:
	case 0x8f:
		return SHADOW_POP;
	case 0x0f:
		return code[i + 1] == 0x05 ? SHADOW_SYSCALL : SHADOW_OTHER;
	case 0xff:
		switch (code[i + 1] >> 3 & 7) {
		case 2:
			return SHADOW_CALL;
		case 4:
			return SHADOW_JUMP;
		}
	}
	return SHADOW_OTHER;
}

static void shadow_push(struct shadow *shadow, const struct shadow_frame *frame)
{
	if (shadow->count == shadow->room) {
		shadow->room = shadow->room ? 2 * shadow->room : 64;
		shadow->frame = reallocarray(shadow->frame, shadow->room, sizeof(*frame));
		if (!shadow->frame)
			abort();
	}
	shadow->frame[shadow->count++] = *frame;
}

/* shadow_call() - a call has pushed @ra at @slot; rbp was @fp */
void shadow_call(struct shadow *shadow, u64 slot, u64 ra, u64 fp)
{
	const struct shadow_frame caller = { .slot = slot, .ip = ra, .sp = slot + 8, .fp = fp };

	shadow_push(shadow, &caller);
}

/**
 * shadow_signal() - a signal handler is about to begin
 * @shadow: the callers
 * @interrupted: ip, sp and fp of what was interrupted
 * @slot: sp at the handler's first instruction, where its return address is
 * @restorer: that return address
 *
 * The kernel leaves rbp alone.
 */
void shadow_signal(struct shadow *shadow, const struct shadow_frame *interrupted, u64 slot,
		   u64 restorer)
{
	struct shadow_frame frame = *interrupted;

	frame.activation = true;
	frame.slot = frame.sp - 1;
	shadow_push(shadow, &frame);
	shadow_call(shadow, slot, restorer, frame.fp);
}

/* shadow_sigreturn() - a handler has returned.  Return: is it where the signal came? */
bool shadow_sigreturn(struct shadow *shadow, u64 ip, u64 sp)
{
	while (shadow->count) {
		const struct shadow_frame *top = &shadow->frame[--shadow->count];

		if (top->activation)
			return top->ip == ip && top->sp == sp;
	}
	return false;
}

static bool shadow_on_alt(const struct shadow *shadow, u64 addr)
{
	return addr - shadow->alt < shadow->alt_end - shadow->alt;
}

/* Has the callee of @top returned?  @sp is the stack pointer after @insn. */
static bool shadow_is_gone(const struct shadow *shadow, struct shadow_frame *top,
			   enum shadow_insn insn, u64 sp)
{
	bool alt = shadow_on_alt(shadow, sp);

	if (shadow_on_alt(shadow, top->slot) != alt)
		return !alt;
	if (top->slot >= sp) {
		top->popped = false;
		return false;
	}
	/* vfork and musl's sigsetjmp pop the return address, and jump to it later. */
	if (!top->activation && top->slot + 8 == sp) {
		top->popped |= insn == SHADOW_POP;
		return !top->popped || insn == SHADOW_JUMP;
	}
	return true;
}

/**
 * shadow_gone() - remove the callers that have been returned to, or skipped by a longjmp
 * @shadow: the callers
 * @insn: what was executed
 * @sp: stack pointer afterwards
 *
 * Return: how many; the array still has them, behind those that are left.
 */
size_t shadow_gone(struct shadow *shadow, enum shadow_insn insn, u64 sp)
{
	size_t before = shadow->count;

	while (shadow->count &&
	       shadow_is_gone(shadow, &shadow->frame[shadow->count - 1], insn, sp))
		shadow->count--;
	return before - shadow->count;
}
