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

/* Does the journal read stderr?  It takes "<4>" in front of a line as its level (sd-daemon(3)). */
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
static void message_put(const char *level, const char *command, const char *kind,
			const char *subject, const char *why)
{
	fflush(stdout);
	if (message_to_journal())
		fputs(level, stderr);
	fprintf(stderr, "beectl: %s: %s", command, kind);
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
	message_put("<3>", command, "", subject, why);
	return EXIT_FAILED;
}

/* message_warning(): likewise, if the command goes on and its exit status does not change */
void message_warning(const char *command, const char *subject, const char *why)
{
	message_put("<4>", command, "warning: ", subject, why);
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
	char why[256];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	fprintf(stderr, "beectl: %s: ", command);
	text_put_name(stderr, why);
	fprintf(stderr, "; see \"beectl %s --help\"\n", command);
	return EXIT_USAGE;
}
