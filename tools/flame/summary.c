// SPDX-License-Identifier: GPL-2.0
/* Which functions take the most. */
#include <math.h>
#include <stdlib.h>

#include "alloc.h"
#include "order.h"
#include "summary.h"
#include "view.h"

/* The larger change, up or down, is first. */
static int change_compare(double x, double y)
{
	return (fabs(x) < fabs(y)) - (fabs(x) > fabs(y));
}

static int row_compare_self(const void *a, const void *b)
{
	const struct summary_row *x = a, *y = b;

	return change_compare(x->self_change, y->self_change) ?: order(y->self, x->self) ?:
	       order(y->total, x->total) ?: order(x->name, y->name);
}

static int row_compare_total(const void *a, const void *b)
{
	const struct summary_row *x = a, *y = b;

	return change_compare(x->total_change, y->total_change) ?:
	       order(y->total, x->total) ?: order(y->self, x->self) ?: order(x->name, y->name);
}

static double percent_of(u64 part, u64 all)
{
	return all ? 100.0 * part / all : 0;
}

static void row_compare_shares(struct summary_row *row, const struct graph_node *all)
{
	row->self_change = percent_of(row->self, all->total) -
			   percent_of(row->before_self, all->before_total);
	row->total_change = percent_of(row->total, all->total) -
			    percent_of(row->before_total, all->before_total);
}

/* For each name the one that it is counted under: that of an inlined call under the function's, if it is called, too. */
static u32 *names_merge(const struct intern *names)
{
	u32 *merged = alloc_array(NULL, names->count + 1, sizeof(*merged)), i, other;

	for (i = 0; i < names->count; i++) {
		struct flame_name name = *(struct flame_name *)intern_item(names, i);

		merged[i] = i;
		if (name.kind != FLAME_INLINED)
			continue;
		name.kind = FLAME_USER;
		other = intern_find(names, &name);
		if (other != INTERN_NONE)
			merged[i] = other;
	}
	return merged;
}

/**
 * summary_make() - sum up by function
 * @graph: the stacks
 * @by_total: order by total, not by self
 * @count: filled: number of functions
 *
 * A function that calls itself counts once in a stack.
 *
 * Return: all functions, without threads, the largest first, or those that have changed the most;
 * for free().
 */
struct summary_row *summary_make(const struct graph *graph, bool by_total, size_t *count)
{
	struct summary_row *row = alloc_zero(graph->names->count + 1, sizeof(*row));
	/* For each name on the path to the current node: the depth of its outermost frame. */
	u32 *on_path = alloc_zero(graph->names->count + 1, sizeof(*on_path));
	u32 *path = alloc_zero(graph->deepest + 2, sizeof(*path));
	u32 *merged = names_merge(graph->names);
	u32 depth = 0, name;
	size_t i, n = 0;

	for (i = 1; i < graph->count; i++) {
		const struct graph_node *node = &graph->node[i];

		for (; depth >= node->depth; depth--)
			if (on_path[path[depth]] == depth)
				on_path[path[depth]] = 0;
		name = merged[node->name];
		path[depth = node->depth] = name;
		row[name].name = name;
		row[name].self += node->self;
		row[name].before_self += node->before_self;
		if (!on_path[name]) {
			on_path[name] = depth;
			row[name].total += node->total;
			row[name].before_total += node->before_total;
		}
	}
	for (i = 0; i < graph->names->count; i++)
		if ((row[i].total || row[i].before_total) && ((struct flame_name *)intern_item(graph->names, i))->kind !=
				    FLAME_COMM)
			row[n++] = row[i];
	for (i = 0; i < n && graph->is_diff; i++)
		row_compare_shares(&row[i], graph->node);
	qsort(row, n, sizeof(*row), by_total ? row_compare_total : row_compare_self);
	free(on_path);
	free(path);
	free(merged);
	*count = n;
	return row;
}

/* Order the rows that have a value, the largest first.  Return: how many. */
static size_t rows_pack(struct summary_row *row, size_t names)
{
	size_t i, n = 0;

	for (i = 0; i < names; i++)
		if (row[i].total)
			row[n++] = row[i];
	qsort(row, n, sizeof(*row), row_compare_total);
	return n;
}

/**
 * summary_make_callers() - who calls a function
 * @graph: the stacks
 * @around: its name; where it calls itself, the outermost call counts
 * @count: filled: rows in the result
 *
 * Return: callers, which may be threads, with the value of the stacks in which they call it; for free().
 */
struct summary_row *summary_make_callers(const struct graph *graph, const char *around, size_t *count)
{
	struct summary_row *row = alloc_zero(graph->names->count + 1, sizeof(*row));
	size_t i;

	for (i = 1; i < graph->count; i++) {
		u32 caller = graph->node[i].parent;

		if (!caller || !graph_has_around(graph, i, around))
			continue;
		row[graph->node[caller].name].name = graph->node[caller].name;
		row[graph->node[caller].name].total += graph->node[i].total;
	}
	*count = rows_pack(row, graph->names->count);
	return row;
}

/**
 * summary_make_callees() - what a function calls
 * @graph: the stacks
 * @around: its name; where it calls itself, the outermost call counts
 * @count: filled: rows in the result
 *
 * Return: what it calls, with the value of the stacks in which it does; for free().
 */
struct summary_row *summary_make_callees(const struct graph *graph, const char *around, size_t *count)
{
	struct summary_row *row = alloc_zero(graph->names->count + 1, sizeof(*row));
	size_t i;

	for (i = 1; i < graph->count; i++) {
		u32 name = graph->node[i].name;

		if (!graph_has_around(graph, graph->node[i].parent, around))
			continue;
		row[name].name = name;
		row[name].total += graph->node[i].total;
	}
	*count = rows_pack(row, graph->names->count);
	return row;
}

/** summary_around() - the value of the stacks that have a function, and @self of those that end in its outermost call */
u64 summary_around(const struct graph *graph, const char *around, u64 *self)
{
	u64 total = 0;
	size_t i;

	for (*self = 0, i = 1; i < graph->count; i++) {
		if (!graph_has_around(graph, i, around))
			continue;
		total += graph->node[i].total;
		*self += graph->node[i].self;
	}
	return total;
}
