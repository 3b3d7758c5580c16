// SPDX-License-Identifier: GPL-2.0
/* Memory of a stopped process, which is not read twice in one stop. */
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

#include "cache.h"

/* cache_peek() - read memory of the process of @cache as it is now */
bool cache_peek(const struct cache *cache, u64 addr, void *to, size_t n)
{
	struct iovec here = { to, n }, there = { (void *)(uintptr_t)addr, n };

	return process_vm_readv(cache->pid, &here, 1, &there, 1, 0) == (ssize_t)n;
}

/* cache_read() - read memory; for struct bee_uread.  @arg: a struct cache */
bool cache_read(void *arg, u64 addr, void *to, size_t n)
{
	struct cache *cache = arg;
	u64 base = addr & ~(u64)(CACHE_LINE - 1);
	typeof(cache->line[0]) *line = &cache->line[base / CACHE_LINE % CACHE_LINES];

	if (addr + n > base + CACHE_LINE)
		return cache_peek(cache, addr, to, n);
	if (line->stop != cache->stop || line->addr != base) {
		line->good = cache_peek(cache, base, line->bytes, CACHE_LINE);
		line->addr = base;
		line->stop = cache->stop;
	}
	if (line->good)
		memcpy(to, line->bytes + (addr - base), n);
	return line->good;
}
