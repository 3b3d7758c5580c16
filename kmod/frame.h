/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One step of the walk: from a frame to its caller.  Tools and tests include this file, too: it
 * takes no lock and allocates nothing.  Before including it they, and walk.c, define struct
 * bee_uread and
 *
 *	bool bee_uread_u64(struct bee_uread *mem, u64 addr, u64 *value)
 *	bool bee_uread_u8(struct bee_uread *mem, u64 addr, u8 *value)
 *
 * which read the memory of the walked process and return false where they cannot.  If it defines
 * bee_uread_u64_begun, too, that is for words that bee_simple_step() reads.
 */
#ifndef BEE_FRAME_H
#define BEE_FRAME_H

#include <linux/compiler.h>
#include <linux/types.h>
#include <linux/beeunwind.h>
#include <linux/beeunwind_table.h>

#include "table.h"

#ifndef bee_uread_u64_begun
#define bee_uread_u64_begun	bee_uread_u64
#endif

/* Bytes below rsp that belong to an activation, and that signals leave alone (psABI 1.0, 3.2.2). */
#define BEE_RED_ZONE		128

/* A frame pointer that is further away than this is not on the same stack. */
#define BEE_FP_MAX_DISTANCE	(8u << 20)

/**
 * struct bee_frame - one frame of the walk
 * @ip: absolute address; exact in an activation, a return address in a caller
 * @sp: stack pointer
 * @fp: rbp, if @fp_known
 * @slot: address that @ip was read from, where a call has pushed it; 0 in activations
 * @gpr: the 16 GPRs of the topmost frame by DWARF number, otherwise NULL; rsp and rbp are taken
 *	from @sp and @fp
 * @saved: in a frame that a signal has interrupted, address of the GPRs that the kernel has saved
 *	(struct sigcontext), otherwise 0
 * @callee_sp: in a caller, the stack pointer of its callee; 0 if the callee had no rule
 * @callee_gpr: in a caller, @gpr of its callee
 * @callee_saved: in a caller, @saved of its callee
 * @fp_known: false in the callers of a frame whose rule has lost rbp
 * @activation: @ip is exact: the topmost frame, or one that a signal, or the call of a uprobe, has
 *	interrupted
 *
 * Registers other than rsp and rbp are known in activations only.
 */
struct bee_frame {
	u64		ip;
	u64		sp;
	u64		fp;
	u64		slot;
	const u64	*gpr;
	u64		saved;
	u64		callee_sp;
	const u64	*callee_gpr;
	u64		callee_saved;
	bool		fp_known;
	bool		activation;
};

/*
 * The kernel's signal frame (struct rt_sigframe, arch/x86/include/asm/sigframe.h).  When the
 * handler has returned, rsp points to its struct ucontext, whose uc_mcontext is a struct
 * sigcontext (asm/sigcontext.h) with the words r8 .. r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp,
 * rip.
 */
#define BEE_SIGNAL_CONTEXT	40	/* offsetof(struct ucontext, uc_mcontext) */
#define BEE_SIGNAL_FP		(BEE_SIGNAL_CONTEXT + 8 * 10)
#define BEE_SIGNAL_SP		(BEE_SIGNAL_CONTEXT + 8 * 15)
#define BEE_SIGNAL_IP		(BEE_SIGNAL_CONTEXT + 8 * 16)

/**
 * bee_frame_lookup_ip() - the address to look up a frame's range and rule with
 * @f: the frame
 *
 * A return address is behind the call: after a call that does not return it belongs to the next
 * function or to none.  One byte before it is still the call instruction.
 *
 * Context: Any.
 * Return: the address.
 */
static inline u64 bee_frame_lookup_ip(const struct bee_frame *f)
{
	return f->activation ? f->ip : f->ip - 1;
}

/*
 * In some kinds of rules the byte of a register's number has another meaning, and any value.  A CPU
 * that speculates in the code for another kind must not read behind an array of registers with it.
 */
static inline u8 frame_reg_masked(u8 reg)
{
	return reg % __BEE_REG_MAX;
}

/* A register that the kernel has saved for a signal; read when asked for, as few rules do. */
static inline enum beeunwind_stop frame_saved_reg(struct bee_uread *mem, u64 saved, u8 reg,
						  u64 *value)
{
	static const u8 words[__BEE_REG_MAX] = {
		[BEE_REG_R8] = 0, [BEE_REG_R9] = 1, [BEE_REG_R10] = 2, [BEE_REG_R11] = 3,
		[BEE_REG_R12] = 4, [BEE_REG_R13] = 5, [BEE_REG_R14] = 6, [BEE_REG_R15] = 7,
		[BEE_REG_RDI] = 8, [BEE_REG_RSI] = 9, [BEE_REG_RBP] = 10, [BEE_REG_RBX] = 11,
		[BEE_REG_RDX] = 12, [BEE_REG_RAX] = 13, [BEE_REG_RCX] = 14, [BEE_REG_RSP] = 15,
	};

	if (!saved)
		return BEEUNWIND_STOP_UNKNOWN_REGISTER;
	if (!bee_uread_u64(mem, saved + 8 * words[frame_reg_masked(reg)], value))
		return BEEUNWIND_STOP_READ_FAULT;
	return BEEUNWIND_STOP_NONE;
}

static inline enum beeunwind_stop frame_reg(struct bee_uread *mem, const struct bee_frame *f,
					    u8 reg, u64 *value)
{
	switch (reg) {
	case BEE_REG_RSP:
		*value = f->sp;
		return BEEUNWIND_STOP_NONE;
	case BEE_REG_RBP:
		*value = f->fp;
		return f->fp_known ? BEEUNWIND_STOP_NONE : BEEUNWIND_STOP_UNKNOWN_REGISTER;
	}
	if (!f->gpr)
		return frame_saved_reg(mem, f->saved, reg, value);
	*value = f->gpr[frame_reg_masked(reg)];
	return BEEUNWIND_STOP_NONE;
}

/* *(reg + off) */
static inline enum beeunwind_stop frame_deref(struct bee_uread *mem, const struct bee_frame *f,
					      u8 reg, s32 off, u64 *value)
{
	enum beeunwind_stop stop;
	u64 base;

	stop = frame_reg(mem, f, reg, &base);
	if (stop)
		return stop;
	if (!bee_uread_u64(mem, base + (s64)off, value))
		return BEEUNWIND_STOP_READ_FAULT;
	return BEEUNWIND_STOP_NONE;
}

/* *(*(reg + off) + 8 * mid), where @regs is reg plus 16 times mid */
static inline enum beeunwind_stop frame_deref2(struct bee_uread *mem, const struct bee_frame *f,
					       u8 regs, s32 off, u64 *value)
{
	enum beeunwind_stop stop;
	u64 base;

	stop = frame_deref(mem, f, regs & 15, off, &base);
	if (stop)
		return stop;
	if (!bee_uread_u64(mem, base + 8 * (regs >> 4), value))
		return BEEUNWIND_STOP_READ_FAULT;
	return BEEUNWIND_STOP_NONE;
}

/* *(base + 8 * index + off) */
static inline enum beeunwind_stop frame_index(struct bee_uread *mem, const struct bee_frame *f,
					      u8 regs, s32 off, u64 *value)
{
	enum beeunwind_stop stop;
	u64 base, index;

	stop = frame_reg(mem, f, regs & 15, &base);
	if (stop)
		return stop;
	stop = frame_reg(mem, f, regs >> 4, &index);
	if (stop)
		return stop;
	if (!bee_uread_u64(mem, base + 8 * index + (s64)off, value))
		return BEEUNWIND_STOP_READ_FAULT;
	return BEEUNWIND_STOP_NONE;
}

/*
 * A register that the callee of @f saves at *(rsp + off).  The callee pushes it and pops it again:
 * while the word is below the callee's rsp, the register has its value.
 */
static inline enum beeunwind_stop frame_callee_saves(struct bee_uread *mem,
						     const struct bee_frame *f, u8 reg, s32 off,
						     u64 *value)
{
	u64 slot = f->sp + (s64)off;

	if (f->activation)
		return frame_reg(mem, f, reg, value);
	if (f->callee_sp && slot >= f->callee_sp)
		return bee_uread_u64(mem, slot, value) ? BEEUNWIND_STOP_NONE :
							 BEEUNWIND_STOP_READ_FAULT;
	if (!f->callee_gpr)
		return frame_saved_reg(mem, f->callee_saved, reg, value);
	*value = f->callee_gpr[frame_reg_masked(reg)];
	return BEEUNWIND_STOP_NONE;
}

static inline enum beeunwind_stop frame_cfa(struct bee_uread *mem, const struct bee_rule *rule,
					    const struct bee_frame *f, u64 *cfa)
{
	enum beeunwind_stop stop = BEEUNWIND_STOP_NONE;

	switch (rule->cfa) {
	case BEE_CFA_REG:
		stop = frame_reg(mem, f, rule->cfa_reg, cfa);
		*cfa += (s64)rule->cfa_off;
		break;
	case BEE_CFA_DEREF:
		stop = frame_deref(mem, f, rule->cfa_reg, rule->cfa_off, cfa);
		*cfa += (s64)rule->cfa_add;
		break;
	case BEE_CFA_INDEX:
		stop = frame_index(mem, f, rule->cfa_reg, rule->cfa_off, cfa);
		*cfa += (s64)rule->cfa_add;
		break;
	case BEE_CFA_DEREF2:
		stop = frame_deref2(mem, f, rule->cfa_reg, rule->cfa_off, cfa);
		*cfa += (s64)rule->cfa_add;
		break;
	case BEE_CFA_SAVED:
		stop = frame_callee_saves(mem, f, rule->cfa_reg, rule->cfa_off, cfa);
		*cfa += (s64)rule->cfa_add;
		break;
	case BEE_CFA_PLT:
		*cfa = f->sp + 8 + ((f->ip & 15) >= (u32)rule->cfa_off ? 8 : 0);
		break;
	default:
		return BEEUNWIND_STOP_UNSUPPORTED;
	}
	return stop;
}

/*
 * Return: false if rbp of the caller is not known.  The step succeeds all the same; a later one
 * that needs rbp stops with BEEUNWIND_STOP_UNKNOWN_REGISTER.
 */
static inline bool frame_fp(struct bee_uread *mem, const struct bee_rule *rule,
			    const struct bee_frame *f, u64 cfa, u64 *fp)
{
	switch (rule->fp) {
	case BEE_FP_SAME:
		*fp = f->fp;
		return f->fp_known;
	case BEE_FP_CFA:
		return bee_uread_u64(mem, cfa + (s64)rule->fp_off, fp);
	case BEE_FP_DEREF:
		return !frame_deref(mem, f, rule->fp_reg, rule->fp_off, fp);
	case BEE_FP_REG:
		return !frame_reg(mem, f, rule->fp_reg, fp);
	}
	return false;
}

static inline enum beeunwind_stop frame_ra(struct bee_uread *mem, const struct bee_rule *rule,
					   const struct bee_frame *f, u64 cfa, u64 *ra)
{
	switch (rule->ra) {
	case BEE_RA_CFA:
		if (!bee_uread_u64(mem, cfa + (s64)rule->ra_off, ra))
			return BEEUNWIND_STOP_READ_FAULT;
		return BEEUNWIND_STOP_NONE;
	case BEE_RA_DEREF:
		return frame_deref(mem, f, rule->ra_reg, rule->ra_off, ra);
	case BEE_RA_REG:
		return frame_reg(mem, f, rule->ra_reg, ra);
	case BEE_RA_IP:
		*ra = f->ip + (s64)rule->ra_off;
		return BEEUNWIND_STOP_NONE;
	}
	return BEEUNWIND_STOP_OUTERMOST;
}

/*
 * Whether the caller may be on another stack, so that its CFA says nothing about progress: signal
 * frames, and two ways in which code switches stacks.  The old rsp is in memory (OCaml 5 between
 * fibers, and from C's stack), or in a register other than rbp (OCaml 5 around calls of C functions
 * that do not allocate).  CFAs loaded from rbp are of functions that realign their stack (DRAP).
 */
static inline bool frame_may_switch(const struct bee_rule *rule)
{
	switch (rule->cfa) {
	case BEE_CFA_REG:
		if (rule->cfa_reg != BEE_REG_RSP && rule->cfa_reg != BEE_REG_RBP)
			return true;
		break;
	case BEE_CFA_DEREF:
		if (rule->cfa_reg != BEE_REG_RBP)
			return true;
		break;
	case BEE_CFA_DEREF2:
	case BEE_CFA_SAVED:
		return true;
	}
	return rule->arg & BEE_RULE_SIGNAL;
}

/*
 * The stack grows down, so a caller's frame is above its callee's.  But an activation can have
 * popped its return address, into a register (vfork()) or away, as it is still in the red zone
 * (OCaml 4's caml_c_call); or be about to call from below the red zone (BEE_RA_IP).
 */
static inline bool frame_progresses(const struct bee_rule *rule, const struct bee_frame *f, u64 cfa)
{
	s64 ra_off = rule->ra == BEE_RA_CFA && rule->ra_off < 0 ? rule->ra_off : 0;

	return cfa > f->sp || frame_may_switch(rule) ||
	       (f->activation && f->sp - cfa - ra_off <= BEE_RED_ZONE);
}

/* Where the kernel has saved the GPRs, if @rule reads its signal frame; 0 if not. */
static inline u64 frame_saved(const struct bee_rule *rule, const struct bee_frame *f)
{
	if (!(rule->arg & BEE_RULE_SIGNAL) || rule->cfa != BEE_CFA_DEREF || rule->cfa_add ||
	    rule->cfa_reg != BEE_REG_RSP || rule->cfa_off != BEE_SIGNAL_SP ||
	    rule->ra != BEE_RA_DEREF || rule->ra_reg != BEE_REG_RSP ||
	    rule->ra_off != BEE_SIGNAL_IP)
		return 0;
	return f->sp + BEE_SIGNAL_CONTEXT;
}

/**
 * bee_frame_step() - step from a frame to its caller by a rule
 * @mem: memory of the process
 * @rule: the rule at the frame's lookup ip; its kind is BEE_RULE_KNOWN
 * @f: the frame; set to its caller if that is found, otherwise left as it is
 *
 * The caller's ip is not checked: it comes from user memory.
 *
 * Context: Any, NMI-safe.
 * Return: BEEUNWIND_STOP_NONE, or why there is no caller.
 */
static inline enum beeunwind_stop bee_frame_step(struct bee_uread *mem, const struct bee_rule *rule,
						 struct bee_frame *f)
{
	bool signal = rule->arg & BEE_RULE_SIGNAL;
	enum beeunwind_stop stop;
	u64 cfa, ra, fp = 0;
	bool fp_known;

	if (rule->ra == BEE_RA_UNDEF)
		return BEEUNWIND_STOP_OUTERMOST;
	stop = frame_cfa(mem, rule, f, &cfa);
	if (stop)
		return stop;
	if (cfa & 7)
		return BEEUNWIND_STOP_MISALIGNED;
	if (!frame_progresses(rule, f, cfa))
		return BEEUNWIND_STOP_NO_PROGRESS;
	stop = frame_ra(mem, rule, f, cfa, &ra);
	if (stop)
		return stop;
	fp_known = frame_fp(mem, rule, f, cfa, &fp);

	*f = (struct bee_frame) {
		.ip = ra,
		.sp = cfa,
		.fp = fp,
		.slot = signal ? 0 : cfa - 8,
		.saved = frame_saved(rule, f),
		.callee_sp = f->sp,
		.callee_gpr = f->gpr,
		.callee_saved = f->saved,
		.fp_known = fp_known,
		.activation = signal,
	};
	return BEEUNWIND_STOP_NONE;
}

/**
 * struct bee_simple_frame - what simple rules need of a frame, and change
 * @sp: stack pointer
 * @fp: rbp, if @fp_known
 * @fp_known: as in struct bee_frame
 */
struct bee_simple_frame {
	u64	sp;
	u64	fp;
	bool	fp_known;
};

/**
 * bee_simple_step() - step from a frame to its caller by a simple rule
 * @mem: memory of the process
 * @word: the rule at the frame's lookup ip; bee_word_is_simple()
 * @s: the frame; set to its caller if that is found, otherwise left as it is
 * @ra: filled: the caller's ip
 *
 * Does what bee_frame_step() does with the decoded rule, for most frames of a walk.  The caller's
 * sp is always greater than the frame's: an activation whose return address is in the red zone
 * stops with BEEUNWIND_STOP_NO_PROGRESS.
 *
 * Context: Any, NMI-safe.
 * Return: BEEUNWIND_STOP_NONE, or why there is no caller.
 */
static __always_inline enum beeunwind_stop bee_simple_step(struct bee_uread *mem, u32 word,
							   struct bee_simple_frame *s, u64 *ra)
{
	/* Both fields count words: one shift moves a field to bit 0 and multiplies it by 8. */
	u64 cfa = word << (3 - BEE_WORD_CFA_SHIFT) & BEE_WORD_CFA_FIELD << 3;
	u64 slot = word >> (BEE_WORD_FP_SHIFT - 3) & BEE_WORD_FP_MAX << 3;
	u64 fp = 0;

	if ((word & BEE_WORD_KIND) == BEE_WORD_RSP)
		cfa += s->sp;
	else if (s->fp_known)
		cfa += s->fp;
	else
		return BEEUNWIND_STOP_UNKNOWN_REGISTER;
	if (cfa & 7)
		return BEEUNWIND_STOP_MISALIGNED;
	if (cfa <= s->sp)
		return BEEUNWIND_STOP_NO_PROGRESS;
	if (!bee_uread_u64_begun(mem, cfa - 8, ra))
		return BEEUNWIND_STOP_READ_FAULT;
	if (slot) {
		s->fp_known = bee_uread_u64_begun(mem, cfa - slot, &fp);
		s->fp = fp;
	}
	s->sp = cfa;
	return BEEUNWIND_STOP_NONE;
}

/** bee_frame_simple() - the part of a frame that simple rules need.  Context: Any. */
static inline struct bee_simple_frame bee_frame_simple(const struct bee_frame *f)
{
	return (struct bee_simple_frame) { .sp = f->sp, .fp = f->fp, .fp_known = f->fp_known };
}

/**
 * bee_frame_set_simple() - take over the result of one or more calls of bee_simple_step()
 * @f: the frame from which the first step was made; set to that after the last
 * @s: the frame after the last step
 * @ip: its ip
 * @callee_sp: stack pointer of the frame before it
 * @first: whether this was one step only, and not several
 *
 * Context: Any.
 */
static inline void bee_frame_set_simple(struct bee_frame *f, const struct bee_simple_frame *s,
					u64 ip, u64 callee_sp, bool first)
{
	f->callee_sp = callee_sp;
	f->callee_gpr = first ? f->gpr : NULL;
	f->callee_saved = first ? f->saved : 0;
	f->ip = ip;
	f->sp = s->sp;
	f->fp = s->fp;
	f->fp_known = s->fp_known;
	f->slot = s->sp - 8;
	f->gpr = NULL;
	f->saved = 0;
	f->activation = false;
}

/**
 * struct bee_switches - steps of one walk that did not raise the stack pointer; zero at its start
 * @count: number of these steps
 * @ip: ip of the frame after one of them
 * @sp: sp of that frame
 */
struct bee_switches {
	u32	count;
	u64	ip;
	u64	sp;
};

/**
 * bee_frame_repeats() - whether the walk goes in circles
 * @switches: those of this walk
 * @sp: stack pointer of the callee
 * @f: the caller, after the step
 *
 * A circle has a step that does not raise sp, so only those are looked at.  The frame after one of
 * them is remembered whenever their count is a power of two, and compared with those after it
 * until the next is remembered (R. P. Brent, "An improved Monte Carlo factorization algorithm",
 * BIT 20, 1980): a circle of n such steps is found after at most 4n of them.
 *
 * Context: Any, NMI-safe.
 * Return: true if the walk has been at this frame before.
 */
static inline bool bee_frame_repeats(struct bee_switches *switches, u64 sp,
				     const struct bee_frame *f)
{
	if (f->sp > sp)
		return false;
	if (switches->count && f->ip == switches->ip && f->sp == switches->sp)
		return true;
	if (!(switches->count & (switches->count - 1))) {
		switches->ip = f->ip;
		switches->sp = f->sp;
	}
	switches->count++;
	return false;
}

/**
 * bee_frame_code_is() - whether these bytes of code are at an address
 * @mem: memory of the process
 * @ip: the address
 * @code: the bytes
 * @size: number of bytes
 *
 * Not inlined, as each of its callers' many copies would take stack of its own.
 *
 * Context: Any, NMI-safe.
 * Return: false also if the memory is not present.
 */
static noinline bool bee_frame_code_is(struct bee_uread *mem, u64 ip, const u8 *code, u32 size)
{
	u8 byte;
	u32 i;

	for (i = 0; i < size; i++)
		if (!bee_uread_u8(mem, ip + i, &byte) || byte != code[i])
			return false;
	return true;
}

/**
 * enum bee_call - whether there is a call instruction before an address
 * @BEE_CALL_NONE: the bytes before it are of no call
 * @BEE_CALL_FOUND: they can be one
 * @BEE_CALL_UNREADABLE: they are not present in memory
 */
enum bee_call {
	BEE_CALL_NONE,
	BEE_CALL_FOUND,
	BEE_CALL_UNREADABLE,
};

/* Bytes of the longest call, "call *disp32(base,index,scale)", without its prefixes. */
#define BEE_CALL_BYTES	7

/*
 * Whether "call *r/m" (FF /2; Intel SDM 2A, CALL) with this ModRM byte, SIB byte (if it has one)
 * and displacement has @size bytes.
 */
static inline bool frame_is_indirect_call(u8 opcode, u8 modrm, u8 sib, u32 size)
{
	u8 mod = modrm >> 6, rm = modrm & 7;
	u32 length = 2;

	if (opcode != 0xff || (modrm & 0x38) != 0x10)
		return false;
	if (mod != 3 && rm == 4)
		length++;
	if (mod == 1)
		length++;
	else if (mod == 2 || (!mod && (rm == 5 || (rm == 4 && (sib & 7) == 5))))
		length += 4;
	return length == size;
}

/* A displacement of four bytes, the first one in memory first. */
static inline s64 frame_s32(u8 a, u8 b, u8 c, u8 d)
{
	return (s32)(a | b << 8 | c << 16 | (u32)d << 24);
}

static inline bool frame_read_s32(struct bee_uread *mem, u64 at, s64 *value)
{
	u8 b[4];
	u32 i;

	for (i = 0; i < 4; i++)
		if (!bee_uread_u8(mem, at + i, &b[i]))
			return false;
	*value = frame_s32(b[0], b[1], b[2], b[3]);
	return true;
}

/**
 * bee_frame_find_call() - whether an address can be a return address
 * @mem: memory of the process
 * @ip: the address
 * @target: filled if there is one: what is called, or 0 if the call does not name it
 *
 * Looks for "call rel32" (E8) and "call *r/m" (FF /2) up to @ip.  Prefixes (REX, notrack, bnd,
 * segments, and the padding before the call of __tls_get_addr()) stand before these bytes, so they
 * need not be known.
 *
 * Context: Any, NMI-safe.
 * Return: whether there is one.
 */
static inline enum bee_call bee_frame_find_call(struct bee_uread *mem, u64 ip, u64 *target)
{
	/* code[n] is the byte at ip - n. */
	u8 code[BEE_CALL_BYTES + 1] = {};
	u32 n;

	*target = 0;
	for (n = 1; n <= BEE_CALL_BYTES; n++) {
		if (!bee_uread_u8(mem, ip - n, &code[n]))
			return BEE_CALL_UNREADABLE;
		if (n == 5 && code[5] == 0xe8) {
			*target = ip + frame_s32(code[4], code[3], code[2], code[1]);
			return BEE_CALL_FOUND;
		}
		if (n >= 2 && frame_is_indirect_call(code[n], code[n - 1],
						     n > 2 ? code[n - 2] : 0, n))
			return BEE_CALL_FOUND;
	}
	return BEE_CALL_NONE;
}

#define FRAME_NEAR	256	/* bytes */

/**
 * bee_frame_is_near() - whether rbp is less than 256 bytes above rsp
 * @f: a frame without a rule
 *
 * If it is, a step by rbp has to find the call of this frame's function: a return address that another
 * call has left in the stack, and that rbp points to by chance, is mostly as near.  If rbp is farther
 * up it can be the rbp of the frame's caller, as Go's systemstack() changes rsp only.  Then the step finds
 * the call of the caller's function, which does not lead to this frame's.
 *
 * Context: Any, NMI-safe.
 */
static inline bool bee_frame_is_near(const struct bee_frame *f)
{
	return f->fp - f->sp < FRAME_NEAR;
}

/**
 * bee_frame_jump_target() - where code leads that only jumps: a thunk, or an entry of a PLT
 * @mem: memory of the process
 * @ip: its first byte
 *
 * Knows a relative jump (E9) and one through a word relative to ip (FF /4), behind an endbr64, a bnd
 * prefix, or a move of a number to r11d (mold's PLT).
 *
 * Context: Any, NMI-safe.
 * Return: the address; 0 if the code does something else or is not present.
 */
static inline u64 bee_frame_jump_target(struct bee_uread *mem, u64 ip)
{
	static const u8 endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa }, bnd[] = { 0xf2 };
	static const u8 mov[] = { 0x41, 0xbb }, jmp[] = { 0xe9 }, jmp_at[] = { 0xff, 0x25 };
	u64 target;
	s64 disp;

	if (bee_frame_code_is(mem, ip, endbr64, sizeof(endbr64)))
		ip += sizeof(endbr64);
	if (bee_frame_code_is(mem, ip, mov, sizeof(mov)))
		ip += sizeof(mov) + 4;
	if (bee_frame_code_is(mem, ip, bnd, sizeof(bnd)))
		ip += sizeof(bnd);
	if (bee_frame_code_is(mem, ip, jmp, sizeof(jmp)))
		return frame_read_s32(mem, ip + 1, &disp) ? ip + 5 + disp : 0;
	if (!bee_frame_code_is(mem, ip, jmp_at, sizeof(jmp_at)) ||
	    !frame_read_s32(mem, ip + 2, &disp) || !bee_uread_u64(mem, ip + 6 + disp, &target))
		return 0;
	return target;
}

/**
 * bee_frame_is_sigreturn() - whether a frame is in a signal trampoline
 * @mem: memory of the process
 * @f: the frame
 *
 * rt_sigreturn() is called in one of two forms: "mov $15,%rax; syscall" or "mov $15,%eax; syscall".
 * A handler returns to the first byte; an activation can also be behind the mov.
 *
 * Context: Any, NMI-safe.
 */
static inline bool bee_frame_is_sigreturn(struct bee_uread *mem, const struct bee_frame *f)
{
	static const u8 rax[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 };
	static const u8 eax[] = { 0xb8, 15, 0, 0, 0, 0x0f, 0x05 };

	return bee_frame_code_is(mem, f->ip, rax, sizeof(rax)) ||
	       bee_frame_code_is(mem, f->ip, eax, sizeof(eax)) ||
	       (f->activation && (bee_frame_code_is(mem, f->ip - 7, rax, sizeof(rax)) ||
				  bee_frame_code_is(mem, f->ip - 5, eax, sizeof(eax))));
}

/**
 * bee_frame_step_sigreturn() - step from a signal trampoline to the interrupted frame
 * @mem: memory of the process
 * @f: the frame; set to the interrupted one if that is found, otherwise left as it is
 *
 * For trampolines without CFI, as that of musl.
 *
 * Context: Any, NMI-safe.
 * Return: true if the frame is in a trampoline and its saved context is plausible.
 */
static inline bool bee_frame_step_sigreturn(struct bee_uread *mem, struct bee_frame *f)
{
	static const struct bee_rule rule = {
		.kind = BEE_RULE_KNOWN, .arg = BEE_RULE_SIGNAL,
		.cfa = BEE_CFA_DEREF, .cfa_reg = BEE_REG_RSP, .cfa_off = BEE_SIGNAL_SP,
		.fp = BEE_FP_DEREF, .fp_reg = BEE_REG_RSP, .fp_off = BEE_SIGNAL_FP,
		.ra = BEE_RA_DEREF, .ra_reg = BEE_REG_RSP, .ra_off = BEE_SIGNAL_IP,
	};

	return bee_frame_is_sigreturn(mem, f) && !bee_frame_step(mem, &rule, f);
}

/*
 * Whether ip is behind the system call of glibc's clone() or clone3(), which have no CFI there:
 *
 *	test %rax,%rax; jl error; je child; ret; child:
 *
 * In a sample that is taken while the kernel makes the thread, rax is negative in the parent.
 */
static inline bool frame_is_behind_clone(struct bee_uread *mem, const struct bee_frame *f,
					 u64 *rax)
{
	static const u8 test_jl[] = { 0x48, 0x85, 0xc0, 0x7c }, je_ret[] = { 0x74, 0x01, 0xc3 };

	return bee_frame_code_is(mem, f->ip, test_jl, sizeof(test_jl)) &&
	       bee_frame_code_is(mem, f->ip + 5, je_ret, sizeof(je_ret)) &&
	       !frame_reg(mem, f, BEE_REG_RAX, rax);
}

/*
 * Whether @ip is at the end of a function: "add $n,%rsp; ret".  Then rbp is the caller's.
 * @slot: where the return address is.
 */
static inline bool frame_is_at_end(struct bee_uread *mem, u64 ip, u64 sp, u64 *slot)
{
	static const u8 add[] = { 0x48, 0x83, 0xc4 }, ret[] = { 0xc3 };
	u8 size;

	if (!bee_frame_code_is(mem, ip, add, sizeof(add)) || !bee_uread_u8(mem, ip + 3, &size) ||
	    size & 0x80 || !bee_frame_code_is(mem, ip + 4, ret, sizeof(ret)))
		return false;
	*slot = sp + size;
	return true;
}

/*
 * Whether @ip is in a trampoline that Python makes for perf: "sub $8,%rsp; call *%rcx; add $8,%rsp; ret".
 * @slot: where the return address is.
 */
static inline bool frame_is_in_trampoline(struct bee_uread *mem, u64 ip, u64 sp, u64 *slot)
{
	static const u8 code[] = { 0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3 };

	*slot = sp;
	if (bee_frame_code_is(mem, ip, code, sizeof(code)))
		return true;
	*slot = sp + 8;
	return bee_frame_code_is(mem, ip - 4, code, sizeof(code));
}

/*
 * enum frame_peek - what the instructions at an activation's ip tell
 * @FRAME_PEEK_NOTHING: nothing
 * @FRAME_PEEK_RA: where the return address is; rbp is the caller's
 * @FRAME_PEEK_PUSHED: where the return address is; the caller's rbp is in the word below it
 * @FRAME_PEEK_NO_CALLER: this is a new thread
 */
enum frame_peek {
	FRAME_PEEK_NOTHING,
	FRAME_PEEK_RA,
	FRAME_PEEK_PUSHED,
	FRAME_PEEK_NO_CALLER,
};

/* A push of rbp alone tells nothing: code without frame pointers saves rbp like other registers. */
static inline enum frame_peek frame_peek(struct bee_uread *mem, const struct bee_frame *f,
					 u64 *slot)
{
	static const u8 endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	/* push %rbp; mov %rsp,%rbp, in both encodings */
	static const u8 prologue[2][4] = { { 0x55, 0x48, 0x89, 0xe5 }, { 0x55, 0x48, 0x8b, 0xec } };
	static const u8 ret[] = { 0xc3 };
	u64 ip = f->ip, rax;
	u32 i;

	*slot = f->sp;
	if (frame_is_behind_clone(mem, f, &rax))
		return rax ? FRAME_PEEK_RA : FRAME_PEEK_NO_CALLER;
	if (bee_frame_code_is(mem, ip, ret, sizeof(ret)))
		return FRAME_PEEK_RA;
	if (bee_frame_code_is(mem, ip, endbr64, sizeof(endbr64)))
		ip += sizeof(endbr64);
	for (i = 0; i < 2; i++) {
		if (bee_frame_code_is(mem, ip, prologue[i], sizeof(prologue[i])))
			return FRAME_PEEK_RA;
		if (bee_frame_code_is(mem, f->ip - 1, prologue[i], sizeof(prologue[i]))) {
			*slot = f->sp + 8;
			return FRAME_PEEK_PUSHED;
		}
	}
	if (frame_is_at_end(mem, ip, f->sp, slot) || frame_is_in_trampoline(mem, ip, f->sp, slot))
		return FRAME_PEEK_RA;
	return FRAME_PEEK_NOTHING;
}

/*
 * Whether @fp can be the frame pointer of a function whose stack pointer is @sp.  Either it is at
 * most BEE_FP_MAX_DISTANCE above @sp; or it is on another stack: Go's runtime.systemstack() calls a
 * function on the thread's stack and leaves rbp on the goroutine's.  @next is the frame pointer
 * saved at @fp, or 0.  On another stack it must be above @fp in the same way, and @sp must not be
 * between the two: then @fp would be left over from a function that has returned to this stack.
 */
static inline bool frame_fp_is_plausible(u64 sp, u64 fp, u64 next)
{
	if (fp >= sp && fp - sp <= BEE_FP_MAX_DISTANCE)
		return true;
	return !next || (next > fp && next - fp <= BEE_FP_MAX_DISTANCE && (fp > sp || next < sp));
}

/**
 * bee_frame_step_fp() - step from a frame without a rule to its caller by rbp
 * @mem: memory of the process
 * @f: the frame; set to its caller if that is found, otherwise left as it is
 *
 * For code that keeps frame pointers but has no CFI.  In an activation the instructions at ip are
 * looked at first, since rbp may still be the caller's: in the prologue "push %rbp; mov %rsp,%rbp",
 * at a ret, and anywhere in a trampoline that Python makes for perf.  A thread that clone() has
 * just made has its parent's rbp and no caller.  In a caller they are, too: a function that ends there with "add
 * $n,%rsp; ret" keeps no frame pointer, as the trampolines that Python makes for perf.
 *
 * The new sp may be below the old one.  The caller of this function must not believe the new ip
 * before it has found it in an executable mapping and behind a call, and must make sure that the
 * walk does not go in circles.
 *
 * Context: Any, NMI-safe.
 * Return: true if there is a plausible caller.
 */
static inline bool bee_frame_step_fp(struct bee_uread *mem, struct bee_frame *f)
{
	enum frame_peek peek = FRAME_PEEK_NOTHING;
	u64 ra, fp, slot;

	if (f->activation)
		peek = frame_peek(mem, f, &slot);
	else if (frame_is_at_end(mem, f->ip, f->sp, &slot))
		peek = FRAME_PEEK_RA;
	fp = f->fp;
	switch (peek) {
	case FRAME_PEEK_NO_CALLER:
		return false;
	case FRAME_PEEK_RA:
	case FRAME_PEEK_PUSHED:
		if (slot & 7)
			return false;
		break;
	case FRAME_PEEK_NOTHING:
		if (!f->fp_known || fp & 7)
			return false;
		slot = fp + 8;
		break;
	}
	if (!bee_uread_u64(mem, slot, &ra) ||
	    (peek != FRAME_PEEK_RA && !bee_uread_u64(mem, slot - 8, &fp)) ||
	    (peek == FRAME_PEEK_NOTHING && !frame_fp_is_plausible(f->sp, f->fp, fp)))
		return false;
	*f = (struct bee_frame) {
		.ip = ra,
		.sp = slot + 8,
		.fp = fp,
		.slot = slot,
		.fp_known = peek != FRAME_PEEK_RA || f->fp_known,
	};
	return true;
}

#endif /* BEE_FRAME_H */
