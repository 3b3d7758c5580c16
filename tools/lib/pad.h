/* SPDX-License-Identifier: GPL-2.0 */
/* What assemblers and linkers fill the space between functions with (x86-64). */
#ifndef BEE_PAD_H
#define BEE_PAD_H

#include <linux/types.h>

bool bee_pad_fills(const u8 *text, size_t size);

#endif /* BEE_PAD_H */
