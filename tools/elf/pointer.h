/* SPDX-License-Identifier: GPL-2.0 */
/* Encoded pointers of .eh_frame and .eh_frame_hdr (LSB 5.0, DW_EH_PE_*). */
#ifndef BEE_POINTER_H
#define BEE_POINTER_H

#include "cursor.h"

/**
 * struct pointer_base - what encoded pointers of a section are relative to
 * @data: bytes of the section
 * @vaddr: address of @data as in the ELF file
 * @datarel: base of DW_EH_PE_datarel
 * @has_datarel: @datarel is known
 */
struct pointer_base {
	const u8	*data;
	u64		 vaddr;
	u64		 datarel;
	bool		 has_datarel;
};

bool pointer_skip(struct cursor *c, u8 encoding, const struct pointer_base *base);
bool pointer_read(struct cursor *c, u8 encoding, const struct pointer_base *base, u64 *value);
bool pointer_read_size(struct cursor *c, u8 encoding, u64 *value);

#endif /* BEE_POINTER_H */
