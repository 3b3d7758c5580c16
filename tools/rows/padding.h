/* SPDX-License-Identifier: GPL-2.0 */
/* Padding: what assemblers and linkers write between functions (x86-64). */
#ifndef BEE_PADDING_H
#define BEE_PADDING_H

#include "elf.h"

size_t padding_length(const u8 *p, size_t size);
bool padding_fills(const struct elf_file *elf, u64 start, u64 end);

#endif /* BEE_PADDING_H */
