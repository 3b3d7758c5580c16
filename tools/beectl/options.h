/* SPDX-License-Identifier: GPL-2.0 */
/* The options of a command, as a table. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>

#define OPTIONS_MAX	10

/* options_parse(): the command line is right; no exit status has this value. */
#define OPTIONS_OK	(-1)

/**
 * enum option_kind - what an option takes, and what it fills
 * @OPTION_FLAG: nothing; a bool, with true
 * @OPTION_TEXT: any word; a const char *
 * @OPTION_JOBS: files at a time, 1 to PARALLEL_MAX_JOBS; an unsigned int
 * @OPTION_THIN: percent of the rows to leave out, 1 to LOSSY_MAX_THIN; an unsigned int
 */
enum option_kind {
	OPTION_FLAG,
	OPTION_TEXT,
	OPTION_JOBS,
	OPTION_THIN,
};

/**
 * struct options - the options of a command; --help, which all have, is not listed
 * @command: its name
 * @help: text of --help
 * @stop: the first word that is no option ends the options
 * @option: the options; one without @name ends the list
 */
struct options {
	const char	*command;
	const char	*help;
	bool		 stop;
	struct {
		char			 letter;	/* 0: it has no short form */
		const char		*name;
		enum option_kind	 kind;
		void			*value;
	}		 option[OPTIONS_MAX + 1];
};

int options_parse(const struct options *options, int argc, char ***argv);
int options_check_pids(const char *command, char **words);

#endif /* OPTIONS_H */
