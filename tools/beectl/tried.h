/* SPDX-License-Identifier: GPL-2.0 */
/* Files whose tables could not be made: which of them are tried again, and when. */
#ifndef BEE_TRIED_H
#define BEE_TRIED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "table_jobs.h"

/* Attempts for a file that cannot be opened. */
#define TRIED_MAX	3

/*
 * A file is tried again so long after an attempt, ms; and if the module had no room for its table, after
 * twice the time of the attempt before, up to TRIED_LAST_MS, but not before TRIED_COST times the CPU
 * time that the next attempt takes, if the table is not in the cache.
 */
#define TRIED_AGAIN_MS	10000
#define TRIED_LAST_MS	320000
#define TRIED_COST	100

/* Times are multiples of this, ms: so often is the module's list of files read at most. */
#define TRIED_STEP_MS	5000

/* Files that are remembered.  One more, and all are forgotten: they may be tried anew. */
#define TRIED_FILES	65536

/**
 * struct tried - attempts by file id, in an open hash table; all zero is an empty one
 * @file: the table.  @count: attempts that count; @delay: from the last attempt to the next, ms, if
 *	the module had no room; @due: when the next one may be, as clock_ms()
 * @files: number of files in it
 * @again: there are files to be tried again
 * @due: when the first of them
 */
struct tried {
	struct tried_file {
		uint32_t	id;
		unsigned int	count;
		int64_t		delay;
		int64_t		due;
	}			*file;
	size_t			 files;
	bool			 again;
	int64_t			 due;
};

void tried_forget(struct tried *tried);
void tried_note(struct tried *tried, uint32_t id, int64_t now);
bool tried_note_full(struct tried *tried, uint32_t id, int64_t cost, int64_t now);
int tried_patience(const struct tried *tried, int64_t now);
bool tried_is_due(struct tried *tried, int64_t now);
void tried_give_up(struct tried *tried, uint32_t id);
bool tried_note_result(struct tried *tried, uint32_t id, const struct table_result *result,
		       int64_t now);
bool tried_may(struct tried *tried, uint32_t id, int64_t now);

#endif /* BEE_TRIED_H */
