// SPDX-License-Identifier: GPL-2.0
/* The bytes of a file that others may cut or rewrite at any time. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "error.h"
#include "reader.h"

#define WINDOW_BYTES	(256u << 10)

/* Bytes of the file from @offset on. */
struct reader_copy {
	u64	 offset;
	u64	 size;
	u8	*bytes;
};

/**
 * struct reader - an open file
 * @fd: the file; the caller's
 * @st: as it was when it was opened
 * @copies: what reader_bytes() has returned
 * @ncopies: number of them
 * @room: copies there is memory for
 * @window: what reader_window() has returned
 * @window_offset: its offset in the file
 * @window_size: bytes of it
 * @why: what went wrong first; "" so far
 */
struct reader {
	int		 fd;
	struct stat	 st;
	struct reader_copy *copies;
	size_t		 ncopies;
	size_t		 room;
	u8		*window;
	u64		 window_offset;
	u64		 window_size;
	char		 why[128];
};

/**
 * reader_open() - begin to read a file
 * @fd: the file, which stays the caller's, and open until reader_close()
 * @error: filled on failure
 *
 * Return: for the other calls; or NULL.
 */
struct reader *reader_open(int fd, struct bee_error *error)
{
	struct reader *input = alloc_array(NULL, 1, sizeof(*input));

	*input = (struct reader){ .fd = fd };
	if (!fstat(fd, &input->st))
		return input;
	error_set(error, errno, "cannot stat: %s", strerror(errno));
	free(input);
	return NULL;
}

/* reader_close(): release all that was read; NULL is fine */
void reader_close(struct reader *input)
{
	size_t i;

	if (!input)
		return;
	for (i = 0; i < input->ncopies; i++)
		free(input->copies[i].bytes);
	free(input->copies);
	free(input->window);
	free(input);
}

/* reader_size(): bytes of the file when it was opened */
u64 reader_size(const struct reader *input)
{
	return input->st.st_size;
}

/* The first trouble is the one to tell of. */
static void reader_fail(struct reader *input, const char *why)
{
	if (!input->why[0])
		snprintf(input->why, sizeof(input->why), "%s", why);
}

static bool reader_read(struct reader *input, u8 *to, u64 offset, u64 size)
{
	while (size) {
		ssize_t got = pread(input->fd, to, size, offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			reader_fail(input, strerror(errno));
		if (!got)
			reader_fail(input, "truncated, or cut while it was read");
		if (got <= 0)
			return false;
		to += got;
		offset += got;
		size -= got;
	}
	return true;
}

static bool reader_has(struct reader *input, u64 offset, u64 size)
{
	u64 all = reader_size(input);

	if (offset > all || size > all - offset)
		reader_fail(input, "truncated: what its headers speak of is not there");
	else if (size > READER_MAX_BYTES)
		reader_fail(input, "more than 512 MiB in one piece");
	else
		return true;
	return false;
}

/**
 * reader_bytes() - a copy of a part of the file
 * @input: the file
 * @offset: where
 * @size: how many bytes, not 0
 *
 * The same part is read only once.
 *
 * Return: the bytes, until reader_close(); NULL if they cannot be read, and then
 * reader_trouble() says why.
 */
const u8 *reader_bytes(struct reader *input, u64 offset, u64 size)
{
	u8 *bytes;
	size_t i;

	for (i = 0; i < input->ncopies; i++)
		if (input->copies[i].offset == offset && input->copies[i].size == size)
			return input->copies[i].bytes;
	if (!reader_has(input, offset, size))
		return NULL;
	bytes = alloc_array(NULL, size, 1);
	if (!reader_read(input, bytes, offset, size)) {
		free(bytes);
		return NULL;
	}
	input->copies = alloc_room(input->copies, input->ncopies, &input->room,
				   sizeof(*input->copies));
	input->copies[input->ncopies++] = (struct reader_copy){ offset, size, bytes };
	return bytes;
}

/**
 * reader_window() - look at a part of the file
 * @input: the file
 * @offset: where
 * @size: how many bytes, not 0, at most READER_MAX_WINDOW
 *
 * Made for those who look at many places in ascending order.
 *
 * Return: the bytes, until the next call; NULL as for reader_bytes().
 */
const u8 *reader_window(struct reader *input, u64 offset, u64 size)
{
	u64 ahead;

	if (input->window && offset >= input->window_offset &&
	    offset - input->window_offset <= input->window_size &&
	    size <= input->window_size - (offset - input->window_offset))
		return input->window + (offset - input->window_offset);
	if (!reader_has(input, offset, size))
		return NULL;
	if (!input->window)
		input->window = alloc_array(NULL, WINDOW_BYTES, 1);
	ahead = reader_size(input) - offset;
	if (ahead > WINDOW_BYTES)
		ahead = WINDOW_BYTES;
	input->window_offset = offset;
	input->window_size = reader_read(input, input->window, offset, ahead) ? ahead : 0;
	return input->window_size ? input->window : NULL;
}

/**
 * reader_trouble() - has the file been read as it was?
 * @input: the file
 *
 * Return: NULL if all that was asked for could be read and nobody has changed the file
 * since it was opened, as far as its size and time of change tell; or why not.
 */
const char *reader_trouble(struct reader *input)
{
	struct stat now;

	if (!input->why[0] && !fstat(input->fd, &now) &&
	    (now.st_size != input->st.st_size || now.st_mtim.tv_sec != input->st.st_mtim.tv_sec ||
	     now.st_mtim.tv_nsec != input->st.st_mtim.tv_nsec))
		reader_fail(input, "changed while it was read");
	return input->why[0] ? input->why : NULL;
}
