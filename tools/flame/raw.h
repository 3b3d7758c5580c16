/* SPDX-License-Identifier: GPL-2.0 */
/* Profiles as files: addresses and what they belong to, without names of functions. */
#ifndef RAW_H
#define RAW_H

#include "profile.h"

/* The first bytes of such a file. */
#define RAW_MAGIC	"beectl flame raw "	/* and the version */

void raw_write(const struct profile *profile, FILE *out);
int raw_read(struct stream *stream, struct profile *profile, struct bee_error *error);

#endif /* RAW_H */
