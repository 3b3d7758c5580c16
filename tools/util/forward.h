/* SPDX-License-Identifier: GPL-2.0 */
/* Signals that are meant for a child process. */
#ifndef BEE_FORWARD_H
#define BEE_FORWARD_H

#include <sys/types.h>

void forward_signals(const int *signals, pid_t pid);
void forward_hangup(void);
void forward_end(void);

#endif /* BEE_FORWARD_H */
