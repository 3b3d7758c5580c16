// SPDX-License-Identifier: GPL-2.0
/* What commands say on stderr: "beectl: COMMAND: [SUBJECT: ]sentence". */
#include <stdarg.h>
#include <stdio.h>

#include "commands.h"
#include "messages.h"
#include "text.h"

/* Flush stdout first, so that lines stay in order if both streams go to one file. */
static void message_put(const char *command, const char *kind, const char *subject,
			const char *why)
{
	fflush(stdout);
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
	message_put(command, "", subject, why);
	return EXIT_FAILED;
}

/* message_warning(): likewise, if the command goes on and its exit status does not change */
void message_warning(const char *command, const char *subject, const char *why)
{
	message_put(command, "warning: ", subject, why);
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
