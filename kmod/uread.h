/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads of user memory; no other file reads it.
 *
 * Words are served from a window of the stack that is copied at once, so most frames need no
 * user access of their own.  copy_from_user_nmi() checks nmi_uaccess_okay(), which modules
 * cannot call, does not fault pages in, and returns the number of bytes not copied
 * (arch/x86/lib/usercopy.c).
 */
#ifndef BEE_UREAD_H
#define BEE_UREAD_H

#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/uaccess.h>

#define BEE_UREAD_WINDOW	512	/* bytes */
#define BEE_UREAD_BELOW		64	/* bytes of it below the word that was asked for */

/**
 * struct bee_uread - a window of the current process's memory
 * @start: address of the first byte
 * @len: valid bytes
 * @no_code: address of the last page from which no code could be read, or ~0
 * @bytes: the window
 */
struct bee_uread {
	u64	start;
	u64	no_code;
	u32	len;
	u8	bytes[BEE_UREAD_WINDOW] __aligned(8);
};

/** bee_uread_init() - begin with an empty window.  Context: Any, NMI-safe. */
static inline void bee_uread_init(struct bee_uread *mem)
{
	mem->start = 0;
	mem->no_code = ~0ull;
	mem->len = 0;
}

static inline bool uread_copy(void *to, u64 addr, u32 n)
{
	return !copy_from_user_nmi(to, (const void __user *)(unsigned long)addr, n);
}

static inline bool uread_hit(const struct bee_uread *mem, u64 addr, u32 n)
{
	return addr - mem->start <= mem->len && mem->len - (addr - mem->start) >= n;
}

/* The window stays within the page of @addr, so an absent neighbour does not matter. */
static inline void uread_refill(struct bee_uread *mem, u64 addr)
{
	u64 page = addr & PAGE_MASK;
	u64 start = addr - min_t(u64, addr - page, BEE_UREAD_BELOW);
	u32 n = min_t(u64, page + PAGE_SIZE - start, BEE_UREAD_WINDOW);
	unsigned long left;

	left = copy_from_user_nmi(mem->bytes, (const void __user *)(unsigned long)start, n);
	mem->start = start;
	mem->len = n - left;
}

/**
 * bee_uread_u64() - read eight bytes of the current process
 * @mem: the window
 * @addr: address, of any value and alignment
 * @value: the word
 *
 * Context: Any, NMI-safe: does not fault, sleep, allocate, lock or print.
 * Return: false if the memory is not present.
 */
static inline bool bee_uread_u64(struct bee_uread *mem, u64 addr, u64 *value)
{
	unsigned long at;

	if (!uread_hit(mem, addr, sizeof(*value))) {
		if (offset_in_page(addr) > PAGE_SIZE - sizeof(*value))
			return uread_copy(value, addr, sizeof(*value));
		uread_refill(mem, addr);
		if (!uread_hit(mem, addr, sizeof(*value)))
			return false;
	}
	/* User space controls @addr, and the value read here becomes the next address. */
	at = array_index_nospec(addr - mem->start, BEE_UREAD_WINDOW - sizeof(*value) + 1);
	memcpy(value, mem->bytes + at, sizeof(*value));
	return true;
}

/**
 * bee_uread_u8() - read one byte of code of the current process
 * @mem: the window, which is not used: it is for the stack
 * @addr: address
 * @value: the byte
 *
 * Code is recognized by reading many bytes.  An attempt to read an absent page costs about as
 * much as a page fault, and a process could build a stack that takes one per byte: the last
 * absent page is remembered.
 *
 * Context: Any, NMI-safe: does not fault, sleep, allocate, lock or print.
 * Return: false if the memory is not present.
 */
static inline bool bee_uread_u8(struct bee_uread *mem, u64 addr, u8 *value)
{
	if ((addr & PAGE_MASK) == mem->no_code)
		return false;
	if (uread_copy(value, addr, sizeof(*value)))
		return true;
	mem->no_code = addr & PAGE_MASK;
	return false;
}

#endif /* BEE_UREAD_H */
