/* SPDX-License-Identifier: GPL-2.0 */
/* Sorted arrays: comparison functions for qsort(), and a binary search. */
#ifndef BEE_ORDER_H
#define BEE_ORDER_H

#include <linux/types.h>
#include <stddef.h>
#include <string.h>

/* Ascending.  For more than one key: order(x->a, y->a) ?: order(x->b, y->b). */
static inline int order(u64 x, u64 y)
{
	return (x > y) - (x < y);
}

/* Compare two u64 of an array, for qsort() and bsearch(). */
static inline int order_u64(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return order(*x, *y);
}

/*
 * Number of items whose key is @key or less.  The keys are u64, ascending, @offset bytes from the
 * start of items of @size bytes.
 */
static inline size_t order_upto(const void *items, size_t count, size_t size, size_t offset, u64 key)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		u64 found;

		memcpy(&found, (const char *)items + middle * size + offset, sizeof(found));
		if (found <= key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

#endif /* BEE_ORDER_H */
