// SPDX-License-Identifier: GPL-2.0
/* Lists of ranges. */
#include "kselftest.h"
#include "ranges.h"

#define COUNT	1000	/* the array grows several times */

static bool check_append(void)
{
	struct ranges ranges = { 0 };
	bool good = true;
	size_t i;

	for (i = 0; i < COUNT; i++)
		ranges_append(&ranges, &(struct range){ .start = i << 12, .end = (i + 1) << 12,
							.offset = i, .file = i % 7 });
	good = ranges.count == COUNT && ranges.room >= COUNT;
	for (i = 0; good && i < COUNT; i++)
		good = ranges.range[i].start == i << 12 && ranges.range[i].end == (i + 1) << 12 &&
		       ranges.range[i].offset == i && ranges.range[i].file == i % 7;
	ranges_free(&ranges);
	return good && !ranges.range && !ranges.count && !ranges.room;
}

static bool check_empty(void)
{
	struct ranges ranges = { 0 };

	ranges_free(&ranges);
	return !ranges.range;
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(2);
	ksft_test_result(check_append(), "ranges are appended and released\n");
	ksft_test_result(check_empty(), "an empty list of ranges is released\n");
	ksft_finished();
}
