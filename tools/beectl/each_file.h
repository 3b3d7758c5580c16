/* SPDX-License-Identifier: GPL-2.0 */
/* Work on many ELF files in parallel, each in a child process, with a report for each. */
#ifndef EACH_FILE_H
#define EACH_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "error.h"
#include "inputs.h"

/* Why a file has failed whose child wrote less than its report. */
#define EACH_FILE_NO_RESULT	"its process ended without a result; please report it"

/**
 * struct each_file - what to do with files
 * @command: which command does it, for messages
 * @files: the files
 * @jobs: files at a time; 0: as many as there are CPUs to run on
 * @report_size: bytes that @work writes; 0: they vary
 * @arg: for the functions below
 * @work: in a child, handles @file, which is open as @fd, and writes its report to @out;
 *	returns 0, or -1 with the error filled
 * @done: takes the report of @work; called in the order of the files
 * @failed: called instead if there is no report; @why: a sentence; @died: the child crashed or
 *	was killed
 */
struct each_file {
	const char		*command;
	const struct input_files *files;
	unsigned int		 jobs;
	size_t			 report_size;
	void			*arg;
	int			(*work)(void *arg, const struct input_file *file, int fd, FILE *out,
					struct bee_error *error);
	void			(*done)(void *arg, const struct input_file *file,
					const void *report, size_t size);
	void			(*failed)(void *arg, const struct input_file *file, const char *why,
					  bool died);
};

int each_file_run(const struct each_file *each);
int each_file_status(const struct input_file *file, bool died);

#endif /* EACH_FILE_H */
