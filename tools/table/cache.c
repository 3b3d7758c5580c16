// SPDX-License-Identifier: GPL-2.0
/*
 * Compiled tables on disk.  The name of an entry identifies the ELF file and the beectl that made it.
 * cache_lookup() and cache_list() check all of an entry, cache_find() only whose table it is: the
 * module checks what is loaded.  One that does not pass, or is of another ELF file, counts as absent
 * and is replaced.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <asm/byteorder.h>

#include "alloc.h"
#include "cache.h"
#include "cache_dir.h"
#include "elf.h"
#include "error.h"
#include "io.h"
#include "text.h"

struct cache {
	int		 dir;		/* the open directory; -1: no cache, tables are in memfds */
	bool		 is_empty;	/* there is no directory, and this process makes none */
	char		*path;		/* of the directory */
	char		 generation[2 * CACHE_GENERATION_SIZE + 1];	/* of this beectl, in hex */
	uint64_t	 limit;		/* most bytes of disk space */
	/*
	 * Bytes of disk space in use when this process last looked, and those that it has written
	 * since; other processes may have written more.
	 */
	uint64_t	 used;
	bool		 known;		/* @used is set */
	struct bee_error absent;	/* why @dir is -1 */
	bool		 expected;	/* if there is no cache the user should be told once */
	char		 limit_warning[160];	/* told once: why @limit is not what was asked for; or "" */
};

/*
 * Set @generation to the build-id or digest of this program: a beectl never reads the tables of
 * another version, and nobody has to count versions.  Return: 0 or -1.
 */
static int generation_get(struct cache *cache)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct file_identity identity = { 0 };
	struct elf_file elf = { 0 };
	struct bee_error error;
	bool known;

	if (fd < 0)
		return -1;
	known = (identity_read(fd, NULL, &identity) ||
		 !identity_open(&elf, fd, NULL, &identity, &error)) &&
		identity.len >= CACHE_GENERATION_SIZE;
	if (known)
		text_hex(identity.id, CACHE_GENERATION_SIZE, cache->generation,
			 sizeof(cache->generation));
	elf_close(&elf);
	close(fd);
	return known ? 0 : -1;
}

static struct cache *cache_open_or_make(bool make)
{
	const char *path = getenv(CACHE_DIR_ENV), *limit = getenv(CACHE_LIMIT_ENV);
	struct cache *cache = alloc_zero(1, sizeof(*cache));

	cache->dir = -1;
	cache->path = alloc_text(path && *path ? path : CACHE_DIR_DEFAULT);
	cache->limit = CACHE_LIMIT_DEFAULT;
	if (generation_get(cache))
		error_set(&cache->absent, 0, "cache %s is not used: /proc/self/exe, which tells "
			  "versions of beectl apart, cannot be read", cache->path);
	else
		cache->dir = cache_dir_open(cache->path, make, &cache->absent);
	cache->is_empty = !make && cache->dir < 0 && cache->absent.code == ENOENT;
	/* Only root, and a user who has named a directory, expects the cache to be used. */
	cache->expected = !geteuid() || path;
	if (limit && *limit && text_parse_size(limit, &cache->limit))
		snprintf(cache->limit_warning, sizeof(cache->limit_warning),
			 CACHE_LIMIT_ENV "=%.64s is no size, as 512M is; using %s", limit,
			 text_size(cache->limit).text);
	return cache;
}

/**
 * cache_open() - the cache of this system or, by BEEUNWIND_CACHE, another
 *
 * Makes the directory, if there is none.  If it cannot be used, the cache keeps nothing, and
 * cache_absent() says why.
 *
 * Return: the cache, for cache_close(); never NULL.
 */
struct cache *cache_open(void)
{
	return cache_open_or_make(true);
}

/* cache_open_old() - the cache that there is, for cache_list() and cache_clear(); makes no directory */
struct cache *cache_open_old(void)
{
	return cache_open_or_make(false);
}

/**
 * cache_close() - release a cache
 * @cache: the cache; NULL is fine
 *
 * Trims the cache once more, as other processes may have added entries.
 */
void cache_close(struct cache *cache)
{
	if (!cache)
		return;
	if (cache->known)
		cache_dir_trim(cache->dir, cache->limit);
	if (cache->dir >= 0)
		close(cache->dir);
	free(cache->path);
	free(cache);
}

/* cache_path(): name of the cache's directory, until cache_close() */
const char *cache_path(const struct cache *cache)
{
	return cache->path;
}

/* cache_fd(): what a process has to keep open that uses the cache; -1: nothing */
int cache_fd(const struct cache *cache)
{
	return cache->dir;
}

/* cache_limit(): most bytes of disk space that the cache may take */
uint64_t cache_limit(const struct cache *cache)
{
	return cache->limit;
}

/* cache_absent(): a sentence why there is no cache, until cache_close(); NULL if there is one */
const char *cache_absent(const struct cache *cache)
{
	return cache->dir < 0 && !cache->is_empty ? cache->absent.text : NULL;
}

/* cache_warning(): as cache_absent(), but NULL if the user need not be told */
const char *cache_warning(const struct cache *cache)
{
	return cache->expected ? cache_absent(cache) : NULL;
}

/* cache_limit_warning(): why the limit is not what was asked for, until cache_close(); or NULL */
const char *cache_limit_warning(const struct cache *cache)
{
	return cache->limit_warning[0] ? cache->limit_warning : NULL;
}

static void entry_name(const struct cache *cache, const struct file_identity *identity,
		       char name[CACHE_NAME_MAX])
{
	char id[2 * BEE_TABLE_ID_MAX + 1];

	text_hex(identity->id, identity->len, id, sizeof(id));
	snprintf(name, CACHE_NAME_MAX, "%s%s-%x-%llx-%llx-%llx-%llx-%s",
		 identity->type == BEE_ID_SHA256 ? "sha256-" : "", id, identity->fs_type,
		 (unsigned long long)identity->fs, (unsigned long long)identity->inode,
		 (unsigned long long)identity->born,
		 (unsigned long long)identity->mtime, cache->generation);
}

/* Open an entry.  @fd is -1 or for the caller to close, and @st is filled. */
static enum cache_state entry_open(int dir, const char *name, int *fd, struct stat *st)
{
	*fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (*fd < 0)
		return CACHE_UNTRUSTED;
	if (fstat(*fd, st) || !S_ISREG(st->st_mode) || !cache_dir_trusts(st))
		return CACHE_UNTRUSTED;
	if (st->st_size <= 0 || st->st_size > BEE_TABLE_MAX_SIZE)
		return CACHE_DAMAGED;
	return CACHE_CURRENT;
}

/* Read and check an entry.  @file and @st are filled; table_file_close() releases @file. */
static enum cache_state entry_read(int dir, const char *name, struct table_file *file,
				   struct stat *st)
{
	struct bee_table_error error;
	enum cache_state state;

	*file = (struct table_file){ .kept = true };
	state = entry_open(dir, name, &file->fd, st);
	if (state != CACHE_CURRENT)
		return state;
	file->blob = alloc_array(NULL, st->st_size, 1);
	if (io_read_at(file->fd, file->blob, st->st_size, 0) != st->st_size ||
	    bee_table_validate(file->blob, st->st_size, &file->table, &error))
		return CACHE_DAMAGED;
	return CACHE_CURRENT;
}

/* The mtime of an entry is when it was last used.  Fails for entries of other users. */
static void entry_note_use(int fd)
{
	futimens(fd, NULL);
}

/*
 * Whether a table is of this file.  The cache has exact tables only: one with flags was not put
 * there by beectl.
 */
static bool header_is_of(const struct bee_table_header *h, const struct file_identity *identity)
{
	return !h->flags && h->id_type == identity->type && h->id_len == identity->len &&
	       !memcmp(h->id, identity->id, identity->len) &&
	       le64_to_cpu(h->file_size) == identity->size;
}

/**
 * cache_find() - the table of a file, of which nothing is checked but whose it is
 * @cache: the cache
 * @identity: of the ELF file
 * @size: filled: bytes of the table
 *
 * Return: the table, open for reading, which the caller closes; or -1.
 */
int cache_find(struct cache *cache, const struct file_identity *identity, uint64_t *size)
{
	struct bee_table_header header;
	char name[CACHE_NAME_MAX];
	struct stat st;
	int fd = -1;

	if (cache->dir < 0)
		return -1;
	entry_name(cache, identity, name);
	if (entry_open(cache->dir, name, &fd, &st) == CACHE_CURRENT &&
	    io_read_at(fd, &header, sizeof(header), 0) == sizeof(header) &&
	    header_is_of(&header, identity)) {
		entry_note_use(fd);
		*size = st.st_size;
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
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
	char name[CACHE_NAME_MAX];
	struct stat st;

	*file = (struct table_file){ .fd = -1 };
	if (cache->dir < 0)
		return false;
	entry_name(cache, identity, name);
	if (entry_read(cache->dir, name, file, &st) == CACHE_CURRENT &&
	    header_is_of(file->table.header, identity)) {
		entry_note_use(file->fd);
		return true;
	}
	table_file_close(file);
	return false;
}

/**
 * cache_measure() - find out how full the cache is, and trim it to its limit
 * @cache: the cache
 *
 * For a caller whose children will store many entries: they inherit the result instead of each
 * listing the directory.  cache_close() trims again.
 */
void cache_measure(struct cache *cache)
{
	if (cache->dir < 0)
		return;
	cache->used = cache_dir_trim(cache->dir, cache->limit);
	cache->known = true;
}

/* Write an entry; trim the cache first if it would not fit.  Return: its file, or -1 and errno. */
static int entry_write(struct cache *cache, const char *name, const char *path,
		       const void *blob, size_t size)
{
	uint64_t bytes = cache_disk_bytes(size);

	errno = cache->dir < 0 ? ENOENT : EFBIG;
	if (cache->dir < 0 || bytes > cache->limit)
		return -1;
	if (!cache->known || cache->used + bytes > cache->limit) {
		cache->used = cache_dir_trim(cache->dir, cache->limit - bytes);
		cache->known = true;
	}
	cache->used += bytes;
	return cache_dir_write(cache->dir, name, path, blob, size);
}

/**
 * cache_store() - keep a new table
 * @cache: the cache
 * @identity: of the ELF file, taken before it was compiled
 * @path: of the ELF file, for people
 * @file: blob and table are set, and validated; the rest is filled: the entry in the cache or, if
 *	that cannot be written, a memfd; closed on failure
 * @error: filled on failure, and if an exact table is in a memfd
 *
 * A table that is not exact always goes into a memfd: the cache has exact tables only.
 *
 * Return: 0 or -1.
 */
int cache_store(struct cache *cache, const struct file_identity *identity, const char *path,
		struct table_file *file, struct bee_error *error)
{
	bool exact = !file->table.header->flags;
	char name[CACHE_NAME_MAX];

	entry_name(cache, identity, name);
	file->fd = exact ? entry_write(cache, name, path, file->blob, file->table.size) : -1;
	file->kept = file->fd >= 0;
	if (file->kept)
		return 0;
	if (exact)
		error_set(error, errno, "its table is not kept in the cache: %s; %s",
			  errno == EFBIG ? "it is larger than the cache may be" : strerror(errno),
			  errno == EFBIG ? CACHE_LIMIT_ENV " can allow more" :
					   CACHE_DIR_ENV " can name another");
	file->fd = io_memfd("beeunwind-table", file->blob, file->table.size);
	if (file->fd >= 0)
		return 0;
	error_set(error, errno, "no place for its table: %s", strerror(errno));
	table_file_close(file);
	return -1;
}

/* table_file_close(): release a table; does nothing if called again */
void table_file_close(struct table_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	free(file->blob);
	*file = (struct table_file){ .fd = -1 };
}

static void entry_look(struct cache *cache, const char *name, struct cache_entry *entry)
{
	const char *rest = strncmp(name, "sha256-", 7) ? name : name + 7;
	char id[2 * BEE_TABLE_ID_MAX + 1];
	struct table_file file;
	struct stat st;
	ssize_t length;

	entry->state = entry_read(cache->dir, name, &file, &st);
	if (entry->state == CACHE_CURRENT) {
		const struct bee_table_header *h = file.table.header;

		/* The name has to begin with the identity in the header. */
		text_hex(h->id, h->id_len, id, sizeof(id));
		if (h->id_type != BEE_ID_SHA256)
			rest = name;
		if (strncmp(rest, id, strlen(id)) || rest[strlen(id)] != '-')
			entry->state = CACHE_DAMAGED;
	}
	entry->path[0] = '\0';
	length = file.fd < 0 ? -1 : fgetxattr(file.fd, CACHE_PATH_XATTR, entry->path,
					      sizeof(entry->path) - 1);
	if (length > 0)
		entry->path[length] = '\0';
	/* Another generation may have another format, so that damage cannot be told. */
	if (entry->state != CACHE_UNTRUSTED && strcmp(strrchr(name, '-') + 1, cache->generation))
		entry->state = CACHE_OLD;
	table_file_close(&file);
}

/**
 * cache_list() - look at all entries, the least recently used first
 * @cache: the cache
 * @fn: called for each
 * @arg: its first argument
 *
 * Reads and checks every entry; that does not count as use.
 *
 * Return: 0, or -1 and errno.
 */
int cache_list(struct cache *cache, cache_entry_fn fn, void *arg)
{
	struct cache_entry entry;
	struct cache_dir_list list = { 0 };
	int ret = cache->is_empty ? 0 : cache_dir_list(cache->dir, &list);
	size_t i;

	for (i = 0; !ret && i < list.count; i++) {
		snprintf(entry.name, sizeof(entry.name), "%s", list.file[i].name);
		entry.bytes = list.file[i].bytes;
		entry.used = list.file[i].used.tv_sec;
		entry_look(cache, entry.name, &entry);
		fn(arg, &entry);
	}
	cache_dir_list_free(&list);
	return ret;
}

/**
 * cache_clear() - remove all entries
 * @cache: the cache
 * @count: filled: how many there were
 * @bytes: filled: bytes of disk space that they took
 *
 * Return: 0, or -1 and errno.
 */
int cache_clear(struct cache *cache, size_t *count, uint64_t *bytes)
{
	*count = *bytes = 0;
	return cache->is_empty ? 0 : cache_dir_clear(cache->dir, count, bytes);
}
