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
 * @before_self: @self in the graph that this one is compared with
 * @before_total: @total in the graph that this one is compared with
 * @self_change: how much more percent of all samples @self is; 0 if nothing is compared
 * @total_change: how much more percent of all samples @total is; 0 if nothing is compared
 */
struct summary_row {
	u32	name;
	u64	self;
	u64	total;
	u64	before_self;
	u64	before_total;
	double	self_change;
	double	total_change;
};

struct summary_row *summary_make(const struct graph *graph, bool by_total, size_t *count);
struct summary_row *summary_make_callers(const struct graph *graph, const char *around, size_t *count);
struct summary_row *summary_make_callees(const struct graph *graph, const char *around, size_t *count);
u64 summary_around(const struct graph *graph, const char *around, u64 *self);

#endif /* SUMMARY_H */
