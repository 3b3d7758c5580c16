/* SPDX-License-Identifier: GPL-2.0 */
/* Two graphs side by side. */
#ifndef DIFF_H
#define DIFF_H

#include "graph.h"

void graph_diff(struct graph *graph, struct resolve *resolve, const struct graph *before);
double graph_share(const struct graph *graph, size_t node);
double graph_share_before(const struct graph *graph, size_t node);

#endif /* DIFF_H */
