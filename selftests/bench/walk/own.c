// SPDX-License-Identifier: GPL-2.0
/*
 * The unwinders that walk only their own stack: libunwind's and libgcc's, and frame pointers as
 * perf_callchain_user() reads them.
 */
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unwind.h>

#include "bench/median.h"
#include "walk.h"

#define OWN_TIMES	2000
#define OWN_TURNS	9

static uint64_t ips[BENCH_MAX_DEPTH];

static size_t own_libunwind(void)
{
	return unw_backtrace((void **)ips, BENCH_MAX_DEPTH);
}

static _Unwind_Reason_Code gcc_frame(struct _Unwind_Context *context, void *arg)
{
	size_t *n = arg;

	if (*n == BENCH_MAX_DEPTH)
		return _URC_END_OF_STACK;
	ips[(*n)++] = _Unwind_GetIP(context);
	return _URC_NO_REASON;
}

static size_t own_libgcc(void)
{
	size_t n = 0;

	_Unwind_Backtrace(gcc_frame, &n);
	return n;
}

/* Each __get_user() has an lfence behind its check of the address. */
static size_t own_frame_pointers(void)
{
	const uint64_t *fp = __builtin_frame_address(0);
	size_t n = 0;

	while (fp && n < BENCH_MAX_DEPTH) {
		const uint64_t *next;

		asm volatile("lfence" ::: "memory");
		next = (const uint64_t *)fp[0];
		asm volatile("lfence" ::: "memory");
		ips[n++] = fp[1];
		if (next <= fp || (uintptr_t)next - (uintptr_t)fp > 4096)
			break;
		fp = next;
	}
	return n;
}

static const struct {
	const char	*name;
	size_t		(*walk)(void);
} own[] = {
	{ "frame pointers", own_frame_pointers },
	{ "libunwind", own_libunwind },
	{ "libgcc", own_libgcc },
};
#define OWN	(sizeof(own) / sizeof(own[0]))

static double time_own(size_t (*walk)(void))
{
	size_t frames = 0;
	struct timespec a, b;
	int i;

	walk();
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	for (i = 0; i < OWN_TIMES; i++)
		frames += walk();
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	return ((b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec)) / frames;
}

static void own_report(unsigned int depth)
{
	double ns[OWN][OWN_TURNS];
	unsigned int i, turn;

	for (turn = 0; turn < OWN_TURNS; turn++)
		for (i = 0; i < OWN; i++)
			ns[i][turn] = time_own(own[i].walk);
	printf("own stack, %u deep, hot:", depth);
	for (i = 0; i < OWN; i++)
		printf("  %s %.1f", own[i].name, median(ns[i], OWN_TURNS));
	printf("\n");
}

static __attribute__((noinline)) void descend(unsigned int left, unsigned int depth)
{
	if (left)
		descend(left - 1, depth);
	else
		own_report(depth);
	asm volatile("");
}

/** bench_own() - print times of walks of this program's own stack, @depth calls deep. */
void bench_own(unsigned int depth)
{
	descend(depth, depth);
}
