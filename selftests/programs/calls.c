// SPDX-License-Identifier: GPL-2.0
/* All kinds of calls and frames that compilers make of plain C. */
#include <alloca.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

static volatile int zero;
static volatile long sink;

NOINLINE static void use(const void *p)
{
	__asm__ volatile("" : : "r"(p) : "memory");
}

NOINLINE static long leaf(long a)
{
	volatile long red_zone[8] = { a };

	return red_zone[zero] + 1;
}

NOINLINE static long recurse(int n)
{
	long r;

	if (!n)
		return leaf(n);
	r = recurse(n - 1);
	sink += r;
	return r + n;
}

/* Six callee-saved registers, and arguments on the stack. */
NOINLINE static long many(long a, long b, long c, long d, long e, long f, long g, long h, long i)
{
	long v = leaf(a) + leaf(b) + leaf(c) + leaf(d), w = leaf(e) * a + leaf(f) * b + leaf(g) * c;

	return v + w + leaf(h) + leaf(i) + a * b + c * d + e * f + g * h + i;
}

NOINLINE static long sum(int n, ...)
{
	va_list args;
	long r = 0;

	va_start(args, n);
	while (n--)
		r += leaf(va_arg(args, long));
	va_end(args);
	return r;
}

NOINLINE static double real(int n, ...)
{
	va_list args;
	double r;

	va_start(args, n);
	r = va_arg(args, double);
	va_end(args);
	return r + leaf(n);
}

NOINLINE static long with_alloca(size_t n)
{
	char *p = alloca(n);

	memset(p, 1, n);
	use(p);
	return leaf(p[n / 2]);
}

NOINLINE static long with_array(size_t n)
{
	int a[n], b[2 * n];
	size_t i;

	for (i = 0; i < n; i++)
		a[i] = b[i] = leaf(i);
	use(a);
	use(b);
	return a[n - 1];
}

/* Stack realigned through another register (DRAP), beside a stack that moves. */
NOINLINE static long aligned(size_t n)
{
	_Alignas(64) char buffer[64];
	char *p = alloca(n);

	memset(buffer, 2, sizeof(buffer));
	use(buffer);
	use(p);
	return leaf(buffer[zero]) + with_alloca(n);
}

NOINLINE static long aligned_only(long a, long b, long c, long d, long e, long f, long g)
{
	_Alignas(32) long v[4] = { a, b, c, d };

	use(v);
	return leaf(v[zero]) + e + f + g;
}

/* More than a page, and more than 32 KiB. */
NOINLINE static long large(int n)
{
	char buffer[70000];

	buffer[0] = buffer[sizeof(buffer) - 1] = n;
	use(buffer);
	return leaf(buffer[zero]);
}

struct big {
	long v[12];
};

NOINLINE static struct big by_value(struct big in)
{
	in.v[1] += leaf(in.v[0]);
	return in;
}

NOINLINE static long tail(long a)
{
	return leaf(a + 1);
}

NOINLINE static long tail_pointer(long (*f)(long), long a)
{
	return f(a);
}

/* Calls only in a cold part: frames made late. */
NOINLINE static long late(long a)
{
	if (__builtin_expect(a > 3, 0)) {
		char *p = alloca(32 + a);

		use(p);
		return many(a, 1, 2, 3, 4, 5, 6, 7, 8) + *p * zero;
	}
	return a + 1;
}

NOINLINE static long branches(int n)
{
	switch (n) {
	case 0: return leaf(5);
	case 1: return tail(7) + 1;
	case 2: return sum(3, 1l, 2l, 3l);
	case 3: return large(n);
	case 4: return with_array(n);
	case 5: return recurse(n);
	case 6: return tail_pointer(tail, n);
	default: return n;
	}
}

static jmp_buf out;

/* Ends with a call that does not return. */
__attribute__((noreturn, noinline)) static void leave(int n)
{
	char buffer[100];

	use(buffer);
	longjmp(out, n + 1);
}

NOINLINE static long no_return(int n)
{
	leaf(n);
	leave(n);
}

static int compare(const void *a, const void *b)
{
	return leaf(*(const int *)a) - leaf(*(const int *)b);
}

static void once(void)
{
	int numbers[12] = { 5, 2, 9, 1, 12, 8, 7, 3, 6, 11, 4, 10 }, i;
	struct big big = { { 1, 2, 3 } };
	char text[64];
	long r = 0;

	r += recurse(12) + many(1, 2, 3, 4, 5, 6, 7, 8, 9) + sum(4, 1l, 2l, 3l, 4l) + real(1, 2.5);
	r += with_alloca(100) + with_alloca(5000) + with_array(20) + aligned(77) + large(3);
	r += aligned_only(1, 2, 3, 4, 5, 6, 7) + late(1) + late(9);
	for (i = 0; i < 8; i++)
		r += branches(i);
	big = by_value(by_value(big));
	if (!setjmp(out))
		no_return(2);
	qsort(numbers, 12, sizeof(numbers[0]), compare);
	snprintf(text, sizeof(text), "%ld %s %.3f", r + big.v[1], "text", strtod("1.25", NULL));
	free(malloc(strlen(text) + numbers[0]));
	sink = atoi(text);
}

/* Once, or as often as the argument says. */
int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;

	while (n--)
		once();
	return !sink;
}
