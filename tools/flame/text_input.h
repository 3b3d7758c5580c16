/* SPDX-License-Identifier: GPL-2.0 */
/* Stacks as text: what "perf script" prints, and folded stacks. */
#ifndef TEXT_INPUT_H
#define TEXT_INPUT_H

#include "graph.h"

int text_input_read(struct stream *stream, struct profile *profile, struct resolve *resolve,
		    struct graph *graph, struct bee_error *error);

#endif /* TEXT_INPUT_H */
