/* SPDX-License-Identifier: GPL-2.0 */
/* Memory for the tool: succeeds, or ends the program with a message. */
#ifndef BEE_ALLOC_H
#define BEE_ALLOC_H

#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define ALLOC_HUGE	(2u << 20)	/* bytes of a huge page */

/* To fault in what will be written from end to end page by page takes longer than to write it. */
static inline void alloc_huge(void *p, size_t size)
{
	uintptr_t start = ((uintptr_t)p + ALLOC_HUGE - 1) & -(uintptr_t)ALLOC_HUGE;
	uintptr_t end = ((uintptr_t)p + size) & -(uintptr_t)ALLOC_HUGE;

	madvise((void *)start, end - start, MADV_HUGEPAGE);
}

/**
 * alloc_array() - (re)allocate an array
 * @p: the array so far, or NULL
 * @n: elements wanted, not 0
 * @size: bytes of an element
 *
 * Return: the array; never NULL.
 */
static inline void *alloc_array(void *p, size_t n, size_t size)
{
	p = reallocarray(p, n, size);
	if (!p) {
		fputs("beectl: out of memory\n", stderr);
		exit(1);
	}
	if (n * size >= 2 * ALLOC_HUGE)
		alloc_huge(p, n * size);
	return p;
}

/**
 * alloc_room() - make room for one more element at the end of an array
 * @p: the array so far, or NULL
 * @n: elements in use
 * @capacity: elements there is room for; updated
 * @size: bytes of an element
 *
 * Return: the array, now with @capacity > @n.
 */
static inline void *alloc_room(void *p, size_t n, size_t *capacity, size_t size)
{
	if (n < *capacity)
		return p;
	*capacity = *capacity ? *capacity * 2 : 64;
	return alloc_array(p, *capacity, size);
}

#endif /* BEE_ALLOC_H */
