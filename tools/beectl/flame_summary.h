/* SPDX-License-Identifier: GPL-2.0 */
/* What beectl flame prints when it writes no file. */
#ifndef FLAME_SUMMARY_H
#define FLAME_SUMMARY_H

#include "graph.h"

void flame_summary_facts(const struct graph *graph, FILE *out);
void flame_summary_print(const struct graph *graph);
void flame_summary_print_around(const struct graph *graph, const char *around);
void flame_summary_json(const struct graph *graph, const char *around);

#endif /* FLAME_SUMMARY_H */
