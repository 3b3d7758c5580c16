/* SPDX-License-Identifier: GPL-2.0 */
/* Worker processes that change their mappings by every system call there is for it. */
#ifndef BEE_TORTURE_H
#define BEE_TORTURE_H

#include <sys/types.h>

/* struct torture_lib - a library built of torture_lib.c, whose torture_call() fits in one page */
struct torture_lib {
	char	path[256];
	int	fd;
	off_t	page;
	off_t	at;
};

/* struct torture_counts - what all workers have done so far */
struct torture_counts {
	unsigned long	maps;
	unsigned long	unmaps;
	unsigned long	moves;
	unsigned long	calls;
	unsigned long	dlopens;
	unsigned long	fresh;
	unsigned long	forks;
	unsigned long	execs;
	unsigned long	threads;
};

#define TORTURE_LIBS	4
extern struct torture_lib torture_lib[TORTURE_LIBS];

/* In memory shared by all workers. */
extern struct torture_counts *torture_counts;

void torture_open(void);
void torture_worker(void *seed);

#endif /* BEE_TORTURE_H */
