/* SPDX-License-Identifier: GPL-2.0 */
/* Rows for code without CFI that are right if the code keeps the ABI. */
#ifndef BEE_ABI_H
#define BEE_ABI_H

#include "synth.h"

void abi_make(const struct synth_input *input, struct synth *synth);

#endif /* BEE_ABI_H */
