/* SPDX-License-Identifier: GPL-2.0 */
/* Build-ids of files whose recording does not have them. */
#ifndef IDENTIFY_H
#define IDENTIFY_H

#include "profile.h"

void identify_kernel(struct profile *profile);
int identify_files(struct profile *profile, const char *root, unsigned int jobs);

#endif /* IDENTIFY_H */
