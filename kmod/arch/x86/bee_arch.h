/* SPDX-License-Identifier: GPL-2.0 */
/* x86-64: the topmost frame from the interrupted user registers. */
#ifndef BEE_ARCH_H
#define BEE_ARCH_H

#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <asm/processor-flags.h>

#include "frame.h"

#define BEE_ARCH_NR_GPR	16

/**
 * bee_arch_is_walkable() - whether the registers are those of 64-bit user code
 * @regs: user registers as perf has them
 *
 * Context: Any, NMI-safe.
 * Return: false for 32-bit and vm86 code.
 */
static inline bool bee_arch_is_walkable(struct pt_regs *regs)
{
	return user_64bit_mode(regs) && !(regs->flags & (X86_VM_MASK | PERF_EFLAGS_VM));
}

/**
 * bee_arch_topmost() - the topmost frame
 * @regs: user registers as perf has them
 * @gpr: where bee_arch_gpr() is going to put the GPRs
 * @f: filled
 *
 * Context: Any, NMI-safe.
 */
static inline void bee_arch_topmost(const struct pt_regs *regs, const u64 *gpr, struct bee_frame *f)
{
	f->ip = regs->ip;
	f->sp = regs->sp;
	f->fp = regs->bp;
	f->slot = 0;
	f->gpr = gpr;
	f->saved = 0;
	f->callee_sp = 0;
	f->callee_gpr = NULL;
	f->callee_saved = 0;
	f->fp_known = true;
	f->activation = true;
}

/**
 * bee_arch_gpr() - the GPRs of the topmost frame
 * @regs: user registers as perf has them
 * @gpr: filled, by DWARF number (psABI 1.0, figure 3.36)
 *
 * In a system call rcx and r11 have the values that SYSCALL has put there, as user code sees.
 *
 * Context: Any, NMI-safe.
 */
static inline void bee_arch_gpr(const struct pt_regs *regs, u64 *gpr)
{
	gpr[BEE_REG_RAX] = regs->ax;
	gpr[BEE_REG_RDX] = regs->dx;
	gpr[BEE_REG_RCX] = regs->cx;
	gpr[BEE_REG_RBX] = regs->bx;
	gpr[BEE_REG_RSI] = regs->si;
	gpr[BEE_REG_RDI] = regs->di;
	gpr[BEE_REG_RBP] = regs->bp;
	gpr[BEE_REG_RSP] = regs->sp;
	gpr[BEE_REG_R8] = regs->r8;
	gpr[BEE_REG_R9] = regs->r9;
	gpr[BEE_REG_R10] = regs->r10;
	gpr[BEE_REG_R11] = regs->r11;
	gpr[BEE_REG_R12] = regs->r12;
	gpr[BEE_REG_R13] = regs->r13;
	gpr[BEE_REG_R14] = regs->r14;
	gpr[BEE_REG_R15] = regs->r15;
}

#endif /* BEE_ARCH_H */
