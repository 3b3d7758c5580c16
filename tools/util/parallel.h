/* SPDX-License-Identifier: GPL-2.0 */
/* Work on many files, each in a child process: a crash loses one file only. */
#ifndef BEE_PARALLEL_H
#define BEE_PARALLEL_H

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#define PARALLEL_MAX_JOBS	1024
#define PARALLEL_MAX_RESULTS	16

/**
 * struct parallel - what to do with items 0 .. @count - 1
 * @count: items
 * @jobs: children at a time; 0: as many as there are CPUs to run on
 * @arg: for the functions below
 * @work: handles item @index, in a child; what it writes to @out is the result
 * @limit: most bytes of the result of item @index, the child of which is killed if it writes more; or
 *	NULL
 * @owner: the user, as of child_owner(), whose files the child of item @index reads.  While child_may_start()
 *	forbids that, no child is started: @done gets no data, and the reason in @died.  NULL: root
 * @patience: a child that has used no CPU time for so many seconds is given up; 0: none
 * @done: takes the result of item @index, in the order of the items; @data is aligned for any
 *	type; @died is NULL, or says how the child died: then @data is what it wrote before
 * @progress: called a few times a second with the number of finished items and the index of the
 *	one that has run longest; or NULL
 *
 * parallel_run() calls @done and @progress in the parent.
 */
struct parallel {
	size_t		 count;
	unsigned int	 jobs;
	void		*arg;
	void		(*work)(void *arg, size_t index, FILE *out);
	size_t		(*limit)(const void *arg, size_t index);
	uid_t		(*owner)(const void *arg, size_t index);
	unsigned int	patience;
	void		(*done)(void *arg, size_t index, const void *data, size_t size,
				const char *died);
	void		(*progress)(void *arg, size_t ready, size_t index);
};

unsigned int parallel_jobs(unsigned int jobs);
int parallel_run(const struct parallel *parallel);

#endif /* BEE_PARALLEL_H */
