// SPDX-License-Identifier: GPL-2.0
/* perf record as a child process. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alloc.h"
#include "clock.h"
#include "io.h"
#include "perf.h"

extern char **environ;

/*
 * Start perf with the words and, if it is not -1, the descriptor @keep, @output as its stdout, or @words as its stderr.
 * Return: 0 or an errno value.
 */
static int perf_spawn(const char **argv, int keep, int output, int words, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	int ret = posix_spawn_file_actions_init(&actions);

	if (ret)
		return ret;
	/* To itself: only clears FD_CLOEXEC. */
	if (keep >= 0)
		ret = posix_spawn_file_actions_adddup2(&actions, keep, keep);
	if (!ret && output >= 0)
		ret = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	if (!ret && words >= 0)
		ret = posix_spawn_file_actions_adddup2(&actions, words, STDERR_FILENO);
	ret = ret ?: posix_spawnp(pid, argv[0], &actions, NULL, (char **)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return ret;
}

static int perf_error_set(struct bee_error *error, int code)
{
	return error_set(error, code, code == ENOENT ? "perf is not installed, or not in $PATH; on "
			 "Debian: apt install linux-perf" : "perf: %s", strerror(code));
}

/** perf_find() - is there a perf in $PATH?  Return: 0, or -1 with @error filled */
int perf_find(struct bee_error *error)
{
	char *list = alloc_text(getenv("PATH") ?: ""), *rest = list, *dir, path[PATH_MAX];
	int ret = *list ? ENOENT : 0;	/* posix_spawnp() has a path of its own */

	while (ret && (dir = strsep(&rest, ":"))) {
		snprintf(path, sizeof(path), "%s/perf", *dir ? dir : ".");
		if (!access(path, X_OK))
			ret = 0;
		else if (errno == EACCES)
			ret = EACCES;
	}
	free(list);
	return ret ? perf_error_set(error, ret) : 0;
}

/**
 * perf_start() - start perf record
 * @perf: filled
 * @words: its words after "record", ended by NULL
 * @target: if not 0: the process to be recorded, with its children; perf then tells
 *	perf_wait_ready() when it is at work, and ends at perf_stop()
 * @output: its standard output; -1: that of this process
 * @quiet: what it says is kept, for perf_ended()
 * @error: filled on failure
 *
 * perf and what it starts ignore SIGHUP; SIGTERM ends the recording.
 *
 * Return: 0 or -1.
 */
int perf_start(struct perf *perf, char **words, pid_t target, int output, bool quiet,
	       struct bee_error *error)
{
	char control[64], pid[16];
	int pair[2] = { -1, -1 }, ret;
	size_t n = 0, at = 0;
	void (*before)(int);
	const char **argv;

	*perf = (struct perf){ .control = -1, .words = quiet ? io_memfd("perf", NULL, 0) : -1 };
	while (words[n])
		n++;
	argv = alloc_zero(n + 6, sizeof(*argv));
	argv[at++] = "perf";
	argv[at++] = "record";
	if (target && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
		free(argv);
		return error_set(error, errno, "socketpair: %s", strerror(errno));
	}
	if (target) {
		snprintf(control, sizeof(control), "--control=fd:%d,%d", pair[1], pair[1]);
		snprintf(pid, sizeof(pid), "%d", target);
		argv[at++] = control;
		argv[at++] = "-p";
		argv[at++] = pid;
	}
	memcpy(argv + at, words, n * sizeof(*argv));
	/* A terminal that closes sends SIGHUP to perf, too, which would die of it and lose its data. */
	before = signal(SIGHUP, SIG_IGN);
	ret = perf_spawn(argv, pair[1], output, perf->words, &perf->pid);
	signal(SIGHUP, before);
	free(argv);
	if (pair[1] >= 0)
		close(pair[1]);
	perf->control = pair[0];
	if (!ret)
		return 0;
	perf->pid = 0;
	perf_ended(perf);
	return perf_error_set(error, ret);
}

/* Wait for something to read.  Return: as poll(). */
static int perf_poll(const struct perf *perf, unsigned int patience)
{
	struct pollfd fd = { .fd = perf->control, .events = POLLIN };
	int64_t end = clock_ms() + patience, left = patience;
	int ret;

	do
		ret = poll(&fd, 1, left);
	while (ret < 0 && errno == EINTR && (left = end - clock_ms()) > 0);
	return ret < 0 && errno == EINTR ? 0 : ret;
}

/**
 * perf_wait_ready() - wait until perf records its target
 * @perf: started with a target
 * @patience: for so long, ms; perf is ended when it has passed: perf 5.10 and 5.11 know --control,
 *	but not "ping", and do not answer
 * @error: filled on failure
 *
 * Return: 0; or -1, also if perf has ended instead, after saying why.
 */
int perf_wait_ready(const struct perf *perf, unsigned int patience, struct bee_error *error)
{
	char answer[16];
	int ready = -1;

	/* Answered from perf's main loop, before which it has enabled its events. */
	if (send(perf->control, "ping\n", 5, MSG_NOSIGNAL) == 5)
		ready = perf_poll(perf, patience);
	if (!ready) {
		kill(perf->pid, SIGTERM);
		return error_set(error, 0, "perf record has not answered in %u seconds; to record a "
				 "command needs perf 5.12 or newer (perf --version)",
				 patience / 1000);
	}
	if (ready < 0 || recv(perf->control, answer, sizeof(answer), 0) <= 0)
		return error_set(error, 0, "perf record has ended before it recorded anything");
	return 0;
}

/**
 * perf_stop() - have perf write what it has and end, if it was started with a target
 * @perf: the recording
 *
 * The socket stays open: perf fails with "Thread and evlist pollfd index mismatch" if it finds it closed when it reads the
 * command (record__update_evlist_pollfd_from_thread(), tools/perf/builtin-record.c).
 */
void perf_stop(const struct perf *perf)
{
	if (perf->control >= 0)
		send(perf->control, "stop\n", 5, MSG_NOSIGNAL);
}

/* Pass on what perf has said, but for how often it woke up and how much it wrote. */
static void perf_put_words(struct perf *perf)
{
	static const char chat[] = "[ perf record: ";
	FILE *in = perf->words < 0 || lseek(perf->words, 0, SEEK_SET) ? NULL : fdopen(perf->words, "r");
	char *line = NULL;
	size_t room = 0;

	while (in && getline(&line, &room, in) >= 0)
		if (strncmp(line, chat, strlen(chat)) && *line != '\n')
			fputs(line, stderr);
	free(line);
	if (in)
		fclose(in);
	perf->words = -1;
}

/** perf_ended() - pass on what perf has said, and close its socket; perf has ended */
void perf_ended(struct perf *perf)
{
	perf_put_words(perf);
	if (perf->control >= 0)
		close(perf->control);
	perf->control = -1;
}

/**
 * perf_count_samples() - count samples of processes of a name in a recording
 * @path: the recording
 * @comm: the name
 * @count: filled
 *
 * Return: 0, or -1 if perf cannot say.
 */
int perf_count_samples(const char *path, const char *comm, uint64_t *count)
{
	const char *argv[] = { "perf", "script", "-i", path, "--comms", comm, "-F", "comm", NULL };
	int fds[2], status, c;
	pid_t pid;
	FILE *in;

	if (pipe2(fds, O_CLOEXEC))
		return -1;
	status = perf_spawn(argv, -1, fds[1], -1, &pid);
	close(fds[1]);
	in = fdopen(fds[0], "r");
	*count = 0;
	while (in && (c = getc(in)) != EOF)
		*count += c == '\n';
	if (in)
		fclose(in);
	if (status)
		return -1;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status ? -1 : 0;
}
