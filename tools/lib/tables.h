/* SPDX-License-Identifier: GPL-2.0 */
/* See to it that files which are mapped have their tables in the module. */
#ifndef BEE_TABLES_H
#define BEE_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "nl.h"
#include "table_file.h"

/**
 * struct mapped_file - what is known about one mapped file
 * @id: the module's name for it
 * @path: its name
 * @pid: the first process that it was looked at for
 * @opened: it could be opened, so that the rest will not change
 * @source: where the table came from
 * @bytes: kernel memory that file and table take
 * @why: why it has no table
 */
struct mapped_file {
	uint32_t		 id;
	char			*path;
	pid_t			 pid;
	bool			 opened;
	enum table_source	 source;
	uint64_t		 bytes;
	char			 why[256];
};

/**
 * typedef tables_progress_fn - told before something that can take long
 * @arg: from tables_open()
 * @path: the file that is going to be compiled; NULL: done with it
 */
typedef void (*tables_progress_fn)(void *arg, const char *path);

struct tables;

struct tables *tables_open(struct bee_nl *nl, tables_progress_fn progress, void *arg,
			   struct bee_nl_error *error);
void tables_close(struct tables *tables);
const char *tables_warning(const struct tables *tables);

struct mapped_file *tables_get(struct tables *tables, pid_t pid, const struct range *range,
			       struct bee_nl_error *error);
void tables_update_sizes(struct tables *tables);

#endif /* BEE_TABLES_H */
