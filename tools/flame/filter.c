// SPDX-License-Identifier: GPL-2.0
/* Which samples of a recording count. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"

#define FILTER_MAX_SECONDS	1e9

/* Seconds, up to @end, as ns.  Return: 0, or -1 if it is no such number. */
static int seconds_read(const char *text, const char *end, u64 *ns)
{
	char *after;
	double seconds = strtod(text, &after);

	if (after != end || !(seconds >= 0 && seconds <= FILTER_MAX_SECONDS) || !isdigit((unsigned char)*text))
		return -1;
	*ns = seconds * 1e9 + 0.5;
	return 0;
}

/**
 * filter_set_time() - take samples of a part of the recording only
 * @filter: its @from and @until are filled
 * @text: "A,B": seconds after the first sample, of which one may be left out
 *
 * Return: 0, or -1 if it is something else.
 */
int filter_set_time(struct filter *filter, const char *text)
{
	const char *comma = strchr(text, ',');

	if (!comma || !strcmp(text, ",") ||
	    (comma > text && seconds_read(text, comma, &filter->from)) ||
	    (comma[1] && seconds_read(comma + 1, text + strlen(text), &filter->until)))
		return -1;
	return comma[1] && filter->until <= filter->from ? -1 : 0;
}

/* The next of "1,3-5".  Return: false at the end, or if it is malformed, when @list is left where that is. */
static bool list_next(const char **list, unsigned long *first, unsigned long *last)
{
	char *end;

	if (!isdigit((unsigned char)**list))
		return false;
	*first = *last = strtoul(*list, &end, 10);
	if (*end == '-' && isdigit((unsigned char)end[1]))
		*last = strtoul(end + 1, &end, 10);
	if ((*end && *end != ',') || (*end == ',' && !end[1]))
		return false;
	*list = end + (*end == ',');
	return true;
}

/** filter_list_is_good() - is it a list of numbers, "1,3-5"? */
bool filter_list_is_good(const char *list)
{
	unsigned long first, last;

	if (!*list)
		return false;
	while (list_next(&list, &first, &last))
		;
	return !*list;
}

static bool list_has(const char *list, unsigned long number)
{
	unsigned long first, last;

	while (list_next(&list, &first, &last))
		if (number >= first && number <= last)
			return true;
	return false;
}

static bool names_have(const char *names, const char *name)
{
	size_t length;

	for (; *names; names += length + !!names[length]) {
		length = strcspn(names, ",");
		if (strlen(name) == length && !strncmp(names, name, length))
			return true;
	}
	return false;
}

/**
 * filter_takes() - does a sample count?
 * @filter: with good lists
 * @sample: the sample
 * @comm: name of its thread
 * @since: ns since the first sample
 */
bool filter_takes(const struct filter *filter, const struct perfdata_sample *sample, const char *comm,
		  u64 since)
{
	return (!filter->comm || names_have(filter->comm, comm)) &&
	       (!filter->tids || list_has(filter->tids, sample->tid)) &&
	       (!filter->cpus || list_has(filter->cpus, sample->cpu)) &&
	       since >= filter->from && (!filter->until || since <= filter->until);
}
