/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's crc32_le() over zlib's: the kernel's inverts at neither end. */
#ifndef BEE_SHIM_LINUX_CRC32_H
#define BEE_SHIM_LINUX_CRC32_H

#include <linux/types.h>
#include <zlib.h>

static inline u32 crc32_le(u32 crc, const void *p, size_t size)
{
	return ~(u32)crc32_z(~crc & 0xffffffffu, p, size);
}

#endif /* BEE_SHIM_LINUX_CRC32_H */
