/* SPDX-License-Identifier: GPL-2.0 */
/* Which programs have stacks that end in code without a file. */
#ifndef MEMORY_CODE_H
#define MEMORY_CODE_H

#include <stdio.h>

#include "profile.h"

void memory_code_put(FILE *out, const struct profile *profile);

#endif /* MEMORY_CODE_H */
