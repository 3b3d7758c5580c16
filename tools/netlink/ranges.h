/* SPDX-License-Identifier: GPL-2.0 */
/* Lists of ranges of code in memory. */
#ifndef RANGES_H
#define RANGES_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct range - code in memory that has a table
 * @start: first address
 * @end: address after the last
 * @offset: byte of what the table describes at @start
 * @file: id of the table in the module
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
void ranges_free(struct ranges *ranges);

#endif /* RANGES_H */
