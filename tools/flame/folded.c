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
#include "text.h"

static const char *const suffixes[FLAME_KINDS] = {
	[FLAME_KERNEL] = "_[k]", [FLAME_INLINED] = "_[i]", [FLAME_JIT] = "_[j]",
};

/* What would end the name or the line is replaced, and what a terminal may act on. */
static void folded_put_text(const char *text, bool is_comm, FILE *out)
{
	const unsigned char *s = (const unsigned char *)text;
	unsigned int n;

	for (; *s; s += n ?: 1) {
		n = text_utf8_length(s);
		if (*s == ';')
			putc_unlocked(':', out);
		else if ((n ? text_utf8_is_control(s) : *s < 0xa0) || (is_comm && *s == ' '))
			putc_unlocked('_', out);
		else
			fwrite_unlocked(s, 1, n ?: 1, out);
	}
}

/* A name as it is written: each is in many stacks. */
struct folded_name {
	char	*text;
	size_t	 size;
};

static void folded_name_make(struct folded_name *made, const struct graph *graph, size_t node)
{
	const struct flame_name *name = graph_name(graph, node);
	FILE *out = open_memstream(&made->text, &made->size);

	alloc_check(out, 0);
	folded_put_text(graph_text(graph, node), name->kind == FLAME_COMM, out);
	if (name->line) {
		fputs(" (", out);
		folded_put_text(graph_source(graph, node), false, out);
		fprintf(out, ":%u)", name->line);
	}
	fputs(suffixes[name->kind] ?: "", out);
	alloc_check(fclose(out) ? NULL : made->text, 0);
}

/** output_folded() - write folded stacks; names that differ in kind or line only stay apart */
void output_folded(const struct graph *graph, FILE *out)
{
	struct folded_name *names = alloc_zero(graph->names->count + 1, sizeof(*names)), *name;
	u32 *path = alloc_array(NULL, graph->deepest + 1, sizeof(*path));
	size_t i, depth;

	for (i = 1; i < graph->count; i++) {
		const struct graph_node *node = &graph->node[i];

		path[node->depth] = node->name;
		if (!names[node->name].text)
			folded_name_make(&names[node->name], graph, i);
		if (!node->self && !node->before_self)
			continue;
		for (depth = 1; depth <= node->depth; depth++) {
			name = &names[path[depth]];
			/* A line that begins with # is a comment. */
			if (depth == 1 && *name->text == '#')
				putc_unlocked('_', out);
			else if (depth > 1)
				putc_unlocked(';', out);
			fwrite_unlocked(name->text, 1, name->size, out);
		}
		if (graph->is_diff)
			fprintf(out, " %llu", (unsigned long long)node->before_self);
		fprintf(out, " %llu\n", (unsigned long long)node->self);
	}
	for (i = 0; i < graph->names->count; i++)
		free(names[i].text);
	free(names);
	free(path);
}
