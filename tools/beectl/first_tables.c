// SPDX-License-Identifier: GPL-2.0
/* The tables that a command gets before it begins: those in the cache, and what is cheap. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "first_tables.h"
#include "manage.h"

/* Files that are not in the cache are compiled only while it is cheap. */
static void first_tables_want(struct first_tables *first, struct table_want *want)
{
	want->cached_only = want->mapping.size > first->cheap;
	if (!want->cached_only)
		first->cheap -= want->mapping.size;
	table_queue_add_want(first->queue, want);
}

/* All that the program has mapped. */
static int first_tables_want_all(struct first_tables *first, pid_t pid, struct bee_error *error)
{
	struct table_wants wants = { 0 };
	size_t i;

	if (manage_begin(first->maker->nl, pid, error) < 0 ||
	    table_jobs_find(first->maker->nl, pid, &wants, error))
		return -1;
	for (i = 0; i < wants.count; i++)
		first_tables_want(first, &wants.want[i]);
	free(wants.want);
	return 0;
}

/**
 * first_tables_make() - make tables for what a command has mapped, as far as that is cheap
 * @first: the command; the module manages it from LAUNCH_AT_EXEC on
 * @pid: it is stopped
 * @stop: where, as of launch_mapped_fn
 * @start: likewise
 * @end: likewise
 * @error: filled on failure
 *
 * Return: 0 or -1.
 */
int first_tables_make(struct first_tables *first, pid_t pid, enum launch_stop stop,
		      uint64_t start, uint64_t end, struct bee_error *error)
{
	struct mapping mapping = { .pid = pid, .start = start, .end = end };
	struct table_want want;

	if (stop == LAUNCH_AT_MAP) {
		if (!table_jobs_map_want(first->maker->nl, &mapping, &want))
			first->incomplete = true;
		else if (want.pin >= 0)
			first_tables_want(first, &want);
	} else if ((stop == LAUNCH_AT_EXEC || first->incomplete) &&
		   first_tables_want_all(first, pid, error)) {
		return -1;
	}
	if (table_queue_drain(first->queue))
		return error_set(error, errno, "cannot start a process: %s", strerror(errno));
	return 0;
}
