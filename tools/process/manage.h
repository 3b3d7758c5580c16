/* SPDX-License-Identifier: GPL-2.0 */
/* Have a process managed by the module, with tables for all that it has mapped. */
#ifndef BEE_PROC_H
#define BEE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "netlink.h"
#include "table_jobs.h"

/**
 * struct proc_problem - a mapped file that could not be used
 * @path: its name
 * @why: a sentence
 */
struct proc_problem {
	char	*path;
	char	*why;
};

/**
 * struct proc_result - what proc_load() found and did
 * @name: the process's name
 * @mappings: executable mappings
 * @tables: distinct tables that they use
 * @compiled: of these, compiled now
 * @cached: of these, read from the cache
 * @stored: of these, in the module already
 * @bytes: kernel memory of @tables
 * @text: bytes that tables which are not exact and were made now have rules for
 * @wrong: of these, with a wrong rule
 * @problem: files that could not be used
 * @nproblems: number of them
 * @room: for so many
 * @error: why the process was not loaded
 */
struct proc_result {
	char			 name[64];
	size_t			 mappings;
	size_t			 tables;
	size_t			 compiled;
	size_t			 cached;
	size_t			 stored;
	uint64_t		 bytes;
	uint64_t		 text;
	uint64_t		 wrong;
	struct proc_problem	*problem;
	size_t			 nproblems;
	size_t			 room;
	struct bee_error	 error;
};

int proc_load(const struct table_maker *maker, pid_t pid, struct proc_result *result);
void proc_result_free(struct proc_result *result);
void proc_name(pid_t pid, char *name, size_t size);

#endif /* BEE_PROC_H */
