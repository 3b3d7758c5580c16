// SPDX-License-Identifier: GPL-2.0
/* Functions with frames of all sizes: test_formats.sh assembles them with --gsframe. */
#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* rbp is in another register.  SFrame cannot say that, so gas leaves this function out. */
__asm__(".text\n"
	".type fp_in_rbx, @function\n"
	"fp_in_rbx:\n"
	".cfi_startproc\n"
	"nop\n"
	".cfi_register 6, 3\n"
	"ret\n"
	".cfi_endproc\n"
	".size fp_in_rbx, . - fp_in_rbx\n");

/* The size of a function decides whether a start address has 1, 2 or 4 bytes. */
#define PADDED(name, size)			\
	__asm__(".text\n"			\
		".type " name ", @function\n"	\
		name ":\n"			\
		".cfi_startproc\n"		\
		"push %rbp\n"			\
		".cfi_def_cfa_offset 16\n"	\
		".cfi_offset 6, -16\n"		\
		".fill " #size " - 3, 1, 0x90\n"	\
		"pop %rbp\n"			\
		".cfi_def_cfa_offset 8\n"	\
		".cfi_restore 6\n"		\
		"ret\n"				\
		".cfi_endproc\n"		\
		".size " name ", . - " name "\n")

PADDED("padded_255", 255);
PADDED("padded_256", 256);
PADDED("padded_65535", 65535);
PADDED("padded_65536", 65536);

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) int deep(int n, int a, int b, int c, int d, int e, int f, int g, int h)
{
	char buffer[300];

	memset(buffer, n, sizeof(buffer));
	printf("%d %d%.3s\n", n, a + b + c + d + e + f + g + h, buffer);
	return n > 0 ? deep(n - 1, b, c, d, e, f, g, h, a) + 1 : 0;
}

__attribute__((noinline)) int dynamic(int n)
{
	int *p = alloca(n * sizeof(*p)), i;

	for (i = 0; i < n; i++)
		p[i] = rand();
	qsort(p, n, sizeof(*p), compare);
	return p[0];
}

__attribute__((noinline)) int huge(void)
{
	char buffer[70000];

	memset(buffer, 1, sizeof(buffer) - 1);
	buffer[sizeof(buffer) - 1] = '\0';
	return printf("%s", buffer);
}

__attribute__((noinline)) int aligned(double x)
{
	double v[8] __attribute__((aligned(64)));
	int i;

	for (i = 0; i < 8; i++)
		v[i] = x * i;
	return printf("%p", (void *)v);
}

int all(int n)
{
	if (n > 5)
		exit(1);
	return deep(n, 1, 2, 3, 4, 5, 6, 7, 8) + dynamic(n) + huge() + aligned(n);
}
