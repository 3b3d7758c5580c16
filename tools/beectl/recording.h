/* SPDX-License-Identifier: GPL-2.0 */
/* perf record with the tables of what it records: for beectl record and beectl flame. */
#ifndef RECORDING_H
#define RECORDING_H

#include <stdbool.h>
#include <stdio.h>

/**
 * struct recording_end - how a recording has ended, of interest to the process that reads it
 * @failed: perf has failed, or a signal has killed it that was not to end the recording, unless perf has started
 *	CMD, as it ends as CMD does then
 * @no_command: there is no CMD, or it cannot be executed: nothing of it was recorded
 */
struct recording_end {
	bool	failed;
	bool	no_command;
};

/**
 * struct recording - what to record, and for whom
 * @command: which command does it, for messages
 * @count: words for perf
 * @words: the words, CMD after "--", ended by NULL
 * @output: descriptor that is perf's standard output; -1: that of beectl
 * @java_names: have Java virtual machines that are recorded write the names of their code at the end
 * @without_module: go on with a warning if the module cannot be used
 * @end: filled, or NULL
 * @stops: takes a line on how walks ended; NULL: nobody wants it
 */
struct recording {
	const char	*command;
	int		 count;
	char		**words;
	int		 output;
	bool		 java_names;
	bool		 without_module;
	struct recording_end *end;
	FILE		*stops;
};

int recording_run(const struct recording *recording);

#endif /* RECORDING_H */
