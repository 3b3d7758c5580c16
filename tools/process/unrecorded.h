/* SPDX-License-Identifier: GPL-2.0 */
/* Work in a process that perf does not record, though perf records the one that started it. */
#ifndef UNRECORDED_H
#define UNRECORDED_H

#include <stdbool.h>
#include <sys/types.h>

bool unrecorded_begin(char **self, char **command, void (*started)(pid_t pid), int *status);
void unrecorded_release(void);

/* For launch.c */
bool unrecorded_is(void);
pid_t unrecorded_fork(int *report);
void unrecorded_wait(void);

#endif /* UNRECORDED_H */
