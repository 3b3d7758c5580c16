// SPDX-License-Identifier: GPL-2.0
/*
 * From Go's function table to rows.  Go's .debug_frame is made from the same table, but describes
 * all functions alike: also the signal trampoline, those that switch stacks, and those that have no
 * caller.  It says nothing about rbp, though Go's functions save it, and stripped files have none.
 */
#include <limits.h>
#include <string.h>

#include "from_go.h"
#include "sigreturn.h"

/*
 * struct go_rows - the rows of one function under way
 * @elf: the file
 * @rows: gets them
 * @func: the function
 * @start: first pc that is wanted
 * @end: pc after the last
 * @saved: pc from which rbp is saved at CFA-16, unless the depth is 0; ~0 until that is known
 * @framed: the function has moved its stack pointer
 * @injected: the runtime has put the address of an interrupted instruction below its frame
 */
struct go_rows {
	const struct elf_file		*elf;
	struct row_set			*rows;
	const struct gopclntab_func	*func;
	u64				 start;
	u64				 end;
	u64				 saved;
	bool				 framed;
	bool				 injected;
};

static const struct bee_rule go_gap = { .kind = BEE_RULE_GAP };

/* A little-endian number of @size bytes, 1 or 4, at @pc; 0 if there is none. */
static s32 go_code_number(const struct elf_file *elf, u64 pc, u64 size)
{
	u64 got = size;
	const u8 *text = elf_text(elf, pc, &got);

	if (!text || got != size)
		return 0;
	return size == 1 ? (s8)text[0] : text[0] | text[1] << 8 | text[2] << 16 | (u32)text[3] << 24;
}

/*
 * Has the function no caller?  Go also says so of the functions that the kernel calls for a signal,
 * as its own tracebacks begin anew with what the signal has interrupted.
 */
static bool go_is_outermost(const struct elf_file *elf, const struct gopclntab_func *func)
{
	if (elf->entry >= func->begin && elf->entry < func->end)
		return true;
	if (!strcmp(func->name, "_rt0_amd64"))
		return true;
	return func->top_frame && strcmp(func->name, "runtime.sigtramp") &&
	       strcmp(func->name, "runtime.cgoSigtramp") &&
	       strcmp(func->name, "runtime.sigprofNonGoWrapper");
}

/*
 * Where has the function saved rbp?  At @pc its stack pointer has moved for the first time, to
 * @depth bytes below the return address.  src/cmd/internal/obj/x86/obj6.go, preprocess(), writes
 * since Go 1.21 "push %rbp; mov %rsp,%rbp", and before that "sub $depth,%rsp;
 * mov %rbp,depth-8(%rsp)".  Assembly may do something else and leave rbp alone.
 */
static u64 go_find_saved(const struct elf_file *elf, u64 pc, s32 depth)
{
	static const u8 push_mov[] = { 0x55, 0x48, 0x89, 0xe5 };
	static const u8 rex = 0x41, jbe[] = { 0x76, 0x41 };
	static const u8 mov[] = { 0x48, 0x89, 0x2c, 0x24 };
	static const u8 mov_disp8[] = { 0x48, 0x89, 0x6c, 0x24 };
	static const u8 mov_disp32[] = { 0x48, 0x89, 0xac, 0x24 };

	/* Behind the byte 41 it is "push %r13", unless that byte is the distance of a jbe. */
	if (depth == 8 && elf_text_is(elf, pc - 1, push_mov, sizeof(push_mov)) &&
	    (!elf_text_is(elf, pc - 2, &rex, 1) || elf_text_is(elf, pc - 3, jbe, sizeof(jbe))))
		return pc;
	if (depth == 8 && elf_text_is(elf, pc, mov, sizeof(mov)))
		return pc + sizeof(mov);
	if (elf_text_is(elf, pc, mov_disp8, sizeof(mov_disp8)) &&
	    go_code_number(elf, pc + sizeof(mov_disp8), 1) == depth - 8)
		return pc + sizeof(mov_disp8) + 1;
	if (elf_text_is(elf, pc, mov_disp32, sizeof(mov_disp32)) &&
	    go_code_number(elf, pc + sizeof(mov_disp32), 4) == depth - 8)
		return pc + sizeof(mov_disp32) + 4;
	return ~0ull;
}

static void go_add(struct go_rows *go, u64 start, u64 end, const struct bee_rule *rule)
{
	if (start < go->start)
		start = go->start;
	if (end > go->end)
		end = go->end;
	if (start < end)
		row_set_add(go->rows, start, rule);
}

static void go_add_depth(struct go_rows *go, u64 start, u64 end, s32 depth, bool saved)
{
	struct bee_rule rule = {
		.kind = BEE_RULE_KNOWN, .cfa_reg = BEE_REG_RSP, .cfa_off = depth + 8, .ra_off = -8,
		.arg = go->injected ? BEE_RULE_SIGNAL : 0,
	};

	if (saved) {
		rule.fp = BEE_FP_CFA;
		rule.fp_off = -16;
	}
	go_add(go, start, end, &rule);
}

static void go_emit(void *arg, u64 start, u64 end, s32 depth)
{
	struct go_rows *go = arg;
	u64 split;

	if (depth < 0 || depth & 7 || depth > INT_MAX - 8) {
		go_add(go, start, end, &go_gap);
		return;
	}
	if (depth && !go->framed) {
		go->framed = true;
		go->saved = go_find_saved(go->elf, start, depth);
	}
	split = !depth || go->saved > end ? end : go->saved < start ? start : go->saved;
	go_add_depth(go, start, split, depth, false);
	go_add_depth(go, split, end, depth, true);
}

/*
 * Do these bytes write to rsp in a way that the function table cannot say?  REX.W and mov, lea, add,
 * sub, and, or xchg with rsp as the destination (Intel SDM 2A, 2.1.5).  push, pop, and add and sub
 * of constants are in the table.
 */
static bool go_writes_sp(const u8 *code)
{
	bool to_rm = code[2] >> 6 == 3 && (code[2] & 7) == 4 && !(code[0] & 1);
	bool to_reg = (code[2] >> 3 & 7) == 4 && !(code[0] & 4);

	if ((code[0] & 0xf8) != 0x48)
		return false;
	switch (code[1]) {
	case 0x01: case 0x21: case 0x29: case 0x89: case 0xc7:
		return to_rm;
	case 0x81: case 0x83:
		return to_rm && to_reg;	/* and: /4 */
	case 0x87:
		return to_rm || to_reg;
	case 0x03: case 0x23: case 0x2b: case 0x8b: case 0x8d:
		return to_reg;
	}
	return false;
}

/*
 * The first pc behind which the stack pointer may be on another stack; the start of the function,
 * if no such instruction is found.  It looks for bytes without decoding instructions, so the result
 * may be too early, but not too late.
 */
static u64 go_find_switch(const struct elf_file *elf, const struct gopclntab_func *func)
{
	const u8 *code;
	u64 pc, size;

	for (pc = func->begin; func->end - pc >= 3; pc++) {
		size = 3;
		code = elf_text(elf, pc, &size);
		if (!code || size < 3)
			break;
		if (go_writes_sp(code))
			return pc;
	}
	return func->begin;
}

/*
 * A function that changes to another stack.  Behind that place the walk follows rbp, which such
 * functions leave as it is, or restore from the stack that they change to.  In those that do not
 * return, a new stack begins instead: the goroutine may go on in another thread meanwhile.  In
 * clone() only the new thread changes to another stack.
 */
static void go_switching_rows(struct go_rows *go, const struct gopclntab *table)
{
	bool returns = strcmp(go->func->name, "runtime.mcall") &&
		       strcmp(go->func->name, "runtime.morestack") &&
		       strcmp(go->func->name, "runtime.clone");
	u64 end = go->end, change = go_find_switch(go->elf, go->func) + 1;

	if (go->end > change)
		go->end = change;
	gopclntab_run(table, go->func, go_emit, go);
	go->end = end;
	go_add(go, change, end, returns ? &go_gap : &rule_outermost);
}

/**
 * go_func_start() - where the rows of a function start
 * @elf: the file
 * @func: the function
 *
 * Return: its first pc, but one less for the signal trampolines runtime.sigreturn() and
 * runtime.sigreturn__sigaction() (src/runtime/sys_linux_amd64.s): see sigreturn_is_at().
 */
u64 go_func_start(const struct elf_file *elf, const struct gopclntab_func *func)
{
	return func->begin - sigreturn_is_at(elf, func->begin);
}

/**
 * go_func_rows() - add the rows of a function
 * @elf: the file
 * @table: its function table
 * @func: the function
 * @start: first pc that is wanted, not below go_func_start()
 * @end: pc after the last, not beyond the function's
 * @rows: ends at or before @start
 */
void go_func_rows(const struct elf_file *elf, const struct gopclntab *table,
		  const struct gopclntab_func *func, u64 start, u64 end, struct row_set *rows)
{
	/* rsp, rbp and rip in the context that the kernel has saved: BEE_SIGNAL_* in kmod/frame.h */
	static const struct bee_rule sigreturn = {
		.kind = BEE_RULE_KNOWN, .arg = BEE_RULE_SIGNAL,
		.cfa = BEE_CFA_DEREF, .cfa_reg = BEE_REG_RSP, .cfa_off = 160,
		.fp = BEE_FP_DEREF, .fp_reg = BEE_REG_RSP, .fp_off = 120,
		.ra = BEE_RA_DEREF, .ra_reg = BEE_REG_RSP, .ra_off = 168,
	};
	struct go_rows go = {
		.elf = elf, .rows = rows, .func = func, .start = start, .end = end, .saved = ~0ull,
		/* The caller's ip is exact then (src/runtime/traceback.go, "injectedCall"). */
		.injected = !strcmp(func->name, "runtime.asyncPreempt") ||
			    !strcmp(func->name, "runtime.sigpanic"),
	};

	if (sigreturn_is_at(elf, func->begin))
		go_add(&go, start, end, &sigreturn);
	else if (go_is_outermost(elf, func))
		go_add(&go, start, end, &rule_outermost);
	else if (func->writes_sp)
		go_switching_rows(&go, table);
	else
		gopclntab_run(table, func, go_emit, &go);
}
