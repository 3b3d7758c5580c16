/* SPDX-License-Identifier: GPL-2.0 */
/* Byte order helpers by their kernel names. */
#ifndef BEE_SHIM_ASM_BYTEORDER_H
#define BEE_SHIM_ASM_BYTEORDER_H

#include_next <asm/byteorder.h>

#define le16_to_cpu(x)	__le16_to_cpu(x)
#define le32_to_cpu(x)	__le32_to_cpu(x)
#define le64_to_cpu(x)	__le64_to_cpu(x)
#define cpu_to_le16(x)	__cpu_to_le16(x)
#define cpu_to_le32(x)	__cpu_to_le32(x)
#define cpu_to_le64(x)	__cpu_to_le64(x)

#endif /* BEE_SHIM_ASM_BYTEORDER_H */
