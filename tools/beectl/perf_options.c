// SPDX-License-Identifier: GPL-2.0
/*
 * What the options of perf record ask for, as far as beectl record has to know.
 *
 * All words are passed to perf, which knows them best.  So nothing is refused here, and options of
 * other versions of perf are left alone: a word that does not begin with a dash is the value of
 * the option before it, or perf will say what it is.
 */
#include <stddef.h>
#include <string.h>

#include "perf_options.h"

/* Options of one letter that take a value, in the same word or in the next (perf-record(1)). */
static const char letters_with_value[] = "CDFGcejkmoprtu";

/* Options of one letter whose value, if there is one, is the rest of the word. */
static const char letters_with_rest[] = "ISz";

static void perf_option_take(struct perf_options *options, char letter, const char *value)
{
	const struct { const char *letters; bool *flag; } flags[] = {
		{ "aCuG", &options->all }, { "g", &options->callchain },
		{ "D", &options->delayed }, { "q", &options->quiet }, { "h", &options->help }, { "v", &options->verbose },
	};
	size_t i;

	if (letter == 'p' || letter == 't')
		options->tasks = value;
	if (letter == 'o')
		options->output = value;
	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (strchr(flags[i].letters, letter))
			*flags[i].flag = true;
}

/* "-ag", "-p12", "-gp" and "12" in the next word.  Return: whether the next word is a value. */
static bool take_letters(struct perf_options *options, const char *word, const char *next)
{
	for (word++; *word && !strchr(letters_with_rest, *word); word++) {
		if (strchr(letters_with_value, *word)) {
			perf_option_take(options, *word, word[1] ? word + 1 : next);
			return !word[1];
		}
		perf_option_take(options, *word, NULL);
	}
	return false;
}

/* "--pid=12", or "--pid" and "12" in the next word.  Return: whether the next word is a value. */
static bool take_name(struct perf_options *options, const char *word, const char *next)
{
	static const struct {
		const char	*name;
		char		 letter;
		bool		 with_value;
	} known[] = {
		{ "pid", 'p', true }, { "tid", 't', true }, { "all-cpus", 'a' },
		{ "cpu", 'C', true }, { "uid", 'u', true }, { "cgroup", 'G', true },
		{ "call-graph", 'g', true }, { "delay", 'D', true }, { "control", 'D', true },
		{ "quiet", 'q' }, { "verbose", 'v' }, { "help", 'h' }, { "output", 'o', true },
	};
	size_t i, length = strcspn(word += 2, "=");
	const char *value = word[length] ? word + length + 1 : next;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strncmp(word, known[i].name, length) || known[i].name[length])
			continue;
		perf_option_take(options, known[i].letter, known[i].with_value ? value : NULL);
		if (known[i].letter == 'g' && value && strncmp(value, "fp", 2))
			options->other = true;
		return known[i].with_value && !word[length];
	}
	return false;
}

/**
 * perf_options_read() - look for what has to be known in a command line of perf record
 * @options: filled; its members point into @words
 * @words: the words after "record", ended by NULL
 */
void perf_options_read(struct perf_options *options, char **words)
{
	*options = (struct perf_options){ 0 };
	for (; *words && strcmp(*words, "--"); words++) {
		bool takes_next = false;

		if (!strncmp(*words, "--", 2))
			takes_next = take_name(options, *words, words[1]);
		else if (**words == '-')
			takes_next = take_letters(options, *words, words[1]);
		if (takes_next && words[1])
			words++;
	}
	if (*words)
		options->command = words + 1;
}
