/* SPDX-License-Identifier: GPL-2.0 */
/* From a mapped file to the id of its table in the module. */
#ifndef BEE_TABLES_H
#define BEE_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "maps.h"
#include "nl.h"
#include "table.h"
#include "table_file.h"

/**
 * struct mapped_file - what is known about one mapped file
 * @major: of its device, as in maps
 * @minor: of its device, as in maps
 * @inode: its inode number, as in maps; 0 for the vDSO
 * @path: its name, as in maps
 * @pid: the first process that it was looked at for
 * @opened: it could be opened, so that the rest will not change
 * @id: table id, 0 if it has none
 * @source: where the table came from
 * @bytes: kernel memory that the table takes
 * @text: its executable segments, for bee_table_bias()
 * @segments: what @text points to
 * @why: why it has no table
 */
struct mapped_file {
	unsigned int			 major;
	unsigned int			 minor;
	uint64_t			 inode;
	char				*path;
	pid_t				 pid;
	bool				 opened;
	uint32_t			 id;
	enum table_source		 source;
	uint64_t			 bytes;
	struct bee_table		 text;
	struct bee_table_segment	*segments;
	char				 why[256];
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

struct mapped_file *tables_get(struct tables *tables, pid_t pid, const struct mapping *mapping,
			       struct bee_nl_error *error);
int tables_refresh(struct tables *tables, struct bee_nl_error *error);
void tables_update_sizes(struct tables *tables);
bool mapped_file_bias(const struct mapped_file *file, const struct mapping *mapping,
		      uint64_t *bias);

#endif /* BEE_TABLES_H */
