// SPDX-License-Identifier: GPL-2.0
/* Lists of ranges. */
#include <stdlib.h>

#include "alloc.h"
#include "ranges.h"

/**
 * ranges_append() - add one range at the end
 * @ranges: zeroed before its first use; ranges_free() releases it
 * @range: copied
 */
void ranges_append(struct ranges *ranges, const struct range *range)
{
	ranges->range = alloc_room(ranges->range, ranges->count, &ranges->room, sizeof(*range));
	ranges->range[ranges->count++] = *range;
}

/**
 * ranges_have_file() - whether a file is mapped in one of the ranges
 * @ranges: the ranges
 * @file: the file's id in the module
 */
bool ranges_have_file(const struct ranges *ranges, uint32_t file)
{
	size_t i;

	for (i = 0; i < ranges->count; i++)
		if (ranges->range[i].file == file)
			return true;
	return false;
}

/** ranges_free() - release the memory of a list, which is empty afterwards */
void ranges_free(struct ranges *ranges)
{
	free(ranges->range);
	*ranges = (struct ranges){ 0 };
}
