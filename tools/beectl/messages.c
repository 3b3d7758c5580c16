// SPDX-License-Identifier: GPL-2.0
/* What commands say on stderr: "beectl: COMMAND: [SUBJECT: ]sentence". */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "commands.h"
#include "messages.h"
#include "text.h"

/*
 * Does journald read what this process writes to stderr?  If a line begins with "<4>", journald takes that
 * for the line's level (sd-daemon(3)).  For a service whose output goes to journald, systemd sets
 * JOURNAL_STREAM to device and inode of that stream (systemd.exec(5)).  A shell may have redirected stderr
 * since, so compare them with those of stderr.
 */
static bool message_to_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	char is[48];
	struct stat st;

	if (!stream || fstat(fileno(stderr), &st))
		return false;
	snprintf(is, sizeof(is), "%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
	return !strcmp(stream, is);
}

/* Flush stdout first, so that lines stay in order if both streams go to one file. */
static void message_put(const char *command, bool is_warning, const char *subject, const char *why)
{
	fflush(stdout);
	if (message_to_journal())
		fputs(is_warning ? "<4>" : "<3>", stderr);
	fprintf(stderr, "beectl: %s: %s", command, is_warning ? "warning: " : "");
	if (subject) {
		text_put_name(stderr, subject);
		fputs(": ", stderr);
	}
	text_put_name(stderr, why);
	fputc('\n', stderr);
}

/**
 * message_error() - say that something failed
 * @command: which command says it
 * @subject: the file or process that it is about, or NULL
 * @why: a sentence
 *
 * Return: EXIT_FAILED, for the caller to return.
 */
int message_error(const char *command, const char *subject, const char *why)
{
	message_put(command, false, subject, why);
	return EXIT_FAILED;
}

/* message_warning() - say that something failed, if the command goes on and its exit status does not change */
void message_warning(const char *command, const char *subject, const char *why)
{
	message_put(command, true, subject, why);
}

/**
 * message_usage() - say what is wrong with a command line, and name the command's --help
 * @command: the command
 * @format: what is wrong with it
 *
 * Return: EXIT_USAGE, for the caller to return.
 */
int message_usage(const char *command, const char *format, ...)
{
	char why[256], text[320];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	snprintf(text, sizeof(text), "%s; see \"beectl %s --help\"", why, command);
	message_put(command, false, NULL, text);
	return EXIT_USAGE;
}
