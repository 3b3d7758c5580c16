/* SPDX-License-Identifier: GPL-2.0 */
/* Takes user callchains of a process by perf_event_open(), without the perf tool. */
#ifndef BEE_CHAINS_H
#define BEE_CHAINS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct chains - figures on callchains of a process
 * @total: callchains that have user frames
 * @complete: those whose outermost frame is in _start
 * @marked: those that have the entry that was looked for
 */
struct chains {
	unsigned int	total;
	unsigned int	complete;
	unsigned int	marked;
};

void chains_take(pid_t pid, unsigned int samples, uint64_t mark, struct chains *c);
bool chains_take_deferred(pid_t pid, unsigned int samples, uint64_t mark, struct chains *c);

#endif /* BEE_CHAINS_H */
