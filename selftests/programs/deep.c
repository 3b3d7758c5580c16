// SPDX-License-Identifier: GPL-2.0
/* Works at the bottom of 1,000 frames. */
#include <stdlib.h>

static volatile long sink;

__attribute__((noinline)) static long work(long n)
{
	while (n--)
		sink = sink * 3 + n;
	return sink;
}

__attribute__((noinline)) static long descend(int depth, long n)
{
	long below = depth ? descend(depth - 1, n) : work(n);

	sink += below;
	return below + depth;
}

int main(int argc, char **argv)
{
	return !descend(1000, 20000l * (argc > 1 ? atoi(argv[1]) : 1));
}
