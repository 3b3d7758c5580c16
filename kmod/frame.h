/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One step of the walk: apply a row to a frame.  [S]: pure.  Before including
 * this the environment defines struct bee_uread and
 *
 *	bool bee_uread_u64(struct bee_uread *mem, u64 addr, u64 *value)
 *	bool bee_uread_u8(struct bee_uread *mem, u64 addr, u8 *value)
 *
 * which read the memory of the process that is walked and return false where
 * they cannot.
 */
#ifndef BEE_FRAME_H
#define BEE_FRAME_H

#include <linux/types.h>
#include <linux/beeunwind.h>
#include <linux/beeunwind_table.h>

#include "table.h"

/* How far above sp a frame pointer may be and still be believed, in bytes. */
#define BEE_FP_MAX_DISTANCE	(8u << 20)

/**
 * struct bee_frame - where the walk is
 * @ip: absolute address; exact in an activation, a return address in a caller
 * @sp: stack pointer of the frame
 * @fp: rbp of the frame, if @fp_known
 * @fp_known: false once a row has declared rbp lost
 * @activation: @ip is exact: the topmost frame, or one interrupted by a signal
 * @gpr: the 16 GPRs by DWARF number, NULL where they are not known.  rsp and
 *	rbp are not taken from here.
 */
struct bee_frame {
	u64		ip;
	u64		sp;
	u64		fp;
	bool		fp_known;
	bool		activation;
	const u64	*gpr;
};

/**
 * bee_frame_lookup_ip() - the address to look a frame's row up at
 * @f: the frame
 *
 * A return address can be the first byte after a noreturn call, that is of the
 * next function or of nothing; the call itself ends one byte before it.
 *
 * Context: Any.
 */
static inline u64 bee_frame_lookup_ip(const struct bee_frame *f)
{
	return f->activation ? f->ip : f->ip - 1;
}

static inline bool frame_reg(const struct bee_frame *f, u8 reg, u64 *value)
{
	switch (reg) {
	case BEE_REG_RSP:
		*value = f->sp;
		return true;
	case BEE_REG_RBP:
		*value = f->fp;
		return f->fp_known;
	}
	if (!f->gpr)
		return false;
	*value = f->gpr[reg];
	return true;
}

/* *(reg + off) */
static inline enum beeunwind_stop frame_deref(struct bee_uread *mem, const struct bee_frame *f,
					      u8 reg, s32 off, u64 *value)
{
	u64 base;

	if (!frame_reg(f, reg, &base))
		return BEEUNWIND_STOP_UNKNOWN_REGISTER;
	if (!bee_uread_u64(mem, base + (s64)off, value))
		return BEEUNWIND_STOP_READ_FAULT;
	return BEEUNWIND_STOP_NONE;
}

static inline enum beeunwind_stop frame_cfa(struct bee_uread *mem, const struct bee_row *row,
					    const struct bee_frame *f, u64 *cfa)
{
	enum beeunwind_stop stop = BEEUNWIND_STOP_NONE;

	switch (row->cfa) {
	case BEE_CFA_REG:
		if (!frame_reg(f, row->cfa_reg, cfa))
			return BEEUNWIND_STOP_UNKNOWN_REGISTER;
		*cfa += (s64)row->cfa_off;
		break;
	case BEE_CFA_DEREF:
		stop = frame_deref(mem, f, row->cfa_reg, row->cfa_off, cfa);
		*cfa += (s64)row->cfa_add;
		break;
	case BEE_CFA_PLT:
		*cfa = f->sp + 8 + ((f->ip & 15) >= (u32)row->cfa_off ? 8 : 0);
		break;
	default:
		return BEEUNWIND_STOP_UNSUPPORTED;
	}
	return stop;
}

static inline enum beeunwind_stop frame_fp(struct bee_uread *mem, const struct bee_row *row,
					   const struct bee_frame *f, u64 cfa,
					   u64 *fp, bool *known)
{
	*known = true;
	switch (row->fp) {
	case BEE_FP_SAME:
		*fp = f->fp;
		*known = f->fp_known;
		return BEEUNWIND_STOP_NONE;
	case BEE_FP_CFA:
		if (!bee_uread_u64(mem, cfa + (s64)row->fp_off, fp))
			return BEEUNWIND_STOP_READ_FAULT;
		return BEEUNWIND_STOP_NONE;
	case BEE_FP_DEREF:
		return frame_deref(mem, f, row->fp_reg, row->fp_off, fp);
	case BEE_FP_REG:
		if (!frame_reg(f, row->fp_reg, fp))
			return BEEUNWIND_STOP_UNKNOWN_REGISTER;
		return BEEUNWIND_STOP_NONE;
	}
	*fp = 0;
	*known = false;
	return BEEUNWIND_STOP_NONE;
}

static inline enum beeunwind_stop frame_ra(struct bee_uread *mem, const struct bee_row *row,
					   const struct bee_frame *f, u64 cfa, u64 *ra)
{
	switch (row->ra) {
	case BEE_RA_CFA:
		if (!bee_uread_u64(mem, cfa + (s64)row->ra_off, ra))
			return BEEUNWIND_STOP_READ_FAULT;
		return BEEUNWIND_STOP_NONE;
	case BEE_RA_DEREF:
		return frame_deref(mem, f, row->ra_reg, row->ra_off, ra);
	case BEE_RA_REG:
		if (!frame_reg(f, row->ra_reg, ra))
			return BEEUNWIND_STOP_UNKNOWN_REGISTER;
		return BEEUNWIND_STOP_NONE;
	}
	return BEEUNWIND_STOP_OUTERMOST;
}

/*
 * The stack grows down, so a caller's frame lies above its callee's.  Only a
 * signal frame may switch stacks; and a callee that has popped its return
 * address into a register (vfork) has its caller's stack pointer already.
 */
static inline bool frame_progresses(const struct bee_row *row, const struct bee_frame *f, u64 cfa)
{
	if (row->arg & BEE_RULE_SIGNAL)
		return true;
	return cfa > f->sp || (cfa == f->sp && row->ra == BEE_RA_REG && f->activation);
}

/**
 * bee_frame_step() - from a frame to its caller, by a row of kind BEE_ROW_RULES
 * @mem: the process's memory
 * @row: the rules at the frame's lookup ip
 * @f: the frame; replaced by its caller on success, untouched otherwise
 *
 * The caller's ip is as untrusted as the stack it was read from.
 *
 * Context: Any, NMI-safe: does not fault, sleep, allocate, lock or print.
 * Return: BEEUNWIND_STOP_NONE, or why there is no caller.
 */
static inline enum beeunwind_stop bee_frame_step(struct bee_uread *mem, const struct bee_row *row,
						 struct bee_frame *f)
{
	enum beeunwind_stop stop;
	u64 cfa, ra, fp;
	bool fp_known;

	if (row->ra == BEE_RA_UNDEF)
		return BEEUNWIND_STOP_OUTERMOST;
	stop = frame_cfa(mem, row, f, &cfa);
	if (stop)
		return stop;
	if (cfa & 7)
		return BEEUNWIND_STOP_MISALIGNED;
	if (!frame_progresses(row, f, cfa))
		return BEEUNWIND_STOP_NO_PROGRESS;
	stop = frame_ra(mem, row, f, cfa, &ra);
	if (stop)
		return stop;
	stop = frame_fp(mem, row, f, cfa, &fp, &fp_known);
	if (stop)
		return stop;

	f->ip = ra;
	f->sp = cfa;
	f->fp = fp;
	f->fp_known = fp_known;
	f->activation = row->arg & BEE_RULE_SIGNAL;
	f->gpr = NULL;
	return BEEUNWIND_STOP_NONE;
}

/* Where the return address is, if the instruction at an activation's ip tells. */
static inline bool frame_peek_ra(struct bee_uread *mem, const struct bee_frame *f, u64 *slot)
{
	u8 op, op1, op2;
	u64 ip = f->ip;

	if (!bee_uread_u8(mem, ip, &op))
		return false;
	/* endbr64 = f3 0f 1e fa */
	if (op == 0xf3 && bee_uread_u8(mem, ip + 1, &op1) && op1 == 0x0f) {
		ip += 4;
		if (!bee_uread_u8(mem, ip, &op))
			return false;
	}
	*slot = f->sp;
	/* push %rbp not executed yet, or ret about to be */
	if (op == 0x55 || op == 0xc3)
		return true;
	/* mov %rsp,%rbp not executed yet: rbp alone has been pushed */
	if (op != 0x48 || !bee_uread_u8(mem, ip + 1, &op1) || !bee_uread_u8(mem, ip + 2, &op2))
		return false;
	*slot = f->sp + 8;
	return (op1 == 0x89 && op2 == 0xe5) || (op1 == 0x8b && op2 == 0xec);
}

/**
 * bee_frame_step_fp() - from a frame without a row to its caller, by rbp
 * @mem: the process's memory
 * @f: the frame; replaced by its caller on success, untouched otherwise
 *
 * For code that keeps frame pointers but has no CFI.  In an activation the
 * instruction at ip is looked at first: before "push %rbp; mov %rsp,%rbp" is
 * through, and at the ret, rbp is still or again the caller's.
 *
 * The caller must not believe the new ip before it has found it in an
 * executable mapping.
 *
 * Context: Any, NMI-safe: does not fault, sleep, allocate, lock or print.
 * Return: true if there is a caller that looks sane.
 */
static inline bool bee_frame_step_fp(struct bee_uread *mem, struct bee_frame *f)
{
	u64 ra, fp, slot;

	if (!f->fp_known)
		return false;
	if (f->activation && frame_peek_ra(mem, f, &slot)) {
		if (slot & 7 || !bee_uread_u64(mem, slot, &ra))
			return false;
		fp = f->fp;
		/* Only "mov %rsp,%rbp" has the caller's rbp on the stack already. */
		if (slot != f->sp && !bee_uread_u64(mem, f->sp, &fp))
			return false;
	} else {
		if (f->fp & 7 || f->fp < f->sp || f->fp - f->sp > BEE_FP_MAX_DISTANCE)
			return false;
		slot = f->fp + 8;
		if (!bee_uread_u64(mem, slot, &ra) || !bee_uread_u64(mem, f->fp, &fp))
			return false;
	}
	f->ip = ra;
	f->sp = slot + 8;
	f->fp = fp;
	f->activation = false;
	f->gpr = NULL;
	return true;
}

#endif /* BEE_FRAME_H */
