/* SPDX-License-Identifier: GPL-2.0 */
/* What processes have mapped where, and the names of threads, as time goes by. */
#ifndef SPACES_H
#define SPACES_H

#include <stdbool.h>

#include "intern.h"

/**
 * struct space_map - executable memory of a process
 * @start: first address
 * @end: address after the last
 * @offset: in the file, of @start
 * @file: index of the file
 */
struct space_map {
	u64	start;
	u64	end;
	u64	offset;
	u32	file;
};

/**
 * struct space - an address space, or several that are equal
 * @users: processes that have it
 * @id: another one after each change
 * @count: mappings
 * @room: mappings there is memory for
 * @map: ascending, not overlapping
 */
struct space {
	u32			 users;
	u32			 id;
	size_t			 count;
	size_t			 room;
	struct space_map	*map;
};

/**
 * struct task - a thread; a process is its first thread
 * @tid: its number
 * @label: number of the text that samples have at the root; INTERN_NONE: not known
 * @comm: its name.  Not a number of a text: those stay in memory, and a thread can give itself ever new names
 * @named: @comm is known
 * @space: of a process; NULL: nothing is mapped
 * @process: the process, of a thread other than its first one that has been seen to start; or 0
 * @threads: of a process: how many such threads it has
 * @ended: of a process: its first thread has ended
 * @wait: node of the stack in which the thread has stopped; INTERN_NONE: it runs, or nobody knows whether it runs
 * @since: when the thread stopped, ns of perf's clock
 */
struct task {
	u32		 tid;
	u32		 label;
	char		 comm[16];
	bool		 named;
	struct space	*space;
	u32		 process;
	u32		 threads;
	bool		 ended;
	u32		 wait;
	u64		 since;
};

/**
 * struct spaces - all threads
 * @tasks: of struct task
 * @last_id: of struct space
 * @maps: mappings of all processes; what is equal counts once
 * @max_maps: limit of @maps, more than 2
 * @forgotten: mappings that were forgotten, or not taken, as there were too many
 */
struct spaces {
	struct intern	tasks;
	u32		last_id;
	size_t		maps;
	size_t		max_maps;
	u64		forgotten;
};

void spaces_open(struct spaces *spaces);
void spaces_close(struct spaces *spaces);
struct task *spaces_task(struct spaces *spaces, u32 tid);
void spaces_map(struct spaces *spaces, u32 pid, const struct space_map *map);
void spaces_unmap(struct spaces *spaces, u32 pid, u64 start, u64 end);
void spaces_thread(struct spaces *spaces, u32 pid, u32 tid);
bool spaces_exit(struct spaces *spaces, u32 pid, u32 tid);
void spaces_fork(struct spaces *spaces, u32 parent, u32 pid);
const struct space_map *space_find(const struct space *space, u64 address);

#endif /* SPACES_H */
