/* SPDX-License-Identifier: GPL-2.0 */
/* perf record as a child process. */
#ifndef PERF_H
#define PERF_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "error.h"

/* perf answers when it has read the kernel's symbols and its target's maps: mostly in a second. */
#define PERF_PATIENCE_MS	60000

/**
 * struct perf - perf record at work
 * @pid: its process; 0 if it was not started
 * @control: socket on which it takes commands (perf record --control), or -1
 * @words: what it has said, for perf_ended(); -1: it says it itself
 */
struct perf {
	pid_t	pid;
	int	control;
	int	words;
};

int perf_find(struct bee_error *error);
int perf_start(struct perf *perf, char **words, pid_t target, int output, bool quiet,
	       struct bee_error *error);
void perf_ended(struct perf *perf);
int perf_wait_ready(const struct perf *perf, unsigned int patience, struct bee_error *error);
void perf_stop(const struct perf *perf);
int perf_count_samples(const char *path, const char *comm, uint64_t *count);

#endif /* PERF_H */
