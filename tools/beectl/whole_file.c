// SPDX-License-Identifier: GPL-2.0
/* Write a file so that its readers see the old content or all of the new one. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "alloc.h"
#include "text.h"
#include "whole_file.h"

#define WHOLE_FILE_MAX_LINKS	40	/* as the kernel */

/**
 * struct whole_file - a file that is being written
 * @dir: the directory that it is in, opened once: what names lead to can change meanwhile
 * @name: what it replaces there, or will be called
 * @old: what has this name; its mode is 0 if nothing has
 * @is_proc: @name is a link of /proc, and @old what it leads to: /dev/stdout leads there
 * @made: a name of its own beside @name
 * @named: it has that name from the start
 * @fd: open for writing, or -1
 */
struct whole_file {
	int		 dir;
	char		*name;
	struct stat	 old;
	bool		 is_proc;
	char		*made;
	bool		 named;
	int		 fd;
};

/* Why a file cannot be written: @why, or NULL for errno.  Return: -1. */
static int whole_file_fail(struct bee_error *error, const char *why)
{
	int code = errno;

	return error_set(error, why ? EACCES : code, "%s", why ?: strerror(code));
}

/*
 * May another user have put it there, to lead root elsewhere or to be given what root writes?  The
 * kernel refuses the same to a shell's ">" (fs.protected_symlinks, _fifos and _regular).
 */
static bool stat_is_strange(const struct stat *st, const struct stat *dir)
{
	return dir->st_mode & (S_ISVTX | S_IWOTH) && st->st_uid && st->st_uid != geteuid() &&
	       st->st_uid != dir->st_uid;
}

/* Open the directory part of @path, which is relative to @file->dir, and look at its last name. */
static int whole_file_step(struct whole_file *file, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char *dir = slash ? alloc_check(strndup(path, name - path), 0) : alloc_text(".");
	int fd = openat(file->dir, dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	free(dir);
	if (fd < 0)
		return -1;
	if (file->dir >= 0)
		close(file->dir);
	file->dir = fd;
	free(file->name);
	file->name = alloc_text(*name ? name : ".");
	if (!fstatat(fd, file->name, &file->old, AT_SYMLINK_NOFOLLOW))
		return 0;
	file->old.st_mode = 0;
	return errno == ENOENT ? 0 : -1;
}

/*
 * What a link of /proc leads to may have no name, as a pipe, or none any more.  Return: 1: it has one;
 * 0; -1 and errno.
 */
static int whole_file_look_through(struct whole_file *file)
{
	struct statfs fs;

	if (fstatfs(file->dir, &fs) || fs.f_type != PROC_SUPER_MAGIC)
		return 1;
	if (fstatat(file->dir, file->name, &file->old, 0))
		return -1;
	if (S_ISREG(file->old.st_mode) && file->old.st_nlink)
		return 1;
	file->is_proc = true;
	errno = ENOENT;
	return S_ISREG(file->old.st_mode) ? -1 : 0;
}

/* Find out where @path leads, and what is there. */
static int whole_file_find(struct whole_file *file, const char *path, struct bee_error *error)
{
	char to[PATH_MAX];
	struct stat dir;
	ssize_t length;
	int links, ret;

	*file = (struct whole_file){ .dir = AT_FDCWD, .fd = -1 };
	for (links = 0; links <= WHOLE_FILE_MAX_LINKS; links++) {
		if (whole_file_step(file, path) || fstat(file->dir, &dir))
			return whole_file_fail(error, NULL);
		if (S_ISDIR(file->old.st_mode)) {
			errno = EISDIR;
			return whole_file_fail(error, NULL);
		}
		if (file->old.st_mode && stat_is_strange(&file->old, &dir))
			return whole_file_fail(error, "it is another user's, in a directory that is "
					       "open to all: remove it first");
		if (!S_ISLNK(file->old.st_mode))
			return 0;
		ret = whole_file_look_through(file);
		if (ret <= 0)
			return ret ? whole_file_fail(error, NULL) : 0;
		length = readlinkat(file->dir, file->name, to, sizeof(to) - 1);
		if (length < 0)
			return whole_file_fail(error, NULL);
		to[length] = '\0';
		path = to;
	}
	errno = ELOOP;
	return whole_file_fail(error, NULL);
}

/* Give a new file to the user who has called sudo, if this is root. */
static void whole_file_give(const struct whole_file *file)
{
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");
	unsigned int user, group;

	if (geteuid() || !uid || !gid || text_parse_number(uid, INT_MAX, &user) ||
	    text_parse_number(gid, INT_MAX, &group))
		return;
	if (fchown(file->fd, user, group))
		errno = 0;
}

/*
 * A file without a name in the directory, which goes if this process is killed; where the file system
 * cannot have it, or there is no /proc to name it by, one called @made.
 */
static int whole_file_open(struct whole_file *file, mode_t mode)
{
	if (asprintf(&file->made, "%s.%d.new", file->name, getpid()) < 0)
		alloc_check(NULL, 0);
	if (!access("/proc/self/fd", X_OK))
		file->fd = openat(file->dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
	file->named = file->fd < 0;
	if (file->named)
		file->fd = openat(file->dir, file->made, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode);
	if (file->fd < 0)
		return -1;
	if (!file->old.st_mode)
		return 0;
	/* Only root can give a file away; otherwise this process stays its owner. */
	if (fchown(file->fd, file->old.st_uid, file->old.st_gid))
		errno = 0;
	return fchmod(file->fd, file->old.st_mode & 0777);
}

/* @failed: the new file is removed. */
static void whole_file_close(struct whole_file *file, bool failed)
{
	if (file->fd >= 0 && failed)
		unlinkat(file->dir, file->made, 0);
	if (file->fd >= 0)
		close(file->fd);
	if (file->dir >= 0)
		close(file->dir);
	free(file->name);
	free(file->made);
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
		if (!linkat(AT_FDCWD, open_file, file->dir, file->name, AT_SYMLINK_FOLLOW))
			return 0;
		if (errno != EEXIST ||
		    linkat(AT_FDCWD, open_file, file->dir, file->made, AT_SYMLINK_FOLLOW))
			return -1;
	}
	return renameat(file->dir, file->made, file->dir, file->name);
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

/* Write into an output that is no regular file, and so cannot be replaced. */
static int whole_file_put_into(const struct whole_file *file,
			       void (*put)(const void *arg, FILE *out), const void *arg)
{
	int fd = openat(file->dir, file->name, O_WRONLY | O_CLOEXEC | (file->is_proc ? 0 : O_NOFOLLOW));
	struct stat now = { 0 };
	int ret = -1;

	if (fd < 0)
		return -1;
	/* Something else may have got the name since. */
	if (fstat(fd, &now) || now.st_dev != file->old.st_dev || now.st_ino != file->old.st_ino)
		errno = ESTALE;
	else
		ret = whole_file_put(fd, put, arg);
	close(fd);
	return ret;
}

/**
 * whole_file_write() - write a file, in place of what is there
 * @path: its name; a device or pipe is written to as it is
 * @mode: its permissions if it is new, which the umask limits
 * @for_caller: if it is new, and sudo has started this process, it is for the user who has called sudo
 * @put: writes the content
 * @arg: for @put
 * @error: filled on failure
 *
 * Until all is written the old file stays, also if this process is killed.  The new one has its
 * permissions, its owner if this process is root, and is where a symbolic link leads.  What another
 * user has put into a directory that is open to all is neither replaced nor followed nor written to.
 *
 * Return: 0 or -1.
 */
int whole_file_write(const char *path, mode_t mode, bool for_caller,
		     void (*put)(const void *arg, FILE *out), const void *arg,
		     struct bee_error *error)
{
	struct whole_file file;
	int ret = whole_file_find(&file, path, error);

	if (!ret && file.old.st_mode && !S_ISREG(file.old.st_mode))
		ret = whole_file_put_into(&file, put, arg) ? whole_file_fail(error, NULL) : 0;
	else if (!ret && whole_file_open(&file, mode))
		ret = whole_file_fail(error, NULL);
	else if (!ret) {
		if (for_caller && !file.old.st_mode)
			whole_file_give(&file);
		ret = whole_file_put(file.fd, put, arg) || fsync(file.fd) ||
		      whole_file_name(&file) ? whole_file_fail(error, NULL) : 0;
	}
	whole_file_close(&file, ret);
	return ret;
}

/**
 * whole_file_try() - find out beforehand whether whole_file_write() can write a file
 * @path: its name
 * @error: filled on failure
 *
 * Changes nothing, and does not open a device or pipe, as that has effects.
 *
 * Return: 0 or -1.
 */
int whole_file_try(const char *path, struct bee_error *error)
{
	struct whole_file file;
	int ret = whole_file_find(&file, path, error);

	if (!ret && file.old.st_mode && !S_ISREG(file.old.st_mode))
		ret = faccessat(file.dir, file.name, W_OK, 0) ? whole_file_fail(error, NULL) : 0;
	else if (!ret)
		ret = whole_file_open(&file, 0600) ? whole_file_fail(error, NULL) : 0;
	whole_file_close(&file, true);
	return ret;
}
