/* SPDX-License-Identifier: GPL-2.0 */
/* From recordings to profiles. */
#ifndef COLLECT_H
#define COLLECT_H

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
 * @is_due: asked now and then whether @checkpoint is to be called
 * @checkpoint: called with the profile so far; NULL if that is not wanted
 * @arg: for both
 */
struct collect {
	enum collect_roots	 roots;
	bool			(*is_due)(void *arg);
	void			(*checkpoint)(void *arg, struct profile *profile);
	void			*arg;
};

int collect_perfdata(const struct collect *collect, struct stream *stream, struct profile *profile,
		     struct bee_error *error);

#endif /* COLLECT_H */
