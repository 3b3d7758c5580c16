/* SPDX-License-Identifier: GPL-2.0 */
/* From recordings to profiles. */
#ifndef COLLECT_H
#define COLLECT_H

#include "filter.h"
#include "profile.h"

/* enum collect_roots - what samples are told apart by: threads' names, with pid, with both ids */
enum collect_roots {
	COLLECT_COMM,
	COLLECT_PID,
	COLLECT_TID,
};

/**
 * struct collect - how to read a recording
 * @roots: what is told apart
 * @filter: which samples count
 * @times: keep when samples were taken
 * @is_due: called after each round of perf's, and more often in long ones; if it returns true, @checkpoint is
 *	called next
 * @checkpoint: gets the profile of what has been read so far; NULL: there are no checkpoints
 * @arg: for both
 */
struct collect {
	enum collect_roots	 roots;
	struct filter		 filter;
	bool			 times;
	bool			(*is_due)(void *arg);
	void			(*checkpoint)(void *arg, struct profile *profile);
	void			*arg;
};

int collect_perfdata(const struct collect *collect, struct stream *stream, struct profile *profile,
		     struct bee_error *error);

#endif /* COLLECT_H */
