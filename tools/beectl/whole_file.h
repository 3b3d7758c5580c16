/* SPDX-License-Identifier: GPL-2.0 */
/* Files that are there as a whole or not at all. */
#ifndef WHOLE_FILE_H
#define WHOLE_FILE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "error.h"

int whole_file_write(const char *path, mode_t mode, bool for_caller, void (*put)(const void *arg, FILE *out),
		     const void *arg, struct bee_error *error);
int whole_file_try(const char *path, struct bee_error *error);

#endif /* WHOLE_FILE_H */
