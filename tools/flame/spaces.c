// SPDX-License-Identifier: GPL-2.0
/* What processes have mapped where. */
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "order.h"
#include "spaces.h"

/* Most mappings of a process.  Programs have hundreds.  To put one in front of all others moves 512 KiB. */
#define SPACE_MAX_MAPS	(1u << 14)
/* Most mappings of all processes: 256 MiB. */
#define SPACES_MAX_MAPS	(1u << 23)

void spaces_open(struct spaces *spaces)
{
	*spaces = (struct spaces){ .tasks = INTERN_OF(struct task, label), .max_maps = SPACES_MAX_MAPS };
}

static void space_clear(struct spaces *spaces, struct space *space)
{
	spaces->maps -= space->count;
	free(space->map);
	space->map = NULL;
	space->count = space->room = 0;
}

static void space_put(struct spaces *spaces, struct space *space)
{
	if (!space || --space->users)
		return;
	space_clear(spaces, space);
	free(space);
}

void spaces_close(struct spaces *spaces)
{
	u32 i;

	for (i = 0; i < spaces->tasks.count; i++)
		space_put(spaces, ((struct task *)intern_item(&spaces->tasks, i))->space);
	intern_free(&spaces->tasks);
}

/** spaces_task() - a thread, which may be new; valid until the next call */
struct task *spaces_task(struct spaces *spaces, u32 tid)
{
	const struct task task = { .tid = tid, .label = INTERN_NONE, .wait = INTERN_NONE };

	return intern_item(&spaces->tasks, intern_add(&spaces->tasks, &task));
}

/* Index of the first mapping that ends after @address. */
static size_t space_index(const struct space *space, u64 address)
{
	return order_upto(space->map, space->count, sizeof(*space->map),
			  offsetof(struct space_map, end), address);
}

/** space_find() - the mapping that has an address, or NULL; @space may be NULL */
const struct space_map *space_find(const struct space *space, u64 address)
{
	size_t at;

	if (!space)
		return NULL;
	at = space_index(space, address);
	return at < space->count && space->map[at].start <= address ? &space->map[at] : NULL;
}

/*
 * Make room: forget all mappings of each process that has more than half as many as the process with most.  These
 * are the processes of the user who has mapped too much; those of other users keep what they have mapped.
 */
static void spaces_make_room(struct spaces *spaces)
{
	size_t most = 0;
	u32 i;

	for (i = 0; i < spaces->tasks.count; i++) {
		const struct space *space = ((struct task *)intern_item(&spaces->tasks, i))->space;

		if (space && space->count > most)
			most = space->count;
	}
	for (i = 0; i < spaces->tasks.count; i++) {
		struct space *space = ((struct task *)intern_item(&spaces->tasks, i))->space;

		if (space && space->count > most / 2) {
			spaces->forgotten += space->count;
			space_clear(spaces, space);
		}
	}
}

/* The space of a process, to be changed once: its own, with a new id. */
static struct space *space_own(struct spaces *spaces, u32 pid)
{
	struct task *task = spaces_task(spaces, pid);
	struct space *old = task->space, *space = old;
	bool shared = old && old->users > 1;

	/* A change adds two mappings at most.  Room may be made by forgetting those of this process. */
	while (spaces->maps + (shared ? old->count : 0) + 2 > spaces->max_maps)
		spaces_make_room(spaces);
	if (!old || shared) {
		space = alloc_zero(1, sizeof(*space));
		space->users = 1;
		if (shared && old->count) {
			spaces->maps += old->count;
			space->count = space->room = old->count;
			space->map = alloc_array(NULL, space->room, sizeof(*space->map));
			memcpy(space->map, old->map, old->count * sizeof(*old->map));
		}
		space_put(spaces, old);
		task->space = space;
	}
	space->id = ++spaces->last_id;
	return space;
}

static void space_insert(struct spaces *spaces, struct space *space, size_t at,
			 const struct space_map *map)
{
	if (space->count == SPACE_MAX_MAPS) {
		spaces->forgotten++;
		return;
	}
	spaces->maps++;
	space->map = alloc_room(space->map, space->count, &space->room, sizeof(*space->map));
	memmove(space->map + at + 1, space->map + at, (space->count - at) * sizeof(*space->map));
	space->map[at] = *map;
	space->count++;
}

/* Take [@start, @end) out of the mappings.  Return: where a mapping of it belongs. */
static size_t space_cut(struct spaces *spaces, struct space *space, u64 start, u64 end)
{
	size_t first = space_index(space, start), last;
	struct space_map tail;

	if (first < space->count && space->map[first].start < start) {
		tail = space->map[first];
		space->map[first++].end = start;
		if (tail.end > end) {
			tail.offset += end - tail.start;
			tail.start = end;
			space_insert(spaces, space, first, &tail);
			return first;
		}
	}
	for (last = first; last < space->count && space->map[last].end <= end; last++)
		;
	if (last > first)
		memmove(space->map + first, space->map + last,
			(space->count - last) * sizeof(*space->map));
	space->count -= last - first;
	spaces->maps -= last - first;
	if (first < space->count && space->map[first].start < end) {
		space->map[first].offset += end - space->map[first].start;
		space->map[first].start = end;
	}
	return first;
}

/** spaces_map() - a process has mapped something, in place of what was there */
void spaces_map(struct spaces *spaces, u32 pid, const struct space_map *map)
{
	struct space *space;

	if (map->start >= map->end)
		return;
	space = space_own(spaces, pid);
	space_insert(spaces, space, space_cut(spaces, space, map->start, map->end), map);
}

/** spaces_unmap() - there is nothing executable any more from @start to @end */
void spaces_unmap(struct spaces *spaces, u32 pid, u64 start, u64 end)
{
	const struct space *space = spaces_task(spaces, pid)->space;
	size_t at;

	if (!space || start >= end)
		return;
	at = space_index(space, start);
	if (at < space->count && space->map[at].start < end)
		space_cut(spaces, space_own(spaces, pid), start, end);
}

/** spaces_fork() - @pid is a new process, with what @parent has mapped */
void spaces_fork(struct spaces *spaces, u32 parent, u32 pid)
{
	struct space *space = spaces_task(spaces, parent)->space;
	struct task *task = spaces_task(spaces, pid);

	if (space)
		space->users++;
	space_put(spaces, task->space);
	task->space = space;
	task->process = task->threads = 0;
	task->ended = false;
}

/** spaces_thread() - @tid is a new thread of @pid */
void spaces_thread(struct spaces *spaces, u32 pid, u32 tid)
{
	if (tid == pid)
		return;
	spaces_task(spaces, tid)->process = pid;
	spaces_task(spaces, pid)->threads++;
}

/**
 * spaces_exit() - a thread has ended
 * @spaces: all threads
 * @pid: its process, which has nothing mapped any more if this was the last thread
 * @tid: the thread; does not count if nobody has seen it start
 *
 * Return: whether the process has ended.
 */
bool spaces_exit(struct spaces *spaces, u32 pid, u32 tid)
{
	struct task *thread = spaces_task(spaces, tid), *process;
	bool counted = thread->process == pid && tid != pid;

	if (counted)
		thread->process = 0;
	process = spaces_task(spaces, pid);
	process->ended |= tid == pid;
	process->threads -= counted && process->threads;
	if (!process->ended || process->threads)
		return false;
	space_put(spaces, process->space);
	process->space = NULL;
	return true;
}
