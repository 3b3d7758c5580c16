/* SPDX-License-Identifier: GPL-2.0 */
/* glibc's swapcontext() and makecontext(), whose CFI does not say where their code leads. */
#ifndef BEE_UCONTEXT_H
#define BEE_UCONTEXT_H

#include "elf.h"
#include "kmod/table.h"

#define UCONTEXT_MAX	2

/**
 * struct ucontext_text - text with another rule than its CFI says
 * @start: first pc
 * @end: pc after the last
 * @rule: its rule
 */
struct ucontext_text {
	u64			start;
	u64			end;
	const struct bee_rule	*rule;
};

bool ucontext_is_start(const struct elf_file *elf, u64 pc);
size_t ucontext_find(const struct elf_file *elf, u64 start, u64 end,
		     struct ucontext_text found[UCONTEXT_MAX]);

#endif /* BEE_UCONTEXT_H */
