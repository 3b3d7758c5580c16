/* SPDX-License-Identifier: GPL-2.0 */
/* From DWARF's rules to a table's. */
#ifndef BEE_FROM_CFI_H
#define BEE_FROM_CFI_H

#include "kmod/table.h"
#include "cfi.h"

void rule_from_cfi(const struct cfi_row *from, bool signal, struct bee_rule *to);

#endif /* BEE_FROM_CFI_H */
