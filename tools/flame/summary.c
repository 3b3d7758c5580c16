// SPDX-License-Identifier: GPL-2.0
/* Which functions take the most. */
#include <stdlib.h>

#include "alloc.h"
#include "order.h"
#include "summary.h"

static int row_compare_self(const void *a, const void *b)
{
	const struct summary_row *x = a, *y = b;

	return order(y->self, x->self) ?: order(y->total, x->total) ?: order(x->name, y->name);
}

static int row_compare_total(const void *a, const void *b)
{
	const struct summary_row *x = a, *y = b;

	return order(y->total, x->total) ?: order(y->self, x->self) ?: order(x->name, y->name);
}

/**
 * summary_make() - sum up by function
 * @graph: the stacks
 * @by_total: order by total, not by self
 * @count: filled: number of functions
 *
 * A function that calls itself counts once in a stack.
 *
 * Return: all functions, without threads, the largest first; for free().
 */
struct summary_row *summary_make(const struct graph *graph, bool by_total, size_t *count)
{
	struct summary_row *row = alloc_zero(graph->names->count + 1, sizeof(*row));
	/* For each name on the path to the current node: the depth of its outermost frame. */
	u32 *on_path = alloc_zero(graph->names->count + 1, sizeof(*on_path));
	u32 *path = alloc_zero(graph->deepest + 2, sizeof(*path));
	u32 depth = 0, name;
	size_t i, n = 0;

	for (i = 1; i < graph->count; i++) {
		const struct graph_node *node = &graph->node[i];

		for (; depth >= node->depth; depth--)
			if (on_path[path[depth]] == depth)
				on_path[path[depth]] = 0;
		name = node->name;
		path[depth = node->depth] = name;
		row[name].name = name;
		row[name].self += node->self;
		if (!on_path[name]) {
			on_path[name] = depth;
			row[name].total += node->total;
		}
	}
	for (i = 0; i < graph->names->count; i++)
		if (row[i].total && ((struct flame_name *)intern_item(graph->names, i))->kind !=
				    FLAME_COMM)
			row[n++] = row[i];
	qsort(row, n, sizeof(*row), by_total ? row_compare_total : row_compare_self);
	free(on_path);
	free(path);
	*count = n;
	return row;
}
