/* SPDX-License-Identifier: GPL-2.0 */
/* Make the tables that walks miss, as the module tells of them. */
#ifndef FOLLOW_H
#define FOLLOW_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "jit_jobs.h"
#include "table_jobs.h"

struct follow;

struct follow *follow_open(const struct table_maker *maker, jit_done_fn *jit_done, struct bee_error *error);
int follow_poll(struct follow *follow, struct pollfd *fds, size_t nfds, int timeout, const sigset_t *signals);
void follow_finish(struct follow *follow);
size_t follow_unfinished(const struct follow *follow);
void follow_close(struct follow *follow);

#endif /* FOLLOW_H */
