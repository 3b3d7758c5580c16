// SPDX-License-Identifier: GPL-2.0
/* Instructions of x86-64 (Intel SDM, volume 2).  Only this file uses Zydis. */
#include <Zydis/Zydis.h>

#include "insn.h"

/* The DWARF number of a general purpose register or a part of one; INSN_NO_REG of any other. */
static u8 insn_reg(ZydisRegister reg)
{
	/* By the number in instructions (psABI 1.0, figure 3.36). */
	static const u8 numbers[] = {
		BEE_REG_RAX, BEE_REG_RCX, BEE_REG_RDX, BEE_REG_RBX,
		BEE_REG_RSP, BEE_REG_RBP, BEE_REG_RSI, BEE_REG_RDI,
		BEE_REG_R8, BEE_REG_R9, BEE_REG_R10, BEE_REG_R11,
		BEE_REG_R12, BEE_REG_R13, BEE_REG_R14, BEE_REG_R15,
	};

	reg = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
	if (reg < ZYDIS_REGISTER_RAX || reg > ZYDIS_REGISTER_R15)
		return INSN_NO_REG;
	return numbers[reg - ZYDIS_REGISTER_RAX];
}

/* The DWARF number of a whole general purpose register; INSN_NO_REG of any other operand. */
static u8 insn_whole(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->size == 64 ?
	       insn_reg(op->reg.value) : INSN_NO_REG;
}

/* Is @op memory at a register and an offset, in the flat address space? */
static bool insn_is_plain(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.index == ZYDIS_REGISTER_NONE &&
	       op->mem.base >= ZYDIS_REGISTER_RAX && op->mem.base <= ZYDIS_REGISTER_R15 &&
	       op->mem.segment != ZYDIS_REGISTER_FS && op->mem.segment != ZYDIS_REGISTER_GS;
}

/* Note the registers that the operands say are written, and the memory that is stored to. */
static void insn_take_operands(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *ops,
			       struct insn *insn)
{
	unsigned int i;

	for (i = 0; i < zi->operand_count; i++) {
		const ZydisDecodedOperand *op = &ops[i];
		u8 reg;

		if (!(op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		if (op->type == ZYDIS_OPERAND_TYPE_REGISTER) {
			reg = insn_reg(op->reg.value);
			if (reg != INSN_NO_REG)
				insn->writes |= 1 << reg;
		} else if (insn_is_plain(op) && op->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN) {
			insn->store = op->size / 8 ?: 1;
			insn->store_base = insn_reg(op->mem.base);
			insn->store_disp = op->mem.disp.value;
		}
	}
}

static u8 insn_flow_kind(const ZydisDecodedInstruction *zi, bool direct)
{
	switch (zi->meta.category) {
	case ZYDIS_CATEGORY_CALL:
		return direct ? INSN_CALL : INSN_CALL_INDIRECT;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return direct ? INSN_JUMP : INSN_JUMP_INDIRECT;
	case ZYDIS_CATEGORY_COND_BR:
		return direct ? INSN_BRANCH : INSN_ODD;
	case ZYDIS_CATEGORY_RET:
		return zi->mnemonic == ZYDIS_MNEMONIC_RET &&
		       zi->meta.branch_type != ZYDIS_BRANCH_TYPE_FAR &&
		       !zi->raw.imm[0].size ? INSN_RET : INSN_ODD;
	default:
		return INSN_ODD;
	}
}

static void insn_take_flow(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *ops,
			   u64 pc, struct insn *insn)
{
	bool direct = ops[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && ops[0].imm.is_relative;
	ZyanU64 target;

	insn->kind = insn_flow_kind(zi, direct);
	if (!direct)
		return;
	if (ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(zi, &ops[0], pc, &target)))
		insn->target = target;
	else
		insn->kind = INSN_ODD;
}

static void insn_take_lea(struct insn *insn, u8 from, s64 disp)
{
	if (from == INSN_NO_REG || insn->to == INSN_NO_REG)
		return;
	insn->kind = INSN_LEA;
	insn->from = from;
	insn->disp = disp;
}

static void insn_take_mov(const ZydisDecodedOperand *ops, struct insn *insn)
{
	if (insn->store && ops[1].type == ZYDIS_OPERAND_TYPE_REGISTER && ops[1].size == 64)
		insn->stored = insn_reg(ops[1].reg.value);
	if (insn->to == INSN_NO_REG)
		return;
	if (ops[1].type == ZYDIS_OPERAND_TYPE_REGISTER)
		insn_take_lea(insn, insn_whole(&ops[1]), 0);
	if (!insn_is_plain(&ops[1]))
		return;
	insn->kind = INSN_LOAD;
	insn->from = insn_reg(ops[1].mem.base);
	insn->disp = ops[1].mem.disp.value;
}

static void insn_take_data(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *ops,
			   struct insn *insn)
{
	bool by_number = ops[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;

	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
		insn->kind = ops[0].size == 64 || by_number ||
			     ops[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? INSN_PUSH : INSN_ODD;
		insn->from = insn_whole(&ops[0]);
		return;
	case ZYDIS_MNEMONIC_PUSHFQ:
		insn->kind = INSN_PUSH;
		return;
	case ZYDIS_MNEMONIC_POP:
		insn->kind = ops[0].size == 64 ? INSN_POP : INSN_ODD;
		return;
	case ZYDIS_MNEMONIC_POPFQ:
		insn->kind = INSN_POP;
		return;
	case ZYDIS_MNEMONIC_LEAVE:
		insn->kind = INSN_LEAVE;
		return;
	case ZYDIS_MNEMONIC_ADD:
		if (by_number)
			insn_take_lea(insn, insn->to, ops[1].imm.value.s);
		return;
	case ZYDIS_MNEMONIC_SUB:
		if (by_number)
			insn_take_lea(insn, insn->to, -ops[1].imm.value.s);
		return;
	case ZYDIS_MNEMONIC_LEA:
		if (insn_is_plain(&ops[1]))
			insn_take_lea(insn, insn_reg(ops[1].mem.base), ops[1].mem.disp.value);
		return;
	case ZYDIS_MNEMONIC_AND:
		if (by_number && insn->to != INSN_NO_REG)
			insn->kind = INSN_AND;
		return;
	case ZYDIS_MNEMONIC_MOV:
		insn_take_mov(ops, insn);
		return;
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_HLT:
	case ZYDIS_MNEMONIC_INT3:
		insn->kind = INSN_STOP;
		return;
	/* rt_sigreturn() and clone() return to other stacks. */
	case ZYDIS_MNEMONIC_SYSCALL:
	case ZYDIS_MNEMONIC_ENTER:
	case ZYDIS_MNEMONIC_PUSHF:
	case ZYDIS_MNEMONIC_POPF:
		insn->kind = INSN_ODD;
		return;
	default:
		return;
	}
}

/* The register that an operand is, or a part of; INSN_NO_REG of ah .. bh and of all others. */
static u8 insn_part(const ZydisDecodedOperand *op)
{
	ZydisRegister reg = op->reg.value;

	if (op->type != ZYDIS_OPERAND_TYPE_REGISTER ||
	    (reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH))
		return INSN_NO_REG;
	return insn_reg(reg);
}

/* The address of an operand.  Return: false if it is none, or not in the flat address space. */
static bool insn_take_mem(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op, u64 pc,
			  struct insn_mem *mem)
{
	if (op->type != ZYDIS_OPERAND_TYPE_MEMORY || op->mem.segment == ZYDIS_REGISTER_FS ||
	    op->mem.segment == ZYDIS_REGISTER_GS)
		return false;
	*mem = (struct insn_mem){
		.base = insn_reg(op->mem.base), .index = insn_reg(op->mem.index),
		.scale = op->mem.scale, .disp = op->mem.disp.value,
	};
	if (op->mem.base == ZYDIS_REGISTER_RIP)
		mem->disp += pc + zi->length;
	mem->fixed = mem->base == INSN_NO_REG && mem->index == INSN_NO_REG;
	return true;
}

static u8 insn_condition(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_JNBE:
		return INSN_IF_ABOVE;
	case ZYDIS_MNEMONIC_JNB:
		return INSN_IF_AT_LEAST;
	case ZYDIS_MNEMONIC_JBE:
		return INSN_IF_AT_MOST;
	case ZYDIS_MNEMONIC_JB:
		return INSN_IF_BELOW;
	case ZYDIS_MNEMONIC_JZ:
		return INSN_IF_EQUAL;
	case ZYDIS_MNEMONIC_JNZ:
		return INSN_IF_OTHERWISE;
	default:
		return INSN_IF_OTHER;
	}
}

/* What "mov" does to values.  @number: the second operand is one. */
static u8 insn_mov_op(const ZydisDecodedOperand *ops, const struct insn_value *v, bool number,
		      bool has_mem)
{
	if (number)
		return ops[0].size >= 32 ? INSN_OP_SET :
		       ops[0].size == 8 ? INSN_OP_SET_LOW : INSN_OP_NONE;
	if (v->source != INSN_NO_REG && ops[0].size >= 32)
		return INSN_OP_MOVE;
	return has_mem && ops[0].size == 64 ? INSN_OP_LOAD : INSN_OP_NONE;
}

static void insn_take_values(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *ops,
			     u64 pc, struct insn_value *v)
{
	bool number = ops[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE, has_mem;

	*v = (struct insn_value){
		.condition = insn_condition(zi->mnemonic), .dest = insn_part(&ops[0]),
		.source = insn_part(&ops[1]), .width = ops[0].size > 64 ? 0 : ops[0].size,
		.flags = zi->cpu_flags && zi->cpu_flags->modified,
	};
	if (number)
		v->value = ops[1].imm.value.s;
	if (number && ops[0].size == 32)
		v->value = (u32)v->value;
	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_SYSCALL:
		v->op = INSN_OP_SYSCALL;
		return;
	case ZYDIS_MNEMONIC_ENDBR64:
		v->op = INSN_OP_ENDBR;
		return;
	case ZYDIS_MNEMONIC_JMP:
	case ZYDIS_MNEMONIC_CALL:
		v->source = v->dest;
		if (v->source != INSN_NO_REG)
			v->op = INSN_OP_GOTO;
		else if (insn_take_mem(zi, &ops[0], pc, &v->mem))
			v->op = INSN_OP_GOTO_MEM;
		return;
	default:
		break;
	}
	if (v->dest == INSN_NO_REG)
		return;
	has_mem = insn_take_mem(zi, &ops[1], pc, &v->mem);
	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		v->op = insn_mov_op(ops, v, number, has_mem);
		break;
	case ZYDIS_MNEMONIC_MOVZX:
		v->op = v->source != INSN_NO_REG ? INSN_OP_MOVE : INSN_OP_NONE;
		v->width = ops[1].size;
		break;
	case ZYDIS_MNEMONIC_MOVSXD:
		v->op = has_mem ? INSN_OP_LOAD :
			v->source != INSN_NO_REG ? INSN_OP_SIGN_EXTEND : INSN_OP_NONE;
		v->width = 32;
		break;
	case ZYDIS_MNEMONIC_LEA:
		v->op = has_mem && v->mem.fixed ? INSN_OP_SET : INSN_OP_NONE;
		v->value = v->mem.disp;
		break;
	case ZYDIS_MNEMONIC_XOR:
		v->op = v->source == v->dest && ops[0].size >= 32 ? INSN_OP_SET : INSN_OP_NONE;
		break;
	case ZYDIS_MNEMONIC_AND:
		v->op = number && ops[0].size >= 32 ? INSN_OP_AND : INSN_OP_NONE;
		break;
	case ZYDIS_MNEMONIC_ADD:
		v->op = v->source != INSN_NO_REG && ops[0].size == 64 ? INSN_OP_ADD : INSN_OP_NONE;
		break;
	case ZYDIS_MNEMONIC_CMP:
		v->op = number ? INSN_OP_COMPARE :
			v->source != INSN_NO_REG && ops[0].size == 64 ? INSN_OP_COMPARE_REGS :
									INSN_OP_NONE;
		break;
	case ZYDIS_MNEMONIC_TEST:
		v->op = v->source == v->dest && ops[0].size >= 32 ? INSN_OP_TEST : INSN_OP_NONE;
		break;
	default:
		break;
	}
}

/**
 * insn_decode() - decode an instruction
 * @code: its bytes, and what follows
 * @size: how many, at least 1
 * @pc: its address
 * @insn: filled
 *
 * Return: false if it is none.
 */
bool insn_decode(const u8 *code, u64 size, u64 pc, struct insn *insn)
{
	static ZydisDecoder decoder;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT] = {};
	ZydisDecodedInstruction zi;

	if (decoder.machine_mode != ZYDIS_MACHINE_MODE_LONG_64 ||
	    decoder.stack_width != ZYDIS_STACK_WIDTH_64)
		ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, size, &zi, ops)))
		return false;
	*insn = (struct insn){
		.length = zi.length, .to = insn_whole(&ops[0]), .from = INSN_NO_REG,
		.stored = INSN_NO_REG, .store_base = INSN_NO_REG,
	};
	insn_take_operands(&zi, ops, insn);
	insn_take_values(&zi, ops, pc, &insn->moves);
	switch (zi.meta.category) {
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_SYSRET:
		insn_take_flow(&zi, ops, pc, insn);
		break;
	default:
		insn_take_data(&zi, ops, insn);
	}
	return true;
}

/**
 * insn_read() - read an instruction of a file
 * @elf: the file
 * @pc: its first byte
 * @end: its last byte is before this pc
 * @insn: filled
 *
 * Return: false if there is none.
 */
bool insn_read(const struct elf_file *elf, u64 pc, u64 end, struct insn *insn)
{
	u64 size = end - pc < ZYDIS_MAX_INSTRUCTION_LENGTH ? end - pc :
		   ZYDIS_MAX_INSTRUCTION_LENGTH;
	const u8 *code = size ? elf_text_spot(elf, pc, &size) : NULL;

	return code && insn_decode(code, size, pc, insn);
}
