// SPDX-License-Identifier: GPL-2.0
/*
 * Code without CFI that is written in one way only: PLTs of lld, mold and static programs, signal
 * trampolines, and where fibers of Boost.Context end.
 */
#include <string.h>

#include "padding.h"
#include "rows.h"
#include "sigreturn.h"
#include "stubs.h"

#define STUB_MAX_BYTES	40
#define STUB_MAX_ROWS	4
#define ANY		0x100		/* a byte that can have any value */
#define ANY4		ANY, ANY, ANY, ANY
#define DEPTH_PLT	1		/* 8; 16 from byte 11 of an entry on: BEE_CFA_PLT */

/**
 * struct stub_row - from a byte of a stub on
 * @at: the byte
 * @depth: CFA - rsp, or DEPTH_PLT; 0: a gap
 */
struct stub_row {
	u8	at;
	u8	depth;
};

/**
 * struct stub - code and its rows; the return address is at CFA - 8, and rbp is the caller's
 * @size: bytes of @code
 * @code: for each byte, its value or ANY
 * @rows: the last has @at 0 unless all are used
 */
struct stub {
	u8		size;
	u16		code[STUB_MAX_BYTES];
	struct stub_row	rows[STUB_MAX_ROWS];
};

/* A PLT: its first entry, and the others. */
struct stub_plt {
	struct stub	first;
	struct stub	other;
};

/*
 * lld/ELF/Arch/X86_64.cpp: writePltHeader() and writePlt() of X86_64, Retpoline and RetpolineZNow;
 * mold, src/arch-x86-64.cc: write_plt_header() and write_plt_entry().  With retpolines what follows
 * a call is for speculation only, and at the ret the word at rsp is where it jumps to: a gap.
 */
static const struct stub_plt plts[] = {
	{	/* push link_map; jmp *resolver; nop: the entries have pushed the index */
		.first = { 16, { 0xff, 0x35, ANY4, 0xff, 0x25, ANY4, 0x0f, 0x1f, 0x40, 0x00 },
			   { { 0, 16 }, { 6, 24 } } },
		.other = { 16, { 0xff, 0x25, ANY4, 0x68, ANY4, 0xe9, ANY4 },
			   { { 0, DEPTH_PLT } } },
	}, {	/* endbr64; push %r11; push link_map; jmp *resolver */
		.first = { 18, { 0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0x53, 0xff, 0x35, ANY4, 0xff, 0x25, ANY4 },
			   { { 0, 8 }, { 6, 16 }, { 12, 24 } } },
		.other = { 16, { 0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0xbb, ANY4, 0xff, 0x25, ANY4 },
			   { { 0, 8 } } },
	}, {	/* push link_map; mov resolver,%r11; call 1f; ...; 1: mov %r11,(%rsp); ret */
		.first = { 37, { 0xff, 0x35, ANY4, 0x4c, 0x8b, 0x1d, ANY4, 0xe8, 0x0e, 0, 0, 0,
				 0xf3, 0x90, 0x0f, 0xae, 0xe8, 0xeb, 0xf9,
				 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0x4c, 0x89, 0x1c, 0x24, 0xc3 },
			   { { 0, 16 }, { 6, 24 }, { 32, 8 }, { 36, 0 } } },
		.other = { 27, { 0x4c, 0x8b, 0x1d, ANY4, 0xe8, ANY4, 0xe9, ANY4, 0x68, ANY4, 0xe9, ANY4 },
			   { { 0, 8 }, { 22, 16 } } },
	}, {	/* call 1f; ...; 1: mov %r11,(%rsp); ret */
		.first = { 21, { 0xe8, 0x0b, 0, 0, 0, 0xf3, 0x90, 0x0f, 0xae, 0xe8, 0xeb, 0xf9,
				 0xcc, 0xcc, 0xcc, 0xcc, 0x4c, 0x89, 0x1c, 0x24, 0xc3 },
			   { { 0, 8 }, { 20, 0 } } },
		.other = { 12, { 0x4c, 0x8b, 0x1d, ANY4, 0xe9, ANY4 }, { { 0, 8 } } },
	},
};

static bool code_is(const u8 *bytes, size_t size, const u16 *code, size_t length)
{
	size_t i;

	if (size < length)
		return false;
	for (i = 0; i < length && (code[i] == ANY || code[i] == bytes[i]); i++)
		;
	return i == length;
}

static bool stub_is_at(const struct elf_file *elf, const struct stub *stub, u64 pc, u64 end)
{
	u64 size = end - pc;
	const u8 *bytes = size ? elf_text(elf, pc, &size) : NULL;

	return bytes && code_is(bytes, size, stub->code, stub->size);
}

/* Add the rows of a stub, and the padding behind it.  Return: where it ends. */
static u64 stub_add(const struct elf_file *elf, const struct stub *stub, u64 pc, u64 end,
		    struct synth *synth)
{
	u64 last = pc + stub->size, size, stop;
	const u8 *bytes;
	unsigned int i;
	size_t n;

	for (; last < end; last += n) {
		size = end - last;
		bytes = elf_text(elf, last, &size);
		n = bytes ? padding_length(bytes, size) : 0;
		if (!n)
			break;
	}
	for (i = 0; i < STUB_MAX_ROWS && (!i || stub->rows[i].at); i++) {
		const struct stub_row *row = &stub->rows[i];
		bool plt = row->depth == DEPTH_PLT;
		struct bee_rule rule = {
			.kind = BEE_RULE_KNOWN, .cfa = plt ? BEE_CFA_PLT : BEE_CFA_REG,
			.cfa_reg = plt ? 0 : BEE_REG_RSP, .cfa_off = plt ? 11 : row->depth,
			.ra_off = -8,
		};

		stop = i + 1 < STUB_MAX_ROWS && row[1].at ? pc + row[1].at : last;
		if (row->depth)
			synth_add(synth, pc + row->at, stop, &rule);
	}
	return last;
}

/* Return: whether a PLT begins at the start of the gap. */
static bool plt_find(const struct elf_file *elf, const struct code_gap *gap, struct synth *synth)
{
	const struct stub_plt *plt = plts;
	u64 pc = gap->start;

	if (pc & 15)
		return false;
	while (plt < plts + sizeof(plts) / sizeof(plts[0]) && !stub_is_at(elf, &plt->first, pc, gap->end))
		plt++;
	if (plt == plts + sizeof(plts) / sizeof(plts[0]))
		return false;
	pc = stub_add(elf, &plt->first, pc, gap->end, synth);
	while (stub_is_at(elf, &plt->other, pc, gap->end))
		pc = stub_add(elf, &plt->other, pc, gap->end, synth);
	return true;
}

/*
 * make_fcontext() lets the function of a new fiber return to "finish", behind the three bytes by
 * which the fiber begins (libs/context/src/asm/make_x86_64_sysv_elf_gas.S).  rbp is "finish":
 *
 *	trampoline: push %rbp; jmp *%rbx; finish: xor %rdi,%rdi; call _exit; hlt
 */
static const u16 fiber_end[] = { 0x55, 0xff, 0xe3, 0x48, 0x31, 0xff, 0xe8, ANY4, 0xf4 };

/* Entries of a static program's PLT, which has no first one: jmp *resolved(%rip), padded, with or without endbr64 */
static const struct stub static_plt[] = {
	{ 8, { 0xff, 0x25, ANY4, 0x66, 0x90 } },
	{ 16, { 0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, ANY4, 0x66, 0x0f, 0x1f, 0x44, 0, 0 } },
	{ 16, { 0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, ANY4, 0x0f, 0x1f, 0x44, 0, 0 } },
};

static void static_plt_add(const u8 *bytes, size_t size, u64 pc, struct synth *synth)
{
	static const struct bee_rule rule = {
		.kind = BEE_RULE_KNOWN, .cfa_reg = BEE_REG_RSP, .cfa_off = 8, .ra_off = -8,
	};
	size_t i;

	for (i = 0; i < sizeof(static_plt) / sizeof(static_plt[0]); i++)
		if (code_is(bytes, size, static_plt[i].code, static_plt[i].size))
			synth_add(synth, pc, pc + static_plt[i].size, &rule);
}

/* @padded: padding, or another entry of a PLT, is before it; @first: it is at the start of the gap */
static void stub_add_at(const u8 *bytes, size_t size, u64 pc, bool padded, bool first, struct synth *synth)
{
	/* rsp, rbp and rip in the struct ucontext at rsp (arch/x86/include/uapi/asm/sigcontext.h) */
	static const struct bee_rule context = {
		.kind = BEE_RULE_KNOWN, .arg = BEE_RULE_SIGNAL,
		.cfa = BEE_CFA_DEREF, .cfa_reg = BEE_REG_RSP, .cfa_off = 160,
		.fp = BEE_FP_DEREF, .fp_reg = BEE_REG_RSP, .fp_off = 120,
		.ra = BEE_RA_DEREF, .ra_reg = BEE_REG_RSP, .ra_off = 168,
	};
	size_t trampoline = sigreturn_length(bytes, size);

	/* Handlers return to the first byte, and are looked up one byte before it. */
	if (trampoline)
		synth_add(synth, pc - padded, pc + trampoline, &context);
	else if (code_is(bytes, size, fiber_end, sizeof(fiber_end) / sizeof(fiber_end[0])))
		synth_add(synth, pc, pc + 12, &rule_outermost);
	else if ((padded || first) && !(pc & 7))
		static_plt_add(bytes, size, pc, synth);
}

/* Find signal trampolines, ends of fibers, and entries of static programs' PLTs in a gap. */
static void others_find(const struct elf_file *elf, const struct code_gap *gap, struct synth *synth)
{
	u64 pc, size, i;
	bool padded = false;

	for (pc = gap->start; pc < gap->end; pc += size) {
		const u8 *bytes;
		u64 got = gap->end - pc;

		bytes = elf_text(elf, pc, &got);
		if (!bytes)
			return;
		size = pc + got < gap->end ? got - STUB_MAX_BYTES : got;
		for (i = 0; i < size; i++) {
			if (memchr("\x55\x48\xb8\xff\xf3", bytes[i], 5))
				stub_add_at(bytes + i, got - i, pc + i, padded, pc + i == gap->start, synth);
			padded = bytes[i] == 0x90 || bytes[i] == 0xcc || !bytes[i];
		}
	}
}

/**
 * stubs_find() - find stubs
 * @input: what is known of the file
 * @synth: filled with their rows; synth_free() releases it
 */
void stubs_find(const struct synth_input *input, struct synth *synth)
{
	size_t i;

	*synth = (struct synth){};
	for (i = 0; i < input->ngaps; i++)
		if (!plt_find(input->elf, &input->gaps[i], synth))
			others_find(input->elf, &input->gaps[i], synth);
}
