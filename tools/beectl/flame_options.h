/* SPDX-License-Identifier: GPL-2.0 */
/* The command line of beectl flame: its own options among those of perf record. */
#ifndef FLAME_OPTIONS_H
#define FLAME_OPTIONS_H

#include <stdbool.h>

/**
 * struct flame_options - what is asked for
 * @output: file to write, or "-"; NULL: print a summary
 * @format: name of the format, or NULL
 * @show: name of the event to show, or NULL
 * @split: "comm", "pid" or "tid", or NULL
 * @symfs: directory with the files, or NULL
 * @kallsyms: file with the kernel's symbols, or NULL
 * @jobs: files at a time, or NULL
 * @checkpoint: seconds between outputs while perf records, or NULL
 * @inlines: inlined calls too
 * @lines: with source file and line
 * @java_names: as of struct recording
 * @samples: each sample counts one, whatever its period
 * @json: the summary as JSON
 * @raw: keep addresses, as --format raw
 * @diff: what to compare with, or NULL
 * @enrich: what --raw has written, to be read, or NULL
 * @time: part of the recording, "A,B" in seconds, or NULL
 * @comm: names of threads that count, or NULL
 * @tid: numbers of threads that count, or NULL
 * @cpu: numbers of CPUs that count, or NULL
 * @reverse: from the innermost function on
 * @around: name of the function whose callers and callees are asked for, or NULL
 * @help: show the help
 * @input: recording to read; NULL: record
 * @words: number of words in @perf
 * @perf: for perf, and CMD after "--"; ended by NULL
 */
struct flame_options {
	const char	*output;
	const char	*format;
	bool		 inlines;
	bool		 lines;
	bool		 java_names;
	bool		 samples;
	bool		 json;
	bool		 raw;
	bool		 reverse;
	bool		 help;
	const char	*show;
	const char	*split;
	const char	*symfs;
	const char	*kallsyms;
	const char	*jobs;
	const char	*checkpoint;
	const char	*diff;
	const char	*enrich;
	const char	*time;
	const char	*comm;
	const char	*tid;
	const char	*cpu;
	const char	*around;
	const char	*input;
	int		 words;
	char		**perf;
};

int flame_options_read(struct flame_options *options, char **words);
void flame_options_free(struct flame_options *options);

#endif /* FLAME_OPTIONS_H */
