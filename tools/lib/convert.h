/* SPDX-License-Identifier: GPL-2.0 */
/* From DWARF's rules to a table's. */
#ifndef BEE_CONVERT_H
#define BEE_CONVERT_H

#include "../../kmod/table.h"
#include "cfi.h"

void bee_convert_row(const struct cfi_row *from, bool signal, struct bee_row *to);

#endif /* BEE_CONVERT_H */
