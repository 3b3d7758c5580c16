// SPDX-License-Identifier: GPL-2.0
/* The ELF files that the words of a command line stand for.  Owns fts(3). */
#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "elf.h"
#include "inputs.h"
#include "io.h"

/**
 * input_file_refuse() - say why nothing can be done with a file
 * @file: the file; a reason that it has already stays
 * @format: a sentence
 */
void input_file_refuse(struct input_file *file, const char *format, ...)
{
	char why[PATH_MAX + 256];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	if (!file->why)
		file->why = alloc_text(why);
}

/* @st: NULL if the file cannot be examined; @error is why */
static void files_append(struct input_files *files, const char *path, bool found,
			 const struct stat *st, int error)
{
	struct input_file *file;

	files->file = alloc_room(files->file, files->count, &files->room, sizeof(*files->file));
	file = &files->file[files->count++];
	*file = (struct input_file){ .path = alloc_text(path), .found = found };
	if (st) {
		file->dev = st->st_dev;
		file->inode = st->st_ino;
	} else {
		input_file_refuse(file, "%s", strerror(error));
	}
}

/*
 * Open a file that was listed.  Whoever may write to its directory can have put another in its place, or
 * in that of a directory above, a device for instance: opening those has effects.
 *
 * Return: its descriptor, or -1 and errno; ESTALE: there is another file by now.
 */
static int file_open(const char *path, uint64_t dev, uint64_t inode)
{
	int fd = io_open_regular(path);
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && st.st_dev == dev && st.st_ino == inode)
		return fd;
	if (fd >= 0) {
		close(fd);
		errno = ESTALE;
	}
	return -1;
}

/**
 * input_file_open() - open a file for reading
 * @file: the file; why is NULL
 * @error: filled on failure, also if its name leads to another file by now, or it is no regular one
 *
 * Return: a descriptor for the caller to close, or -1.
 */
int input_file_open(const struct input_file *file, struct bee_error *error)
{
	int fd = file_open(file->path, file->dev, file->inode);

	if (fd >= 0)
		return fd;
	return error_set(error, errno, "cannot open: %s", errno == ENXIO ? "not a regular file" :
			 errno == ESTALE ? "another file has its name by now" : strerror(errno));
}

static int files_compare_names(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static void files_walk(struct input_files *files, const char *directory)
{
	char *roots[] = { (char *)directory, NULL };
	int options = FTS_COMFOLLOW | FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV;
	FTS *walk = fts_open(roots, options, files_compare_names);
	FTSENT *entry;
	int fd;

	if (!walk) {
		files_append(files, directory, false, NULL, errno);
		return;
	}
	while ((entry = fts_read(walk)))
		switch (entry->fts_info) {
		case FTS_F:
			fd = file_open(entry->fts_path, entry->fts_statp->st_dev,
				       entry->fts_statp->st_ino);
			/* A file may have gone, or become another, since it was listed. */
			if (fd < 0 && errno != ENOENT && errno != ESTALE && errno != ENXIO &&
			    errno != ELOOP)
				files_append(files, entry->fts_path, true, NULL, errno);
			if (fd < 0)
				break;
			if (elf_is_candidate(fd))
				files_append(files, entry->fts_path, true, entry->fts_statp, 0);
			close(fd);
			break;
		case FTS_DNR:
		case FTS_ERR:
			files_append(files, entry->fts_path, entry->fts_level > 0, NULL,
				     entry->fts_errno);
			break;
		}
	fts_close(walk);
}

/**
 * input_files_add() - add what a word stands for
 * @files: the list; input_files_finish() has to follow the last word
 * @word: a file, of any kind; or a directory: all x86-64 executables and shared objects
 *	below it, on its file system, symbolic links left out
 *
 * A file or directory that cannot be read is in the list too, with the reason.
 */
void input_files_add(struct input_files *files, const char *word)
{
	struct stat st;

	if (stat(word, &st))
		files_append(files, word, false, NULL, errno);
	else if (S_ISDIR(st.st_mode))
		files_walk(files, word);
	else
		files_append(files, word, false, &st, 0);
}

/* By inode; a file that was named itself before one found below a directory, then by place. */
static int files_compare_inodes(const void *a, const void *b)
{
	const struct input_file *x = *(struct input_file **)a, *y = *(struct input_file **)b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	if (x->inode != y->inode)
		return x->inode < y->inode ? -1 : 1;
	if (x->found != y->found)
		return x->found ? 1 : -1;
	return x < y ? -1 : x > y;
}

static void files_release(struct input_file *file)
{
	free(file->path);
	free(file->why);
	file->path = NULL;
}

/** input_files_finish() - leave each inode in the list only once: hard and symbolic links go */
void input_files_finish(struct input_files *files)
{
	struct input_file **by_inode;
	size_t i, n = 0;

	if (!files->count)
		return;
	by_inode = alloc_array(NULL, files->count, sizeof(*by_inode));
	for (i = 0; i < files->count; i++)
		if (!files->file[i].why)
			by_inode[n++] = &files->file[i];
	qsort(by_inode, n, sizeof(*by_inode), files_compare_inodes);
	for (i = n; i-- > 1;)
		if (by_inode[i]->dev == by_inode[i - 1]->dev &&
		    by_inode[i]->inode == by_inode[i - 1]->inode)
			files_release(by_inode[i]);
	free(by_inode);
	for (i = n = 0; i < files->count; i++)
		if (files->file[i].path)
			files->file[n++] = files->file[i];
	files->count = n;
}

/** input_files_collect() - add what all of @words stands for, up to a NULL, and finish the list */
void input_files_collect(struct input_files *files, char **words)
{
	for (; *words; words++)
		input_files_add(files, *words);
	input_files_finish(files);
}

/** input_files_free() - release the memory of a list, which is empty afterwards */
void input_files_free(struct input_files *files)
{
	size_t i;

	for (i = 0; i < files->count; i++)
		files_release(&files->file[i]);
	free(files->file);
	*files = (struct input_files){ 0 };
}
