// SPDX-License-Identifier: GPL-2.0
/*
 * beectl watch: keep the tables of all programs loaded.  It sleeps until the kernel sends a
 * message (there are news, or the module comes or goes); it does not poll.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "events.h"
#include "follow.h"
#include "maker.h"
#include "messages.h"
#include "options.h"
#include "text.h"

static const char watch_help[] =
	"Usage: beectl watch [-j N] [--no-jit] [-q]\n"
	"\n"
	"Keep the tables of all programs loaded: compile the table of a file after the\n"
	"first sample in it, or take it from the cache.  All processes that map the file,\n"
	"also later, have complete stacks in it then.  Users take turns: at most half of\n"
	"the jobs (and at least one) are for files of one user, unless that is root.\n"
	"Runs until SIGTERM, SIGHUP (not under nohup) or ^C.  After that the tables stay\n"
	"loaded.  To remove them: beectl unload --all.\n"
	"\n"
	"Options:\n"
	"  -j, --jobs N  Work on N files at a time (default: one for each CPU)\n"
	"      --no-jit  Leave code that is in memory without a file without tables\n"
	"  -q, --quiet   Print no line for each file\n"
	"  -h, --help    Show this text\n"
	"\n"
	"Code that is in memory without a file, as JIT compilers make it, gets tables\n"
	"after the first sample in it, as from \"beectl load\", and is looked at now and\n"
	"then as long as its process runs.  While the module has no news for it, watch\n"
	"sleeps.  If the module is unloaded, it waits until the module is loaded again.\n"
	"As a service: \"systemctl start beeunwind\", and \"enable\" to have it after each\n"
	"boot, too\n";

/**
 * struct watch - the service
 * @quiet: no line for each file
 * @maker: how tables are made; without connection while the module is away
 * @follow: who makes them; NULL while the module is away
 * @family: tells when it comes and goes
 * @unkept: the last table could not be kept in the cache
 * @added: tables that were given to the module
 */
struct watch {
	bool			 quiet;
	struct table_maker	 maker;
	struct follow		*follow;
	struct netlink_events	*family;
	bool			 unkept;
	size_t			 added;
};

static volatile sig_atomic_t watch_ended;

static void watch_end(int signal)
{
	(void)signal;
	watch_ended = 1;
}

/* A table_maker's done(): print what became of the file. */
static void watch_done(void *arg, const struct table_want *want, const struct table_result *result)
{
	struct watch *watch = arg;
	bool made = result->source != TABLE_NONE;
	const char *what = result->source == TABLE_CACHED ? "cached, " : "compiled, ";

	(void)want;
	/* Another beectl was faster. */
	if (result->source == TABLE_STORED)
		return;
	watch->added += made;
	/* A table that the cache does not keep has to be made again by the next watch: said once, until one is kept. */
	if (result->source == TABLE_COMPILED && result->error.code && !watch->unkept)
		message_warning("watch", result->name, result->error.text);
	if (result->source == TABLE_COMPILED)
		watch->unkept = result->error.code;
	if (watch->quiet)
		return;
	text_put_name(stdout, result->name);
	printf(": %s%s\n", made ? what : "no table: ", made ? text_size(result->bytes).text : result->error.text);
	fflush(stdout);
}

/* A jit_done_fn */
static void watch_jit_done(void *arg, pid_t pid, const struct jit_result *result)
{
	struct watch *watch = arg;

	watch->added += result->tables + result->remapped;
	if (watch->quiet)
		return;
	if (result->remapped)
		printf("process %d: remapped text has got the tables of its files\n", pid);
	if (result->new_heaps)
		printf("process %d: the code heaps of its Java virtual machine are known\n", pid);
	if (result->tables) {
		printf("process %d: ", pid);
		text_put_name(stdout, result->name);
		printf(": compiled, %s\n", text_size(result->bytes).text);
	}
	fflush(stdout);
}

static void watch_disconnect(struct watch *watch)
{
	follow_close(watch->follow);
	watch->follow = NULL;
	netlink_close(watch->maker.nl);
	watch->maker.nl = NULL;
}

/* Return: 0 even if no module is loaded that takes our tables, as watch then waits for one. */
static int watch_connect(struct watch *watch)
{
	struct bee_error error = { 0 };
	bool absent;

	if (!maker_connect(&watch->maker, &error)) {
		error = (struct bee_error){ 0 };
		watch->follow = follow_open(&watch->maker, watch_jit_done, &error);
		if (!error.code) {
			puts("making the tables of what is sampled");
			fflush(stdout);
			maker_warn_hook(&watch->maker, "watch");
			return 0;
		}
	}
	watch_disconnect(watch);
	absent = error.code == BEE_ERROR_NO_MODULE;
	message_error("watch", absent ? "waiting" : NULL, error.text);
	return absent ? EXIT_OK : EXIT_FAILED;
}

static int watch_take_family(struct watch *watch)
{
	enum netlink_family_news news = netlink_family_next(watch->family);

	if (news == NETLINK_FAMILY_SAME)
		return 0;
	watch_disconnect(watch);
	/* After NETLINK_FAMILY_UNLOADED do not call netlink_open(): it would load the module again. */
	if (news == NETLINK_FAMILY_LOADED ||
	    (news == NETLINK_FAMILY_LOST && !access("/sys/module/beeunwind", F_OK)))
		return watch_connect(watch);
	puts("the module has gone; waiting for it");
	fflush(stdout);
	return 0;
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
		struct pollfd family = { netlink_events_fd(watch->family), POLLIN, 0 };
		int ret = watch->follow ? follow_poll(watch->follow, &family, 1, -1, signals) :
					  ppoll(&family, 1, NULL, signals);

		if (ret < 0 && errno != EINTR)
			return message_error("watch", NULL, strerror(errno));
		watch_let_signals(signals);
		if (watch_ended)
			break;
		if (family.revents)
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
