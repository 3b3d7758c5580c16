/* SPDX-License-Identifier: GPL-2.0 */
/* Read a file or pipe from its start to its end, through a buffer. */
#ifndef STREAM_H
#define STREAM_H

#include <linux/types.h>
#include <stddef.h>

#include "error.h"

/**
 * struct stream - the file, and what has been read of it but not taken
 * @fd: the file
 * @buffer: bytes read
 * @at: the first byte that has not been taken
 * @end: bytes in @buffer
 * @room: bytes allocated
 * @offset: in the file, of the byte at @at
 * @limit: offset of the first byte that does not count
 * @next: if the recording has several files, the next one, which has no header; or NULL
 * @failed: errno value of a read that has failed, EMSGSIZE for a line that is too long; 0 if none has
 */
struct stream {
	int	 fd;
	u8	*buffer;
	size_t	 at;
	size_t	 end;
	size_t	 room;
	u64	 offset;
	u64	 limit;
	struct stream *next;
	int	 failed;
};

void stream_open(struct stream *stream, int fd);
void stream_close(struct stream *stream);
const u8 *stream_peek(struct stream *stream, size_t size);
void stream_take(struct stream *stream, size_t size);
int stream_seek(struct stream *stream, u64 offset);
char *stream_line(struct stream *stream, size_t *length);
int stream_check_line(const struct stream *stream, u64 number, struct bee_error *error);
int stream_skip(struct stream *stream, u64 size);

#endif /* STREAM_H */
