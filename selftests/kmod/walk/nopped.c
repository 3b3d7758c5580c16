// SPDX-License-Identifier: GPL-2.0
/*
 * A function with a nop of ten bytes behind its first ten bytes.  A uprobe of the nop is a breakpoint until it
 * is hit for the first time; then the kernel puts a call in its place.
 */
#include <stdio.h>

#define HITS	10

void nopped(void);
asm(".text\n"
	".balign 64\n"
	".globl nopped\n"
	".type nopped, @function\n"
	"nopped:\n"
	"	.cfi_startproc\n"
	"	push %rbp\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset %rbp, -16\n"
	"	mov $12345, %ebp\n"
	"	sub $40, %rsp\n"
	"	.cfi_def_cfa_offset 56\n"
	"	.byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n"
	"	add $40, %rsp\n"
	"	.cfi_def_cfa_offset 16\n"
	"	pop %rbp\n"
	"	.cfi_def_cfa_offset 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size nopped, . - nopped\n");

static void __attribute__((noinline, noclone)) calls(void)
{
	int i;

	for (i = 0; i < HITS; i++)
		nopped();
}

int main(void)
{
	int i;

	/* The kernel tells perf 15 bytes of the name "[uprobes-trampoline]". */
	for (i = 1; i < HITS; i++)
		printf("stack: [uprobes-trampo] nopped calls main\n");
	fflush(stdout);
	calls();
	return 0;
}
