// SPDX-License-Identifier: GPL-2.0
/* The options of a command, as a table.  Owns getopt_long(3). */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "lossy.h"
#include "messages.h"
#include "options.h"
#include "parallel.h"
#include "text.h"

/* getopt_long() returns this plus the place in the list for a long option. */
#define LONG_FIRST	256

static bool options_have(const struct options *options, const char *name)
{
	size_t i;

	for (i = 0; options->option[i].name && strcmp(options->option[i].name, name); i++)
		;
	return options->option[i].name;
}

static int option_take(const struct options *options, size_t i)
{
	void *value = options->option[i].value;

	switch (options->option[i].kind) {
	case OPTION_FLAG:
		*(bool *)value = true;
		break;
	case OPTION_TEXT:
		*(const char **)value = optarg;
		break;
	case OPTION_JOBS:
		if (text_parse_number(optarg, PARALLEL_MAX_JOBS, value))
			return message_usage(options->command, "-j (--jobs) needs a number from 1 to %d%s",
					     PARALLEL_MAX_JOBS,
					     options_have(options, "json") ? "; JSON is --json" : "");
		break;
	case OPTION_THIN:
		if (text_parse_number(optarg, LOSSY_MAX_THIN, value))
			return message_usage(options->command, "--thin needs a number from 1 to %d",
					     LOSSY_MAX_THIN);
		break;
	}
	return OPTIONS_OK;
}

/* Whether a word abbreviates the names of several options, of which @names is the list. */
static bool word_is_ambiguous(const struct option *names, const char *word)
{
	size_t length = strcspn(word, "="), found = 0;

	for (; names->name && length > 2; names++)
		found += !strncmp(names->name, word + 2, length - 2);
	return found > 1;
}

/* Say what is wrong with an option that getopt_long() does not take.  Return: the exit status. */
static int option_refuse(const struct options *options, const struct option *names, const char *word)
{
	/* -h is known, so that is --help. */
	if (optopt == 'h' || optopt >= LONG_FIRST)
		return message_usage(options->command, "%.*s takes no argument",
				     (int)strcspn(word, "="), word);
	if (optopt > 0)
		return message_usage(options->command, "unknown option -%c", optopt);
	return message_usage(options->command, "%s option %s",
			     word_is_ambiguous(names, word) ? "ambiguous" : "unknown", word);
}

/**
 * options_parse() - take the options of a command line
 * @options: the options of the command, and where their values go
 * @argc: words, the command's name included
 * @argv: the words; moved to the first that belongs to no option
 *
 * Return: OPTIONS_OK; or the exit status, after printing the help or what is wrong.
 */
int options_parse(const struct options *options, int argc, char ***argv)
{
	struct option names[OPTIONS_MAX + 2] = { { "help", no_argument, NULL, 'h' } };
	char letters[2 * OPTIONS_MAX + 4], *at = letters;
	int c, status = OPTIONS_OK;
	const char *word;
	size_t i;

	if (options->stop)
		*at++ = '+';
	*at++ = ':';
	*at++ = 'h';
	for (i = 0; options->option[i].name; i++) {
		bool flag = options->option[i].kind == OPTION_FLAG;
		int takes = flag ? no_argument : required_argument;

		names[i + 1] = (struct option){ options->option[i].name, takes, NULL,
						LONG_FIRST + i };
		if (options->option[i].letter)
			*at++ = options->option[i].letter;
		if (options->option[i].letter && takes == required_argument)
			*at++ = ':';
	}
	*at = '\0';
	optind = 0;	/* getopt(3): start anew, should it have been called before */
	opterr = 0;
	while (status == OPTIONS_OK && (c = getopt_long(argc, *argv, letters, names, NULL)) != -1) {
		for (i = 0; options->option[i].name && c != LONG_FIRST + (int)i &&
		     c != options->option[i].letter; i++)
			;
		word = (*argv)[optind - 1];
		if (options->option[i].name) {
			status = option_take(options, i);
		} else if (c == 'h') {
			fputs(options->help, stdout);
			return EXIT_OK;
		} else if (c == ':') {
			return message_usage(options->command, "%s needs an argument", word);
		} else {
			return option_refuse(options, names, word);
		}
	}
	*argv += optind;
	return status;
}

/**
 * options_check_pids() - are all words process ids?
 * @command: the command
 * @words: ended by NULL
 *
 * Return: EXIT_OK, or EXIT_USAGE after saying which is not.
 */
int options_check_pids(const char *command, char **words)
{
	pid_t pid;

	for (; *words; words++)
		if (text_parse_pid(*words, &pid))
			return message_usage(command, "%s: not a process id", *words);
	return EXIT_OK;
}
