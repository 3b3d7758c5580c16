// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzz the cache on disk: any bytes are written as the entry of a file.  A lookup must refuse
 * them, or they are a valid table of that file.  The first byte says whether the header is
 * repaired first.  The name of the entry is private to cache.c, hence the include.
 */
#include "../../tools/table/cache.c"

#include <linux/crc32.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char dir[64], entry[64 + CACHE_NAME_MAX];
static struct cache *fuzzed;

static const struct file_identity identity = {
	.type = BEE_ID_BUILD_ID, .len = 20, .id = "0123456789abcdefghi", .size = 4096,
	.inode = 5, .born = 7, .mtime = 9,
};

static void fuzz_clean(void)
{
	unlink(entry);
	rmdir(dir);
}

static void fuzz_start(void)
{
	snprintf(dir, sizeof(dir), "%s/fuzz_cache-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(dir) || setenv(CACHE_DIR_ENV, dir, 1))
		abort();
	fuzzed = cache_open();
	if (fuzzed->dir < 0) {
		fprintf(stderr, "%s\n", fuzzed->absent.text);
		abort();
	}
	strcat(strcpy(entry, dir), "/");
	entry_name(fuzzed, &identity, entry + strlen(entry));
	atexit(fuzz_clean);
}

static void fuzz_repair(uint8_t *blob, size_t size)
{
	struct bee_table_header *h = (void *)blob;

	h->magic = BEE_TABLE_MAGIC;
	h->version = BEE_TABLE_VERSION;
	h->machine = BEE_TABLE_MACHINE;
	h->size = size;
	h->file_size = identity.size;
	h->id_type = identity.type;
	h->id_len = identity.len;
	memcpy(h->id, identity.id, sizeof(h->id));
	h->crc = 0;
	h->crc = ~crc32_le(~0u, blob, size);
}

static void fuzz_write(const uint8_t *data, size_t size, bool repair)
{
	uint8_t *blob = malloc(size ?: 1);
	int fd = open(entry, O_CREAT | O_TRUNC | O_WRONLY, 0644);

	memcpy(blob, data, size);
	if (repair && size >= sizeof(struct bee_table_header))
		fuzz_repair(blob, size);
	if (fd < 0 || write(fd, blob, size) != (ssize_t)size)
		abort();
	close(fd);
	free(blob);
}

static void fuzz_listed(void *arg, const struct cache_entry *e)
{
	bool *current = arg;

	*current = e->state == CACHE_CURRENT;
	if (strlen(e->path) >= sizeof(e->path) || e->state > CACHE_UNTRUSTED)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct table_file file;
	bool current = false;
	struct bee_rule row;
	uint64_t bytes = 0;
	int fd;

	if (!fuzzed)
		fuzz_start();
	if (!size)
		return 0;
	fuzz_write(data + 1, size - 1, data[0] & 1);
	if (cache_list(fuzzed, fuzz_listed, &current))
		abort();
	fd = cache_find(fuzzed, &identity, &bytes);
	if (fd >= 0)
		close(fd);
	if (cache_lookup(fuzzed, &identity, &file)) {
		const struct bee_table_header *h = file.table.header;

		if (!current || fd < 0 || bytes != file.table.size || h->id_len != 20 || memcmp(h->id, identity.id, 20))
			abort();
		bee_table_lookup(&file.table, file.table.base, &row);
		table_file_close(&file);
	}
	return 0;
}
