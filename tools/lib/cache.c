// SPDX-License-Identifier: GPL-2.0
/*
 * Compiled tables on disk.  An entry is written under another name and renamed,
 * and is checked as a whole each time it is read: what does not pass, or belongs
 * to another file, is as good as absent and gets replaced.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <asm/byteorder.h>

#include "cache.h"
#include "io.h"

/**
 * struct cache - the directory
 * @dir: the open directory, or -1: no cache, tables live in memfds
 */
struct cache {
	int dir;
};

/* "sha256-", the id, inode and ctime in hex. */
#define ENTRY_NAME_MAX	(7 + 2 * BEE_TABLE_ID_MAX + 2 * 17 + 1)

static void entry_name(const struct file_identity *identity, char name[ENTRY_NAME_MAX])
{
	size_t i;

	name += sprintf(name, "%s", identity->type == BEE_ID_SHA256 ? "sha256-" : "");
	for (i = 0; i < identity->len; i++)
		name += sprintf(name, "%02x", identity->id[i]);
	sprintf(name, "-%llx-%llx", (unsigned long long)identity->inode,
		(unsigned long long)identity->ctime);
}

static bool owner_is_trusted(const struct stat *st)
{
	return (!st->st_uid || st->st_uid == geteuid()) && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

static int dir_open(const char *path, char *why, size_t size)
{
	struct stat st;
	int dir;

	if (mkdir(path, 0755) && errno != EEXIST)
		return -1;
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -1;
	if (!fstat(dir, &st) && owner_is_trusted(&st))
		return dir;
	snprintf(why, size,
		 "cache %s is not used: it belongs to or may be written by others (wanted: "
		 "owner root or you, mode 0755)", path);
	close(dir);
	return -1;
}

/**
 * cache_open() - the cache of this system or, by BEEUNWIND_CACHE, another
 * @why: a sentence if the directory is there but cannot be trusted, else ""
 * @size: bytes of @why
 *
 * A directory that cannot be made or opened is no error: there is no cache then.
 *
 * Return: for the other calls and cache_close(); NULL without memory.
 */
struct cache *cache_open(char *why, size_t size)
{
	const char *path = getenv(CACHE_DIR_ENV);
	struct cache *cache = malloc(sizeof(*cache));

	why[0] = '\0';
	if (cache)
		cache->dir = dir_open(path && *path ? path : CACHE_DIR_DEFAULT, why, size);
	return cache;
}

void cache_close(struct cache *cache)
{
	if (cache && cache->dir >= 0)
		close(cache->dir);
	free(cache);
}

static void *blob_read(int fd, size_t *size)
{
	struct stat st;
	size_t at = 0;
	char *blob;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !owner_is_trusted(&st) ||
	    st.st_size <= 0 || st.st_size > BEE_TABLE_MAX_SIZE)
		return NULL;
	blob = malloc(st.st_size);
	while (blob && at < (size_t)st.st_size) {
		ssize_t got = pread(fd, blob + at, st.st_size - at, at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			free(blob);
			return NULL;
		}
		at += got;
	}
	*size = at;
	return blob;
}

static bool table_is_of(const struct bee_table *table, const struct file_identity *identity)
{
	const struct bee_table_header *h = table->header;

	return h->id_type == identity->type && h->id_len == identity->len &&
	       !memcmp(h->id, identity->id, identity->len) &&
	       le64_to_cpu(h->file_size) == identity->size;
}

/**
 * cache_lookup() - the table of a file, if there is a good one
 * @cache: the cache
 * @identity: of the ELF file
 * @file: filled; table_file_close() releases it
 *
 * Return: false if there is none, or it is damaged or that of another file.
 */
bool cache_lookup(struct cache *cache, const struct file_identity *identity,
		  struct table_file *file)
{
	char name[ENTRY_NAME_MAX];
	struct bee_table_error error;
	size_t size = 0;

	*file = (struct table_file){ .fd = -1 };
	if (cache->dir < 0)
		return false;
	entry_name(identity, name);
	file->fd = openat(cache->dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (file->fd < 0)
		return false;
	file->blob = blob_read(file->fd, &size);
	if (file->blob && !bee_table_validate(file->blob, size, &file->table, &error) &&
	    table_is_of(&file->table, identity))
		return true;
	table_file_close(file);
	return false;
}

/* A complete entry under its final name, open for reading, or -1. */
static int entry_write(int dir, const char *name, const void *blob, size_t size)
{
	char temporary[32];
	int fd;

	snprintf(temporary, sizeof(temporary), ".new-%d", getpid());
	unlinkat(dir, temporary, 0);
	fd = openat(dir, temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return -1;
	if (!fchmod(fd, 0644) && !io_write_all(fd, blob, size) &&
	    !renameat(dir, temporary, dir, name))
		return fd;
	unlinkat(dir, temporary, 0);
	close(fd);
	return -1;
}

static int memfd_write(const void *blob, size_t size)
{
	int fd = memfd_create("beeunwind-table", MFD_CLOEXEC);

	if (fd < 0 || !io_write_all(fd, blob, size))
		return fd;
	close(fd);
	return -1;
}

/**
 * cache_store() - keep a new table
 * @cache: the cache
 * @identity: of the ELF file, taken before it was compiled
 * @blob: the table, malloc'ed; @file owns it from now on, or it is freed
 * @size: bytes of @blob
 * @file: filled: the entry in the cache or, where that cannot be written, a memfd
 * @why: on failure a sentence
 * @why_size: bytes of @why
 *
 * Return: 0 or -1.
 */
int cache_store(struct cache *cache, const struct file_identity *identity, void *blob,
		size_t size, struct table_file *file, char *why, size_t why_size)
{
	struct bee_table_error error;
	char name[ENTRY_NAME_MAX];

	*file = (struct table_file){ .fd = -1, .blob = blob };
	if (bee_table_validate(blob, size, &file->table, &error)) {
		snprintf(why, why_size, "the new table is bad: %s", error.why);
		table_file_close(file);
		return -1;
	}
	entry_name(identity, name);
	if (cache->dir >= 0)
		file->fd = entry_write(cache->dir, name, blob, size);
	if (file->fd < 0)
		file->fd = memfd_write(blob, size);
	if (file->fd >= 0)
		return 0;
	snprintf(why, why_size, "no place for its table: %s", strerror(errno));
	table_file_close(file);
	return -1;
}

void table_file_close(struct table_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	free(file->blob);
	*file = (struct table_file){ .fd = -1 };
}
