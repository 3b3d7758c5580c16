// SPDX-License-Identifier: GPL-2.0
/* The bytes of a file that others may cut or rewrite at any time. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "reader.h"

#define WINDOW_BYTES	(256u << 10)

/* Bytes of the file from @offset on. */
struct input_copy {
	u64	 offset;
	u64	 size;
	u8	*bytes;
};

/**
 * struct input - an open file
 * @fd: the file; the caller's
 * @st: as it was when it was opened
 * @copies: what input_bytes() has returned
 * @ncopies: number of them
 * @room: copies there is memory for
 * @window: what input_window() has returned
 * @window_offset: its offset in the file
 * @window_size: bytes of it
 * @why: what went wrong first; "" so far
 */
struct input {
	int		 fd;
	struct stat	 st;
	struct input_copy *copies;
	size_t		 ncopies;
	size_t		 room;
	u8		*window;
	u64		 window_offset;
	u64		 window_size;
	char		 why[128];
};

/**
 * input_open() - begin to read a file
 * @fd: the file, which stays the caller's, and open until input_close()
 * @why: on failure, why
 * @size: bytes of @why
 *
 * Return: for the other calls; NULL with @why set.
 */
struct input *input_open(int fd, char *why, size_t size)
{
	struct input *input = alloc_array(NULL, 1, sizeof(*input));

	*input = (struct input){ .fd = fd };
	if (!fstat(fd, &input->st))
		return input;
	snprintf(why, size, "cannot stat: %s", strerror(errno));
	free(input);
	return NULL;
}

/* input_close(): release all that was read; NULL is fine */
void input_close(struct input *input)
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

/* input_size(): bytes of the file when it was opened */
u64 input_size(const struct input *input)
{
	return input->st.st_size;
}

/* The first trouble is the one to tell of. */
static void input_fail(struct input *input, const char *why)
{
	if (!input->why[0])
		snprintf(input->why, sizeof(input->why), "%s", why);
}

static bool input_read(struct input *input, u8 *to, u64 offset, u64 size)
{
	while (size) {
		ssize_t got = pread(input->fd, to, size, offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			input_fail(input, strerror(errno));
		if (!got)
			input_fail(input, "truncated, or cut while it was read");
		if (got <= 0)
			return false;
		to += got;
		offset += got;
		size -= got;
	}
	return true;
}

static bool input_has(struct input *input, u64 offset, u64 size)
{
	u64 all = input_size(input);

	if (offset > all || size > all - offset)
		input_fail(input, "truncated: what its headers speak of is not there");
	else if (size > INPUT_MAX_BYTES)
		input_fail(input, "more than 512 MiB in one piece");
	else
		return true;
	return false;
}

/**
 * input_bytes() - a copy of a part of the file
 * @input: the file
 * @offset: where
 * @size: how many bytes, not 0
 *
 * The same part is read only once.
 *
 * Return: the bytes, until input_close(); NULL if they cannot be read, and then
 * input_trouble() says why.
 */
const u8 *input_bytes(struct input *input, u64 offset, u64 size)
{
	u8 *bytes;
	size_t i;

	for (i = 0; i < input->ncopies; i++)
		if (input->copies[i].offset == offset && input->copies[i].size == size)
			return input->copies[i].bytes;
	if (!input_has(input, offset, size))
		return NULL;
	bytes = alloc_array(NULL, size, 1);
	if (!input_read(input, bytes, offset, size)) {
		free(bytes);
		return NULL;
	}
	input->copies = alloc_room(input->copies, input->ncopies, &input->room,
				   sizeof(*input->copies));
	input->copies[input->ncopies++] = (struct input_copy){ offset, size, bytes };
	return bytes;
}

/**
 * input_window() - look at a part of the file
 * @input: the file
 * @offset: where
 * @size: how many bytes, not 0, at most INPUT_MAX_WINDOW
 *
 * Made for those who look at many places in ascending order.
 *
 * Return: the bytes, until the next call; NULL as for input_bytes().
 */
const u8 *input_window(struct input *input, u64 offset, u64 size)
{
	u64 ahead;

	if (input->window && offset >= input->window_offset &&
	    offset - input->window_offset <= input->window_size &&
	    size <= input->window_size - (offset - input->window_offset))
		return input->window + (offset - input->window_offset);
	if (!input_has(input, offset, size))
		return NULL;
	if (!input->window)
		input->window = alloc_array(NULL, WINDOW_BYTES, 1);
	ahead = input_size(input) - offset;
	if (ahead > WINDOW_BYTES)
		ahead = WINDOW_BYTES;
	input->window_offset = offset;
	input->window_size = input_read(input, input->window, offset, ahead) ? ahead : 0;
	return input->window_size ? input->window : NULL;
}

/**
 * input_trouble() - has the file been read as it was?
 * @input: the file
 *
 * Return: NULL if all that was asked for could be read and nobody has changed the file
 * since it was opened, as far as its size and time of change tell; or why not.
 */
const char *input_trouble(struct input *input)
{
	struct stat now;

	if (!input->why[0] && !fstat(input->fd, &now) &&
	    (now.st_size != input->st.st_size || now.st_mtim.tv_sec != input->st.st_mtim.tv_sec ||
	     now.st_mtim.tv_nsec != input->st.st_mtim.tv_nsec))
		input_fail(input, "changed while it was read");
	return input->why[0] ? input->why : NULL;
}
