// SPDX-License-Identifier: GPL-2.0
/*
 * beectl watch: keep the tables of all programs loaded.  It sleeps until the kernel sends a
 * message (a file without a table, or the module comes or goes); it does not poll.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "clock.h"
#include "commands.h"
#include "events.h"
#include "jit_queue.h"
#include "maker.h"
#include "manage.h"
#include "messages.h"
#include "options.h"
#include "table_queue.h"
#include "text.h"
#include "tried.h"

static const char watch_help[] =
	"Usage: beectl watch [--eager] [-j N] [--no-jit] [-q]\n"
	"\n"
	"Keep the tables of all programs loaded: have the module follow every process,\n"
	"those that start later and those that live for milliseconds included, and\n"
	"compile the table of a file after the first sample in it; users take turns, and\n"
	"of a user's files the one with the most samples comes first.  At most half of\n"
	"the jobs (and at least one) are for files of one user, unless that is root.\n"
	"Runs until SIGTERM, SIGHUP (not under nohup) or ^C.  After that the tables stay\n"
	"loaded, and the processes that run then, and their children, followed.  To undo\n"
	"it: beectl unload --all --tables.\n"
	"\n"
	"Options:\n"
	"      --eager   Compile the table of a file as soon as it is mapped, so that\n"
	"                the first sample is complete too; takes more memory and, at\n"
	"                first, more time\n"
	"  -j, --jobs N  Work on N files at a time (default: one for each CPU)\n"
	"      --no-jit  Leave code that is in memory without a file without tables\n"
	"  -q, --quiet   Print no line for each file\n"
	"  -h, --help    Show this text\n"
	"\n"
	"A token bucket limits the files that it works on: 1000 at once, then 10 a\n"
	"second.  Code that is in memory without a file, as JIT compilers make it, gets\n"
	"tables after the first sample in it, as from \"beectl load\".  While the module\n"
	"has no new file for it, it sleeps.  If the module is unloaded, it waits until\n"
	"the module is loaded again.  As a service: \"systemctl start beeunwind\", and\n"
	"\"enable\" to have it after each boot, too\n";

/* Token bucket: each file takes one.  It holds WATCH_BURST, and gets WATCH_RATE a second. */
#define WATCH_BURST	1000
#define WATCH_RATE	10

/* When fork() or pipe() has failed, watch waits so long before it tries to make a child again. */
#define WATCH_PAUSE_MS	1000

/**
 * struct watch - the service
 * @eager: compile what is mapped, not what is sampled
 * @quiet: no line for each file
 * @maker: how tables are made; without connection while the module is away
 * @events: of the module; NULL while it is away
 * @family: tells when it comes and goes
 * @hold: a connection of its own, which holds the module's settings; NULL while it is away
 * @queue: files that need a table; NULL while the module is away
 * @jit: processes with code in memory; NULL then too, or with --no-jit
 * @tried: files whose tables could not be made
 * @tokens: in the bucket, times 1000
 * @filled: when @tokens was brought up to date, CLOCK_MONOTONIC, ms
 * @unkept: the last table could not be kept in the cache
 * @childless: watch has printed that it cannot make a child, and has not made one since
 * @pause: until then watch does not try to make a child for a file, CLOCK_MONOTONIC, ms
 * @added: tables that were given to the module
 */
struct watch {
	bool			 eager;
	bool			 quiet;
	struct table_maker	 maker;
	struct netlink_events	*events;
	struct netlink_events	*family;
	struct netlink		*hold;
	struct table_queue	*queue;
	struct jit_queue	*jit;
	struct tried		 tried;
	int64_t			 tokens;
	int64_t			 filled;
	bool			 unkept;
	bool			 childless;
	int64_t			 pause;
	size_t			 added;
};

static volatile sig_atomic_t watch_ended;

static void watch_end(int signal)
{
	(void)signal;
	watch_ended = 1;
}

/*
 * Warn when a table could be made but not kept in the cache: the next watch will have to make it again.  Once,
 * until a table is kept again.
 */
static void watch_note_kept(struct watch *watch, const struct table_want *want,
			    const struct table_result *result)
{
	if (result->source != TABLE_COMPILED)
		return;
	if (result->error.code && !watch->unkept)
		message_warning("watch", want->name, result->error.text);
	watch->unkept = result->error.code;
}

/* A table_maker's done(): print what became of the file, and note it for another attempt if it has no table. */
static void watch_done(void *arg, const struct table_want *want, const struct table_result *result)
{
	struct watch *watch = arg;
	bool made = result->source != TABLE_NONE;
	const char *what = result->source == TABLE_CACHED ? "cached, " : "compiled, ";
	bool worth_saying = tried_note_result(&watch->tried, want->id, result, clock_ms());

	/* Another beectl was faster. */
	if (result->source == TABLE_STORED)
		return;
	watch->added += made;
	if (!worth_saying)
		return;
	watch_note_kept(watch, want, result);
	if (!watch->quiet) {
		text_put_name(stdout, want->name);
		printf(": %s%s\n", made ? what : "no table: ",
		       made ? text_size(result->bytes).text : result->error.text);
		fflush(stdout);
	}
}

/* Print what was found, once for each process: some compile code on and on. */
static void watch_jit_done(void *arg, pid_t pid, bool first, const struct jit_result *result)
{
	struct watch *watch = arg;

	watch->added += result->compiled + result->cached;
	if (watch->quiet || !first || !(result->tables || result->remapped))
		return;
	if (result->remapped)
		printf("process %d: remapped text has got the tables of its files\n", pid);
	if (result->tables) {
		printf("process %d: ", pid);
		text_put_name(stdout, result->name);
		printf(": compiled, %s\n", text_size(result->bytes).text);
	}
	fflush(stdout);
}

static size_t watch_waiting(const struct watch *watch)
{
	return watch->queue ? table_queue_waiting(watch->queue) : 0;
}

/* Somebody does not want that table, so it is not made again before watch is started again. */
static void watch_killed(struct watch *watch, const struct netlink_file *file)
{
	table_queue_ban(watch->queue, file);
	if (watch->quiet)
		return;
	text_put_name(stdout, file->name);
	printf(": table removed by request, not made again; %u process%s used it\n", file->procs,
	       file->procs == 1 ? "" : "es");
	fflush(stdout);
}

/* Queue the files of messages that have come. */
static void watch_take_events(struct watch *watch)
{
	unsigned int left = NETLINK_EVENTS_TURN;
	enum netlink_event_kind kind;
	struct netlink_file file;

	do {
		kind = netlink_events_next(watch->events, &file);
		if (kind == NETLINK_EVENT_FILE) {
			table_queue_add(watch->queue, &file);
		} else if (kind == NETLINK_EVENT_REMOVED) {
			watch_killed(watch, &file);
		} else if (kind == NETLINK_EVENT_CODE) {
			if (watch->jit)
				jit_queue_add(watch->jit, file.owner, file.pid,
					      child_owner(file.pid));
		} else if (kind == NETLINK_EVENT_LOST) {
			if (!table_queue_note_left(watch->queue))
				message_error("watch", NULL, "messages were lost; taking the "
					      "module's list of files instead");
		}
	} while (kind != NETLINK_EVENT_NONE && --left);
}

/* Queue all files without a table that the module has announced; some messages may be lost. */
static void watch_take_list(struct watch *watch)
{
	int64_t now = clock_ms();
	struct netlink_files files;
	struct bee_error error;
	size_t i;

	if (netlink_files_get_counts(watch->maker.nl, &files, &error)) {
		message_error("watch", NULL, error.text);
		table_queue_note_left(watch->queue);
	}
	for (i = 0; i < files.count; i++) {
		const struct netlink_file *file = &files.file[i];

		if (!file->loaded && file->pid && tried_may(&watch->tried, file->id, now))
			table_queue_add(watch->queue, file);
	}
	netlink_files_free(&files);
}

static void tokens_fill(struct watch *watch)
{
	int64_t now = clock_ms();

	watch->tokens += (now - watch->filled) * WATCH_RATE;
	if (watch->tokens > WATCH_BURST * 1000)
		watch->tokens = WATCH_BURST * 1000;
	watch->filled = now;
}

/* Print once why no child could be made, from errno: the machine may be full for a moment. */
static void watch_say_childless(struct watch *watch)
{
	char why[128];

	if (watch->childless)
		return;
	watch->childless = true;
	snprintf(why, sizeof(why), "cannot start a child: %s; trying again", strerror(errno));
	message_warning("watch", NULL, why);
}

/* Begin with files of the queue, as many as have tokens, and with code in memory. */
static void watch_make(struct watch *watch)
{
	int64_t now = clock_ms();
	bool looks = watch->jit && jit_queue_fd(watch->jit) >= 0;
	int started = 0;

	tokens_fill(watch);
	if (watch_waiting(watch) && now >= watch->pause)
		started = table_queue_start(watch->queue, watch->tokens / 1000);
	if (started < 0) {
		watch_say_childless(watch);
		watch->pause = now + WATCH_PAUSE_MS;
	} else {
		watch->tokens -= started * 1000;
	}
	if (watch->jit && jit_queue_start(watch->jit))
		watch_say_childless(watch);
	else if (started > 0 || (!looks && watch->jit && jit_queue_fd(watch->jit) >= 0))
		watch->childless = false;
}

static void watch_disconnect(struct watch *watch)
{
	table_queue_close(watch->queue);
	watch->queue = NULL;
	jit_queue_close(watch->jit);
	watch->jit = NULL;
	tried_forget(&watch->tried);
	netlink_events_close(watch->events);
	watch->events = NULL;
	netlink_close(watch->hold);
	watch->hold = NULL;
	netlink_close(watch->maker.nl);
	watch->maker.nl = NULL;
}

/* Queue what is mapped already, which is not announced before it is sampled: as much as there is room for. */
static void watch_want_mapped(struct watch *watch)
{
	int64_t now = clock_ms();
	struct table_wants wants = { 0 };
	struct bee_error error;
	size_t i;

	if (table_jobs_find(watch->maker.nl, 0, &wants, &error))
		message_error("watch", NULL, error.text);
	for (i = 0; i < wants.count; i++)
		if (tried_may(&watch->tried, wants.want[i].id, now))
			table_queue_offer(watch->queue, &wants.want[i]);
	free(wants.want);
}

/*
 * In this order nothing is missed: listen, have new processes followed, add those that run.
 * Return: 0, or -1 with the error filled; then watch_disconnect() is needed.
 */
static int watch_set_up(struct watch *watch, struct bee_error *error)
{
	struct manage_all_result all;

	if (maker_connect(&watch->maker, error))
		return -1;
	watch->queue = table_queue_open(&watch->maker);
	if (!watch->maker.no_jit)
		watch->jit = jit_queue_open(&watch->maker, watch_jit_done, watch);
	watch->events = netlink_events_open(error);
	watch->hold = watch->events ? netlink_clone(watch->maker.nl, error) : NULL;
	if (!watch->hold ||
	    netlink_config_hold(watch->hold, BEEUNWIND_A_CONFIG_FOLLOW, BEEUNWIND_FOLLOW_ALL,
				error) ||
	    (watch->eager && netlink_config_hold(watch->hold, BEEUNWIND_A_CONFIG_ANNOUNCE,
						 BEEUNWIND_ANNOUNCE_MAPPED, error)) ||
	    (watch->jit && netlink_config_hold(watch->hold, BEEUNWIND_A_CONFIG_CODE, 1, error)) ||
	    manage_all(watch->maker.nl, false, &all, error))
		return -1;
	printf("following %zu processes and all that start\n", all.managed);
	fflush(stdout);
	maker_warn_refused("watch", &all);
	maker_warn_hook(&watch->maker, "watch");
	table_queue_note_left(watch->queue);
	return 0;
}

/* Return: 0; also if no module is loaded that takes our tables, as watch then waits for one. */
static int watch_connect(struct watch *watch)
{
	struct bee_error error;
	bool absent;

	if (!watch_set_up(watch, &error))
		return 0;
	watch_disconnect(watch);
	absent = error.code == BEE_ERROR_NO_MODULE;
	message_error("watch", absent ? "waiting" : NULL, error.text);
	return absent ? EXIT_OK : EXIT_FAILED;
}

static int watch_take_family(struct watch *watch)
{
	enum netlink_event_kind news = netlink_family_next(watch->family);

	if (news == NETLINK_EVENT_NONE)
		return 0;
	watch_disconnect(watch);
	/* After NETLINK_EVENT_UNLOADED do not call netlink_open(): it would have the kernel load the module again. */
	if (news == NETLINK_EVENT_LOADED ||
	    (news == NETLINK_EVENT_LOST && !access("/sys/module/beeunwind", F_OK)))
		return watch_connect(watch);
	puts("the module has gone; waiting for it");
	fflush(stdout);
	return 0;
}

/*
 * ms to sleep with nothing to read: -1, unless files wait and the token bucket is empty or no child
 * could be made, or files are to be tried again, or a process with code in memory waits for its
 * next look.
 */
static int watch_patience(struct watch *watch)
{
	int code = watch->jit ? jit_queue_patience(watch->jit) : -1;
	int64_t now = clock_ms(), pause = watch->pause - now;
	int files;

	tokens_fill(watch);
	files = !watch_waiting(watch) ? -1 : pause > 0 ? pause :
		watch->tokens < 1000 ? 1000 / WATCH_RATE : -1;
	return clock_sooner(clock_sooner(files, code), tried_patience(&watch->tried, now));
}

/* Sleep until a message, a signal or a child's result comes, or a token; then handle it. */
static int watch_sleep(struct watch *watch, struct pollfd *fds, const sigset_t *signals)
{
	if (watch->queue)
		return table_queue_poll(watch->queue, fds, 3, watch_patience(watch), signals);
	return ppoll(fds, 3, NULL, signals);
}

/*
 * Let the signals in that are blocked.  ppoll() does so only while it sleeps, and it does not sleep if there is
 * something to read, which can be so each time.
 */
static void watch_let_signals(const sigset_t *signals)
{
	sigset_t blocked;

	sigprocmask(SIG_SETMASK, signals, &blocked);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
}

static int watch_loop(struct watch *watch, const sigset_t *signals)
{
	int status = watch_connect(watch);

	while (!status) {
		struct pollfd fds[3];

		if (tried_is_due(&watch->tried, clock_ms()))
			table_queue_note_left(watch->queue);
		/* First: what was removed meanwhile is not to be made again. */
		if (watch->events)
			watch_take_events(watch);
		if (watch->queue && table_queue_may_look(watch->queue)) {
			watch_take_list(watch);
			if (watch->eager)
				watch_want_mapped(watch);
		}
		watch_make(watch);
		fds[0] = (struct pollfd){ netlink_events_fd(watch->family), POLLIN, 0 };
		fds[1] = (struct pollfd){ watch->events ? netlink_events_fd(watch->events) : -1,
					  POLLIN, 0 };
		fds[2] = (struct pollfd){ watch->jit ? jit_queue_fd(watch->jit) : -1, POLLIN, 0 };
		if (watch_sleep(watch, fds, signals) < 0 && errno != EINTR)
			return message_error("watch", NULL, strerror(errno));
		watch_let_signals(signals);
		if (watch_ended)
			break;
		if (fds[2].revents)
			jit_queue_read(watch->jit);
		if (fds[0].revents)
			status = watch_take_family(watch);
	}
	return status;
}

/*
 * Have the signals that end watch set watch_ended.  They are blocked but while ppoll() sleeps, or one could
 * come between the test of watch_ended and that sleep, which it would not end.  A signal that was ignored when
 * watch was started stays ignored: SIGHUP under nohup(1), SIGINT of what a script has started by "&".
 */
static void watch_take_signals(sigset_t *before)
{
	static const int ends[] = { SIGTERM, SIGINT, SIGHUP };
	struct sigaction action = { .sa_handler = watch_end }, now;
	sigset_t blocked;
	size_t i;

	sigprocmask(SIG_BLOCK, NULL, before);
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (!sigaction(ends[i], NULL, &now) && now.sa_handler == SIG_IGN)
			continue;
		sigemptyset(&blocked);
		sigaddset(&blocked, ends[i]);
		sigprocmask(SIG_BLOCK, &blocked, NULL);
		sigaction(ends[i], &action, NULL);
		sigdelset(before, ends[i]);
	}
}

static int watch_run(struct watch *watch)
{
	struct bee_error error;
	sigset_t signals;
	int status;

	watch->family = netlink_family_open(&error);
	watch->maker.cache = cache_open();
	if (!watch->family)
		return message_error("watch", NULL, error.text);
	maker_warn(&watch->maker, "watch");
	watch->maker.arg = watch;
	watch->maker.done = watch_done;
	watch->maker.mark = true;
	watch->tokens = WATCH_BURST * 1000;
	watch->filled = clock_ms();
	watch_take_signals(&signals);
	status = watch_loop(watch, &signals);
	watch_disconnect(watch);
	netlink_events_close(watch->family);
	cache_close(watch->maker.cache);
	if (!status)
		printf("%zu table%s added; what is loaded stays\n", watch->added,
		       plural(watch->added));
	return status;
}

int cmd_watch(int argc, char **argv)
{
	struct watch watch = { 0 };
	const struct options options = {
		.command = "watch", .help = watch_help,
		.option = {
			{ 0, "eager", OPTION_FLAG, &watch.eager },
			{ 'j', "jobs", OPTION_JOBS, &watch.maker.jobs },
			{ 0, "no-jit", OPTION_FLAG, &watch.maker.no_jit },
			{ 'q', "quiet", OPTION_FLAG, &watch.quiet },
		},
	};
	int status = options_parse(&options, argc, &argv);

	if (status != OPTIONS_OK)
		return status;
	if (*argv)
		return message_usage("watch", "takes no arguments; it watches all processes");
	/* SIGCHLD may be ignored (inherited); then waitpid() could not tell how children ended. */
	signal(SIGCHLD, SIG_DFL);
	return watch_run(&watch);
}
