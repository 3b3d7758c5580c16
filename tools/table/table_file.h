/* SPDX-License-Identifier: GPL-2.0 */
/* From an ELF file to a file that holds its table: out of the cache, or compiled. */
#ifndef BEE_TABLE_FILE_H
#define BEE_TABLE_FILE_H

#include <stdint.h>

#include "cache.h"
#include "error.h"
#include "lossy.h"

/**
 * enum table_source - where the table of a file came from
 * @TABLE_NONE: it has none
 * @TABLE_STORED: the module had it already
 * @TABLE_CACHED: read from the cache on disk
 * @TABLE_COMPILED: compiled now
 */
enum table_source {
	TABLE_NONE,
	TABLE_STORED,
	TABLE_CACHED,
	TABLE_COMPILED,
};

int table_file_open(struct cache *cache, int fd, const struct identity_known *known,
		    uint64_t *size);
enum table_source table_file_get(struct cache *cache, int fd, const char *path,
				 const struct identity_known *known,
				 const struct lossy_options *lossy, struct lossy_report *report,
				 struct table_file *file, struct bee_error *error);

#endif /* BEE_TABLE_FILE_H */
