// SPDX-License-Identifier: GPL-2.0
/* A step out of a code heap, in a small fake memory: each place in code, and heaps that lie. */
#include <linux/types.h>
#include <string.h>

#include "kernel.h"
#include "kselftest.h"

#define MEMORY	0x7ffe00000000ull
#define SIZE	0x8000

#include "fake_memory.h"
#include "kmod/heap.h"

/* A heap of 64 segments of 64 bytes, its segment map, and a stack. */
#define SHIFT	6
#define HEAP	MEMORY
#define MAP	(MEMORY + 0x1000)
#define STACK	(MEMORY + 0x2000)
#define SP	(STACK + 0x400)
#define OUTSIDE	(MEMORY + 0x7000)

/* Blocks; each has a header of 16 bytes and a CodeBlob, whose code begins at byte 48 of it. */
#define INTERPRETER	HEAP
#define CALLER		(HEAP + 0x400)
#define CALLEE		(HEAP + 0x800)
#define STUB		(HEAP + 0xc00)
#define CODE		64		/* of a block */
#define CODE_END	0x380
#define CALLER_RA	(CALLER + CODE + 0x45)
#define CALLER_FP	0x1234500
#define FRAME		0x40

static struct bee_uread memory;
static struct bee_code_heaps heaps;
static u64 gpr[16];

static void put(u64 at, u64 value, size_t size)
{
	memcpy(memory.bytes + (at - MEMORY), &value, size);
}

static void put_code(u64 at, const char *code, size_t size)
{
	memcpy(memory.bytes + (at - MEMORY), code, size);
}

static void put_call(u64 ra, u64 target)
{
	put(ra - 5, 0xe8, 1);
	put(ra - 4, target - ra, 4);
}

static void put_block(u64 at, u32 frame)
{
	u64 segment = (at - HEAP) >> SHIFT, i;

	for (i = 0; i < 16; i++)
		put(MAP + segment + i, i, 1);
	put(at + 8, 1, 1);
	put(at + 16 + 20, 12, 4);		/* complete */
	put(at + 16 + 28, frame / 8, 4);
	put(at + 16 + 32, at + CODE, 8);
	put(at + 16 + 40, at + CODE_END, 8);
}

/* A heap of compiled code that is sound, and a frame of CALLEE's that is complete. */
static void lay_out(void)
{
	memset(&memory, 0, sizeof(memory));
	memset(gpr, 0, sizeof(gpr));
	heaps = (struct bee_code_heaps){
		.heap[0] = { HEAP, HEAP + 0x1000, MAP }, .nr = 1, .shift = SHIFT,
		.interpreter = INTERPRETER, .interpreter_end = INTERPRETER + 0x400,
		.used = 8, .blob = 16, .frame_size = 28, .complete = 20, .code = 32, .code_end = 40,
		.complete_size = 4, .code_size = 8, .code_end_size = 8,
	};
	put_block(INTERPRETER, 0);
	put_block(CALLER, 0x60);
	put_block(CALLEE, FRAME);
	put_block(STUB, 0);
	put_call(CALLER_RA, CALLEE + CODE);
	put(SP + FRAME - 8, CALLER_RA, 8);
	put(SP + FRAME - 16, CALLER_FP, 8);
}

static struct bee_frame frame_at(u64 ip, bool activation)
{
	return (struct bee_frame){
		.ip = ip, .sp = SP, .fp = 0x777000, .fp_known = true, .activation = activation,
		.gpr = activation ? gpr : NULL,
	};
}

static enum beeunwind_stop step(struct bee_frame *f)
{
	struct bee_heap_step s = { .mem = &memory, .heaps = &heaps, .f = f };

	return bee_heap_step(&s);
}

static bool is_caller(const struct bee_frame *f, u64 ip, u64 sp, u64 fp)
{
	return f->ip == ip && f->sp == sp && f->fp == fp && !f->activation;
}

static void check(bool good, const char *name)
{
	ksft_test_result(good, "%s\n", name);
}

/* A place in CALLEE's code, and how far above rsp the return address is there. */
static const struct place {
	const char	*name;
	const char	*code;
	u8		size, ip;
	u8		ra;
	bool		saved;
} places[] = {
	{ "push %rbp", "\x55\x48\x83\xec\x30", 5, 0, 0, false },
	{ "sub behind push %rbp", "\x55\x48\x83\xec\x30", 5, 1, 8, true },
	{ "sub of four bytes behind push %rbp", "\x55\x48\x81\xec\x30\0\0\0", 8, 1, 8, true },
	{ "mov %rsp, %rbp", "\x55\x48\x8b\xec\x48\x83\xec\x30", 8, 1, 8, true },
	{ "sub behind mov %rsp, %rbp", "\x55\x48\x8b\xec\x48\x83\xec\x30", 8, 4, 8, true },
	{ "sub without push", "\x48\x83\xec\x38", 4, 0, 0, false },
	{ "store of rbp behind sub", "\x48\x83\xec\x38\x48\x89\x6c\x24\x30", 9, 4, FRAME - 8, false },
	{ "touch of the stack's end", "\x89\x84\x24\0\0\xfe\xff\x55", 8, 0, 0, false },
	{ "another instruction before the prologue", "\x90\x90\x55\x48\x83\xec\x30", 7, 0, 0, false },
	{ "pop %rbp behind add", "\x48\x83\xc4\x30\x5d\xc3", 6, 4, 8, true },
	{ "poll behind pop %rbp", "\x48\x83\xc4\x30\x5d\x49\x3b\xa7\0\0\0\0", 12, 5, 0, false },
	{ "pop %rbp before jmp *%rax", "\x5d\xff\xe0", 3, 0, 8, true },
	{ "jmp *%rax behind pop %rbp", "\x5d\xff\xe0", 3, 1, 0, false },
	{ "pop %rbp before jmp *%r10", "\x5d\x41\xff\xe2", 4, 0, 8, true },
	{ "jmp *%r10 behind pop %rbp", "\x5d\x41\xff\xe2", 4, 1, 0, false },
	{ "load of a method that is interpreted", "\x48\xbb\1\2\3\4\5\6\7\x08\xe9", 11, 0, 0, false },
	{ "jump to a method that is interpreted", "\x48\xbb\1\2\3\4\5\6\7\x08\xe9", 11, 10, 0, false },
	{ "jump of the poll", "\x0f\x87\0\0\0\0\xc3", 7, 0, 0, false },
	{ "ret", "\xc3", 1, 0, 0, false },
	{ "leave is done", "\xc9\x49\x81\x7f\x08\0\0\0\0", 9, 1, 0, false },
	{ "body", "\x90\x90\x90\x90", 4, 0, FRAME - 8, true },
};

static void test_place(const struct place *place)
{
	u64 at = CALLEE + CODE + (strstr(place->name, "before the prologue") ? 0 : 0x40);
	struct bee_frame f = frame_at(at + place->ip, true);

	lay_out();
	memset(memory.bytes + (SP - MEMORY), 0, FRAME);
	put_code(at, place->code, place->size);
	put(SP + place->ra, CALLER_RA, 8);
	if (place->saved)
		put(SP + place->ra - 8, CALLER_FP, 8);
	ksft_test_result(!step(&f) && is_caller(&f, CALLER_RA, SP + place->ra + 8, place->saved ? CALLER_FP : 0x777000),
			 "the return address is found at: %s\n", place->name);
}

static void test_compiled(void)
{
	struct bee_frame f = frame_at(CALLEE + CODE + 0x45, false);

	lay_out();
	check(!step(&f) && is_caller(&f, CALLER_RA, SP + FRAME, CALLER_FP),
	      "a caller's frame has the size of its header");

	f = frame_at(CALLEE + CODE + 0x40, true);
	put(SP + FRAME - 8, 0x99, 8);
	put(SP + FRAME + 8, CALLER_RA, 8);
	put(SP + FRAME, CALLER_FP, 8);
	check(!step(&f) && is_caller(&f, CALLER_RA, SP + FRAME + 16, CALLER_FP),
	      "below two words that were pushed the return address is found");

	put_call(STUB + CODE + 0x20, OUTSIDE);
	put(SP + FRAME - 8, STUB + CODE + 0x20, 8);
	f = frame_at(CALLEE + CODE + 0x40, true);
	check(!step(&f) && is_caller(&f, CALLER_RA, SP + FRAME + 16, CALLER_FP),
	      "compiled code does not return behind a call of code outside of heaps");

	put(SP + FRAME - 8, 0x99, 8);
	f = frame_at(CALLEE + CODE + 0x45, false);
	check(step(&f) == BEEUNWIND_STOP_BAD_RA, "a caller's frame has no words more than its header says");
	put_code(CALLEE + CODE + 0x45, "\x5b\x5f\xc3", 3);
	f = frame_at(CALLEE + CODE + 0x45, false);
	check(!step(&f) && is_caller(&f, CALLER_RA, SP + FRAME + 16, CALLER_FP),
	      "words that a caller pops behind the call are below its frame");

	put_call(CALLER_RA, STUB + CODE);
	f = frame_at(CALLEE + CODE + 0x40, true);
	check(step(&f) == BEEUNWIND_STOP_BAD_RA, "a call of other code is not believed behind pushed words");
	put_code(CALLEE + CODE + 0x40, "\x5b\x5f\xc3", 3);
	f = frame_at(CALLEE + CODE + 0x40, true);
	check(!step(&f) && is_caller(&f, CALLER_RA, SP + FRAME + 16, CALLER_FP),
	      "words that an activation is about to pop are below its frame");

	lay_out();
	put(SP + FRAME - 8, CALLER_FP, 8);
	put(SP + FRAME, CALLER_RA, 8);
	f = frame_at(CALLEE + CODE + 0x45, false);
	f.fp = SP + FRAME - 8;
	check(!step(&f) && is_caller(&f, CALLER_RA, SP + FRAME + 8, CALLER_FP),
	      "a frame that was aligned for a call ends at rbp");

	lay_out();
	put_code(CALLER_RA - 5, "\x90\x90\x90\x90\x90", 5);
	f = frame_at(CALLEE + CODE + 0x40, true);
	check(step(&f) == BEEUNWIND_STOP_BAD_RA, "an activation returns behind a call only");

	f.fp = SP + FRAME - 16;
	check(!step(&f) && is_caller(&f, CALLER_RA, SP + FRAME, CALLER_FP),
	      "an activation with a frame pointer returns behind no call, too");

	f = frame_at(CALLEE + CODE + 0x40, true);
	put_code(CALLER_RA, "\xe8\0\0\0\0", 5);
	check(!step(&f), "an activation returns to code that has become invalid");

	lay_out();
	put(SP + FRAME - 8, OUTSIDE, 8);
	f = frame_at(CALLEE + CODE + 0x45, false);
	check(step(&f) == BEEUNWIND_STOP_BAD_RA, "compiled code does not return to code outside of heaps");
}

static void test_barrier(void)
{
	struct bee_frame f = frame_at(CALLEE + CODE + 0x45, false);

	lay_out();
	heaps.barrier = STUB + CODE;
	heaps.barrier_end = STUB + CODE_END;
	put(SP + FRAME - 8, STUB + CODE + 8, 8);
	check(step(&f) == BEEUNWIND_STOP_OUTERMOST, "a virtual thread ends at the barrier, if its entry is not known");
	heaps.entry = CALLER_RA;
	check(!step(&f) && is_caller(&f, CALLER_RA, SP + FRAME, CALLER_FP),
	      "behind the barrier is the frame that has entered the virtual thread");
}

static void test_interpreter(void)
{
	const u64 fp = SP + 0x80, sender = fp + 0x30, ip = INTERPRETER + 0x200;
	struct bee_frame f = frame_at(ip, false);

	lay_out();
	put(fp - 8, sender, 8);
	put(fp, CALLER_FP, 8);
	put(fp + 8, CALLER_RA, 8);
	f.fp = fp;
	check(!step(&f) && is_caller(&f, CALLER_RA, sender, CALLER_FP), "an interpreted frame has its caller's rsp");

	f = frame_at(ip, true);
	f.fp = fp;
	gpr[BEE_REG_R13] = 0x5000;
	check(!step(&f) && is_caller(&f, CALLER_RA, sender, CALLER_FP), "the interpreter at work has its frame at rbp");

	f = frame_at(ip, true);
	f.fp = fp;
	gpr[BEE_REG_R13] = SP + 0x18;
	put(SP, INTERPRETER + 0x300, 8);
	check(!step(&f) && is_caller(&f, INTERPRETER + 0x300, SP + 0x18, fp),
	      "at an interpreted method's beginning rbp is the caller's");

	put_code(ip, "\x48\x8b\x65\xf0", 4);
	f = frame_at(ip, true);
	f.fp = fp;
	check(!step(&f) && is_caller(&f, CALLER_RA, sender, CALLER_FP),
	      "behind a call, with r13 of the code that was called, the interpreter has its frame at rbp");

	f = frame_at(ip, true);
	put_code(ip, "\xc9\x41\x5d\x48\x8b\xe3\x41\xff\xe5", 9);
	put(SP, CALLER_RA, 8);
	gpr[BEE_REG_RBX] = SP + 0x28;
	f.ip = ip + 1;
	check(!step(&f) && is_caller(&f, CALLER_RA, SP + 0x28, 0x777000),
	      "behind leave the interpreter's caller is at rsp");

	f = frame_at(ip + 6, true);
	gpr[BEE_REG_R13] = CALLER_RA;
	check(!step(&f) && is_caller(&f, CALLER_RA, SP, 0x777000),
	      "at its last jump the interpreter's caller is in r13");

	f = frame_at(ip, false);
	f.fp = SP - 0x100;
	check(step(&f) == BEEUNWIND_STOP_GAP, "an interpreted frame below rsp is not believed");
}

static void test_stub(void)
{
	const u64 ip = STUB + CODE + 0x20, fp = SP + 0x50;
	struct bee_frame f = frame_at(ip, true);

	lay_out();
	put_call(CALLER_RA, STUB + CODE);
	put(SP, CALLER_RA, 8);
	check(!step(&f) && is_caller(&f, CALLER_RA, SP + 8, 0x777000),
	      "a stub that was called directly returns by rsp");

	lay_out();
	put_code(CALLER_RA - 2, "\xff\xd0", 2);
	put(SP, CALLER_RA, 8);
	f = frame_at(ip, true);
	check(step(&f) == BEEUNWIND_STOP_GAP, "a stub that anything may have called is not left by rsp anywhere");
	put_code(INTERPRETER + 0x1fe, "\xff\xd0", 2);
	put(SP, INTERPRETER + 0x200, 8);
	check(!step(&f) && is_caller(&f, INTERPRETER + 0x200, SP + 8, 0x777000),
	      "a stub that the interpreter has called is left by rsp");
	put(SP, CALLER_RA, 8);
	f = frame_at(ip, true);
	put_code(ip, "\x55\x48\x8b\xec", 4);
	check(!step(&f) && is_caller(&f, CALLER_RA, SP + 8, 0x777000),
	      "a stub that anything has called is left by rsp where it begins");
	put(SP, CALLER_FP, 8);
	put(SP + 8, CALLER_RA, 8);
	f = frame_at(ip + 1, true);
	check(!step(&f) && is_caller(&f, CALLER_RA, SP + 16, CALLER_FP),
	      "a stub that has pushed rbp is left by the word above it");

	lay_out();
	put_call(CALLER_RA, STUB + CODE);
	put(SP + 0x20, CALLER_RA, 8);
	f = frame_at(ip, true);
	check(!step(&f) && is_caller(&f, CALLER_RA, SP + 0x28, 0x777000),
	      "a stub that has pushed words, and was called directly, returns above them");
	put_call(CALLER_RA, CALLEE + CODE);
	put(fp, CALLER_FP, 8);
	put(fp + 8, CALLER_RA, 8);
	f = frame_at(ip, true);
	f.fp = fp;
	check(step(&f) == BEEUNWIND_STOP_BAD_RA, "a stub that was called elsewhere has no frame at rbp");
	f = frame_at(ip, false);
	f.fp = fp;
	check(step(&f) == BEEUNWIND_STOP_BAD_RA,
	      "a stub that has called, and was called elsewhere, has no frame at rbp");

	lay_out();
	put(SP, CALLER_RA, 8);
	gpr[BEE_REG_R13] = SP + 0x38;
	f = frame_at(ip, true);
	check(!step(&f) && is_caller(&f, CALLER_RA, SP + 8, 0x777000),
	      "an adapter that has not taken the return address has its caller's rsp above it");
	gpr[BEE_REG_RAX] = CALLER_RA;
	f = frame_at(ip, true);
	check(!step(&f) && is_caller(&f, CALLER_RA, SP + 0x38, 0x777000),
	      "an adapter that has taken the return address has its caller's rsp in r13");
	put_call(CALLER_RA, STUB + CODE);
	f = frame_at(ip, true);
	check(!step(&f) && is_caller(&f, CALLER_RA, SP + 0x38, 0x777000),
	      "an adapter that has taken the return address has its caller's rsp in r13 if it was called directly, too");
	put_call(CALLER_RA, CALLEE + CODE);
	gpr[BEE_REG_RAX] = 0;
	put(SP + 0x38 + 0x60 - 8, CALLER_RA, 8);
	f = frame_at(ip, true);
	check(!step(&f) && is_caller(&f, CALLER_RA, SP + 0x38, 0x777000),
	      "an adapter that has used rax has its caller's rsp in r13 if the caller's frame is sound with it");
	put(SP + 8 + 0x60 - 8, CALLER_RA, 8);
	f = frame_at(ip, true);
	check(!step(&f) && is_caller(&f, CALLER_RA, SP + 8, 0x777000),
	      "an adapter where r13 tells nothing has its caller's rsp above the return address");

	lay_out();
	put_code(OUTSIDE - 2, "\xff\xd0", 2);
	put(fp, CALLER_FP, 8);
	put(fp + 8, OUTSIDE, 8);
	f = frame_at(ip, false);
	f.fp = fp;
	check(!step(&f) && is_caller(&f, OUTSIDE, fp + 16, CALLER_FP), "a stub that has called returns by rbp");
	put(fp + 8, 0, 8);
	f = frame_at(ip, false);
	f.fp = fp;
	check(step(&f) == BEEUNWIND_STOP_GAP, "zeros where rbp leads are not the end of a stack");
}

#define STUB_FP	(SP + 0x18)

/* Whether the step out of the stub, with STUB_FP in rbp, leads to @ip, @sp and @fp. */
static bool stub_returns(u64 ip, u64 sp, u64 fp)
{
	struct bee_frame f = frame_at(STUB + CODE + 0x20, true);

	f.fp = STUB_FP;
	return !step(&f) && is_caller(&f, ip, sp, fp);
}

/* An earlier call has left its return address at rsp, or the stub has no frame and rbp is an older one's. */
static void test_stub_at_fp(void)
{
	const u64 fp = STUB_FP, left = CALLER_RA - 0x20;

	lay_out();
	put_call(CALLER_RA, STUB + CODE + 0x10);
	put(fp, CALLER_FP, 8);
	put(fp + 8, CALLER_RA, 8);
	put_call(left, STUB + CODE);
	put(SP, left, 8);
	check(stub_returns(CALLER_RA, fp + 16, CALLER_FP),
	      "of two calls of stubs the one that names the last stub before ip has called it: that at rbp");
	put_call(left, STUB + CODE + 0x18);
	check(stub_returns(left, SP + 8, fp),
	      "of two calls of stubs the one that names the last stub before ip has called it: that at rsp");
	put_call(left, STUB + CODE);
	put_call(CALLER_RA, STUB + CODE + 0x30);
	check(stub_returns(left, SP + 8, fp),
	      "of two calls of stubs one that names a stub behind ip has not called it");
	put_call(left, CALLEE + CODE);
	check(stub_returns(CALLER_RA, fp + 16, CALLER_FP),
	      "a stub that was called by the name of another one is left by rbp rather than behind a call of other code");
	put_code(CALLER_RA - 5, "\x90\x90\x90\xff\xd0", 5);
	check(stub_returns(CALLER_RA, fp + 16, CALLER_FP),
	      "a stub that anything may have called is left by rbp if that is near");
}

static void test_stub_left_by_c(void)
{
	const u64 fp = STUB_FP, ra = MAP + 0x800;
	struct bee_frame f = frame_at(STUB + CODE + 0x20, true);

	lay_out();
	put_code(ra - 2, "\xff\xd0", 2);
	put(SP, ra, 8);
	check(!step(&f) && is_caller(&f, ra, SP + 8, 0x777000), "a stub that C has called returns by rsp");
	put_code(CALLER_RA - 5, "\x90\x90\x90\xff\xd0", 5);
	put(fp, CALLER_FP, 8);
	put(fp + 8, CALLER_RA, 8);
	check(stub_returns(CALLER_RA, fp + 16, CALLER_FP),
	      "a stub that has its frame at rbp does not return to C by a word at rsp");
}

static void test_stub_saves_all(void)
{
	static const struct { const char *code; size_t size; } movs[] = {
		{ "\x48\x89\x44\x24\x78", 5 }, { "\x4c\x89\x74\x24\x08", 5 }, { "\x4c\x89\x3c\x24", 4 },
		{ "\x48\x8b\x6c\x24\x50", 5 }, { "\x4c\x8b\x3c\x24", 4 },
	};
	const u64 ip = STUB + CODE + 0x20;
	struct bee_frame f;
	bool good = true;
	size_t i;

	lay_out();
	put_call(CALLER_RA, STUB + CODE);
	put(SP + 0x80, CALLER_RA, 8);
	put_call(CALLER_RA - 0x20, STUB + CODE);
	put(SP + 0x18, CALLER_RA - 0x20, 8);
	for (i = 0; i < sizeof(movs) / sizeof(movs[0]); i++) {
		put_code(ip, movs[i].code, movs[i].size);
		f = frame_at(ip, true);
		good &= !step(&f) && is_caller(&f, CALLER_RA, SP + 0x88, 0x777000);
	}
	f = frame_at(ip, false);
	good &= !step(&f) && is_caller(&f, CALLER_RA, SP + 0x88, 0x777000);
	check(good, "a stub that saves all registers, or takes them back, returns above them");
	put_code(ip, "\x48\x89\x44\x24\x70", 5);
	f = frame_at(ip, true);
	check(!step(&f) && is_caller(&f, CALLER_RA - 0x20, SP + 0x20, 0x777000),
	      "a stub that saves one register in a place of its own has not saved them all");
	put(SP + 0x80, 0, 8);
	put_code(ip, "\x4c\x8b\x3c\x24", 4);
	f = frame_at(ip, false);
	check(step(&f) && f.sp == SP, "a stub that has saved all registers and has no caller stays as it is");
}

static enum beeunwind_stop stop_of_callee(void)
{
	struct bee_frame f = frame_at(CALLEE + CODE + 0x45, false);
	enum beeunwind_stop stop;

	memory.reads = 0;
	stop = step(&f);
	return memory.reads <= 64 ? stop : BEEUNWIND_STOP_NONE;
}

static void test_lies(void)
{
	const u64 segment = MAP + ((CALLEE + CODE + 0x44 - HEAP) >> SHIFT);
	struct bee_frame f;

	lay_out();
	put(segment, 0xff, 1);
	check(stop_of_callee() == BEEUNWIND_STOP_GAP, "a segment of no block has no frame");
	put(segment, 0xfe, 1);
	check(stop_of_callee() == BEEUNWIND_STOP_GAP, "a block does not begin before its heap");
	lay_out();
	memset(memory.bytes + (MAP + 1 - MEMORY), 1, 63);
	put(INTERPRETER + 16 + 28, FRAME / 8, 4);
	put(INTERPRETER + 16 + 40, HEAP + 0x1000, 8);
	check(stop_of_callee() == BEEUNWIND_STOP_GAP, "a block's beginning is looked for in few segments");
	lay_out();
	put(CALLEE + 8, 0, 1);
	f = frame_at(CALLEE + CODE + 0x45, true);
	check(step(&f) == BEEUNWIND_STOP_GAP, "a free block has no activation");
	lay_out();
	put(CALLEE + 16 + 40, CALLEE + CODE, 8);
	f = frame_at(CALLEE + CODE + 0x45, true);
	check(step(&f) == BEEUNWIND_STOP_GAP, "behind a block's code is no activation");
	lay_out();
	put(CALLEE + 16 + 28, 0x7fffffff, 4);
	check(stop_of_callee() == BEEUNWIND_STOP_READ_FAULT, "a frame of any size is looked for on the stack only");
	lay_out();
	heaps.heap[0].map = 0xffff888000000000ull;
	check(stop_of_callee() == BEEUNWIND_STOP_GAP, "a segment map in the kernel cannot be read");
	lay_out();
	f = frame_at(CALLEE + CODE + 0x45, false);
	f.sp = SP + 4;
	put(SP + 4 + FRAME - 8, CALLER_RA, 8);
	check(step(&f) == BEEUNWIND_STOP_MISALIGNED && f.sp == SP + 4,
	      "a stack pointer that is not aligned ends the walk");
}

/* A stub jumps to a handler of exceptions in its caller.  What is on the stack above it has other return addresses. */
static void test_left(void)
{
	static const char *const code[] = { "\x5a\x41\xff\xe2", "\x5a\xff\xe3" };
	static const u64 stub[] = { CALLEE, STUB };
	struct bee_frame f;
	bool good = true;
	int i;

	for (i = 0; i < 4; i++) {
		lay_out();
		put_code(stub[i & 1] + CODE + 0x40, code[i >> 1], 3 + !(i >> 1));
		put(SP + FRAME - 8, INTERPRETER + 0x200, 8);
		put_code(INTERPRETER + 0x1fe, "\xff\xd0", 2);
		put(SP, INTERPRETER + 0x200, 8);
		gpr[BEE_REG_RDX] = CALLER_RA;
		f = frame_at(stub[i & 1] + CODE + 0x41, true);
		good &= !step(&f) && is_caller(&f, CALLER_RA, SP, 0x777000);
	}
	check(good, "a stub that jumps to a handler of exceptions in its caller has its caller's rsp");

	lay_out();
	put_code(CALLEE + CODE + 0x40, "\xc9\x59\xff\xe1", 4);
	f = frame_at(CALLEE + CODE + 0x41, true);
	check(step(&f) == BEEUNWIND_STOP_BAD_RA, "a stub that has left its frame has no words pushed on it");

	gpr[BEE_REG_RDX] = CALLER_RA;
	put_code(CALLEE + CODE + 0x40, "\x52\x48\x83\xec\x08\x48\x89\x2c\x24", 9);
	f = frame_at(CALLEE + CODE + 0x40, true);
	good = !step(&f) && is_caller(&f, CALLER_RA, SP, 0x777000);
	put_code(CALLEE + CODE + 0x40, "\x5a\x4c\x8b\xc0\x49\x8b\x87\0\0\0\0\x49\x8b\x97\0\0\0\0\x49\xc7\x87", 21);
	put(SP, CALLER_RA, 8);
	f = frame_at(CALLEE + CODE + 0x40, true);
	good &= !step(&f) && is_caller(&f, CALLER_RA, SP + 8, 0x777000);
	put(SP, INTERPRETER + 0x200, 8);
	for (i = 0; i < 5; i++) {
		static const u8 at[] = { 0x41, 0x44, 0x4b, 0x52, 0x60 };

		put_code(CALLEE + CODE + 0x60, "\x41\xff\xe0", 3);
		f = frame_at(CALLEE + CODE + at[i], true);
		good &= !step(&f) && is_caller(&f, CALLER_RA, SP, 0x777000);
	}
	check(good, "C2's stub for exceptions has its caller's rsp, but for the word that it pushes");

	gpr[BEE_REG_RDX] = CALLER_RA + 1;
	f = frame_at(STUB + CODE + 0x41, true);
	check(step(&f) == BEEUNWIND_STOP_GAP, "a stub that jumps to such a handler has the return address in rdx");

	put_code(STUB + CODE + 0x40, "\x48\x83\xe4\xf0\x50", 5);
	gpr[BEE_REG_RAX] = CALLER_RA;
	gpr[BEE_REG_R13] = SP + 0x18;
	f = frame_at(STUB + CODE + 0x44, true);
	check(!step(&f) && is_caller(&f, CALLER_RA, SP + 0x18, 0x777000),
	      "an adapter that has aligned rsp has the return address in rax");
	put_code(STUB + CODE + 0x40, "\x58\x4c\x8b\xec", 4);
	f = frame_at(STUB + CODE + 0x41, true);
	check(!step(&f) && is_caller(&f, CALLER_RA, SP, 0x777000),
	      "an adapter that has just popped the return address has its caller's rsp");
}

int main(void)
{
	const size_t nplaces = sizeof(places) / sizeof(places[0]);
	size_t i;

	ksft_print_header();
	ksft_set_plan(nplaces + 12 + 2 + 7 + 15 + 5 + 2 + 3 + 8 + 6);
	for (i = 0; i < nplaces; i++)
		test_place(&places[i]);
	test_compiled();
	test_barrier();
	test_interpreter();
	test_stub();
	test_stub_at_fp();
	test_stub_left_by_c();
	test_stub_saves_all();
	test_left();
	test_lies();
	ksft_finished();
}
