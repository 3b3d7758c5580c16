/* SPDX-License-Identifier: GPL-2.0 */
/* Which files processes have mapped for execution. */
#ifndef MAPPED_H
#define MAPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "map_file.h"

/**
 * struct mapped - an executable mapping
 * @mapping: where
 * @offset: byte of the file at its start
 * @device: that the file is on, as the kernel's dev_t; on overlayfs not that of the layer below
 * @inode: the file's inode number; 0 for the vDSO, and for memory without a file
 * @path: its name, as the process sees it; MAPS_VDSO for the vDSO; "" for memory without a file
 */
struct mapped {
	struct mapping	 mapping;
	uint64_t	 offset;
	uint64_t	 device;
	uint64_t	 inode;
	char		*path;
};

/* struct mapped_list: a growing array; all zero is an empty one */
struct mapped_list {
	struct mapped	*at;
	size_t		 count;
	size_t		 room;
};

int mapped_add(struct mapped_list *list, pid_t pid, struct bee_error *error);
int mapped_add_all(struct mapped_list *list, size_t *processes, struct bee_error *error);
void mapped_sort(struct mapped_list *list);
bool mapped_is_same(const struct mapped *mapped, const struct mapped *other);
void mapped_free(struct mapped_list *list);

pid_t process_check(pid_t pid, struct bee_error *error);
void process_name(pid_t pid, char *name, size_t size);

#endif /* MAPPED_H */
