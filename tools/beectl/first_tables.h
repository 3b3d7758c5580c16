/* SPDX-License-Identifier: GPL-2.0 */
/* The tables that a command gets before it begins. */
#ifndef FIRST_TABLES_H
#define FIRST_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "launch.h"
#include "table_queue.h"

/*
 * Bytes of files whose tables are compiled before the program begins, if the cache does not have
 * them: about a tenth of a second's work.
 */
#define FIRST_TABLES_CHEAP	(16 << 20)

/**
 * struct first_tables - the tables of one command that is being started
 * @maker: how tables are made; its done() gets the results, and calls first_tables_note()
 * @queue: of @maker; empty again when the program begins
 * @cheap: bytes of files that may still be compiled before the program begins; at first
 *	FIRST_TABLES_CHEAP
 * @left: files whose tables the cache does not have, while first_tables_make() is at work
 * @incomplete: what the program has mapped could not all be told by mapping
 */
struct first_tables {
	const struct table_maker	*maker;
	struct table_queue		*queue;
	uint64_t			 cheap;
	struct table_wants		 left;
	bool				 incomplete;
};

void first_tables_note(struct first_tables *first, const struct table_want *want,
		       const struct table_result *result);
int first_tables_make(struct first_tables *first, pid_t pid, enum launch_stop stop,
		      uint64_t start, uint64_t end, struct bee_error *error);

#endif /* FIRST_TABLES_H */
