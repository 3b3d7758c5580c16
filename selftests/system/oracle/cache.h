/* SPDX-License-Identifier: GPL-2.0 */
/* Memory of a stopped process, which is not read twice in one stop. */
#ifndef BEE_CACHE_H
#define BEE_CACHE_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define CACHE_LINE	512u
#define CACHE_LINES	64u

/**
 * struct cache - memory that has been read
 * @pid: the process
 * @stop: number of the stop that the process is at
 * @line: lines of memory
 */
struct cache {
	pid_t	pid;
	u64	stop;
	struct {
		u64	addr;
		u64	stop;
		bool	good;
		u8	bytes[CACHE_LINE];
	} line[CACHE_LINES];
};

bool cache_peek(const struct cache *cache, u64 addr, void *to, size_t n);
bool cache_read(void *arg, u64 addr, void *to, size_t n);

#endif /* BEE_CACHE_H */
