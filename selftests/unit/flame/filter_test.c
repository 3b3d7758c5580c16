// SPDX-License-Identifier: GPL-2.0
/* Which samples count: parts of a recording, threads, CPUs. */
#include "filter.h"
#include "kselftest.h"

static const struct { const char *text; u64 from, until; } times[] = {
	{ "1,2.5", 1000000000, 2500000000 },
	{ "0.000000001,", 1, 0 },
	{ ",3", 0, 3000000000 },
};

static const char *const no_times[] = {
	"", ",", "1", "1,2,3", "2,1", "1,1", "-1,2", "1,-2", "a,2", "1 ,2", "1,nan", "inf,", "1,1e10", ",0",
};

static const struct { const char *list; bool good; } lists[] = {
	{ "1", true }, { "1,3-5,9", true }, { "", false }, { ",", false }, { "1,", false }, { "1,,2", false },
	{ "a", false }, { "1-", false }, { "-1", false }, { "1 2", false },
};

static const struct { struct filter filter; const char *what; bool takes; } asked[] = {
	{ { 0 }, "without a filter every sample counts", true },
	{ { .comm = "prog" }, "a thread of this name counts", true },
	{ { .comm = "pro" }, "a thread whose name only begins so does not count", false },
	{ { .comm = "a,prog,b" }, "a thread of one of these names counts", true },
	{ { .comm = "a,programs" }, "a thread of none of these names does not count", false },
	{ { .tids = "7" }, "a thread of this number counts", true },
	{ { .tids = "1,5-8" }, "a thread of one of these numbers counts", true },
	{ { .tids = "1,8-9" }, "a thread of none of these numbers does not count", false },
	{ { .cpus = "2-3" }, "a sample on one of these CPUs counts", true },
	{ { .cpus = "0-1" }, "a sample on none of these CPUs does not count", false },
	{ { .from = 100, .until = 200 }, "a sample at the end of the time counts", true },
	{ { .from = 200 }, "a sample at the start of the time counts", true },
	{ { .from = 201 }, "a sample before the time does not count", false },
	{ { .until = 199 }, "a sample after the time does not count", false },
	{ { .comm = "prog", .tids = "8" }, "all filters have to fit", false },
};

static bool check_times(void)
{
	struct filter filter;
	bool good = true;
	size_t i;

	for (i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		filter = (struct filter){ 0 };
		good &= !filter_set_time(&filter, times[i].text) && filter.from == times[i].from &&
			filter.until == times[i].until;
	}
	for (i = 0; i < sizeof(no_times) / sizeof(no_times[0]); i++) {
		filter = (struct filter){ 0 };
		if (!filter_set_time(&filter, no_times[i])) {
			printf("# taken: %s\n", no_times[i]);
			good = false;
		}
	}
	return good;
}

static bool check_lists(void)
{
	bool good = true;
	size_t i;

	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		good &= filter_list_is_good(lists[i].list) == lists[i].good;
	return good;
}

int main(void)
{
	const struct perfdata_sample sample = { .pid = 6, .tid = 7, .cpu = 3 };
	size_t i;

	ksft_print_header();
	ksft_set_plan(2 + sizeof(asked) / sizeof(asked[0]));
	ksft_test_result(check_times(), "times are two numbers of seconds, of which one may be missing\n");
	ksft_test_result(check_lists(), "lists have numbers and ranges\n");
	for (i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
		ksft_test_result(filter_takes(&asked[i].filter, &sample, "prog", 200) == asked[i].takes,
				 "%s\n", asked[i].what);
	ksft_finished();
}
