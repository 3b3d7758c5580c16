/* SPDX-License-Identifier: GPL-2.0 */
/* Which samples of a recording count. */
#ifndef FILTER_H
#define FILTER_H

#include "contents.h"
#include "error.h"

/**
 * struct filter - what samples have to be; all zero: anything
 * @comm: samples of threads with one of these names, separated by commas; NULL: of any
 * @tids: samples of these threads: "1,3-5"; NULL: of any
 * @cpus: samples taken on these CPUs: "0,2-3"; NULL: on any
 * @from: samples taken so many ns after the first one, or later
 * @until: samples taken at most so many ns after the first one; 0: at any time
 */
struct filter {
	const char	*comm;
	const char	*tids;
	const char	*cpus;
	u64		 from;
	u64		 until;
};

int filter_set_time(struct filter *filter, const char *text);
bool filter_list_is_good(const char *list);
bool filter_takes(const struct filter *filter, const struct perfdata_sample *sample, const char *comm,
		  u64 since);

static inline bool filter_is_set(const struct filter *filter)
{
	return filter->comm || filter->tids || filter->cpus || filter->from || filter->until;
}

#endif /* FILTER_H */
