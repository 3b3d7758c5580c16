/* SPDX-License-Identifier: GPL-2.0 */
/* The stacks by names: what all outputs show. */
#ifndef GRAPH_H
#define GRAPH_H

#include <stdio.h>

#include "resolve.h"

/**
 * struct graph_node - a frame with all frames that it was called by
 * @parent: index of the caller; the root is its own
 * @name: index of its name; INTERN_NONE: the root
 * @depth: callers, 0 for the root
 * @self: value of the stacks that end here
 * @total: @self and that of all nodes below
 * @period: sum of the periods of the samples that end here
 * @samples: samples that end here
 * @before_self: @self of the graph that this one is compared with
 * @before_total: @total of the graph that this one is compared with
 */
struct graph_node {
	u32	parent;
	u32	name;
	u32	depth;
	u64	self;
	u64	total;
	u64	period;
	u64	samples;
	u64	before_self;
	u64	before_total;
};

/**
 * struct graph - the stacks of one event
 * @texts: texts of the names
 * @names: of struct flame_name
 * @node: in the order in which a reader meets them: a node, then each of its children with all
 *	that is below it; children are in the order of their names
 * @count: nodes in @node, at least the root
 * @deepest: highest @depth
 * @event: name of the event
 * @unit: what values are: "samples"; or of sums of periods "ns", or the event's name
 * @by_period: they are sums of periods
 * @cmdline: of perf; "" if not known
 * @samples: samples of the event
 * @judged: of @samples, those of which it can be said whether their stacks are complete
 * @unread: of @samples, those that are not judged as the file that their stack begins in could not be read
 * @complete: of @judged, those whose stacks end at the start of a program or thread, with all frames in
 *	files
 * @unproven: of @judged, those whose stacks end there too, but have a frame in memory without a file
 * @nameless: value of the stacks with functions of readable files that have no name
 * @nameless_file: path of the file that has most of them; NULL if there are none
 * @lost: samples lost
 * @throttled: times that the event was throttled
 * @unfinished: the recording ends too early
 * @stops: why walks have ended, a line; "" if not known
 * @is_diff: it is compared with another one
 * @times: of the samples of all events, if they were kept; or NULL
 * @placed: with @times: for each node of the profile, its node here; INTERN_NONE for those of other events
 * @next: the graph of another event, of the same profile, or NULL
 */
struct graph {
	struct texts		*texts;
	const struct intern	*names;
	struct graph_node	*node;
	size_t			 count;
	u32			 deepest;
	const char		*event;
	const char		*unit;
	bool			 by_period;
	const char		*cmdline;
	u64			 samples;
	u64			 judged;
	u64			 unread;
	u64			 complete;
	u64			 nameless;
	const char		*nameless_file;
	u64			 unproven;
	u64			 lost;
	u64			 throttled;
	bool			 unfinished;
	const char		*stops;
	bool			 is_diff;
	const struct profile_times *times;
	u32			*placed;
	const struct graph	*next;
};

/**
 * struct graph_builder - stacks that are being put together
 * @nodes: of struct built
 * @place: once they are: for each of @nodes its index in the graph; for free()
 */
struct graph_builder {
	struct intern	 nodes;
	u32		*place;
};

void graph_builder_open(struct graph_builder *builder);
u32 graph_builder_add(struct graph_builder *builder, u32 parent, u32 name);
void graph_builder_count(struct graph_builder *builder, u32 node, u64 samples, u64 period);
void graph_builder_count_before(struct graph_builder *builder, u32 node, u64 value);
void graph_builder_finish(struct graph_builder *builder, struct graph *graph);

void graph_make(struct graph *graph, const struct resolve *resolve, size_t event, bool by_period);
bool graph_event_is_time(const char *event);
void graph_weigh(struct graph *graph, bool by_period);
u64 *graph_starts(const struct graph *graph);
char *graph_facts(const struct graph *graph);
void graph_free(struct graph *graph);

static inline const struct flame_name *graph_name(const struct graph *graph, size_t node)
{
	return intern_item(graph->names, graph->node[node].name);
}

static inline const char *graph_text(const struct graph *graph, size_t node)
{
	return node ? texts_get(graph->texts, graph_name(graph, node)->text) : "all";
}

static inline const char *graph_source(const struct graph *graph, size_t node)
{
	return texts_get(graph->texts, graph_name(graph, node)->source);
}

static inline const char *graph_module(const struct graph *graph, size_t node)
{
	return texts_get(graph->texts, graph_name(graph, node)->module);
}

#endif /* GRAPH_H */
