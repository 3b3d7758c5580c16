/* SPDX-License-Identifier: GPL-2.0 */
/* What assemblers and linkers fill the space between functions with (x86-64). */
#ifndef BEE_PAD_H
#define BEE_PAD_H

#include "elf.h"

bool bee_pad_fills(const struct bee_elf *elf, u64 start, u64 end);

#endif /* BEE_PAD_H */
