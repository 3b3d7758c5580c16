/* SPDX-License-Identifier: GPL-2.0 */
/* One perf sample of ourselves with a callchain. */
#ifndef SELF_SAMPLE_H
#define SELF_SAMPLE_H

#include "error.h"

int sample_self(struct bee_error *error);

#endif /* SELF_SAMPLE_H */
