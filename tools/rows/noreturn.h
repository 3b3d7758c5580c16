/* SPDX-License-Identifier: GPL-2.0 */
/* Functions that do not return, by their names. */
#ifndef BEE_NORETURN_H
#define BEE_NORETURN_H

#include <stdbool.h>

bool noreturn_name(const char *name);

#endif /* BEE_NORETURN_H */
