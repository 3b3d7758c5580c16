/* SPDX-License-Identifier: GPL-2.0 */
/* Names of code made at run time, from jitdump files. */
#ifndef JITDUMP_H
#define JITDUMP_H

#include "cursor.h"
#include "symbols.h"

bool jitdump_is(const char *path);
const char *jitdump_read(struct symbols *symbols, struct cursor file);

#endif /* JITDUMP_H */
