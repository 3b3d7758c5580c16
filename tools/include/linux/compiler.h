/* SPDX-License-Identifier: GPL-2.0 */
/* What the shared code takes from the kernel's <linux/compiler.h>. */
#ifndef BEE_SHIM_LINUX_COMPILER_H
#define BEE_SHIM_LINUX_COMPILER_H

#define unlikely(x)	__builtin_expect(!!(x), 0)
#define noinline	__attribute__((noinline))

/* From here on the compiler does not know where the value of @var comes from. */
#define OPTIMIZER_HIDE_VAR(var)	asm("" : "=r" (var) : "0" (var))

#endif /* BEE_SHIM_LINUX_COMPILER_H */
