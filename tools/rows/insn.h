/* SPDX-License-Identifier: GPL-2.0 */
/* Instructions: what those of x86-64 do to the stack.  Only insn.c uses Zydis. */
#ifndef BEE_INSN_H
#define BEE_INSN_H

#include <linux/types.h>

#include "elf.h"

/* A register that is none of the sixteen. */
#define INSN_NO_REG	0xff

/* Of rax, rdx, rcx, rsi, rdi, r8 .. r11 a callee need not keep the value (psABI 3.2.1). */
#define INSN_CALLER_SAVED	0x0f37

/* The lock prefix.  glibc's code jumps over it where there is one thread: to the second byte of an instruction. */
#define INSN_LOCK	0xf0

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
 * enum insn_op - what an instruction does to a value that an indirect jump may need
 * @INSN_OP_NONE: nothing of what follows
 * @INSN_OP_SET: @dest = @value; also xor of a register with itself, lea at rip
 * @INSN_OP_SET_LOW: the lowest byte of @dest = @value
 * @INSN_OP_MOVE: @dest = the lowest @width bits of @source, zero-extended unless it is 64
 * @INSN_OP_SIGN_EXTEND: @dest = the lowest 32 bits of @source, sign-extended
 * @INSN_OP_AND: @dest &= @value
 * @INSN_OP_ADD: @dest += @source, 64 bits
 * @INSN_OP_LOAD: @dest = @width bits at @mem, sign-extended
 * @INSN_OP_COMPARE: compare @width bits of @dest with @value
 * @INSN_OP_COMPARE_REGS: compare 64 bits of @dest with @source
 * @INSN_OP_TEST: is @dest zero?
 * @INSN_OP_GOTO: jump to, or call, what @source holds
 * @INSN_OP_GOTO_MEM: jump to, or call, what @mem holds
 * @INSN_OP_SYSCALL: syscall
 * @INSN_OP_ENDBR: endbr64
 */
enum insn_op {
	INSN_OP_NONE,
	INSN_OP_SET,
	INSN_OP_SET_LOW,
	INSN_OP_MOVE,
	INSN_OP_SIGN_EXTEND,
	INSN_OP_AND,
	INSN_OP_ADD,
	INSN_OP_LOAD,
	INSN_OP_COMPARE,
	INSN_OP_COMPARE_REGS,
	INSN_OP_TEST,
	INSN_OP_GOTO,
	INSN_OP_GOTO_MEM,
	INSN_OP_SYSCALL,
	INSN_OP_ENDBR,
};

/**
 * enum insn_condition - of a branch, after a comparison without signs
 * @INSN_IF_OTHER: none of what follows
 * @INSN_IF_ABOVE: >
 * @INSN_IF_AT_LEAST: >=
 * @INSN_IF_AT_MOST: <=
 * @INSN_IF_BELOW: <
 * @INSN_IF_EQUAL: ==
 * @INSN_IF_OTHERWISE: !=
 */
enum insn_condition {
	INSN_IF_OTHER,
	INSN_IF_ABOVE,
	INSN_IF_AT_LEAST,
	INSN_IF_AT_MOST,
	INSN_IF_BELOW,
	INSN_IF_EQUAL,
	INSN_IF_OTHERWISE,
};

/**
 * struct insn_mem - an address: @base + @index * @scale + @disp
 * @base: a register, or INSN_NO_REG
 * @index: a register, or INSN_NO_REG
 * @scale: 0 without index
 * @fixed: there is no register, or only rip, which is in @disp
 * @disp: offset
 */
struct insn_mem {
	u8	base;
	u8	index;
	u8	scale;
	bool	fixed;
	u64	disp;
};

/**
 * struct insn_value - what an instruction does to a value
 * @op: enum insn_op
 * @condition: enum insn_condition, of a branch
 * @dest: a register, also for a part of it
 * @source: a register
 * @width: bits
 * @flags: the instruction changes flags
 * @value: a number or address
 * @mem: an address in memory
 */
struct insn_value {
	u8		op;
	u8		condition;
	u8		dest;
	u8		source;
	u8		width;
	bool		flags;
	u64		value;
	struct insn_mem	mem;
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
 * @moves: what it does to values
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
	struct insn_value moves;
};

/* Does no control come to what is behind it? */
static inline bool insn_is_end(const struct insn *insn)
{
	return insn->kind == INSN_RET || insn->kind == INSN_JUMP || insn->kind == INSN_STOP ||
	       insn->kind == INSN_JUMP_INDIRECT;
}

bool insn_decode(const u8 *code, u64 size, u64 pc, struct insn *insn);
bool insn_read(const struct elf_file *elf, u64 pc, u64 end, struct insn *insn);

#endif /* BEE_INSN_H */
