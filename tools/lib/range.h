/* SPDX-License-Identifier: GPL-2.0 */
/* Sorted lists of ranges (mappings as the module knows them) and their diff.  Pure. */
#ifndef BEE_RANGE_H
#define BEE_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct range - one executable range of an address space
 * @start: first address
 * @end: address after the last
 * @bias: address minus pc, modulo 2^64; 0 if @table is 0
 * @table: id of its table in the module; 0 for memory without one
 *
 * Its identity is all four: another library at the same place is a change.
 */
struct range {
	uint64_t start;
	uint64_t end;
	uint64_t bias;
	uint32_t table;
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

bool range_is_same(const struct range *a, const struct range *b);

int ranges_append(struct ranges *ranges, const struct range *range);
void ranges_sort(struct ranges *ranges);
void ranges_merge(struct ranges *ranges);
void ranges_free(struct ranges *ranges);

int ranges_diff(const struct ranges *have, const struct ranges *want, struct range_diff *diff);
bool range_diff_is_empty(const struct range_diff *diff);
void range_diff_free(struct range_diff *diff);

#endif /* BEE_RANGE_H */
