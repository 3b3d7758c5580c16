/* SPDX-License-Identifier: GPL-2.0 */
/* Other views of a graph: from the other end, and around a function. */
#ifndef VIEW_H
#define VIEW_H

#include "graph.h"

/**
 * struct view - how to look at stacks
 * @around: of the stacks that have a function of this name, the part that it calls; NULL: all
 * @reverse: from the innermost function to the thread; with @around from this function to the thread
 */
struct view {
	const char	*around;
	bool		 reverse;
};

void graph_view(struct graph *graph, const struct view *view);
bool graph_has_around(const struct graph *graph, size_t node, const char *around);

#endif /* VIEW_H */
