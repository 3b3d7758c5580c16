/* SPDX-License-Identifier: GPL-2.0 */
/* User callchains of a process, as perf gives them out, without perf. */
#ifndef BEE_CHAINS_H
#define BEE_CHAINS_H

#include <stdint.h>
#include <sys/types.h>

/**
 * struct chains - what some callchains of a process were like
 * @total: with user frames
 * @complete: the outermost of them in _start
 * @marked: with the entry that was looked for
 */
struct chains {
	unsigned int	total;
	unsigned int	complete;
	unsigned int	marked;
};

void chains_take(pid_t pid, unsigned int samples, uint64_t mark, struct chains *c);

#endif /* BEE_CHAINS_H */
