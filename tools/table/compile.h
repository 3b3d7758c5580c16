/* SPDX-License-Identifier: GPL-2.0 */
/* From an ELF file to its unwind table. */
#ifndef BEE_COMPILE_H
#define BEE_COMPILE_H

#include <stddef.h>
#include <stdint.h>

#include "eh_frame.h"
#include "elf.h"
#include "lossy.h"
#include "rows.h"

/**
 * struct compile_result - a new table, and what it was made from
 * @blob: the table (format: <linux/beeunwind_table.h>), malloc'ed; NULL on failure
 * @size: bytes of @blob
 * @table: @blob, validated; points into @blob
 * @rows: rows after merging
 * @synth_rows: of @rows, those of text without CFI whose code proves them
 * @synth: bytes of such text
 * @abi_rows: of @rows, those of text without CFI that are right if its code keeps the ABI
 * @abi: bytes of such text
 * @unsupported: rows of kind BEE_RULE_UNSUPPORTED
 * @cfi_size: bytes of .eh_frame and .eh_frame_hdr
 * @go: functions in Go's function table
 * @go_trouble: why there are none, in a file of Go's: a sentence; or NULL
 * @lossy: what was left out, if the table is not exact
 */
struct compile_result {
	void	*blob;
	size_t	 size;
	struct bee_table table;
	size_t	 rows;
	uint64_t synth_rows;
	uint64_t synth;
	uint64_t abi_rows;
	uint64_t abi;
	size_t	 unsupported;
	uint64_t cfi_size;
	uint64_t go;
	const char *go_trouble;
	struct lossy_report lossy;
};

int compile_elf(int fd, const struct lossy_options *lossy, struct compile_result *result,
		struct bee_error *error);
int compile_list(const struct elf_file *elf, const struct fde_list *list, struct row_set *rows,
		 struct compile_result *result, struct bee_error *error);
int compile_rows(const struct elf_file *elf, const struct lossy_options *lossy,
		 struct row_set *rows, struct compile_result *result, struct bee_error *error);
void *compile_encode(const struct elf_file *elf, const struct row_set *rows, size_t *size,
		     struct bee_error *error);
void compile_result_free(struct compile_result *result);

#endif /* BEE_COMPILE_H */
