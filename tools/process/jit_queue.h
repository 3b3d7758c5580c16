/* SPDX-License-Identifier: GPL-2.0 */
/* Look at the code that processes have in memory as the module announces it. */
#ifndef JIT_QUEUE_H
#define JIT_QUEUE_H

#include <stdint.h>
#include <sys/types.h>

#include "jit_jobs.h"

struct jit_queue;

/**
 * typedef jit_queue_done_fn - takes the result of a look at a process
 * @arg: from jit_queue_open()
 * @pid: the process
 * @first: it is the first time that something was found there
 * @result: what has become of its code
 */
typedef void (*jit_queue_done_fn)(void *arg, pid_t pid, bool first,
				  const struct jit_result *result);

struct jit_queue *jit_queue_open(const struct table_maker *maker, jit_queue_done_fn done,
				 void *arg);
void jit_queue_close(struct jit_queue *queue);

void jit_queue_add(struct jit_queue *queue, uint64_t cookie, pid_t pid, uid_t user);
int jit_queue_start(struct jit_queue *queue);
int jit_queue_fd(const struct jit_queue *queue);
void jit_queue_read(struct jit_queue *queue);
int jit_queue_patience(const struct jit_queue *queue);

#endif /* JIT_QUEUE_H */
