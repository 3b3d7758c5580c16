/* SPDX-License-Identifier: GPL-2.0 */
/* Files whose tables could not be made, and how often that was tried. */
#ifndef BEE_TRIED_H
#define BEE_TRIED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "alloc.h"

/* Attempts for each file. */
#define TRIED_MAX	3

/* Files are tried again so long after one could not be opened, or the module had no memory, ms. */
#define TRIED_AGAIN_MS	10000

/* Files that are remembered.  One more, and all are forgotten: they may be tried anew. */
#define TRIED_FILES	65536

/**
 * struct tried - counts by file id, in an open hash table; all zero is an empty one
 * @file: the table
 * @files: number of files in it
 * @again: there are files to be tried again
 * @due: when, as clock_ms()
 */
struct tried {
	struct tried_file {
		uint32_t	id;
		unsigned int	count;
	}			*file;
	size_t			 files;
	bool			 again;
	int64_t			 due;
};

static inline void tried_forget(struct tried *tried)
{
	free(tried->file);
	*tried = (struct tried){ 0 };
}

/* The file's slot, or the free one where it belongs; ids begin at 1. */
static inline struct tried_file *tried_find(struct tried *tried, uint32_t id)
{
	size_t at = id * 2654435761u % (2 * TRIED_FILES);

	while (tried->file[at].id && tried->file[at].id != id)
		at = (at + 1) % (2 * TRIED_FILES);
	return &tried->file[at];
}

static inline unsigned int *tried_count(struct tried *tried, uint32_t id)
{
	struct tried_file *file;

	if (tried->files == TRIED_FILES) {
		free(tried->file);
		tried->file = NULL;
		tried->files = 0;
	}
	if (!tried->file)
		tried->file = alloc_zero(2 * TRIED_FILES, sizeof(*tried->file));
	file = tried_find(tried, id);
	if (!file->id) {
		file->id = id;
		tried->files++;
	}
	return &file->count;
}

/* tried_note(): an attempt has failed at @now; unless it was the last one, try again later */
static inline void tried_note(struct tried *tried, uint32_t id, int64_t now)
{
	if (++*tried_count(tried, id) >= TRIED_MAX)
		return;
	tried->again = true;
	tried->due = now + TRIED_AGAIN_MS;
}

/* tried_patience(): ms from @now until files are to be tried again; -1: none is */
static inline int tried_patience(const struct tried *tried, int64_t now)
{
	if (!tried->again)
		return -1;
	return tried->due > now ? tried->due - now : 0;
}

/* tried_is_due(): whether files are to be tried again at @now; true once */
static inline bool tried_is_due(struct tried *tried, int64_t now)
{
	bool due = tried->again && now >= tried->due;

	if (due)
		tried->again = false;
	return due;
}

/* tried_give_up(): make no other attempt, as it would fail in the same way */
static inline void tried_give_up(struct tried *tried, uint32_t id)
{
	*tried_count(tried, id) = TRIED_MAX;
}

static inline bool tried_is_hopeless(struct tried *tried, uint32_t id)
{
	return tried->file && tried_find(tried, id)->count >= TRIED_MAX;
}

#endif /* BEE_TRIED_H */
