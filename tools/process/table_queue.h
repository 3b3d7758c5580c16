/* SPDX-License-Identifier: GPL-2.0 */
/* Make tables of files as the module announces them; users take turns. */
#ifndef TABLE_QUEUE_H
#define TABLE_QUEUE_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "table_jobs.h"

/* So many files wait at most, unless table_queue_add_want() adds more. */
#define TABLE_QUEUE_MOST	1024

struct table_queue;

/**
 * typedef table_queue_skip_fn - whether a file is not to be added
 * @arg: as given to table_queue_add_missed()
 * @id: the module's name for the file
 */
typedef bool (*table_queue_skip_fn)(void *arg, uint32_t id);

struct table_queue *table_queue_open(const struct table_maker *maker);
void table_queue_close(struct table_queue *queue);

void table_queue_add(struct table_queue *queue, const struct netlink_file *file);
void table_queue_add_want(struct table_queue *queue, const struct table_want *want);
void table_queue_offer(struct table_queue *queue, const struct table_want *want);
void table_queue_add_missed(struct table_queue *queue, pid_t pid, table_queue_skip_fn skip,
			    void *arg);
bool table_queue_note_left(struct table_queue *queue);
bool table_queue_may_look(struct table_queue *queue);
bool table_queue_make_room(struct table_queue *queue, uid_t user);
void table_queue_ban(struct table_queue *queue, const struct netlink_file *file);
size_t table_queue_waiting(const struct table_queue *queue);
size_t table_queue_running(const struct table_queue *queue);

void table_queue_count(struct table_queue *queue, const struct netlink_files *files);
int table_queue_start(struct table_queue *queue, size_t most);
int table_queue_poll(struct table_queue *queue, struct pollfd *fds, size_t nfds, int timeout,
		     const sigset_t *signals);
int table_queue_drain(struct table_queue *queue);

#endif /* TABLE_QUEUE_H */
