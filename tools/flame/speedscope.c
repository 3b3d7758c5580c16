// SPDX-License-Identifier: GPL-2.0
/*
 * speedscope's JSON: frames with name, file and line, stacks as lists of them, and a weight for each
 * (https://www.speedscope.app/file-format-schema.json, profiles of type "sampled").
 */
#include <stdlib.h>

#include "alloc.h"
#include "json_text.h"
#include "output.h"

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

static u64 node_value(const struct graph_node *node, bool before)
{
	return before ? node->before_self : node->self;
}

static void speedscope_put_stacks(const struct graph *graph, bool before, FILE *out)
{
	u32 *path = alloc_array(NULL, graph->deepest + 1, sizeof(*path)), depth;
	const char *comma = "";
	size_t i;

	for (i = 1; i < graph->count; i++) {
		path[graph->node[i].depth] = graph->node[i].name;
		if (!node_value(&graph->node[i], before))
			continue;
		fprintf(out, "%s\n[", comma);
		for (depth = 1; depth <= graph->node[i].depth; depth++)
			fprintf(out, depth > 1 ? ",%u" : "%u", path[depth]);
		putc(']', out);
		comma = ",";
	}
	free(path);
}

static void speedscope_put_profile(const struct graph *graph, bool before, FILE *out)
{
	const struct graph_node *node = graph->node;
	const char *comma = "";
	size_t i;

	fputs("{\"type\":\"sampled\",\"name\":", out);
	json_put_text(before ? "before" : graph->event, out);
	fprintf(out, ",\"unit\":\"none\",\"startValue\":0,\"endValue\":%llu,\n\"samples\":[",
		(unsigned long long)(before ? node->before_total : node->total));
	speedscope_put_stacks(graph, before, out);
	fputs("],\n\"weights\":[", out);
	for (i = 1; i < graph->count; i++) {
		u64 value = node_value(&node[i], before);

		if (!value)
			continue;
		fprintf(out, "%s%llu", comma, (unsigned long long)value);
		comma = ",";
	}
	fputs("]}", out);
}

/** output_speedscope() - write a graph for speedscope */
void output_speedscope(const struct graph *graph, FILE *out)
{
	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
	      "\"exporter\":\"beectl flame\",\"name\":", out);
	json_put_text(*graph->cmdline ? graph->cmdline : graph->event, out);
	fputs(",\n\"shared\":{\"frames\":[", out);
	speedscope_put_frames(graph, out);
	fputs("]},\n\"profiles\":[", out);
	speedscope_put_profile(graph, false, out);
	if (graph->is_diff) {
		fputs(",\n", out);
		speedscope_put_profile(graph, true, out);
	}
	fputs("]}\n", out);
}
