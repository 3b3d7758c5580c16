// SPDX-License-Identifier: GPL-2.0
/* The tables that a command gets before it begins: those in the cache, and what is cheap. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "first_tables.h"
#include "manage.h"

/**
 * first_tables_note() - keep a file whose table is not in the cache
 * @first: the command
 * @want: the file
 * @result: what has become of it; if it is not left, nothing is done
 *
 * The maker's done() calls it for each file, as first_tables_make() compiles what is left.
 */
void first_tables_note(struct first_tables *first, const struct table_want *want,
		       const struct table_result *result)
{
	struct table_wants *left = &first->left;
	struct table_want *kept;

	if (!result->left)
		return;
	left->want = alloc_room(left->want, left->count, &left->room, sizeof(*left->want));
	kept = &left->want[left->count++];
	*kept = *want;
	kept->cached_only = false;
	/* The queue closes its own.  Without a pin the file is looked for at its mapping. */
	if (want->pin >= 0)
		kept->pin = fcntl(want->pin, F_DUPFD_CLOEXEC, 0);
}

/* First what the cache has: only what it does not have costs something. */
static void first_tables_want(struct first_tables *first, struct table_want *want)
{
	want->cached_only = true;
	table_queue_add_want(first->queue, want);
}

/* Of what the cache does not have, as much as is cheap. */
static void first_tables_want_left(struct first_tables *first)
{
	struct table_wants *left = &first->left;
	size_t i;

	for (i = 0; i < left->count; i++) {
		if (left->want[i].mapping.size > first->cheap)
			continue;
		first->cheap -= left->want[i].mapping.size;
		table_queue_add_want(first->queue, &left->want[i]);
		left->want[i].pin = -ENOENT;
	}
	table_jobs_free(left);
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
	int ret;

	if (stop == LAUNCH_AT_MAP) {
		if (!table_jobs_map_want(first->maker->nl, &mapping, &want))
			first->incomplete = true;
		else if (want.pin >= 0)
			first_tables_want(first, &want);
	} else if ((stop == LAUNCH_AT_EXEC || first->incomplete) &&
		   first_tables_want_all(first, pid, error)) {
		return -1;
	}
	ret = table_queue_drain(first->queue);
	first_tables_want_left(first);
	if (ret || table_queue_drain(first->queue))
		return error_set(error, errno, "cannot start a process: %s", strerror(errno));
	return 0;
}
