// SPDX-License-Identifier: GPL-2.0
/* Lists of ranges. */
#include <errno.h>
#include <stdlib.h>

#include "ranges.h"

bool range_is_same(const struct range *a, const struct range *b)
{
	return a->start == b->start && a->end == b->end && a->offset == b->offset &&
	       a->file == b->file;
}

/**
 * ranges_append() - add one range at the end
 * @ranges: zeroed before its first use; ranges_free() releases it
 * @range: copied
 *
 * Return: 0, or -ENOMEM with @ranges unchanged.
 */
int ranges_append(struct ranges *ranges, const struct range *range)
{
	if (ranges->count == ranges->room) {
		size_t room = ranges->room ? 2 * ranges->room : 32;
		struct range *array = reallocarray(ranges->range, room, sizeof(*array));

		if (!array)
			return -ENOMEM;
		ranges->range = array;
		ranges->room = room;
	}
	ranges->range[ranges->count++] = *range;
	return 0;
}

void ranges_free(struct ranges *ranges)
{
	free(ranges->range);
	*ranges = (struct ranges){ 0 };
}
