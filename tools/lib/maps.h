/* SPDX-License-Identifier: GPL-2.0 */
/* The executable mappings of a process, from /proc/PID/maps, and the files behind them. */
#ifndef BEE_MAPS_H
#define BEE_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * enum mapping_kind - what is behind a mapping
 * @MAPPING_FILE: a file, which may have no name any more
 * @MAPPING_ANON: anonymous memory: JIT code, stacks, trampolines
 * @MAPPING_VDSO: the kernel's vDSO, an ELF image without a file
 * @MAPPING_VSYSCALL: the fixed vsyscall page, outside of user memory
 */
enum mapping_kind {
	MAPPING_FILE,
	MAPPING_ANON,
	MAPPING_VDSO,
	MAPPING_VSYSCALL,
};

/**
 * struct mapping - one executable mapping
 * @start: first address
 * @end: address after the last
 * @offset: file offset at @start
 * @inode: inode number, 0 without a file
 * @major: of the device that the inode is on
 * @minor: of the device that the inode is on
 * @kind: what is behind it
 * @deleted: the file had no name any more
 * @path: as the process's mount namespace sees it, "[heap]" and the like, or ""
 */
struct mapping {
	uint64_t		 start;
	uint64_t		 end;
	uint64_t		 offset;
	uint64_t		 inode;
	unsigned int		 major;
	unsigned int		 minor;
	enum mapping_kind	 kind;
	bool			 deleted;
	char			*path;
};

/**
 * struct maps - executable mappings, ascending
 * @mapping: the array
 * @count: mappings in it
 * @room: mappings it has memory for
 */
struct maps {
	struct mapping	*mapping;
	size_t		 count;
	size_t		 room;
};

int maps_parse(const char *text, struct maps *maps);
int maps_read(pid_t pid, struct maps *maps);
bool maps_are_same(const struct maps *a, const struct maps *b);
void maps_free(struct maps *maps);

int regular_open(int pin);
int mapping_pin(pid_t pid, uint64_t start, uint64_t end);
int mapping_open(pid_t pid, const struct mapping *mapping, char *why, size_t size);
int mapping_open_by_path(pid_t pid, const struct mapping *m);
int mapping_open_vdso(char *why, size_t size);

#endif /* BEE_MAPS_H */
