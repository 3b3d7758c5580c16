/* SPDX-License-Identifier: GPL-2.0 */
/* What the options of perf record ask for, as far as beectl record has to know. */
#ifndef PERF_OPTIONS_H
#define PERF_OPTIONS_H

#include <stdbool.h>

/**
 * struct perf_options - what perf record is asked for
 * @tasks: the list of processes or threads of -p or -t; NULL without
 * @all: more processes than those: -a, -C, -u or -G
 * @callchain: the user chose how callchains are made: -g or --call-graph
 * @other: --call-graph with another way than frame pointers, of which the module knows nothing
 * @delayed: -D or --control: when perf's events are enabled is the user's business
 * @quiet: -q
 * @verbose: -v
 * @help: -h
 * @output: file of -o, NULL without
 * @command: the word after "--", NULL without "--"
 */
struct perf_options {
	const char	*tasks;
	bool		 all;
	bool		 callchain;
	bool		 other;
	bool		 delayed;
	bool		 quiet;
	bool		 verbose;
	bool		 help;
	const char	*output;
	char		**command;
};

/* Is perf told what to record?  Then it starts the command, if there is one; otherwise beectl does. */
static inline bool perf_options_have_target(const struct perf_options *options)
{
	return options->all || options->tasks;
}

void perf_options_read(struct perf_options *options, char **words);

#endif /* PERF_OPTIONS_H */
