// SPDX-License-Identifier: GPL-2.0
/*
 * Whether rdtsc counts instructions, as it does in a guest of "selftests/vm/run --icount 0": prints
 * by how many ticks a reading grows with 1,000 instructions more between two, in one block and in a
 * loop of 500 blocks.
 */
#include <stdint.h>
#include <stdio.h>

/* Ticks between two readings, with @code in between. */
#define TICKS(code) \
	({ \
		uint32_t from, to, n; \
		\
		__asm__ volatile("rdtsc\n\tmov %%eax, %0\n\t" code "rdtsc\n\tmov %%eax, %1\n\t" \
				 : "=&r" (from), "=&r" (to), "=&c" (n) : : "eax", "edx", "cc"); \
		to - from; \
	})

int main(void)
{
	uint32_t none = TICKS("");
	uint32_t block = TICKS(".rept 1000\n\tnop\n\t.endr\n\t");
	uint32_t one = TICKS("mov $1, %%ecx\n1:\tdec %%ecx\n\tjnz 1b\n\t");
	uint32_t loop = TICKS("mov $501, %%ecx\n1:\tdec %%ecx\n\tjnz 1b\n\t");

	printf("%u %u\n", block - none, loop - one);
	return 0;
}
