// SPDX-License-Identifier: GPL-2.0
/* beectl run: start a program with complete stacks from its first sample. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "commands.h"
#include "events.h"
#include "first_tables.h"
#include "forward.h"
#include "launch.h"
#include "maker.h"
#include "manage.h"
#include "messages.h"
#include "options.h"
#include "progress.h"
#include "table_queue.h"
#include "text.h"
#include "tried.h"
#include "unrecorded.h"

static const char run_help[] =
	"Usage: beectl run [OPTIONS] [--] CMD [ARGUMENT...]\n"
	"\n"
	"Start CMD with its unwind table in the module before its first instruction, and\n"
	"those of its libraries as soon as the dynamic linker maps them: what the cache\n"
	"has, and what is compiled in a moment (16M of files).  CMD runs under ptrace\n"
	"until it reaches its entry point, so a set-user-ID CMD gains no privileges,\n"
	"unless root starts it.  As long as CMD runs, other files that it, its children\n"
	"and what they execute have mapped get their tables after the first sample in\n"
	"them, those with the most samples first.  What is not ready when CMD ends is\n"
	"given up; \"beectl cache prewarm\" makes it beforehand.\n"
	"\n"
	"Under \"perf record\" the tables are made in a process that perf does not record,\n"
	"if beectl may change its group id (root may).  With \"perf record -a\", which\n"
	"records all processes, their name is beectl.\n"
	"\n"
	"Options:\n"
	"  -j, --jobs N   Work on N files at a time (default: one for each CPU)\n"
	"  -v, --verbose  Say on stderr what was loaded, and name files without a table\n"
	"      --cfi-only Leave code without unwind information without rows, even if it\n"
	"                 proves them; see the manual page\n"
	"      --fp-bypass\n"
	"                 Leave out the rows of functions that keep a frame pointer, in\n"
	"                 files where the walk can use it instead; see the manual page\n"
	"      --thin PCT Leave out up to PCT percent (1 to 90) of the rows; see there\n"
	"  -h, --help     Show this text\n"
	"\n"
	"The exit status is that of CMD; 128 + N if signal N killed it; 127 if there is\n"
	"no CMD, 126 if it cannot be executed; 125 if the command line is wrong, or its\n"
	"tables could not be loaded: CMD is not run then, or killed before its entry\n"
	"point.\n"
	"\n"
	"Example:\n"
	"  perf record -g beectl run -- git log\n";

enum { RUN_FAILED = 125, RUN_NOT_EXECUTABLE = 126, RUN_NOT_FOUND = 127, RUN_SIGNAL = 128 };

/* How often the module's list of files is read if no message can come, ms. */
#define RUN_LIST_MS	500

/**
 * struct run - one program being started
 * @maker: how tables are made
 * @first: the tables it gets before it begins
 * @queue: the files that need one
 * @events: the module tells of files without a table; NULL without CAP_SYS_ADMIN
 * @verbose: say what was loaded
 * @unsampled: there are announced files that no walk had missed
 * @tried: files that got no table
 * @user_warned: that a user gets no more tables was said
 * @runs: it has begun
 * @error: why run_stopped() failed; once it has begun, the first refusal that is general
 * @summary: what the program has mapped before it begins, if @verbose
 * @text: sum of all files, as in struct table_result
 * @wrong: likewise
 */
struct run {
	struct table_maker	 maker;
	struct first_tables	 first;
	struct table_queue	*queue;
	struct netlink_events	*events;
	bool			 verbose;
	bool			 unsampled;
	struct tried		 tried;
	bool			 user_warned;
	bool			 runs;
	struct bee_error	 error;
	struct manage_result	 summary;
	uint64_t		 text;
	uint64_t		 wrong;
};

/*
 * The terminal sends SIGINT and SIGQUIT to CMD as well, so ignore ours and let CMD decide.
 * Other signals reach only this process: forward them.
 */
static void run_take_signals(pid_t pid)
{
	static const int forwarded[] = { SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, 0 };

	forward_signals(forwarded, pid);
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
}

/* A table_maker's done(): prints the result. */
static void run_made(void *arg, const struct table_want *want, const struct table_result *result)
{
	struct run *run = arg;
	bool none = result->source == TABLE_NONE && !result->left;
	bool warned = run->error.code;
	bool over_share = result->error.code == EDQUOT && !run->user_warned;
	bool general = table_jobs_note_refusal(want, result, &run->error);

	first_tables_note(&run->first, want, result);
	run->text += result->text;
	run->wrong += result->wrong;
	tried_note_result(&run->tried, want->id, result, clock_ms());
	/* Other tables will be refused for the same reason: say so once. */
	if ((over_share || (general && run->runs && !warned)) && !run->verbose) {
		progress_end();
		message_warning("run", want->name, result->error.text);
	}
	run->user_warned |= over_share;
	if (!run->verbose || !(none || run->runs) || result->source == TABLE_STORED)
		return;
	progress_end();
	if (none && !run->runs) {
		message_warning("run", want->name, result->error.text);
	} else if (none) {
		message_error("run", want->name, result->error.text);
	} else {
		fputs("beectl: run: loaded ", stderr);
		text_put_name(stderr, want->name);
		putc('\n', stderr);
	}
	if (run->runs)
		maker_print_wrong(stderr, result->wrong, result->text);
}

/* A launch_mapped_fn */
static int run_stopped(void *arg, pid_t pid, enum launch_stop stop, uint64_t start, uint64_t end)
{
	struct run *run = arg;
	struct bee_error error;

	if (first_tables_make(&run->first, pid, stop, start, end, &error) && !run->error.code)
		run->error = error;
	if (run->verbose && stop != LAUNCH_AT_MAP) {
		manage_process_name(pid, run->summary.name, sizeof(run->summary.name));
		run->summary.tables = run->summary.bytes = 0;
		manage_count(run->maker.nl, pid, &run->summary);
	}
	return run->error.code ? -1 : 0;
}

static int run_exit_status(int status)
{
	return WIFSIGNALED(status) ? RUN_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

static int run_refuse(const char *subject, const char *why, int status)
{
	message_error("run", subject, why);
	return status;
}

/* Queue the announced files in which walks have missed a table; others may be sampled later. */
static void run_take_list(struct run *run)
{
	int64_t now = clock_ms();
	struct netlink_files files;
	struct bee_error error;
	size_t i;

	if (netlink_files_get_counts(run->maker.nl, &files, &error)) {
		table_queue_note_left(run->queue);
		netlink_files_free(&files);
		return;
	}
	run->unsampled = false;
	for (i = 0; i < files.count; i++) {
		const struct netlink_file *file = &files.file[i];

		if (file->loaded || !file->pid || !tried_may(&run->tried, file->id, now))
			continue;
		if (file->missed)
			table_queue_add(run->queue, file);
		else
			run->unsampled = true;
	}
	netlink_files_free(&files);
}

static void run_take_news(struct run *run)
{
	unsigned int left = NETLINK_EVENTS_TURN;
	enum netlink_event_kind kind;
	struct netlink_file file;

	do {
		kind = netlink_events_next(run->events, &file);
		if (kind == NETLINK_EVENT_FILE && file.missed)
			table_queue_add(run->queue, &file);
		else if (kind == NETLINK_EVENT_FILE)
			run->unsampled = true;
		else if (kind == NETLINK_EVENT_REMOVED)
			table_queue_ban(run->queue, &file);
		else if (kind == NETLINK_EVENT_LOST)
			table_queue_note_left(run->queue);
	} while (kind != NETLINK_EVENT_NONE && --left);
}

/* A table_queue_skip_fn */
static bool run_skips(void *arg, uint32_t id)
{
	struct run *run = arg;

	return !tried_may(&run->tried, id, clock_ms());
}

/*
 * Queue the files that walks have missed and that will not be announced again: those that any
 * process has mapped, as CMD may map them later, and those that need another attempt.
 */
static void run_take_missed(struct run *run)
{
	run_take_list(run);
	table_queue_add_missed(run->queue, 0, run_skips, run);
}

/*
 * ms to sleep with nothing to read: RUN_LIST_MS, if the module is to be asked then or if no child
 * could be made; else until files are to be tried again.
 */
static int run_patience(const struct run *run, bool look)
{
	int again = tried_patience(&run->tried, clock_ms());

	return look && (again < 0 || again > RUN_LIST_MS) ? RUN_LIST_MS : again;
}

/*
 * Make tables of the files in which CMD and its children are sampled, until CMD ends.  A file that
 * was announced when it was mapped, or before, is not announced again when it is sampled: if there
 * are such files, ask the module now and then which of them walks have missed.
 *
 * Return: the exit status.
 */
static int run_follow(struct run *run, pid_t pid)
{
	struct pollfd fds[2] = {
		{ .fd = pidfd_open(pid, 0), .events = POLLIN },
		{ .fd = run->events ? netlink_events_fd(run->events) : -1, .events = POLLIN },
	};
	int status, ret = 0;
	pid_t got;

	run->runs = true;
	unrecorded_release();
	/* What was announced when nobody listened is not announced again. */
	table_queue_note_left(run->queue);
	while (fds[0].fd >= 0 && !fds[0].revents) {
		bool look, failed;

		/* First: what was removed meanwhile is not to be made again. */
		if (run->events)
			run_take_news(run);
		if (table_queue_may_look(run->queue))
			run_take_missed(run);
		look = !run->events || run->unsampled;
		/* If no child can be made now, try again. */
		failed = table_queue_start(run->queue, SIZE_MAX) < 0;
		ret = table_queue_poll(run->queue, fds, 2, run_patience(run, look || failed), NULL);
		if (ret < 0 && errno != EINTR)
			break;
		if (tried_is_due(&run->tried, clock_ms()))
			table_queue_note_left(run->queue);
		else if (!ret && look)
			run_take_list(run);
	}
	if (fds[0].fd >= 0)
		close(fds[0].fd);
	do
		got = launch_wait(pid, &status);
	while (got < 0 && errno == EINTR);
	if (got == pid)
		return run_exit_status(status);
	return run_refuse("waiting for the command", strerror(errno), RUN_FAILED);
}

static void run_print_start(const struct run *run, pid_t pid)
{
	fprintf(stderr, "beectl: run: %d ", pid);
	text_put_name(stderr, run->summary.name);
	fprintf(stderr, ": %zu range%s, %zu table%s, %s\n", run->summary.ranges,
		plural(run->summary.ranges), run->summary.tables, plural(run->summary.tables),
		text_size(run->summary.bytes).text);
	maker_print_wrong(stderr, run->wrong, run->text);
}

static int run_start(struct run *run, char **argv)
{
	enum launch_state state;
	int status;
	pid_t pid;

	state = launch_start(argv, run_stopped, run, &pid, &status);
	progress_end();
	switch (state) {
	case LAUNCH_RUNS:
		run_take_signals(pid);
		if (run->verbose)
			run_print_start(run, pid);
		return run_follow(run, pid);
	case LAUNCH_ENDED:
		return run_exit_status(status);
	case LAUNCH_NO_EXEC:
		if (errno == ENOENT)
			return run_refuse(argv[0], "no such command", RUN_NOT_FOUND);
		return run_refuse(argv[0], strerror(errno), RUN_NOT_EXECUTABLE);
	case LAUNCH_KILLED:
		return run_refuse(argv[0], run->error.text, RUN_FAILED);
	case LAUNCH_FAILED:
		break;
	}
	return run_refuse("cannot start a command under ptrace", strerror(errno), RUN_FAILED);
}

int cmd_run(int argc, char **argv)
{
	struct run run = { 0 };
	struct bee_error error;
	const struct options options = {
		.command = "run", .help = run_help, .stop = true,
		.option = {
			{ 'j', "jobs", OPTION_JOBS, &run.maker.jobs },
			{ 'v', "verbose", OPTION_FLAG, &run.verbose },
			{ 0, "cfi-only", OPTION_FLAG, &run.maker.lossy.cfi_only },
			{ 0, "fp-bypass", OPTION_FLAG, &run.maker.lossy.fp_bypass },
			{ 0, "thin", OPTION_THIN, &run.maker.lossy.thin },
		},
	};
	char **words = argv;
	int status = options_parse(&options, argc, &argv);

	if (status == OPTIONS_OK && !*argv)
		status = message_usage("run", "a command is needed");
	if (status != OPTIONS_OK)
		return status == EXIT_OK ? EXIT_OK : RUN_FAILED;
	/* SIGCHLD may be ignored (inherited); then waitpid() could not return the exit status. */
	signal(SIGCHLD, SIG_DFL);
	if (maker_open(&run.maker, &run.error))
		return run_refuse(NULL, run.error.text, RUN_FAILED);
	/* These are main()'s words, before them the program's name. */
	if (unrecorded_begin(words - 1, argv, run_take_signals, &status)) {
		maker_close(&run.maker);
		return status;
	}
	maker_warn_hook(&run.maker, "run");
	if (run.verbose)
		maker_warn(&run.maker, "run");
	run.maker.arg = &run;
	run.maker.done = run_made;
	run.maker.progress = progress_count;
	run.maker.mark = true;
	run.queue = table_queue_open(&run.maker);
	run.first = (struct first_tables){ .maker = &run.maker, .queue = run.queue,
					   .cheap = FIRST_TABLES_CHEAP };
	run.events = netlink_events_open(&error);
	status = run_start(&run, argv);
	table_queue_close(run.queue);
	tried_forget(&run.tried);
	netlink_events_close(run.events);
	maker_close(&run.maker);
	return status;
}
