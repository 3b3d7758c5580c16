// SPDX-License-Identifier: GPL-2.0
/* Two coroutines on stacks of their own, one above and one below each other. */
#include <stdlib.h>
#include <ucontext.h>

#define STACK	65536

static ucontext_t caller, coroutine[2];
static volatile long sink;

__attribute__((noinline)) static long work(int depth, long n)
{
	long r = depth ? work(depth - 1, n) : 0;

	while (n--)
		sink = sink * 3 + n;
	return r + sink;
}

static void body(int self, int rounds)
{
	while (rounds--) {
		sink += work(5, 500);
		swapcontext(&coroutine[self], &coroutine[!self]);
	}
}

int main(int argc, char **argv)
{
	int i, rounds = 10 * (argc > 1 ? atoi(argv[1]) : 1);
	char *stacks = malloc(2 * STACK);

	for (i = 0; i < 2; i++) {
		getcontext(&coroutine[i]);
		coroutine[i].uc_stack.ss_sp = stacks + i * STACK;
		coroutine[i].uc_stack.ss_size = STACK;
		coroutine[i].uc_link = &caller;
		makecontext(&coroutine[i], (void (*)(void))body, 2, i, rounds);
	}
	swapcontext(&caller, &coroutine[0]);
	return !sink;
}
