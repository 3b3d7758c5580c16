/* SPDX-License-Identifier: GPL-2.0 */
/* Have processes managed by the module: one with tables for all that it has mapped, or all. */
#ifndef MANAGE_H
#define MANAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "jit_jobs.h"
#include "netlink.h"
#include "table_jobs.h"

/**
 * struct manage_problem - a mapped file that could not be used
 * @path: its name
 * @why: a sentence
 */
struct manage_problem {
	char	*path;
	char	*why;
};

/**
 * struct manage_result - what manage_process() found and did
 * @name: the process's name
 * @ranges: how many executable ranges the module has of the process
 * @tables: distinct tables that they use
 * @compiled: of @tables, compiled now
 * @jit: of @compiled, of code in memory
 * @remapped: ranges of text in memory without a file that have got their file's table
 * @cached: of @tables, read from the cache
 * @stored: of @tables, in the module already
 * @bytes: kernel memory of @tables
 * @text: bytes with a rule in tables that were made now and are not exact
 * @wrong: of @text, bytes with a wrong rule
 * @problem: files that could not be used, or "[jit]"
 * @nproblems: number of them
 * @room: for so many
 * @error: why the process is not managed
 */
struct manage_result {
	char			 name[64];
	size_t			 ranges;
	size_t			 tables;
	size_t			 compiled;
	size_t			 jit;
	size_t			 remapped;
	size_t			 cached;
	size_t			 stored;
	uint64_t		 bytes;
	uint64_t		 text;
	uint64_t		 wrong;
	struct manage_problem	*problem;
	size_t			 nproblems;
	size_t			 room;
	struct bee_error	 error;
};

/**
 * struct manage_all_result - what manage_all() found
 * @managed: processes that are managed now
 * @refused: processes that the module refused; not counted: those without 64-bit user code
 * @pid: the first that was refused
 * @why: and the reason
 */
struct manage_all_result {
	size_t			managed;
	size_t			refused;
	pid_t			pid;
	struct bee_error	why;
};

pid_t manage_begin(struct netlink *nl, pid_t pid, struct bee_error *error);
int manage_count(struct netlink *nl, pid_t pid, struct manage_result *result);
int manage_process(const struct table_maker *maker, pid_t pid, struct manage_result *result);
void manage_result_free(struct manage_result *result);
void manage_process_name(pid_t pid, char *name, size_t size);

int manage_all(struct netlink *nl, bool again, struct manage_all_result *result, struct bee_error *error);
int manage_all_with_tables(const struct table_maker *maker, bool again, jit_done_fn *jit_done,
			   struct manage_all_result *result, struct bee_error *error);
int manage_forget_all(struct netlink *nl, size_t *count, struct bee_error *error);

/* For manage_process() and its test */
pid_t manage_check(pid_t pid, struct bee_error *error);

#endif /* MANAGE_H */
