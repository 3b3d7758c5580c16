/* SPDX-License-Identifier: GPL-2.0 */
/* Files that show a graph. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdio.h>

#include "graph.h"

/*
 * struct output - a format; files whose names end with @suffix have it.  @write: NULL for that of
 * raw.h.  @all_events: one file shows all events.  @diff: it can show two graphs.  @views: and what graph_view()
 * makes, which may begin with anything.  @times: it shows when samples were taken, thread by thread.
 */
struct output {
	const char	*name;
	const char	*suffix;
	bool		all_events;
	bool		diff;
	bool		views;
	bool		times;
	void		(*write)(const struct graph *graph, FILE *out);
};

/* All formats.  The last is followed by one without a name. */
extern const struct output outputs[];

const struct output *output_find(const char *name);
const struct output *output_of_path(const char *path);

void output_svg(const struct graph *graph, FILE *out);
void output_speedscope(const struct graph *graph, FILE *out);
void output_firefox(const struct graph *graph, FILE *out);
void output_pprof(const struct graph *graph, FILE *out);
void output_folded(const struct graph *graph, FILE *out);

#endif /* OUTPUT_H */
