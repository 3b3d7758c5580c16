/* SPDX-License-Identifier: GPL-2.0 */
/* All rows that are made from code. */
#ifndef BEE_MADE_H
#define BEE_MADE_H

#include "synth.h"

void made_find(const struct synth_input *input, struct synth *made);

#endif /* BEE_MADE_H */
