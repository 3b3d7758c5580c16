// SPDX-License-Identifier: GPL-2.0
/*
 * A stack of DEPTH frames, each of another function (with SAME all of one), in which it
 *	deep DEPTH walk COUNT	reads /dev/bee_bench COUNT times, and prints its two numbers for each,
 *				once it has printed "ready" and got a line
 *	deep DEPTH spin COUNT	counts to COUNT thousand
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST	200
#define DIGITS	1000

static int count, device = -1;

static int work(void)
{
	uint64_t got[2];
	volatile int n;
	int i;

	for (i = 0; i < count; i++) {
		if (device < 0)
			for (n = 0; n < 1000; n++)
				;
		else if (read(device, got, sizeof(got)) == sizeof(got))
			printf("%llu %llu\n", (unsigned long long)got[0], (unsigned long long)got[1]);
		else
			return 1;
	}
	return 0;
}

#ifdef SAME
static __attribute__((noinline)) int deep(int depth)
{
	volatile char room[64];

	room[0] = 1;
	return (depth ? deep(depth - 1) : work()) + room[0] - 1;
}
#else
typedef int (*frame_fn)(void);
static const frame_fn frames[MOST + 1];

/* Frames of different sizes, and registers to save in some. */
#define FRAME(n) \
	static __attribute__((noinline, noclone)) int frame##n(void) \
	{ \
		volatile char room[16 + (1##n - DIGITS) % 7 * 24]; \
		int kept = count; \
		\
		room[0] = 1; \
		return frames[1##n - DIGITS + 1]() + ((1##n - DIGITS) % 3 ? room[0] - 1 : count - kept); \
	}
#define TEN(t, X) \
	X(t##0) X(t##1) X(t##2) X(t##3) X(t##4) X(t##5) X(t##6) X(t##7) X(t##8) X(t##9)
#define HUNDRED(h, X) \
	TEN(h##0, X) TEN(h##1, X) TEN(h##2, X) TEN(h##3, X) TEN(h##4, X) \
	TEN(h##5, X) TEN(h##6, X) TEN(h##7, X) TEN(h##8, X) TEN(h##9, X)

HUNDRED(0, FRAME)
HUNDRED(1, FRAME)

#define NAME(n)	frame##n,
static const frame_fn frames[MOST + 1] = { HUNDRED(0, NAME) HUNDRED(1, NAME) work };

static int deep(int depth)
{
	return frames[MOST - depth]();
}
#endif

int main(int argc, char **argv)
{
	int depth = argc == 4 ? atoi(argv[1]) : 0;
	char line[8];

	if (depth < 1 || depth > MOST)
		return 2;
	count = atoi(argv[3]);
	if (!strcmp(argv[2], "walk")) {
		device = open("/dev/bee_bench", O_RDONLY);
		puts("ready");
		fflush(stdout);
		if (device < 0 || !fgets(line, sizeof(line), stdin))
			return 1;
	}
	return deep(depth);
}
