// SPDX-License-Identifier: GPL-2.0
/* Other views of a graph: each of its stacks is cut, turned round, and added to a new one. */
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "view.h"

static bool name_is(const struct graph *graph, u32 number, const char *text)
{
	const struct flame_name *name = intern_item(graph->names, number);

	return name->kind != FLAME_COMM && !strcmp(texts_get(graph->texts, name->text), text);
}

/** graph_has_around() - is a node the outermost one in its stack that is called @around? */
bool graph_has_around(const struct graph *graph, size_t node, const char *around)
{
	if (!node || !name_is(graph, graph->node[node].name, around))
		return false;
	for (node = graph->node[node].parent; node; node = graph->node[node].parent)
		if (name_is(graph, graph->node[node].name, around))
			return false;
	return true;
}

/* The part [@first, @end) of a stack, of names from the thread on, that a view shows.  Return: whether there is one. */
static bool view_cut(const struct view *view, const struct graph *graph, const u32 *stack, u32 depth,
		     u32 *first, u32 *end)
{
	u32 at = 0;

	*first = 0;
	*end = depth;
	if (!view->around)
		return true;
	while (at < depth && !name_is(graph, stack[at], view->around))
		at++;
	if (view->reverse)
		*end = at + 1;
	else
		*first = at;
	return at < depth;
}

/**
 * graph_view() - make of a graph that of a view
 * @graph: it; with @view->around it is no longer known how many of its stacks are complete
 * @view: which
 */
void graph_view(struct graph *graph, const struct view *view)
{
	u32 *stack = alloc_array(NULL, graph->deepest + 1, sizeof(*stack)), first, end, at;
	struct graph_builder builder;
	u64 samples = 0;
	size_t i;

	graph_builder_open(&builder);
	for (i = 1; i < graph->count; i++) {
		const struct graph_node *node = &graph->node[i];

		stack[node->depth - 1] = node->name;
		if ((!node->samples && !node->period) ||
		    !view_cut(view, graph, stack, node->depth, &first, &end))
			continue;
		for (at = 0; first < end;)
			at = graph_builder_add(&builder, at, view->reverse ? stack[--end] : stack[first++]);
		graph_builder_count(&builder, at, node->samples, node->period);
		samples += node->samples;
	}
	free(stack);
	graph_free(graph);
	graph->deepest = 0;
	graph->samples = samples;
	if (view->around)
		graph->judged = graph->unread = 0;
	graph_builder_finish(&builder, graph);
	free(builder.place);
}
