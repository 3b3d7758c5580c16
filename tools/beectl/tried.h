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

/* Files that are remembered.  One more, and all are forgotten: they may be tried anew. */
#define TRIED_FILES	65536

/* struct tried: counts by file id, in an open hash table; all zero is an empty one */
struct tried {
	struct tried_file {
		uint32_t	id;
		unsigned int	count;
	}			*file;
	size_t			 files;
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

	if (tried->files == TRIED_FILES)
		tried_forget(tried);
	if (!tried->file)
		tried->file = alloc_zero(2 * TRIED_FILES, sizeof(*tried->file));
	file = tried_find(tried, id);
	if (!file->id) {
		file->id = id;
		tried->files++;
	}
	return &file->count;
}

/* tried_note(): an attempt has failed.  Return: whether to try again. */
static inline bool tried_note(struct tried *tried, uint32_t id)
{
	return ++*tried_count(tried, id) < TRIED_MAX;
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
