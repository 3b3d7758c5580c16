// SPDX-License-Identifier: GPL-2.0
/* What is being worked on, shown on a terminal when it takes longer than a second. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <unistd.h>

#include "clock.h"
#include "progress.h"

/* The signal handler reads these: written only while the timer is off. */
static char progress_line[256];
static size_t progress_length;
static volatile sig_atomic_t progress_shown;
static int64_t progress_next;	/* when progress_count() shows its line again; 0: not begun */

#define PROGRESS_FIRST_MS	1000
#define PROGRESS_AGAIN_MS	200

static void progress_show(int signal)
{
	(void)signal;
	if (write(STDERR_FILENO, progress_line, progress_length) > 0)
		progress_shown = 1;
}

static void progress_timer(int seconds)
{
	const struct itimerval timer = { .it_value.tv_sec = seconds };

	setitimer(ITIMER_REAL, &timer, NULL);
}

/* Make one line of printable ASCII, whatever bytes @what has. */
static void progress_set_line(const char *what)
{
	struct winsize size = {};
	int width = 79;
	char *at;

	if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col > 1)
		width = size.ws_col - 1;
	if (width > 200)
		width = 200;
	snprintf(progress_line, sizeof(progress_line), "\r%.*s", width, what);
	for (at = progress_line + 1; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
	strcpy(at, "\033[K");
	progress_length = strlen(progress_line);
}

/** progress_begin() - show @what, a few words, unless progress_end() comes within a second */
void progress_begin(const char *what)
{
	struct sigaction action = { .sa_handler = progress_show, .sa_flags = SA_RESTART };

	progress_end();
	if (!isatty(STDERR_FILENO))
		return;
	progress_set_line(what);
	sigaction(SIGALRM, &action, NULL);
	progress_timer(1);
}

/** progress_end() - stop, and remove the line from the terminal */
void progress_end(void)
{
	static const char wipe[] = "\r\033[K";

	progress_timer(0);
	progress_next = 0;
	if (progress_shown && write(STDERR_FILENO, wipe, sizeof(wipe) - 1) > 0)
		progress_shown = 0;
}

/**
 * progress_count() - show how far the work is, from a second after the first call on
 * @ready: files that are done
 * @count: of how many
 * @path: a file that is being worked on
 *
 * To be called often; progress_end() ends it.
 */
void progress_count(size_t ready, size_t count, const char *path)
{
	char what[256];
	int64_t now;

	if (!isatty(STDERR_FILENO))
		return;
	now = clock_ms();
	if (!progress_next)
		progress_next = now + PROGRESS_FIRST_MS;
	if (now < progress_next)
		return;
	progress_next = now + PROGRESS_AGAIN_MS;
	snprintf(what, sizeof(what), "%zu of %zu: %.200s", ready, count, path);
	progress_set_line(what);
	progress_show(0);
}
