/* SPDX-License-Identifier: GPL-2.0 */
/* One perf sample of ourselves with a callchain.  sample.c alone knows the perf ABI. */
#ifndef BEE_SAMPLE_H
#define BEE_SAMPLE_H

#include "error.h"

int sample_self(struct bee_error *error);

#endif /* BEE_SAMPLE_H */
