// SPDX-License-Identifier: GPL-2.0
/* beectl run: start a program with complete stacks from its first sample. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "first_tables.h"
#include "follow.h"
#include "forward.h"
#include "launch.h"
#include "maker.h"
#include "messages.h"
#include "options.h"
#include "progress.h"
#include "text.h"

static const char run_help[] =
	"Usage: beectl run [OPTIONS] [--] CMD [ARGUMENT...]\n"
	"\n"
	"Start CMD when the unwind tables of its own file and its libraries are in the\n"
	"module: what the cache has, and what is compiled in a moment (16M of files).  As\n"
	"long as CMD runs, other files get their tables after the first sample in them,\n"
	"whichever process has mapped them.  What is not ready when CMD ends is given up;\n"
	"\"beectl cache prewarm\" makes it beforehand.\n"
	"\n"
	"\"perf record beectl run\" records what beectl does, too; \"beectl record\" does\n"
	"not.\n"
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
	"tables could not be loaded: CMD is not run then.\n"
	"\n"
	"Example:\n"
	"  perf record -g beectl run -- git log\n";

/**
 * struct run - one program
 * @maker: how tables are made
 * @verbose: say what was loaded
 * @runs: it has begun
 * @user_warned: that a user gets no more tables was said
 * @tables: tables that were loaded before it began
 * @bytes: size of @tables
 * @text: sum of all files, as in struct table_result
 * @wrong: of @text, bytes with a wrong rule
 * @error: the first refusal that is general
 */
struct run {
	struct table_maker	 maker;
	bool			 verbose;
	bool			 runs;
	bool			 user_warned;
	size_t			 tables;
	uint64_t		 bytes;
	uint64_t		 text;
	uint64_t		 wrong;
	struct bee_error	 error;
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
	bool none = result->source == TABLE_NONE;
	bool warned = run->error.code;
	bool over_share = result->error.code == EDQUOT && !run->user_warned;
	bool general = table_jobs_note_refusal(result, &run->error);

	(void)want;
	run->text += result->text;
	run->wrong += result->wrong;
	run->tables += !none;
	run->bytes += none ? 0 : result->bytes;
	/* Other tables will be refused for the same reason: say so once. */
	if ((over_share || (general && run->runs && !warned)) && !run->verbose) {
		progress_end();
		message_warning("run", result->name, result->error.text);
	}
	run->user_warned |= over_share;
	if (!run->verbose || !(none || run->runs) || result->source == TABLE_STORED)
		return;
	progress_end();
	if (none) {
		message_warning("run", result->name, result->error.text);
	} else {
		fputs("beectl: run: loaded ", stderr);
		text_put_name(stderr, result->name);
		putc('\n', stderr);
	}
	if (run->runs)
		maker_print_wrong(stderr, result->wrong, result->text);
}

static int run_refuse(const char *subject, const char *why, int status)
{
	message_error("run", subject, why);
	return status;
}

/* Make tables of what is sampled, until CMD ends.  Return: the exit status. */
static int run_follow(struct run *run, struct follow *follow, pid_t pid)
{
	struct pollfd ended = { .fd = pidfd_open(pid, 0), .events = POLLIN };
	int status;
	pid_t got;

	run->runs = true;
	while (ended.fd >= 0 && !ended.revents)
		if (follow_poll(follow, &ended, 1, -1, NULL) < 0 && errno != EINTR)
			break;
	if (ended.fd >= 0)
		close(ended.fd);
	do
		got = waitpid(pid, &status, 0);
	while (got < 0 && errno == EINTR);
	if (got == pid)
		return exit_status(status);
	return run_refuse("waiting for the command", strerror(errno), EXIT_NOT_RUN);
}

static int run_start(struct run *run, char **argv)
{
	struct table_wants wants = { 0 };
	struct bee_error ignored;
	struct launch launch;
	struct follow *follow;
	int ret, status;

	launch_needs(argv, &wants);
	ret = first_tables_make(&run->maker, &wants);
	progress_end();
	table_wants_free(&wants);
	if (ret)
		return run_refuse("cannot start a process", strerror(errno), EXIT_NOT_RUN);
	if (run->error.code)
		return run_refuse(argv[0], run->error.text, EXIT_NOT_RUN);
	if (launch_begin(&launch, argv, NULL))
		return run_refuse("cannot start a process", strerror(errno), EXIT_NOT_RUN);
	run_take_signals(launch.pid);
	/* Before CMD begins: when it has ended only names of files are left, told to who listened. */
	follow = follow_open(&run->maker, NULL, &ignored);
	if (launch_go(&launch)) {
		status = run_refuse(argv[0], errno == ENOENT ? "no such command" : strerror(errno),
				    errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
		follow_close(follow);
		return status;
	}
	if (run->verbose) {
		fprintf(stderr, "beectl: run: %d ", launch.pid);
		text_put_name(stderr, argv[0]);
		fprintf(stderr, ": %zu table%s, %s\n", run->tables, plural(run->tables),
			text_size(run->bytes).text);
		maker_print_wrong(stderr, run->wrong, run->text);
	}
	status = run_follow(run, follow, launch.pid);
	follow_close(follow);
	return status;
}

int cmd_run(int argc, char **argv)
{
	struct run run = { 0 };
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
	int status = options_parse(&options, argc, &argv);

	if (status == OPTIONS_OK && !*argv)
		status = message_usage("run", "a command is needed");
	if (status != OPTIONS_OK)
		return status == EXIT_OK ? EXIT_OK : EXIT_NOT_RUN;
	/* SIGCHLD may be ignored (inherited); then waitpid() could not return the exit status. */
	signal(SIGCHLD, SIG_DFL);
	if (maker_open(&run.maker, &run.error))
		return run_refuse(NULL, run.error.text, EXIT_NOT_RUN);
	maker_warn_hook(&run.maker, "run");
	if (run.verbose)
		maker_warn(&run.maker, "run");
	run.maker.arg = &run;
	run.maker.done = run_made;
	run.maker.progress = progress_count;
	status = run_start(&run, argv);
	maker_close(&run.maker);
	return status;
}
