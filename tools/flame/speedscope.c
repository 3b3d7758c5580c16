// SPDX-License-Identifier: GPL-2.0
/*
 * speedscope's JSON: frames with name, file and line, stacks as lists of them, and a weight for each
 * (https://www.speedscope.app/file-format-schema.json, profiles of type "sampled").
 */
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "json_text.h"
#include "output.h"
#include "tracks.h"

static void speedscope_put_frames(const struct graph *graph, FILE *out)
{
	const struct flame_name *name;
	u32 i;

	for (i = 0; i < graph->names->count; i++) {
		name = intern_item(graph->names, i);
		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", out);
		json_put_text(texts_get(graph->texts, name->text), out);
		if (name->line) {
			fputs(",\"file\":", out);
			json_put_text(texts_get(graph->texts, name->source), out);
			fprintf(out, ",\"line\":%u", name->line);
		} else if (*texts_get(graph->texts, name->module)) {
			fputs(",\"file\":", out);
			json_put_text(texts_get(graph->texts, name->module), out);
		}
		putc('}', out);
	}
}

/* A profile, up to its samples.  @of: whose it is */
static void speedscope_begin(const struct graph *graph, const char *of, u64 end, FILE *out)
{
	char name[3 * 256];

	snprintf(name, sizeof(name), "%s%s, in %s", of, graph->event, graph->unit);
	fputs("{\"type\":\"sampled\",\"name\":", out);
	json_put_text(name, out);
	fprintf(out, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%llu,\n\"samples\":[",
		strcmp(graph->unit, "ns") ? "none" : "nanoseconds", (unsigned long long)end);
}

/* The frames of a stack, the thread first. */
static void speedscope_put_stack(const struct graph *graph, u32 *path, size_t node, FILE *out)
{
	u32 depth = graph->node[node].depth, i;

	for (i = depth; i; node = graph->node[node].parent)
		path[--i] = graph->node[node].name;
	putc('[', out);
	for (i = 0; i < depth; i++)
		fprintf(out, i ? ",%u" : "%u", path[i]);
	putc(']', out);
}

static u64 node_value(const struct graph_node *node, bool before)
{
	return before ? node->before_self : node->self;
}

/* One of two graphs that are compared. */
static void speedscope_put_graph(const struct graph *graph, bool before, u32 *path, FILE *out)
{
	const struct graph_node *node = graph->node;
	const char *comma = "";
	size_t i;

	speedscope_begin(graph, before ? "before: " : "", before ? node->before_total : node->total, out);
	for (i = 1; i < graph->count; i++) {
		if (!node_value(&node[i], before))
			continue;
		fputs(comma, out);
		speedscope_put_stack(graph, path, i, out);
		comma = ",\n";
	}
	fputs("],\n\"weights\":[", out);
	for (comma = "", i = 1; i < graph->count; i++) {
		if (!node_value(&node[i], before))
			continue;
		fprintf(out, "%s%llu", comma, (unsigned long long)node_value(&node[i], before));
		comma = ",";
	}
	fputs("]}", out);
}

/*
 * How long nothing was sampled before a sample: what it stands for ends at its time.  @now: end of what came before;
 * set to the end of this sample.  Only what is measured in time has places in time.
 */
static u64 sample_gap(const struct tracks *tracks, size_t at, u64 *now)
{
	u64 time = tracks_time(tracks, at), weight = tracks_weight(tracks, at), gap = 0;

	if (tracks->timed && !strcmp(tracks->graph->unit, "ns") && time > *now + weight)
		gap = time - *now - weight;
	*now += gap + weight;
	return gap;
}

/* A thread, with an empty stack where nothing was sampled. */
static void speedscope_put_thread(const struct tracks *tracks, u32 thread, u32 *path, FILE *out)
{
	const struct graph *graph = tracks->graph;
	size_t first = tracks->start[thread], end = tracks->start[thread + 1], at;
	const char *comma = "";
	char of[256];
	u64 now = 0;

	for (at = first; at < end; at++)
		sample_gap(tracks, at, &now);
	snprintf(of, sizeof(of), "%s: ", graph_text(graph, tracks->first[thread]));
	speedscope_begin(graph, of, now, out);
	for (now = 0, at = first; at < end; at++) {
		fputs(sample_gap(tracks, at, &now) ? at > first ? ",\n[],\n" : "[],\n" : at > first ? ",\n" : "", out);
		speedscope_put_stack(graph, path, tracks_node(tracks, at), out);
	}
	fputs("],\n\"weights\":[", out);
	for (now = 0, at = first; at < end; at++) {
		u64 gap = sample_gap(tracks, at, &now);

		if (gap)
			fprintf(out, "%s%llu", comma, (unsigned long long)gap);
		fprintf(out, "%s%llu", gap ? "," : comma, (unsigned long long)tracks_weight(tracks, at));
		comma = ",";
	}
	fputs("]}", out);
}

/** output_speedscope() - write a graph for speedscope: a profile for each thread if there are times, or one */
void output_speedscope(const struct graph *graph, FILE *out)
{
	u32 *path = alloc_array(NULL, graph->deepest + 1, sizeof(*path)), i;
	struct tracks tracks;

	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
	      "\"exporter\":\"beectl flame\",\"name\":", out);
	json_put_text(*graph->cmdline ? graph->cmdline : graph->event, out);
	fputs(",\n\"shared\":{\"frames\":[", out);
	speedscope_put_frames(graph, out);
	fputs("]},\n\"profiles\":[", out);
	if (graph->placed) {
		tracks_open(&tracks, graph);
		for (i = 0; i < tracks.count; i++) {
			fputs(i ? ",\n" : "", out);
			speedscope_put_thread(&tracks, i, path, out);
		}
		tracks_close(&tracks);
	} else {
		speedscope_put_graph(graph, false, path, out);
		if (graph->is_diff) {
			fputs(",\n", out);
			speedscope_put_graph(graph, true, path, out);
		}
	}
	fputs("]}\n", out);
	free(path);
}
