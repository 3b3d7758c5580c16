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

/** ranges_free() - release the memory of a list, which is empty afterwards */
void ranges_free(struct ranges *ranges)
{
	free(ranges->range);
	*ranges = (struct ranges){ 0 };
}
