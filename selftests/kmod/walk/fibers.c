// SPDX-License-Identifier: GPL-2.0
/*
 * Fibers: functions that run on stacks of their own, above and below that of their caller, and find
 * the way back by two words in memory, as OCaml 5's caml_runstack() does; and a fiber that calls a
 * function on another stack, and keeps its own rsp in rbx, as OCaml 5 does for C functions that do
 * not allocate.
 */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "mark.h"

/* The stack to which a fiber returns; the second word is its rsp. */
struct fiber_parent {
	void	*unused;
	void	*sp;
};

void fiber_run(void (*function)(void), void *top, struct fiber_parent *parent);
void fiber_lend(void *top);
void lent(void);

/*
 * Behind the switch the word above rsp leads to the parent, CFA = *(*(rsp+8)+8)+16: breg7 8; deref;
 * plus_uconst 8; deref; plus_uconst 16.
 */
asm(".text\n"
	".globl fiber_run\n"
	".type fiber_run, @function\n"
	"fiber_run:\n"
	"	.cfi_startproc\n"
	"	push %rbp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset %rbp, 0\n"
	"	mov %rsp, 8(%rdx)\n"
	"	mov %rdx, -8(%rsi)\n"
	"	lea -16(%rsi), %rsp\n"
	"	.cfi_escape 0x0f, 8, 0x77, 8, 0x06, 0x23, 8, 0x06, 0x23, 16\n"
	"	call *%rdi\n"
	"	mov 8(%rsp), %rdx\n"
	"	mov 8(%rdx), %rsp\n"
	"	.cfi_def_cfa %rsp, 16\n"
	"	pop %rbp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_restore %rbp\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size fiber_run, . - fiber_run\n");

/* The callee of fiber_lend() saves rbx, which is where its caller's CFA is then found. */
asm(".globl fiber_lend\n"
	".type fiber_lend, @function\n"
	"fiber_lend:\n"
	"	.cfi_startproc\n"
	"	push %rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset %rbx, 0\n"
	"	mov %rsp, %rbx\n"
	"	.cfi_def_cfa_register %rbx\n"
	"	mov %rdi, %rsp\n"
	"	call fiber_borrow\n"
	"	mov %rbx, %rsp\n"
	"	.cfi_def_cfa_register %rsp\n"
	"	pop %rbx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_restore %rbx\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size fiber_lend, . - fiber_lend\n"
	".type fiber_borrow, @function\n"
	"fiber_borrow:\n"
	"	.cfi_startproc\n"
	"	push %rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset %rbx, 0\n"
	"	xor %ebx, %ebx\n"
	"	call lent\n"
	"	pop %rbx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_restore %rbx\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size fiber_borrow, . - fiber_borrow\n");

#define STACK	65536

static char low_stack[STACK] __attribute__((aligned(16)));
static char *high_stack;
static struct fiber_parent low_parent, high_parent;
static int says;
static volatile uint64_t work;

static void do_work(void)
{
	int i;

	for (i = 0; i < 100; i++)
		work = work * 5 + 1;
}

/* Called on the upper stack by a function on the lower one. */
noinline void lent(void)
{
	do_work();
	if (!says)
		return;
	known("lent fiber_borrow fiber_lend on_low fiber_run main");
	mark();
	not_tail();
}

static noinline void leaf(void)
{
	do_work();
	if (!says)
		return;
	known("leaf on_high fiber_run on_low fiber_run main");
	mark();
	not_tail();
}

static noinline void on_high(void)
{
	if (says) {
		known("on_high fiber_run on_low fiber_run main");
		mark();
	}
	leaf();
	not_tail();
}

/* The stack of main() is above that of this function, and the next one is in it. */
static noinline void on_low(void)
{
	if (says) {
		known("on_low fiber_run main");
		mark();
	}
	fiber_lend(high_stack + STACK);
	fiber_run(on_high, high_stack + STACK, &high_parent);
	not_tail();
}

/* With an argument: for so many seconds, without a word. */
int main(int argc, char **argv)
{
	char stack[STACK] __attribute__((aligned(16)));
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 0);

	high_stack = stack;
	says = argc == 1;
	do
		fiber_run(on_low, low_stack + STACK, &low_parent);
	while (time(NULL) < end);
	if (says) {
		known("main");
		mark();
	}
	return 0;
}
