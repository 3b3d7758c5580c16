/* SPDX-License-Identifier: GPL-2.0 */
/* Give the module tables of code that processes have in memory. */
#ifndef JIT_JOBS_H
#define JIT_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "table_jobs.h"

/**
 * struct jit_result - what has become of the code that a process has in memory
 * @objects: pieces of code that it has registered
 * @laid: ranges that have a table now
 * @tables: tables made now of code that it has registered
 * @remapped: ranges with text of a file, which have got the file's table now
 * @bytes: of the tables that are new
 * @removed: ranges whose table has gone, or was replaced
 * @heaps: code heaps of a Java virtual machine that the module knows now
 * @new_heaps: it has not known them before
 * @name: what the code is called
 * @error: why code has no table; "" if there is nothing to say
 */
struct jit_result {
	size_t			objects;
	size_t			laid;
	size_t			tables;
	size_t			remapped;
	uint64_t		bytes;
	size_t			removed;
	size_t			heaps;
	bool			new_heaps;
	char			name[128];
	struct bee_error	error;
};

typedef void jit_done_fn(void *arg, pid_t pid, const struct jit_result *result);

/**
 * struct jit_jobs - which processes
 * @maker: the module, and how tables of files are made
 * @jobs: processes at a time; 0: as many as there are CPUs
 * @pid: the processes
 * @count: processes in @pid
 * @arg: for @done
 * @done: called with the result of each process, in their order; NULL: nobody wants to know
 */
struct jit_jobs {
	const struct table_maker *maker;
	unsigned int	 jobs;
	const pid_t	*pid;
	size_t		 count;
	void		*arg;
	jit_done_fn	*done;
};

int jit_jobs_run(const struct jit_jobs *jobs);
int jit_jobs_run_mapped(const struct table_maker *maker, const struct mapped_list *list, jit_done_fn *done,
			void *arg);

int jit_jobs_find_java(pid_t pid, struct bee_error *error);

/* jit_jobs_run() in two parts, for callers that start the child, and wait for it, themselves */
void jit_jobs_look(const struct table_maker *maker, pid_t pid, FILE *out);
struct jit_result jit_jobs_result(const void *data, size_t size, const char *died);

#endif /* JIT_JOBS_H */
