/* SPDX-License-Identifier: GPL-2.0 */
/* The module's reads of the recorded stack, without a call, as in the kernel; included first. */
#ifndef BENCH_USER_H
#define BENCH_USER_H

#include <stdint.h>
#include <string.h>

/* The stack that is replayed; @last: the last address of a whole word, less @start. */
extern struct bench_user {
	uint64_t	start;
	uint64_t	last;
	const uint8_t	*bytes;
} bench_user;

#define unsafe_get_user(x, ptr, label) do {				\
	uint64_t __at = (uint64_t)(ptr) - bench_user.start;		\
									\
	if (__builtin_expect(__at <= bench_user.last, 1))		\
		memcpy(&(x), bench_user.bytes + __at, sizeof(x));	\
	else if (copy_from_user_nmi(&(x), ptr, sizeof(x)))		\
		goto label;						\
} while (0)

#ifdef BEFORE		/* what older versions take from the kernel's headers, too */
#define X86_VM_MASK		0
#define PERF_EFLAGS_VM		0
#define user_64bit_mode(regs)	((regs)->cs == 0x33)
#endif

#endif /* BENCH_USER_H */
