/* SPDX-License-Identifier: GPL-2.0 */
/* The ELF files that the words of a command line stand for. */
#ifndef INPUTS_H
#define INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

/**
 * struct input_file - one file, not opened
 * @path: as given, or below the directory that was given
 * @why: why it must not be opened, malloc'ed; NULL: it may be
 * @found: it was found below a directory; false: it was named itself
 * @dev: device that @inode is on; 0 if @why is set
 * @inode: its inode number
 */
struct input_file {
	char		*path;
	char		*why;
	bool		 found;
	uint64_t	 dev;
	uint64_t	 inode;
};

/**
 * struct input_files - files in the order of the words, below a directory by name
 * @file: the array; no inode is in it twice
 * @count: files in it
 * @room: files it has memory for
 *
 * All zero is an empty list.
 */
struct input_files {
	struct input_file	*file;
	size_t			 count;
	size_t			 room;
};

void input_file_refuse(struct input_file *file, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int input_file_open(const struct input_file *file, struct bee_error *error);
void input_files_add(struct input_files *files, const char *word);
void input_files_finish(struct input_files *files);
void input_files_collect(struct input_files *files, char **words);
void input_files_free(struct input_files *files);

#endif /* INPUTS_H */
