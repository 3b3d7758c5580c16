/* SPDX-License-Identifier: GPL-2.0 */
/* From rows to the bytes of a table (format: <linux/beeunwind_table.h>). */
#ifndef BEE_ENCODE_H
#define BEE_ENCODE_H

#include "error.h"
#include "rows.h"

/**
 * struct table_segment - an executable PT_LOAD
 * @vaddr: p_vaddr
 * @offset: p_offset
 * @size: p_filesz
 */
struct table_segment {
	u64	vaddr;
	u64	offset;
	u64	size;
};

/**
 * struct table_info - what a table says about its ELF file, apart from the rows
 * @file_size: bytes of the file
 * @segments: executable segments, ascending by vaddr, not overlapping
 * @nsegments: entries in @segments
 * @id_type: enum bee_table_id_type
 * @id_len: bytes of @id in use
 * @id: build-id, or digest of the file
 */
struct table_info {
	u64			file_size;
	struct table_segment	segments[BEE_TABLE_MAX_SEGMENTS];
	size_t			nsegments;
	u8			id_type;
	u8			id_len;
	u8			id[BEE_TABLE_ID_MAX];
};

void *encode_table(const struct table_info *info, const struct row_set *rows, size_t *size,
		   struct bee_error *error);

#endif /* BEE_ENCODE_H */
