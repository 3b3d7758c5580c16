/* SPDX-License-Identifier: GPL-2.0 */
/* Open the file behind a mapping of a process. */
#ifndef MAP_FILE_H
#define MAP_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "error.h"

/**
 * struct mapping - where a file is mapped
 * @pid: by which process
 * @start: first address
 * @end: address after the last
 */
struct mapping {
	pid_t		 pid;
	uint64_t	 start;
	uint64_t	 end;
};

int map_file_pin(const struct mapping *mapping, struct bee_error *error);
int map_file_open(const struct mapping *mapping, char *name, size_t size, struct bee_error *error);
int map_file_open_vdso(struct bee_error *error);

#endif /* MAP_FILE_H */
