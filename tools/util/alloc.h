/* SPDX-License-Identifier: GPL-2.0 */
/* Memory for the tool: succeeds, or ends the program with a message. */
#ifndef BEE_ALLOC_H
#define BEE_ALLOC_H

#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ALLOC_HUGE	(2u << 20)	/* bytes of a huge page */

#define ALLOC_EXIT	1	/* exit status without memory: EXIT_FAILED */

/*
 * Check for NULL.  Large arrays get huge pages: faulting in 4 KiB pages takes longer than filling
 * them.
 */
static inline void *alloc_check(void *p, size_t bytes)
{
	uintptr_t start = ((uintptr_t)p + ALLOC_HUGE - 1) & -(uintptr_t)ALLOC_HUGE;
	uintptr_t end = ((uintptr_t)p + bytes) & -(uintptr_t)ALLOC_HUGE;

	if (!p) {
		fputs("beectl: out of memory\n", stderr);
		exit(ALLOC_EXIT);
	}
	if (bytes >= 2 * ALLOC_HUGE)
		madvise((void *)start, end - start, MADV_HUGEPAGE);
	return p;
}

/**
 * alloc_array() - (re)allocate an array
 * @p: the array so far, or NULL
 * @n: elements wanted, not 0
 * @size: bytes of an element
 *
 * Return: the array, for free(); never NULL.
 */
static inline void *alloc_array(void *p, size_t n, size_t size)
{
	return alloc_check(reallocarray(p, n, size), n * size);
}

/**
 * alloc_zero() - allocate an array of zero bytes
 * @n: elements, not 0
 * @size: bytes of an element
 *
 * Return: the array, for free(); never NULL.
 */
static inline void *alloc_zero(size_t n, size_t size)
{
	return alloc_check(calloc(n, size), n * size);
}

/**
 * alloc_shared() - allocate zero bytes that this process shares with the children that it forks later
 * @size: how many, not 0
 *
 * Return: the memory, never NULL; it stays until the process ends.
 */
static inline void *alloc_shared(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return alloc_check(p == MAP_FAILED ? NULL : p, 0);
}

/* alloc_text(): a copy of a string, for free(); never NULL */
static inline char *alloc_text(const char *text)
{
	return alloc_check(strdup(text), 0);
}

/**
 * alloc_room() - make room for one more element at the end of an array
 * @p: the array so far, or NULL
 * @n: elements in use
 * @capacity: elements there is room for; updated
 * @size: bytes of an element
 *
 * Return: the array, for free(), with @capacity > @n.
 */
static inline void *alloc_room(void *p, size_t n, size_t *capacity, size_t size)
{
	if (n < *capacity)
		return p;
	*capacity = *capacity ? *capacity * 2 : 64;
	return alloc_array(p, *capacity, size);
}

#endif /* BEE_ALLOC_H */
