/* SPDX-License-Identifier: GPL-2.0 */
/* The red zone below rsp, which PERF_SAMPLE_STACK_USER leaves out.  Only redzone.c uses BPF. */
#ifndef BEE_REDZONE_H
#define BEE_REDZONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REDZONE_BYTES	128	/* x86-64 psABI 1.0, 3.2.2 */

/**
 * struct redzone - what a BPF program has written just before a sample
 * @sp: rsp in user mode
 * @fault: not 0: @bytes could not be read
 * @bytes: memory from @sp - REDZONE_BYTES on
 */
struct redzone {
	uint64_t	sp;
	uint64_t	fault;
	uint8_t		bytes[REDZONE_BYTES];
};

bool redzone_attach(int event, int cpu, uint64_t *id);

#endif /* BEE_REDZONE_H */
