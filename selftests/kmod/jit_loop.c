// SPDX-License-Identifier: GPL-2.0
/*
 * Work for a JIT compiler: functions that keep rbp busy with other values, until so many seconds
 * have passed.  Built as bitcode of LLVM.
 */
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sink;

static __attribute__((noinline)) unsigned long leaf(unsigned long n)
{
	unsigned long a = n, b = n + 1, c = n + 2, d = n + 3, e = n + 4, f = n + 5, g = n + 6;
	int i;

	for (i = 0; i < 2000; i++) {
		a ^= b << 1; b ^= c >> 3; c += d * 3; d ^= e << 5; e += f; f ^= g >> 7; g += a;
		sink = a;
	}
	return a ^ b ^ c ^ d ^ e ^ f ^ g;
}

static __attribute__((noinline)) unsigned long middle(unsigned long n)
{
	volatile unsigned long pad[9];
	unsigned long a = n * 3, b = n * 5, c = n * 7, d = n * 11, e = n * 13;

	pad[0] = leaf(n);
	a += leaf(b); b += leaf(c); c += leaf(d); d += leaf(e); e += leaf(a);
	return pad[0] + a + b + c + d + e;
}

static __attribute__((noinline)) unsigned long deep(unsigned long n, int depth)
{
	unsigned long a = n * 17, b = n * 19, c = n * 23, d = n * 29, e = n * 31;

	if (!depth)
		return middle(n);
	a += deep(n + 1, depth - 1);
	return a ^ b ^ c ^ d ^ e;
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 1);

	while (time(NULL) < end)
		sink += deep(sink, 10);
	return 0;
}
