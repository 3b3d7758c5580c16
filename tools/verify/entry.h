/* SPDX-License-Identifier: GPL-2.0 */
/* Where a file is started, found without tools/elf/elf.c's opinion. */
#ifndef BEE_ENTRY_H
#define BEE_ENTRY_H

#include "elf.h"

u64 entry_find(const struct elf_file *elf);

#endif /* BEE_ENTRY_H */
