// SPDX-License-Identifier: GPL-2.0
/* The stacks by names. */
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "graph.h"
#include "order.h"
#include "text.h"

/*
 * A node while stacks are added: one for each name below each parent.  @samples, @period and
 * @before_self are of the stacks that end here; builder_sum() adds those above it to @total and
 * @before_total when all have been added.
 */
struct built {
	u32	parent;
	u32	name;
	u64	samples;
	u64	period;
	u64	total;
	u64	before_self;
	u64	before_total;
};

/* For sorting: a node as a child, and what its name is compared by. */
struct child {
	u32			 parent;
	u32			 node;
	const struct flame_name	*name;
	const struct texts	*texts;
};

void graph_builder_open(struct graph_builder *builder)
{
	const struct built root = { .parent = INTERN_NONE, .name = INTERN_NONE };

	builder->place = NULL;
	builder->nodes = (struct intern)INTERN_OF(struct built, samples);
	intern_add(&builder->nodes, &root);
}

/** graph_builder_add() - the node of a name below @parent, 0 for the root */
u32 graph_builder_add(struct graph_builder *builder, u32 parent, u32 name)
{
	const struct built node = { .parent = parent, .name = name };

	return intern_add(&builder->nodes, &node);
}

/** graph_builder_count() - samples end at a node; @period: sum of their periods */
void graph_builder_count(struct graph_builder *builder, u32 node, u64 samples, u64 period)
{
	struct built *built = intern_item(&builder->nodes, node);

	built->samples += samples;
	built->period += period;
}

/** graph_builder_count_before() - stacks of @value end at a node of the graph to compare with */
void graph_builder_count_before(struct graph_builder *builder, u32 node, u64 value)
{
	((struct built *)intern_item(&builder->nodes, node))->before_self += value;
}

static int child_compare(const void *a, const void *b)
{
	const struct child *x = a, *y = b;

	if (x->parent != y->parent)
		return order(x->parent, y->parent);
	return strcmp(texts_get(x->texts, x->name->text), texts_get(y->texts, y->name->text)) ?:
	       order(x->name->kind, y->name->kind) ?:
	       strcmp(texts_get(x->texts, x->name->source), texts_get(y->texts, y->name->source)) ?:
	       order(x->name->line, y->name->line);
}

/* Sum up; parents were added before their children. */
static void builder_sum(struct graph_builder *builder, bool by_period)
{
	struct built *node = intern_item(&builder->nodes, 0);
	u32 i;

	for (i = 0; i < builder->nodes.count; i++) {
		node[i].total = by_period ? node[i].period : node[i].samples;
		node[i].before_total = node[i].before_self;
	}
	for (i = builder->nodes.count; --i;) {
		node[node[i].parent].total += node[i].total;
		node[node[i].parent].before_total += node[i].before_total;
	}
}

/* All nodes but the root, as children in order.  @first: for each node, where its children begin. */
static struct child *builder_children(struct graph_builder *builder, const struct graph *graph,
				      u32 *first)
{
	const struct built *node = intern_item(&builder->nodes, 0);
	u32 i, n = 0, count = builder->nodes.count;
	struct child *child = alloc_array(NULL, count, sizeof(*child));

	for (i = 1; i < count; i++)
		if (node[i].total || node[i].before_total)
			child[n++] = (struct child){ node[i].parent, i,
				intern_item(graph->names, node[i].name), graph->texts };
	qsort(child, n, sizeof(*child), child_compare);
	child[n].parent = INTERN_NONE;
	for (i = count; i--;)
		first[i] = n;
	for (i = n; i--;)
		first[child[i].parent] = i;
	return child;
}

/**
 * graph_builder_finish() - put the nodes in order
 * @builder: the nodes; emptied, but for @place
 * @graph: @texts, @names and @by_period are set; its nodes are filled
 */
void graph_builder_finish(struct graph_builder *builder, struct graph *graph)
{
	u32 count = builder->nodes.count, at = 0, parent = 0, depth = 0;
	u32 *next = alloc_array(NULL, count, sizeof(*next));
	u32 *place = alloc_array(NULL, count, sizeof(*place));
	const struct built *node;
	struct child *child;

	builder_sum(builder, graph->by_period);
	node = intern_item(&builder->nodes, 0);
	child = builder_children(builder, graph, next);
	graph->node = alloc_array(NULL, count, sizeof(*graph->node));
	graph->node[0] = (struct graph_node){ .name = INTERN_NONE, .total = node[0].total,
					      .before_total = node[0].before_total };
	graph->count = 1;
	memset(place, 0xff, count * sizeof(*place));
	place[0] = 0;
	/* @at is a node of the builder, whose children from next[@at] on are to come. */
	for (;;) {
		const struct child *c = &child[next[at]];

		if (c->parent == at) {
			next[at]++;
			depth++;
			parent = place[at];
			at = c->node;
			place[at] = graph->count;
			graph->node[graph->count++] = (struct graph_node){
				.parent = parent, .name = node[at].name, .depth = depth,
				.self = graph->by_period ? node[at].period : node[at].samples,
				.total = node[at].total, .period = node[at].period,
				.samples = node[at].samples,
				.before_self = node[at].before_self,
				.before_total = node[at].before_total,
			};
			graph->deepest = depth > graph->deepest ? depth : graph->deepest;
		} else if (at) {
			at = node[at].parent;
			depth--;
		} else {
			break;
		}
	}
	free(child);
	free(next);
	builder->place = place;
	intern_free(&builder->nodes);
}

static const struct profile_frame *node_frame(const struct profile *profile, u32 node)
{
	return profile_frame(profile, profile_node(profile, node)->frame);
}

/* What can be said of a stack by its outermost frame, and by whether a frame is in memory without a file. */
enum verdict {
	VERDICT_NONE,
	VERDICT_INCOMPLETE,
	VERDICT_COMPLETE,
	VERDICT_UNREAD,
	VERDICT_UNPROVEN,
};

/*
 * perf asks for no user stack of a process that has no memory any more (it exits, or replaces its
 * program), nor where the recording leaves user stacks out: nothing was there to be walked.
 */
static enum verdict graph_judge_outermost(const struct resolve *resolve, u32 frame)
{
	const struct profile *profile = resolve->profile;

	if (resolve->outermost[frame])
		return VERDICT_COMPLETE;
	if (resolve->unread[frame])
		return VERDICT_UNREAD;
	if (profile_file(profile, profile_frame(profile, frame)->file)->kind == PROFILE_KERNEL)
		return VERDICT_NONE;
	return VERDICT_INCOMPLETE;
}

/*
 * Which samples have complete stacks: those below a name that threads and programs begin with.  But a
 * frame pointer may have passed over frames that are in memory without a file, unless the module has told how walks
 * ended (stats_put_line()), and none so.
 */
static void graph_judge(struct graph *graph, const struct resolve *resolve, const u32 *place)
{
	const struct profile *profile = resolve->profile;
	const char *stops = profile_get_text(profile, profile->stops);
	bool proven = *stops && !strstr(stops, "unproven");
	u8 *verdict = alloc_zero(profile->nodes.count + 1, 1);
	u32 i, parent;

	for (i = 0; i < profile->nodes.count; i++) {
		const struct profile_node *node = profile_node(profile, i);

		if (node->parent == INTERN_NONE || place[i] == INTERN_NONE)
			continue;
		parent = node_frame(profile, node->parent)->file;
		if (profile_file(profile, parent)->kind == PROFILE_COMM)
			verdict[i] = graph_judge_outermost(resolve, node->frame);
		else
			verdict[i] = verdict[node->parent];
		if (verdict[i] == VERDICT_COMPLETE && !proven && profile_node_is_memory(profile, node))
			verdict[i] = VERDICT_UNPROVEN;
		graph->unread += verdict[i] == VERDICT_UNREAD ? node->samples : 0;
		graph->judged += verdict[i] != VERDICT_NONE && verdict[i] != VERDICT_UNREAD ? node->samples : 0;
		graph->complete += verdict[i] == VERDICT_COMPLETE ? node->samples : 0;
		graph->unproven += verdict[i] == VERDICT_UNPROVEN ? node->samples : 0;
	}
	free(verdict);
}

/** graph_event_is_time() - are the periods of an event nanoseconds? */
bool graph_event_is_time(const char *event)
{
	return strstr(event, "cpu-clock") || strstr(event, "task-clock") ||
	       strstr(event, "offcpu-time");
}

/** graph_weigh() - say what the values of a graph are, before its nodes are put in order; @event is set */
void graph_weigh(struct graph *graph, bool by_period)
{
	graph->by_period = by_period;
	graph->unit = !by_period ? "samples" :
		      graph_event_is_time(graph->event) ? "ns" : graph->event;
}

/* How much of a graph has functions without names.  A stack with some counts for the file of the innermost one. */
static void graph_count_nameless(struct graph *graph, const struct resolve *resolve, const u32 *place)
{
	const struct profile *profile = resolve->profile;
	u32 *file = alloc_array(NULL, profile->nodes.count + 1, sizeof(*file)), i;
	u64 *value = alloc_zero(profile->files.count + 1, sizeof(*value)), most = 0;

	for (i = 0; i < profile->nodes.count; i++) {
		const struct profile_node *node = profile_node(profile, i);

		file[i] = INTERN_NONE;
		if (node->parent == INTERN_NONE || place[i] == INTERN_NONE)
			continue;
		file[i] = resolve->nameless[node->frame] ? node_frame(profile, i)->file :
							   file[node->parent];
		if (file[i] == INTERN_NONE)
			continue;
		value[file[i]] += graph->by_period ? node->period : node->samples;
		graph->nameless += graph->by_period ? node->period : node->samples;
	}
	for (i = 0; i < profile->files.count; i++) {
		if (value[i] <= most)
			continue;
		most = value[i];
		graph->nameless_file = profile_get_text(profile, profile_file(profile, i)->path);
	}
	free(file);
	free(value);
}

/**
 * graph_make() - make the graph of one event
 * @graph: filled, until the profile or @resolve are released
 * @resolve: names that have been found
 * @event: index of the event
 * @by_period: weigh samples by what they stand for, if the event says that
 */
void graph_make(struct graph *graph, const struct resolve *resolve, size_t event, bool by_period)
{
	struct profile *profile = resolve->profile;
	u32 *place = alloc_array(NULL, profile->nodes.count + 1, sizeof(*place));
	struct graph_builder builder;
	u64 period = 0;
	u32 i, j;

	*graph = (struct graph){
		.texts = &profile->texts, .names = &resolve->names,
		.stops = profile_get_text(profile, profile->stops),
		.event = profile_get_text(profile, profile->event[event].name),
		.cmdline = profile_get_text(profile, profile->cmdline),
		.lost = profile->lost, .throttled = profile->throttled,
		.unfinished = profile->unfinished,
	};
	graph_builder_open(&builder);
	for (i = 0; i < profile->nodes.count; i++) {
		const struct profile_node *node = profile_node(profile, i);
		u32 at = node->parent == INTERN_NONE ?
			 (node_frame(profile, i)->offset == event ? 0 : INTERN_NONE) :
			 place[node->parent];

		place[i] = at;
		if (at == INTERN_NONE || node->parent == INTERN_NONE)
			continue;
		for (j = resolve->first[node->frame]; j < resolve->first[node->frame + 1]; j++)
			at = graph_builder_add(&builder, at, resolve->chain[j]);
		place[i] = at;
		graph_builder_count(&builder, at, node->samples, node->period);
		graph->samples += node->samples;
		period += node->period;
	}
	graph_weigh(graph, by_period && period);
	graph_judge(graph, resolve, place);
	graph_count_nameless(graph, resolve, place);
	graph_builder_finish(&builder, graph);
	for (i = 0; i < profile->nodes.count && profile->times.count; i++)
		place[i] = place[i] == INTERN_NONE ? place[i] : builder.place[place[i]];
	graph->times = profile->times.count ? &profile->times : NULL;
	graph->placed = graph->times ? place : NULL;
	if (!graph->placed)
		free(place);
	free(builder.place);
}

/** graph_starts() - where each node begins, if siblings stand side by side; for free() */
u64 *graph_starts(const struct graph *graph)
{
	u64 *start = alloc_zero(graph->count, sizeof(*start));
	u64 *next = alloc_zero(graph->count, sizeof(*next));
	size_t i;

	for (i = 1; i < graph->count; i++) {
		u32 parent = graph->node[i].parent;

		start[i] = next[i] = next[parent];
		next[parent] += graph->node[i].total;
	}
	free(next);
	return start;
}

/**
 * graph_facts() - what there is in a graph, in a line
 * @graph: the graph
 *
 * Return: the line, without a newline, for free().  The caller escapes it: it has the event's name as the recording
 * has it.
 */
char *graph_facts(const struct graph *graph)
{
	char count[32], *facts = NULL;
	size_t size;
	FILE *out = alloc_check(open_memstream(&facts, &size), 1);

	text_count(graph->samples, count, sizeof(count));
	fprintf(out, "%.200s: %s sample%s", graph->event, count, graph->samples == 1 ? "" : "s");
	if (graph->by_period) {
		text_count(graph->node[0].total, count, sizeof(count));
		fprintf(out, ", counted as %s %.200s", count, graph->unit);
	}
	if (graph->lost) {
		text_count(graph->lost, count, sizeof(count));
		fprintf(out, ", %s lost", count);
	}
	if (graph->judged)
		fprintf(out, ", %.1f%% of the stacks complete", 100.0 * graph->complete / graph->judged);
	if (graph->unproven)
		fprintf(out, ", %.1f%% more through code without a file",
			100.0 * graph->unproven / graph->judged);
	if (graph->unread) {
		text_count(graph->unread, count, sizeof(count));
		fprintf(out, ", %s not judged, as files cannot be read", count);
	}
	if (graph->unfinished)
		fputs(", the recording is cut off", out);
	alloc_check(fclose(out) ? NULL : facts, 1);
	return facts;
}

void graph_free(struct graph *graph)
{
	free(graph->node);
	free(graph->placed);
	graph->node = NULL;
	graph->placed = NULL;
}
