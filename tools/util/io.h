/* SPDX-License-Identifier: GPL-2.0 */
/* Whole files at once. */
#ifndef BEE_IO_H
#define BEE_IO_H

#include <stddef.h>

int io_write_all(int fd, const void *data, size_t size);
int io_memfd(const char *name, const void *data, size_t size);
char *io_read_all(const char *path, size_t *size);

#endif /* BEE_IO_H */
