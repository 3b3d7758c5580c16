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

#define BEE_UREAD_WINDOW	1024	/* bytes */
#define BEE_UREAD_BELOW		64	/* bytes of it below the word that was asked for, or more */
#define BEE_UREAD_ALIGN		64	/* of the window's first byte */
#define BEE_UREAD_CODE		64	/* bytes of the window of code */
#define BEE_UREAD_CODE_BELOW	16	/* bytes of it below the byte that was asked for */
#define BEE_UREAD_CODE_FAULTS	4	/* reads of code that may fail in a walk */
#define BEE_UREAD_FAULTS	8	/* reads of words that may */

/**
 * struct bee_uread - windows of the current process's memory
 * @start: address of the first byte of @bytes
 * @no_code: address of the last page from which no code could be read, or ~0
 * @code_start: address of the first byte of @code
 * @words: number of addresses, from @start on, at which a whole word is valid
 * @faults: reads of words that have failed
 * @code_len: valid bytes of @code
 * @code_faults: reads of code that have failed
 * @code_apart: one that has failed was across two pages
 * @bytes: the window of the stack
 * @code: the window of code
 */
struct bee_uread {
	u64	start;
	u64	no_code;
	u64	code_start;
	u32	words;
	u32	faults;
	u32	code_len;
	u32	code_faults;
	bool	code_apart;
	u8	bytes[BEE_UREAD_WINDOW] __aligned(8);
	u8	code[BEE_UREAD_CODE] __aligned(8);
};

/** bee_uread_init() - begin with empty windows.  Context: Any, NMI-safe. */
static inline void bee_uread_init(struct bee_uread *mem)
{
	mem->start = 0;
	mem->no_code = ~0ull;
	mem->code_start = 0;
	mem->words = 0;
	mem->faults = 0;
	mem->code_len = 0;
	mem->code_faults = 0;
	mem->code_apart = false;
}

static inline bool uread_copy(void *to, u64 addr, u32 n)
{
	return !copy_from_user_nmi(to, (const void __user *)(unsigned long)addr, n);
}

/*
 * Copy up to @size bytes around @addr, @below of them below it, or more so that the first one is
 * aligned to @align.  They are all in the page of @addr, so an absent neighbour does not matter.
 * @start: address of the first.  Return: how many.
 */
static noinline u32 uread_refill(u8 *bytes, u64 addr, u32 size, u32 below, u32 align,
				 u64 *start)
{
	u64 page = addr & PAGE_MASK;
	u32 n;

	*start = (addr - min_t(u64, addr - page, below)) & ~((u64)align - 1);
	n = min_t(u64, page + PAGE_SIZE - *start, size);
	return n - copy_from_user_nmi(bytes, (const void __user *)(unsigned long)*start, n);
}

static __always_inline bool uread_has(const struct bee_uread *mem, u64 addr)
{
	return addr - mem->start < mem->words;
}

/* A word that is in the window. */
static __always_inline u64 uread_word(const struct bee_uread *mem, u64 addr)
{
	/* User space controls @addr, and the word becomes the next address. */
	unsigned long at = array_index_nospec(addr - mem->start, mem->words);
	u64 word;

	memcpy(&word, mem->bytes + at, sizeof(word));
	return word;
}

/*
 * Move the window to a word outside of it; one in two pages is a window by itself.  Not if too many
 * words were absent: a walk goes on where the caller's rbp is not present, and a process could
 * arrange for that in each frame.
 */
static noinline bool uread_move(struct bee_uread *mem, u64 addr)
{
	u32 len;

	if (mem->faults >= BEE_UREAD_FAULTS)
		return false;
	if (offset_in_page(addr) > PAGE_SIZE - sizeof(u64)) {
		mem->start = addr;
		mem->words = uread_copy(mem->bytes, addr, sizeof(u64));
	} else {
		len = uread_refill(mem->bytes, addr, BEE_UREAD_WINDOW, BEE_UREAD_BELOW,
				   BEE_UREAD_ALIGN, &mem->start);
		mem->words = len < sizeof(u64) ? 0 : len - sizeof(u64) + 1;
	}
	if (uread_has(mem, addr))
		return true;
	mem->faults++;
	return false;
}

/*
 * bee_uread_u64() without a call, for the loop that most steps are made in.  Elsewhere it would
 * enlarge the kernel's stack by what each of its copies needs.
 */
static __always_inline bool bee_uread_u64_inline(struct bee_uread *mem, u64 addr, u64 *value)
{
	if (unlikely(!uread_has(mem, addr)) && !uread_move(mem, addr))
		return false;
	*value = uread_word(mem, addr);
	return true;
}

/**
 * bee_uread_u64() - read eight bytes of the current process
 * @mem: the window
 * @addr: address, of any value and alignment
 * @value: the word
 *
 * Context: Any, NMI-safe: does not fault, sleep, allocate, lock or print.
 * Return: false if the memory is not present, or BEE_UREAD_FAULTS words of this walk were not.
 */
static inline bool bee_uread_u64(struct bee_uread *mem, u64 addr, u64 *value)
{
	return bee_uread_u64_inline(mem, addr, value);
}

#define bee_uread_u64_inline bee_uread_u64_inline

/*
 * Copy the code around @addr, across two pages if need be: functions and return addresses are at
 * page boundaries, too.  If that has failed once, in this walk each page is read by itself.
 */
static inline bool uread_refill_code(struct bee_uread *mem, u64 addr)
{
	u64 start = addr - BEE_UREAD_CODE_BELOW, last = start + BEE_UREAD_CODE - 1;

	if ((addr & PAGE_MASK) == mem->no_code || mem->code_faults >= BEE_UREAD_CODE_FAULTS)
		return false;
	if ((start & PAGE_MASK) != (last & PAGE_MASK) && !mem->code_apart) {
		mem->code_start = start;
		mem->code_len = uread_copy(mem->code, start, BEE_UREAD_CODE) ? BEE_UREAD_CODE : 0;
		if (mem->code_len)
			return true;
		mem->code_apart = true;
		mem->code_faults++;
	}
	mem->code_len = uread_refill(mem->code, addr, BEE_UREAD_CODE, BEE_UREAD_CODE_BELOW, 1,
				     &mem->code_start);
	if (addr - mem->code_start < mem->code_len)
		return true;
	mem->no_code = addr & PAGE_MASK;
	mem->code_faults++;
	return false;
}

/**
 * bee_uread_u8() - read one byte of code of the current process
 * @mem: its window of code, which leaves that of the stack as it is
 * @addr: address
 * @value: the byte
 *
 * Code is recognized by reading many bytes that are close together: those around an ip, and those
 * before a return address and at it, are one copy.  An attempt to read an absent page costs about
 * as much as a page fault, and a process could build a stack that takes one in each frame: the last
 * absent page is remembered, and after BEE_UREAD_CODE_FAULTS there is no more code in this walk.
 *
 * Context: Any, NMI-safe: does not fault, sleep, allocate, lock or print.
 * Return: false if the memory is not present.
 */
static inline bool bee_uread_u8(struct bee_uread *mem, u64 addr, u8 *value)
{
	if (addr - mem->code_start >= mem->code_len && !uread_refill_code(mem, addr))
		return false;
	/* As in bee_uread_u64(). */
	*value = mem->code[array_index_nospec(addr - mem->code_start, BEE_UREAD_CODE)];
	return true;
}

#endif /* BEE_UREAD_H */
