/* SPDX-License-Identifier: GPL-2.0 */
/* <string.h>, and what the kernel's has beyond it. */
#ifndef BEE_SHIM_LINUX_STRING_H
#define BEE_SHIM_LINUX_STRING_H

#include <linux/types.h>
#include <string.h>

/* First byte of @p that is not @c, or NULL. */
static inline const void *memchr_inv(const void *p, int c, size_t size)
{
	const u8 *at = p;

	for (; size; at++, size--)
		if (*at != (u8)c)
			return at;
	return NULL;
}

#endif /* BEE_SHIM_LINUX_STRING_H */
