/* SPDX-License-Identifier: GPL-2.0 */
/* Which functions take the most, by themselves and with what they call. */
#ifndef SUMMARY_H
#define SUMMARY_H

#include "graph.h"

/**
 * struct summary_row - a function
 * @name: index of its name
 * @self: value of the stacks that end in it
 * @total: value of the stacks that have it
 */
struct summary_row {
	u32	name;
	u64	self;
	u64	total;
};

struct summary_row *summary_make(const struct graph *graph, bool by_total, size_t *count);

#endif /* SUMMARY_H */
