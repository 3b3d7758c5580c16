/* SPDX-License-Identifier: GPL-2.0 */
/* Names of the methods that a Java virtual machine has compiled. */
#ifndef JAVA_NAMES_H
#define JAVA_NAMES_H

#include <sys/types.h>

#include "error.h"

int java_names_write(pid_t pid, struct bee_error *error);

#endif /* JAVA_NAMES_H */
