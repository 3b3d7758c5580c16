/* SPDX-License-Identifier: GPL-2.0 */
/* Text that a program has moved into memory without a file, as it does for huge pages. */
#ifndef REMAPPED_H
#define REMAPPED_H

#include <linux/types.h>
#include <stdbool.h>

#include "elf.h"
#include "maps.h"
#include "memory.h"

/* Pages of it that are compared with the file. */
#define REMAPPED_PAGES	64

/**
 * struct remapped - a place where a file may have been mapped
 * @start: first address
 * @end: address after the last
 * @before: the file's mapping below
 * @after: its mapping above
 * @offset: byte of the file at @start, if remapped_place() has found it
 * @text: segment of the file that has @offset, if remapped_place() has found it
 */
struct remapped {
	u64			 start;
	u64			 end;
	struct maps_entry	 before;
	struct maps_entry	 after;
	u64			 offset;
	struct elf_segment	 text;
};

bool remapped_find(const struct maps *maps, u64 start, u64 end, struct remapped *remapped);
bool remapped_place(const struct elf_file *elf, struct remapped *remapped);
bool remapped_is_text(struct memory *memory, int fd, const struct remapped *remapped);

#endif /* REMAPPED_H */
