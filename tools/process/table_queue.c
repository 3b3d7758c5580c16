// SPDX-License-Identifier: GPL-2.0
/*
 * Make tables of files as the module announces them, each in a child, while the caller goes on
 * listening.  Users take turns; of a user's files the one that walks miss most comes first.  The files are
 * those of the user whose process has mapped them.  Any user but root has half of the children at most, and
 * none while too many others wait for that user's file systems and cannot be killed (child_may_start()).
 *
 * Each id is in the queue once.  A file that is unmapped and mapped again before its table is made
 * is announced again, under another id, and looks the same.  But files of two subvolumes of btrfs
 * can look the same as well, and are not: each gets its turn, one after the other.
 *
 * A file whose table somebody has removed on purpose is banned: it does not enter the queue again, also
 * when it has been unmapped everywhere, and so forgotten, and has got another id.
 *
 * The caller serves all processes, so it does not wait for any: another process pins what it is told of
 * (pinner.c), and a child that does not end is left alone.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "alloc.h"
#include "child.h"
#include "clock.h"
#include "parallel.h"
#include "pinner.h"
#include "table_queue.h"
#include "turns.h"

/*
 * How often the misses of the files that wait are read, ms; and that takes a tenth of the time at most,
 * as the module may have a hundred thousand files.
 */
#define QUEUE_COUNT_MS	100
#define QUEUE_COUNT_SHARE	10

/* After so many children the size of the cache is measured again. */
#define QUEUE_MEASURE	32

#define QUEUE_PROGRESS_MS	200

/* So often is the module asked for what was left out while files wait, ms. */
#define QUEUE_LOOK_MS	10000

/* A file waits for its pin no longer, ms. */
#define QUEUE_PIN_MS	(PINNER_MS + 500)

/* What the module takes for one file, until its contents change. */
struct banned {
	uint64_t	device;
	uint64_t	inode;
	uint64_t	size;
};

/* A child at work; free if @child.fd is -1. */
struct slot {
	struct child		child;
	struct table_want	want;
};

/**
 * struct table_queue - files that need a table
 * @maker: how tables are made
 * @pinner: pins files that are added
 * @wants: the files that wait, the first that came first
 * @banned: files that are to have no table
 * @nbanned: number of them
 * @banned_room: for so many
 * @turns: of the users
 * @slot: the children
 * @jobs: length of @slot
 * @running: of them, at work
 * @ready: files that were worked on since the queue was empty
 * @left: files were left out, which the module does not announce again
 * @look_next: when it may be asked for them though files wait, CLOCK_MONOTONIC, ms
 * @started: children since the size of the cache was measured
 * @count_next: when misses are to be read again, CLOCK_MONOTONIC, ms
 * @poll: for table_queue_poll(): room for the caller's descriptors and those of the children
 * @npoll: room in it
 */
struct table_queue {
	const struct table_maker	*maker;
	struct pinner			*pinner;
	struct table_wants		 wants;
	struct banned			*banned;
	size_t				 nbanned;
	size_t				 banned_room;
	struct turns			 turns;
	struct slot			*slot;
	unsigned int			 jobs;
	size_t				 running;
	size_t				 ready;
	bool				 left;
	int64_t				 look_next;
	unsigned int			 started;
	int64_t				 count_next;
	struct pollfd			*poll;
	size_t				 npoll;
};

/**
 * table_queue_open() - an empty queue
 * @maker: how tables are made; used until table_queue_close().  Its done() gets results in the
 *	order in which they come, from table_queue_poll().
 *
 * Return: the queue.
 */
struct table_queue *table_queue_open(const struct table_maker *maker)
{
	struct table_queue *queue = alloc_zero(1, sizeof(*queue));
	unsigned int i;

	queue->maker = maker;
	queue->pinner = pinner_open();
	queue->jobs = parallel_jobs(maker->jobs);
	queue->slot = alloc_zero(queue->jobs, sizeof(*queue->slot));
	for (i = 0; i < queue->jobs; i++)
		queue->slot[i].child.fd = -1;
	return queue;
}

static void want_release(struct table_want *want)
{
	if (want->pin >= 0)
		close(want->pin);
	want->pin = -ENOENT;
}

/** table_queue_close() - end the children, whose files get no table; NULL is fine */
void table_queue_close(struct table_queue *queue)
{
	unsigned int i;

	if (!queue)
		return;
	for (i = 0; i < queue->jobs; i++) {
		if (queue->slot[i].child.fd < 0)
			continue;
		child_kill(&queue->slot[i].child);
		want_release(&queue->slot[i].want);
	}
	pinner_close(queue->pinner);
	table_jobs_free(&queue->wants);
	free(queue->banned);
	free(queue->slot);
	free(queue->poll);
	free(queue);
}

static bool want_is_same(const struct table_want *want, const struct table_want *other)
{
	return want->id && want->id == other->id;
}

/* Whether two files may be one that has been mapped again. */
static bool want_looks_like(const struct table_want *want, const struct table_want *other)
{
	return want->id && other->id && want->device == other->device &&
	       want->mapping.inode == other->mapping.inode &&
	       want->mapping.size == other->mapping.size && !strcmp(want->name, other->name);
}

/* Linear in the banned files: they are few, as each was removed by hand. */
static bool queue_bans(const struct table_queue *queue, const struct table_want *want)
{
	const struct banned *banned = queue->banned, *end = banned + queue->nbanned;

	for (; banned < end; banned++)
		if (banned->device == want->device && banned->inode == want->mapping.inode &&
		    banned->size == want->mapping.size)
			return true;
	return false;
}

/* The place of a file that waits; or their number if it does not. */
static size_t queue_index(const struct table_queue *queue, const struct table_want *want)
{
	size_t i;

	for (i = 0; i < queue->wants.count && !want_is_same(&queue->wants.want[i], want); i++)
		;
	return i;
}

/**
 * table_queue_add_want() - add a file, unless it waits, is worked on already, or is banned
 * @queue: the queue
 * @want: the file; its pin passes to the queue
 */
void table_queue_add_want(struct table_queue *queue, const struct table_want *want)
{
	struct table_wants *wants = &queue->wants;
	struct table_want given = *want;
	size_t i;

	if (queue_bans(queue, &given)) {
		want_release(&given);
		return;
	}
	for (i = 0; i < queue->jobs; i++) {
		const struct slot *slot = &queue->slot[i];

		if (slot->child.fd < 0 || !want_is_same(&slot->want, &given))
			continue;
		want_release(&given);
		return;
	}
	i = queue_index(queue, &given);
	if (i < wants->count) {
		/* The newer mapping is more likely to be still there. */
		if (given.pin >= 0)
			want_release(&wants->want[i]);
		else
			given.pin = wants->want[i].pin;
		if (given.pin >= 0)
			given.pinned_by = 0;
		else if (!given.pinned_by)
			given.pinned_by = wants->want[i].pinned_by;
		given.cached_only &= wants->want[i].cached_only;
		/* If root has the file mapped, too, it is made when it is root's turn. */
		if (!wants->want[i].mapping.user)
			given.mapping.user = 0;
		wants->want[i] = given;
		return;
	}
	wants->want = alloc_room(wants->want, wants->count, &wants->room, sizeof(*wants->want));
	wants->want[wants->count++] = given;
}

static struct table_want want_take(struct table_wants *wants, size_t at)
{
	struct table_want want = wants->want[at];

	wants->count--;
	memmove(&wants->want[at], &wants->want[at + 1], (wants->count - at) * sizeof(want));
	return want;
}

/**
 * table_queue_make_room() - drop a file that waits, for one of a user who has fewer there
 * @queue: the queue
 * @user: whose file that is, as child_owner()
 *
 * The dropped file is the last one of the user, not root, who has most files waiting.
 *
 * Return: whether a file was dropped; none is if that user has no more than one file more than @user.
 */
bool table_queue_make_room(struct table_queue *queue, uid_t user)
{
	size_t waiting[TURNS_USERS] = { 0 }, i, most;
	struct table_want want;

	for (i = 0; i < queue->wants.count; i++)
		waiting[turns_account(queue->wants.want[i].mapping.user)]++;
	most = turns_most(waiting, user);
	if (most == turns_account(user))
		return false;
	for (i = queue->wants.count - 1; turns_account(queue->wants.want[i].mapping.user) != most; i--)
		;
	want = want_take(&queue->wants, i);
	want_release(&want);
	return true;
}

/* Whether a file waits already or there is room for it.  If too many wait, that is in place of another user's. */
static bool queue_has_room(struct table_queue *queue, const struct table_want *want)
{
	if (queue->wants.count < TABLE_QUEUE_MOST || queue_index(queue, want) < queue->wants.count)
		return true;
	table_queue_note_left(queue);
	return table_queue_make_room(queue, want->mapping.user);
}

/**
 * table_queue_offer() - as table_queue_add_want(), if there is room
 * @queue: the queue
 * @want: the file, without a pin
 *
 * If too many files wait, it takes the place of one of a user who has more files there, or is left out.
 */
void table_queue_offer(struct table_queue *queue, const struct table_want *want)
{
	if (queue_has_room(queue, want))
		table_queue_add_want(queue, want);
}

/* A pin is a descriptor.  The other half of them is for the children and for all else. */
static bool queue_may_pin(const struct table_queue *queue)
{
	struct rlimit limit;
	size_t i, pins = pinner_asked(queue->pinner);

	for (i = 0; i < queue->wants.count; i++)
		pins += queue->wants.want[i].pin >= 0;
	return !getrlimit(RLIMIT_NOFILE, &limit) && pins < limit.rlim_cur / 2;
}

/**
 * table_queue_add() - add a file, unless it waits, is worked on already, or is banned
 * @queue: the queue
 * @file: the file, with the place where it is mapped; table_queue_poll() pins it, as its process may
 *	end before its turn comes, unless half of the descriptors of beectl are pins
 *
 * If too many files wait, it takes the place of one of a user who has more files there, or is left out.
 */
void table_queue_add(struct table_queue *queue, const struct netlink_file *file)
{
	struct table_wants one = { 0 };
	struct table_want *want;

	table_jobs_add(&one, file);
	want = &one.want[0];
	if (!queue_has_room(queue, want)) {
		free(one.want);
		return;
	}
	if (file->pid && !queue_bans(queue, want) && queue_may_pin(queue)) {
		pinner_ask(queue->pinner, want->id, &want->mapping);
		want->pinned_by = clock_ms() + QUEUE_PIN_MS;
	}
	table_queue_add_want(queue, want);
	free(one.want);
}

/**
 * table_queue_note_left() - there are files that the module does not announce, or not again
 * @queue: the queue
 *
 * Return: whether that was known already.
 */
bool table_queue_note_left(struct table_queue *queue)
{
	bool known = queue->left;

	queue->left = true;
	return known;
}

/**
 * table_queue_may_look() - whether to ask the module now for files that were left out
 * @queue: the queue
 *
 * While files wait that is so now and then only, but not never: somebody may see to it that the queue is
 * never empty.  table_queue_poll() wakes up for it.
 *
 * Return: true once; the caller adds what it finds.
 */
bool table_queue_may_look(struct table_queue *queue)
{
	int64_t now = clock_ms();

	if (!queue->left || (queue->wants.count && now < queue->look_next))
		return false;
	queue->left = false;
	queue->look_next = now + QUEUE_LOOK_MS;
	return true;
}

/* Take what the pinner has.  The file may have left the queue meanwhile. */
static void queue_take_pins(struct table_queue *queue)
{
	uint32_t id;
	int pin;

	while (pinner_take(queue->pinner, &id, &pin)) {
		struct table_want *want = queue->wants.want, *end = want + queue->wants.count;

		while (want < end && want->id != id)
			want++;
		if (want == end) {
			if (pin >= 0)
				close(pin);
			continue;
		}
		if (pin >= 0)
			want_release(want);
		if (want->pin < 0)
			want->pin = pin;
		want->pinned_by = 0;
	}
}

/**
 * table_queue_add_missed() - add the mapped files that have no table and that walks have met
 * @queue: the queue
 * @pid: mapped by this process; 0: by any that is managed
 * @skip: whether a file is not to be added; NULL: add all
 * @arg: for @skip
 *
 * For files that were announced when nobody listened, as they are not announced again.  As many as
 * table_queue_offer() has room for; if the module cannot be asked, none, and table_queue_note_left().
 */
void table_queue_add_missed(struct table_queue *queue, pid_t pid, table_queue_skip_fn skip,
			    void *arg)
{
	struct table_wants wants = { 0 };
	struct bee_error error;
	size_t i;

	if (table_jobs_find(queue->maker->nl, pid, &wants, &error))
		table_queue_note_left(queue);
	for (i = 0; i < wants.count; i++)
		if (wants.want[i].missed && (!skip || !skip(arg, wants.want[i].id)))
			table_queue_offer(queue, &wants.want[i]);
	free(wants.want);
}

/** table_queue_waiting() - number of files that no child works on */
size_t table_queue_waiting(const struct table_queue *queue)
{
	return queue->wants.count;
}

/** table_queue_running() - number of files that children work on */
size_t table_queue_running(const struct table_queue *queue)
{
	return queue->running;
}

/**
 * table_queue_ban() - keep a file out of the queue from now on
 * @queue: the queue
 * @file: the file; a child that works on it goes on.  Code in memory does not come here
 */
void table_queue_ban(struct table_queue *queue, const struct netlink_file *file)
{
	struct table_wants *wants = &queue->wants;
	struct table_want want = {
		.device = file->device,
		.mapping = { .inode = file->inode, .size = file->size },
	};
	size_t i;

	if (file->owner || queue_bans(queue, &want))
		return;
	queue->banned = alloc_room(queue->banned, queue->nbanned, &queue->banned_room,
				   sizeof(*queue->banned));
	queue->banned[queue->nbanned++] = (struct banned){ file->device, file->inode, file->size };
	for (i = wants->count; i-- > 0;) {
		if (!queue_bans(queue, &wants->want[i]))
			continue;
		want = want_take(wants, i);
		want_release(&want);
	}
}

/* Whether a file that looks the same came after that at @at. */
static bool queue_has_later(const struct table_queue *queue, size_t at)
{
	const struct table_want *want = queue->wants.want;
	size_t i;

	for (i = at + 1; i < queue->wants.count; i++)
		if (want_looks_like(&want[i], &want[at]))
			return true;
	return false;
}

/**
 * table_queue_count() - bring up to date how often walks have missed the files that wait
 * @queue: the queue
 * @files: the module's files; those that have got a table meanwhile leave the queue
 *
 * So do those that the module has forgotten, as they are mapped no longer, if one came later that
 * looks the same: mostly it is the same, and what is mapped again the module announces again.
 */
void table_queue_count(struct table_queue *queue, const struct netlink_files *files)
{
	struct table_wants *wants = &queue->wants;
	size_t i;

	for (i = wants->count; i-- > 0;) {
		const struct netlink_file *file = netlink_files_find(files, wants->want[i].id);
		struct table_want want;

		if (file ? file->loaded : queue_has_later(queue, i)) {
			want = want_take(wants, i);
			want_release(&want);
		} else if (file) {
			wants->want[i].missed = file->missed;
		}
	}
}

static void queue_read_counts(struct table_queue *queue)
{
	struct netlink_files files;
	struct bee_error error;
	int64_t began = clock_ms(), took;

	if (began < queue->count_next)
		return;
	if (!netlink_files_get(queue->maker->nl, &files, &error))
		table_queue_count(queue, &files);
	netlink_files_free(&files);
	took = (clock_ms() - began) * QUEUE_COUNT_SHARE;
	queue->count_next = began + (took > QUEUE_COUNT_MS ? took : QUEUE_COUNT_MS);
}

/* Whether a child works on a file that looks the same: its table will mostly do for both. */
static bool queue_works_on_like(const struct table_queue *queue, const struct table_want *want)
{
	unsigned int i;

	for (i = 0; i < queue->jobs; i++)
		if (queue->slot[i].child.fd >= 0 && want_looks_like(&queue->slot[i].want, want))
			return true;
	return false;
}

/* Whether a user may have one more child. */
static bool queue_has_share(const struct table_queue *queue, uid_t user)
{
	unsigned int i, count = 0;

	for (i = 0; i < queue->jobs; i++)
		count += queue->slot[i].child.fd >= 0 && queue->slot[i].want.mapping.user == user;
	return !user || !count || count < queue->jobs / 2;
}

/* Whether a file comes before another one, which came first. */
static bool queue_prefers(const struct table_queue *queue, const struct table_want *want,
			  const struct table_want *other)
{
	uint64_t turn = turns_last(&queue->turns, want->mapping.user);
	uint64_t other_turn = turns_last(&queue->turns, other->mapping.user);

	return turn == other_turn ? want->missed > other->missed : turn < other_turn;
}

/*
 * Of the user whose last turn was longest ago the file that is missed most; of several the one that came
 * first.
 * Return: its index; the number of files if each has to wait: for its pin, for one that looks the same, or
 * for its user's share.
 */
static size_t queue_find_next(const struct table_queue *queue)
{
	const struct table_want *want = queue->wants.want;
	size_t i, count = queue->wants.count, best = count;
	int64_t now = clock_ms();

	for (i = 0; i < count; i++)
		if ((best == count || queue_prefers(queue, &want[i], &want[best])) &&
		    want[i].pinned_by <= now && queue_has_share(queue, want[i].mapping.user) &&
		    !queue_works_on_like(queue, &want[i]))
			best = i;
	return best;
}

/* A child_work_fn */
static void queue_work(void *arg, size_t index, FILE *out)
{
	const struct table_queue *queue = arg;

	table_jobs_make(queue->maker, &queue->slot[index].want, out);
}

static int queue_start_one(struct table_queue *queue, struct slot *slot, size_t at)
{
	struct table_want want = queue->wants.want[at];

	if (!queue->running || queue->started >= QUEUE_MEASURE) {
		cache_measure(queue->maker->cache);
		queue->started = 0;
	}
	slot->want = want;
	if (child_start(&slot->child, queue_work, queue, slot - queue->slot))
		return -1;
	slot->child.owner = want.mapping.user;
	turns_take(&queue->turns, want.mapping.user);
	want_take(&queue->wants, at);
	queue->running++;
	queue->started++;
	return 0;
}

/* Take the files of users for whom no child may be started out of the queue; the caller may add them again. */
static void queue_refuse(struct table_queue *queue)
{
	const struct table_maker *maker = queue->maker;
	size_t i;

	for (i = queue->wants.count; i-- > 0;) {
		struct table_result result = { .source = TABLE_NONE, .refusal = EDQUOT };
		struct table_want want;

		if (child_may_start(queue->wants.want[i].mapping.user))
			continue;
		want = want_take(&queue->wants, i);
		error_set(&result.error, EBUSY, "too many processes of beectl wait for file systems of its user");
		queue->ready++;
		maker->done(maker->arg, &want, &result);
		want_release(&want);
	}
}

/**
 * table_queue_start() - start children for the files that wait
 * @queue: the queue
 * @most: no more than so many
 *
 * Return: how many were started; or -1 and errno, if no child could be made and none is at work.
 */
int table_queue_start(struct table_queue *queue, size_t most)
{
	size_t started = 0, at;
	unsigned int i;

	queue_refuse(queue);
	for (i = 0; i < queue->jobs && started < most && queue->wants.count; i++) {
		if (queue->slot[i].child.fd >= 0)
			continue;
		if (queue->wants.count > 1)
			queue_read_counts(queue);
		at = queue_find_next(queue);
		if (at == queue->wants.count)
			break;
		if (queue_start_one(queue, &queue->slot[i], at)) {
			queue->slot[i].child.fd = -1;
			if (!queue->running)
				return -1;
			break;
		}
		started++;
	}
	return started;
}

/* The child has ended. */
static void slot_finish(struct table_queue *queue, struct slot *slot)
{
	const struct table_maker *maker = queue->maker;
	struct child *child = &slot->child;
	struct table_result result = table_jobs_result(child->data, child->size,
						       child->died[0] ? child->died : NULL);

	/* Its storage may be back later: let the caller try it again, as a file that could not be opened. */
	if (child->given_up)
		result.opened = false;
	if (child->killed) {
		/* Of all children the kernel takes the largest, which need not be the one that is to blame. */
		result.refusal = EDQUOT;
		result.cost = child->used;
	}
	queue->running--;
	queue->ready++;
	free(child->data);
	child->data = NULL;
	maker->done(maker->arg, &slot->want, &result);
	want_release(&slot->want);
}

/* How long to sleep if the caller would sleep for @timeout, ms. */
static int queue_patience(const struct table_queue *queue, int timeout)
{
	int64_t now = clock_ms();
	size_t i;

	timeout = clock_sooner(timeout, pinner_patience(queue->pinner));
	if (queue->left)
		timeout = clock_sooner(timeout, queue->look_next > now ? queue->look_next - now : 0);
	for (i = 0; i < queue->wants.count && queue->running < queue->jobs; i++)
		if (queue->wants.want[i].pinned_by > now)
			timeout = clock_sooner(timeout, queue->wants.want[i].pinned_by - now);
	return queue->running ? clock_sooner(timeout, CHILD_LOOK_MS) : timeout;
}

/**
 * table_queue_poll() - wait for children and for other descriptors, and take results
 * @queue: the queue
 * @fds: the caller's descriptors; revents are filled
 * @nfds: number of them
 * @timeout: ms; -1: none.  It can wait for less.
 * @signals: as for ppoll(); may be NULL
 *
 * Return: as ppoll(), where a child counts as well.
 */
int table_queue_poll(struct table_queue *queue, struct pollfd *fds, size_t nfds, int timeout,
		     const sigset_t *signals)
{
	int patience = queue_patience(queue, timeout), ret;
	struct timespec wait = { patience / 1000, patience % 1000 * 1000000l };
	size_t i, n = nfds;

	if (queue->npoll < nfds + queue->jobs + 1) {
		queue->npoll = nfds + queue->jobs + 1;
		queue->poll = alloc_array(queue->poll, queue->npoll, sizeof(*queue->poll));
	}
	for (i = 0; i < nfds; i++)
		queue->poll[i] = fds[i];
	/* Of idle slots nothing: poll() takes no more descriptors than a process may open, and -1 counts. */
	for (i = 0; i < queue->jobs; i++)
		if (queue->slot[i].child.fd >= 0)
			queue->poll[n++] = (struct pollfd){ .fd = queue->slot[i].child.fd,
							    .events = POLLIN };
	queue->poll[n++] = (struct pollfd){ .fd = pinner_fd(queue->pinner), .events = POLLIN };
	ret = ppoll(queue->poll, n, patience < 0 ? NULL : &wait, signals);
	for (i = 0; i < nfds; i++)
		fds[i].revents = ret > 0 ? queue->poll[i].revents : 0;
	if (ret < 0)
		return ret;
	for (i = 0, n = nfds; i < queue->jobs; i++) {
		struct slot *slot = &queue->slot[i];

		if (slot->child.fd < 0)
			continue;
		if (queue->poll[n++].revents && ret > 0 && !child_read(&slot->child)) {
			slot_finish(queue, slot);
		} else if (child_is_stuck(&slot->child, TABLE_JOBS_IDLE)) {
			/* It waits for a FUSE server: its slot is to serve others. */
			child_give_up(&slot->child, TABLE_JOBS_IDLE);
			slot_finish(queue, slot);
		}
	}
	queue_take_pins(queue);
	return ret;
}

/**
 * table_queue_drain() - work on all files, and wait for the end
 * @queue: the queue
 *
 * Return: 0; or -1 and errno, if no child could be made.
 */
int table_queue_drain(struct table_queue *queue)
{
	const struct table_maker *maker = queue->maker;
	unsigned int i;

	queue->ready = 0;
	while (queue->wants.count || queue->running) {
		if (table_queue_start(queue, queue->jobs) < 0)
			return -1;
		for (i = 0; i < queue->jobs && queue->slot[i].child.fd < 0; i++)
			;
		if (maker->progress && i < queue->jobs)
			maker->progress(queue->ready,
					queue->ready + queue->running + queue->wants.count,
					queue->slot[i].want.name);
		if (table_queue_poll(queue, NULL, 0, QUEUE_PROGRESS_MS, NULL) < 0 &&
		    errno != EINTR)
			return -1;
	}
	return 0;
}
