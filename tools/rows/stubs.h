/* SPDX-License-Identifier: GPL-2.0 */
/* Code without CFI that is written in one way only. */
#ifndef BEE_STUBS_H
#define BEE_STUBS_H

#include "synth.h"

void stubs_find(const struct synth_input *input, struct synth *synth);

#endif /* BEE_STUBS_H */
