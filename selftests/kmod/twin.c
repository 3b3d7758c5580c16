// SPDX-License-Identifier: GPL-2.0
/*
 * A deep stack of frames without a frame pointer, each of FRAME bytes and more: the programs that
 * are built of this with different FRAMEs need different tables.
 */
#include <stdint.h>

#define DEPTH	40

static volatile uint64_t sum;

static __attribute__((noinline)) void descend(int depth)
{
	volatile uint8_t local[FRAME];
	int i;

	local[0] = (uint8_t)depth;
	if (depth)
		descend(depth - 1);
	else
		for (i = 0; i < 100000000; i++)
			sum += local[0] + i;
	local[FRAME - 1] = local[0];
}

int main(void)
{
	descend(DEPTH);
	return 0;
}
