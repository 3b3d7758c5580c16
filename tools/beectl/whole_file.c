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

/**
 * struct whole_file - a file that is being written
 * @path: what it replaces or will be called: no symbolic link, but for one that leads nowhere
 * @made: a name of its own beside that
 * @named: it has that name from the start
 * @fd: open for writing, or -1
 */
struct whole_file {
	char	*path;
	char	*made;
	bool	 named;
	int	 fd;
};

/* What is there; its mode is 0 if nothing is. */
static struct stat whole_file_stat(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		st.st_mode = 0;
	return st;
}

/*
 * A file without a name in the directory of @path, which goes if this process is killed; where the
 * file system cannot have it, or there is no /proc to name it by, one called @made.  @old: the
 * regular file @path, if it is there.
 */
static int whole_file_open(struct whole_file *file, const char *path, const struct stat *old)
{
	char *copy;

	*file = (struct whole_file){ .fd = -1 };
	file->path = old->st_mode ? realpath(path, NULL) : alloc_text(path);
	if (!file->path)
		return -1;
	if (asprintf(&file->made, "%s.%d.new", file->path, getpid()) < 0)
		alloc_check(NULL, 0);
	copy = alloc_text(file->path);
	if (!access("/proc/self/fd", X_OK))
		file->fd = open(dirname(copy), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
	free(copy);
	file->named = file->fd < 0;
	if (file->named)
		file->fd = open(file->made, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
	if (file->fd < 0)
		return -1;
	if (!old->st_mode)
		return 0;
	/* Who may not give it away keeps it. */
	if (fchown(file->fd, old->st_uid, old->st_gid))
		errno = 0;
	return fchmod(file->fd, old->st_mode & 0777);
}

/* Leaves errno as it is.  @failed: nothing is to be left of it. */
static void whole_file_close(struct whole_file *file, bool failed)
{
	int why = errno;

	if (file->fd >= 0 && failed)
		unlink(file->made);
	if (file->fd >= 0)
		close(file->fd);
	free(file->path);
	free(file->made);
	errno = why;
}

/*
 * rename() replaces a file in one step, linkat() cannot: so if the path is there the new file gets
 * a name of its own first, and is left there if this process is killed just then.
 */
static int whole_file_name(const struct whole_file *file)
{
	char open_file[64];

	snprintf(open_file, sizeof(open_file), "/proc/self/fd/%d", file->fd);
	if (!file->named) {
		if (!linkat(AT_FDCWD, open_file, AT_FDCWD, file->path, AT_SYMLINK_FOLLOW))
			return 0;
		if (errno != EEXIST ||
		    linkat(AT_FDCWD, open_file, AT_FDCWD, file->made, AT_SYMLINK_FOLLOW))
			return -1;
	}
	return rename(file->made, file->path);
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

/* What is no regular file is written to as it is. */
static int whole_file_put_into(const char *path, void (*put)(const void *arg, FILE *out),
			       const void *arg)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -1;
	ret = whole_file_put(fd, put, arg);
	close(fd);
	return ret;
}

/**
 * whole_file_write() - write a file, in place of what is there
 * @path: its name; a device or pipe is written to as it is
 * @put: writes the content
 * @arg: for @put
 *
 * Until all is written the old file stays, also if this process is killed.  The new one has its
 * permissions, its owner if this process is root, and is where a symbolic link leads.
 *
 * Return: 0, or -1 and errno.
 */
int whole_file_write(const char *path, void (*put)(const void *arg, FILE *out), const void *arg)
{
	struct stat old = whole_file_stat(path);
	struct whole_file file;
	int ret;

	if (old.st_mode && !S_ISREG(old.st_mode))
		return whole_file_put_into(path, put, arg);
	ret = whole_file_open(&file, path, &old) || whole_file_put(file.fd, put, arg) ||
	      fsync(file.fd) || whole_file_name(&file) ? -1 : 0;
	whole_file_close(&file, ret);
	return ret;
}

/**
 * whole_file_try() - find out beforehand whether whole_file_write() can write a file
 * @path: its name
 *
 * Changes nothing, and does not open a device or pipe, as that has effects.
 *
 * Return: 0, or -1 and errno.
 */
int whole_file_try(const char *path)
{
	struct stat old = whole_file_stat(path);
	struct whole_file file;
	int ret;

	if (old.st_mode && !S_ISREG(old.st_mode)) {
		errno = EISDIR;
		return S_ISDIR(old.st_mode) ? -1 : access(path, W_OK);
	}
	ret = whole_file_open(&file, path, &old);
	whole_file_close(&file, true);
	return ret;
}
