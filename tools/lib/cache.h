/* SPDX-License-Identifier: GPL-2.0 */
/* Compiled tables on disk, one file each, named by the identity of the ELF file. */
#ifndef BEE_CACHE_H
#define BEE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "table.h"

#define CACHE_DIR_DEFAULT	"/var/cache/beeunwind"
#define CACHE_DIR_ENV		"BEEUNWIND_CACHE"

/**
 * struct file_identity - which ELF file
 * @type: enum bee_table_id_type
 * @len: bytes of @id in use
 * @id: as in struct bee_table_header
 * @size: bytes of the file
 * @inode: its inode number; 0 for the vDSO
 * @ctime: when it was changed last, ns since the epoch; 0 for the vDSO
 *
 * A build-id is what the file says of itself. Inode and ctime, which nobody can
 * choose, keep one file's table from being taken for another's.
 */
struct file_identity {
	uint8_t		type;
	uint8_t		len;
	uint8_t		id[BEE_TABLE_ID_MAX];
	uint64_t	size;
	uint64_t	inode;
	uint64_t	ctime;
};

/**
 * struct table_file - a table that has been checked, and a file that holds it
 * @fd: the file, for the module to read
 * @blob: the same bytes in memory; what @table points into
 * @table: the table
 */
struct table_file {
	int			 fd;
	void			*blob;
	struct bee_table	 table;
};

struct cache;

struct cache *cache_open(char *why, size_t size);
void cache_close(struct cache *cache);

bool cache_lookup(struct cache *cache, const struct file_identity *identity,
		  struct table_file *file);
int cache_store(struct cache *cache, const struct file_identity *identity, void *blob,
		size_t size, struct table_file *file, char *why, size_t why_size);
void table_file_close(struct table_file *file);

#endif /* BEE_CACHE_H */
