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
 * @slot: address that a call has left @ip at; 0 in activations
 * @gpr: the 16 GPRs of the topmost frame by DWARF number, otherwise NULL.  rsp
 *	and rbp are not taken from here.
 * @saved: address of the GPRs that a signal has saved (struct sigcontext) where
 *	the frame is one that it has interrupted, otherwise 0
 * @fp_known: false once a row has declared rbp lost
 * @activation: @ip is exact: the topmost frame, or one interrupted by a signal
 *
 * Other registers than rsp and rbp are known in activations only.
 */
struct bee_frame {
	u64		ip;
	u64		sp;
	u64		fp;
	u64		slot;
	const u64	*gpr;
	u64		saved;
	bool		fp_known;
	bool		activation;
};

/*
 * The kernel's signal frame (struct rt_sigframe, arch/x86/include/asm/sigframe.h):
 * when the handler has returned rsp points to the struct ucontext, whose
 * uc_mcontext is a struct sigcontext (asm/sigcontext.h) with the words
 *
 *	r8 ... r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip
 */
#define BEE_SIGNAL_CONTEXT	40	/* offsetof(struct ucontext, uc_mcontext) */
#define BEE_SIGNAL_FP		(BEE_SIGNAL_CONTEXT + 8 * 10)
#define BEE_SIGNAL_SP		(BEE_SIGNAL_CONTEXT + 8 * 15)
#define BEE_SIGNAL_IP		(BEE_SIGNAL_CONTEXT + 8 * 16)

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

/* A register that a signal has saved; one at a time, for few rows ask. */
static inline enum beeunwind_stop frame_saved_reg(struct bee_uread *mem, const struct bee_frame *f,
						  u8 reg, u64 *value)
{
	static const u8 words[__BEE_REG_MAX] = {
		[BEE_REG_R8] = 0, [BEE_REG_R9] = 1, [BEE_REG_R10] = 2, [BEE_REG_R11] = 3,
		[BEE_REG_R12] = 4, [BEE_REG_R13] = 5, [BEE_REG_R14] = 6, [BEE_REG_R15] = 7,
		[BEE_REG_RDI] = 8, [BEE_REG_RSI] = 9, [BEE_REG_RBP] = 10, [BEE_REG_RBX] = 11,
		[BEE_REG_RDX] = 12, [BEE_REG_RAX] = 13, [BEE_REG_RCX] = 14, [BEE_REG_RSP] = 15,
	};

	if (!f->saved)
		return BEEUNWIND_STOP_UNKNOWN_REGISTER;
	if (!bee_uread_u64(mem, f->saved + 8 * words[reg], value))
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
		return frame_saved_reg(mem, f, reg, value);
	*value = f->gpr[reg];
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

static inline enum beeunwind_stop frame_cfa(struct bee_uread *mem, const struct bee_rule *row,
					    const struct bee_frame *f, u64 *cfa)
{
	enum beeunwind_stop stop = BEEUNWIND_STOP_NONE;

	switch (row->cfa) {
	case BEE_CFA_REG:
		stop = frame_reg(mem, f, row->cfa_reg, cfa);
		*cfa += (s64)row->cfa_off;
		break;
	case BEE_CFA_DEREF:
		stop = frame_deref(mem, f, row->cfa_reg, row->cfa_off, cfa);
		*cfa += (s64)row->cfa_add;
		break;
	case BEE_CFA_INDEX:
		stop = frame_index(mem, f, row->cfa_reg, row->cfa_off, cfa);
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

/*
 * Returns false where rbp is lost.  That it cannot be read is no reason to stop: the
 * caller is known, and whoever needs rbp later says so.
 */
static inline bool frame_fp(struct bee_uread *mem, const struct bee_rule *row,
			    const struct bee_frame *f, u64 cfa, u64 *fp)
{
	switch (row->fp) {
	case BEE_FP_SAME:
		*fp = f->fp;
		return f->fp_known;
	case BEE_FP_CFA:
		return bee_uread_u64(mem, cfa + (s64)row->fp_off, fp);
	case BEE_FP_DEREF:
		return !frame_deref(mem, f, row->fp_reg, row->fp_off, fp);
	case BEE_FP_REG:
		return !frame_reg(mem, f, row->fp_reg, fp);
	}
	return false;
}

static inline enum beeunwind_stop frame_ra(struct bee_uread *mem, const struct bee_rule *row,
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
		return frame_reg(mem, f, row->ra_reg, ra);
	}
	return BEEUNWIND_STOP_OUTERMOST;
}

/*
 * A CFA that is loaded from memory can lie on another stack: signal frames, and
 * code that switches stacks, such as OCaml 5 between its stacks and C's.  From
 * the memory at rbp it is loaded by functions that align their own stack (DRAP).
 */
static inline bool frame_may_switch(const struct bee_rule *row)
{
	return row->arg & BEE_RULE_SIGNAL ||
	       (row->cfa == BEE_CFA_DEREF && row->cfa_reg != BEE_REG_RBP);
}

/*
 * The stack grows down, so a caller's frame lies above its callee's; but a callee
 * that has popped its return address into a register (vfork) has its caller's
 * stack pointer already.
 */
static inline bool frame_progresses(const struct bee_rule *row, const struct bee_frame *f, u64 cfa)
{
	return cfa > f->sp || frame_may_switch(row) ||
	       (cfa == f->sp && row->ra == BEE_RA_REG && f->activation);
}

/* Where a signal has saved the GPRs, if the row reads rsp and rip as the kernel lays them out. */
static inline u64 frame_saved(const struct bee_rule *row, const struct bee_frame *f)
{
	if (!(row->arg & BEE_RULE_SIGNAL) || row->cfa != BEE_CFA_DEREF || row->cfa_add ||
	    row->cfa_reg != BEE_REG_RSP || row->cfa_off != BEE_SIGNAL_SP ||
	    row->ra != BEE_RA_DEREF || row->ra_reg != BEE_REG_RSP || row->ra_off != BEE_SIGNAL_IP)
		return 0;
	return f->sp + BEE_SIGNAL_CONTEXT;
}

/**
 * bee_frame_step() - from a frame to its caller, by a row of kind BEE_RULE_KNOWN
 * @mem: the process's memory
 * @row: the rules at the frame's lookup ip
 * @f: the frame; replaced by its caller on success, untouched otherwise
 *
 * The caller's ip is as untrusted as the stack it was read from.
 *
 * Context: Any, NMI-safe: does not fault, sleep, allocate, lock or print.
 * Return: BEEUNWIND_STOP_NONE, or why there is no caller.
 */
static inline enum beeunwind_stop bee_frame_step(struct bee_uread *mem, const struct bee_rule *row,
						 struct bee_frame *f)
{
	bool signal = row->arg & BEE_RULE_SIGNAL;
	enum beeunwind_stop stop;
	u64 cfa, ra, fp = 0;
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
	fp_known = frame_fp(mem, row, f, cfa, &fp);

	*f = (struct bee_frame) {
		.ip = ra,
		.sp = cfa,
		.fp = fp,
		.slot = signal ? 0 : cfa - 8,
		.saved = frame_saved(row, f),
		.fp_known = fp_known,
		.activation = signal,
	};
	return BEEUNWIND_STOP_NONE;
}

/**
 * struct bee_switches - switches of stacks in one walk; zero at its start
 * @count: how many
 * @ip: of the frame after one of them
 * @sp: of that frame
 */
struct bee_switches {
	u32	count;
	u64	ip;
	u64	sp;
};

/**
 * bee_frame_repeats() - does the walk go in circles?
 * @switches: those of this walk
 * @sp: stack pointer of the callee
 * @f: the frame after the step
 *
 * Where sp rises no frame comes twice, so only steps that lower it are looked at.
 * The frame after one of them is remembered, each time their count is a power of
 * two, and compared with all that follow until the next (R. P. Brent, "An
 * improved Monte Carlo factorization algorithm", BIT 20, 1980): a circle of n
 * switches is found at the latest when 4n have been made.
 *
 * Context: Any, NMI-safe.
 * Return: true if this frame has been there already.
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
 * bee_frame_code_is() - is this the code at an address?
 * @mem: the process's memory
 * @ip: the address
 * @code: the bytes looked for
 * @size: how many
 *
 * Context: Any, NMI-safe: does not fault, sleep, allocate, lock or print.
 */
static inline bool bee_frame_code_is(struct bee_uread *mem, u64 ip, const u8 *code, u32 size)
{
	u8 byte;
	u32 i;

	for (i = 0; i < size; i++)
		if (!bee_uread_u8(mem, ip + i, &byte) || byte != code[i])
			return false;
	return true;
}

/**
 * bee_frame_step_sigreturn() - across a signal frame whose trampoline has no row
 * @mem: the process's memory
 * @f: the frame; replaced by the one that was interrupted on success, untouched
 *	otherwise
 *
 * The trampolines of musl and Go have no CFI, but there are few ways to write
 * rt_sigreturn(): "mov $15,%rax; syscall", or %eax.  A handler returns to the
 * first of its bytes; in an activation the mov may have been executed.
 *
 * Context: Any, NMI-safe: does not fault, sleep, allocate, lock or print.
 * Return: true if the frame is a trampoline and the saved context looks sane.
 */
static inline bool bee_frame_step_sigreturn(struct bee_uread *mem, struct bee_frame *f)
{
	static const u8 rax[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 };
	static const u8 eax[] = { 0xb8, 15, 0, 0, 0, 0x0f, 0x05 };
	static const struct bee_rule row = {
		.kind = BEE_RULE_KNOWN, .arg = BEE_RULE_SIGNAL,
		.cfa = BEE_CFA_DEREF, .cfa_reg = BEE_REG_RSP, .cfa_off = BEE_SIGNAL_SP,
		.fp = BEE_FP_DEREF, .fp_reg = BEE_REG_RSP, .fp_off = BEE_SIGNAL_FP,
		.ra = BEE_RA_DEREF, .ra_reg = BEE_REG_RSP, .ra_off = BEE_SIGNAL_IP,
	};

	if (!bee_frame_code_is(mem, f->ip, rax, sizeof(rax)) &&
	    !bee_frame_code_is(mem, f->ip, eax, sizeof(eax)) &&
	    !(f->activation && (bee_frame_code_is(mem, f->ip - 7, rax, sizeof(rax)) ||
				bee_frame_code_is(mem, f->ip - 5, eax, sizeof(eax)))))
		return false;
	return !bee_frame_step(mem, &row, f);
}

/*
 * Behind the system call of glibc's clone() and clone3(), which have no CFI there:
 *
 *	test %rax,%rax; jl error; je child; ret; child:
 *
 * Where the kernel makes a thread, and is sampled, rax is negative in the parent.
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
 * _init() and _fini(), which the linker makes of crti.o and crtn.o, have no CFI:
 *
 *	sub $8,%rsp; mov __gmon_start__@GOT,%rax; test %rax,%rax; je 1f; call *%rax;
 *	1: add $8,%rsp; ret
 *
 * All from @ip on is looked at, so that it is so wherever else these bytes are.
 */
static inline bool frame_is_in_init(struct bee_uread *mem, u64 ip, u64 sp, u64 *slot)
{
	static const u8 sub[] = { 0x48, 0x83, 0xec, 0x08 }, mov[] = { 0x48, 0x8b, 0x05 },
			test[] = { 0x48, 0x85, 0xc0 }, je[] = { 0x74, 0x02 },
			call[] = { 0xff, 0xd0 }, add_ret[] = { 0x48, 0x83, 0xc4, 0x08, 0xc3 };

	*slot = sp + 8;
	if (bee_frame_code_is(mem, ip, sub, sizeof(sub))) {
		*slot = sp;
		ip += sizeof(sub);
	}
	if (bee_frame_code_is(mem, ip, mov, sizeof(mov)))
		ip += sizeof(mov) + 4;
	if (bee_frame_code_is(mem, ip, test, sizeof(test)))
		ip += sizeof(test);
	if (bee_frame_code_is(mem, ip, je, sizeof(je)))
		ip += sizeof(je);
	if (bee_frame_code_is(mem, ip, call, sizeof(call)))
		ip += sizeof(call);
	return bee_frame_code_is(mem, ip, add_ret, sizeof(add_ret));
}

/*
 * enum frame_peek - what the code at an activation's ip tells
 * @FRAME_PEEK_NOTHING: nothing
 * @FRAME_PEEK_RA: where the return address is; rbp is the caller's
 * @FRAME_PEEK_PUSHED: the same, but the caller's rbp is in the word below it
 * @FRAME_PEEK_NO_CALLER: this is a new thread
 */
enum frame_peek {
	FRAME_PEEK_NOTHING,
	FRAME_PEEK_RA,
	FRAME_PEEK_PUSHED,
	FRAME_PEEK_NO_CALLER,
};

/*
 * A push of rbp alone says nothing: in code that uses rbp as any other register it
 * is one of several.  A jump through a word at rip is how an entry of a PLT begins,
 * but its first one, which pushes a word before; lld's PLTs and those of static
 * programs have no CFI.
 */
static inline enum frame_peek frame_peek(struct bee_uread *mem, const struct bee_frame *f,
					 u64 *slot)
{
	static const u8 endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	/* push %rbp; mov %rsp,%rbp, in both encodings */
	static const u8 prologue[2][4] = { { 0x55, 0x48, 0x89, 0xe5 }, { 0x55, 0x48, 0x8b, 0xec } };
	static const u8 ret[] = { 0xc3 };
	/* jmp *disp(%rip), with and without bnd; push disp(%rip) */
	static const u8 jump[] = { 0xff, 0x25 }, bnd_jump[] = { 0xf2, 0xff, 0x25 };
	static const u8 push[] = { 0xff, 0x35 };
	u64 ip = f->ip, rax;
	u32 i;

	*slot = f->sp;
	if (frame_is_behind_clone(mem, f, &rax))
		return rax ? FRAME_PEEK_RA : FRAME_PEEK_NO_CALLER;
	if (bee_frame_code_is(mem, ip, ret, sizeof(ret)))
		return FRAME_PEEK_RA;
	if (bee_frame_code_is(mem, ip, endbr64, sizeof(endbr64)))
		ip += sizeof(endbr64);
	if (bee_frame_code_is(mem, ip, jump, sizeof(jump)) ||
	    bee_frame_code_is(mem, ip, bnd_jump, sizeof(bnd_jump)))
		return bee_frame_code_is(mem, ip - 6, push, sizeof(push)) ?
			FRAME_PEEK_NOTHING : FRAME_PEEK_RA;
	for (i = 0; i < 2; i++) {
		if (bee_frame_code_is(mem, ip, prologue[i], sizeof(prologue[i])))
			return FRAME_PEEK_RA;
		if (bee_frame_code_is(mem, f->ip - 1, prologue[i], sizeof(prologue[i]))) {
			*slot = f->sp + 8;
			return FRAME_PEEK_PUSHED;
		}
	}
	return frame_is_in_init(mem, ip, f->sp, slot) ? FRAME_PEEK_RA : FRAME_PEEK_NOTHING;
}

/**
 * bee_frame_step_fp() - from a frame without a row to its caller, by rbp
 * @mem: the process's memory
 * @f: the frame; replaced by its caller on success, untouched otherwise
 *
 * For code that keeps frame pointers but has no CFI.  In an activation the
 * instruction at ip is looked at first: before "push %rbp; mov %rsp,%rbp" is
 * through, and at the ret, rbp is still or again the caller's, and in _init() and _fini() it
 * is so throughout.  A thread that clone() has just made has its parent's rbp, and no caller.
 *
 * The caller must not believe the new ip before it has found it in an
 * executable mapping.
 *
 * Context: Any, NMI-safe: does not fault, sleep, allocate, lock or print.
 * Return: true if there is a caller that looks sane.
 */
static inline bool bee_frame_step_fp(struct bee_uread *mem, struct bee_frame *f)
{
	enum frame_peek peek = FRAME_PEEK_NOTHING;
	u64 ra, fp, slot;

	if (!f->fp_known)
		return false;
	if (f->activation)
		peek = frame_peek(mem, f, &slot);
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
		if (fp & 7 || fp < f->sp || fp - f->sp > BEE_FP_MAX_DISTANCE)
			return false;
		slot = fp + 8;
		break;
	}
	if (!bee_uread_u64(mem, slot, &ra) ||
	    (peek != FRAME_PEEK_RA && !bee_uread_u64(mem, slot - 8, &fp)))
		return false;
	*f = (struct bee_frame) {
		.ip = ra,
		.sp = slot + 8,
		.fp = fp,
		.slot = slot,
		.fp_known = true,
	};
	return true;
}

#endif /* BEE_FRAME_H */
