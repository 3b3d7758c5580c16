// SPDX-License-Identifier: GPL-2.0
/* Functions that keep a frame pointer, for beectl compile --fp-bypass (test_lossy.sh). */
#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile int sink;

/* A thread's first function: it has a frame pointer, and its CFI says in part: no caller. */
__asm__(".text\n"
	".type outermost, @function\n"
	"outermost:\n"
	".cfi_startproc\n"
	"push %rbp\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset 6, -16\n"
	"mov %rsp, %rbp\n"
	".cfi_def_cfa_register 6\n"
	"nop\n"
	".cfi_undefined 16\n"
	"nop\n"
	".cfi_restore 16\n"
	"leave\n"
	".cfi_def_cfa 7, 8\n"
	"ret\n"
	".cfi_endproc\n"
	".size outermost, . - outermost\n");

__attribute__((noinline)) int leaf(int x)
{
	return x * 3;
}

__attribute__((noinline)) int buffered(int x)
{
	char bytes[64];

	memset(bytes, x, sizeof(bytes));
	return bytes[x & 63];
}

__attribute__((noinline)) int recursive(int x)
{
	return x ? buffered(x) + recursive(x - 1) : leaf(1);
}

/* GCC makes the frame only for the path that needs one (shrink-wrapping). */
__attribute__((noinline)) int shrink_wrapped(int x, int *to)
{
	if (!to)
		return -1;
	*to = recursive(x) + buffered(x);
	return printf("%d\n", *to);
}

__attribute__((noinline)) int tail_call(int x)
{
	sink = x;
	return recursive(x + 1);
}

__attribute__((noinline)) int dynamic(int n)
{
	int *p = alloca(n * sizeof(*p)), i;

	for (i = 0; i < n; i++)
		p[i] = rand() ^ sink;
	return p[n / 2];
}

__attribute__((noinline)) int many(int a, int b, int c, int d, int e, int f, int g, int h)
{
	int i, sum = 0;

	for (i = 0; i < a; i++)
		sum += leaf(b) + dynamic(c) * d + leaf(e ^ f) + leaf(g + h);
	return sum;
}

int main(int argc, char **argv)
{
	(void)argv;
	return shrink_wrapped(argc, &(int){ 0 }) + tail_call(argc) +
	       many(argc, 2, 3, 4, 5, 6, 7, 8);
}
