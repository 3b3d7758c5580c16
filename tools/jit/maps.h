/* SPDX-License-Identifier: GPL-2.0 */
/* What a process has mapped, as /proc/PID/maps has it. */
#ifndef MAPS_H
#define MAPS_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "elf.h"
#include "error.h"

/* A process may have as many as vm.max_map_count, 65,530 unless somebody has raised it. */
#define MAPS_MAX	(1u << 20)

#define MAPS_VDSO	"[vdso]"

/**
 * struct maps_entry - a mapping
 * @start: first address
 * @end: address after the last
 * @offset: byte of the file at @start
 * @device: that the file is on, as the kernel's dev_t
 * @inode: the file's inode number; 0 for memory without a file
 * @writable: the process may write to it
 * @path: of the file, as the process sees it, or another name, or ""; NULL: it is not executable
 */
struct maps_entry {
	u64	start;
	u64	end;
	u64	offset;
	u64	device;
	u64	inode;
	bool	writable;
	char	*path;
};

/* struct maps: mappings, ascending, not overlapping; all zero is empty */
struct maps {
	struct maps_entry	*entry;
	size_t			 count;
	size_t			 room;
};

int maps_read(FILE *in, struct maps *maps, struct bee_error *error);
int maps_read_process(pid_t pid, struct maps *maps, struct bee_error *error);
bool maps_is_memory(const struct maps_entry *entry);
bool maps_find_address(const struct maps_entry *entry, const struct elf_file *elf, u64 vaddr, u64 *address);
void maps_free(struct maps *maps);

#endif /* MAPS_H */
