/* SPDX-License-Identifier: GPL-2.0 */
/* Lists of ranges: mappings as the module knows them. */
#ifndef RANGES_H
#define RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct range - one executable range of an address space
 * @start: first address
 * @end: address after the last
 * @offset: byte of the file at @start; 0 if @file is 0
 * @file: id of the file in the module; 0 for memory without one
 */
struct range {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	uint32_t file;
};

/**
 * struct ranges - a growing array of ranges
 * @range: the array
 * @count: ranges in it
 * @room: ranges it has memory for
 */
struct ranges {
	struct range	*range;
	size_t		 count;
	size_t		 room;
};

/**
 * struct range_diff - what turns one list into another
 * @del: ranges to remove, ascending
 * @add: ranges to add, ascending
 */
struct range_diff {
	struct ranges del;
	struct ranges add;
};

void ranges_append(struct ranges *ranges, const struct range *range);
bool ranges_have_file(const struct ranges *ranges, uint32_t file);
void ranges_free(struct ranges *ranges);

#endif /* RANGES_H */
