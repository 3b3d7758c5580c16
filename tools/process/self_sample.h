/* SPDX-License-Identifier: GPL-2.0 */
/* One perf sample of ourselves with a callchain.  sample.c alone knows the perf ABI. */
#ifndef BEE_SAMPLE_H
#define BEE_SAMPLE_H

#include <stddef.h>

int sample_self(char *why, size_t size);

#endif /* BEE_SAMPLE_H */
