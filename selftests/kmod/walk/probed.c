// SPDX-License-Identifier: GPL-2.0
/*
 * Functions for uretprobes: a chain, a recursion, one entered by a jump from another,
 * and one that is left by longjmp().  The stacks must be the same with probes and without.
 *
 *	probed		marks with known stacks
 *	probed SECONDS	calls in a loop, for samples at any instruction
 */
#include <setjmp.h>
#include <stdlib.h>
#include <time.h>

#include "mark.h"

#define DEPTH	20

static jmp_buf back;

noinline void probed_inner(void)
{
	mark();
	not_tail();
}

noinline void probed_middle(void)
{
	char buffer[200];

	asm volatile("" :: "r"(buffer) : "memory");
	probed_inner();
	not_tail();
}

noinline void probed_outer(void)
{
	probed_middle();
	not_tail();
}

noinline void probed_recursion(int n)
{
	if (n > 1)
		probed_recursion(n - 1);
	else
		mark();
	not_tail();
}

/* In assembly, so that it is a jump at every level of optimization. */
void probed_jumps(void);
asm(".text\n"
	".globl probed_jumps\n"
	".type probed_jumps, @function\n"
	"probed_jumps:\n"
	"	.cfi_startproc\n"
	"	nop\n"
	"	jmp probed_inner\n"
	"	.cfi_endproc\n"
	".size probed_jumps, . - probed_jumps\n");

noinline void probed_leaves(void)
{
	longjmp(back, 1);
}

/* Called where probed_leaves() was: its return address is in the same place on the stack. */
noinline void stays(void)
{
	mark();
	not_tail();
}

static noinline void leave_and_stay(void)
{
	if (!setjmp(back))
		probed_leaves();
	stays();
	not_tail();
}

int main(int argc, char **argv)
{
	time_t end = argc > 1 ? time(NULL) + atoi(argv[1]) : 0;
	int i;

	while (time(NULL) < end) {
		probed_outer();
		probed_recursion(DEPTH);
		probed_jumps();
	}
	if (end)
		return 0;
	known("probed_inner probed_middle probed_outer main");
	probed_outer();
	printf("stack: mark");
	for (i = 0; i < DEPTH; i++)
		printf(" probed_recursion");
	printf(" main\n");
	probed_recursion(DEPTH);
	known("probed_inner main");
	probed_jumps();
	known("stays leave_and_stay main");
	leave_and_stay();
	return 0;
}
