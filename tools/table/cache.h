/* SPDX-License-Identifier: GPL-2.0 */
/* Compiled tables on disk, one file each, named after the identity of the ELF file. */
#ifndef BEE_CACHE_H
#define BEE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "cache_dir.h"
#include "error.h"
#include "identity.h"
#include "kmod/table.h"

#define CACHE_LIMIT_DEFAULT	(256ull << 20)
#define CACHE_LIMIT_ENV		"BEEUNWIND_CACHE_SIZE"

/**
 * struct table_file - a table that has been checked, and a file that holds it
 * @fd: the file, for the module to read
 * @blob: the bytes of @fd in memory, which @table points into
 * @table: the table
 * @kept: it is in the cache; if not, @fd is a memfd
 */
struct table_file {
	int			 fd;
	void			*blob;
	struct bee_table	 table;
	bool			 kept;
};

/**
 * enum cache_state - is an entry used, and if not, why?
 * @CACHE_CURRENT: the next load of its ELF file uses it
 * @CACHE_OLD: made by another beectl; not used, removed when space is needed
 * @CACHE_DAMAGED: does not pass the check; the next load of its ELF file replaces it
 * @CACHE_UNTRUSTED: a user other than root and this one owns it or can write it; the next load of its ELF
 *	file replaces it
 */
enum cache_state {
	CACHE_CURRENT,
	CACHE_OLD,
	CACHE_DAMAGED,
	CACHE_UNTRUSTED,
};

/**
 * struct cache_entry - about one table in the cache
 * @name: of the entry
 * @path: of the ELF file when it was compiled, "" if that is not known
 * @bytes: of disk space that it takes
 * @used: when it was last read or written
 * @state: is it used?
 */
struct cache_entry {
	char			name[192];
	char			path[4096];
	uint64_t		bytes;
	time_t			used;
	enum cache_state	state;
};

typedef void (*cache_entry_fn)(void *arg, const struct cache_entry *entry);

struct cache;

struct cache *cache_open(void);
struct cache *cache_open_old(void);
void cache_close(struct cache *cache);
const char *cache_path(const struct cache *cache);
int cache_fd(const struct cache *cache);
uint64_t cache_limit(const struct cache *cache);
const char *cache_absent(const struct cache *cache);
const char *cache_warning(const struct cache *cache);
const char *cache_limit_warning(const struct cache *cache);

bool cache_lookup(struct cache *cache, const struct file_identity *identity,
		  struct table_file *file);
int cache_find(struct cache *cache, const struct file_identity *identity, uint64_t *size);
int cache_store(struct cache *cache, const struct file_identity *identity, const char *path,
		struct table_file *file, struct bee_error *error);
void table_file_close(struct table_file *file);

void cache_measure(struct cache *cache);
int cache_list(struct cache *cache, cache_entry_fn entry, void *arg);
int cache_clear(struct cache *cache, size_t *count, uint64_t *bytes);

#endif /* BEE_CACHE_H */
