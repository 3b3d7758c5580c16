/* SPDX-License-Identifier: GPL-2.0 */
/* Open the file behind a mapping of a process, which may have ended. */
#ifndef MAP_FILE_H
#define MAP_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "error.h"

/**
 * struct mapping - where a file is mapped
 * @pid: by which process; it may have ended
 * @start: first address
 * @end: address after the last
 * @path: the file's name when it was mapped, as its process saw it; "[vdso]" for the vDSO
 * @size: bytes of the file
 * @inode: its inode number; on overlayfs that of the file in the layer below
 * @user: whose process that is, as child_owner()
 */
struct mapping {
	pid_t		 pid;
	uint64_t	 start;
	uint64_t	 end;
	const char	*path;
	uint64_t	 size;
	uint64_t	 inode;
	uid_t		 user;
};

#define MAP_FILE_VDSO	"[vdso]"

int map_file_pin(const struct mapping *mapping);
int map_file_open(const struct mapping *mapping, int pin, struct bee_error *error);

#endif /* MAP_FILE_H */
