/* SPDX-License-Identifier: GPL-2.0 */
/* A child process that does one piece of work and writes the result to a pipe. */
#ifndef BEE_CHILD_H
#define BEE_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* For child_limit_memory(): far more than any real file needs, whatever is done with it. */
#define CHILD_MEMORY	(16ull << 30)

/* How often child_is_stuck() looks at a child, ms. */
#define CHILD_LOOK_MS	1000

/**
 * struct child - a child, and after it has ended its result
 * @pid: its process id
 * @fd: the pipe that it writes to, for poll(); -1 once it has ended
 * @started: when, CLOCK_MONOTONIC, ms
 * @data: what it wrote; whoever started it frees it
 * @size: bytes of @data
 * @room: bytes allocated
 * @limit: bytes that it may write, or 0: any number; whoever started it may set this
 * @owner: whose files it reads, as child_owner(); whoever started it may set this; 0: nobody's
 * @looked: when child_is_stuck() looked at its CPU time, CLOCK_MONOTONIC, ms
 * @used: its CPU time then, ms
 * @idle: how often it was the same
 * @died: how it ended, if not as it should; or ""
 * @given_up: child_give_up() has ended it
 * @killed: by a SIGKILL that is not of this process: mostly the kernel's, as memory ran out
 */
struct child {
	pid_t	 pid;
	int	 fd;
	int64_t	 started;
	char	*data;
	size_t	 size;
	size_t	 room;
	size_t	 limit;
	uid_t	 owner;
	int64_t	 looked;
	int64_t	 used;
	unsigned int idle;
	char	 died[80];
	bool	 given_up;
	bool	 killed;
};

/**
 * typedef child_work_fn - what a child does
 * @arg: from child_start()
 * @index: from child_start()
 * @out: takes the result
 */
typedef void (*child_work_fn)(void *arg, size_t index, FILE *out);

bool child_end_with(pid_t parent);
int child_start(struct child *child, child_work_fn work, void *arg, size_t index);
bool child_read(struct child *child);
void child_kill(struct child *child);
bool child_is_stuck(struct child *child, unsigned int seconds);
void child_give_up(struct child *child, unsigned int seconds);
uid_t child_owner_of(uid_t uid);
uid_t child_owner(pid_t pid);
bool child_may_start(uid_t owner);
void child_let_go(FILE *out, const int *keep, size_t count);
void child_limit_memory(uint64_t bytes);

#endif /* BEE_CHILD_H */
