/* SPDX-License-Identifier: GPL-2.0 */
/* The page macros that kmod/uread.h needs from the kernel's header of this name. */
#ifndef BEE_TEST_LINUX_MM_H
#define BEE_TEST_LINUX_MM_H

#define PAGE_SIZE		4096ul
#define PAGE_MASK		(~(PAGE_SIZE - 1))
#define offset_in_page(addr)	((addr) & ~PAGE_MASK)
#define min_t(type, a, b)	((type)(a) < (type)(b) ? (type)(a) : (type)(b))
#define __aligned(n)		__attribute__((aligned(n)))

#endif /* BEE_TEST_LINUX_MM_H */
