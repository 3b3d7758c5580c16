/* SPDX-License-Identifier: GPL-2.0 */
/* What is being worked on, shown on a terminal when it takes longer than a second. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stddef.h>

void progress_begin(const char *what);
void progress_end(void);
void progress_count(size_t ready, size_t count, const char *path);

#endif /* PROGRESS_H */
