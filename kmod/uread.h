/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads of user memory; no other file reads it.
 *
 * Page faults are off while memory is read, so a read of a page that is not present fails.
 * nmi_uaccess_okay() says whether user memory may be read at all.  It is not exported to modules,
 * but copy_from_user_nmi() calls it (arch/x86/lib/usercopy.c).  So in each walk that function
 * reads the first word; once it has read one, the answer is yes until the walk's end.  If another
 * task preempts the walk, the scheduler loads this task's address space again before it goes on.
 */
#ifndef BEE_UREAD_H
#define BEE_UREAD_H

#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/types.h>
#include <linux/uaccess.h>

#include "work.h"

#define BEE_UREAD_CODE		64	/* bytes of the window of code */
#define BEE_UREAD_CODE_BELOW	16	/* bytes of the window below the byte that was asked for */

/**
 * struct bee_uread - memory of the current process
 * @limit: words below this address may be read, but not at 0; 0 when absent words have left nothing
 * @no_code: address of the last page from which no code could be read, or ~0
 * @code_start: address of the first byte of @code
 * @left: instructions that the walk may still take (work.h); its end is near if this is negative
 * @code_len: valid bytes of @code
 * @code_apart: one that has failed was across two pages
 * @allowed: copy_from_user_nmi() has read a word
 * @code: a window of code
 */
struct bee_uread {
	u64	limit;
	u64	no_code;
	u64	code_start;
	s32	left;
	u32	code_len;
	bool	code_apart;
	bool	allowed;
	u8	code[BEE_UREAD_CODE] __aligned(8);
};

static inline bool uread_copy(void *to, u64 addr, u32 n)
{
	return !copy_from_user_nmi(to, (const void __user *)(unsigned long)addr, n);
}

/*
 * Account for a word that is not present.  A walk goes on without the caller's rbp, and a process
 * could arrange for each frame to lack it.
 */
static __always_inline void uread_note_fault(struct bee_uread *mem)
{
	mem->left -= BEE_WORK_FAULT;
	if (mem->left < 0)
		mem->limit = 0;
}

/* bee_uread_u64() as long as no word has been read. */
static noinline __maybe_unused bool uread_first(struct bee_uread *mem, u64 addr, u64 *value)
{
	/* As in bee_uread_u64_begun(). */
	addr = array_index_nospec(addr, mem->limit);
	if (!addr)
		return false;
	mem->allowed = uread_copy(value, addr, sizeof(*value));
	if (!mem->allowed)
		uread_note_fault(mem);
	return mem->allowed;
}

/**
 * bee_uread_init() - begin a walk
 * @mem: filled
 * @sp: the stack pointer; the word there is read, so that @mem->allowed is set if it is present
 *
 * Context: Any, NMI-safe.  All reads of a walk are made by the task that began it.
 */
static inline void bee_uread_init(struct bee_uread *mem, u64 sp)
{
	u64 word;

	mem->limit = TASK_SIZE_MAX - sizeof(u64) + 1;
	mem->no_code = ~0ull;
	mem->code_start = 0;
	mem->left = BEE_WORK_WALK;
	mem->code_len = 0;
	mem->code_apart = false;
	mem->allowed = false;
	uread_first(mem, sp, &word);
}

/**
 * bee_uread_begin() - allow bee_uread_u64_begun()
 *
 * Until bee_uread_end() SMAP does not keep the kernel from user memory, so no function may be
 * called; objtool warns of calls.  There is no barrier against speculation, as each address is
 * masked.
 *
 * Context: Any, NMI-safe.  Caller has seen mem->allowed.
 */
static __always_inline void bee_uread_begin(void)
{
	pagefault_disable();
	__uaccess_begin();
}

/** bee_uread_end() - the end of what bee_uread_begin() has begun.  Context: Any, NMI-safe. */
static __always_inline void bee_uread_end(void)
{
	__uaccess_end();
	pagefault_enable();
}

/**
 * bee_uread_u64_begun() - bee_uread_u64() between bee_uread_begin() and bee_uread_end()
 * @mem: memory of the process
 * @addr: address, of any value and alignment
 * @value: the word
 *
 * Context: Any, NMI-safe.
 * Return: false if the memory is not present, or words that were not have left nothing of the walk's
 * work.
 */
static __always_inline bool bee_uread_u64_begun(struct bee_uread *mem, u64 addr, u64 *value)
{
	/*
	 * User space controls @addr, and the word becomes the next address.  Those from the limit
	 * on become 0.
	 */
	addr = array_index_nospec(addr, mem->limit);
	if (unlikely(!addr))
		return false;
	unsafe_get_user(*value, (const u64 __user *)(unsigned long)addr, absent);
	return true;
absent:
	uread_note_fault(mem);
	return false;
}

/**
 * bee_uread_u64() - read eight bytes of the current process
 * @mem: memory of the process
 * @addr: address, of any value and alignment
 * @value: the word
 *
 * Not inlined, as each of its many copies would take stack of its own.
 *
 * Context: Any, NMI-safe.
 * Return: false if the memory is not present, or words that were not have left nothing of the walk's
 * work.
 */
static noinline __maybe_unused bool bee_uread_u64(struct bee_uread *mem, u64 addr, u64 *value)
{
	bool present;
	u64 word;

	if (unlikely(!mem->allowed))
		return uread_first(mem, addr, value);
	bee_uread_begin();
	present = bee_uread_u64_begun(mem, addr, &word);
	bee_uread_end();
	if (present)
		*value = word;
	return present;
}

#define bee_uread_u64_begun bee_uread_u64_begun

/*
 * Copy the code around @addr that is in the same page, so that an absent neighbour does not matter.
 * Not inlined, for the sake of the kernel's stack.
 */
static noinline __maybe_unused void uread_refill_page(struct bee_uread *mem, u64 addr)
{
	u64 page = addr & PAGE_MASK;
	u64 start = addr - min_t(u64, addr - page, BEE_UREAD_CODE_BELOW);
	u32 n = min_t(u64, page + PAGE_SIZE - start, BEE_UREAD_CODE);

	mem->code_start = start;
	mem->code_len = n - copy_from_user_nmi(mem->code,
					       (const void __user *)(unsigned long)start, n);
}

/*
 * Copy the code around @addr, across two pages if need be: functions and return addresses are at
 * page boundaries, too.  If that has failed once, in this walk each page is read by itself.
 */
static inline bool uread_refill_code(struct bee_uread *mem, u64 addr)
{
	u64 start = addr - BEE_UREAD_CODE_BELOW, last = start + BEE_UREAD_CODE - 1;

	if ((addr & PAGE_MASK) == mem->no_code || mem->left < 0)
		return false;
	mem->left -= BEE_WORK_COPY;
	if ((start & PAGE_MASK) != (last & PAGE_MASK) && !mem->code_apart) {
		mem->code_start = start;
		mem->code_len = uread_copy(mem->code, start, BEE_UREAD_CODE) ? BEE_UREAD_CODE : 0;
		if (mem->code_len)
			return true;
		mem->code_apart = true;
		mem->left -= BEE_WORK_FAULT;
	}
	uread_refill_page(mem, addr);
	if (addr - mem->code_start < mem->code_len)
		return true;
	mem->no_code = addr & PAGE_MASK;
	mem->left -= BEE_WORK_FAULT;
	return false;
}

/**
 * bee_uread_u8() - read one byte of code of the current process
 * @mem: its window of code
 * @addr: address
 * @value: the byte
 *
 * Code is recognized by reading many bytes that are close together: those around an ip, and those
 * before a return address and at it, are one copy.  An attempt to read an absent page costs about
 * as much as a page fault, and a process could build a stack that takes one in each frame: the last
 * absent page is remembered, and all are paid from the walk's work.
 *
 * Context: Any, NMI-safe.
 * Return: false if the memory is not present.
 */
static inline bool bee_uread_u8(struct bee_uread *mem, u64 addr, u8 *value)
{
	mem->left -= BEE_WORK_BYTE;
	if (addr - mem->code_start >= mem->code_len && !uread_refill_code(mem, addr))
		return false;
	/* As in bee_uread_u64_begun(). */
	*value = mem->code[array_index_nospec(addr - mem->code_start, BEE_UREAD_CODE)];
	return true;
}

#endif /* BEE_UREAD_H */
