/* SPDX-License-Identifier: GPL-2.0 */
/* The samples of each thread, in the order of their times. */
#ifndef TRACKS_H
#define TRACKS_H

#include "graph.h"

/**
 * struct tracks - samples by thread; without times, a sample for each stack, with all that it weighs
 * @graph: their graph
 * @first: for each thread its node, and one more for the end of the last
 * @count: number of threads
 * @start: for each thread, index in @sample of its first one, and one more for the end
 * @sample: indices of samples, or of nodes if there are no times
 * @timed: there are times
 * @begin: time of the first of all samples
 */
struct tracks {
	const struct graph	*graph;
	u32			*first;
	u32			 count;
	size_t			*start;
	u32			*sample;
	bool			 timed;
	u64			 begin;
};

void tracks_open(struct tracks *tracks, const struct graph *graph);
void tracks_close(struct tracks *tracks);
u32 tracks_node(const struct tracks *tracks, size_t at);
u64 tracks_time(const struct tracks *tracks, size_t at);
u64 tracks_weight(const struct tracks *tracks, size_t at);

#endif /* TRACKS_H */
