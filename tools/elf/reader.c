// SPDX-License-Identifier: GPL-2.0
/* Copies of the bytes of a file that other processes may truncate or rewrite at any time. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "error.h"
#include "io.h"
#include "reader.h"

#define WINDOW_BYTES	(256u << 10)

/* reader_part() gives as many bytes as so many files of this size have. */
#define PART_FILES	4

/* Parts of the file that reader_spot() keeps, and their bytes. */
#define SPOTS		64
#define SPOT_BYTES	4096u

/* Bytes of the file from @offset on. */
struct reader_copy {
	u64	 offset;
	u64	 size;
	u8	*bytes;
};

/* SPOT_BYTES of the file from @offset on, and what may be asked for at the last of them. */
struct reader_part {
	u64	offset;
	u64	size;		/* 0: not read */
	u8	bytes[SPOT_BYTES + READER_MAX_SPOT];
};

struct reader {
	int			 fd;		/* the caller's */
	struct stat		 st;		/* when the reader was opened */
	struct reader_copy	*copies;	/* for reader_bytes() */
	size_t			 ncopies;
	size_t			 room;
	u8			*window;	/* for reader_window() */
	u64			 window_offset;	/* in the file */
	u64			 window_size;
	struct reader_part	*spots;		/* for reader_spot() */
	u64			 parts;		/* bytes that reader_part() was asked for */
	bool			 cut;		/* they were too many */
	struct bee_error	 trouble;	/* what went wrong first; no text if nothing did */
};

/**
 * reader_open() - begin to read a file
 * @fd: the file, which stays the caller's, and open until reader_close()
 * @error: filled on failure
 *
 * Return: the reader, for reader_close(); or NULL.
 */
struct reader *reader_open(int fd, struct bee_error *error)
{
	struct reader *reader = alloc_array(NULL, 1, sizeof(*reader));

	*reader = (struct reader){ .fd = fd };
	if (!fstat(fd, &reader->st))
		return reader;
	error_set(error, errno, "cannot stat: %s", strerror(errno));
	free(reader);
	return NULL;
}

/* reader_close(): release all that was read; NULL is fine */
void reader_close(struct reader *reader)
{
	size_t i;

	if (!reader)
		return;
	for (i = 0; i < reader->ncopies; i++)
		free(reader->copies[i].bytes);
	free(reader->copies);
	free(reader->window);
	free(reader->spots);
	free(reader);
}

/* reader_size(): bytes of the file when it was opened */
u64 reader_size(const struct reader *reader)
{
	return reader->st.st_size;
}

/* Keep the first reason: others follow from it. */
static void reader_fail(struct reader *reader, int code, const char *why)
{
	if (!reader->trouble.text[0])
		error_set(&reader->trouble, code, "%s", why);
}

static bool reader_read(struct reader *reader, u8 *to, u64 offset, u64 size)
{
	ssize_t got = io_read_at(reader->fd, to, size, offset);

	if (got < 0)
		reader_fail(reader, errno, strerror(errno));
	else if ((u64)got < size)
		reader_fail(reader, ESTALE, "truncated, or cut while it was read");
	return got >= 0 && (u64)got == size;
}

static bool reader_has(struct reader *reader, u64 offset, u64 size)
{
	u64 all = reader_size(reader);

	if (offset > all || size > all - offset)
		reader_fail(reader, 0, "truncated: what its headers speak of is not there");
	else if (size > READER_MAX_BYTES)
		reader_fail(reader, 0, "more than 512 MiB in one piece");
	else
		return true;
	return false;
}

/**
 * reader_bytes() - a copy of a part of the file
 * @reader: the file
 * @offset: where
 * @size: how many bytes, not 0
 *
 * A part that was read before is not read again.
 *
 * Return: the bytes, until reader_close(); NULL if they cannot be read, and then
 * reader_check() says why.
 */
const u8 *reader_bytes(struct reader *reader, u64 offset, u64 size)
{
	u8 *bytes;
	size_t i;

	for (i = 0; i < reader->ncopies; i++)
		if (reader->copies[i].offset == offset && reader->copies[i].size == size)
			return reader->copies[i].bytes;
	if (!reader_has(reader, offset, size))
		return NULL;
	bytes = alloc_array(NULL, size, 1);
	if (!reader_read(reader, bytes, offset, size)) {
		free(bytes);
		return NULL;
	}
	reader->copies = alloc_room(reader->copies, reader->ncopies, &reader->room,
				   sizeof(*reader->copies));
	reader->copies[reader->ncopies++] = (struct reader_copy){ offset, size, bytes };
	return bytes;
}

/**
 * reader_part() - reader_bytes() for parts that hardly overlap, as those of linkers do
 * @reader: the file
 * @offset: where
 * @size: how many bytes, not 0
 *
 * Return: as reader_bytes(); NULL too if it is more than READER_MAX_BYTES, or if all since
 * reader_parts_end() are more than four times the bytes of the file, so that who goes through them
 * takes no longer than in proportion to it.
 */
const u8 *reader_part(struct reader *reader, u64 offset, u64 size)
{
	reader->cut |= size > READER_MAX_BYTES ||
		       size > PART_FILES * reader_size(reader) - reader->parts;
	if (reader->cut)
		return NULL;
	reader->parts += size;
	return reader_bytes(reader, offset, size);
}

/* reader_parts_end(): has reader_part() given all that it was asked for?  What it gives is counted anew. */
bool reader_parts_end(struct reader *reader)
{
	bool all = !reader->cut;

	reader->cut = false;
	reader->parts = 0;
	return all;
}

/**
 * reader_window() - look at a part of the file
 * @reader: the file
 * @offset: where
 * @size: how many bytes, not 0, at most READER_MAX_WINDOW
 *
 * Fast for callers that go through the file in ascending order: it reads ahead.
 *
 * Return: the bytes, until the next call; NULL as for reader_bytes().
 */
const u8 *reader_window(struct reader *reader, u64 offset, u64 size)
{
	u64 ahead;

	if (reader->window && offset >= reader->window_offset &&
	    offset - reader->window_offset <= reader->window_size &&
	    size <= reader->window_size - (offset - reader->window_offset))
		return reader->window + (offset - reader->window_offset);
	if (!reader_has(reader, offset, size))
		return NULL;
	if (!reader->window)
		reader->window = alloc_array(NULL, WINDOW_BYTES, 1);
	ahead = reader_size(reader) - offset;
	if (ahead > WINDOW_BYTES)
		ahead = WINDOW_BYTES;
	reader->window_offset = offset;
	reader->window_size = reader_read(reader, reader->window, offset, ahead) ? ahead : 0;
	return reader->window_size ? reader->window : NULL;
}

/**
 * reader_spot() - look at a few bytes
 * @reader: the file
 * @offset: where
 * @size: how many bytes, not 0, at most READER_MAX_SPOT
 *
 * Fast for callers that look here and there, as it does not read ahead.
 *
 * Return: the bytes, until the next call; NULL as for reader_bytes().
 */
const u8 *reader_spot(struct reader *reader, u64 offset, u64 size)
{
	u64 start = offset - offset % SPOT_BYTES, want = reader_size(reader) - start;
	struct reader_part *spot;

	if (!reader_has(reader, offset, size))
		return NULL;
	if (!reader->spots)
		reader->spots = alloc_zero(SPOTS, sizeof(*reader->spots));
	spot = &reader->spots[offset / SPOT_BYTES % SPOTS];
	if (!spot->size || spot->offset != start) {
		if (want > sizeof(spot->bytes))
			want = sizeof(spot->bytes);
		spot->offset = start;
		spot->size = reader_read(reader, spot->bytes, start, want) ? want : 0;
	}
	return spot->size ? spot->bytes + (offset - start) : NULL;
}

/**
 * reader_check() - was every read good, and is the file the one that was opened?
 * @reader: the file
 * @error: filled if not; its code is an errno if the file could not be read or has changed, so that
 *	another attempt may be better, and 0 if its contents are to blame
 *
 * Return: 0 if all reads succeeded and size and mtime are what they were in reader_open(), or -1.
 */
int reader_check(struct reader *reader, struct bee_error *error)
{
	struct stat now;

	if (!fstat(reader->fd, &now) &&
	    (now.st_size != reader->st.st_size || now.st_mtim.tv_sec != reader->st.st_mtim.tv_sec ||
	     now.st_mtim.tv_nsec != reader->st.st_mtim.tv_nsec))
		reader_fail(reader, ESTALE, "changed while it was read");
	if (!reader->trouble.text[0])
		return 0;
	*error = reader->trouble;
	return -1;
}
