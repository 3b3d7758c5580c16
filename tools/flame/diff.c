// SPDX-License-Identifier: GPL-2.0
/* Two graphs side by side. */
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "diff.h"

/* Names of @before, with texts of their own, as names of @resolve. */
static u32 *diff_names(const struct graph *before, struct resolve *resolve)
{
	struct profile *profile = resolve->profile;
	u32 *number = alloc_array(NULL, before->names->count + 1, sizeof(*number));
	u32 i;

	for (i = 0; i < before->names->count; i++) {
		struct flame_name name = *(struct flame_name *)intern_item(before->names, i);

		name.text = profile_text(profile, texts_get(before->texts, name.text));
		name.source = profile_text(profile, texts_get(before->texts, name.source));
		name.module = profile_text(profile, texts_get(before->texts, name.module));
		number[i] = intern_add(&resolve->names, &name);
	}
	return number;
}

/* The nodes of @graph, as nodes of @builder; @number: what its names are there, or NULL. */
static void diff_add(struct graph_builder *builder, const struct graph *graph, const u32 *number)
{
	u32 *place = alloc_zero(graph->count, sizeof(*place));
	size_t i;

	for (i = 0; i < graph->count; i++) {
		const struct graph_node *node = &graph->node[i];

		if (i)
			place[i] = graph_builder_add(builder, place[node->parent],
						     number ? number[node->name] : node->name);
		if (number)
			graph_builder_count_before(builder, place[i], node->self);
		else
			graph_builder_count(builder, place[i], node->samples, node->period);
	}
	free(place);
}

/**
 * graph_diff() - add to a graph what another one has
 * @graph: its nodes get @before_self and @before_total; there are more of them
 * @resolve: has its names; those that only @before has are added
 * @before: the other one
 */
void graph_diff(struct graph *graph, struct resolve *resolve, const struct graph *before)
{
	u32 *number = diff_names(before, resolve);
	struct graph_builder builder;

	graph_builder_open(&builder);
	diff_add(&builder, graph, NULL);
	diff_add(&builder, before, number);
	free(number);
	graph_free(graph);
	graph->is_diff = true;
	graph_builder_finish(&builder, graph);
	free(builder.place);
}

/** graph_share() - what share of all a node has, in percent */
double graph_share(const struct graph *graph, size_t node)
{
	return graph->node[0].total ? 100.0 * graph->node[node].total / graph->node[0].total : 0;
}

/** graph_share_before() - what share it had before */
double graph_share_before(const struct graph *graph, size_t node)
{
	return graph->node[0].before_total ?
	       100.0 * graph->node[node].before_total / graph->node[0].before_total : 0;
}
