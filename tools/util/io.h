/* SPDX-License-Identifier: GPL-2.0 */
/* Read and write files as a whole. */
#ifndef BEE_IO_H
#define BEE_IO_H

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

int io_write_all(int fd, const void *data, size_t size);
int io_memfd(const char *name, const void *data, size_t size);
int io_memfd_vdso(void);
int io_memfd_copy(const char *name, int from, size_t size);
ssize_t io_read_at(int fd, void *to, size_t size, off_t offset);
int io_reopen(int pin);
int io_open_regular(const char *path);
void io_open_only_regular(void);
int io_pin_of_process(const char *pid, const char *path);
int io_open_of_process(pid_t pid, const char *path);
pid_t io_own_pid(pid_t pid);
int io_beside_program(const char *name, char path[PATH_MAX]);
char *io_read_all(const char *path, size_t *size);

#endif /* BEE_IO_H */
