// SPDX-License-Identifier: GPL-2.0
/* The tables that a program gets before it begins: those in the cache, and what is cheap. */
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "first_tables.h"

/**
 * struct first_tables - what is done first
 * @maker: how tables are made
 * @left: files whose tables the cache does not have, and that are cheap
 * @cheap: bytes of files that may still be compiled
 */
struct first_tables {
	const struct table_maker	*maker;
	struct table_wants		 left;
	uint64_t			 cheap;
};

static void first_tables_done(void *arg, const struct table_want *want, const struct table_result *result)
{
	struct first_tables *first = arg;
	struct table_wants *left = &first->left;

	if (!result->left) {
		first->maker->done(first->maker->arg, want, result);
		return;
	}
	if (want->size > first->cheap)
		return;
	first->cheap -= want->size;
	left->want = alloc_room(left->want, left->count, &left->room, sizeof(*left->want));
	left->want[left->count] = *want;
	left->want[left->count++].cached_only = false;
}

/**
 * first_tables_make() - give the module the tables of files, as far as that is cheap
 * @maker: how; its done() gets the results, but not of files that are left to be news
 * @wants: the files, by launch_needs()
 *
 * Return: 0; or -1 and errno, if no child could be made.
 */
int first_tables_make(const struct table_maker *maker, const struct table_wants *wants)
{
	struct first_tables first = { .maker = maker, .cheap = FIRST_TABLES_CHEAP };
	struct table_maker first_maker = *maker;
	size_t i;
	int ret;

	first_maker.arg = &first;
	first_maker.done = first_tables_done;
	for (i = 0; i < wants->count; i++)
		wants->want[i].cached_only = true;
	ret = table_jobs_run(&first_maker, wants) ?: table_jobs_run(maker, &first.left);
	free(first.left.want);
	return ret;
}
