// SPDX-License-Identifier: GPL-2.0
/*
 * Make the tables that walks miss, as the module tells of them, while the caller goes on with what else it
 * waits for.
 *
 * For each file a child is started at once, which opens it while its process is still there, and takes its
 * table from the cache if that has it.  Otherwise it waits for its turn: users take turns, and any user but
 * root has half of the children at most.  What a file can cost is its own child, which table_jobs_limit()
 * ends.
 *
 * The memory of what was tried is the module's: a child notes there that the file has no table before it
 * makes one.  Where another attempt may succeed, this note is taken back later, and the file is news again.
 *
 * Code in memory is looked at in one process at a time, in a child.  Most code that is news has no unwind
 * information, and a program that compiles on and on is news again and again: so the wait between two looks
 * at a process doubles each time that nothing has changed, and is ten times as long as the look took.  A
 * process whose code has got tables is looked at again as long as it runs: the module does not see
 * whether code changes.
 */
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "child.h"
#include "clock.h"
#include "events.h"
#include "follow.h"
#include "parallel.h"
#include "turns.h"

/* Children at a time, those that wait for their turn included. */
#define FOLLOW_CHILDREN		64

/* News are asked for so often if the module cannot say that there are some, ms. */
#define FOLLOW_ASK_MS		500

/* When no child or connection could be had, so long later it is tried again, ms. */
#define FOLLOW_PAUSE_MS		1000

/* Another attempt at a file is so long after the last one, ms; and so many times as long as that took. */
#define FOLLOW_RETRY_MS		30000
#define FOLLOW_RETRY_COST	100

/* The cache is measured after so many children. */
#define FOLLOW_MEASURE		32

/* Files that wait for another attempt, and processes that are looked at. */
#define FOLLOW_RETRIES		256
#define FOLLOW_LOOKS		256

/* Waits between looks at a process, ms. */
#define LOOK_FIRST_MS		1000
#define LOOK_LAID_MS		8000
#define LOOK_LAST_MS		64000
#define LOOK_COST		10

/**
 * struct job - a file and its child
 * @child: free if its fd is -1
 * @gate: an eventfd, which the child reads before it compiles
 * @begun: when it was started, CLOCK_MONOTONIC, ms
 * @opened: it has opened the file, and told its @id
 * @waits: and waits for its turn
 * @want: the file
 * @id: the module's name for it
 */
struct job {
	struct child		child;
	int			gate;
	int64_t			begun;
	bool			opened;
	bool			waits;
	struct table_want	want;
	uint32_t		id;
};

/* struct made_table - file @id has got a table at @when, CLOCK_MONOTONIC, ms */
struct made_table {
	uint32_t	id;
	int64_t		when;
};

/* struct retry - file @id is to be news again at @due, CLOCK_MONOTONIC, ms; id 0: none */
struct retry {
	uint32_t	id;
	int64_t		due;
};

/**
 * struct look - a process with code in memory
 * @pid: the process; 0: none
 * @wanted: it is to be looked at
 * @found: a look has found something
 * @delay: how long the next look waits after the last, ms
 * @due: when it may be looked at, CLOCK_MONOTONIC, ms
 */
struct look {
	pid_t		pid;
	bool		wanted;
	bool		found;
	int		delay;
	int64_t		due;
};

/**
 * struct follow - who makes tables
 * @maker: how
 * @jit_done: called for a process the first time that its code gets tables; or NULL
 * @events: tells when there are news; NULL: without CAP_SYS_ADMIN
 * @seq: number of the last news that was asked for
 * @ask: when to ask for news, CLOCK_MONOTONIC, ms; -1: when there are some
 * @ends: no more news are taken
 * @list: the news that were asked for last
 * @next: index in @list of the first news that have not been taken
 * @job: files
 * @jobs: so many children are at work at a time, beside those that wait
 * @started: children since the size of the cache was measured
 * @pause: no child is started before, CLOCK_MONOTONIC, ms
 * @made: files that have got a table last
 * @nmade: number of files that have got one
 * @turns: of the users
 * @retry: files to be tried again
 * @look: processes with code in memory
 * @looked: the one that @looker looks at
 * @looker: the child that does so, unless its fd is -1
 */
struct follow {
	const struct table_maker	*maker;
	jit_done_fn			*jit_done;
	struct netlink_events		*events;
	uint64_t			 seq;
	int64_t				 ask;
	bool				 ends;
	struct netlink_news_list	 list;
	size_t				 next;
	struct job			 job[FOLLOW_CHILDREN];
	unsigned int			 jobs;
	unsigned int			 started;
	int64_t				 pause;
	struct made_table		 made[FOLLOW_CHILDREN];
	size_t				 nmade;
	struct turns			 turns;
	struct retry			 retry[FOLLOW_RETRIES];
	struct look			 look[FOLLOW_LOOKS];
	struct look			*looked;
	struct child			 looker;
};

/**
 * follow_open() - begin to make tables
 * @maker: how; used until follow_close().  Its done() gets results as they come, from follow_poll(), but not of
 *	files whose process has ended before they could be opened.
 * @jit_done: called with @maker->arg for a process the first time that its code gets tables; or NULL
 * @error: filled if the module cannot say that there are news, but only be asked for them, now and then
 *
 * What is news already comes first.
 *
 * Return: who makes them; never NULL.
 */
struct follow *follow_open(const struct table_maker *maker, jit_done_fn *jit_done, struct bee_error *error)
{
	struct follow *follow = alloc_zero(1, sizeof(*follow));
	size_t i;

	follow->maker = maker;
	follow->jit_done = jit_done;
	follow->jobs = parallel_jobs(maker->jobs);
	follow->looker.fd = -1;
	for (i = 0; i < FOLLOW_CHILDREN; i++)
		follow->job[i].child.fd = -1;
	/* Before news are asked for, so that none is missed in between. */
	follow->events = netlink_events_open(error);
	return follow;
}

/* Have a file be news again. */
static void follow_forget(const struct follow *follow, uint32_t id)
{
	struct bee_error ignored;

	if (id)
		netlink_table_del(follow->maker->nl, id, &ignored);
}

/** follow_close() - end the children, whose files are news again; NULL is fine */
void follow_close(struct follow *follow)
{
	size_t i;

	if (!follow)
		return;
	for (i = 0; i < FOLLOW_CHILDREN; i++) {
		struct job *job = &follow->job[i];

		if (job->child.fd < 0)
			continue;
		child_kill(&job->child);
		close(job->gate);
		follow_forget(follow, job->id);
	}
	for (i = 0; i < FOLLOW_RETRIES; i++)
		follow_forget(follow, follow->retry[i].id);
	if (follow->looker.fd >= 0)
		child_kill(&follow->looker);
	netlink_events_close(follow->events);
	free(follow->list.news);
	free(follow);
}

/** follow_finish() - take no more news; what is being made can be waited for by follow_poll() */
void follow_finish(struct follow *follow)
{
	follow->ends = true;
}

/** follow_unfinished() - number of files whose tables are being made, or wait for it */
size_t follow_unfinished(const struct follow *follow)
{
	size_t i, count = 0;

	for (i = 0; i < FOLLOW_CHILDREN; i++)
		count += follow->job[i].child.fd >= 0;
	return count;
}

/* Children of a user, all or only those that are at work. */
static size_t follow_count(const struct follow *follow, uid_t owner, bool waiting)
{
	size_t i, count = 0;

	for (i = 0; i < FOLLOW_CHILDREN; i++) {
		const struct job *job = &follow->job[i];

		count += job->child.fd >= 0 && job->want.owner == owner && (waiting || !job->waits);
	}
	return count;
}

/* A child_work_fn */
static void job_work(void *arg, size_t index, FILE *out)
{
	struct follow *follow = arg;
	struct job *job = &follow->job[index];

	table_jobs_make(follow->maker, &job->want, job->gate, out);
}

/* Whether a child is at work on the file of this name.  It may be another of that name, which is news again then. */
static bool follow_has(const struct follow *follow, const char *name)
{
	size_t i;

	for (i = 0; i < FOLLOW_CHILDREN; i++)
		if (follow->job[i].child.fd >= 0 && !strcmp(follow->job[i].want.name, name))
			return *name;
	return false;
}

/*
 * Start the child of a file.  Return: false if there is no room, so that the news has to wait; true also if the
 * file is left to be news again, or nothing can be done for it.
 */
static bool follow_start(struct follow *follow, const struct netlink_news *news)
{
	struct job *job = NULL;
	char path[32];
	struct stat st;
	size_t i;

	for (i = 0; i < FOLLOW_CHILDREN && !job; i++)
		if (follow->job[i].child.fd < 0)
			job = &follow->job[i];
	if (follow_has(follow, news->name))
		return true;
	if (!job || clock_ms() < follow->pause)
		return false;
	snprintf(path, sizeof(path), "/proc/%u", news->pid);
	/* If the process has ended, only the file's name may be left. */
	if (stat(path, &st)) {
		if (*news->name != '/')
			return true;
		st.st_uid = TABLE_WANT_OWNER;
	}
	*job = (struct job){ .child.fd = -1, .begun = clock_ms(), .want = {
		.fd = TABLE_WANT_MAPPED, .mapping = { news->pid, news->start, news->end },
		.uid = st.st_uid, .owner = child_owner_of(st.st_uid),
	} };
	snprintf(job->want.name, sizeof(job->want.name), "%s", news->name);
	if (!child_may_start(job->want.owner) ||
	    (job->want.owner && follow_count(follow, job->want.owner, true) >= FOLLOW_CHILDREN / 2))
		return true;
	if (follow->started++ % FOLLOW_MEASURE == 0)
		cache_measure(follow->maker->cache);
	job->gate = eventfd(0, EFD_CLOEXEC);
	if (job->gate >= 0 && !child_start(&job->child, job_work, follow, job - follow->job)) {
		job->child.owner = job->want.owner;
		return true;
	}
	job->child.fd = -1;
	if (job->gate >= 0)
		close(job->gate);
	follow->pause = clock_ms() + FOLLOW_PAUSE_MS;
	return false;
}

/* A process's code is news.  If all places are taken, it is news again. */
static void follow_want_look(struct follow *follow, pid_t pid)
{
	struct look *look = NULL;
	size_t i;

	if (follow->maker->no_jit)
		return;
	for (i = 0; i < FOLLOW_LOOKS && (!look || look->pid != pid); i++) {
		struct look *other = &follow->look[i];

		if (other->pid == pid || (!other->wanted && other != follow->looked &&
					  (!look || other->due < look->due)))
			look = other;
	}
	if (!look)
		return;
	if (look->pid != pid)
		*look = (struct look){ .pid = pid };
	look->wanted = true;
}

/* Ask for news, if there may be some, and take as many as there is room for. */
static void follow_take_news(struct follow *follow)
{
	struct netlink_news_list *list = &follow->list;
	struct bee_error ignored;

	if (follow->ends)
		return;
	if (follow->next == list->count && follow->ask >= 0 && clock_ms() >= follow->ask) {
		follow->next = 0;
		follow->ask = follow->events ? -1 : clock_ms() + FOLLOW_ASK_MS;
		if (netlink_news_get(follow->maker->nl, follow->seq, list, &ignored))
			follow->ask = clock_ms() + FOLLOW_PAUSE_MS;
		if (list->count)
			follow->seq = list->news[list->count - 1].seq;
	}
	for (; follow->next < list->count; follow->next++) {
		const struct netlink_news *news = &list->news[follow->next];

		if (news->kind == BEEUNWIND_NEWS_CODE)
			follow_want_look(follow, news->pid);
		else if (news->kind == BEEUNWIND_NEWS_FILE && !follow_start(follow, news))
			break;
	}
}

/* Find the file whose turn it is: its user may have one more child, and has had the last turn before others. */
static struct job *follow_find_next(struct follow *follow)
{
	struct job *best = NULL;
	size_t i;

	for (i = 0; i < FOLLOW_CHILDREN; i++) {
		struct job *job = &follow->job[i];
		uid_t owner = job->want.owner;
		size_t count;

		if (job->child.fd < 0 || !job->waits)
			continue;
		count = follow_count(follow, owner, false);
		if (owner && count && count >= follow->jobs / 2)
			continue;
		if (!best || turns_last(&follow->turns, owner) < turns_last(&follow->turns, best->want.owner) ||
		    (owner == best->want.owner && job->child.started < best->child.started))
			best = job;
	}
	return best;
}

/* Let children go on. */
static void follow_let_go(struct follow *follow)
{
	size_t i, running = 0;
	struct job *job;

	for (i = 0; i < FOLLOW_CHILDREN; i++)
		running += follow->job[i].child.fd >= 0 && !follow->job[i].waits;
	for (; running < follow->jobs && (job = follow_find_next(follow)); running++) {
		eventfd_write(job->gate, 1);
		job->waits = false;
		/* Patience begins now. */
		job->child.started = job->child.looked = clock_ms();
		job->child.idle = 0;
		turns_take(&follow->turns, job->want.owner);
	}
}

static void follow_retry(struct follow *follow, uint32_t id, int64_t took)
{
	struct retry *retry = follow->retry;
	size_t i;

	for (i = 1; i < FOLLOW_RETRIES && retry->id; i++)
		if (!follow->retry[i].id || follow->retry[i].due < retry->due)
			retry = &follow->retry[i];
	follow_forget(follow, retry->id);
	took *= FOLLOW_RETRY_COST;
	*retry = (struct retry){ id, clock_ms() + (took > FOLLOW_RETRY_MS ? took : FOLLOW_RETRY_MS) };
}

/* A file has got a table.  Return: false if it was news twice, and another child has made the same meanwhile. */
static bool follow_note_made(struct follow *follow, const struct job *job, uint32_t id)
{
	size_t i;

	for (i = 0; i < FOLLOW_CHILDREN; i++)
		if (follow->made[i].id == id && follow->made[i].when >= job->begun)
			return false;
	follow->made[follow->nmade++ % FOLLOW_CHILDREN] = (struct made_table){ id, clock_ms() };
	return true;
}

/* The child has ended, or is left alone. */
static void job_finish(struct follow *follow, struct job *job)
{
	struct child *child = &job->child;
	struct table_result result = table_jobs_result(child->data, child->size,
						       child->died[0] ? child->died : NULL);

	free(child->data);
	child->data = NULL;
	close(job->gate);
	/*
	 * Of all children the kernel takes the largest, which need not be the one that is to blame if memory has
	 * run out; and storage that does not answer may be back later.
	 */
	result.may_pass |= child->killed || child->given_up;
	if (result.source == TABLE_NONE && result.may_pass && result.id)
		/* What was refused is in the cache. */
		follow_retry(follow, result.id, result.refusal ? 0 : clock_ms() - child->started);
	if (!result.opened && result.error.code == ENOENT)
		return;
	if (result.source != TABLE_NONE && !follow_note_made(follow, job, result.id))
		result.source = TABLE_STORED;
	follow->maker->done(follow->maker->arg, &job->want, &result);
}

/* Read what a child has written.  @readable: there is something. */
static void job_read(struct follow *follow, struct job *job, bool readable)
{
	struct table_result result;

	if (readable && !child_read(&job->child)) {
		job_finish(follow, job);
	} else if (!job->opened && table_jobs_waits(job->child.data, job->child.size, &result)) {
		job->opened = job->waits = true;
		job->id = result.id;
	} else if (!job->waits && child_is_stuck(&job->child, TABLE_JOBS_IDLE)) {
		/* A child that waits for a FUSE server gives its place to others. */
		child_give_up(&job->child, TABLE_JOBS_IDLE);
		job_finish(follow, job);
	}
}

/* A child_work_fn */
static void look_work(void *arg, size_t index, FILE *out)
{
	const struct follow *follow = arg;

	(void)index;
	jit_jobs_look(follow->maker, follow->looked->pid, out);
}

/* The process that is to be looked at next, or NULL. */
static struct look *follow_next_look(struct follow *follow)
{
	struct look *next = NULL;
	size_t i;

	for (i = 0; i < FOLLOW_LOOKS; i++)
		if (follow->look[i].wanted && (!next || follow->look[i].due < next->due))
			next = &follow->look[i];
	return next;
}

static void follow_start_look(struct follow *follow)
{
	struct look *look = follow_next_look(follow);
	uid_t owner;

	if (follow->looker.fd >= 0 || follow->ends || !look || look->due > clock_ms())
		return;
	look->wanted = false;
	owner = child_owner(look->pid);
	if (owner == (uid_t)-1)
		look->pid = 0;
	if (!look->pid || !child_may_start(owner))
		return;
	follow->looked = look;
	if (!child_start(&follow->looker, look_work, follow, 0)) {
		follow->looker.owner = owner;
		return;
	}
	follow->looker.fd = -1;
	look->wanted = true;
	look->due = clock_ms() + FOLLOW_PAUSE_MS;
}

/* Read what the child has written that looks at a process. */
static void look_read(struct follow *follow, bool readable)
{
	struct child *child = &follow->looker;
	struct look *look = follow->looked;
	struct jit_result result;
	int64_t took;
	int last;

	if (!readable && child_is_stuck(child, TABLE_JOBS_IDLE))
		child_give_up(child, TABLE_JOBS_IDLE);
	else if (!readable || child_read(child))
		return;
	took = (clock_ms() - child->started) * LOOK_COST;
	result = jit_jobs_result(child->data, child->size, child->died[0] ? child->died : NULL);
	free(child->data);
	child->data = NULL;
	last = result.laid || result.objects ? LOOK_LAID_MS : LOOK_LAST_MS;
	look->delay = result.tables || result.remapped || result.removed || result.new_heaps ? LOOK_FIRST_MS :
		      look->delay ? 2 * look->delay : LOOK_FIRST_MS;
	if (look->delay > last)
		look->delay = last;
	look->due = clock_ms() + (took > look->delay ? took : look->delay);
	look->wanted |= result.laid;
	follow->looked = NULL;
	if (look->found || !(result.tables || result.remapped || result.new_heaps))
		return;
	look->found = true;
	if (follow->jit_done)
		follow->jit_done(follow->maker->arg, look->pid, &result);
}

/* How long to sleep if the caller would sleep for @timeout, ms. */
static int follow_patience(struct follow *follow, int timeout)
{
	const struct look *look = follow_next_look(follow);
	int64_t now = clock_ms(), due = INT64_MAX;
	size_t i;

	for (i = 0; i < FOLLOW_RETRIES; i++)
		if (follow->retry[i].id && follow->retry[i].due < due)
			due = follow->retry[i].due;
	if (!follow->ends && follow->next < follow->list.count && follow->pause > now && follow->pause < due)
		due = follow->pause;
	if (!follow->ends && follow->ask >= 0 && follow->ask < due)
		due = follow->ask;
	if (!follow->ends && look && follow->looker.fd < 0 && look->due < due)
		due = look->due;
	if (due < INT64_MAX)
		timeout = clock_sooner(timeout, due > now ? due - now : 0);
	return follow_unfinished(follow) || follow->looker.fd >= 0 ? clock_sooner(timeout, CHILD_LOOK_MS) : timeout;
}

/**
 * follow_poll() - take news, start children, and wait for them and for other descriptors
 * @follow: who makes tables
 * @fds: the caller's descriptors; revents are filled
 * @nfds: entries in @fds
 * @timeout: ms; -1: none.  It can wait for less.
 * @signals: as for ppoll(); may be NULL
 *
 * Return: as ppoll(), where what this waits for itself counts as well.
 */
int follow_poll(struct follow *follow, struct pollfd *fds, size_t nfds, int timeout, const sigset_t *signals)
{
	struct pollfd *poll = alloc_array(NULL, nfds + FOLLOW_CHILDREN + 2, sizeof(*poll));
	struct job *polled[FOLLOW_CHILDREN];
	size_t i, n = nfds, jobs = 0, events, looker;
	struct timespec wait;
	int patience, ret;

	follow_take_news(follow);
	follow_let_go(follow);
	follow_start_look(follow);
	if (nfds)
		memcpy(poll, fds, nfds * sizeof(*poll));
	events = n;
	poll[n++] = (struct pollfd){ follow->events && !follow->ends ? netlink_events_fd(follow->events) : -1,
				     POLLIN, 0 };
	looker = n;
	poll[n++] = (struct pollfd){ follow->looker.fd, POLLIN, 0 };
	for (i = 0; i < FOLLOW_CHILDREN; i++) {
		if (follow->job[i].child.fd < 0)
			continue;
		polled[jobs++] = &follow->job[i];
		poll[n++] = (struct pollfd){ follow->job[i].child.fd, POLLIN, 0 };
	}
	patience = follow_patience(follow, timeout);
	wait = (struct timespec){ patience / 1000, patience % 1000 * 1000000l };
	ret = ppoll(poll, n, patience < 0 ? NULL : &wait, signals);
	for (i = 0; i < n && ret <= 0; i++)
		poll[i].revents = 0;
	for (i = 0; i < nfds; i++)
		fds[i].revents = poll[i].revents;
	if (poll[events].revents) {
		netlink_events_drain(follow->events);
		follow->ask = 0;
	}
	if (follow->looker.fd >= 0)
		look_read(follow, poll[looker].revents);
	for (i = 0; i < jobs; i++)
		job_read(follow, polled[i], poll[looker + 1 + i].revents);
	/* Files that wait now may have their turn. */
	follow_let_go(follow);
	for (i = 0; i < FOLLOW_RETRIES; i++) {
		struct retry *retry = &follow->retry[i];

		if (!retry->id || retry->due > clock_ms())
			continue;
		follow_forget(follow, retry->id);
		retry->id = 0;
	}
	free(poll);
	return ret;
}
