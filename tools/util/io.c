// SPDX-License-Identifier: GPL-2.0
/* Whole files at once. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io.h"

/* io_write_all(): write @size bytes at the offset of @fd.  Return: 0, or -1 and errno. */
int io_write_all(int fd, const void *data, size_t size)
{
	while (size) {
		ssize_t put = write(fd, data, size);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -1;
		data = (const char *)data + put;
		size -= put;
	}
	return 0;
}

/* io_memfd(): a file in memory with these bytes.  Return: its descriptor, or -1 and errno. */
int io_memfd(const char *name, const void *data, size_t size)
{
	int fd = memfd_create(name, MFD_CLOEXEC), error;

	if (fd < 0 || !io_write_all(fd, data, size))
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

static char *read_to_end(int fd, size_t *size)
{
	size_t room = 64 << 10;
	char *text = malloc(room);

	*size = 0;
	while (text) {
		ssize_t got = read(fd, text + *size, room - *size - 1);
		char *more;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			break;
		*size += got;
		text[*size] = '\0';
		if (!got)
			return text;
		if (room - *size > 4096)
			continue;
		more = realloc(text, room *= 2);
		if (!more)
			break;
		text = more;
	}
	free(text);
	return NULL;
}

/**
 * io_read_all() - the content of a file, which may not know its size (/proc)
 * @path: the file
 * @size: bytes read; NULL if of no interest
 *
 * Return: the bytes and one NUL more, malloc'ed; or NULL and errno.
 */
char *io_read_all(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), saved;
	size_t bytes;
	char *text;

	if (fd < 0)
		return NULL;
	text = read_to_end(fd, &bytes);
	saved = errno;
	close(fd);
	errno = saved;
	if (size)
		*size = bytes;
	return text;
}
