/* SPDX-License-Identifier: GPL-2.0 */
/* The table of code in memory. */
#ifndef JIT_TABLE_H
#define JIT_TABLE_H

#include "compile.h"
#include "jit_objects.h"

/* The code in one range for which a table is made, from the first FDE to the last. */
#define JIT_MAX_CODE	(64u << 20)

bool jit_objects_cover(const struct jit_objects *objects, u64 start, u64 end);
int jit_table_make(struct memory *memory, const struct jit_objects *objects, u64 start, u64 end,
		   struct compile_result *result, struct bee_error *error);

#endif /* JIT_TABLE_H */
