/* SPDX-License-Identifier: GPL-2.0 */
/* What assemblers and linkers fill the space between functions with (x86-64). */
#ifndef BEE_PAD_H
#define BEE_PAD_H

#include "elf.h"

bool padding_fills(const struct elf_file *elf, u64 start, u64 end);

#endif /* BEE_PAD_H */
