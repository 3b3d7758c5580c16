// SPDX-License-Identifier: GPL-2.0
/*
 * The directory of the cache.  Several beectl use it at once without locks: rename() makes an entry
 * appear complete, an entry that is removed while open stays readable, and each process that finds
 * the cache too large removes the least recently used entries.  Files whose names are not those of
 * entries are left alone, so that a wrong BEEUNWIND_CACHE does no harm.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "alloc.h"
#include "cache_dir.h"
#include "error.h"
#include "io.h"
#include "order.h"

#define TEMPORARY	".new-"

/* Seconds.  Writing takes milliseconds, so the writer of an older temporary file was killed. */
#define TEMPORARY_AGE	3600

/* File systems allocate disk space in units of this many bytes. */
#define BLOCK		4096

/* cache_dir_trusts(): can only root and this user have written the file or directory? */
bool cache_dir_trusts(const struct stat *st)
{
	return (!st->st_uid || st->st_uid == geteuid()) && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* cache_disk_bytes(): bytes of disk space that a table of @size bytes takes */
uint64_t cache_disk_bytes(uint64_t size)
{
	return (size + BLOCK - 1) / BLOCK * BLOCK;
}

static int open_failed(const char *path, int code, struct bee_error *error)
{
	struct stat st;

	if (!lstat(path, &st) && S_ISLNK(st.st_mode))
		return error_set(error, code, "cache %s is not used: it is a symbolic link; set "
				 CACHE_DIR_ENV " to the directory itself", path);
	return error_set(error, code, "there is no cache %s: %s; " CACHE_DIR_ENV
			 " can name another", path, strerror(code));
}

/*
 * Whether nobody else can see what is in the directory: names and paths tell which files processes of
 * all users have mapped.  The default directory is nobody else's, and may be that of an older version,
 * so it is mended; one that the user has named may be any.
 */
static bool dir_is_private(int dir, const char *path, const struct stat *st)
{
	if (!(st->st_mode & (S_IRWXG | S_IRWXO)))
		return true;
	return !strcmp(path, CACHE_DIR_DEFAULT) && st->st_uid == geteuid() && !fchmod(dir, 0700);
}

/**
 * cache_dir_open() - open the cache's directory
 * @path: of the directory
 * @make: make it, if there is none
 * @error: filled on failure
 *
 * Return: a file descriptor, or -1.
 */
int cache_dir_open(const char *path, bool make, struct bee_error *error)
{
	struct stat st;
	int dir;

	if (make && mkdir(path, 0700) && errno != EEXIST)
		return open_failed(path, errno, error);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (dir < 0)
		return open_failed(path, errno, error);
	if (!fstat(dir, &st) && cache_dir_trusts(&st) && dir_is_private(dir, path, &st))
		return dir;
	close(dir);
	return error_set(error, EPERM, "cache %s is not used: it belongs to or may be read or "
			 "written by others (wanted: owner root or you, mode 0700)", path);
}

/* Step over @least to @most hex digits and then @end.  Return: what follows, or NULL. */
static const char *name_skip_hex(const char *name, size_t least, size_t most, char end)
{
	size_t n = strspn(name, "0123456789abcdef");

	if (n < least || n > most || name[n] != end)
		return NULL;
	return name + n + (end != '\0');
}

/* Is it a name as entry_name() in cache.c makes them?  No other file has so long a name. */
static bool name_is_entry(const char *name)
{
	unsigned int numbers = 0;
	const char *rest;

	if (!strncmp(name, "sha256-", 7))
		name += 7;
	name = name_skip_hex(name, 2, 2 * BEE_TABLE_ID_MAX, '-');
	while (name && (rest = name_skip_hex(name, 1, 16, '-'))) {
		name = rest;
		numbers++;
	}
	/* Entries of older versions of beectl have three numbers. */
	return name && (numbers == 3 || numbers == CACHE_NAME_NUMBERS) &&
	       name_skip_hex(name, 2 * CACHE_GENERATION_SIZE, 2 * CACHE_GENERATION_SIZE, '\0');
}

/* A directory stream with an offset of its own, unlike a dup() of @dir. */
static DIR *dir_stream(int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);

	if (!stream && fd >= 0)
		close(fd);
	return stream;
}

static int compare_used(const void *a, const void *b)
{
	const struct cache_dir_file *x = a, *y = b;

	return order(x->used.tv_sec, y->used.tv_sec) ?: order(x->used.tv_nsec, y->used.tv_nsec) ?:
	       strcmp(x->name, y->name);
}

/**
 * cache_dir_list() - the entries
 * @dir: the open directory
 * @list: filled, the least recently used entry first; cache_dir_list_free() releases it, also
 *	after a failure
 *
 * Return: 0, or -1 and errno.
 */
int cache_dir_list(int dir, struct cache_dir_list *list)
{
	DIR *stream = dir_stream(dir);
	struct dirent *at;
	struct stat st;

	*list = (struct cache_dir_list){};
	if (!stream)
		return -1;
	while ((at = readdir(stream))) {
		struct cache_dir_file *file;

		if (!name_is_entry(at->d_name) ||
		    fstatat(dir, at->d_name, &st, AT_SYMLINK_NOFOLLOW) || S_ISDIR(st.st_mode))
			continue;
		list->file = alloc_room(list->file, list->count, &list->room, sizeof(*list->file));
		file = &list->file[list->count++];
		snprintf(file->name, sizeof(file->name), "%s", at->d_name);
		file->bytes = cache_disk_bytes(st.st_size);
		file->used = st.st_mtim;
		list->bytes += file->bytes;
	}
	closedir(stream);
	if (list->count)
		qsort(list->file, list->count, sizeof(*list->file), compare_used);
	return 0;
}

void cache_dir_list_free(struct cache_dir_list *list)
{
	free(list->file);
	*list = (struct cache_dir_list){ 0 };
}

/* Remove temporary files that are at least @age seconds old. */
static void temporaries_remove(int dir, time_t age)
{
	DIR *stream = dir_stream(dir);
	struct dirent *at;
	struct stat st;

	while (stream && (at = readdir(stream)))
		if (!strncmp(at->d_name, TEMPORARY, strlen(TEMPORARY)) &&
		    name_skip_hex(at->d_name + strlen(TEMPORARY), 16, 16, '\0') &&
		    !fstatat(dir, at->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		    st.st_mtime + age <= time(NULL))
			unlinkat(dir, at->d_name, 0);
	if (stream)
		closedir(stream);
}

/**
 * cache_dir_write() - make an entry, or replace it
 * @dir: the open directory
 * @name: of the entry
 * @path: of the ELF file, for people; kept if the file system has extended attributes
 * @blob: its content
 * @size: bytes of @blob
 *
 * There is no fsync(): every reader checks an entry, and replaces one that a crash left incomplete.
 *
 * Return: a file descriptor to read it from, or -1 and errno.
 */
int cache_dir_write(int dir, const char *name, const char *path, const void *blob, size_t size)
{
	char temporary[32];
	uint64_t number;
	int fd, saved;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return -1;
	snprintf(temporary, sizeof(temporary), TEMPORARY "%016llx", (unsigned long long)number);
	fd = openat(dir, temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -1;
	fsetxattr(fd, CACHE_PATH_XATTR, path, strlen(path), 0);
	if (!fchmod(fd, 0600) && !io_write_all(fd, blob, size) &&
	    !renameat(dir, temporary, dir, name))
		return fd;
	saved = errno;
	unlinkat(dir, temporary, 0);
	close(fd);
	errno = saved;
	return -1;
}

/* Remove an entry, unless it was used or replaced after it was listed.  Return: is it gone? */
static bool file_remove(int dir, const struct cache_dir_file *file)
{
	struct stat st;

	if (fstatat(dir, file->name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT;
	if (st.st_mtim.tv_sec != file->used.tv_sec || st.st_mtim.tv_nsec != file->used.tv_nsec)
		return false;
	return !unlinkat(dir, file->name, 0) || errno == ENOENT;
}

/**
 * cache_dir_trim() - keep the entries within a limit
 * @dir: the open directory
 * @limit: bytes of disk space
 *
 * If the entries take more, the least recently used are removed until the rest takes 7/8 of
 * @limit, so that the next entries fit without another trim.
 *
 * Return: bytes that the rest takes.
 */
uint64_t cache_dir_trim(int dir, uint64_t limit)
{
	uint64_t target = limit - limit / 8;
	struct cache_dir_list list;
	uint64_t left;
	size_t i;

	temporaries_remove(dir, TEMPORARY_AGE);
	cache_dir_list(dir, &list);
	left = list.bytes;
	if (left > limit)
		for (i = 0; i < list.count && left > target; i++)
			if (file_remove(dir, &list.file[i]))
				left -= list.file[i].bytes;
	cache_dir_list_free(&list);
	return left;
}

/**
 * cache_dir_clear() - remove all entries
 * @dir: the open directory
 * @count: filled: how many there were
 * @bytes: filled: bytes of disk space that they took
 *
 * Return: 0, or -1 and errno.
 */
int cache_dir_clear(int dir, size_t *count, uint64_t *bytes)
{
	struct cache_dir_list list;
	int ret = cache_dir_list(dir, &list);
	size_t i;

	*count = 0;
	*bytes = 0;
	for (i = 0; !ret && i < list.count; i++) {
		ret = unlinkat(dir, list.file[i].name, 0);
		if (ret && errno == ENOENT) {
			ret = 0;
		} else if (!ret) {
			++*count;
			*bytes += list.file[i].bytes;
		}
	}
	cache_dir_list_free(&list);
	temporaries_remove(dir, 0);
	return ret;
}
