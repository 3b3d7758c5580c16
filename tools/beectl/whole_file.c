// SPDX-License-Identifier: GPL-2.0
/* Files that are there as a whole or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "whole_file.h"

/*
 * A file without a name in the directory of @path, which goes if this process is killed; where the
 * file system cannot have it, one called @made.
 */
static int whole_file_open(const char *path, const char *made, bool *named)
{
	char *copy = alloc_text(path);
	int fd = open(dirname(copy), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);

	free(copy);
	*named = fd < 0;
	return fd >= 0 ? fd : open(made, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666);
}

/*
 * rename() replaces a file in one step, linkat() cannot: so if @path is there the new file gets a
 * name of its own first, @made, and is left there if this process is killed just then.
 */
static int whole_file_name(int fd, const char *path, const char *made, bool named)
{
	char open_file[64];

	snprintf(open_file, sizeof(open_file), "/proc/self/fd/%d", fd);
	if (!named) {
		if (!linkat(AT_FDCWD, open_file, AT_FDCWD, path, AT_SYMLINK_FOLLOW))
			return 0;
		if (errno != EEXIST ||
		    linkat(AT_FDCWD, open_file, AT_FDCWD, made, AT_SYMLINK_FOLLOW))
			return -1;
	}
	return rename(made, path);
}

static int whole_file_put(int fd, void (*put)(const void *arg, FILE *out), const void *arg)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	FILE *out = copy < 0 ? NULL : fdopen(copy, "w");
	bool failed;

	if (!out)
		return -1;
	put(arg, out);
	failed = ferror(out);
	return fclose(out) || failed ? -1 : 0;
}

/**
 * whole_file_write() - write a file, in place of what is there
 * @path: its name; a device or pipe is written to as it is
 * @put: writes the content
 * @arg: for @put
 *
 * Until all is written the old file stays, also if this process is killed.
 *
 * Return: 0, or -1 and errno.
 */
int whole_file_write(const char *path, void (*put)(const void *arg, FILE *out), const void *arg)
{
	char *made = NULL;
	struct stat st;
	bool named;
	int fd, ret;

	if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
		fd = open(path, O_WRONLY | O_CLOEXEC);
		if (fd < 0)
			return -1;
		ret = whole_file_put(fd, put, arg);
		close(fd);
		return ret;
	}
	if (asprintf(&made, "%s.%d.new", path, getpid()) < 0)
		alloc_check(NULL, 0);
	fd = whole_file_open(path, made, &named);
	ret = fd < 0 ? -1 : whole_file_put(fd, put, arg) ?: whole_file_name(fd, path, made, named);
	if (ret && fd >= 0) {
		int why = errno;

		unlink(made);
		errno = why;
	}
	if (fd >= 0)
		close(fd);
	free(made);
	return ret;
}
