/* SPDX-License-Identifier: GPL-2.0 */
/* Instructions: what those of x86-64 do to the stack.  Only insn.c uses Zydis. */
#ifndef BEE_INSN_H
#define BEE_INSN_H

#include <linux/types.h>

#include "elf.h"

/* A register that is none of the sixteen. */
#define INSN_NO_REG	0xff

/**
 * enum insn_kind - what an instruction does
 * @INSN_OTHER: nothing of what follows; @writes and @store say what it changes
 * @INSN_CALL: call @target
 * @INSN_CALL_INDIRECT: call of an address that is not in the instruction
 * @INSN_JUMP: jump to @target
 * @INSN_JUMP_INDIRECT: jump to an address that is not in the instruction
 * @INSN_BRANCH: jump to @target, or go on
 * @INSN_RET: return, with nothing taken off the stack but the return address
 * @INSN_STOP: no instruction follows this one: ud2, hlt, int3
 * @INSN_PUSH: push @from, which may be INSN_NO_REG
 * @INSN_POP: pop @to, which may be INSN_NO_REG
 * @INSN_LEA: @to = @from + @disp: add and sub of an immediate value, lea, mov between registers
 * @INSN_AND: @to = @to & an immediate value
 * @INSN_LOAD: @to = 8 bytes at @from + @disp
 * @INSN_LEAVE: rsp = rbp; pop rbp
 * @INSN_ODD: it moves the stack pointer, or the control, in another way
 */
enum insn_kind {
	INSN_OTHER,
	INSN_CALL,
	INSN_CALL_INDIRECT,
	INSN_JUMP,
	INSN_JUMP_INDIRECT,
	INSN_BRANCH,
	INSN_RET,
	INSN_STOP,
	INSN_PUSH,
	INSN_POP,
	INSN_LEA,
	INSN_AND,
	INSN_LOAD,
	INSN_LEAVE,
	INSN_ODD,
};

/**
 * struct insn - an instruction
 * @kind: enum insn_kind
 * @length: bytes
 * @to: register written, by DWARF number
 * @from: register read; base of the address
 * @disp: offset
 * @target: of a call, jump or branch
 * @writes: all general purpose registers that it writes, a bit for each; also parts of them
 * @store: bytes that it stores at @store_base + @store_disp; 0: none, or at an address that has
 *	an index too
 * @store_base: a register
 * @store_disp: offset
 * @stored: the register whose 8 bytes it stores, or INSN_NO_REG
 */
struct insn {
	u8	kind;
	u8	length;
	u8	to;
	u8	from;
	s64	disp;
	u64	target;
	u16	writes;
	u16	store;
	u8	store_base;
	u8	stored;
	s64	store_disp;
};

bool insn_decode(const u8 *code, u64 size, u64 pc, struct insn *insn);
bool insn_read(const struct elf_file *elf, u64 pc, u64 end, struct insn *insn);

#endif /* BEE_INSN_H */
