// SPDX-License-Identifier: GPL-2.0
/* What is being worked on, shown on a terminal when it takes longer than a second. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "progress.h"

/* Written only while the timer is off. */
static char progress_line[256];
static size_t progress_length;
static volatile sig_atomic_t progress_shown;

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

/**
 * progress_begin() - say what is going on, a second from now
 * @what: a few words
 */
void progress_begin(const char *what)
{
	struct sigaction action = { .sa_handler = progress_show, .sa_flags = SA_RESTART };

	progress_end();
	if (!isatty(STDERR_FILENO))
		return;
	snprintf(progress_line, sizeof(progress_line), "\r%.200s ...\033[K", what);
	progress_length = strlen(progress_line);
	sigaction(SIGALRM, &action, NULL);
	progress_timer(1);
}

/* progress_end(): it is done; nothing of it stays on the terminal */
void progress_end(void)
{
	static const char wipe[] = "\r\033[K";

	progress_timer(0);
	if (progress_shown && write(STDERR_FILENO, wipe, sizeof(wipe) - 1) > 0)
		progress_shown = 0;
}

/* progress_compile(): a tables_progress_fn */
void progress_compile(void *arg, const char *path)
{
	char what[256], *at;

	(void)arg;
	if (!path) {
		progress_end();
		return;
	}
	/* A path can hold anything; the terminal gets letters. */
	snprintf(what, sizeof(what), "compiling %.180s", path);
	for (at = what; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
	progress_begin(what);
}
