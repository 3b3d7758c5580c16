/* SPDX-License-Identifier: GPL-2.0 */
/* Files that gzip or zstd has compressed. */
#ifndef UNPACK_H
#define UNPACK_H

#include "error.h"

const char *unpack_program(const void *start);
int unpack(int fd, struct bee_error *error);

#endif /* UNPACK_H */
