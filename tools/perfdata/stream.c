// SPDX-License-Identifier: GPL-2.0
/* Read a file or pipe from its start to its end, through a buffer. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "stream.h"

#define STREAM_ROOM	(256u << 10)
#define STREAM_MAX_LINE	(64u << 20)

/** stream_open() - read @fd from where it stands; whoever opened it closes it */
void stream_open(struct stream *stream, int fd)
{
	*stream = (struct stream){ .fd = fd, .room = STREAM_ROOM, .limit = ~0ull };
	stream->buffer = alloc_array(NULL, stream->room, 1);
}

void stream_close(struct stream *stream)
{
	free(stream->buffer);
	stream->buffer = NULL;
}

/* Read more into the buffer, which has room.  Return: false at the end, or on an error. */
static bool stream_fill(struct stream *stream)
{
	ssize_t got;

	do
		got = read(stream->fd, stream->buffer + stream->end, stream->room - stream->end);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		stream->failed = errno;
	stream->end += got > 0 ? got : 0;
	return got > 0;
}

/**
 * stream_peek() - look at the next bytes
 * @stream: the stream
 * @size: how many, at most STREAM_ROOM
 *
 * Return: the bytes, until the next call; NULL if there are not so many left, or on an error.
 */
const u8 *stream_peek(struct stream *stream, size_t size)
{
	if (size > stream->limit - stream->offset || size > stream->room)
		return NULL;
	if (stream->end - stream->at < size) {
		memmove(stream->buffer, stream->buffer + stream->at, stream->end - stream->at);
		stream->end -= stream->at;
		stream->at = 0;
	}
	while (stream->end - stream->at < size)
		if (!stream_fill(stream))
			return NULL;
	return stream->buffer + stream->at;
}

/** stream_take() - go on after bytes that stream_peek() has shown */
void stream_take(struct stream *stream, size_t size)
{
	stream->at += size;
	stream->offset += size;
}

/** stream_seek() - go on at @offset of a file.  Return: 0, or -1 and errno. */
int stream_seek(struct stream *stream, u64 offset)
{
	if (lseek(stream->fd, offset, SEEK_SET) < 0)
		return -1;
	stream->at = stream->end = 0;
	stream->offset = offset;
	return 0;
}

/* Have room for more than is there, and for one byte beside; at most STREAM_MAX_LINE in all. */
static bool stream_make_room(struct stream *stream)
{
	memmove(stream->buffer, stream->buffer + stream->at, stream->end - stream->at);
	stream->end -= stream->at;
	stream->at = 0;
	if (stream->room - stream->end < STREAM_ROOM / 2 && stream->room < STREAM_MAX_LINE) {
		stream->room *= 2;
		stream->buffer = alloc_array(stream->buffer, stream->room, 1);
	}
	return stream->room - stream->end >= 2;
}

/**
 * stream_line() - take the next line
 * @stream: the stream
 * @length: filled: bytes of the line, without the newline
 *
 * Return: the line, ended by NUL and valid until the next call; NULL at the end of the file, and if
 * it cannot be read or has more than STREAM_MAX_LINE bytes: stream_check_line() tells.
 */
char *stream_line(struct stream *stream, size_t *length)
{
	size_t seen = 0;
	char *line, *end;
	bool more = true;

	for (;;) {
		line = (char *)stream->buffer + stream->at;
		end = memchr(line + seen, '\n', stream->end - stream->at - seen);
		seen = stream->end - stream->at;
		if (end || !more)
			break;
		if (!stream_make_room(stream))
			stream->failed = EMSGSIZE;
		else
			more = stream_fill(stream);
		if (stream->failed)
			return NULL;
	}
	if (!end && !seen)
		return NULL;
	/* A last line without newline gets one. */
	if (!end) {
		end = line + seen;
		stream->end++;
	}
	*end = '\0';
	*length = end - line;
	stream_take(stream, *length + 1);
	return line;
}

/**
 * stream_check_line() - was it the end, when stream_line() has returned NULL?
 * @stream: the stream
 * @number: of the line that it should have been
 * @error: filled on failure
 *
 * Return: 0; or -1 if it was not.
 */
int stream_check_line(const struct stream *stream, u64 number, struct bee_error *error)
{
	if (stream->failed == EMSGSIZE)
		return error_set(error, stream->failed, "line %llu has more than %u MiB",
				 (unsigned long long)number, STREAM_MAX_LINE >> 20);
	if (stream->failed)
		return error_set(error, stream->failed, "cannot read line %llu: %s",
				 (unsigned long long)number, strerror(stream->failed));
	return 0;
}

/** stream_skip() - leave out bytes that need not be looked at.  Return: 0, or -1 if they end. */
int stream_skip(struct stream *stream, u64 size)
{
	while (size) {
		size_t part = size < STREAM_ROOM / 2 ? size : STREAM_ROOM / 2;

		if (!stream_peek(stream, part))
			return -1;
		stream_take(stream, part);
		size -= part;
	}
	return 0;
}
