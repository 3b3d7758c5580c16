/* SPDX-License-Identifier: GPL-2.0 */
/* Words that the dynamic linker relocates. */
#ifndef BEE_RELOCS_H
#define BEE_RELOCS_H

#include "elf.h"

#define RELOCS_MAX	(1u << 21)	/* of a file; chromium has 700,000 */

/**
 * struct reloc - a word that is relocated
 * @where: its address
 * @value: what it will hold, without load bias; 0: not known
 * @name: symbol that it refers to by JUMP_SLOT or GLOB_DAT; otherwise NULL
 */
struct reloc {
	u64		 where;
	u64		 value;
	const char	*name;
};

/**
 * struct relocs - relocated words of a file
 * @list: ascending by @where
 * @count: entries in @list
 * @room: relocations there is memory for
 * @cut: there are more than RELOCS_MAX
 */
struct relocs {
	struct reloc	*list;
	size_t		 count;
	size_t		 room;
	bool		 cut;
};

void relocs_read(const struct elf_file *elf, struct relocs *relocs);
const struct reloc *relocs_find(const struct relocs *relocs, u64 where);
void relocs_free(struct relocs *relocs);

#endif /* BEE_RELOCS_H */
