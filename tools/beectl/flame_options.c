// SPDX-License-Identifier: GPL-2.0
/* The command line of beectl flame: its own options among those of perf record. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "commands.h"
#include "flame_options.h"
#include "messages.h"
#include "perf_options.h"

/* An option; @flag: it takes no value; @perfs: perf record has one of that name, which is meant where it records. */
static const struct known_option {
	const char	*name;
	char		 letter;
	bool		 flag;
	bool		 perfs;
	size_t		 offset;
} known[] = {
	{ "output", 'o', false, false, offsetof(struct flame_options, output) },
	{ "format", 0, false, false, offsetof(struct flame_options, format) },
	{ "show", 0, false, false, offsetof(struct flame_options, show) },
	{ "split", 0, false, false, offsetof(struct flame_options, split) },
	{ "symfs", 0, false, false, offsetof(struct flame_options, symfs) },
	{ "kallsyms", 0, false, false, offsetof(struct flame_options, kallsyms) },
	{ "jobs", 0, false, false, offsetof(struct flame_options, jobs) },
	{ "checkpoint", 0, false, false, offsetof(struct flame_options, checkpoint) },
	{ "inlines", 0, true, false, offsetof(struct flame_options, inlines) },
	{ "lines", 0, true, false, offsetof(struct flame_options, lines) },
	{ "java-names", 0, true, false, offsetof(struct flame_options, java_names) },
	{ "samples", 0, true, false, offsetof(struct flame_options, samples) },
	{ "json", 0, true, false, offsetof(struct flame_options, json) },
	{ "raw", 0, true, false, offsetof(struct flame_options, raw) },
	{ "diff", 0, false, false, offsetof(struct flame_options, diff) },
	{ "enrich", 0, false, false, offsetof(struct flame_options, enrich) },
	{ "help", 'h', true, false, offsetof(struct flame_options, help) },
	{ "time", 0, false, false, offsetof(struct flame_options, time) },
	{ "comm", 0, false, false, offsetof(struct flame_options, comm) },
	{ "tid", 0, false, true, offsetof(struct flame_options, tid) },
	{ "cpu", 0, false, true, offsetof(struct flame_options, cpu) },
	{ "around", 0, false, false, offsetof(struct flame_options, around) },
	{ "reverse", 0, true, false, offsetof(struct flame_options, reverse) },
};

#define NKNOWN	(sizeof(known) / sizeof(known[0]))

/*
 * Is @word this option?  perf takes names that are cut short, and --out must not be left to it.
 * @value: filled with what follows "=" or the letter, or NULL.
 */
static bool option_is(const struct known_option *option, char *word, char **value)
{
	size_t length;

	*value = NULL;
	if (option->letter && word[0] == '-' && word[1] == option->letter) {
		*value = word[2] ? word + 2 : NULL;
		return !option->flag || !word[2];
	}
	if (strncmp(word, "--", 2))
		return false;
	length = strcspn(word += 2, "=");
	if (word[length])
		*value = word + length + 1;
	return !strncmp(word, option->name, length) &&
	       (!option->name[length] || (option->letter == 'o' && length > 1));
}

/*
 * Take a word of our own.  @records: perf records
 *
 * Return: how many words it takes; 0: it is not ours; negative after saying what is wrong.
 */
static int option_take(struct flame_options *options, char **words, bool records)
{
	char *value;
	size_t i;

	for (i = 0; i < NKNOWN && ((records && known[i].perfs) || !option_is(&known[i], *words, &value)); i++)
		;
	if (i == NKNOWN)
		return 0;
	if (known[i].flag && value)
		return -message_usage("flame", "--%s takes no argument", known[i].name);
	if (known[i].flag) {
		*(bool *)((char *)options + known[i].offset) = true;
		return 1;
	}
	if (!value && (!words[1] || !strcmp(words[1], "--")))
		return -message_usage("flame", "%s needs an argument", *words);
	*(char **)((char *)options + known[i].offset) = value ?: words[1];
	return value ? 1 : 2;
}

/* Is there a command, or are there words of perf's that say what to record? */
static bool words_record(char **words)
{
	struct perf_options perf;
	char **others, **word;
	size_t i, n = 0;
	char *value;

	for (word = words; *word; word++)
		;
	others = alloc_zero(word - words + 1, sizeof(*others));
	for (word = words; *word && strcmp(*word, "--"); word++) {
		for (i = 0; i < NKNOWN && !option_is(&known[i], *word, &value); i++)
			;
		if (i == NKNOWN)
			others[n++] = *word;
		else if (!known[i].flag && !value && word[1])
			word++;
	}
	perf_options_read(&perf, others);
	free(others);
	return *word || perf_options_have_target(&perf);
}

/**
 * flame_options_read() - read the command line
 * @options: filled; flame_options_free() releases it
 * @words: the words after "flame", ended by NULL
 *
 * Return: EXIT_OK, or EXIT_USAGE after saying what is wrong.
 */
int flame_options_read(struct flame_options *options, char **words)
{
	struct perf_options perf;
	bool is_input, records = words_record(words);
	int count = 0, took;

	*options = (struct flame_options){ 0 };
	while (words[count])
		count++;
	options->perf = alloc_zero(count + 1, sizeof(*options->perf));
	while (*words && strcmp(*words, "--")) {
		took = option_take(options, words, records);
		if (took < 0)
			return EXIT_USAGE;
		if (!took)
			options->perf[options->words++] = *words;
		words += took ?: 1;
	}
	perf_options_read(&perf, options->perf);
	if (perf.output)
		return message_usage("flame", "-o has to be a word of its own: perf would take it");
	is_input = !*words && (!options->words || **options->perf != '-' ||
			       !strcmp(*options->perf, "-"));
	/* Without anything to record, words of perf's are an option with a slip, and maybe a recording. */
	if (!*words && !is_input && !perf_options_have_target(&perf) && !options->help)
		return message_usage("flame", "%s is none of flame's own options; to record with perf's: "
				     "-p PID, -a, or a command after --; to read a recording: "
				     "beectl flame [OPTIONS] FILE", *options->perf);
	if (is_input && options->words > 1)
		return message_usage("flame", "one recording at a time; a command goes after --");
	if (is_input)
		options->input = options->words ? *options->perf : "perf.data";
	if (options->enrich && (*words || options->words))
		return message_usage("flame", "--enrich FILE: takes no command, and no other file");
	options->input = options->enrich ?: options->input;
	while (*words)
		options->perf[options->words++] = *words++;
	return EXIT_OK;
}

void flame_options_free(struct flame_options *options)
{
	free(options->perf);
}
