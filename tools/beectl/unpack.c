// SPDX-License-Identifier: GPL-2.0
/* Files that gzip or zstd has compressed. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "alloc.h"
#include "unpack.h"

#define UNPACK_ROOM	(256u << 10)

/**
 * unpack_program() - which program unpacks a file
 * @start: its first four bytes
 *
 * Return: its name; NULL if the file is not compressed by gzip or zstd.
 */
const char *unpack_program(const void *start)
{
	if (!memcmp(start, "\x1f\x8b", 2))
		return "zcat";
	return memcmp(start, "\x28\xb5\x2f\xfd", 4) ? NULL : "zstdcat";
}

/* Return: whether all was read; @out says whether it was written. */
static bool unpack_gzip(int fd, FILE *out)
{
	int copy = dup(fd), got;
	gzFile in = copy < 0 ? NULL : gzdopen(copy, "rb");
	char *bytes;
	bool good;

	if (!in)
		return false;
	bytes = alloc_array(NULL, UNPACK_ROOM, 1);
	while ((got = gzread(in, bytes, UNPACK_ROOM)) > 0 && fwrite(bytes, got, 1, out))
		;
	good = got >= 0;
	free(bytes);
	return gzclose(in) == Z_OK && good;
}

/* Return: whether all was read; @out says whether it was written. */
static bool unpack_zstd(int fd, FILE *out)
{
	char *bytes = alloc_array(NULL, 2 * UNPACK_ROOM, 1);
	ZSTD_DStream *zstd = alloc_check(ZSTD_createDStream(), 0);
	size_t left = 0;
	ssize_t got;

	while ((got = read(fd, bytes, UNPACK_ROOM)) > 0) {
		ZSTD_inBuffer in = { bytes, got, 0 };
		ZSTD_outBuffer to;

		do {
			to = (ZSTD_outBuffer){ bytes + UNPACK_ROOM, UNPACK_ROOM, 0 };
			left = ZSTD_decompressStream(zstd, &to, &in);
		} while (!ZSTD_isError(left) && fwrite(to.dst, 1, to.pos, out) == to.pos &&
			 (in.pos < in.size || (left && to.pos == to.size)));
		if (ZSTD_isError(left) || ferror(out))
			break;
	}
	ZSTD_freeDStream(zstd);
	free(bytes);
	return !got && !left;
}

/**
 * unpack() - unpack a file
 * @fd: the file, at its start
 * @error: filled on failure
 *
 * Return: a temporary file with what is in it, at its start, to be closed; @fd if it is not compressed, or a pipe;
 * -1 on failure.
 */
int unpack(int fd, struct bee_error *error)
{
	const char *program;
	char magic[4];
	int unpacked = -1;
	bool is_read;
	FILE *out;

	program = pread(fd, magic, sizeof(magic), 0) == sizeof(magic) ? unpack_program(magic) : NULL;
	if (!program)
		return fd;
	out = tmpfile();
	if (!out)
		return error_set(error, errno, "it is compressed; no temporary file: %s", strerror(errno));
	is_read = strcmp(program, "zcat") ? unpack_zstd(fd, out) : unpack_gzip(fd, out);
	if (fflush(out) || ferror(out))
		error_set(error, errno, "it is compressed; cannot write a temporary file: %s", strerror(errno));
	else if (!is_read)
		error_set(error, EINVAL, "it is compressed, and damaged or cut off");
	else if ((unpacked = dup(fileno(out))) < 0 || lseek(unpacked, 0, SEEK_SET) < 0)
		error_set(error, errno, "it is compressed: %s", strerror(errno));
	fclose(out);
	return unpacked;
}
