// SPDX-License-Identifier: GPL-2.0
/*
 * Folded stacks, a line for each: "thread;outermost;...;innermost VALUE", as stackcollapse-perf.pl
 * --all writes them: names end with _[k] (kernel), _[i] (inlined) or _[j] (made at run time).
 * Graphs that are compared have two values, as difffolded.pl writes them.
 */
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "output.h"

static const char *const suffixes[FLAME_KINDS] = {
	[FLAME_KERNEL] = "_[k]", [FLAME_INLINED] = "_[i]", [FLAME_JIT] = "_[j]",
};

/* What would end the name or the line is replaced. */
static void folded_put_text(const char *text, bool is_comm, FILE *out)
{
	for (; *text; text++)
		putc(*text == ';' ? ':' : (unsigned char)*text < ' ' || *text == 0x7f ||
		     (is_comm && *text == ' ') ? '_' : *text, out);
}

static void folded_put_name(const struct graph *graph, size_t node, FILE *out)
{
	const struct flame_name *name = graph_name(graph, node);
	const char *source = graph_source(graph, node);

	folded_put_text(graph_text(graph, node), name->kind == FLAME_COMM, out);
	if (name->line) {
		fputs(" (", out);
		folded_put_text(source, false, out);
		fprintf(out, ":%u)", name->line);
	}
	fputs(suffixes[name->kind] ?: "", out);
}

/* Lines of names that were told apart by kind or line are the same only if these are. */
void output_folded(const struct graph *graph, FILE *out)
{
	size_t *path = alloc_array(NULL, graph->deepest + 1, sizeof(*path));
	size_t i, depth;

	for (i = 1; i < graph->count; i++) {
		path[graph->node[i].depth] = i;
		if (!graph->node[i].self && !graph->node[i].before_self)
			continue;
		for (depth = 1; depth <= graph->node[i].depth; depth++) {
			if (depth > 1)
				putc(';', out);
			folded_put_name(graph, path[depth], out);
		}
		if (graph->is_diff)
			fprintf(out, " %llu", (unsigned long long)graph->node[i].before_self);
		fprintf(out, " %llu\n", (unsigned long long)graph->node[i].self);
	}
	free(path);
}
