// SPDX-License-Identifier: GPL-2.0
/* Sorted lists of ranges and their diff. */
#include <errno.h>
#include <stdlib.h>

#include "range.h"

bool range_is_same(const struct range *a, const struct range *b)
{
	return a->start == b->start && a->end == b->end && a->bias == b->bias &&
	       a->table == b->table;
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

static int range_compare(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	if (x->bias != y->bias)
		return x->bias < y->bias ? -1 : 1;
	return x->table < y->table ? -1 : x->table > y->table;
}

void ranges_sort(struct ranges *ranges)
{
	if (ranges->count)
		qsort(ranges->range, ranges->count, sizeof(*ranges->range), range_compare);
}

/**
 * ranges_merge() - join neighbours of one table and bias
 * @ranges: ascending, free of overlap
 *
 * The kernel splits and merges its mappings as permissions come and go; the
 * module only cares which table covers an address.
 */
void ranges_merge(struct ranges *ranges)
{
	size_t i, n = 0;

	for (i = 0; i < ranges->count; i++) {
		struct range *last = n ? &ranges->range[n - 1] : NULL;
		const struct range *next = &ranges->range[i];

		if (last && last->end == next->start && last->bias == next->bias &&
		    last->table == next->table)
			last->end = next->end;
		else
			ranges->range[n++] = *next;
	}
	ranges->count = n;
}

void ranges_free(struct ranges *ranges)
{
	free(ranges->range);
	*ranges = (struct ranges){ 0 };
}

/**
 * ranges_diff() - the least change from one list to another
 * @have: ascending
 * @want: ascending
 * @diff: filled; range_diff_free() releases it, after an error as well
 *
 * Return: 0, or -ENOMEM.
 */
int ranges_diff(const struct ranges *have, const struct ranges *want, struct range_diff *diff)
{
	size_t h = 0, w = 0;
	int ret = 0;

	*diff = (struct range_diff){ 0 };
	while (!ret && (h < have->count || w < want->count)) {
		int order;

		if (h == have->count)
			order = 1;
		else if (w == want->count)
			order = -1;
		else
			order = range_compare(&have->range[h], &want->range[w]);

		if (order < 0)
			ret = ranges_append(&diff->del, &have->range[h++]);
		else if (order > 0)
			ret = ranges_append(&diff->add, &want->range[w++]);
		else
			h++, w++;
	}
	return ret;
}

bool range_diff_is_empty(const struct range_diff *diff)
{
	return !diff->del.count && !diff->add.count;
}

void range_diff_free(struct range_diff *diff)
{
	ranges_free(&diff->del);
	ranges_free(&diff->add);
}
