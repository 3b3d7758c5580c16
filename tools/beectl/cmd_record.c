// SPDX-License-Identifier: GPL-2.0
/*
 * beectl record: perf record with complete stacks, and without beectl's own work in them.
 *
 * perf's events are inherited by all children of what perf starts, so beectl must not be one of
 * them: it is perf's parent.  A command is started by beectl too, and perf attached to it before its
 * exec.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alloc.h"
#include "clock.h"
#include "collect.h"
#include "commands.h"
#include "counts.h"
#include "first_tables.h"
#include "follow.h"
#include "forward.h"
#include "java_names.h"
#include "launch.h"
#include "load.h"
#include "maker.h"
#include "memory_code.h"
#include "messages.h"
#include "perf.h"
#include "perf_options.h"
#include "progress.h"
#include "recording.h"
#include "status_files.h"
#include "stops.h"
#include "text.h"

static const char record_help[] =
	"Usage: beectl record [PERF OPTIONS] -- CMD [ARGUMENT...]\n"
	"       beectl record [PERF OPTIONS] -p PID[,PID...] [-- CMD [ARGUMENT...]]\n"
	"       beectl record [PERF OPTIONS] -a [-- CMD [ARGUMENT...]]\n"
	"\n"
	"Run \"perf record -g\" on CMD and its children, on running processes, or on all.\n"
	"Tables of what runs are loaded before it starts; for CMD those that \"beectl\n"
	"run\" makes first, and the others while perf records; those that are not ready\n"
	"when it ends are finished, for ten seconds at most.  At the end, say on\n"
	"stderr how many of the stacks are complete, and in which files the others\n"
	"end.\n"
	"\n"
	"Options:\n"
	"      --java-names  With -p or -a: at the end have Java virtual machines (JDK 17\n"
	"                    and later) write /tmp/perf-PID.map, for perf report\n"
	"  -h, --help        Show this text\n"
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

/* Tables that are being made when the recording ends may take so long to be finished. */
#define RECORD_FINISH_MS	10000

/* Without the module; follows why. */
#define RECORD_CUT	"stacks are cut where code has no frame pointers"

/* The file that perf record writes without -o. */
#define RECORD_FILE	"perf.data"

/* Percent of all stacks, from which on flame does not say why the others are not complete. */
#define RECORD_MOSTLY_COMPLETE	95

/**
 * struct record - one recording
 * @recording: from the caller
 * @options: of perf
 * @words: for perf, ended by NULL
 * @maker: how tables are made
 * @follow: who makes them while perf records; or NULL
 * @before: what the module had counted at the start
 * @made: number of tables that were made while perf recorded
 * @user_warned: that a user gets no more tables was said
 * @refused: its problems are files that have no table, each once
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
	struct follow		*follow;
	struct counts		 before;
	uint64_t		 made;
	bool			 user_warned;
	struct load_result	 refused;
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

	/* What perf says of a pipe helps nobody.  If perf starts CMD, what CMD says must not wait. */
	bool quiet = record->recording->output >= 0 && !record->options.verbose &&
		     (target || !record->options.command);

	if (perf_start(&record->perf, record->words, target, record->recording->output, quiet,
		       &record->error))
		return -1;
	forward_signals(forwarded, record->perf.pid);
	forward_hangup();
	return 0;
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

/* Take the end of perf or of CMD, and end the other. */
static void record_take_end(struct record *record, pid_t pid, int status)
{
	if (pid == record->perf.pid) {
		record->perf.pid = 0;
		record->perf_status = status;
		perf_ended(&record->perf);
		record_end_command(record);
	} else if (pid == record->command) {
		record->command = 0;
		record->status = status;
		if (!record->perf.pid)
			forward_end();
		perf_stop(&record->perf);
	}
}

/* Make tables until perf and CMD have ended. */
static void record_wait(struct record *record)
{
	pid_t *const pids[2] = { &record->perf.pid, &record->command };
	struct pollfd fds[2];
	int status;
	size_t i;

	for (i = 0; i < 2; i++)
		fds[i] = (struct pollfd){ *pids[i] ? pidfd_open(*pids[i], 0) : -1, POLLIN, 0 };
	while (record->perf.pid || record->command) {
		int ret = record->follow ? follow_poll(record->follow, fds, 2, -1, NULL) : poll(fds, 2, -1);

		if (ret < 0 && errno != EINTR)
			break;
		for (i = 0; i < 2; i++) {
			pid_t pid = *pids[i];

			if (!pid || waitpid(pid, &status, WNOHANG) != pid)
				continue;
			close(fds[i].fd);
			fds[i].fd = -1;
			record_take_end(record, pid, status);
		}
	}
}

static const char *record_find_refused(const struct record *record, const char *path)
{
	size_t i;

	for (i = 0; i < record->refused.nproblems; i++)
		if (!strcmp(record->refused.problem[i].path, path))
			return record->refused.problem[i].why;
	return NULL;
}

static void record_add_refused(struct record *record, const char *path, const char *why)
{
	if (!record_find_refused(record, path))
		load_add_problem(&record->refused, path, why);
}

/* A table_maker's done() */
static void record_made(void *arg, const struct table_want *want,
			const struct table_result *result)
{
	struct record *record = arg;
	bool warned = record->error.code;

	(void)want;
	record->made += result->source == TABLE_CACHED || result->source == TABLE_COMPILED;
	/* Other tables will be refused for the same reason: say so once. */
	if (table_jobs_note_refusal(result, &record->error)) {
		if (record->follow && !warned)
			message_warning(record->recording->command, NULL, record->error.text);
	} else if (result->error.code == EDQUOT) {
		if (!record->user_warned) {
			progress_end();
			message_warning(record->recording->command, result->name, result->error.text);
		}
		record->user_warned = true;
	} else if (result->source == TABLE_NONE && !result->left) {
		record_add_refused(record, result->name, result->error.text);
	}
}

/* How often beectl was told to end while it finished tables. */
static volatile sig_atomic_t finish_ends;

static void finish_count_signal(int signal)
{
	(void)signal;
	finish_ends++;
}

/* Make the tables that are wanted, as far as they are ready soon: then the cache has them for the next recording. */
static void record_finish(struct record *record)
{
	static const int ends[] = { SIGTERM, SIGINT, SIGHUP };
	const struct sigaction counted = { .sa_handler = finish_count_signal };
	const char *command = record->recording->command;
	int64_t end = clock_ms() + RECORD_FINISH_MS, left;
	struct bee_error why;
	size_t i, count;

	if (!record->follow)
		return;
	follow_finish(record->follow);
	count = follow_unfinished(record->follow);
	for (i = 0; i < 3; i++)
		sigaction(ends[i], &counted, NULL);
	if (count && !record->options.quiet)
		fprintf(stderr, "beectl: %s: finishing %zu table%s, for %d seconds at most\n", command,
			count, plural(count), RECORD_FINISH_MS / 1000);
	while (count && !finish_ends && (left = end - clock_ms()) > 0) {
		if (follow_poll(record->follow, NULL, 0, left, NULL) < 0 && errno != EINTR)
			break;
		count = follow_unfinished(record->follow);
	}
	for (i = 0; i < 3; i++)
		signal(ends[i], SIG_DFL);
	if (count) {
		error_set(&why, 0, "%zu table%s not ready; \"beectl cache prewarm\" makes those of files",
			  count, count == 1 ? " is" : "s are");
		message_warning(command, NULL, why.text);
	}
	follow_close(record->follow);
	record->follow = NULL;
}

/* From now on, make tables of files that are sampled. */
static void record_follow(struct record *record)
{
	struct bee_error why = { 0 };

	record->made = 0;
	if (!record->maker.nl)
		return;
	record->follow = follow_open(&record->maker, NULL, &why);
	if (why.code && why.code != EPERM)
		message_warning(record->recording->command, "files that are mapped later get no tables", why.text);
}

/* Start CMD, and record it. */
static int record_command(struct record *record)
{
	char **argv = record->options.command;
	struct table_wants wants = { 0 };
	struct launch launch;
	int failed = EXIT_OK;

	if (record->maker.nl) {
		launch_needs(argv, &wants);
		if (first_tables_make(&record->maker, &wants))
			error_set(&record->error, errno, "cannot start a process: %s", strerror(errno));
		table_wants_free(&wants);
		if (record->error.code)
			return record_refuse(record, argv[0], record->error.text, EXIT_NOT_RUN);
	}
	/* perf samples its exec, too. */
	if (launch_begin(&launch, argv, basename(argv[0])))
		return record_refuse(record, "cannot start a process", strerror(errno), EXIT_NOT_RUN);
	if (record_start_perf(record, launch.pid) ||
	    perf_wait_ready(&record->perf, PERF_PATIENCE_MS, &record->error)) {
		launch_cancel(&launch);
		failed = record_refuse(record, argv[0], record->error.text, EXIT_NOT_RUN);
	} else {
		/* Before CMD begins: when it has ended only names of files are left, told to who listened. */
		record_follow(record);
		if (launch_go(&launch))
			failed = record_refuse(record, argv[0], errno == ENOENT ? "no such command" : strerror(errno),
					       errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
		else
			record->command = launch.pid;
	}
	if (!record->command)
		perf_stop(&record->perf);
	record_wait(record);
	return failed;
}

static int task_load(struct record *record, const char *word, pid_t pid)
{
	struct load_result result;
	int ret = load_process(&record->maker, pid, &result);
	size_t i;

	for (i = 0; i < result.nproblems; i++)
		record_add_refused(record, result.problem[i].path, result.problem[i].why);
	if (ret)
		message_error(record->recording->command, word, result.error.text);
	load_result_free(&result);
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

static int record_load_all(struct record *record)
{
	struct table_maker maker = record->maker;
	int ret;

	maker.progress = progress_count;
	progress_begin("looking at all processes");
	ret = load_all(&maker, NULL, NULL, &record->error);
	progress_end();
	if (ret)
		return record_refuse(record, NULL, record->error.text, -1);
	if (record->error.code)
		message_warning(record->recording->command, NULL, record->error.text);
	return 0;
}

/* Record what runs already. */
static int record_running(struct record *record)
{
	if (record->maker.nl && (record->options.all ? record_load_all(record) :
						       record_each_task(record, task_load)))
		return EXIT_NOT_RUN;
	if (record_start_perf(record, 0))
		return record_refuse(record, NULL, record->error.text, EXIT_NOT_RUN);
	record_follow(record);
	record_wait(record);
	return EXIT_OK;
}

/* Java virtual machines that are still there write the names of their code: the process, or with pid 0 all. */
static int task_java_names(struct record *record, const char *word, pid_t pid)
{
	struct netlink_codes codes = { 0 };
	struct bee_error why = { 0 };
	char subject[32];
	size_t i;

	(void)word;
	if (netlink_codes_get(record->maker.nl, pid, &codes, &why))
		message_warning(record->recording->command, NULL, why.text);
	for (i = 0; i < codes.count; i++) {
		if (!codes.code[i].heaps.nr)
			continue;
		snprintf(subject, sizeof(subject), "no names of process %u", codes.code[i].pid);
		if (java_names_write(codes.code[i].pid, &why))
			message_warning(record->recording->command, subject, why.text);
	}
	netlink_codes_free(&codes);
	return 0;
}

static void record_java_names(struct record *record)
{
	if (record->options.all)
		task_java_names(record, NULL, 0);
	else
		record_each_task(record, task_java_names);
}

/* The file that perf has written; NULL if there is none, or perf has failed: then it is an older recording. */
static const char *record_file(const struct record *record)
{
	const char *path = record->options.output ?: RECORD_FILE;
	int status = record->perf_status;
	struct stat st;

	if (record->recording->output >= 0 || (WIFEXITED(status) && WEXITSTATUS(status)) ||
	    stat(path, &st) || !S_ISREG(st.st_mode))
		return NULL;
	return path;
}

/* In a recording of all that runs, beectl's own samples cannot be left out, but counted. */
static void report_own_samples(const struct record *record)
{
	const char *path = record_file(record);
	uint64_t count;
	int ret;

	if (!path || !record->options.all || !record->made)
		return;
	progress_begin("counting the samples of beectl itself");
	ret = perf_count_samples(path, "beectl", &count);
	progress_end();
	if (ret || !count)
		return;
	fprintf(stderr, "beectl: %s: %llu of the samples %s of beectl itself, which made %llu "
		"table%s meanwhile\n", record->recording->command, (unsigned long long)count,
		count == 1 ? "is" : "are", (unsigned long long)record->made, plural(record->made));
}

/* Which programs have code that the module cannot know of, as it is in no file: the recording says it. */
static void report_memory_code(const struct record *record)
{
	const char *path = record_file(record);
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	struct collect collect = { 0 };
	struct profile profile;
	struct bee_error why = { 0 };
	struct stream stream;

	if (fd < 0)
		return;
	progress_begin("reading the recording");
	profile_open(&profile);
	stream_open(&stream, fd);
	if (!collect_perfdata(&collect, &stream, &profile, &why)) {
		progress_end();
		memory_code_put(stderr, &profile);
	}
	progress_end();
	stream_close(&stream);
	profile_close(&profile);
	close(fd);
}

/* Do one in a hundred walks or more end too early, and in no file? */
static bool walks_end_elsewhere(const struct counts *counts)
{
	uint64_t in_files = 0;
	size_t i;

	for (i = 0; i < counts->files.count; i++)
		in_files += stops_cut(counts->files.file[i].stop);
	return stats_cut(&counts->stats) > in_files + stats_walks(&counts->stats) / 100;
}

/* Say what may be done about stacks that are not complete. */
static void report_advice(const struct record *record, const struct netlink_stats *stats)
{
	fputs("What each reason means and what helps: STOP REASONS in beectl(8).\n", stderr);
	if (record->made && stats->stop[BEEUNWIND_STOP_NO_TABLE])
		fprintf(stderr, "%llu table%s made meanwhile: a second recording has %s from its start.\n",
			(unsigned long long)record->made, record->made == 1 ? " was" : "s were",
			record->made == 1 ? "it" : "them");
}

static void report_refused(const char *path, const char *why)
{
	text_put_name(stderr, path);
	fputs(" has no table: ", stderr);
	text_put_name(stderr, why);
	putc('\n', stderr);
}

/* Say why files in which walks were cut short have no table; if there was no walk, why any file has none. */
static void report_all_refused(const struct record *record, const struct counts *counts)
{
	const struct load_result *refused = &record->refused;
	size_t i;

	for (i = 0; i < counts->files.count; i++) {
		const struct netlink_file *file = &counts->files.file[i];
		const char *why = record_find_refused(record, file->name);

		if (why && !file->loaded && stops_cut(file->stop))
			report_refused(file->name, why);
	}
	for (i = 0; i < refused->nproblems && !stats_walks(&counts->stats); i++)
		report_refused(refused->problem[i].path, refused->problem[i].why);
}

static void report_stops(const struct record *record, const struct counts *counts)
{
	uint64_t walks = stats_walks(&counts->stats);

	fprintf(stderr, "beectl: %s: user stacks while perf recorded:\n",
		record->recording->command);
	stats_put(stderr, &counts->stats);
	status_show_incomplete(stderr, &counts->files, &counts->stats, NULL);
	report_all_refused(record, counts);
	if (!walks)
		fprintf(stderr, "No stack was walked: perf took no sample of these processes, or no callchains%s.\n",
			record->refused.nproblems ? ", or all in files without tables" : "");
	if (walks == counts->stats.stop[BEEUNWIND_STOP_OUTERMOST])
		return;
	if (walks_end_elsewhere(counts))
		report_memory_code(record);
	report_advice(record, &counts->stats);
}

/* flame says itself how many stacks are complete.  Why others are not is told if it is worth it. */
static bool record_says_stops(const struct record *record, const struct netlink_stats *stats)
{
	return record->recording->output < 0 || record->options.verbose ||
	       percent(stats->stop[BEEUNWIND_STOP_OUTERMOST], stats_walks(stats)) <
	       RECORD_MOSTLY_COMPLETE;
}

static void record_report(struct record *record)
{
	struct counts counts;
	uint64_t walks;

	if (counts_get(record->maker.nl, &counts, &record->error) ||
	    counts_subtract(&counts, &record->before, &record->error)) {
		/* The kernel answers ENOENT if no module has registered the netlink family. */
		message_warning(record->recording->command, NULL, record->error.code == ENOENT ?
				"the beeunwind module was unloaded meanwhile" : record->error.text);
		counts_free(&counts);
		return;
	}
	walks = stats_walks(&counts.stats);
	if (record_says_stops(record, &counts.stats))
		report_stops(record, &counts);
	report_own_samples(record);
	if (record->recording->stops && walks)
		stats_put_line(record->recording->stops, &counts.stats);
	counts_free(&counts);
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
	if (record->recording->end)
		record->recording->end->failed = killed || (WIFEXITED(status) && WEXITSTATUS(status));
}

/* The module is there; @record has all that is needed.  Return: the exit status. */
static int record_run(struct record *record)
{
	int status = perf_options_have_target(&record->options) ? record_running(record) :
								  record_command(record);
	bool no_command = status == EXIT_NOT_FOUND || status == EXIT_NOT_EXECUTABLE;

	if (record->recording->end)
		record->recording->end->no_command = no_command;
	record_finish(record);
	if (record->recording->java_names && record->maker.nl)
		record_java_names(record);
	record_judge_perf(record);
	if (status == EXIT_OK && record->maker.nl && !record->options.quiet)
		record_report(record);
	/* perf may fail because there was nothing to record. */
	if (record->perf_status && !no_command)
		return exit_status(record->perf_status);
	return status == EXIT_OK ? exit_status(record->status) : status;
}

/*
 * For perf: our words up to "--", or all if perf starts CMD; and -g, if it is missing.  Without -o perf would write to
 * a pipe, into which CMD writes, too.
 */
static char **record_words(const struct perf_options *options, int argc, char **argv)
{
	char **words = alloc_zero(argc + 4, sizeof(*words)), **end = argv + argc, **word = words;
	static char callchain[] = "-g", output[] = "-o", file[] = RECORD_FILE;

	if (!options->callchain)
		*word++ = callchain;
	if (!options->output) {
		*word++ = output;
		*word++ = file;
	}
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
	struct record record = { .recording = recording, .perf = { .control = -1, .words = -1 } };
	int status = EXIT_NOT_RUN;

	perf_options_read(&record.options, recording->words);
	if (record_usage(&record))
		return EXIT_NOT_RUN;
	/* Before tables are made. */
	if (perf_find(&record.error))
		return record_refuse(&record, NULL, record.error.text, EXIT_NOT_RUN);
	/* SIGCHLD may be ignored (inherited); then waitpid() could not return exit statuses. */
	signal(SIGCHLD, SIG_DFL);
	record.words = record_words(&record.options, recording->count, recording->words);
	if (!record_connect(&record))
		status = record_run(&record);
	counts_free(&record.before);
	load_result_free(&record.refused);
	maker_close(&record.maker);
	free(record.words);
	return status;
}

/* Take an option that is not perf's out of the words. */
static bool record_take_word(struct recording *recording, const char *option)
{
	char **word;

	for (word = recording->words; *word && strcmp(*word, "--") && strcmp(*word, option); word++)
		;
	if (!*word || strcmp(*word, option))
		return false;
	memmove(word, word + 1, (recording->words + recording->count - word) * sizeof(*word));
	recording->count--;
	return true;
}

int cmd_record(int argc, char **argv)
{
	struct recording recording = {
		.command = "record", .count = argc - 1, .words = argv + 1, .output = -1,
	};
	struct perf_options options;

	recording.java_names = record_take_word(&recording, "--java-names");
	perf_options_read(&options, recording.words);
	if (options.help) {
		fputs(record_help, stdout);
		return EXIT_OK;
	}
	return recording_run(&recording);
}
