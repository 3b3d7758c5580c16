// SPDX-License-Identifier: GPL-2.0
/*
 * speedscope's JSON: frames with name, file and line, stacks as lists of them, and a weight for each
 * (https://www.speedscope.app/file-format-schema.json, profiles of type "sampled").
 */
#include <stdlib.h>

#include "alloc.h"
#include "output.h"
#include "text.h"

/* A string; what is not UTF-8 becomes U+FFFD, control characters are escaped. */
static void json_put_text(const char *text, FILE *out)
{
	const unsigned char *s = (const unsigned char *)text;

	putc('"', out);
	while (*s) {
		unsigned int n = text_utf8_length(s);

		if (!n)
			fputs("\\ufffd", out);
		else if (text_utf8_is_control(s))
			fprintf(out, "\\u%04x", *s == 0xc2 ? s[1] : *s);
		else if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else
			fwrite(s, 1, n, out);
		s += n ?: 1;
	}
	putc('"', out);
}

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

static void speedscope_put_stacks(const struct graph *graph, FILE *out)
{
	u32 *path = alloc_array(NULL, graph->deepest + 1, sizeof(*path)), depth;
	const char *comma = "";
	size_t i;

	for (i = 1; i < graph->count; i++) {
		path[graph->node[i].depth] = graph->node[i].name;
		if (!graph->node[i].self)
			continue;
		fprintf(out, "%s\n[", comma);
		for (depth = 1; depth <= graph->node[i].depth; depth++)
			fprintf(out, depth > 1 ? ",%u" : "%u", path[depth]);
		putc(']', out);
		comma = ",";
	}
	free(path);
}

/** output_speedscope() - write a graph for speedscope */
void output_speedscope(const struct graph *graph, FILE *out)
{
	const char *comma = "";
	size_t i;

	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
	      "\"exporter\":\"beectl flame\",\"name\":", out);
	json_put_text(*graph->cmdline ? graph->cmdline : graph->event, out);
	fputs(",\n\"shared\":{\"frames\":[", out);
	speedscope_put_frames(graph, out);
	fputs("]},\n\"profiles\":[{\"type\":\"sampled\",\"name\":", out);
	json_put_text(graph->event, out);
	fprintf(out, ",\"unit\":\"none\",\"startValue\":0,\"endValue\":%llu,\n\"samples\":[",
		(unsigned long long)graph->node[0].total);
	speedscope_put_stacks(graph, out);
	fputs("],\n\"weights\":[", out);
	for (i = 1; i < graph->count; i++)
		if (graph->node[i].self) {
			fprintf(out, "%s%llu", comma, (unsigned long long)graph->node[i].self);
			comma = ",";
		}
	fputs("]}]}\n", out);
}
