// SPDX-License-Identifier: GPL-2.0
/* To wait for perf, with scripts in the place of perf. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest.h"
#include "perf.h"

static char directory[] = "/tmp/perf_test.XXXXXX";

/* Start a perf that does @what; $fd is its descriptor for --control. */
static bool start(struct perf *perf, const char *what)
{
	char path[64], script[512], *words[] = { NULL };
	struct bee_error error;
	int fd, length;

	snprintf(path, sizeof(path), "%s/perf", directory);
	length = snprintf(script, sizeof(script), "#!/bin/bash\nfd=${2##*,}\n%s\n", what);
	fd = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0700);
	if (fd < 0 || write(fd, script, length) != length || close(fd))
		return false;
	return !perf_start(perf, words, getpid(), -1, false, &error);
}

/* Wait for its end.  Return: its wait status. */
static int end(struct perf *perf)
{
	int status = -1;

	perf_stop(perf);
	while (waitpid(perf->pid, &status, 0) < 0 && errno == EINTR)
		;
	perf_ended(perf);
	return status;
}

static bool check_ready(void)
{
	struct bee_error error;
	struct perf perf;

	return start(&perf, "read -r word <&$fd; [ $word = ping ] && echo ack >&$fd; read -r word <&$fd; "
		     "[ $word = stop ]") &&
	       !perf_wait_ready(&perf, PERF_PATIENCE_MS, &error) && !end(&perf);
}

/* read has a status above 128 when its time is up, and 1 where nobody can send any more. */
static bool check_stop(void)
{
	struct bee_error error;
	struct perf perf;

	return start(&perf, "read -r word <&$fd; echo ack >&$fd; read -r word <&$fd; "
		     "read -t 0.5 -r word <&$fd; [ $? -gt 128 ]") &&
	       !perf_wait_ready(&perf, PERF_PATIENCE_MS, &error) && !end(&perf);
}

static bool check_ended(void)
{
	struct bee_error error;
	struct perf perf;

	return start(&perf, "exit 3") && perf_wait_ready(&perf, PERF_PATIENCE_MS, &error) &&
	       strstr(error.text, "has ended before") && WEXITSTATUS(end(&perf)) == 3;
}

/* As perf 5.10, which reads "ping" and goes on recording. */
static bool check_silent(void)
{
	struct bee_error error;
	struct perf perf;

	return start(&perf, "exec sleep 1000") && perf_wait_ready(&perf, 1, &error) &&
	       strstr(error.text, "perf 5.12") && WTERMSIG(end(&perf)) == SIGTERM;
}

int main(void)
{
	char path[4096];

	ksft_print_header();
	ksft_set_plan(4);
	if (!mkdtemp(directory))
		return 1;
	snprintf(path, sizeof(path), "%s:%s", directory, getenv("PATH"));
	setenv("PATH", path, 1);
	ksft_test_result(check_ready(), "perf answers on its control socket\n");
	ksft_test_result(check_stop(), "the socket on which perf is told to stop stays open until it has ended\n");
	ksft_test_result(check_ended(), "perf ends when it is told to stop\n");
	ksft_test_result(check_silent(), "perf knows no \"ping\"\n");
	snprintf(path, sizeof(path), "%s/perf", directory);
	unlink(path);
	rmdir(directory);
	ksft_finished();
}
