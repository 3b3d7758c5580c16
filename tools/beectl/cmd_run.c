// SPDX-License-Identifier: GPL-2.0
/* beectl run: start a program with complete stacks from its first sample. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "events.h"
#include "launch.h"
#include "maker.h"
#include "manage.h"
#include "messages.h"
#include "options.h"
#include "text.h"
#include "unrecorded.h"

static const char run_help[] =
	"Usage: beectl run [OPTIONS] [--] CMD [ARGUMENT...]\n"
	"\n"
	"Start CMD with its unwind table in the module before its first instruction, and\n"
	"those of its libraries as soon as the dynamic linker maps them.  CMD runs under ptrace\n"
	"until it reaches its entry point, so a set-user-ID CMD gains no privileges, unless\n"
	"root starts it.  Its children, and what they execute, are covered as well.  As long as\n"
	"CMD runs, a file that is mapped later gets its table when it is mapped; if \"beectl\n"
	"watch\" has set announce to sampled, after the first sample in it.\n"
	"\n"
	"Under \"perf record\" the tables are made in a process that perf does not record, if beectl\n"
	"may change its group id (root may).  With \"perf record -a\", which records all processes,\n"
	"their name is beectl.\n"
	"\n"
	"Options:\n"
	"  -v, --verbose  Say on stderr what was loaded, and name files without a table\n"
	"      --fp-bypass\n"
	"                 Leave out the rows of functions that keep a frame pointer, in files\n"
	"                 where the walk can use it instead; see the manual page\n"
	"      --thin PCT Leave out up to PCT percent (1 to 90) of the rows; see there\n"
	"  -h, --help     Show this text\n"
	"\n"
	"The exit status is that of CMD; 128 + N if signal N killed it; 127 if there is no\n"
	"CMD, 126 if it cannot be executed; 125 if its tables could not be loaded: CMD is not\n"
	"run then, or killed before its entry point.\n"
	"\n"
	"Example:\n"
	"  perf record -g beectl run -- git log\n";

enum { RUN_FAILED = 125, RUN_NOT_EXECUTABLE = 126, RUN_NOT_FOUND = 127, RUN_SIGNAL = 128 };

/**
 * struct run - one program being started
 * @maker: how tables are made
 * @events: the module tells of files without a table; NULL without CAP_SYS_ADMIN
 * @verbose: say what was loaded
 * @error: why run_load() failed
 * @result: of the last run_load()
 * @text: sum of all loads, as in @result
 * @wrong: sum of all loads, as in @result
 */
struct run {
	struct table_maker	 maker;
	struct netlink_events	*events;
	bool			 verbose;
	struct bee_error	 error;
	struct manage_result	 result;
	uint64_t		 text;
	uint64_t		 wrong;
};

static volatile sig_atomic_t run_pid;

static void run_forward(int signal)
{
	int saved = errno;

	kill(run_pid, signal);
	errno = saved;
}

/*
 * The terminal sends SIGINT and SIGQUIT to CMD as well, so ignore ours and let CMD decide.
 * Other signals reach only this process: forward them.
 */
static void run_take_signals(pid_t pid)
{
	static const int forwarded[] = { SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };
	struct sigaction action = { .sa_handler = run_forward, .sa_flags = SA_RESTART };
	size_t i;

	run_pid = pid;
	for (i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
		sigaction(forwarded[i], &action, NULL);
	action.sa_handler = SIG_IGN;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGQUIT, &action, NULL);
}

/* A launch_mapped_fn.  The process is stopped, so its mappings do not change meanwhile. */
static int run_load(void *arg, pid_t pid)
{
	struct run *run = arg;
	int ret;

	manage_result_free(&run->result);
	ret = manage_process(&run->maker, pid, &run->result);
	run->text += run->result.text;
	run->wrong += run->result.wrong;
	if (ret)
		run->error = run->result.error;
	return ret;
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

/* A table_maker's done(): only says it; a file that got no table is not tried again. */
static void run_made(void *arg, const struct table_want *want, const struct table_result *result)
{
	const struct run *run = arg;

	if (!run->verbose)
		return;
	message_error("run", want->name,
		      result->source == TABLE_NONE ? result->error.text : "loaded");
	maker_print_wrong(stderr, result->wrong, result->text);
}

/* No more than 64 messages at a time, because CMD may end meanwhile. */
static void run_take_news(struct run *run)
{
	struct table_wants wants = { 0 };
	enum netlink_event_kind kind;
	struct netlink_files files;
	struct netlink_file file;
	size_t i;

	do {
		kind = netlink_events_next(run->events, &file);
		if (kind == NETLINK_EVENT_FILE)
			table_jobs_add(&wants, &file, true);
	} while (kind == NETLINK_EVENT_FILE && wants.count < 64);
	if (kind == NETLINK_EVENT_LOST) {
		/* What the lost messages said is in the list of all files. */
		netlink_files_get(run->maker.nl, &files, &run->error);
		for (i = 0; i < files.count; i++)
			if (!files.file[i].loaded && files.file[i].pid)
				table_jobs_add(&wants, &files.file[i], true);
		netlink_files_free(&files);
	}
	run->maker.arg = run;
	run->maker.done = run_made;
	table_jobs_run(&run->maker, &wants);
	table_jobs_free(&wants);
}

/* Load what CMD and its children map later, until CMD ends.  Return: the exit status. */
static int run_follow(struct run *run, pid_t pid)
{
	struct pollfd fds[2] = {
		{ .fd = run->events ? netlink_events_fd(run->events) : -1, .events = POLLIN },
		{ .fd = pidfd_open(pid, 0), .events = POLLIN },
	};
	int status;
	pid_t got;

	unrecorded_release();
	while (fds[1].fd >= 0 && !fds[1].revents) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		if (fds[0].revents && !fds[1].revents)
			run_take_news(run);
	}
	if (fds[1].fd >= 0)
		close(fds[1].fd);
	do
		got = launch_wait(pid, &status);
	while (got < 0 && errno == EINTR);
	if (got == pid)
		return run_exit_status(status);
	return run_refuse("waiting for the command", strerror(errno), RUN_FAILED);
}

static int run_start(struct run *run, char **argv)
{
	const struct manage_result *result = &run->result;
	int status;
	pid_t pid;
	size_t i;

	switch (launch_start(argv, run_load, run, &pid, &status)) {
	case LAUNCH_RUNS:
		run_take_signals(pid);
		if (!run->verbose)
			return run_follow(run, pid);
		fprintf(stderr, "beectl: run: %d ", pid);
		text_put_name(stderr, result->name);
		fprintf(stderr, ": %zu mappings, %zu tables, %s\n", result->mappings,
			result->tables, text_size(result->bytes).text);
		maker_print_wrong(stderr, run->wrong, run->text);
		for (i = 0; i < result->nproblems; i++)
			message_warning("run", result->problem[i].path, result->problem[i].why);
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
	const struct options options = {
		.command = "run", .help = run_help, .stop = true,
		.option = {
			{ 'v', "verbose", OPTION_FLAG, &run.verbose },
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
	run.events = netlink_events_open(&run.error);
	if (!run.events)
		message_warning("run", "libraries that the command loads later are not followed",
				run.error.text);
	status = run_start(&run, argv);
	manage_result_free(&run.result);
	netlink_events_close(run.events);
	maker_close(&run.maker);
	return status;
}
