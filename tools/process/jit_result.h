/* SPDX-License-Identifier: GPL-2.0 */
/* What has become of the code that a process has in memory. */
#ifndef JIT_RESULT_H
#define JIT_RESULT_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"

/**
 * struct jit_result - what has become of a process's JIT code
 * @objects: pieces of code that it has registered
 * @tables: ranges that have got a table
 * @bytes: of these tables
 * @removed: ranges whose table has gone, as their code is not registered any more
 * @remapped: ranges that have got the table of the file whose text they have
 * @compiled: tables of such files that were compiled for it
 * @cached: or read from the cache
 * @name: of the code
 * @error: why there is none, or not all; "" if there is nothing to say
 */
struct jit_result {
	size_t			objects;
	size_t			tables;
	uint64_t		bytes;
	size_t			removed;
	size_t			remapped;
	size_t			compiled;
	size_t			cached;
	char			name[128];
	struct bee_error	error;
};

#endif /* JIT_RESULT_H */
