// SPDX-License-Identifier: GPL-2.0
/* Progress on a terminal: only there, only after a second, and one line of it. */
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "kselftest.h"
#include "progress.h"

/* The test's clock and timer, in place of libc's. */
static long now_ms = 5000;
static long timer_seconds;

int clock_gettime(clockid_t id, struct timespec *ts)
{
	(void)id;
	ts->tv_sec = now_ms / 1000;
	ts->tv_nsec = now_ms % 1000 * 1000000;
	return 0;
}

int setitimer(__itimer_which_t which, const struct itimerval *timer, struct itimerval *old)
{
	(void)which;
	(void)old;
	timer_seconds = timer->it_value.tv_sec;
	return 0;
}

static int terminal;	/* the other end of standard error */
static char said[1024];

/* What came to the terminal since the last call. */
static const char *read_terminal(void)
{
	ssize_t length = read(terminal, said, sizeof(said) - 1);

	said[length < 0 ? 0 : length] = '\0';
	return said;
}

static bool check_begin(void)
{
	bool good;

	progress_begin("looking at all processes");
	good = timer_seconds == 1 && !*read_terminal();
	raise(SIGALRM);
	good = good && !strcmp(read_terminal(), "\rlooking at all processes\033[K");
	progress_end();
	return good && timer_seconds == 0 && !strcmp(read_terminal(), "\r\033[K");
}

/* What ends within a second leaves no trace. */
static bool check_short(void)
{
	progress_begin("looking at all processes");
	progress_end();
	return timer_seconds == 0 && !*read_terminal();
}

static bool check_count(void)
{
	bool good;

	progress_count(0, 9, "/lib/a");
	now_ms += 999;
	progress_count(1, 9, "/lib/b");
	good = !*read_terminal();
	now_ms += 1;
	progress_count(2, 9, "/lib/c");
	good = good && !strcmp(read_terminal(), "\r2 of 9: /lib/c\033[K");
	now_ms += 100;
	progress_count(3, 9, "/lib/d");
	good = good && !*read_terminal();
	now_ms += 100;
	progress_count(4, 9, "/lib/e");
	good = good && !strcmp(read_terminal(), "\r4 of 9: /lib/e\033[K");
	progress_end();
	return good && !strcmp(read_terminal(), "\r\033[K");
}

/* Names are anybody's: control characters do not reach the terminal, nor more than its width. */
static bool check_name(void)
{
	const struct winsize narrow = { .ws_col = 16, .ws_row = 5 }, none = { 0 };
	bool good;

	progress_count(1, 2, "");
	now_ms += 1000;
	progress_count(1, 2, "/a\033[31m\n\xc3\xa4");
	good = !strcmp(read_terminal(), "\r1 of 2: /a?[31m???\033[K");
	ioctl(STDERR_FILENO, TIOCSWINSZ, &narrow);
	now_ms += 200;
	progress_count(1, 2, "/a/very/long/name");
	good = good && !strcmp(read_terminal(), "\r1 of 2: /a/very\033[K");
	ioctl(STDERR_FILENO, TIOCSWINSZ, &none);
	progress_end();
	read_terminal();
	return good;
}

static bool check_pipe(void)
{
	int kept = dup(STDERR_FILENO), ends[2];
	char byte;
	bool good;

	if (pipe2(ends, O_NONBLOCK) || dup2(ends[1], STDERR_FILENO) < 0)
		return false;
	progress_begin("looking at all processes");
	good = timer_seconds == 0;
	progress_end();
	progress_count(1, 9, "/lib/a");
	now_ms += 5000;
	progress_count(2, 9, "/lib/b");
	progress_end();
	good = good && read(ends[0], &byte, 1) < 0;
	dup2(kept, STDERR_FILENO);
	close(kept);
	close(ends[0]);
	close(ends[1]);
	return good;
}

int main(void)
{
	int side;

	ksft_print_header();
	if (openpty(&terminal, &side, NULL, NULL, NULL)) {
		ksft_set_plan(1);
		ksft_test_result_skip("progress # SKIP no pseudo terminal\n");
		ksft_finished();
	}
	fcntl(terminal, F_SETFL, O_NONBLOCK);
	dup2(side, STDERR_FILENO);
	ksft_set_plan(5);
	ksft_test_result(check_begin(), "progress is a line after a second, and is wiped\n");
	ksft_test_result(check_short(), "progress prints nothing within a second\n");
	ksft_test_result(check_count(), "progress counts files, five times a second\n");
	ksft_test_result(check_name(), "progress prints names with control characters, and long names, in one line\n");
	ksft_test_result(check_pipe(), "progress prints only to a terminal\n");
	ksft_finished();
}
