/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One step of the walk out of a code heap of a Java virtual machine (linux/beeunwind_heaps.h).  Tests include
 * this file, too: it takes no lock and allocates nothing.  Before including it they, and walk.c, include
 * frame.h.
 *
 * Compiled code has no CFI and no frame pointer: rbp is a register like others, which each frame saves
 * below its return address.  But the header of each piece of code tells how large its frames are.  A frame of
 * the interpreter begins at rbp, where it has the rbp and the return address of its caller, and below
 * them the rsp that its caller has behind the call, as callers from compiled code have moved their arguments.
 * Other stubs that call have their frames at rbp as well.
 *
 * What is read belongs to the process, which may have made it up.  As the code of frames on a stack is not
 * freed, nothing changes while the walk of its own thread reads it.
 */
#ifndef BEE_HEAP_H
#define BEE_HEAP_H

#include <linux/beeunwind_heaps.h>

#include "frame.h"

#define HEAP_BACK	16		/* segments that are read to find a block */
#define HEAP_FRAME_MAX	(1u << 20)	/* bytes of a frame */
#define HEAP_NEAR	(64u << 10)	/* bytes between a frame's rsp and its rbp, and to a caller's rsp */
#define HEAP_PUSHED	7		/* words that compiled code may have pushed on its frame */
#define HEAP_BUILT	80		/* bytes of an interpreter's frame below rbp, at least */
#define HEAP_PROLOGUE	64		/* bytes of code that are searched for the end of a prologue */
#define HEAP_SAVED_ALL	128		/* bytes in which stubs save the 16 GPRs */

/**
 * struct bee_heap_step - a step at work; in the walk, as the kernel's stack has no room for it
 * @mem: memory of the process
 * @heaps: its code heaps
 * @f: the frame
 * @block: the block of segments that the piece of code is in
 * @frame: bytes of the frames of that piece of code, with the return address, or 0
 * @start: of an activation: first address of that piece
 * @end: address after the last
 * @complete: address from which on its frames are complete
 * @ra: return address
 * @fp: the caller's rbp
 * @sp: the caller's rsp
 * @word: what was read last
 * @words: number of words of headers, segment maps and the stack, and of bytes of code, to be paid for
 */
struct bee_heap_step {
	struct bee_uread		*mem;
	const struct bee_code_heaps	*heaps;
	struct bee_frame		*f;
	u64				 block;
	u32				 frame;
	u64				 start;
	u64				 end;
	u64				 complete;
	u64				 ra;
	u64				 fp;
	u64				 sp;
	u64				 word;
	u32				 words;
};

static inline const struct bee_code_heap *heap_find(const struct bee_code_heaps *heaps, u64 ip)
{
	u32 i;

	for (i = 0; i < heaps->nr; i++)
		if (ip - heaps->heap[i].start < heaps->heap[i].end - heaps->heap[i].start)
			return &heaps->heap[i];
	return NULL;
}

/**
 * bee_heaps_have() - whether an address is in a code heap
 * @heaps: the process's
 * @ip: the address
 *
 * Context: Any, NMI-safe.
 */
static inline bool bee_heaps_have(const struct bee_code_heaps *heaps, u64 ip)
{
	return heap_find(heaps, ip);
}

static inline bool heap_is_interpreter(const struct bee_code_heaps *heaps, u64 ip)
{
	return ip - heaps->interpreter < heaps->interpreter_end - heaps->interpreter;
}

static inline bool heap_is_barrier(const struct bee_code_heaps *heaps, u64 ip)
{
	return ip - heaps->barrier < heaps->barrier_end - heaps->barrier;
}

/* A field of @size bytes at a multiple of that: it is in one word, which is in one page.  It comes to @word. */
static noinline bool heap_field(struct bee_heap_step *s, u64 at, u32 size)
{
	s->words++;
	if (!bee_uread_u64(s->mem, at & ~7ull, &s->word))
		return false;
	s->word >>= 8 * (at & 7);
	if (size < 8)
		s->word &= (1ull << 8 * size) - 1;
	return true;
}

/*
 * Read the bounds of the code that heap_read_code() has found.
 * Return: whether an activation can be in it.
 */
static noinline bool heap_read_bounds(struct bee_heap_step *s)
{
	const struct bee_code_heaps *heaps = s->heaps;
	u64 at = s->block + heaps->blob;

	/* Code that has frames is not freed. */
	if (!heap_field(s, s->block + heaps->used, 1) || !s->word || !heap_field(s, at + heaps->code, heaps->code_size))
		return false;
	s->start = s->word + (heaps->code_size < 8 ? at : 0);
	if (!heap_field(s, at + heaps->code_end, heaps->code_end_size))
		return false;
	s->end = s->word + (heaps->code_end_size < 8 ? at : 0);
	if (!heap_field(s, at + heaps->complete, heaps->complete_size))
		return false;
	s->complete = s->start + (heaps->complete_size == 2 ? (s16)s->word : (s32)s->word);
	return s->f->ip - s->start < s->end - s->start;
}

/* Find the piece of code that @ip is in.  Return: false if there is none, or it cannot be read. */
static noinline bool heap_read_code(struct bee_heap_step *s, u64 ip)
{
	const struct bee_code_heaps *heaps = s->heaps;
	const struct bee_code_heap *heap = heap_find(heaps, ip);
	u64 segment;
	u32 n;

	if (!heap)
		return false;
	segment = (ip - heap->start) >> heaps->shift;
	for (n = 0, s->word = 1; s->word; n++, segment -= s->word)
		if (n == HEAP_BACK || !heap_field(s, heap->map + segment, 1) || s->word == 0xff || s->word > segment)
			return false;
	s->block = heap->start + (segment << heaps->shift);
	if (!heap_field(s, s->block + heaps->blob + heaps->frame_size, 4))
		return false;
	s->frame = (s32)s->word > 0 ? min_t(u64, 8 * s->word, HEAP_FRAME_MAX) : 0;
	return true;
}

/*
 * enum heap_place - where an activation in compiled code has its return address
 * @HEAP_BODY: at the end of its frame, with the caller's rbp below
 * @HEAP_UNSAVED: at the end of its frame; rbp is the caller's
 * @HEAP_TOP: at rsp; rbp is the caller's
 * @HEAP_SECOND: in the word above rsp; the caller's rbp is at rsp
 * @HEAP_RDX: in rdx, for a handler of exceptions in the caller; rsp and rbp are the caller's
 * @HEAP_RAX: in rax, in an adapter; rsp and rbp are the caller's
 * @HEAP_RAX_R13: in rax, in an adapter; r13 is the caller's rsp, and rbp is the caller's
 */
enum heap_place {
	HEAP_BODY,
	HEAP_UNSAVED,
	HEAP_TOP,
	HEAP_SECOND,
	HEAP_RDX,
	HEAP_RAX,
	HEAP_RAX_R13,
};

/* In the code of struct heap_form: any byte; a number of one byte or four that makes the frame's size */
#define ANY	0x100
#define S8	0x101
#define S32_BYTE 0x102
#define S32	S32_BYTE, ANY, ANY, ANY
#define FORM_END 0x103

/*
 * struct heap_form - code that tells where the return address is
 * @code: the code, up to FORM_END
 * @before: bytes of @code before ip
 * @more: what the frame has beside the number in @code; or, if that has none, the frame's size if it must have one
 * @place: what it tells
 */
struct heap_form {
	u16		code[12];
	u8		before;
	u8		more;
	enum heap_place	place;
};

#define FORM(place, before, more, ...)	{ { __VA_ARGS__, FORM_END }, before, more, place }

static const struct heap_form heap_forms[] = {
	/* mov %eax, -n(%rsp), which touches the stack's end; push %rbp */
	FORM(HEAP_TOP, 0, 0, 0x89, 0x84, 0x24, ANY, ANY, ANY, 0xff),
	FORM(HEAP_TOP, 0, 0, 0x55, 0x48, 0x8b, 0xec),
	FORM(HEAP_TOP, 0, 0, 0x55, 0x48, 0x83, 0xec),
	FORM(HEAP_TOP, 0, 0, 0x55, 0x48, 0x81, 0xec),
	/* push %rbp; -> mov %rsp, %rbp; -> sub $n, %rsp */
	FORM(HEAP_SECOND, 1, 0, 0x55, 0x48, 0x8b, 0xec),
	FORM(HEAP_SECOND, 1, 16, 0x55, 0x48, 0x83, 0xec, S8),
	FORM(HEAP_SECOND, 1, 16, 0x55, 0x48, 0x81, 0xec, S32),
	FORM(HEAP_SECOND, 4, 16, 0x55, 0x48, 0x8b, 0xec, 0x48, 0x83, 0xec, S8),
	FORM(HEAP_SECOND, 4, 16, 0x55, 0x48, 0x8b, 0xec, 0x48, 0x81, 0xec, S32),
	/* -> sub $n, %rsp; -> mov %rbp, n(%rsp) */
	FORM(HEAP_TOP, 0, 8, 0x48, 0x83, 0xec, S8),
	FORM(HEAP_TOP, 0, 8, 0x48, 0x81, 0xec, S32),
	FORM(HEAP_UNSAVED, 4, 8, 0x48, 0x83, 0xec, S8, 0x48, 0x89, 0x6c, 0x24),
	FORM(HEAP_UNSAVED, 7, 8, 0x48, 0x81, 0xec, S32, 0x48, 0x89, 0x6c, 0x24),
	FORM(HEAP_UNSAVED, 7, 8, 0x48, 0x81, 0xec, S32, 0x48, 0x89, 0xac, 0x24),
	/* add $n, %rsp; -> pop %rbp; -> */
	FORM(HEAP_SECOND, 4, 16, 0x48, 0x83, 0xc4, S8, 0x5d),
	FORM(HEAP_SECOND, 7, 16, 0x48, 0x81, 0xc4, S32, 0x5d),
	FORM(HEAP_SECOND, 0, 16, 0x5d),
	FORM(HEAP_TOP, 5, 16, 0x48, 0x83, 0xc4, S8, 0x5d),
	FORM(HEAP_TOP, 8, 16, 0x48, 0x81, 0xc4, S32, 0x5d),
	/* pop %rbp; -> and a poll: cmp n(%r15), %rsp, or mov n(%r15), %r10 */
	FORM(HEAP_TOP, 1, 16, 0x5d, 0x49, 0x3b, 0xa7),
	FORM(HEAP_TOP, 1, 16, 0x5d, 0x49, 0x3b, 0x67),
	FORM(HEAP_TOP, 1, 16, 0x5d, 0x4d, 0x8b, 0x97),
	/* the rest of polls: ja; ret, test %eax, (%r10); ret, test %eax, n(%rip); ret */
	FORM(HEAP_TOP, 0, 0, 0x0f, 0x87, ANY, ANY, ANY, ANY, 0xc3),
	FORM(HEAP_TOP, 0, 0, 0x41, 0x85, 0x02, 0xc3),
	FORM(HEAP_TOP, 0, 0, 0x85, 0x05, ANY, ANY, ANY, ANY, 0xc3),
	/* the end of stubs that have looked for the code to go to: pop %rbp; -> jmp *%rax, or jmp *%r10 */
	FORM(HEAP_SECOND, 0, 0, 0x5d, 0x41, 0xff, 0xe2),
	FORM(HEAP_TOP, 1, 0, 0x5d, 0x41, 0xff, 0xe2),
	FORM(HEAP_SECOND, 0, 0, 0x5d, 0xff, 0xe0),
	FORM(HEAP_TOP, 1, 0, 0x5d, 0xff, 0xe0),
	/* the end of stubs that have looked for a handler of exceptions: pop %rdx; -> jmp *%r10, or jmp *%rbx */
	FORM(HEAP_RDX, 1, 0, 0x5a, 0x41, 0xff, 0xe2),
	FORM(HEAP_RDX, 1, 0, 0x5a, 0xff, 0xe3),
	/* the end of C1's stub for exceptions: leave; -> pop %rcx; -> jmp *%rcx */
	FORM(HEAP_TOP, 1, 0, 0xc9, 0x59, 0xff, 0xe1),
	FORM(HEAP_RDX, 2, 0, 0xc9, 0x59, 0xff, 0xe1),
	/* the beginning of C2's stub for exceptions: push %rdx; sub $8, %rsp; mov %rbp, (%rsp) */
	FORM(HEAP_RDX, 0, 0, 0x52, 0x48, 0x83, 0xec, 0x08, 0x48, 0x89, 0x2c, 0x24),
	/*
	 * and its end: pop %rdx; -> mov %rax, %r8; -> mov n(%r15), %rax; -> mov n(%r15), %rdx; -> movq $0, n(%r15);
	 * -> jmp *%r8
	 */
	FORM(HEAP_TOP, 0, 0, 0x5a, 0x4c, 0x8b, 0xc0),
	FORM(HEAP_RDX, 1, 0, 0x5a, 0x4c, 0x8b, 0xc0),
	FORM(HEAP_RDX, 4, 0, 0x5a, 0x4c, 0x8b, 0xc0, 0x49, 0x8b, 0x87),
	FORM(HEAP_RDX, 0, 0, 0x49, 0x8b, 0x97, ANY, ANY, ANY, ANY, 0x49, 0xc7, 0x87),
	FORM(HEAP_RDX, 7, 0, 0x49, 0x8b, 0x97, ANY, ANY, ANY, ANY, 0x49, 0xc7, 0x87),
	FORM(HEAP_RDX, 0, 0, 0x41, 0xff, 0xe0),
	/* from compiled code to the interpreter: pop %rax; -> mov %rsp, %r13; and back: and $-16, %rsp; -> push %rax */
	FORM(HEAP_RAX, 1, 0, 0x58, 0x4c, 0x8b, 0xec),
	FORM(HEAP_RAX_R13, 4, 0, 0x48, 0x83, 0xe4, 0xf0, 0x50),
	/* the end of calls of native methods: leave; -> cmpq $0, 8(%r15); -> jne behind ret; ret */
	FORM(HEAP_TOP, 1, 0, 0xc9, 0x49, 0x81, 0x7f, 0x08),
	FORM(HEAP_TOP, 0, 0, 0x0f, 0x85, 0x01, 0, 0, 0, 0xc3),
	FORM(HEAP_TOP, 0, 0, 0xc3),
	FORM(HEAP_TOP, 0, 0, 0xc2),
	/* where compiled code calls interpreted methods: mov $method, %rbx; -> jmp */
	FORM(HEAP_TOP, 0, 0, 0x48, 0xbb, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, 0xe9),
	FORM(HEAP_TOP, 10, 0, 0x48, 0xbb, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, 0xe9),
	/* where a poll has jumped to: lea n(%rip), %r10; -> mov %r10, n(%r15); -> jmp */
	FORM(HEAP_TOP, 0, 0, 0x4c, 0x8d, 0x15, ANY, ANY, ANY, ANY, 0x4d, 0x89, 0x97),
	FORM(HEAP_TOP, 7, 0, 0x4c, 0x8d, 0x15, ANY, ANY, ANY, ANY, 0x4d, 0x89, 0x97),
	FORM(HEAP_TOP, 7, 0, 0x4d, 0x89, 0x97, ANY, ANY, ANY, ANY, 0xe9),
};

static noinline bool heap_form_is(struct bee_heap_step *s, const struct heap_form *form)
{
	u64 at = s->f->ip - form->before;
	const u16 *code;
	s64 number = 0;
	u8 byte;

	for (code = form->code; *code != FORM_END; code++, at++) {
		if (!bee_uread_u8(s->mem, at, &byte) || (*code < ANY && *code != byte))
			return false;
		if (*code == S8)
			number = (s8)byte;
		else if (*code == S32_BYTE && !frame_read_s32(s->mem, at, &number))
			return false;
	}
	return !form->more || number + form->more == s->frame;
}

/* Whether "sub $n, %rsp" that makes the frame comes between ip and the place where the frame is complete. */
static noinline bool heap_sub_comes(struct bee_heap_step *s)
{
	static const u8 sub8[] = { 0x48, 0x83, 0xec }, sub32[] = { 0x48, 0x81, 0xec };
	u64 ip = s->f->ip, end = min(s->complete, ip + HEAP_PROLOGUE);
	s64 number;
	u8 byte;

	for (; ip < end; ip++) {
		number = 0;
		if (bee_frame_code_is(s->mem, ip, sub8, sizeof(sub8)) && bee_uread_u8(s->mem, ip + 3, &byte))
			number = (s8)byte;
		else if (bee_frame_code_is(s->mem, ip, sub32, sizeof(sub32)))
			frame_read_s32(s->mem, ip + 3, &number);
		if (number && (s->frame - number == 8 || s->frame - number == 16))
			return true;
	}
	return false;
}

static noinline enum heap_place heap_peek(struct bee_heap_step *s)
{
	const struct heap_form *form;

	for (form = heap_forms; form < heap_forms + ARRAY_SIZE(heap_forms); form++)
		if (heap_form_is(s, form))
			return form->place;
	return s->f->ip < s->complete && heap_sub_comes(s) ? HEAP_TOP : HEAP_BODY;
}

/*
 * Whether an activation can return to @ra.  Calls of code in the heaps are before return addresses, but the
 * interpreter's, which it pushes, and those of frames whose code has become invalid: these return to "call the next
 * instruction".
 */
static noinline bool heap_returns(struct bee_heap_step *s)
{
	static const u8 call_next[] = { 0xe8, 0, 0, 0, 0 };

	if (!bee_heaps_have(s->heaps, s->ra - 1))
		return false;
	if (heap_is_interpreter(s->heaps, s->ra) || heap_is_barrier(s->heaps, s->ra))
		return true;
	if (bee_frame_find_call(s->mem, s->ra, &s->word) == BEE_CALL_FOUND)
		return !s->word || bee_heaps_have(s->heaps, s->word);
	return bee_frame_code_is(s->mem, s->ra, call_next, sizeof(call_next));
}

/* heap_returns() with the return address at @slot. */
static bool heap_returns_at(struct bee_heap_step *s, u64 slot)
{
	return bee_uread_u64(s->mem, slot, &s->ra) && heap_returns(s);
}

/* Whether the call before @ra names code in the frame's piece; what it names comes to @word. */
static bool heap_calls(struct bee_heap_step *s)
{
	return bee_frame_find_call(s->mem, s->ra, &s->word) == BEE_CALL_FOUND && s->word - s->start < s->end - s->start;
}

/* Whether the call before @ra names code elsewhere: then rbp is that of an older frame. */
static noinline bool heap_calls_other(struct bee_heap_step *s)
{
	return bee_frame_find_call(s->mem, s->ra, &s->word) == BEE_CALL_FOUND && s->word &&
	       s->word - s->start >= s->end - s->start;
}

/* Whether @ra is behind a call of the interpreter, which is not where methods return to. */
static bool heap_interpreter_calls(struct bee_heap_step *s)
{
	return heap_is_interpreter(s->heaps, s->ra) && bee_frame_find_call(s->mem, s->ra, &s->word) == BEE_CALL_FOUND;
}

/*
 * The frame becomes its caller, whose ip, rsp and rbp are @ra, @sp and @fp, if rsp rises.  @slot: where @ra was read,
 * or 0.
 */
static noinline enum beeunwind_stop heap_arrive(struct bee_heap_step *s, u64 slot, bool fp_known)
{
	struct bee_frame *f = s->f;

	if (s->sp & 7)
		return BEEUNWIND_STOP_MISALIGNED;
	if (s->sp <= f->sp && !(f->activation && s->sp == f->sp))
		return BEEUNWIND_STOP_NO_PROGRESS;
	if (heap_is_barrier(s->heaps, s->ra)) {
		if (!s->heaps->entry)
			return BEEUNWIND_STOP_OUTERMOST;
		s->ra = s->heaps->entry;
	}
	*f = (struct bee_frame) {
		.ip = s->ra, .sp = s->sp, .fp = s->fp, .slot = slot, .callee_sp = f->sp, .fp_known = fp_known,
	};
	return BEEUNWIND_STOP_NONE;
}

/* heap_arrive() out of a frame that has not changed rbp. */
static enum beeunwind_stop heap_arrive_same_fp(struct bee_heap_step *s, u64 slot, u64 sp)
{
	s->sp = sp;
	s->fp = s->f->fp;
	return heap_arrive(s, slot, s->f->fp_known);
}

/* From a place of those where a register has the return address. */
static noinline enum beeunwind_stop heap_step_registers(struct bee_heap_step *s, enum heap_place place)
{
	if (frame_reg(s->mem, s->f, place == HEAP_RDX ? BEE_REG_RDX : BEE_REG_RAX, &s->ra) ||
	    frame_reg(s->mem, s->f, place == HEAP_RAX_R13 ? BEE_REG_R13 : BEE_REG_RSP, &s->sp) ||
	    s->sp - s->f->sp >= HEAP_NEAR || !heap_returns(s))
		return BEEUNWIND_STOP_GAP;
	return heap_arrive_same_fp(s, 0, s->sp);
}

/* The return address is in @slot, and the caller's rbp in the word below it if @saved. */
static noinline enum beeunwind_stop heap_return(struct bee_heap_step *s, u64 slot, bool saved)
{
	if (!bee_uread_u64(s->mem, slot, &s->ra))
		return BEEUNWIND_STOP_READ_FAULT;
	/* A stub that a poll or an exception has led to returns behind no call, but has a frame pointer. */
	if (!bee_heaps_have(s->heaps, s->ra - 1) ||
	    (s->f->activation && !(saved && s->f->fp_known && s->f->fp == slot - 8) && !heap_returns(s)))
		return BEEUNWIND_STOP_BAD_RA;
	if (!saved)
		return heap_arrive_same_fp(s, slot, slot + 8);
	s->sp = slot + 8;
	saved = bee_uread_u64(s->mem, slot - 8, &s->fp);
	return heap_arrive(s, slot, saved);
}

/*
 * Something may have been pushed on a complete frame for a call, or to free a register.
 * Return: where above @slot the return address is, or 0.
 */
static noinline u64 heap_find_pushed(struct bee_heap_step *s, u64 slot)
{
	u32 i;

	for (i = 1; i <= HEAP_PUSHED; i++)
		if (bee_uread_u64(s->mem, slot + 8 * i, &s->ra) && heap_calls(s))
			return slot + 8 * i;
	return 0;
}

/*
 * The return address is not at @slot, the end of the frame.  A stub that has aligned rsp for a call has
 * its frame pointer in rbp.  Compiled code pops behind a call the words that it has pushed before.
 * Return: where the return address is, or 0.
 */
static noinline u64 heap_find_above(struct bee_heap_step *s, u64 slot)
{
	u32 n = 0;
	u8 byte;

	if (s->f->fp_known && s->f->fp == slot)
		return slot + 8;
	while (n < HEAP_PUSHED && bee_uread_u8(s->mem, s->f->ip + n, &byte) && (byte & 0xf8) == 0x58)
		n++;
	s->words += n;
	return n ? slot + 8 * n : 0;
}

/* Step out of compiled code, or of a stub with a frame of known size. */
static noinline enum beeunwind_stop heap_step_compiled(struct bee_heap_step *s)
{
	enum heap_place place = s->f->activation ? heap_peek(s) : HEAP_BODY;
	u64 slot = s->f->sp + s->frame - 8;
	enum beeunwind_stop stop;

	if (place >= HEAP_RDX)
		return heap_step_registers(s, place);
	if (place == HEAP_TOP)
		return heap_return(s, s->f->sp, false);
	if (place == HEAP_SECOND)
		return heap_return(s, s->f->sp + 8, true);
	stop = heap_return(s, slot, place == HEAP_BODY);
	if (stop != BEEUNWIND_STOP_BAD_RA)
		return stop;
	slot = (s->f->activation ? heap_find_pushed(s, slot) : 0) ?: heap_find_above(s, slot);
	return slot ? heap_return(s, slot, true) : stop;
}

/* Whether rax has the return address, as in an adapter that makes room for the interpreter's arguments. */
static bool heap_is_in_rax(struct bee_heap_step *s)
{
	return !frame_reg(s->mem, s->f, BEE_REG_RAX, &s->word) && s->word == s->ra;
}

/*
 * Whether r13 has the rsp behind the call.  The interpreter sets it when it calls, and so does the stub through which C
 * calls.  Compiled code uses r13 for other things, until an adapter, which has the return address in rax then, sets it.
 */
static noinline bool heap_r13_is_sp(struct bee_heap_step *s)
{
	return heap_is_interpreter(s->heaps, s->f->ip) || heap_is_interpreter(s->heaps, s->ra) ||
	       s->sp - s->f->sp <= 24 || heap_is_in_rax(s);
}

/*
 * The rsp behind the call, if nothing tells whether r13 has it: the one of two with which the caller, compiled code, has
 * a return address at the end of its frame.
 * Return: 0 if that does not tell either.
 */
static noinline u64 heap_fitting_sp(struct bee_heap_step *s)
{
	u64 ra = s->ra, sp = s->f->sp + 8;
	bool told, above;

	if (!heap_read_code(s, ra - 1) || !s->frame)
		return 0;
	told = heap_returns_at(s, s->sp + s->frame - 8);
	above = heap_returns_at(s, sp + s->frame - 8);
	s->ra = ra;
	return told == above ? 0 : told ? s->sp : sp;
}

/*
 * From code that its caller has told the rsp behind the call, in r13: the beginning of the interpreter's methods,
 * and adapters between them and compiled code.  The return address is at rsp, or under a frame that is being built,
 * or has been popped.  @near: bytes that r13 is above rsp at most.
 */
static noinline enum beeunwind_stop heap_step_entry(struct bee_heap_step *s, u32 near)
{
	struct bee_frame *f = s->f;
	u64 slot;

	if (frame_reg(s->mem, f, BEE_REG_R13, &s->sp) || s->sp & 7 || s->sp - f->sp - 1 >= near)
		return BEEUNWIND_STOP_GAP;
	if (heap_returns_at(s, f->sp)) {
		slot = heap_r13_is_sp(s) ? s->sp : heap_fitting_sp(s);
		return slot ? heap_arrive_same_fp(s, f->sp, slot) : BEEUNWIND_STOP_GAP;
	}
	slot = f->fp + 8;
	if (!f->fp_known || f->fp - f->sp >= HEAP_BUILT || !heap_returns_at(s, slot)) {
		slot = f->sp + 8;
		if (!heap_returns_at(s, slot))
			slot = 0;
	}
	if (slot && bee_uread_u64(s->mem, slot - 8, &s->fp)) {
		s->sp = max(s->sp, slot + 8);
		return heap_arrive(s, slot, true);
	}
	if (!frame_reg(s->mem, f, BEE_REG_RAX, &s->ra) && heap_returns(s))
		return heap_arrive_same_fp(s, 0, s->sp);
	return BEEUNWIND_STOP_GAP;
}

/*
 * From the end of an interpreted method: "leave; -> pop %r13; -> mov %rbx, %rsp; -> jmp *%r13", where rbx is the
 * caller's rsp behind the call.  Return: BEEUNWIND_STOP_GAP if it is another place.
 */
static noinline enum beeunwind_stop heap_step_leave(struct bee_heap_step *s)
{
	static const u8 end[] = { 0xc9, 0x41, 0x5d, 0x48, 0x8b, 0xe3 }, jmp[] = { 0x41, 0xff, 0xe5 };
	struct bee_frame *f = s->f;
	bool jumps = bee_frame_code_is(s->mem, f->ip, jmp, sizeof(jmp));
	bool left = bee_frame_code_is(s->mem, f->ip - 1, end, sizeof(end));

	if (!jumps && !left && !bee_frame_code_is(s->mem, f->ip - 3, end, sizeof(end)))
		return BEEUNWIND_STOP_GAP;
	if (frame_reg(s->mem, f, jumps ? BEE_REG_RSP : BEE_REG_RBX, &s->sp) || s->sp - f->sp >= HEAP_NEAR)
		return BEEUNWIND_STOP_GAP;
	if (left ? !bee_uread_u64(s->mem, f->sp, &s->ra) : !!frame_reg(s->mem, f, BEE_REG_R13, &s->ra))
		return BEEUNWIND_STOP_GAP;
	return heap_returns(s) ? heap_arrive_same_fp(s, left ? f->sp : 0, s->sp) : BEEUNWIND_STOP_GAP;
}

/*
 * Whether the interpreter goes on behind a call, and has not made r13 the address of bytecode again.  It takes rsp
 * and r13 from its frame: mov -16(%rbp), %rsp, or mov -16(%rbp), %rcx and lea (%rbp, %rcx, 8), %rsp;
 * movq $0, -16(%rbp); mov n(%rbp), %r13.
 */
static noinline bool heap_goes_on(struct bee_heap_step *s)
{
	static const u8 code[][4] = {
		{ 0x48, 0x8b, 0x65, 0xf0 }, { 0x48, 0x8b, 0x4d, 0xf0 }, { 0x48, 0x8d, 0x64, 0xcd }, { 0x48, 0xc7, 0x45, 0xf0 },
		{ 0x4c, 0x8b, 0x6d, 0xc0 }, { 0x4c, 0x8b, 0x6d, 0xc8 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(code); i++)
		if (bee_frame_code_is(s->mem, s->f->ip, code[i], sizeof(code[i])))
			return true;
	return false;
}

/* Whether rbp is that of the interpreter's frame; then what its caller needs is read. */
static noinline bool heap_has_built(struct bee_heap_step *s)
{
	struct bee_frame *f = s->f;

	if (!f->fp_known || f->fp & 7 || f->fp + 8 - f->sp > HEAP_NEAR || !bee_uread_u64(s->mem, f->fp, &s->fp) ||
	    !bee_uread_u64(s->mem, f->fp - 8, &s->sp) || s->sp - f->fp - 8 >= 8 * HEAP_NEAR)
		return false;
	/* At a method's beginning rbp is the caller's, and r13 no address of bytecode yet. */
	if (f->activation && (f->sp > f->fp - 8 ||
			      (f->sp + HEAP_BUILT < f->fp && !frame_reg(s->mem, f, BEE_REG_R13, &s->word) &&
			       s->word - f->sp - 1 < HEAP_NEAR && !heap_goes_on(s))))
		return false;
	return heap_returns_at(s, f->fp + 8);
}

static noinline enum beeunwind_stop heap_step_interpreted(struct bee_heap_step *s)
{
	if (s->f->activation && !heap_step_leave(s))
		return BEEUNWIND_STOP_NONE;
	if (heap_has_built(s))
		return heap_arrive(s, s->f->fp + 8, true);
	return s->f->activation ? heap_step_entry(s, HEAP_NEAR) : BEEUNWIND_STOP_GAP;
}

/* From a stub that keeps a frame pointer, as that through which C calls Java. */
static noinline enum beeunwind_stop heap_step_fp(struct bee_heap_step *s)
{
	struct bee_frame *f = s->f;

	if (!f->fp_known || f->fp & 7 || f->fp - f->sp > BEE_FP_MAX_DISTANCE ||
	    !bee_uread_u64(s->mem, f->fp + 8, &s->ra) || !s->ra || !bee_uread_u64(s->mem, f->fp, &s->fp))
		return BEEUNWIND_STOP_GAP;
	/* Walks look at callers in files. */
	if (bee_heaps_have(s->heaps, s->ra - 1) && (!heap_returns(s) || heap_calls_other(s)))
		return BEEUNWIND_STOP_BAD_RA;
	s->sp = f->fp + 16;
	return heap_arrive(s, f->fp + 8, true);
}

/*
 * Whether the stub's frame is at rbp.  All stubs are in one piece of code, so the word at rsp may be the return address
 * of an earlier call of another stub.  Of two calls of stubs the one has called this stub that names the last address
 * before ip.  Where neither call names a stub, rbp is this stub's if it is nearer than an interpreter's frame can be.
 * @sp_target: the address in the piece that the call before the word at rsp names, or 0
 */
static bool heap_is_at_fp(struct bee_heap_step *s, u64 sp_target)
{
	const struct bee_frame *f = s->f;

	if (!f->fp_known || !bee_uread_u64(s->mem, f->fp + 8, &s->ra))
		return false;
	if (heap_calls(s))
		return !sp_target || (s->word <= f->ip && (sp_target <= s->word || sp_target > f->ip));
	return !sp_target && f->fp - f->sp < HEAP_BUILT && heap_returns(s) && !s->word;
}

/* Step by the word at rsp, which leads to a heap, if that is surely the return address, or by rbp if the frame is there. */
static noinline enum beeunwind_stop heap_step_called(struct bee_heap_step *s, enum heap_place place)
{
	bool in_rax = heap_is_in_rax(s);
	u64 sp = s->f->sp, target = heap_calls(s) ? s->word : 0;

	if (!in_rax && (heap_interpreter_calls(s) || (place == HEAP_TOP && heap_returns(s))))
		return heap_arrive_same_fp(s, sp, sp + 8);
	if (heap_is_at_fp(s, target))
		return heap_step_fp(s);
	if (in_rax || !target || !bee_uread_u64(s->mem, sp, &s->ra))
		return BEEUNWIND_STOP_GAP;
	return heap_arrive_same_fp(s, sp, sp + 8);
}

/*
 * From a stub that has not changed rsp, or keeps a frame pointer and has not made its frame yet.  C calls JNI's
 * accessors of fields.
 */
static noinline enum beeunwind_stop heap_step_leaf(struct bee_heap_step *s)
{
	enum heap_place place = s->f->activation ? heap_peek(s) : HEAP_BODY;
	u64 sp = s->f->sp;

	if (place >= HEAP_RDX)
		return heap_step_registers(s, place);
	if (place == HEAP_SECOND)
		return heap_return(s, sp + 8, true);
	if (!bee_uread_u64(s->mem, sp, &s->ra))
		return BEEUNWIND_STOP_READ_FAULT;
	if (bee_heaps_have(s->heaps, s->ra - 1))
		return heap_step_called(s, place);
	if (heap_is_at_fp(s, 0))
		return heap_step_fp(s);
	if (!bee_uread_u64(s->mem, sp, &s->ra) || s->ra - sp <= BEE_FP_MAX_DISTANCE ||
	    bee_frame_find_call(s->mem, s->ra, &s->word) != BEE_CALL_FOUND)
		return BEEUNWIND_STOP_GAP;
	return heap_arrive_same_fp(s, sp, sp + 8);
}

/* Whether the word at rsp leads to a heap.  Compiled code and the interpreter call stubs with r13 as for a method. */
static noinline bool heap_is_called(struct bee_heap_step *s)
{
	return bee_uread_u64(s->mem, s->f->sp, &s->ra) && bee_heaps_have(s->heaps, s->ra - 1);
}

/* The word at rsp leads to a heap: it is the return address if it is behind a call that names anything. */
static noinline enum beeunwind_stop heap_step_named(struct bee_heap_step *s)
{
	u64 sp = s->f->sp;

	if (!bee_uread_u64(s->mem, sp, &s->ra) ||
	    bee_frame_find_call(s->mem, s->ra, &s->word) != BEE_CALL_FOUND || !s->word)
		return BEEUNWIND_STOP_GAP;
	return heap_arrive_same_fp(s, sp, sp + 8);
}

/*
 * Whether a stub is saving the 16 GPRs on the stack, or loading them again.  Each GPR has its word, rax the topmost and
 * r15 the one at rsp; a mov between a GPR and its word is at ip then.
 */
static noinline bool heap_saves_all(struct bee_heap_step *s)
{
	u8 rex, mov, modrm, sib, at = 0;
	u64 ip = s->f->ip;

	if (!bee_uread_u8(s->mem, ip, &rex) || (rex & 0xfb) != 0x48 ||
	    !bee_uread_u8(s->mem, ip + 1, &mov) || (mov & 0xfd) != 0x89 ||
	    !bee_uread_u8(s->mem, ip + 2, &modrm) || (modrm & 0x87) != 0x04 ||
	    !bee_uread_u8(s->mem, ip + 3, &sib) || sib != 0x24 ||
	    (modrm & 0x40 && !bee_uread_u8(s->mem, ip + 4, &at)))
		return false;
	return at == 8 * (15 - (modrm >> 3 & 7) - 2 * (rex & 4));
}

/* From a stub that has pushed registers, and has no frame pointer. */
static noinline enum beeunwind_stop heap_step_pushed(struct bee_heap_step *s)
{
	u64 slot = heap_find_pushed(s, s->f->sp - 8);

	if (!slot || (s->f->fp_known && s->f->fp == slot - 8))
		return BEEUNWIND_STOP_GAP;
	return heap_arrive_same_fp(s, slot, slot + 8);
}

/**
 * bee_heap_step() - step from a frame in a code heap to its caller
 * @s: @mem, @heaps and @f are filled, @words is 0; the lookup ip of the frame is in one of the heaps.  The frame is
 *	set to its caller if that is found, otherwise left as it is.
 *
 * If the caller is not in a code heap either, its ip is not checked.
 *
 * Context: Any, NMI-safe.
 * Return: BEEUNWIND_STOP_NONE, or why there is no caller.
 */
static inline enum beeunwind_stop bee_heap_step(struct bee_heap_step *s)
{
	u64 ip = bee_frame_lookup_ip(s->f);
	enum beeunwind_stop stop;
	u32 saved;

	if (heap_is_interpreter(s->heaps, ip))
		return heap_step_interpreted(s);
	if (!heap_read_code(s, ip))
		return BEEUNWIND_STOP_GAP;
	if (s->frame)
		return s->f->activation && !heap_read_bounds(s) ? BEEUNWIND_STOP_GAP : heap_step_compiled(s);
	if (!heap_read_bounds(s))
		return BEEUNWIND_STOP_GAP;
	saved = heap_saves_all(s) ? HEAP_SAVED_ALL : 0;
	s->words += saved / 4;
	s->f->sp += saved;
	if ((s->f->activation || saved) &&
	    (!heap_step_leaf(s) ||
	     (heap_is_called(s) && (!heap_step_entry(s, HEAP_NEAR / 16) || !heap_step_named(s))) ||
	     !heap_step_pushed(s)))
		return BEEUNWIND_STOP_NONE;
	stop = heap_step_fp(s);
	if (stop)
		s->f->sp -= saved;
	return stop;
}

#endif /* BEE_HEAP_H */
