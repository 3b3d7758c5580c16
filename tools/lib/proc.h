/* SPDX-License-Identifier: GPL-2.0 */
/* Bring what the module knows about a process up to date with the process. */
#ifndef BEE_PROC_H
#define BEE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "nl.h"
#include "tables.h"

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
 * @cookie: the module's name for its address space
 * @mappings: executable mappings
 * @tables: distinct tables that they use
 * @compiled: of these, compiled now
 * @cached: of these, read from the cache
 * @stored: of these, in the module already
 * @bytes: kernel memory of @tables
 * @added: ranges added
 * @deleted: ranges removed
 * @problem: files that could not be used
 * @nproblems: number of them
 * @error: why the process was not loaded
 */
struct proc_result {
	char			 name[64];
	uint64_t		 cookie;
	size_t			 mappings;
	size_t			 tables;
	size_t			 compiled;
	size_t			 cached;
	size_t			 stored;
	uint64_t		 bytes;
	size_t			 added;
	size_t			 deleted;
	struct proc_problem	*problem;
	size_t			 nproblems;
	struct bee_nl_error	 error;
};

int proc_load(struct bee_nl *nl, struct tables *tables, pid_t pid, struct proc_result *result);
void proc_result_free(struct proc_result *result);
void proc_name(pid_t pid, char *name, size_t size);

#endif /* BEE_PROC_H */
