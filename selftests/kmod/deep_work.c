// SPDX-License-Identifier: GPL-2.0
/*
 * A program whose whole stack is known at every instruction: main calls level1, each level calls
 * the next up to level8, and the levels call small functions.  It runs until it is killed.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone, optimize("no-optimize-sibling-calls")))

static volatile uint64_t sink;

/* The frames differ in size and in what they save, and none has a frame pointer. */
KEEP static uint64_t leaf(uint64_t a, uint64_t b)
{
	return (a ^ b) * 0x9e3779b97f4a7c15ull;
}

KEEP static uint64_t array(uint64_t a)
{
	uint64_t words[64];
	size_t i;

	for (i = 0; i < 64; i++)
		words[i] = leaf(a, i);
	sink = words[a % 64];
	return words[sink % 64];
}

/* System calls, so that samples are taken in the kernel too, with a user stack. */
KEEP static uint64_t syscalls(uint64_t a)
{
	return a + getppid();
}

#define LEVEL(n, below, extra)						\
	KEEP static uint64_t level##n(uint64_t a, uint64_t b, uint64_t c)	\
	{								\
		uint64_t room[extra], d;				\
									\
		memset(room, (int)a, sizeof(room));			\
		sink = room[b % (extra)];				\
		d = below;						\
		sink = room[d % (extra)] + c;				\
		return leaf(d, a + b) + c;				\
	}

LEVEL(8, array(a) + syscalls(b) + leaf(b, c), 1)
LEVEL(7, level8(b, a, c + 1), 7)
LEVEL(6, level7(c, b, a), 2)
LEVEL(5, level6(a + 1, b, c), 33)
LEVEL(4, level5(a, c, b), 1)
LEVEL(3, level4(b, a, c), 12)
LEVEL(2, level3(a, b, c ^ 1), 3)
LEVEL(1, level2(a, b, c), 129)

int main(void)
{
	uint64_t i;

	puts("ready");
	fflush(stdout);
	for (i = 0;; i++)
		sink += level1(i, i ^ 5, ~i);
}
