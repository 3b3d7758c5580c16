/* SPDX-License-Identifier: GPL-2.0 */
/* Files that are there as a whole or not at all. */
#ifndef WHOLE_FILE_H
#define WHOLE_FILE_H

#include <stdio.h>

int whole_file_write(const char *path, void (*put)(const void *arg, FILE *out), const void *arg);
int whole_file_try(const char *path);

#endif /* WHOLE_FILE_H */
