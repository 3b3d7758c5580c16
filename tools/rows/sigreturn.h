/* SPDX-License-Identifier: GPL-2.0 */
/* Signal trampolines: the code that handlers return to. */
#ifndef BEE_SIGRETURN_H
#define BEE_SIGRETURN_H

#include "elf.h"

size_t sigreturn_length(const u8 *code, size_t size);
bool sigreturn_is_at(const struct elf_file *elf, u64 pc);

#endif /* BEE_SIGRETURN_H */
