/* SPDX-License-Identifier: GPL-2.0 */
/* Names for the procedure linkage table, which has no symbols. */
#ifndef PLT_H
#define PLT_H

#include <gelf.h>

#include "symbols.h"

void plt_add_symbols(struct symbols *symbols, Elf *elf, u64 bias);

#endif /* PLT_H */
