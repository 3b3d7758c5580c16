/* SPDX-License-Identifier: GPL-2.0 */
/* Tables that leave functions with a frame pointer to it. */
#ifndef BEE_LOSSY_FP_H
#define BEE_LOSSY_FP_H

#include "lossy.h"

int lossy_fp_bypass(const struct elf_file *elf, struct row_set *rows, struct lossy_report *report,
		    struct bee_error *error);

#endif /* BEE_LOSSY_FP_H */
