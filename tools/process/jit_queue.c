// SPDX-License-Identifier: GPL-2.0
/*
 * Look at the code that processes have in memory as the module announces it: at one process at a
 * time, in a child, while the caller goes on listening.
 *
 * Most code that is announced has no unwind information (node, HotSpot), and a program that
 * compiles on and on is announced again and again.  So after a look that has changed nothing the
 * next look at that process waits: DELAY_FIRST_MS, and twice as long each time up to DELAY_LAST_MS.
 * If the process has registered code, it has only changed its list too often during the look: then
 * the wait is DELAY_BUSY_MS at most.
 *
 * A process can make a look at it long.  So that the others have most of the time, after a look of
 * LOOK_LONG_MS the next one waits ten times as long as that took; a look ends when the child has used no CPU
 * time for TABLE_JOBS_IDLE seconds; and of those that may be looked at users take turns, and of a user's the
 * one comes first whose looks have taken the least time so far.
 */
#include <errno.h>
#include <string.h>

#include "alloc.h"
#include "child.h"
#include "clock.h"
#include "jit_queue.h"
#include "turns.h"

#define DELAY_FIRST_MS	1000
#define DELAY_BUSY_MS	4000
#define DELAY_LAST_MS	64000

#define LOOK_LONG_MS	5000

/* Processes that are remembered. */
#define QUEUE_MOST	1024

/**
 * struct entry - a process
 * @cookie: its address space
 * @pid: its process id when it was announced
 * @user: and its user, as child_owner()
 * @wanted: announced since the last look
 * @found: a look has found something
 * @delay: how long the next look waits after the last, ms
 * @due: when it may be looked at, CLOCK_MONOTONIC, ms
 * @took: how long looks at it have taken so far, ms
 */
struct entry {
	uint64_t	cookie;
	pid_t		pid;
	uid_t		user;
	bool		wanted;
	bool		found;
	int		delay;
	int64_t		due;
	int64_t		took;
};

/**
 * struct jit_queue - processes with code in memory
 * @maker: how tables are made
 * @done: takes results
 * @arg: for @done
 * @entry: the processes
 * @count: number of them
 * @room: for so many
 * @turns: of the users
 * @child: at work, unless its fd is -1
 * @cookie: the address space that it looks at
 * @pid: and the process
 */
struct jit_queue {
	const struct table_maker *maker;
	jit_queue_done_fn	  done;
	void			 *arg;
	struct entry		 *entry;
	size_t			  count;
	size_t			  room;
	struct turns		  turns;
	struct child		  child;
	uint64_t		  cookie;
	pid_t			  pid;
};

/**
 * jit_queue_open() - an empty queue
 * @maker: how tables are made; used until jit_queue_close()
 * @done: called by jit_queue_read()
 * @arg: its argument
 *
 * Return: the queue.
 */
struct jit_queue *jit_queue_open(const struct table_maker *maker, jit_queue_done_fn done,
				 void *arg)
{
	struct jit_queue *queue = alloc_zero(1, sizeof(*queue));

	queue->maker = maker;
	queue->done = done;
	queue->arg = arg;
	queue->child.fd = -1;
	return queue;
}

/** jit_queue_close() - end the child; NULL is fine */
void jit_queue_close(struct jit_queue *queue)
{
	if (!queue)
		return;
	if (queue->child.fd >= 0)
		child_kill(&queue->child);
	free(queue->entry);
	free(queue);
}

static struct entry *queue_find(struct jit_queue *queue, uint64_t cookie)
{
	size_t i;

	for (i = 0; i < queue->count; i++)
		if (queue->entry[i].cookie == cookie)
			return &queue->entry[i];
	return NULL;
}

/*
 * Find an entry for a new process of @user.  If QUEUE_MOST processes are remembered, forget one of them: one that
 * waits for no look, of these the one that was due first.  If all wait for a look, it is a process of the user who
 * has most; or of @user, if no other user has more, and has been looked at.  Of that user's processes it is the one
 * whose looks have taken most time.
 * Return: the entry; NULL if none can be forgotten.
 */
static struct entry *queue_make_room(struct jit_queue *queue, uid_t user)
{
	struct entry *oldest = NULL, *slowest = NULL;
	size_t waiting[TURNS_USERS] = { 0 }, most, i;

	if (queue->count < QUEUE_MOST) {
		queue->entry = alloc_room(queue->entry, queue->count, &queue->room,
					  sizeof(*queue->entry));
		return &queue->entry[queue->count++];
	}
	for (i = 0; i < queue->count; i++) {
		struct entry *entry = &queue->entry[i];

		if (!entry->wanted && (!oldest || entry->due < oldest->due))
			oldest = entry;
		waiting[turns_account(entry->user)]++;
	}
	if (oldest)
		return oldest;
	most = turns_most(waiting, user);
	for (i = 0; i < queue->count; i++) {
		struct entry *entry = &queue->entry[i];

		if (turns_account(entry->user) == most && (!slowest || entry->took > slowest->took))
			slowest = entry;
	}
	return slowest && (slowest->took || most != turns_account(user)) ? slowest : NULL;
}

/**
 * jit_queue_add() - a process is to be looked at
 * @queue: the queue
 * @cookie: its address space
 * @pid: the process
 * @user: its user, as child_owner()
 *
 * If 1,024 processes wait for their first look, and no other user has more of them than @user, the process is not
 * added.  The module announces it again when its ranges have changed.
 */
void jit_queue_add(struct jit_queue *queue, uint64_t cookie, pid_t pid, uid_t user)
{
	struct entry *entry = queue_find(queue, cookie);

	if (!entry) {
		entry = queue_make_room(queue, user);
		if (!entry)
			return;
		*entry = (struct entry){ .cookie = cookie, .due = clock_ms() };
	}
	entry->pid = pid;
	entry->user = user;
	entry->wanted = true;
}

/* Whether a process comes before another one, at a time. */
static bool queue_prefers(const struct jit_queue *queue, const struct entry *entry,
			  const struct entry *other, int64_t now)
{
	uint64_t turn = turns_last(&queue->turns, entry->user);
	uint64_t other_turn = turns_last(&queue->turns, other->user);

	if (entry->due > now || other->due > now)
		return entry->due < other->due;
	if (turn != other_turn)
		return turn < other_turn;
	return entry->took == other->took ? entry->due < other->due : entry->took < other->took;
}

/* The process that is to be looked at next, or NULL. */
static struct entry *queue_first(const struct jit_queue *queue)
{
	struct entry *first = NULL;
	int64_t now = clock_ms();
	size_t i;

	for (i = 0; i < queue->count; i++)
		if (queue->entry[i].wanted && (!first || queue_prefers(queue, &queue->entry[i], first, now)))
			first = &queue->entry[i];
	return first;
}

static void entry_note(struct entry *entry, bool changed, bool registered, int64_t took)
{
	int last = registered ? DELAY_BUSY_MS : DELAY_LAST_MS;

	if (changed) {
		entry->found = true;
		entry->delay = 0;
	} else {
		entry->delay = entry->delay ? entry->delay * 2 : DELAY_FIRST_MS;
		if (entry->delay > last)
			entry->delay = last;
	}
	entry->took += took;
	entry->due = clock_ms() + (took < LOOK_LONG_MS ? entry->delay : 10 * took);
}

/* The child has ended, or is left alone. */
static void queue_finish(struct jit_queue *queue)
{
	struct child *child = &queue->child;
	struct jit_result result = jit_jobs_result(child->data, child->size,
						   child->died[0] ? child->died : NULL);
	bool changed = result.tables || result.remapped || result.removed;
	struct entry *entry = queue_find(queue, queue->cookie);
	bool first = entry && !entry->found;

	free(child->data);
	child->data = NULL;
	if (entry)
		entry_note(entry, changed, result.objects, clock_ms() - child->started);
	queue->done(queue->arg, queue->pid, first, &result);
}

/* A child_work_fn */
static void queue_work(void *arg, size_t index, FILE *out)
{
	const struct jit_queue *queue = arg;

	(void)index;
	jit_jobs_look(queue->maker, queue->pid, out);
}

/**
 * jit_queue_start() - look at the next process, if one is due and no child is at work
 * @queue: the queue
 *
 * Leaves a child alone that waits for a FUSE server, and cannot be killed; then done() gets its result.
 * There is no look at a process whose user keeps too many such children.
 *
 * Return: 0; or -1 and errno, if no child could be made: the process waits again, for a second.
 */
int jit_queue_start(struct jit_queue *queue)
{
	struct entry *entry;

	if (queue->child.fd >= 0 && child_is_stuck(&queue->child, TABLE_JOBS_IDLE)) {
		child_give_up(&queue->child, TABLE_JOBS_IDLE);
		queue_finish(queue);
	}
	if (queue->child.fd >= 0)
		return 0;
	do {
		entry = queue_first(queue);
		if (!entry || entry->due > clock_ms())
			return 0;
		entry->wanted = false;
	} while (!child_may_start(entry->user));
	queue->cookie = entry->cookie;
	queue->pid = entry->pid;
	if (!child_start(&queue->child, queue_work, queue, 0)) {
		queue->child.owner = entry->user;
		turns_take(&queue->turns, entry->user);
		return 0;
	}
	queue->child.fd = -1;
	entry->wanted = true;
	entry->due = clock_ms() + DELAY_FIRST_MS;
	return -1;
}

/** jit_queue_fd() - for poll(): readable when jit_queue_read() is to be called; -1: no child */
int jit_queue_fd(const struct jit_queue *queue)
{
	return queue->child.fd;
}

/** jit_queue_read() - read from the child; if it has ended take its result */
void jit_queue_read(struct jit_queue *queue)
{
	if (!child_read(&queue->child))
		queue_finish(queue);
}

/** jit_queue_patience() - ms until jit_queue_start() has something to do; -1: nothing is wanted */
int jit_queue_patience(const struct jit_queue *queue)
{
	const struct entry *entry = queue_first(queue);
	int64_t wait;

	if (queue->child.fd >= 0)
		return CHILD_LOOK_MS;
	if (!entry)
		return -1;
	wait = entry->due - clock_ms();
	return wait < 0 ? 0 : wait;
}
