/* SPDX-License-Identifier: GPL-2.0 */
/* For the comparison functions of qsort(). */
#ifndef BEE_ORDER_H
#define BEE_ORDER_H

#include <linux/types.h>

/* Ascending.  For more than one key: order(x->a, y->a) ?: order(x->b, y->b). */
static inline int order(u64 x, u64 y)
{
	return (x > y) - (x < y);
}

#endif /* BEE_ORDER_H */
