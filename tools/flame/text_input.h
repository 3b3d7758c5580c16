/* SPDX-License-Identifier: GPL-2.0 */
/* Stacks as text: what "perf script" prints, and folded stacks. */
#ifndef TEXT_INPUT_H
#define TEXT_INPUT_H

#include "graph.h"

/**
 * struct text_wish - what to show of text
 * @event: name of the event; NULL: the first one
 * @samples: each sample counts one, whatever its period
 */
struct text_wish {
	const char	*event;
	bool		 samples;
};

int text_input_read(struct stream *stream, const struct text_wish *wish, struct profile *profile,
		    struct resolve *resolve, struct graph *graph, struct bee_error *error);

#endif /* TEXT_INPUT_H */
