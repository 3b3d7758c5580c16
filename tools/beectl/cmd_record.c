// SPDX-License-Identifier: GPL-2.0
/*
 * beectl record: perf record with complete stacks, and without beectl's own work in them.
 *
 * perf's events are inherited by all children of what perf starts, so beectl must not be one of
 * them: it is perf's parent.  A command is started by beectl too, and perf attached to it between
 * its exec and its first instruction.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alloc.h"
#include "child.h"
#include "clock.h"
#include "commands.h"
#include "counts.h"
#include "events.h"
#include "first_tables.h"
#include "forward.h"
#include "launch.h"
#include "maker.h"
#include "manage.h"
#include "messages.h"
#include "perf.h"
#include "perf_options.h"
#include "progress.h"
#include "recording.h"
#include "status_files.h"
#include "stops.h"
#include "table_queue.h"
#include "text.h"
#include "tried.h"

static const char record_help[] =
	"Usage: beectl record [PERF OPTIONS] -- CMD [ARGUMENT...]\n"
	"       beectl record [PERF OPTIONS] -p PID[,PID...] [-- CMD [ARGUMENT...]]\n"
	"       beectl record [PERF OPTIONS] -a [-- CMD [ARGUMENT...]]\n"
	"\n"
	"Run \"perf record -g\" on CMD and its children, on running processes, or on all.\n"
	"Tables of running processes are loaded before it starts; for CMD those that\n"
	"\"beectl run\" makes first, and the others while perf records.  At the end, say\n"
	"on stderr how many of the stacks are complete, and in which files the others\n"
	"end.\n"
	"\n"
	"Options:\n"
	"  -h, --help  Show this text\n"
	"\n"
	"All other options before \"--\" are perf's; see perf-record(1).  With -p, -t, -a,\n"
	"-C, -u or -G perf starts CMD, and records until it ends.  Otherwise CMD is\n"
	"recorded, from its first instruction on, and -D and --control cannot be used.\n"
	"-g is added unless it or --call-graph is there.\n"
	"\n"
	"CMD runs as the user of beectl, as root as a rule; runuser starts it as\n"
	"another.\n"
	"\n"
	"beectl's own work is no part of the profile, except with -a, -C, -u and -G,\n"
	"which record all that runs: beectl makes the tables of what runs beforehand\n"
	"then, and says how many samples are of it (\"perf report\" has them under the\n"
	"name beectl).\n"
	"\n"
	"^C ends the recording, and perf writes its file; so do SIGTERM and SIGHUP.  The\n"
	"exit status is that of perf if it failed or a signal ended it (128 + N), else\n"
	"that of CMD; 125 if the command line is wrong, the tables could not be loaded\n"
	"or perf not be started; 126 and 127 as of \"beectl run\".\n"
	"\n"
	"Examples:\n"
	"  beectl record -F 999 -- git log\n"
	"  beectl record -- runuser -u USER -- CMD\n"
	"  beectl record -a -o /tmp/perf.data -- sleep 10\n";

#define FOLLOWER_PAUSE_MS	1000

/* Without the module; follows why. */
#define RECORD_CUT	"stacks are cut where code has no frame pointers"

enum { RECORD_FAILED = 125, RECORD_NOT_EXECUTABLE = 126, RECORD_NOT_FOUND = 127 };

/**
 * struct record - one recording
 * @recording: from the caller
 * @options: of perf
 * @words: for perf, ended by NULL
 * @maker: how tables are made
 * @first: the tables that CMD gets before it begins
 * @tried: files that got no table
 * @events: the module tells of files without a table; NULL without CAP_SYS_ADMIN
 * @before: what the module had counted at the start
 * @made: number of tables that were made while perf recorded; shared with @follower
 * @follower: child process that makes them; 0 if there is none
 * @follows: this process is @follower
 * @user_warned: that a user gets no more tables was said
 * @perf: perf
 * @perf_status: its wait status
 * @command: CMD, if beectl has started it and it has not ended
 * @status: its wait status
 * @error: why something failed
 */
struct record {
	const struct recording	*recording;
	struct perf_options	 options;
	char			**words;
	struct table_maker	 maker;
	struct first_tables	 first;
	struct tried		 tried;
	struct netlink_events	*events;
	struct counts		 before;
	uint64_t		*made;
	pid_t			 follower;
	bool			 follows;
	bool			 user_warned;
	struct perf		 perf;
	int			 perf_status;
	pid_t			 command;
	int			 status;
	struct bee_error	 error;
};

static int record_refuse(const struct record *record, const char *subject, const char *why,
			 int status)
{
	message_error(record->recording->command, subject, why);
	return status;
}

/* perf ends at a signal as it always does; then record_wait() ends CMD, as perf does. */
static int record_start_perf(struct record *record, pid_t target)
{
	static const int forwarded[] = { SIGINT, SIGTERM, SIGUSR2, 0 };

	if (perf_start(&record->perf, record->words, target, record->recording->output,
		       &record->error))
		return -1;
	forward_signals(forwarded, record->perf.pid);
	forward_hangup();
	return 0;
}

static void record_warn_later(const struct record *record, const char *why)
{
	message_warning(record->recording->command, "files that are mapped later get no tables", why);
}

/* perf has ended.  CMD may take its time: from now on it gets SIGTERM, also for SIGHUP. */
static void record_end_command(const struct record *record)
{
	static const int ends[] = { SIGTERM, 0 };

	signal(SIGUSR2, SIG_IGN);
	if (!record->command) {
		forward_end();
		return;
	}
	/* The terminal sends it to CMD as well. */
	signal(SIGINT, SIG_IGN);
	forward_signals(ends, record->command);
	kill(record->command, SIGTERM);
}

/* Wait for perf and for CMD; when one ends, end the other. */
static void record_wait(struct record *record)
{
	int status;
	pid_t pid;

	while (record->perf.pid || record->command) {
		pid = waitpid(-1, &status, 0);
		if (pid < 0 && errno != EINTR)
			break;
		if (pid > 0 && pid == record->perf.pid) {
			record->perf.pid = 0;
			record->perf_status = status;
			record_end_command(record);
		} else if (pid > 0 && pid == record->command) {
			record->command = 0;
			record->status = status;
			if (!record->perf.pid)
				forward_end();
			perf_stop(&record->perf);
		} else if (pid > 0 && pid == record->follower) {
			record->follower = 0;
			if (status && record->perf.pid)
				record_warn_later(record, "the process that makes them has ended");
		}
	}
}

/* A table_maker's done() */
static void record_made(void *arg, const struct table_want *want,
			const struct table_result *result)
{
	struct record *record = arg;
	bool warned = record->error.code;

	first_tables_note(&record->first, want, result);
	*record->made += result->source != TABLE_NONE;
	tried_note_result(&record->tried, want->id, result, clock_ms());
	/* Other tables will be refused for the same reason: say so once. */
	if (table_jobs_note_refusal(want, result, &record->error) && record->follows && !warned)
		message_warning(record->recording->command, NULL, record->error.text);
	if (result->error.code == EDQUOT && !record->user_warned) {
		progress_end();
		message_warning(record->recording->command, want->name, result->error.text);
		record->user_warned = true;
	}
}

/* A table_queue_skip_fn */
static bool record_skips(void *arg, uint32_t id)
{
	struct record *record = arg;

	return !tried_may(&record->tried, id, clock_ms());
}

static void follower_take_news(struct record *record, struct table_queue *queue)
{
	unsigned int left = NETLINK_EVENTS_TURN;
	enum netlink_event_kind kind;
	struct netlink_file file;

	do {
		kind = netlink_events_next(record->events, &file);
		if (kind == NETLINK_EVENT_FILE)
			table_queue_add(queue, &file);
		else if (kind == NETLINK_EVENT_REMOVED)
			table_queue_ban(queue, &file);
		else if (kind == NETLINK_EVENT_LOST)
			table_queue_note_left(queue);
	} while (kind != NETLINK_EVENT_NONE && --left);
}

/* ms to sleep with nothing to read: until files are to be tried again, or children, if none could be made. */
static int follower_patience(const struct record *record, bool childless)
{
	return clock_sooner(tried_patience(&record->tried, clock_ms()),
			    childless ? FOLLOWER_PAUSE_MS : -1);
}

/* In a child process, so that beectl can wait for perf meanwhile; it ends with beectl. */
static void follower_start(struct record *record)
{
	struct pollfd fd = { .events = POLLIN };
	struct table_queue *queue;
	pid_t beectl = getpid();
	int ret;

	if (!record->events)
		return;
	record->follower = fork();
	if (record->follower < 0)
		record_warn_later(record, strerror(errno));
	if (record->follower)
		return;
	if (!child_end_with(beectl))
		_exit(1);
	/* It is perf's standard output: whoever reads that is to see when perf ends. */
	if (record->recording->output >= 0)
		close(record->recording->output);
	forward_end();
	record->maker.nl = netlink_clone(record->maker.nl, &record->error);
	if (!record->maker.nl) {
		record_warn_later(record, record->error.text);
		_exit(0);
	}
	record->follows = true;
	fd.fd = netlink_events_fd(record->events);
	queue = table_queue_open(&record->maker);
	table_queue_note_left(queue);
	do {
		/* First: what was removed meanwhile is not to be made again. */
		follower_take_news(record, queue);
		if (table_queue_may_look(queue))
			table_queue_add_missed(queue, 0, record_skips, record);
		/* If no child can be made now, try again. */
		ret = table_queue_start(queue, SIZE_MAX);
		ret = table_queue_poll(queue, &fd, 1, follower_patience(record, ret < 0), NULL);
		if (tried_is_due(&record->tried, clock_ms()))
			table_queue_note_left(queue);
	} while (ret >= 0 || errno == EINTR);
	_exit(1);
}

static void follower_end(struct record *record)
{
	if (record->follower <= 0)
		return;
	kill(record->follower, SIGKILL);
	while (waitpid(record->follower, NULL, 0) < 0 && errno == EINTR)
		;
}

/* A launch_mapped_fn.  CMD is stopped; the first time it has just been executed. */
static int record_mapped(void *arg, pid_t pid, enum launch_stop stop, uint64_t start,
			 uint64_t end)
{
	struct record *record = arg;

	if (record->maker.nl &&
	    first_tables_make(&record->first, pid, stop, start, end, &record->error))
		return -1;
	if (record->perf.pid || record->error.code)
		return record->error.code ? -1 : 0;
	if (record_start_perf(record, pid))
		return -1;
	return perf_wait_ready(&record->perf, PERF_PATIENCE_MS, &record->error);
}

/* Start CMD, and record it. */
static int record_command(struct record *record)
{
	struct table_queue *queue = table_queue_open(&record->maker);
	char **argv = record->options.command;
	enum launch_state state;
	int failed = EXIT_OK;
	pid_t pid;

	record->first = (struct first_tables){ .maker = &record->maker, .queue = queue,
					       .cheap = FIRST_TABLES_CHEAP };
	state = launch_start(argv, record_mapped, record, &pid, &record->status);
	table_queue_close(queue);
	switch (state) {
	case LAUNCH_RUNS:
		record->command = pid;
		follower_start(record);
		break;
	case LAUNCH_ENDED:
		break;
	case LAUNCH_NO_EXEC:
		return record_refuse(record, argv[0], errno == ENOENT ? "no such command" : strerror(errno),
				     errno == ENOENT ? RECORD_NOT_FOUND : RECORD_NOT_EXECUTABLE);
	case LAUNCH_KILLED:
		failed = record_refuse(record, argv[0], record->error.text, RECORD_FAILED);
		break;
	case LAUNCH_FAILED:
		failed = record_refuse(record, "cannot start a command under ptrace",
				       strerror(errno), RECORD_FAILED);
		break;
	}
	if (!record->command)
		perf_stop(&record->perf);
	record_wait(record);
	return failed;
}

static int task_manage(struct record *record, const char *word, pid_t pid)
{
	struct manage_result result;
	int ret = manage_process(&record->maker, pid, &result);

	if (ret)
		message_error(record->recording->command, word, result.error.text);
	manage_result_free(&result);
	return ret;
}

static int task_check(struct record *record, const char *word, pid_t pid)
{
	return pid ? 0 : message_usage(record->recording->command, "%s: not a process id%s", word,
				       strchr(word, ' ') ? "; several are separated by commas" : "");
}

/* Call @each for the processes of -p or -t, until it fails; pid 0: the word is no number. */
static int record_each_task(struct record *record,
			    int (*each)(struct record *record, const char *word, pid_t pid))
{
	char *list = alloc_text(record->options.tasks ?: ""), *rest = list, *word;
	int ret = 0;

	while (record->options.tasks && !ret && (word = strsep(&rest, ","))) {
		pid_t pid = 0;

		text_parse_pid(word, &pid);
		ret = each(record, word, pid);
	}
	free(list);
	return ret;
}

/* What starts later is forked by one of these, and so managed too. */
static int record_manage_all(struct record *record)
{
	struct table_maker maker = record->maker;
	struct manage_all_result processes;
	int ret;

	maker.progress = progress_count;
	progress_begin("looking at all processes");
	ret = manage_all_with_tables(&maker, false, NULL, &processes, &record->error);
	progress_end();
	if (ret)
		return record_refuse(record, NULL, record->error.text, -1);
	maker_warn_refused(record->recording->command, &processes);
	/* The follower inherits the error, and does not say it again. */
	if (record->error.code)
		message_warning(record->recording->command, NULL, record->error.text);
	return 0;
}

/* Record what runs already. */
static int record_running(struct record *record)
{
	if (record->maker.nl && (record->options.all ? record_manage_all(record) :
						       record_each_task(record, task_manage)))
		return RECORD_FAILED;
	*record->made = 0;
	if (record_start_perf(record, 0))
		return record_refuse(record, NULL, record->error.text, RECORD_FAILED);
	follower_start(record);
	record_wait(record);
	return EXIT_OK;
}

/* In a recording of all that runs, beectl's own samples cannot be left out, but counted. */
static void report_own_samples(const struct record *record)
{
	const char *path = record->options.output ?: "perf.data";
	int ret, status = record->perf_status;
	struct stat st;
	uint64_t count;

	/* If perf has failed the file is an older recording. */
	if (record->recording->output >= 0 || !record->options.all || !*record->made ||
	    (WIFEXITED(status) && WEXITSTATUS(status)) || stat(path, &st) || !S_ISREG(st.st_mode))
		return;
	progress_begin("counting the samples of beectl itself");
	ret = perf_count_samples(path, "beectl", &count);
	progress_end();
	if (ret || !count)
		return;
	fprintf(stderr, "beectl: %s: %llu of the samples %s of beectl itself, which made %llu "
		"table%s meanwhile\n", record->recording->command, (unsigned long long)count,
		count == 1 ? "is" : "are", (unsigned long long)*record->made, plural(*record->made));
}

static void record_report(struct record *record)
{
	struct counts counts;
	uint64_t walks;

	if (counts_get(record->maker.nl, &counts, &record->error) ||
	    counts_subtract(&counts, &record->before, &record->error)) {
		/* So answers the kernel if no module has registered the netlink family. */
		message_warning(record->recording->command, NULL, record->error.code == ENOENT ?
				"the beeunwind module was unloaded meanwhile" : record->error.text);
		counts_free(&counts);
		return;
	}
	walks = stats_walks(&counts.stats);
	fprintf(stderr, "beectl: %s: user stacks while perf recorded:\n",
		record->recording->command);
	stats_put(stderr, &counts.stats);
	status_show_incomplete(stderr, &counts.files, NULL);
	if (!walks)
		fputs("No stack was walked: perf took no sample of these processes, or no "
		      "callchains.\n", stderr);
	else if (walks != counts.stats.stop[BEEUNWIND_STOP_OUTERMOST])
		fputs("What each reason means and what helps: STOP REASONS in beectl(8); "
		      "\"beectl status\" and\n\"beectl status --files\" show more.  A second "
		      "recording finds the tables made.\n", stderr);
	report_own_samples(record);
	if (record->recording->stops && walks)
		stats_put_line(record->recording->stops, &counts.stats);
	counts_free(&counts);
}

static int wait_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/*
 * Say it if perf was killed: what it has recorded until then looks like a whole recording.  But if perf itself
 * has started CMD, perf exits with CMD's status, or dies of the signal that CMD has died of (__cmd_record() of
 * tools/perf/builtin-record.c): then nobody can tell.
 */
static void record_judge_perf(const struct record *record)
{
	int status = record->perf_status;
	bool killed = WIFSIGNALED(status) && WTERMSIG(status) != SIGINT && WTERMSIG(status) != SIGTERM;
	char why[96];

	if (record->options.command && perf_options_have_target(&record->options))
		return;
	if (killed) {
		snprintf(why, sizeof(why), "killed by signal %d (%s), so the recording ends too early",
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
		message_warning(record->recording->command, "perf", why);
	}
	if (record->recording->failed)
		*record->recording->failed = killed || (WIFEXITED(status) && WEXITSTATUS(status));
}

/* The module is there; @record has all that is needed.  Return: the exit status. */
static int record_run(struct record *record)
{
	int status = perf_options_have_target(&record->options) ? record_running(record) :
								  record_command(record);

	follower_end(record);
	record_judge_perf(record);
	if (status == EXIT_OK && record->maker.nl && !record->options.quiet)
		record_report(record);
	if (record->perf_status)
		return wait_status(record->perf_status);
	return status == EXIT_OK ? wait_status(record->status) : status;
}

/* For perf: our words up to "--", or all if perf starts CMD; and -g, if it is missing. */
static char **record_words(const struct perf_options *options, int argc, char **argv)
{
	char **words = alloc_zero(argc + 2, sizeof(*words)), **end = argv + argc, **word = words;
	static char callchain[] = "-g";

	if (!options->callchain)
		*word++ = callchain;
	if (!perf_options_have_target(options))
		end = options->command - 1;
	while (argv < end)
		*word++ = *argv++;
	return words;
}

static int record_usage(struct record *record)
{
	const struct perf_options *options = &record->options;
	const char *command = record->recording->command;

	if (options->command && !*options->command)
		return message_usage(command, "a command is needed after --");
	if (!options->command && !perf_options_have_target(options))
		return message_usage(command, "-p PID, -a, or a command after -- is needed");
	if (options->delayed && !perf_options_have_target(options))
		return message_usage(command, "-D and --control: only with -p or -a");
	if (record_each_task(record, task_check))
		return EXIT_USAGE;
	if (options->other)
		message_warning(command, "--call-graph", record->recording->output < 0 ?
				"the module serves fp only; perf unwinds these stacks without it" :
				"the module serves fp only, and beectl flame unwinds no copies of "
				"stacks: with dwarf, each user stack is one function");
	return EXIT_OK;
}

/* Connect to the module, and ask what it has counted so far.  Return: 0 or -1. */
static int record_connect(struct record *record)
{
	const char *command = record->recording->command;

	if (maker_open(&record->maker, &record->error)) {
		if (!record->recording->without_module)
			return record_refuse(record, NULL, record->error.text, -1);
		message_warning(command, RECORD_CUT, record->error.text);
		record->error = (struct bee_error){ 0 };
		return 0;
	}
	if (counts_get(record->maker.nl, &record->before, &record->error))
		return record_refuse(record, NULL, record->error.text, -1);
	if (record->before.info.hook == BEEUNWIND_HOOK_STATE_OFF) {
		if (!record->recording->without_module)
			return record_refuse(record, NULL, MAKER_HOOK_OFF, -1);
		message_warning(command, RECORD_CUT, MAKER_HOOK_OFF);
		maker_close(&record->maker);
		return 0;
	}
	maker_warn(&record->maker, command);
	record->maker.arg = record;
	record->maker.done = record_made;
	record->maker.mark = true;
	record->events = netlink_events_open(&record->error);
	if (!record->events)
		record_warn_later(record, record->error.text);
	record->error = (struct bee_error){ 0 };
	return 0;
}

/**
 * recording_run() - record
 * @recording: what
 *
 * Return: the exit status of beectl record.
 */
int recording_run(const struct recording *recording)
{
	struct record record = { .recording = recording, .perf = { .control = -1 } };
	int status = RECORD_FAILED;

	perf_options_read(&record.options, recording->words);
	if (record_usage(&record))
		return RECORD_FAILED;
	/* Before all is managed and its tables are made. */
	if (perf_find(&record.error))
		return record_refuse(&record, NULL, record.error.text, RECORD_FAILED);
	/* SIGCHLD may be ignored (inherited); then waitpid() could not return exit statuses. */
	signal(SIGCHLD, SIG_DFL);
	record.made = alloc_shared(sizeof(*record.made));
	record.words = record_words(&record.options, recording->count, recording->words);
	if (!record_connect(&record))
		status = record_run(&record);
	counts_free(&record.before);
	tried_forget(&record.tried);
	netlink_events_close(record.events);
	maker_close(&record.maker);
	free(record.words);
	return status;
}

int cmd_record(int argc, char **argv)
{
	const struct recording recording = {
		.command = "record", .count = argc - 1, .words = argv + 1, .output = -1,
	};
	struct perf_options options;

	perf_options_read(&options, recording.words);
	if (options.help) {
		fputs(record_help, stdout);
		return EXIT_OK;
	}
	return recording_run(&recording);
}
