// SPDX-License-Identifier: GPL-2.0
/* The CFI of a file as libdw understands it.  Only this file uses libdw. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "libdw.h"

#define LIBDW_MAX_OPS	48
#define LIBDW_SOURCES		(1 + ELF_MAX_FRAMES)

/* No FDE is there in any file. */
#define LIBDW_NOWHERE		(~0ull)

/**
 * enum rule_how - what libdw says of a register, or of the CFA
 * @RULE_OPS: operations yield where it is, or its value
 * @RULE_SAME: the same as the callee's
 * @RULE_UNDEFINED: it cannot be recovered
 * @RULE_REFUSED: libdw cannot say, or says more than there is room for
 */
enum rule_how {
	RULE_OPS,
	RULE_SAME,
	RULE_UNDEFINED,
	RULE_REFUSED,
};

/**
 * struct libdw_rule - the rule
 * @how: enum rule_how
 * @nops: RULE_OPS: operations
 * @ops: the operations
 */
struct libdw_rule {
	enum rule_how		 how;
	size_t			 nops;
	struct eval_op	 ops[LIBDW_MAX_OPS];
};

/**
 * struct libdw_source - one of libthe file's collections of CIEs and FDEs
 * @cfi: it
 * @no_match: libthe file's error number for "no FDE is there", which has no public name
 * @dwarf: .debug_frame: what @cfi belongs to
 * @elf: .debug_frame: what @dwarf belongs to
 * @image: .debug_frame: what @elf belongs to
 */
struct libdw_source {
	Dwarf_CFI	*cfi;
	int		 no_match;
	Dwarf		*dwarf;
	Elf		*elf;
	char		*image;
};

/**
 * struct libdw - a file's CFI, and the frame that was found last
 * @sources: .eh_frame, then each .debug_frame; no @cfi if there is none
 * @nsources: number of them
 * @frame: the frame found last
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
	Dwarf_Frame		*frame;
	bool			 signal;
	int			 ra_reg;
	struct libdw_rule	 cfa;
	struct libdw_rule	 fp;
	struct libdw_rule	 sp;
	struct libdw_rule	 ra;
};

static void libdw_learn_error(struct libdw_source *source)
{
	Dwarf_Frame *frame = NULL;

	dwarf_errno();
	if (source->cfi && dwarf_cfi_addrframe(source->cfi, LIBDW_NOWHERE, &frame))
		source->no_match = dwarf_errno();
	free(frame);
}

/*
 * A zero word ends a section of CFI, for libdw.  Linkers leave some in the middle,
 * as filling between object files, and readers that know (readelf, gdb) go on
 * behind it.  Here it becomes a part of the record before it: four bytes of DW_CFA_nop.
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

/* The smallest ELF file with a .debug_frame. */
struct image_head {
	Elf64_Ehdr	ehdr;
	Elf64_Shdr	sections[3];
	char		names[32];
};

static void image_begin(struct image_head *head, size_t size)
{
	static const char names[] = "\0.debug_frame\0.shstrtab";

	*head = (struct image_head){
		.ehdr = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
				     ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_DYN, .e_machine = BEE_TABLE_MACHINE, .e_version = EV_CURRENT,
			.e_shoff = offsetof(struct image_head, sections),
			.e_ehsize = sizeof(Elf64_Ehdr), .e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = 3, .e_shstrndx = 2,
		},
		.sections = {
			[1] = { .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_addralign = 1,
				.sh_offset = sizeof(*head), .sh_size = size },
			[2] = { .sh_name = 14, .sh_type = SHT_STRTAB, .sh_addralign = 1,
				.sh_offset = offsetof(struct image_head, names),
				.sh_size = sizeof(names) },
		},
	};
	memcpy(head->names, names, sizeof(names));
}

static void libdw_add_debug_frame(struct libdw *dw, const struct elf_frames *frames)
{
	struct libdw_source *source = &dw->sources[dw->nsources++];
	size_t size = sizeof(struct image_head) + frames->size;

	source->image = alloc_array(NULL, size, 1);
	image_begin((struct image_head *)source->image, frames->size);
	memcpy(source->image + sizeof(struct image_head), frames->data, frames->size);
	image_join(source->image + sizeof(struct image_head), frames->size);
	source->elf = elf_memory(source->image, size);
	if (source->elf)
		source->dwarf = dwarf_begin_elf(source->elf, DWARF_C_READ, NULL);
	if (source->dwarf)
		source->cfi = dwarf_getcfi(source->dwarf);
}

/**
 * libdw_open() - let libdw find the CFI of a file
 * @elf: the file; it has to outlive what is returned
 *
 * libdw finds .eh_frame by itself.  .debug_frame it gets on its own, as it would
 * look at all DWARF sections otherwise, and decompress them.
 *
 * Return: what libdw_close() releases; a file without CFI has no frames.
 */
struct libdw *libdw_open(const struct elf_file *elf)
{
	struct libdw *dw = alloc_zero(1, sizeof(*dw));
	size_t i;

	dw->nsources = 1;
	dw->sources[0].cfi = dwarf_getcfi_elf(elf->handle);
	for (i = 0; i < elf->nframes; i++)
		if (elf->frames[i].debug_frame)
			libdw_add_debug_frame(dw, &elf->frames[i]);
	for (i = 0; i < dw->nsources; i++)
		libdw_learn_error(&dw->sources[i]);
	return dw;
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

/**
 * libdw_close() - release it
 * @dw: it
 */
void libdw_close(struct libdw *dw)
{
	size_t i;

	free(dw->frame);
	for (i = 0; i < dw->nsources; i++)
		source_close(&dw->sources[i]);
	free(dw);
}

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

static void libdw_read_register(const struct libdw *dw, int reg, struct libdw_rule *rule)
{
	Dwarf_Op mem[3], *ops = NULL;
	size_t nops = 0;
	int error = dwarf_frame_register(dw->frame, reg, mem, &ops, &nops);

	rule_set(rule, error, ops, nops);
}

static void libdw_read_cfa(const struct libdw *dw, struct libdw_rule *rule)
{
	static const Dwarf_Op none;
	Dwarf_Op *ops = NULL;
	size_t nops = 0;
	int error = dwarf_frame_cfa(dw->frame, &ops, &nops);

	rule_set(rule, error, ops ?: &none, nops);
}

/* Return: false if the frame tells nothing of use. */
static bool libdw_read_frame(struct libdw *dw, u64 *end)
{
	Dwarf_Addr start, stop;
	bool signal;

	dw->ra_reg = dwarf_frame_info(dw->frame, &start, &stop, &signal);
	if (dw->ra_reg < 0)
		return false;
	dw->signal = signal;
	*end = stop;
	libdw_read_cfa(dw, &dw->cfa);
	libdw_read_register(dw, BEE_REG_RBP, &dw->fp);
	libdw_read_register(dw, BEE_REG_RSP, &dw->sp);
	libdw_read_register(dw, dw->ra_reg, &dw->ra);
	return true;
}

static enum libdw_answer libdw_ask(struct libdw *dw, const struct libdw_source *source,
				     u64 pc, u64 *end)
{
	if (!source->cfi)
		return LIBDW_NONE;
	free(dw->frame);
	dw->frame = NULL;
	if (dwarf_cfi_addrframe(source->cfi, pc, &dw->frame)) {
		dw->frame = NULL;
		return dwarf_errno() == source->no_match ? LIBDW_NONE : LIBDW_REFUSED;
	}
	return libdw_read_frame(dw, end) ? LIBDW_FRAME : LIBDW_REFUSED;
}

/**
 * libdw_find() - the rules at a pc
 * @dw: the file's
 * @pc: address as in the file
 * @end: LIBDW_FRAME: pc up to which the rules hold, > @pc.  (Where they begin to
 *	hold libdw does not reliably tell.)
 *
 * The frame is kept in @dw until it is asked again.  libdw runs the FDE's
 * instructions up to @pc each time, so a caller goes from @end to @end.
 *
 * Return: enum libdw_answer.
 */
enum libdw_answer libdw_find(struct libdw *dw, u64 pc, u64 *end)
{
	enum libdw_answer answer = LIBDW_NONE;
	size_t i;

	for (i = 0; i < dw->nsources && answer == LIBDW_NONE; i++)
		answer = libdw_ask(dw, &dw->sources[i], pc, end);
	return answer;
}

/**
 * libdw_is_signal() - is the frame found last a signal frame?
 * @dw: libdw_find() said LIBDW_FRAME
 *
 * Return: true if its CIE has augmentation 'S'.
 */
bool libdw_is_signal(const struct libdw *dw)
{
	return dw->signal;
}

static bool libdw_fits(u64 value)
{
	return (u64)(s64)(s32)value == value;
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

/* Saved at CFA + n, kept in a GPR, or undefined. */
static bool rule_is_plain(const struct libdw_rule *rule)
{
	if (rule_is_at_cfa(rule))
		return rule->nops < 2 || libdw_fits(rule->ops[1].number);
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
	const struct libdw_rule *cfa = &dw->cfa;

	if (!rule_has(cfa, 1, DW_OP_bregx, 0) || cfa->ops[0].number >= EVAL_RIP ||
	    !libdw_fits(cfa->ops[0].number2))
		return false;
	return rule_is_cfa(&dw->sp) && rule_is_plain(&dw->ra) &&
	       (rule_is_plain(&dw->fp) || dw->fp.how == RULE_SAME);
}

static struct eval_value value_without(enum eval_how how)
{
	return (struct eval_value){ .how = how };
}

static struct eval_value rule_cfa(const struct libdw_rule *rule, const struct eval_machine *m)
{
	if (rule->how != RULE_OPS)
		return value_without(rule->how == RULE_UNDEFINED ? EVAL_UNDEFINED : EVAL_UNKNOWN);
	return eval_run(m, 0, rule->ops, rule->nops);
}

static struct eval_value rule_gpr(const struct eval_machine *m, u64 reg)
{
	return reg < EVAL_REGS ? eval_known(m->regs[reg]) : value_without(EVAL_UNKNOWN);
}

/* Operations describe a place, in a register or memory, unless they say "value". */
static struct eval_value rule_register(const struct libdw_rule *rule, int reg,
					  const struct eval_machine *m, u64 cfa)
{
	struct eval_value value;

	switch (rule->how) {
	case RULE_SAME:
		return rule_gpr(m, reg);
	case RULE_UNDEFINED:
		return value_without(EVAL_UNDEFINED);
	case RULE_REFUSED:
		return value_without(EVAL_UNKNOWN);
	case RULE_OPS:
		break;
	}
	if (rule_has(rule, 1, DW_OP_regx, 0))
		return rule_gpr(m, rule->ops[0].number);
	if (rule->ops[rule->nops - 1].atom == DW_OP_stack_value)
		return eval_run(m, cfa, rule->ops, rule->nops - 1);
	value = eval_run(m, cfa, rule->ops, rule->nops);
	if (value.how == EVAL_KNOWN)
		value.bits = eval_read(value.bits);
	return value;
}

/**
 * libdw_compute() - what the frame found last yields
 * @dw: libdw_find() said LIBDW_FRAME
 * @m: the machine to compute it on
 * @frame: filled
 */
void libdw_compute(const struct libdw *dw, const struct eval_machine *m,
			struct eval_frame *frame)
{
	u64 cfa;

	frame->cfa = rule_cfa(&dw->cfa, m);
	cfa = frame->cfa.bits;
	frame->fp = rule_register(&dw->fp, BEE_REG_RBP, m, cfa);
	frame->sp = rule_register(&dw->sp, BEE_REG_RSP, m, cfa);
	frame->ra = rule_register(&dw->ra, dw->ra_reg, m, cfa);
}

static void text_add_ops(struct eval_text *t, const struct libdw_rule *rule)
{
	size_t i;

	if (rule->nops == 1)
		return eval_text_op(t, rule->ops);
	for (i = 0; i < rule->nops; i++) {
		eval_text(t, i ? " " : "(");
		eval_text_op(t, &rule->ops[i]);
	}
	eval_text(t, ")");
}

static void text_add_rule(struct eval_text *t, const struct libdw_rule *rule)
{
	static const char *const names[] = {
		[RULE_SAME] = "same", [RULE_UNDEFINED] = "undef", [RULE_REFUSED] = "refused",
	};

	if (rule->how != RULE_OPS)
		eval_text(t, "%s", names[rule->how]);
	else if (rule_is_at_cfa(rule))
		eval_text(t, "cfa%+lld",
				 rule->nops < 2 ? 0 : (long long)rule->ops[1].number);
	else
		text_add_ops(t, rule);
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
	struct eval_text t = { .text = text, .size = LIBDW_TEXT_MAX };

	text_add_rule(&t, &dw->cfa);
	eval_text(&t, "\t");
	text_add_rule(&t, &dw->fp);
	eval_text(&t, "\t");
	text_add_rule(&t, &dw->ra);
	if (!rule_is_cfa(&dw->sp)) {
		eval_text(&t, "\trsp ");
		text_add_rule(&t, &dw->sp);
	}
	if (dw->signal)
		eval_text(&t, "\tsignal");
	return text;
}
