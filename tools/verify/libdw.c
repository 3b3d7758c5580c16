// SPDX-License-Identifier: GPL-2.0
/* The CFI of a file as libdw understands it. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "libdw.h"

#define LIBDW_SOURCES	(1 + ELF_MAX_FRAMES)

/**
 * enum rule_how - what libdw says of a register, or of the CFA
 * @RULE_OPS: operations yield where it is, or its value
 * @RULE_SAME: the caller's value is the callee's
 * @RULE_UNDEFINED: it cannot be recovered
 * @RULE_REFUSED: libdw cannot say, or needs more than LIBDW_MAX_OPS operations
 */
enum rule_how {
	RULE_OPS,
	RULE_SAME,
	RULE_UNDEFINED,
	RULE_REFUSED,
};

/* @nops, @ops: RULE_OPS: the operations, at least one */
struct libdw_rule {
	enum rule_how	how;
	size_t		nops;
	struct eval_op	ops[LIBDW_MAX_OPS];
};

/* The smallest ELF file with a section of CFI; section 0 is the null section. */
struct image {
	Elf64_Ehdr	ehdr;
	Elf64_Shdr	sections[3];
	char		names[40];
	char		frames[];
};

/**
 * struct libdw_source - CIEs and FDEs that libdw searches as one
 * @cfi: libdw's handle; NULL if there are none
 * @dwarf: .debug_frame: owns @cfi
 * @elf: what libdw reads, if it is not the file
 * @image: the bytes of @elf
 */
struct libdw_source {
	Dwarf_CFI	*cfi;
	Dwarf		*dwarf;
	Elf		*elf;
	struct image	*image;
};

/**
 * struct libdw - a file's CFI, and the frame that was found last
 * @sources: each .eh_frame, then each .debug_frame
 * @nsources: entries in @sources
 * @no_match: what dwarf_errno() says if no FDE describes a pc, which has no public name
 * @frame: the frame
 * @signal: of the frame: CIE augmentation 'S'
 * @ra_reg: of the frame: return address column
 * @cfa: of the frame
 * @fp: of the frame
 * @sp: of the frame
 * @ra: of the frame
 */
struct libdw {
	struct libdw_source	 sources[LIBDW_SOURCES];
	size_t			 nsources;
	int			 no_match;
	Dwarf_Frame		*frame;
	bool			 signal;
	int			 ra_reg;
	struct libdw_rule	 cfa;
	struct libdw_rule	 fp;
	struct libdw_rule	 sp;
	struct libdw_rule	 ra;
};

/*
 * libdw takes a zero word for the end of a section of CFI.  Linkers leave zero words between
 * the parts of object files, and readelf and gdb read on.  Add each zero word to the
 * record before it, as four bytes of DW_CFA_nop.
 */
static void image_join(char *data, size_t size)
{
	size_t at = 0, last = 0;
	u32 length, joined;

	for (; size - at >= sizeof(length); at += sizeof(length) + length) {
		memcpy(&length, data + at, sizeof(length));
		if (length > size - at - sizeof(length))
			return;
		if (length || !at) {
			last = at;
			continue;
		}
		memcpy(&joined, data + last, sizeof(joined));
		joined += sizeof(length);
		memcpy(data + last, &joined, sizeof(joined));
	}
}

static struct image *image_new(const struct elf_frames *frames)
{
	static const char names[] = "\0.debug_frame\0.shstrtab\0.eh_frame";
	struct image *image = alloc_array(NULL, sizeof(*image) + frames->size, 1);

	*image = (struct image){
		.ehdr = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
				     ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_DYN, .e_machine = BEE_TABLE_MACHINE, .e_version = EV_CURRENT,
			.e_shoff = offsetof(struct image, sections),
			.e_ehsize = sizeof(Elf64_Ehdr), .e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = 3, .e_shstrndx = 2,
		},
		.sections = {
			[1] = { .sh_name = frames->debug_frame ? 1 : 24, .sh_type = SHT_PROGBITS,
				.sh_addralign = 1, .sh_addr = frames->base.vaddr,
				.sh_offset = sizeof(*image), .sh_size = frames->size },
			[2] = { .sh_name = 14, .sh_type = SHT_STRTAB, .sh_addralign = 1,
				.sh_offset = offsetof(struct image, names),
				.sh_size = sizeof(image->names) },
		},
	};
	memcpy(image->names, names, sizeof(names));
	memcpy(image->frames, frames->data, frames->size);
	image_join(image->frames, frames->size);
	return image;
}

/* Give libdw a section of CFI. */
static void source_open(struct libdw_source *source, const struct elf_frames *frames)
{
	source->image = image_new(frames);
	source->elf = elf_memory((char *)source->image, sizeof(*source->image) + frames->size);
	if (source->elf && !frames->debug_frame)
		source->cfi = dwarf_getcfi_elf(source->elf);
	else if (source->elf)
		source->dwarf = dwarf_begin_elf(source->elf, DWARF_C_READ, NULL);
	if (source->dwarf)
		source->cfi = dwarf_getcfi(source->dwarf);
}

static void source_close(struct libdw_source *source)
{
	if (source->dwarf)
		dwarf_end(source->dwarf);
	else if (source->cfi)
		dwarf_cfi_end(source->cfi);
	elf_end(source->elf);
	free(source->image);
}

/* Find out what dwarf_errno() says of a .debug_frame without any FDE. */
static int libdw_no_match(void)
{
	static const u8 terminator[4];
	const struct elf_frames frames = {
		.data = terminator, .size = sizeof(terminator), .debug_frame = true,
	};
	struct libdw_source source = {};
	Dwarf_Frame *frame = NULL;
	int error = 0;

	source_open(&source, &frames);
	dwarf_errno();
	if (source.cfi && dwarf_cfi_addrframe(source.cfi, 0, &frame))
		error = dwarf_errno();
	free(frame);
	source_close(&source);
	return error;
}

/**
 * libdw_open() - let libdw find the CFI of a file
 * @elf: the file; it has to outlive what is returned
 *
 * libdw finds .eh_frame in the file by PT_GNU_EH_FRAME.  Without that it gets .eh_frame in an ELF
 * file of its own, as it would stop at a terminator in the middle.  So it does each .debug_frame: in
 * the whole file it would look at all DWARF sections, and decompress them.
 *
 * Return: what libdw_close() releases; a file without CFI has no frames.
 */
struct libdw *libdw_open(const struct elf_file *elf)
{
	struct libdw *dw = alloc_zero(1, sizeof(*dw));
	struct libdw_source *source = dw->sources;
	size_t i;

	if (elf->hdr.size)
		source++->cfi = dwarf_getcfi_elf(elf->handle);
	for (i = 0; i < elf->nframes; i++)
		if (elf->frames[i].debug_frame || !elf->hdr.size)
			source_open(source++, &elf->frames[i]);
	dw->nsources = source - dw->sources;
	dw->no_match = libdw_no_match();
	return dw;
}

/** libdw_close() - release what libdw_open() returned. */
void libdw_close(struct libdw *dw)
{
	size_t i;

	free(dw->frame);
	for (i = 0; i < dw->nsources; i++)
		source_close(&dw->sources[i]);
	free(dw);
}

/* @nops is 0 for a register that is the same, then @ops is NULL, or that is undefined. */
static void rule_set(struct libdw_rule *rule, int error, const Dwarf_Op *ops, size_t nops)
{
	size_t i;

	rule->nops = nops;
	rule->how = RULE_OPS;
	if (error || nops > LIBDW_MAX_OPS)
		rule->how = RULE_REFUSED;
	else if (!nops)
		rule->how = ops ? RULE_UNDEFINED : RULE_SAME;
	for (i = 0; rule->how == RULE_OPS && i < nops; i++)
		rule->ops[i] = (struct eval_op){
			.atom = ops[i].atom, .number = ops[i].number, .number2 = ops[i].number2,
		};
}

static void rule_set_register(struct libdw_rule *rule, Dwarf_Frame *frame, int reg)
{
	Dwarf_Op mem[3], *ops = NULL;
	size_t nops = 0;
	int error = dwarf_frame_register(frame, reg, mem, &ops, &nops);

	rule_set(rule, error, ops, nops);
}

/**
 * libdw_find() - the rules at a pc
 * @dw: the file's
 * @pc: address as in the file
 * @end: LIBDW_FRAME: pc up to which the rules hold, > @pc.  (libdw does not reliably tell
 *	where they begin to hold.)
 *
 * Keeps the frame in @dw until the next call.  libdw runs the FDE's instructions up to @pc
 * each time, so a caller goes from @end to @end.
 *
 * Return: enum libdw_answer.
 */
enum libdw_answer libdw_find(struct libdw *dw, u64 pc, u64 *end)
{
	static const Dwarf_Op undefined;
	Dwarf_Op *ops = NULL;
	Dwarf_Addr start, stop;
	size_t i, nops = 0;
	int error;

	for (i = 0; i < dw->nsources; i++) {
		if (!dw->sources[i].cfi)
			continue;
		free(dw->frame);
		dw->frame = NULL;
		if (!dwarf_cfi_addrframe(dw->sources[i].cfi, pc, &dw->frame))
			break;
		dw->frame = NULL;
		/* libdw sets no error where .eh_frame_hdr leads to an FDE for no text. */
		error = dwarf_errno();
		if (error && error != dw->no_match)
			return LIBDW_REFUSED;
	}
	if (i == dw->nsources)
		return LIBDW_NONE;
	dw->ra_reg = dwarf_frame_info(dw->frame, &start, &stop, &dw->signal);
	if (dw->ra_reg < 0)
		return LIBDW_REFUSED;
	*end = stop;
	error = dwarf_frame_cfa(dw->frame, &ops, &nops);
	rule_set(&dw->cfa, error, ops ?: &undefined, nops);
	rule_set_register(&dw->fp, dw->frame, BEE_REG_RBP);
	rule_set_register(&dw->sp, dw->frame, BEE_REG_RSP);
	rule_set_register(&dw->ra, dw->frame, dw->ra_reg);
	return LIBDW_FRAME;
}

/** libdw_refuses_cfa() - does the frame found last lack a CFA that libdw can say? */
bool libdw_refuses_cfa(const struct libdw *dw)
{
	return dw->cfa.how == RULE_REFUSED;
}

/**
 * libdw_set_cfa() - give the frame found last another CFA
 * @dw: libdw_find() said LIBDW_FRAME
 * @ops: operations that yield it
 * @nops: entries in @ops, 1 .. LIBDW_MAX_OPS
 */
void libdw_set_cfa(struct libdw *dw, const struct eval_op *ops, size_t nops)
{
	dw->cfa.how = RULE_OPS;
	dw->cfa.nops = nops;
	memcpy(dw->cfa.ops, ops, nops * sizeof(*ops));
}

/** libdw_has_undefined() - does the frame found last say that rbp, rsp or RA is undefined? */
bool libdw_has_undefined(const struct libdw *dw)
{
	return dw->fp.how == RULE_UNDEFINED || dw->sp.how == RULE_UNDEFINED ||
	       dw->ra.how == RULE_UNDEFINED;
}

static void rule_set_cfa(struct libdw_rule *rule, int reg, u32 places, u32 values)
{
	u32 bit = (unsigned int)reg < EVAL_REGS ? 1u << reg : 0;

	if (rule->how != RULE_UNDEFINED || !((places | values) & bit))
		return;
	rule->how = RULE_OPS;
	rule->nops = 0;
	rule->ops[rule->nops++] = (struct eval_op){ .atom = DW_OP_call_frame_cfa };
	if (values & bit)
		rule->ops[rule->nops++] = (struct eval_op){ .atom = DW_OP_stack_value };
}

/**
 * libdw_set_empty() - correct rbp, rsp and RA, which libdw calls undefined if they have an empty
 *	expression
 * @dw: libdw_find() said LIBDW_FRAME
 * @places: bit N is set if the register of DWARF number N is saved at the CFA
 * @values: registers that are the CFA
 */
void libdw_set_empty(struct libdw *dw, u32 places, u32 values)
{
	rule_set_cfa(&dw->fp, BEE_REG_RBP, places, values);
	rule_set_cfa(&dw->sp, BEE_REG_RSP, places, values);
	rule_set_cfa(&dw->ra, dw->ra_reg, places, values);
}

static bool rule_has(const struct libdw_rule *rule, size_t nops, u8 first, u8 second)
{
	return rule->how == RULE_OPS && rule->nops == nops && rule->ops[0].atom == first &&
	       (nops < 2 || rule->ops[1].atom == second);
}

static bool rule_is_cfa(const struct libdw_rule *rule)
{
	return rule_has(rule, 2, DW_OP_call_frame_cfa, DW_OP_stack_value);
}

static bool rule_is_at_cfa(const struct libdw_rule *rule)
{
	return rule_has(rule, 1, DW_OP_call_frame_cfa, 0) ||
	       rule_has(rule, 2, DW_OP_call_frame_cfa, DW_OP_plus_uconst);
}

/* Saved at CFA + n where n has 32 bits, kept in a GPR, or undefined. */
static bool rule_is_plain(const struct libdw_rule *rule)
{
	if (rule_is_at_cfa(rule))
		return rule->nops < 2 || (s64)rule->ops[1].number == (s32)rule->ops[1].number;
	if (rule_has(rule, 1, DW_OP_regx, 0))
		return rule->ops[0].number < EVAL_RIP;
	return rule->how == RULE_UNDEFINED;
}

/**
 * libdw_is_plain() - can every table hold the frame found last?
 * @dw: libdw_find() said LIBDW_FRAME
 *
 * Return: true if CFA is a GPR + n, rsp is the CFA, RA is saved at CFA + n, in a GPR
 * or undefined, and FP one of those or the same; and all n have 32 bits.
 */
bool libdw_is_plain(const struct libdw *dw)
{
	const struct eval_op *cfa = dw->cfa.ops;

	return rule_has(&dw->cfa, 1, DW_OP_bregx, 0) && cfa->number < EVAL_RIP &&
	       (s64)cfa->number2 == (s32)cfa->number2 && rule_is_cfa(&dw->sp) &&
	       rule_is_plain(&dw->ra) && (rule_is_plain(&dw->fp) || dw->fp.how == RULE_SAME);
}

/* Operations describe a place, in a register or memory, unless they say "value". */
static struct eval_value rule_compute(const struct libdw_rule *rule, u64 reg, const u64 *regs,
				      u64 cfa)
{
	struct eval_value value = { .how = EVAL_UNKNOWN };

	switch (rule->how) {
	case RULE_REFUSED:
		return value;
	case RULE_UNDEFINED:
		value.how = EVAL_UNDEFINED;
		return value;
	case RULE_SAME:
		break;
	case RULE_OPS:
		if (rule_has(rule, 1, DW_OP_regx, 0)) {
			reg = rule->ops[0].number;
			break;
		}
		if (rule->ops[rule->nops - 1].atom == DW_OP_stack_value)
			return eval_run(regs, cfa, rule->ops, rule->nops - 1);
		value = eval_run(regs, cfa, rule->ops, rule->nops);
		if (value.how == EVAL_KNOWN)
			value.bits = eval_read(value.bits);
		return value;
	}
	return reg < EVAL_REGS ? eval_known(regs[reg]) : value;
}

/**
 * libdw_compute() - what the frame found last yields
 * @dw: libdw_find() said LIBDW_FRAME
 * @regs: the registers, by DWARF number
 * @frame: filled
 */
void libdw_compute(const struct libdw *dw, const u64 regs[EVAL_REGS], struct eval_frame *frame)
{
	u64 cfa;

	if (dw->cfa.how == RULE_OPS)
		frame->cfa = eval_run(regs, 0, dw->cfa.ops, dw->cfa.nops);
	else
		frame->cfa = rule_compute(&dw->cfa, 0, regs, 0);
	cfa = frame->cfa.bits;
	frame->fp = rule_compute(&dw->fp, BEE_REG_RBP, regs, cfa);
	frame->sp = rule_compute(&dw->sp, BEE_REG_RSP, regs, cfa);
	frame->ra = rule_compute(&dw->ra, dw->ra_reg, regs, cfa);
	frame->signal = dw->signal;
}

/**
 * libdw_register() - what a register of the caller is, by the frame found last
 * @dw: libdw_find() said LIBDW_FRAME
 * @reg: the register, by DWARF number
 * @regs: the registers of the frame
 * @cfa: its CFA
 *
 * Return: the value.
 */
struct eval_value libdw_register(const struct libdw *dw, u8 reg, const u64 regs[EVAL_REGS],
				 u64 cfa)
{
	struct libdw_rule rule;

	rule_set_register(&rule, dw->frame, reg);
	return rule_compute(&rule, reg, regs, cfa);
}

/* Append text, as far as it fits. */
__attribute__((format(printf, 2, 3)))
static void text_add(char text[LIBDW_TEXT_MAX], const char *format, ...)
{
	size_t used = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + used, LIBDW_TEXT_MAX - used, format, args);
	va_end(args);
}

static void text_add_register(char *text, u64 reg)
{
	static const char *const names[EVAL_REGS] = {
		"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
		"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip",
	};

	if (reg < EVAL_REGS)
		text_add(text, "%s", names[reg]);
	else
		text_add(text, "reg%llu", reg);
}

static const char *const op_names[256] = {
	[DW_OP_deref] = "deref", [DW_OP_dup] = "dup", [DW_OP_drop] = "drop",
	[DW_OP_over] = "over", [DW_OP_pick] = "pick", [DW_OP_swap] = "swap",
	[DW_OP_rot] = "rot", [DW_OP_and] = "and", [DW_OP_div] = "div",
	[DW_OP_minus] = "minus", [DW_OP_mod] = "mod", [DW_OP_mul] = "mul",
	[DW_OP_neg] = "neg", [DW_OP_not] = "not", [DW_OP_or] = "or",
	[DW_OP_plus] = "plus", [DW_OP_shl] = "shl", [DW_OP_shr] = "shr",
	[DW_OP_shra] = "shra", [DW_OP_xor] = "xor", [DW_OP_bra] = "bra",
	[DW_OP_eq] = "eq", [DW_OP_ge] = "ge", [DW_OP_gt] = "gt", [DW_OP_le] = "le",
	[DW_OP_lt] = "lt", [DW_OP_ne] = "ne", [DW_OP_skip] = "skip", [DW_OP_nop] = "nop",
	[DW_OP_call_frame_cfa] = "cfa", [DW_OP_stack_value] = "value",
};

static void text_add_op(char *text, const struct eval_op *op)
{
	switch (op->atom) {
	case DW_OP_lit0 ... DW_OP_lit31:
		return text_add(text, "%d", op->atom - DW_OP_lit0);
	case DW_OP_const1u ... DW_OP_consts:
		return text_add(text, "%lld", op->number);
	case DW_OP_plus_uconst:
		return text_add(text, "%lld plus", op->number);
	case DW_OP_regx:
		return text_add_register(text, op->number);
	case DW_OP_bregx:
		text_add_register(text, op->number);
		return text_add(text, "%+lld", op->number2);
	case DW_OP_breg0 ... DW_OP_breg31:
		text_add_register(text, op->atom - DW_OP_breg0);
		return text_add(text, "%+lld", op->number);
	}
	if (op_names[op->atom])
		text_add(text, "%s", op_names[op->atom]);
	else
		text_add(text, "op 0x%02x %lld", op->atom, op->number);
}

static void text_add_rule(char *text, const struct libdw_rule *rule)
{
	static const char *const names[] = {
		[RULE_SAME] = "same", [RULE_UNDEFINED] = "undef", [RULE_REFUSED] = "refused",
	};
	size_t i;

	if (rule->how != RULE_OPS) {
		text_add(text, "%s", names[rule->how]);
	} else if (rule_is_at_cfa(rule)) {
		text_add(text, "cfa%+lld", rule->nops < 2 ? 0ll : (s64)rule->ops[1].number);
	} else if (rule->nops == 1) {
		text_add_op(text, rule->ops);
	} else {
		for (i = 0; i < rule->nops; i++) {
			text_add(text, i ? " " : "(");
			text_add_op(text, &rule->ops[i]);
		}
		text_add(text, ")");
	}
}

/**
 * libdw_format() - the frame found last as text
 * @dw: libdw_find() said LIBDW_FRAME
 * @text: filled: CFA, FP and RA as rule_format() has them; DWARF expressions in
 *	parentheses, in postfix; also "rsp" if that is not the CFA
 *
 * Return: @text.
 */
const char *libdw_format(const struct libdw *dw, char text[LIBDW_TEXT_MAX])
{
	text[0] = 0;
	text_add_rule(text, &dw->cfa);
	text_add(text, "\t");
	text_add_rule(text, &dw->fp);
	text_add(text, "\t");
	text_add_rule(text, &dw->ra);
	if (!rule_is_cfa(&dw->sp)) {
		text_add(text, "\trsp ");
		text_add_rule(text, &dw->sp);
	}
	if (dw->signal)
		text_add(text, "\tsignal");
	return text;
}
