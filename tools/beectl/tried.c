// SPDX-License-Identifier: GPL-2.0
/* Files whose tables could not be made: which of them are tried again, and when. */
#include <stdlib.h>

#include "alloc.h"
#include "tried.h"

/** tried_forget() - forget all attempts; @tried is empty then */
void tried_forget(struct tried *tried)
{
	free(tried->file);
	*tried = (struct tried){ 0 };
}

/* The file's slot, or the free one where it belongs; ids begin at 1. */
static struct tried_file *tried_find(struct tried *tried, uint32_t id)
{
	size_t at = id * 2654435761u % (2 * TRIED_FILES);

	while (tried->file[at].id && tried->file[at].id != id)
		at = (at + 1) % (2 * TRIED_FILES);
	return &tried->file[at];
}

/* The file's slot, which it gets if it has none. */
static struct tried_file *tried_get(struct tried *tried, uint32_t id)
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
	return file;
}

static void tried_set_due(struct tried *tried, struct tried_file *file, int64_t due)
{
	file->due = (due + TRIED_STEP_MS - 1) / TRIED_STEP_MS * TRIED_STEP_MS;
	if (!tried->again || file->due < tried->due)
		tried->due = file->due;
	tried->again = true;
}

/** tried_note() - an attempt has failed at @now; unless it was the last one, try again later */
void tried_note(struct tried *tried, uint32_t id, int64_t now)
{
	struct tried_file *file = tried_get(tried, id);

	if (++file->count < TRIED_MAX)
		tried_set_due(tried, file, now + TRIED_AGAIN_MS);
}

/**
 * tried_note_full() - the module had no room for a table
 * @tried: the files
 * @id: the file
 * @cost: CPU time that the next attempt will take, ms
 * @now: as clock_ms()
 *
 * However often, it is tried again.
 *
 * Return: whether it was so for the first time.
 */
bool tried_note_full(struct tried *tried, uint32_t id, int64_t cost, int64_t now)
{
	struct tried_file *file = tried_get(tried, id);
	bool first = !file->delay;

	file->delay = first ? TRIED_AGAIN_MS : 2 * file->delay;
	if (file->delay > TRIED_LAST_MS)
		file->delay = TRIED_LAST_MS;
	tried_set_due(tried, file, now + (cost * TRIED_COST > file->delay ? cost * TRIED_COST :
									    file->delay));
	return first;
}

/* The file has got a table.  Forget its attempts: if the table is evicted they start anew. */
static void tried_note_made(struct tried *tried, uint32_t id)
{
	struct tried_file *file = tried->file ? tried_find(tried, id) : NULL;

	if (file && file->id)
		*file = (struct tried_file){ .id = id };
}

/** tried_patience() - ms from @now until files are to be tried again; -1: none is */
int tried_patience(const struct tried *tried, int64_t now)
{
	if (!tried->again)
		return -1;
	return tried->due > now ? tried->due - now : 0;
}

/** tried_is_due() - whether files are to be tried again at @now; true once for each time */
bool tried_is_due(struct tried *tried, int64_t now)
{
	const struct tried_file *file = tried->file;
	size_t i;

	if (!tried->again || now < tried->due)
		return false;
	tried->again = false;
	for (i = 0; file && i < 2 * TRIED_FILES; i++)
		if (file[i].due > now && (!tried->again || file[i].due < tried->due)) {
			tried->again = true;
			tried->due = file[i].due;
		}
	return true;
}

/** tried_give_up() - make no other attempt, as it would fail in the same way */
void tried_give_up(struct tried *tried, uint32_t id)
{
	tried_get(tried, id)->count = TRIED_MAX;
}

/**
 * tried_note_result() - note what has become of an attempt
 * @tried: the files
 * @id: the file; 0: nothing is noted
 * @result: of the attempt; nothing is noted if the file is left for later
 * @now: as clock_ms()
 *
 * Return: whether it is worth saying: false if the module has no room for the table, again.
 */
bool tried_note_result(struct tried *tried, uint32_t id, const struct table_result *result,
		       int64_t now)
{
	if (!id || result->left)
		return true;
	if (result->source != TABLE_NONE) {
		tried_note_made(tried, id);
		return true;
	}
	if (table_jobs_refusal_may_pass(result->refusal))
		return tried_note_full(tried, id, result->cost, now);
	/* Later the file may be found. */
	if (table_jobs_refusal_is_general(result->refusal) || !result->opened)
		tried_note(tried, id, now);
	else
		tried_give_up(tried, id);
	return true;
}

/** tried_may() - whether the table of a file may be made at @now: it was not tried, or is due again */
bool tried_may(struct tried *tried, uint32_t id, int64_t now)
{
	const struct tried_file *file = tried->file ? tried_find(tried, id) : NULL;

	return !file || (file->count < TRIED_MAX && file->due <= now);
}
