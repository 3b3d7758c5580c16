// SPDX-License-Identifier: GPL-2.0
/* The samples of each thread. */
#include <stdlib.h>

#include "alloc.h"
#include "tracks.h"

/* Threads are the nodes below the root.  Return: for each node, number of its thread; for free(). */
static u32 *tracks_find(struct tracks *tracks)
{
	const struct graph *graph = tracks->graph;
	u32 *thread = alloc_zero(graph->count + 1, sizeof(*thread));
	size_t i;

	tracks->first = alloc_array(NULL, graph->count + 1, sizeof(*tracks->first));
	for (i = 1; i < graph->count; i++) {
		if (graph->node[i].depth == 1)
			tracks->first[tracks->count++] = i;
		thread[i] = tracks->count - 1;
	}
	tracks->first[tracks->count] = graph->count;
	return thread;
}

/* The node of the @i-th sample; INTERN_NONE if it is not in the graph, as those of other events. */
static u32 sample_node(const struct tracks *tracks, size_t i)
{
	const struct graph *graph = tracks->graph;

	if (tracks->timed)
		return graph->placed[graph->times->node[i]];
	return i && graph->node[i].self ? i : INTERN_NONE;
}

/* Put the samples in the order of their threads; within one they stay in theirs. */
static void tracks_sort(struct tracks *tracks, const u32 *thread)
{
	size_t count = tracks->timed ? tracks->graph->times->count : tracks->graph->count, i, at, sum = 0;
	size_t *next = alloc_zero(tracks->count + 1, sizeof(*next));
	u32 node;

	for (i = 0; i < count; i++)
		if ((node = sample_node(tracks, i)) != INTERN_NONE)
			next[thread[node]]++;
	tracks->start = alloc_array(NULL, tracks->count + 1, sizeof(*tracks->start));
	for (i = 0; i < tracks->count; i++) {
		at = next[i];
		next[i] = tracks->start[i] = sum;
		sum += at;
	}
	tracks->start[tracks->count] = sum;
	tracks->sample = alloc_array(NULL, sum + 1, sizeof(*tracks->sample));
	for (i = 0; i < count; i++)
		if ((node = sample_node(tracks, i)) != INTERN_NONE)
			tracks->sample[next[thread[node]]++] = i;
	free(next);
}

/**
 * tracks_open() - find the samples of each thread
 * @tracks: filled
 * @graph: the graph, which has to outlive it
 */
void tracks_open(struct tracks *tracks, const struct graph *graph)
{
	u32 *thread;

	*tracks = (struct tracks){ .graph = graph, .timed = graph->times && graph->placed };
	thread = tracks_find(tracks);
	tracks_sort(tracks, thread);
	if (tracks->timed && graph->times->count)
		tracks->begin = graph->times->time[0];
	free(thread);
}

void tracks_close(struct tracks *tracks)
{
	free(tracks->first);
	free(tracks->start);
	free(tracks->sample);
}

/** tracks_node() - the node of a sample; @at: its index in @tracks->sample */
u32 tracks_node(const struct tracks *tracks, size_t at)
{
	return sample_node(tracks, tracks->sample[at]);
}

/** tracks_time() - ns from the first sample of all; 0 without times */
u64 tracks_time(const struct tracks *tracks, size_t at)
{
	return tracks->timed ? tracks->graph->times->time[tracks->sample[at]] - tracks->begin : 0;
}

/** tracks_weight() - what a sample weighs: those of one stack share its value, as only their sum is kept */
u64 tracks_weight(const struct tracks *tracks, size_t at)
{
	const struct graph_node *node = &tracks->graph->node[tracks_node(tracks, at)];

	return tracks->timed && node->samples ? node->self / node->samples : node->self;
}
