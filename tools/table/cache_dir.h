/* SPDX-License-Identifier: GPL-2.0 */
/* The directory of the cache: which of its files are entries, and the disk space they take. */
#ifndef BEE_CACHE_DIR_H
#define BEE_CACHE_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "error.h"
#include "kmod/table.h"

#define CACHE_DIR_DEFAULT	"/var/cache/beeunwind"
#define CACHE_DIR_ENV		"BEEUNWIND_CACHE"

/* Where an entry keeps the path of its ELF file, for people. */
#define CACHE_PATH_XATTR	"user.beeunwind.path"

/* Bytes of a generation: the start of the build-id or digest of the beectl that made a table. */
#define CACHE_GENERATION_SIZE	8

/* "sha256-", id; type and number of the file system, inode, birth, mtime; generation.  In hex. */
#define CACHE_NAME_NUMBERS	5
#define CACHE_NAME_MAX	(7 + 2 * BEE_TABLE_ID_MAX + CACHE_NAME_NUMBERS * 17 + 1 + \
			 2 * CACHE_GENERATION_SIZE + 1)

/**
 * struct cache_dir_file - a file of the cache
 * @name: in the directory
 * @bytes: of disk space that it takes
 * @used: when it was last read or written: its mtime
 */
struct cache_dir_file {
	char		name[CACHE_NAME_MAX];
	uint64_t	bytes;
	struct timespec	used;
};

/* struct cache_dir_list: entries, the one used longest ago first, and their sum */
struct cache_dir_list {
	struct cache_dir_file	*file;
	size_t			 count;
	size_t			 room;
	uint64_t		 bytes;
};

int cache_dir_open(const char *path, bool make, struct bee_error *error);
bool cache_dir_trusts(const struct stat *st);
int cache_dir_list(int dir, struct cache_dir_list *list);
uint64_t cache_disk_bytes(uint64_t size);
void cache_dir_list_free(struct cache_dir_list *list);
int cache_dir_write(int dir, const char *name, const char *path, const void *blob, size_t size);
uint64_t cache_dir_trim(int dir, uint64_t limit);
int cache_dir_clear(int dir, size_t *count, uint64_t *bytes);

#endif /* BEE_CACHE_DIR_H */
