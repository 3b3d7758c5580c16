/* SPDX-License-Identifier: GPL-2.0 */
/* Open a file that was seen mapped somewhere, though the process may be gone by now. */
#ifndef BEE_FIND_H
#define BEE_FIND_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct place - where a file was mapped
 * @name: its path, as the mount namespace of @pid sees it
 * @size: its bytes
 * @inode: its inode number; on overlayfs that of the file below
 * @pid: process that had it mapped, 0 if none is known
 * @start: of the mapping
 * @end: of the mapping
 */
struct place {
	const char	*name;
	uint64_t	 size;
	uint64_t	 inode;
	pid_t		 pid;
	uint64_t	 start;
	uint64_t	 end;
};

int place_open(const struct place *place, int pin, char *why, size_t size);

#endif /* BEE_FIND_H */
