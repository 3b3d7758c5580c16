// SPDX-License-Identifier: GPL-2.0
/* The diff of two lists of ranges, against set differences done the slow way. */
#include <stdio.h>
#include <stdlib.h>

#include "range.h"

#include "../kselftest.h"

#define ROUNDS	20000
#define SPACE	48	/* pages; few, so that lists meet often */
#define PAGE	0x1000ull

/* Fixed, so that a failure can be had again. */
static uint64_t random_state = 0x9e3779b97f4a7c15ull;

static unsigned int random_below(unsigned int n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % n;
}

/* Ascending, free of overlap; few biases and tables, so that some ranges agree. */
static void random_ranges(struct ranges *ranges)
{
	uint64_t at = random_below(4);

	*ranges = (struct ranges){ 0 };
	while (at < SPACE) {
		uint64_t pages = 1 + random_below(3);
		struct range range = {
			.start = at * PAGE,
			.end = (at + pages) * PAGE,
			.bias = random_below(2) * PAGE,
			.table = random_below(3),
		};

		if (random_below(4))
			ranges_append(ranges, &range);
		at += pages + random_below(3);
	}
}

static bool is_in(const struct ranges *ranges, const struct range *range)
{
	size_t i;

	for (i = 0; i < ranges->count; i++)
		if (ranges->range[i].start == range->start && ranges->range[i].end == range->end &&
		    ranges->range[i].bias == range->bias && ranges->range[i].table == range->table)
			return true;
	return false;
}

/* @got is a \ b, in order, each once. */
static bool is_difference(const struct ranges *got, const struct ranges *a,
			  const struct ranges *b)
{
	size_t i, n = 0;

	for (i = 0; i < a->count; i++) {
		if (is_in(b, &a->range[i]))
			continue;
		if (n >= got->count || !range_is_same(&got->range[n], &a->range[i]))
			return false;
		n++;
	}
	return n == got->count;
}

/* The list after a diff, as the module makes it: what is left and what is new, sorted. */
static bool diff_leads_to(const struct range_diff *diff, const struct ranges *have,
			  const struct ranges *want)
{
	struct ranges after = { 0 };
	bool same;
	size_t i;

	for (i = 0; i < have->count; i++)
		if (!is_in(&diff->del, &have->range[i]))
			ranges_append(&after, &have->range[i]);
	for (i = 0; i < diff->add.count; i++)
		ranges_append(&after, &diff->add.range[i]);
	ranges_sort(&after);
	same = after.count == want->count;
	for (i = 0; same && i < want->count; i++)
		same = range_is_same(&after.range[i], &want->range[i]);
	ranges_free(&after);
	return same;
}

static bool check_random_diff(void)
{
	struct ranges have, want;
	struct range_diff diff;
	bool good;

	random_ranges(&have);
	if (random_below(8))
		random_ranges(&want);
	else
		want = (struct ranges){ 0 };
	good = !ranges_diff(&have, &want, &diff) &&
	       is_difference(&diff.del, &have, &want) &&
	       is_difference(&diff.add, &want, &have) &&
	       diff_leads_to(&diff, &have, &want);
	range_diff_free(&diff);
	good = good && !ranges_diff(&have, &have, &diff) && range_diff_is_empty(&diff);
	range_diff_free(&diff);
	ranges_free(&have);
	ranges_free(&want);
	return good;
}

/* Which table and bias cover a page: all that merging must not change. */
static const struct range *find(const struct ranges *ranges, uint64_t address)
{
	size_t i;

	for (i = 0; i < ranges->count; i++)
		if (ranges->range[i].start <= address && address < ranges->range[i].end)
			return &ranges->range[i];
	return NULL;
}

static bool covers_alike(const struct ranges *a, const struct ranges *b)
{
	uint64_t page;

	for (page = 0; page < SPACE + 4; page++) {
		const struct range *x = find(a, page * PAGE), *y = find(b, page * PAGE);

		if (!x != !y || (x && (x->bias != y->bias || x->table != y->table)))
			return false;
	}
	return true;
}

static bool has_no_neighbours_alike(const struct ranges *ranges)
{
	size_t i;

	for (i = 1; i < ranges->count; i++) {
		const struct range *a = &ranges->range[i - 1], *b = &ranges->range[i];

		if (a->end == b->start && a->bias == b->bias && a->table == b->table)
			return false;
	}
	return true;
}

static bool check_random_merge(void)
{
	struct ranges ranges, merged = { 0 };
	bool good;
	size_t i;

	random_ranges(&ranges);
	for (i = 0; i < ranges.count; i++)
		ranges_append(&merged, &ranges.range[i]);
	ranges_merge(&merged);
	good = covers_alike(&ranges, &merged) && has_no_neighbours_alike(&merged);
	ranges_free(&ranges);
	ranges_free(&merged);
	return good;
}

static bool check_sort(void)
{
	struct ranges ranges = { 0 };
	bool good = true;
	size_t i;

	ranges_sort(&ranges);
	for (i = 0; i < 1000; i++) {
		struct range range = { .start = random_below(500) * PAGE };

		range.end = range.start + PAGE;
		ranges_append(&ranges, &range);
	}
	ranges_sort(&ranges);
	for (i = 1; i < ranges.count; i++)
		good = good && ranges.range[i - 1].start <= ranges.range[i].start;
	ranges_free(&ranges);
	return good;
}

/* Another library at the same place, or the same one from another offset. */
static bool check_identity(void)
{
	struct range base = { .start = PAGE, .end = 2 * PAGE, .bias = PAGE, .table = 1 };
	struct range other[4] = { base, base, base, base };
	bool good = range_is_same(&base, &base);
	size_t i;

	other[0].start = 0;
	other[1].end = 3 * PAGE;
	other[2].bias = 0;
	other[3].table = 2;
	for (i = 0; i < 4; i++) {
		struct ranges have = { &base, 1, 1 }, want = { &other[i], 1, 1 };
		struct range_diff diff;

		good = good && !range_is_same(&base, &other[i]) &&
		       !ranges_diff(&have, &want, &diff) &&
		       diff.del.count == 1 && diff.add.count == 1;
		range_diff_free(&diff);
	}
	return good;
}

static bool repeat(bool (*check)(void))
{
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		uint64_t seed = random_state;

		if (!check()) {
			ksft_print_msg("round %u, random state %#llx\n", i,
				       (unsigned long long)seed);
			return false;
		}
	}
	return true;
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(4);
	ksft_test_result(repeat(check_random_diff), "diffs equal naive set differences\n");
	ksft_test_result(repeat(check_random_merge), "merging changes no answer\n");
	ksft_test_result(check_sort(), "sorting\n");
	ksft_test_result(check_identity(), "start, end, bias and table are the identity\n");
	ksft_finished();
}
