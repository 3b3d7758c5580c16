/* SPDX-License-Identifier: GPL-2.0 */
/* Give the module the tables of what one process, or all, have mapped now. */
#ifndef LOAD_H
#define LOAD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "jit_jobs.h"
#include "table_jobs.h"

/**
 * struct load_problem - a file, or code in memory, that has no table
 * @path: its name
 * @why: a sentence
 */
struct load_problem {
	char	*path;
	char	*why;
};

/**
 * struct load_result - what load_process() found and did
 * @name: the process's name
 * @files: files that it has mapped for execution
 * @tables: files, and ranges of its code in memory, that have a table
 * @compiled: of @tables, those compiled now
 * @jit: of @compiled, tables of code in memory
 * @heaps: code heaps of a Java virtual machine, which need no table
 * @remapped: of @tables, text in memory that has got a copy of its file's table
 * @cached: of @tables, those read from the cache
 * @stored: of @tables, those that the module had already
 * @bytes: size of @tables
 * @text: bytes with a rule in tables that were made now and are not exact
 * @wrong: of @text, bytes with a wrong rule
 * @problem: what has no table
 * @nproblems: entries in @problem
 * @room: entries of @problem there is memory for
 * @error: why nothing was loaded
 */
struct load_result {
	char			 name[64];
	size_t			 files;
	size_t			 tables;
	size_t			 compiled;
	size_t			 jit;
	size_t			 heaps;
	size_t			 remapped;
	size_t			 cached;
	size_t			 stored;
	uint64_t		 bytes;
	uint64_t		 text;
	uint64_t		 wrong;
	struct load_problem	*problem;
	size_t			 nproblems;
	size_t			 room;
	struct bee_error	 error;
};

void load_add_problem(struct load_result *result, const char *path, const char *why);
int load_process(const struct table_maker *maker, pid_t pid, struct load_result *result);
void load_result_free(struct load_result *result);
int load_all(const struct table_maker *maker, jit_done_fn *jit_done, size_t *processes, struct bee_error *error);

#endif /* LOAD_H */
