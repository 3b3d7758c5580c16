// SPDX-License-Identifier: GPL-2.0
/* One step of the walk in a small fake memory: each kind of rule, each stop reason. */
#include <linux/types.h>
#include <string.h>

#include "kselftest.h"
#include "random.h"

#define MEMORY	0x7ffe00001000ull
#define SIZE	0x40000

#include "fake_memory.h"
#include "kmod/frame.h"

#define SP	(MEMORY + 0x800)
#define FP	(MEMORY + 0x900)
#define CODE	(MEMORY + 0x100)

static struct bee_uread memory;

static const u64 gprs[16] = {
	[BEE_REG_RAX] = 0xa0, [BEE_REG_RDX] = 0xd0, [BEE_REG_RDI] = 0xd1,
	[BEE_REG_R9] = 4, [BEE_REG_R10] = SP + 0x40, [BEE_REG_RSP] = 1, [BEE_REG_RBP] = 1,
};

static void write_u64(u64 addr, u64 value)
{
	memcpy(memory.bytes + (addr - MEMORY), &value, sizeof(value));
}

/* The value of each word of the fake memory is computed from its address. */
static u64 word_at(u64 addr)
{
	return 0x1000000 + (addr - MEMORY);
}

static void fill_memory(void)
{
	u64 addr;

	for (addr = MEMORY; addr < MEMORY + SIZE; addr += 8)
		write_u64(addr, word_at(addr));
}

static struct bee_frame activation(void)
{
	return (struct bee_frame){
		.ip = CODE, .sp = SP, .fp = FP, .fp_known = true, .activation = true,
		.gpr = gprs,
	};
}

/* The default rules: CFA = rsp+8, FP same, RA at CFA-8. */
#define ROW(...) { .cfa_reg = BEE_REG_RSP, .cfa_off = 8, .ra_off = -8, __VA_ARGS__ }

struct step_case {
	const char		*name;
	struct bee_rule		 row;
	enum beeunwind_stop	 stop;
	u64			 ip, sp, fp;
	bool			 fp_lost;
	bool			 caller;	/* the frame is a caller, not an activation */
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
static const struct step_case steps[] = {
	{ "CFA = rsp + 8", ROW(), 0, .sp = SP + 8, .fp = FP },
	{ "CFA = rsp + 40", ROW(.cfa_off = 40), 0, .sp = SP + 40, .fp = FP },
	{ "CFA = rbp + 16, FP at CFA-16",
	  ROW(.cfa_reg = BEE_REG_RBP, .cfa_off = 16, .fp = BEE_FP_CFA, .fp_off = -16),
	  0, .sp = FP + 16 },
	{ "CFA = r10 in an activation", ROW(.cfa_reg = BEE_REG_R10, .cfa_off = 0),
	  0, .sp = SP + 0x40, .fp = FP },
	{ "CFA = r10 on a lower stack", ROW(.cfa_reg = BEE_REG_R10, .cfa_off = -0x140),
	  0, .sp = SP - 0x100, .fp = FP },
	{ "CFA = r10, saved by the callee, on a lower stack", ROW(.cfa = BEE_CFA_SAVED, .cfa_reg = BEE_REG_R10,
	      .cfa_add = -0x140), 0, .sp = SP - 0x100, .fp = FP },
	{ "CFA = r10 in a caller", ROW(.cfa_reg = BEE_REG_R10, .cfa_off = 0),
	  BEEUNWIND_STOP_UNKNOWN_REGISTER, .caller = true },
	{ "CFA = *(rbp-8)+16",
	  ROW(.cfa = BEE_CFA_DEREF, .cfa_reg = BEE_REG_RBP, .cfa_off = -8, .cfa_add = 16),
	  0, .sp = SP + 0x120, .fp = FP },
	{ "CFA = *(r10) in a caller",
	  ROW(.cfa = BEE_CFA_DEREF, .cfa_reg = BEE_REG_R10), BEEUNWIND_STOP_UNKNOWN_REGISTER,
	  .caller = true },
	{ "CFA = *(rsp) unreadable",
	  ROW(.cfa = BEE_CFA_DEREF, .cfa_reg = BEE_REG_RSP, .cfa_off = 0x100000),
	  BEEUNWIND_STOP_READ_FAULT },
	{ "CFA = *(*(rsp+800)+0)+8",
	  ROW(.cfa = BEE_CFA_DEREF2, .cfa_reg = BEE_REG_RSP, .cfa_off = 800, .cfa_add = 8),
	  0, .sp = SP + 0x400 + 8, .fp = FP, .caller = true },
	{ "CFA = *(*(rsp+800)+8)-8 on a lower stack",
	  ROW(.cfa = BEE_CFA_DEREF2, .cfa_reg = BEE_REG_RSP | 1 << 4, .cfa_off = 800, .cfa_add = -8),
	  0, .sp = SP - 0x400 - 8, .fp = FP, .caller = true },
	{ "CFA = *(*(rbp)+120) on a lower stack",
	  ROW(.cfa = BEE_CFA_DEREF2, .cfa_reg = BEE_REG_RBP | 15 << 4, .cfa_off = 0x310),
	  0, .sp = SP - 0x600, .fp = FP, .caller = true },
	{ "CFA = *(*(rsp+48)) unreadable",
	  ROW(.cfa = BEE_CFA_DEREF2, .cfa_reg = BEE_REG_RSP, .cfa_off = 48),
	  BEEUNWIND_STOP_READ_FAULT },
	{ "CFA = *(*(r10)) in a caller",
	  ROW(.cfa = BEE_CFA_DEREF2, .cfa_reg = BEE_REG_R10), BEEUNWIND_STOP_UNKNOWN_REGISTER,
	  .caller = true },
	{ "CFA = *(rsp+8*r9+216)+8",
	  ROW(.cfa = BEE_CFA_INDEX, .cfa_reg = BEE_REG_RSP | BEE_REG_R9 << 4, .cfa_off = 216,
	      .cfa_add = 8), 0, .sp = SP + 0x118, .fp = FP },
	{ "CFA = *(rsp+8*r9-8) on a lower stack",
	  ROW(.cfa = BEE_CFA_INDEX, .cfa_reg = BEE_REG_RSP | BEE_REG_R9 << 4, .cfa_off = -8),
	  BEEUNWIND_STOP_NO_PROGRESS },
	{ "CFA = *(rsp+8*r9) in a caller",
	  ROW(.cfa = BEE_CFA_INDEX, .cfa_reg = BEE_REG_RSP | BEE_REG_R9 << 4),
	  BEEUNWIND_STOP_UNKNOWN_REGISTER, .caller = true },
	{ "CFA = *(r10+8*rbp) unreadable",
	  ROW(.cfa = BEE_CFA_INDEX, .cfa_reg = BEE_REG_R10 | BEE_REG_RBP << 4),
	  BEEUNWIND_STOP_READ_FAULT },
	{ "PLT, below", ROW(.cfa = BEE_CFA_PLT, .cfa_reg = 0, .cfa_off = 10), 0, .sp = SP + 8,
	  .fp = FP },
	{ "CFA = rsp + 128 KiB", ROW(.cfa_off = 0x20000), 0, .sp = SP + 0x20000, .fp = FP },
	{ "FP at CFA-72 KiB",
	  ROW(.cfa_reg = BEE_REG_RSP, .cfa_off = 0x20010, .fp = BEE_FP_CFA, .fp_off = -0x12000),
	  0, .sp = SP + 0x20010, .fp = 0x1000800 + 0x20010 - 0x12000 },
	{ "DRAP, prologue: CFA = r10",
	  ROW(.cfa_reg = BEE_REG_R10, .cfa_off = 0), 0, .sp = SP + 0x40, .fp = FP },
	{ "DRAP, body: CFA = *(rbp-8), FP at *(rbp)",
	  ROW(.cfa = BEE_CFA_DEREF, .cfa_reg = BEE_REG_RBP, .cfa_off = -8, .fp = BEE_FP_DEREF,
	      .fp_reg = BEE_REG_RBP), 0, .sp = SP + 0x110, .fp = 0x1000900, .caller = true },
	{ "DRAP to a lower stack",
	  ROW(.cfa = BEE_CFA_DEREF, .cfa_reg = BEE_REG_RBP, .cfa_off = -16),
	  BEEUNWIND_STOP_NO_PROGRESS },
	{ "stack switch to a lower stack",
	  ROW(.cfa = BEE_CFA_DEREF, .cfa_reg = BEE_REG_RSP, .cfa_off = 24, .cfa_add = 8),
	  0, .sp = SP - 0x100 + 8, .fp = FP, .caller = true },
	{ "unknown CFA rule", ROW(.cfa = 9), BEEUNWIND_STOP_UNSUPPORTED },
	{ "FP at *(rsp+16)", ROW(.fp = BEE_FP_DEREF, .fp_reg = BEE_REG_RSP, .fp_off = 16),
	  0, .sp = SP + 8, .fp = 0x1000810 },
	{ "FP unreadable: lost", ROW(.fp = BEE_FP_CFA, .fp_off = 0x100000), 0, .sp = SP + 8,
	  .fp_lost = true },
	{ "FP at *(rax) unreadable: lost", ROW(.fp = BEE_FP_DEREF, .fp_reg = BEE_REG_RAX), 0,
	  .sp = SP + 8, .fp_lost = true },
	{ "FP in rdx", ROW(.fp = BEE_FP_REG, .fp_reg = BEE_REG_RDX), 0, .sp = SP + 8, .fp = 0xd0 },
	{ "FP in rdx of a caller: lost", ROW(.fp = BEE_FP_REG, .fp_reg = BEE_REG_RDX), 0,
	  .sp = SP + 8, .fp_lost = true, .caller = true },
	{ "FP lost", ROW(.fp = BEE_FP_UNDEF), 0, .sp = SP + 8, .fp_lost = true },
	{ "RA at CFA-16", ROW(.cfa_off = 32, .ra_off = -16), 0, .ip = 0x1000810, .sp = SP + 32,
	  .fp = FP },
	{ "RA unreadable", ROW(.ra_off = 0x100000), BEEUNWIND_STOP_READ_FAULT },
	{ "RA at *(rsp+168)", ROW(.ra = BEE_RA_DEREF, .ra_reg = BEE_REG_RSP, .ra_off = 168),
	  0, .ip = 0x10008a8, .sp = SP + 8, .fp = FP },
	{ "RA in rdi, popped",
	  ROW(.cfa_off = 0, .ra = BEE_RA_REG, .ra_reg = BEE_REG_RDI, .ra_off = 0),
	  0, .ip = 0xd1, .sp = SP, .fp = FP },
	{ "RA in rdi, sp not above it in a caller's frame",
	  ROW(.cfa_off = 0, .ra = BEE_RA_REG, .ra_reg = BEE_REG_RDI, .ra_off = 0),
	  BEEUNWIND_STOP_NO_PROGRESS, .caller = true },
	{ "RA in rdi of a caller",
	  ROW(.ra = BEE_RA_REG, .ra_reg = BEE_REG_RDI, .ra_off = 0),
	  BEEUNWIND_STOP_UNKNOWN_REGISTER, .caller = true },
	{ "RA = ip-16", ROW(.ra = BEE_RA_IP, .ra_off = -16), 0, .ip = CODE - 16, .sp = SP + 8,
	  .fp = FP, .caller = true },
	{ "RA = ip+16, code that skips the red zone", ROW(.cfa_off = -128, .ra = BEE_RA_IP, .ra_off = 16),
	  0, .ip = CODE + 16, .sp = SP - 128, .fp = FP },
	{ "RA = ip+16, sp not above it in a caller's frame",
	  ROW(.cfa_off = -128, .ra = BEE_RA_IP, .ra_off = 16), BEEUNWIND_STOP_NO_PROGRESS,
	  .caller = true },
	{ "RA undefined", ROW(.ra = BEE_RA_UNDEF, .ra_off = 0), BEEUNWIND_STOP_OUTERMOST },
	{ "CFA not a multiple of 8", ROW(.cfa_off = 12), BEEUNWIND_STOP_MISALIGNED },
	{ "CFA not above sp in a caller", ROW(.cfa_off = 0), BEEUNWIND_STOP_NO_PROGRESS,
	  .caller = true },
	{ "RA popped, in the red zone", ROW(.cfa_off = 0), 0, .sp = SP, .fp = FP },
	{ "RA at the end of the red zone", ROW(.cfa_off = -120), 0, .sp = SP - 120, .fp = FP },
	{ "RA below the red zone", ROW(.cfa_off = -128), BEEUNWIND_STOP_NO_PROGRESS },
	{ "CFA below the red zone, RA in it", ROW(.cfa_off = -136, .ra_off = 8),
	  BEEUNWIND_STOP_NO_PROGRESS },
	{ "signal frame to a lower stack",
	  ROW(.arg = BEE_RULE_SIGNAL, .cfa_off = -0x100, .ra = BEE_RA_DEREF, .ra_reg = BEE_REG_RSP,
	      .ra_off = 168), 0, .ip = 0x10008a8, .sp = SP - 0x100, .fp = FP },
};
#pragma GCC diagnostic pop

static void test_step(const struct step_case *t)
{
	struct bee_frame before = activation(), f;
	enum beeunwind_stop stop;
	bool good;

	fill_memory();
	/* The pointers that the rules load from rbp-8, rbp-16 and rsp+24. */
	write_u64(FP - 8, SP + 0x110);
	write_u64(FP - 16, SP - 0x100);
	write_u64(SP + 24, SP - 0x100);
	write_u64(SP + 0x320, SP + 0x500);
	write_u64(FP + 0x310, SP + 0x500);
	write_u64(SP + 0x500, SP + 0x400);
	write_u64(SP + 0x500 + 8, SP - 0x400);
	write_u64(SP + 0x500 + 120, SP - 0x600);
	if (t->caller) {
		before.activation = false;
		before.gpr = NULL;
	}
	f = before;
	stop = bee_frame_step(&memory, &t->row, &f);
	if (t->stop) {
		good = stop == t->stop && !memcmp(&f, &before, sizeof(f));
	} else {
		u64 ip = t->ip ?: word_at(t->sp - 8), fp = t->fp ?: word_at(t->sp - 16);

		bool signal = t->row.arg & BEE_RULE_SIGNAL;

		good = !stop && f.ip == ip && f.sp == t->sp && f.fp_known == !t->fp_lost &&
		       (t->fp_lost || f.fp == fp) && !f.gpr && f.activation == signal &&
		       f.slot == (signal ? 0 : t->sp - 8);
	}
	if (!good)
		ksft_print_msg("stop %d ip %llx sp %llx fp %llx\n", stop, (unsigned long long)f.ip,
			       (unsigned long long)f.sp, (unsigned long long)f.fp);
	ksft_test_result(good, "%s\n", t->name);
}

/* The push in a PLT entry ends at its 9th, 10th or 11th byte, by the kind of PLT. */
static void test_plt(s32 pushed)
{
	const struct bee_rule row = { .cfa = BEE_CFA_PLT, .cfa_off = pushed, .ra_off = -8 };
	struct bee_frame f = activation();

	fill_memory();
	f.ip = CODE + pushed - 1;
	bee_frame_step(&memory, &row, &f);
	ksft_test_result(f.sp == SP + 8, "PLT %d: before the push\n", pushed);
	f = activation();
	f.ip = CODE + pushed;
	bee_frame_step(&memory, &row, &f);
	ksft_test_result(f.sp == SP + 16, "PLT %d: after the push\n", pushed);
}

/*
 * The index in struct sigcontext (<asm/sigcontext.h>) of each register, by DWARF number; written
 * here again, to check the table in frame.h.
 */
static const int context_words[16] = { 13, 12, 14, 11, 9, 8, 10, 15, 0, 1, 2, 3, 4, 5, 6, 7 };

#define CONTEXT		(SP + 40)
#define SIGNAL_ROW {							\
	.arg = BEE_RULE_SIGNAL, .cfa = BEE_CFA_DEREF, .cfa_reg = BEE_REG_RSP, .cfa_off = 160,	\
	.fp = BEE_FP_DEREF, .fp_reg = BEE_REG_RSP, .fp_off = 120,	\
	.ra = BEE_RA_DEREF, .ra_reg = BEE_REG_RSP, .ra_off = 168 }

/* Write a signal context in which each register points to another word of memory. */
static void write_context(void)
{
	int i;

	fill_memory();
	for (i = 0; i < 16; i++)
		write_u64(CONTEXT + 8 * context_words[i], SP + 0x1000 + 0x100 * i);
	write_u64(CONTEXT + 8 * 16, CODE);
}

static bool interrupted_is_right(const struct bee_frame *f)
{
	return f->ip == CODE && f->sp == SP + 0x1700 && f->fp == SP + 0x1600 && f->fp_known &&
	       f->activation && !f->slot && !f->gpr && f->saved == CONTEXT;
}

static void test_saved_registers(void)
{
	static const struct bee_rule signal = SIGNAL_ROW;
	struct bee_frame after, f;
	int i, good = 0;

	write_context();
	after = activation();
	after.activation = false;
	after.gpr = NULL;
	ksft_test_result(!bee_frame_step(&memory, &signal, &after) && interrupted_is_right(&after),
			 "signal: the interrupted frame\n");
	for (i = 0; i < 16; i++) {
		const struct bee_rule row = {
			.cfa = BEE_CFA_REG, .cfa_reg = i, .cfa_off = 0x1000, .ra_off = -8,
		};

		f = after;
		good += !bee_frame_step(&memory, &row, &f) && f.sp == SP + 0x2000 + 0x100 * i &&
			!f.saved && !f.activation;
	}
	ksft_test_result(good == 16, "signal: each register of the interrupted frame\n");
}

static void test_saved_elsewhere(void)
{
	struct bee_rule rows[] = { SIGNAL_ROW, SIGNAL_ROW, SIGNAL_ROW };
	static const struct bee_rule by_r10 = {
		.cfa = BEE_CFA_REG, .cfa_reg = BEE_REG_R10, .cfa_off = 0x1000, .ra_off = -8,
	};
	enum beeunwind_stop stop;
	struct bee_frame f;
	size_t i;

	rows[1].cfa_add = 8;
	rows[2].ra_off = 176;
	for (i = 0; i < 3; i++) {
		write_context();
		f = activation();
		bee_frame_step(&memory, &rows[i], &f);
		stop = bee_frame_step(&memory, &by_r10, &f);
		ksft_test_result(stop == (i ? BEEUNWIND_STOP_UNKNOWN_REGISTER : 0),
				 "signal: layout %zu\n", i);
	}
	f = activation();
	f.gpr = NULL;
	f.saved = MEMORY + SIZE;
	ksft_test_result(bee_frame_step(&memory, &by_r10, &f) == BEEUNWIND_STOP_READ_FAULT,
			 "signal: registers unreadable\n");
}

struct callee_case {
	const char		*name;
	struct bee_frame	 f;
	enum beeunwind_stop	 stop;
	u64			 sp;
};

/* CFA = rbx + 0x100, and the callee saves rbx at SP - 24: where each frame gets rbx from. */
static const struct callee_case callees[] = {
	{ "an activation: its register", { .gpr = gprs, .activation = true }, 0, SP + 0x200 },
	{ "the word, at the callee's rsp", { .callee_sp = SP - 24, .callee_gpr = gprs }, 0,
	  SP + 0x300 },
	{ "the word, above the callee's rsp", { .callee_sp = SP - 0x80 }, 0, SP + 0x300 },
	{ "the callee's register, before it is pushed",
	  { .callee_sp = SP - 16, .callee_gpr = gprs }, 0, SP + 0x200 },
	{ "the callee's register, saved for a signal",
	  { .callee_sp = SP - 8, .callee_saved = SP + 0x400 }, 0, SP + 0x500 },
	{ "not pushed by a callee that is a caller itself", { .callee_sp = SP - 8 },
	  BEEUNWIND_STOP_UNKNOWN_REGISTER },
	{ "a callee without a rule", {}, BEEUNWIND_STOP_UNKNOWN_REGISTER },
	{ "the word, unreadable", { .sp = 0x10, .callee_sp = 1 }, BEEUNWIND_STOP_READ_FAULT },
};

static void test_callee(const struct callee_case *t)
{
	static const struct bee_rule row = {
		.cfa = BEE_CFA_SAVED, .cfa_reg = BEE_REG_RBX, .cfa_off = -24, .cfa_add = 0x100,
		.ra_off = -8,
	};
	u64 registers[16];
	struct bee_frame f = t->f;
	enum beeunwind_stop stop;

	fill_memory();
	write_u64(SP - 24, SP + 0x200);
	write_u64(SP + 0x400 + 8 * 11, SP + 0x400);
	memcpy(registers, gprs, sizeof(registers));
	registers[BEE_REG_RBX] = SP + 0x100;
	f.gpr = f.gpr ? registers : NULL;
	f.callee_gpr = f.callee_gpr ? registers : NULL;
	f.ip = CODE;
	f.sp = f.sp ?: SP;
	stop = bee_frame_step(&memory, &row, &f);
	ksft_test_result(stop == t->stop && (stop || f.sp == t->sp), "saved by the callee: %s\n",
			 t->name);
}

/* What a step hands to the caller's frame. */
static void test_callee_kept(void)
{
	static const struct bee_rule row = ROW();
	struct bee_frame f = activation();

	fill_memory();
	ksft_test_result(!bee_frame_step(&memory, &row, &f) && f.callee_sp == SP &&
			 f.callee_gpr == gprs && !bee_frame_step(&memory, &row, &f) &&
			 f.callee_sp == SP + 8 && !f.callee_gpr,
			 "saved by the callee: kept for one frame\n");
}

struct sigreturn_case {
	const char	*name;
	u8		 code[12];
	u32		 at;
	bool		 caller;
	bool		 refused;
};

#define MOV_RAX	0x48, 0xc7, 0xc0, 15, 0, 0, 0
#define MOV_EAX	0xb8, 15, 0, 0, 0
#define SYSCALL	0x0f, 0x05

static const struct sigreturn_case sigreturns[] = {
	{ "sigreturn: rax", { MOV_RAX, SYSCALL }, .caller = true },
	{ "sigreturn: eax", { MOV_EAX, SYSCALL }, .caller = true },
	{ "sigreturn: rax, at the mov", { MOV_RAX, SYSCALL } },
	{ "sigreturn: rax, at the syscall", { MOV_RAX, SYSCALL }, .at = 7 },
	{ "sigreturn: eax, at the syscall", { MOV_EAX, SYSCALL }, .at = 5 },
	{ "sigreturn: returned to the syscall", { MOV_RAX, SYSCALL }, .at = 7, .caller = true,
	  .refused = true },
	{ "sigreturn: another system call", { 0x48, 0xc7, 0xc0, 14, 0, 0, 0, SYSCALL },
	  .refused = true },
	{ "sigreturn: int 0x80", { MOV_EAX, 0xcd, 0x80 }, .caller = true, .refused = true },
	{ "sigreturn: no syscall", { MOV_RAX, 0x0f, 0x0b }, .caller = true, .refused = true },
};

static void test_sigreturn(const struct sigreturn_case *t)
{
	struct bee_frame f = activation(), before;
	bool stepped;

	write_context();
	memcpy(memory.bytes + 0x100, t->code, sizeof(t->code));
	f.ip = CODE + t->at;
	f.activation = !t->caller;
	before = f;
	stepped = bee_frame_step_sigreturn(&memory, &f);
	ksft_test_result(t->refused ? !stepped && !memcmp(&f, &before, sizeof(f)) :
			 stepped && interrupted_is_right(&f), "%s\n", t->name);
}

/*
 * Visit @lead frames, each with a lower sp than the one before, and then @circle such frames
 * over and over.  Return: steps until bee_frame_repeats() notices, 0 if it never does.
 */
static u32 steps_until_repeat(u32 lead, u32 circle)
{
	struct bee_switches switches = {};
	u32 i;

	for (i = 0; i < 100000; i++) {
		u32 at = i < lead ? i : lead + (i - lead) % circle;
		struct bee_frame f = { .ip = CODE + (at & 1), .sp = SP - 16 * at };

		if (bee_frame_repeats(&switches, f.sp, &f))
			return i + 1;
	}
	return 0;
}

static void test_switches(void)
{
	static const u32 circles[] = { 1, 2, 3, 7, 100, 1000 };
	struct bee_switches switches = {};
	struct bee_frame f = activation();
	u32 good = 0, i;

	for (i = 0; i < 6; i++) {
		u32 steps = steps_until_repeat(i, circles[i]);

		good += steps > i + circles[i] && steps <= 4 * (i + circles[i]);
	}
	ksft_test_result(good == 6, "switches: circles are noticed\n");
	ksft_test_result(!steps_until_repeat(100000, 1),
			 "switches: 100,000 stacks are no circle\n");
	for (i = 0; i < 100; i++)
		bee_frame_repeats(&switches, f.sp - 8, &f);
	ksft_test_result(!switches.count, "switches: rising steps do not count\n");
}

static void test_fp_lost(void)
{
	static const struct bee_rule by_fp = {
		.cfa_reg = BEE_REG_RBP, .cfa_off = 16, .ra_off = -8,
	}, same = { .cfa_reg = BEE_REG_RSP, .cfa_off = 8, .ra_off = -8 };
	struct bee_frame f = activation();

	fill_memory();
	f.fp_known = false;
	ksft_test_result(bee_frame_step(&memory, &by_fp, &f) == BEEUNWIND_STOP_UNKNOWN_REGISTER,
			 "FP lost: CFA = rbp + 16 stops\n");
	ksft_test_result(!bee_frame_step(&memory, &same, &f) && !f.fp_known,
			 "FP lost: stays lost\n");
	ksft_test_result(!bee_frame_step_fp(&memory, &f), "FP lost: no step by frame pointer\n");
}

static bool frames_equal(const struct bee_frame *a, const struct bee_frame *b)
{
	return a->ip == b->ip && a->sp == b->sp && a->fp == b->fp && a->slot == b->slot &&
	       a->gpr == b->gpr && a->saved == b->saved && a->callee_sp == b->callee_sp &&
	       a->callee_gpr == b->callee_gpr && a->callee_saved == b->callee_saved &&
	       a->fp_known == b->fp_known && a->activation == b->activation;
}

/*
 * A simple rule, as a word and decoded, takes any frame to the same caller or stop reason; but the
 * word never takes an activation to a caller that is not above it.
 */
static void test_step_word(void)
{
	static const struct bee_table table;
	bool met[BEEUNWIND_STOP_MAX + 1] = {}, equal = true;
	struct bee_rule rule;
	u32 popped = 0;
	u32 i;

	for (i = 0; i < 1000000 && equal; i++) {
		u64 random = random_u64();
		/* Small values more often: others lead out of the fake memory. */
		u32 cfa = random >> 40 & (random & 1 << 20 ? 0x3f : BEE_WORD_CFA_FIELD);
		u32 slot = random >> 28 & (random & 1 << 21 ? 0x1f : BEE_WORD_FP_MAX);
		u32 word = (random & 1) | cfa << BEE_WORD_CFA_SHIFT | slot << BEE_WORD_FP_SHIFT |
			   (random >> 2 & 31) << BEE_WORD_MENU_SHIFT;
		struct bee_frame f = activation(), g;
		enum beeunwind_stop stop, word_stop;
		struct bee_simple_frame simple;
		u64 ra;

		f.sp += (random >> 8 & 3) ? 0 : random >> 10 & 15;
		f.fp += (random >> 16 & 3) ? (s64)(random >> 18 & 0xff0) - 0x800 : random >> 18 & 15;
		f.fp_known = random >> 24 & 7;
		f.activation = random >> 27 & 1;
		f.saved = random >> 56;
		g = f;
		bee_table_decode(&table, word, &rule);
		stop = bee_frame_step(&memory, &rule, &f);
		simple = bee_frame_simple(&g);
		word_stop = bee_simple_step(&memory, word, &simple, &ra);
		if (!word_stop)
			bee_frame_set_simple(&g, &simple, ra, g.sp, true);
		popped += !stop && word_stop == BEEUNWIND_STOP_NO_PROGRESS;
		equal = !stop && f.sp <= f.callee_sp ?
			g.activation && word_stop == BEEUNWIND_STOP_NO_PROGRESS :
			stop == word_stop && frames_equal(&f, &g);
		met[stop] = true;
	}
	ksft_test_result(equal, "simple rules: a word says the same as the rule\n");
	ksft_test_result(met[BEEUNWIND_STOP_NONE] && met[BEEUNWIND_STOP_MISALIGNED] &&
			 met[BEEUNWIND_STOP_NO_PROGRESS] && met[BEEUNWIND_STOP_READ_FAULT] &&
			 met[BEEUNWIND_STOP_UNKNOWN_REGISTER] && popped,
			 "simple rules: a word stops in each way that a rule does\n");
}

static void test_lookup_ip(void)
{
	struct bee_frame f = activation();

	ksft_test_result(bee_frame_lookup_ip(&f) == CODE, "lookup ip of an activation\n");
	f.activation = false;
	ksft_test_result(bee_frame_lookup_ip(&f) == CODE - 1, "lookup ip of a caller\n");
}

struct fp_case {
	const char	*name;
	u8		 code[12];	/* from the byte before ip on */
	u64		 fp;
	bool		 caller;
	bool		 refused;
	u64		 sp;		/* the caller's */
	u64		 caller_fp;	/* 0: the word at FP */
};

static const struct fp_case fp_cases[] = {
	{ "FP: in a caller", { 0, 0x55, 0x48, 0x89, 0xe5 }, FP, .caller = true, .sp = FP + 16 },
	{ "FP: in a body", { 0, 0x90 }, FP, .sp = FP + 16 },
	{ "FP: at push %rbp; mov %rsp,%rbp", { 0, 0x55, 0x48, 0x89, 0xe5 }, FP, .sp = SP + 8,
	  .caller_fp = FP },
	{ "FP: at push %rbp; mov %rsp,%rbp, other encoding", { 0, 0x55, 0x48, 0x8b, 0xec }, FP,
	  .sp = SP + 8, .caller_fp = FP },
	{ "FP: at endbr64; push %rbp; mov %rsp,%rbp",
	  { 0, 0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5 }, FP, .sp = SP + 8,
	  .caller_fp = FP },
	{ "FP: at one of several pushes", { 0x54, 0x55, 0x53 }, FP, .sp = FP + 16 },
	{ "FP: at endbr64; other", { 0, 0xf3, 0x0f, 0x1e, 0xfa, 0x90 }, FP, .sp = FP + 16 },
	{ "FP: at ret", { 0, 0xc3 }, FP, .sp = SP + 8, .caller_fp = FP },
	{ "FP: at mov %rsp,%rbp", { 0x55, 0x48, 0x89, 0xe5 }, FP, .sp = SP + 16,
	  .caller_fp = 0x1000800 },
	{ "FP: at mov %rsp,%rbp, other encoding", { 0x55, 0x48, 0x8b, 0xec }, FP, .sp = SP + 16,
	  .caller_fp = 0x1000800 },
	{ "FP: at mov %rsp,%rbp after something else", { 0x53, 0x48, 0x89, 0xe5 }, FP,
	  .sp = FP + 16 },
	{ "FP: at another mov", { 0x55, 0x48, 0x89, 0xe6 }, FP, .sp = FP + 16 },
	{ "FP: any value at push %rbp; mov %rsp,%rbp", { 0, 0x55, 0x48, 0x89, 0xe5 }, 3,
	  .sp = SP + 8, .caller_fp = 3 },
	{ "FP: misaligned", { 0, 0x90 }, FP + 4, .refused = true },
	{ "FP: below sp, where no frame is", { 0, 0x90 }, SP - 8, .refused = true },
	{ "FP: far above sp, unreadable", { 0, 0x90 }, SP + BEE_FP_MAX_DISTANCE + 8, .refused = true },
	{ "FP: unreadable", { 0, 0x90 }, SP + 0x100000, .refused = true },
	{ "FP: RA unreadable", { 0, 0x90 }, MEMORY + SIZE - 8, .refused = true },
};

static void test_step_fp(const struct fp_case *t)
{
	struct bee_frame before = activation(), f;
	bool stepped, good;

	fill_memory();
	memcpy(memory.bytes + 0xff, t->code, sizeof(t->code));
	before.fp = t->fp;
	before.activation = !t->caller;
	f = before;
	stepped = bee_frame_step_fp(&memory, &f);
	if (t->refused)
		good = !stepped && !memcmp(&f, &before, sizeof(f));
	else
		good = stepped && f.sp == t->sp && f.ip == word_at(t->sp - 8) &&
		       f.fp == (t->caller_fp ?: word_at(FP)) && f.fp_known && !f.activation &&
		       !f.gpr && f.slot == t->sp - 8;
	if (!good)
		ksft_print_msg("%d ip %llx sp %llx fp %llx\n", stepped, (unsigned long long)f.ip,
			       (unsigned long long)f.sp, (unsigned long long)f.fp);
	ksft_test_result(good, "%s\n", t->name);
}

/* Where rbp is on another stack: below sp, or far above. */
static void test_step_fp_switch(void)
{
	static const struct {
		const char	*name;
		u64		 sp, fp, next;
		bool		 stepped;
	} cases[] = {
		{ "below sp", SP, SP - 0x400, SP - 0x300, true },
		{ "below sp, to the outermost frame", SP, SP - 0x400, 0, true },
		{ "below sp, then below that", SP, SP - 0x400, SP - 0x408 },
		{ "below sp, then this stack", SP, SP - 0x400, SP },
		{ "far above sp", SP - (16u << 20), SP, SP + 0x10, true },
		{ "far above sp, then below that", SP - (16u << 20), SP, SP - 0x10 },
		{ "far above sp, then too far", SP - (16u << 20), SP, SP + (9u << 20) },
	};
	struct bee_frame f;
	bool stepped;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fill_memory();
		write_u64(cases[i].fp, cases[i].next);
		f = activation();
		f.activation = false;
		f.sp = cases[i].sp;
		f.fp = cases[i].fp;
		stepped = bee_frame_step_fp(&memory, &f);
		ksft_test_result(stepped == cases[i].stepped &&
				 (!stepped || (f.sp == cases[i].fp + 16 && f.fp == cases[i].next)),
				 "FP: %s\n", cases[i].name);
	}
}

struct call_case {
	const char	*name;
	u8		 size;
	u8		 code[10];
	enum bee_call	 found;
};

/* As an assembler writes them; the displacements have bytes that are of no call themselves. */
static const struct call_case calls[] = {
	{ "call rel32", 5, { 0xe8, 1, 2, 3, 4 }, BEE_CALL_FOUND },
	{ "call *%rax", 2, { 0xff, 0xd0 }, BEE_CALL_FOUND },
	{ "call *%rsp", 2, { 0xff, 0xd4 }, BEE_CALL_FOUND },
	{ "call *%r12", 3, { 0x41, 0xff, 0xd4 }, BEE_CALL_FOUND },
	{ "call *(%rdi)", 2, { 0xff, 0x17 }, BEE_CALL_FOUND },
	{ "call *(%r13,%r14,8)", 5, { 0x43, 0xff, 0x54, 0xf5, 0 }, BEE_CALL_FOUND },
	{ "call *(%rsp)", 3, { 0xff, 0x14, 0x24 }, BEE_CALL_FOUND },
	{ "call *(%rax,%rbx,4)", 3, { 0xff, 0x14, 0x98 }, BEE_CALL_FOUND },
	{ "call *8(%rax)", 3, { 0xff, 0x50, 8 }, BEE_CALL_FOUND },
	{ "call *8(%rsp)", 4, { 0xff, 0x54, 0x24, 8 }, BEE_CALL_FOUND },
	{ "call *0x12345(%rax)", 6, { 0xff, 0x90, 0x45, 0x23, 1, 0 }, BEE_CALL_FOUND },
	{ "call *disp(%rip)", 6, { 0xff, 0x15, 1, 2, 3, 4 }, BEE_CALL_FOUND },
	{ "call *table(,%rax,8)", 7, { 0xff, 0x14, 0xc5, 1, 2, 3, 4 }, BEE_CALL_FOUND },
	{ "call *0x12345(%rsp)", 7, { 0xff, 0x94, 0x24, 0x45, 0x23, 1, 0 }, BEE_CALL_FOUND },
	{ "notrack call *%rax", 3, { 0x3e, 0xff, 0xd0 }, BEE_CALL_FOUND },
	{ "bnd call rel32", 6, { 0xf2, 0xe8, 1, 2, 3, 4 }, BEE_CALL_FOUND },
	{ "call *%fs:0x10", 8, { 0x64, 0xff, 0x14, 0x25, 0x10, 0, 0, 0 }, BEE_CALL_FOUND },
	{ "data16 data16 rex.W call __tls_get_addr", 8,
	  { 0x66, 0x66, 0x48, 0xe8, 1, 2, 3, 4 }, BEE_CALL_FOUND },
	{ "data16 rex.W call *__tls_get_addr@GOT(%rip)", 8,
	  { 0x66, 0x48, 0xff, 0x15, 1, 2, 3, 4 }, BEE_CALL_FOUND },
	{ "jmp rel32", 5, { 0xe9, 1, 2, 3, 4 }, BEE_CALL_NONE },
	{ "jmp *%rax", 2, { 0xff, 0xe0 }, BEE_CALL_NONE },
	{ "push 8(%rax)", 3, { 0xff, 0x70, 8 }, BEE_CALL_NONE },
	{ "far call", 2, { 0xff, 0x18 }, BEE_CALL_NONE },
	{ "ret, and padding", 8, { 0xc3, 0x66, 0x0f, 0x1f, 0x44, 0, 0, 0x90 }, BEE_CALL_NONE },
	{ "the last bytes of a longer call", 5, { 0xff, 0x14, 0x24, 1, 2 }, BEE_CALL_NONE },
	{ "call *(%rsp) without its last byte", 2, { 0xff, 0x14 }, BEE_CALL_NONE },
	{ "call *8(%rax) without its last byte", 2, { 0xff, 0x50 }, BEE_CALL_NONE },
	{ "call rel32 a byte away", 6, { 0xe8, 1, 2, 3, 4, 0x90 }, BEE_CALL_NONE },
};

static void test_calls(void)
{
	u64 target;
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		const struct call_case *t = &calls[i];

		memset(memory.bytes, 0x90, 0x200);
		memcpy(memory.bytes + 0x100 - t->size, t->code, t->size);
		ksft_test_result(bee_frame_find_call(&memory, CODE, &target) == t->found &&
				 target == (t->found && t->size >= 5 && t->code[t->size - 5] == 0xe8 ?
					    CODE + 0x04030201 : 0),
				 "before a return address: %s\n", t->name);
	}
	memset(memory.bytes, 0x90, 0x200);
	memcpy(memory.bytes, calls[0].code, 5);
	ksft_test_result(bee_frame_find_call(&memory, MEMORY + 5, &target) == BEE_CALL_FOUND &&
			 bee_frame_find_call(&memory, MEMORY + 6, &target) == BEE_CALL_UNREADABLE &&
			 bee_frame_find_call(&memory, MEMORY, &target) == BEE_CALL_UNREADABLE &&
			 bee_frame_find_call(&memory, 0, &target) == BEE_CALL_UNREADABLE &&
			 bee_frame_find_call(&memory, -1, &target) == BEE_CALL_UNREADABLE,
			 "before a return address: not all in memory\n");
}

/*
 * Python's trampoline for perf, at each instruction, also where rbp is lost; and as a caller, whose
 * return address is behind the call.
 */
static void test_step_fp_python(void)
{
	static const u8 code[] = {
		0x48, 0x83, 0xec, 0x08,		/* 0: sub $8,%rsp */
		0xff, 0xd1,			/* 4: call *%rcx */
		0x48, 0x83, 0xc4, 0x08,		/* 6: add $8,%rsp */
		0xc3,				/* 10: ret */
	};
	static const u8 at[] = { 0, 4, 6, 10 };
	struct bee_frame f;
	bool good = true;
	size_t i;
	u64 slot;

	for (i = 0; i < sizeof(at); i++) {
		fill_memory();
		memcpy(memory.bytes + 0x100, code, sizeof(code));
		f = activation();
		f.ip += at[i];
		f.fp_known = i & 1;
		slot = at[i] == 0 || at[i] == 10 ? SP : SP + 8;
		good &= bee_frame_step_fp(&memory, &f) && f.ip == word_at(slot) && f.sp == slot + 8 &&
			f.fp == FP && f.fp_known == (i & 1);
	}
	ksft_test_result(good, "FP: in Python's trampoline\n");
	for (i = 0, good = true; i < 2; i++) {
		f = activation();
		f.activation = false;
		f.ip += 6;
		f.fp = 3;
		f.fp_known = i;
		good &= bee_frame_step_fp(&memory, &f) && f.ip == word_at(SP + 8) && f.sp == SP + 16 &&
			f.fp == 3 && f.fp_known == i && f.slot == SP + 8;
	}
	ksft_test_result(good, "FP: a caller that ends with add $8,%%rsp; ret\n");
	for (i = 6, good = true; i < sizeof(code); i++) {
		memory.bytes[0x100 + i] ^= 0x80;
		f = activation();
		f.activation = false;
		f.ip += 6;
		good &= bee_frame_step_fp(&memory, &f) && f.sp == FP + 16;
		memory.bytes[0x100 + i] ^= 0x80;
	}
	ksft_test_result(good, "FP: a caller that ends otherwise\n");
}

/* After clone() the parent returns to its caller, whatever rbp is; the child has no caller. */
static void test_step_fp_clone(void)
{
	static const u8 code[] = { 0x48, 0x85, 0xc0, 0x7c, 0x18, 0x74, 0x01, 0xc3 };
	u64 registers[16] = { [BEE_REG_RAX] = -38 };
	struct bee_frame f = activation();

	fill_memory();
	memcpy(memory.bytes + 0x100, code, sizeof(code));
	f.gpr = registers;
	ksft_test_result(bee_frame_step_fp(&memory, &f) && f.sp == SP + 8 && f.fp == FP &&
			 f.ip == word_at(SP), "FP: behind clone()'s system call\n");
	f = activation();
	f.gpr = registers;
	registers[BEE_REG_RAX] = 0;
	ksft_test_result(!bee_frame_step_fp(&memory, &f), "FP: clone()'s child has no caller\n");
	f = activation();
	f.gpr = NULL;
	ksft_test_result(bee_frame_step_fp(&memory, &f) && f.sp == FP + 16,
			 "FP: behind clone()'s system call without rax\n");
	f = activation();
	memory.bytes[0x100 + 6] = 2;
	ksft_test_result(bee_frame_step_fp(&memory, &f) && f.sp == FP + 16,
			 "FP: behind another system call than clone()'s\n");
}

/* If the code cannot be read, the step must assume nothing about rbp. */
static void test_step_fp_unreadable_code(void)
{
	struct bee_frame f = activation();

	fill_memory();
	f.ip = 0x400000;
	ksft_test_result(bee_frame_step_fp(&memory, &f) && f.sp == FP + 16,
			 "FP: unreadable code\n");
	f = activation();
	memory.bytes[0x100] = 0xc3;
	f.sp += 4;
	ksft_test_result(!bee_frame_step_fp(&memory, &f), "FP: misaligned sp at ret\n");
}

int main(void)
{
	const size_t nsteps = sizeof(steps) / sizeof(steps[0]);
	const size_t nfp = sizeof(fp_cases) / sizeof(fp_cases[0]);
	const size_t ncalls = sizeof(calls) / sizeof(calls[0]);
	const size_t nsigreturns = sizeof(sigreturns) / sizeof(sigreturns[0]);
	const size_t ncallees = sizeof(callees) / sizeof(callees[0]);
	size_t i;

	ksft_print_header();
	ksft_set_plan(nsteps + 6 + 2 + 4 + ncallees + 1 + nsigreturns + 3 + 3 + 2 + nfp + 7 + 7 + ncalls + 2 + 3);
	for (i = 0; i < nsteps; i++)
		test_step(&steps[i]);
	test_plt(9);
	test_plt(10);
	test_plt(11);
	test_saved_registers();
	test_saved_elsewhere();
	for (i = 0; i < ncallees; i++)
		test_callee(&callees[i]);
	test_callee_kept();
	for (i = 0; i < nsigreturns; i++)
		test_sigreturn(&sigreturns[i]);
	test_switches();
	test_fp_lost();
	test_step_word();
	test_lookup_ip();
	for (i = 0; i < nfp; i++)
		test_step_fp(&fp_cases[i]);
	test_step_fp_switch();
	test_calls();
	test_step_fp_python();
	test_step_fp_clone();
	test_step_fp_unreadable_code();
	ksft_finished();
}
