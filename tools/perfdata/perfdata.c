// SPDX-License-Identifier: GPL-2.0
/* Recordings of perf record, from the first byte to the last. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "alloc.h"
#include "deferred.h"
#include "header.h"
#include "perfdata.h"
#include "records.h"
#include "rounds.h"
#include "stream.h"

/* perf's own records: enum perf_user_event_type in tools/lib/perf/include/perf/event.h */
enum {
	RECORD_ATTR = 64, RECORD_TRACING_DATA = 66, RECORD_BUILD_ID = 67, RECORD_ROUND = 68,
	RECORD_AUXTRACE = 71, RECORD_EVENT_UPDATE = 78, RECORD_FEATURE = 80,
	RECORD_COMPRESSED = 81, RECORD_COMPRESSED2 = 83,
	RECORD_FIRST_OF_PERF = 64,
};

#define INFLATE_MAX_RECORD	(64u << 20)	/* that one compressed record becomes */
#define READ_EVERY		1024	/* records, between calls of read() */

/**
 * struct part - a file of a recording
 * @stream: the file; NULL if it has been read
 * @time: of its last record that has one
 * @zstd: decompression; NULL until something is compressed
 * @plain: decompressed bytes of records that reading_take_records() has not taken yet
 * @plain_size: bytes in @plain
 * @plain_room: bytes allocated
 */
struct part {
	struct stream	*stream;
	u64		 time;
	ZSTD_DStream	*zstd;
	u8		*plain;
	size_t		 plain_size;
	size_t		 plain_room;
};

/**
 * struct reading - a recording that is being read
 * @data: what is known of the recording
 * @handler: takes its records
 * @error: filled on failure
 * @part: its files; with perf record --threads each thread of perf writes one, in the order of times
 * @count: files in @part
 * @current: the one that is being read
 * @rounds: records that wait
 * @records: records read so far
 */
struct reading {
	struct perfdata			*data;
	const struct perfdata_handler	*handler;
	struct bee_error		*error;
	struct part			*part;
	size_t				 count;
	struct part			*current;
	struct rounds			 rounds;
	u64				 records;
};

/** perfdata_is() - do these first bytes of a file begin a recording? */
bool perfdata_is(const void *start, size_t size)
{
	return size >= 8 && (!memcmp(start, "PERFILE2", 8) || !memcmp(start, "2ELIFREP", 8));
}

static int file_id_compare(const void *a, const void *b)
{
	const struct perfdata_file_id *x = a, *y = b;

	return strcmp(x->path, y->path);
}

/*
 * Sort build-ids, and keep one for each path.  Files that had the same path, in several containers, may
 * have had different ones: then none is known for the path.
 */
static void file_ids_sort(struct perfdata *data)
{
	struct perfdata_file_id *file = data->file, *last = NULL;
	size_t i, n = 0;

	qsort(file, data->nfiles, sizeof(*file), file_id_compare);
	for (i = 0; i < data->nfiles; i++) {
		if (!last || strcmp(last->path, file[i].path)) {
			last = &file[n++];
			*last = file[i];
			continue;
		}
		if (memcmp(&last->build_id, &file[i].build_id, sizeof(last->build_id)))
			last->build_id = (struct perfdata_build_id){ 0 };
		free(file[i].path);
	}
	data->nfiles = data->nsorted = n;
}

/**
 * perfdata_find_build_id() - the build-id that the recording has for a file, as far as it has been read
 * @data: the recording
 * @path: the file
 *
 * Return: the build-id, of size 0 if several files had this path; or NULL.
 */
const struct perfdata_build_id *perfdata_find_build_id(struct perfdata *data, const char *path)
{
	const struct perfdata_file_id wanted = { .path = (char *)path }, *found;

	if (data->nsorted != data->nfiles)
		file_ids_sort(data);
	found = data->nfiles ? bsearch(&wanted, data->file, data->nfiles, sizeof(*data->file),
				       file_id_compare) : NULL;
	return found ? &found->build_id : NULL;
}

static int reading_take_ordered(void *arg, const u8 *record)
{
	struct reading *reading = arg;

	return record_deliver(reading->data, reading->handler, record, reading->error);
}

static int reading_take_kernel(struct reading *reading, const u8 *record)
{
	struct record_header header = record_header(record);
	u64 time;

	if (!reading->data->nevents)
		return error_set(reading->error, EINVAL, "records come before their events");
	time = record_time(reading->data, record);
	if (time)
		reading->current->time = time;
	/* A sample at once as well: records that wait have times, and it has none. */
	rounds_add(&reading->rounds, record, header.size, time);
	/* As perf, if it is given a limit (report.queue-size). */
	return rounds_are_many(&reading->rounds) ?
	       rounds_halve(&reading->rounds, reading_take_ordered, reading) : 0;
}

static int reading_take_attr(struct reading *reading, struct cursor body)
{
	struct cursor attr = body, sizes = body;
	u32 size;

	cursor_u32(&sizes);		/* type */
	size = cursor_u32(&sizes);
	if (!cursor_take(&body, size ?: 64))
		return error_set(reading->error, EINVAL, "the description of an event is cut off");
	attr.end = body.at;
	if (header_add_event(reading->data, attr, body, reading->error))
		return -1;
	header_sort_ids(reading->data);
	return 0;
}

static int reading_take_records(struct reading *reading, const u8 *bytes, size_t size,
				size_t *taken);

/* Decompress; a record may begin in one compressed record and end in the next. */
static int reading_inflate(struct reading *reading, struct cursor packed)
{
	ZSTD_inBuffer in = { packed.at, cursor_left(&packed), 0 };
	struct part *part = reading->current;
	size_t before = part->plain_size, taken = 0, got = 1;
	ZSTD_outBuffer out;

	part->zstd = part->zstd ?: ZSTD_createDStream();
	alloc_check(part->zstd, 0);
	do {
		if (part->plain_size - before > INFLATE_MAX_RECORD)
			return error_set(reading->error, EINVAL, "a compressed record is too large");
		if (part->plain_room - part->plain_size < (128 << 10)) {
			part->plain_room = 2 * part->plain_room + (128 << 10);
			part->plain = alloc_array(part->plain, part->plain_room, 1);
		}
		out = (ZSTD_outBuffer){ part->plain + part->plain_size,
					part->plain_room - part->plain_size, 0 };
		got = ZSTD_decompressStream(part->zstd, &out, &in);
		if (ZSTD_isError(got))
			return error_set(reading->error, EINVAL, "compressed records are damaged: "
					 "%s", ZSTD_getErrorName(got));
		part->plain_size += out.pos;
	} while (in.pos < in.size || out.pos == out.size);
	if (reading_take_records(reading, part->plain, part->plain_size, &taken))
		return -1;
	part->plain_size -= taken;
	memmove(part->plain, part->plain + taken, part->plain_size);
	return 0;
}

/* A record of perf.  @packed: it was compressed. */
static int reading_take_perf(struct reading *reading, const u8 *record, bool packed)
{
	struct record_header header = record_header(record);
	struct cursor body = cursor_of(record + RECORD_HEADER, header.size - RECORD_HEADER);
	u64 feature, size;

	switch (header.type) {
	case RECORD_ATTR:
		return reading_take_attr(reading, body);
	case RECORD_BUILD_ID:
		header_add_build_id(reading->data, cursor_of(record, header.size));
		break;
	case RECORD_FEATURE:
		feature = cursor_u64(&body);
		header_take_feature(reading->data, feature < 256 ? feature : 0, body);
		break;
	case RECORD_EVENT_UPDATE:
		header_name_event(reading->data, body);
		break;
	case RECORD_ROUND:
		if (reading->count > 1)
			break;
		/* However few records there are: perf waits for more when a round ends. */
		if (reading->handler->read)
			reading->handler->read(reading->handler->arg);
		return rounds_end(&reading->rounds, reading_take_ordered, reading);
	case RECORD_COMPRESSED:
	case RECORD_COMPRESSED2:
		if (packed)
			return error_set(reading->error, EINVAL, "compressed records within "
					 "compressed records");
		size = header.type == RECORD_COMPRESSED2 ? cursor_u64(&body) : cursor_left(&body);
		if (size > cursor_left(&body))
			return error_set(reading->error, EINVAL, "a compressed record is cut off");
		body.end = body.at + size;
		return reading_inflate(reading, body);
	}
	return 0;
}

static int reading_check(struct reading *reading, const struct record_header *header)
{
	return header->size >= RECORD_HEADER ? 0 :
	       error_set(reading->error, EINVAL, "record %llu, at %llu, is said to have %u bytes",
			 (unsigned long long)reading->records,
			 (unsigned long long)reading->current->stream->offset, header->size);
}

static int reading_take(struct reading *reading, const u8 *record, bool packed)
{
	if (!(++reading->records % READ_EVERY) && reading->handler->read)
		reading->handler->read(reading->handler->arg);
	if (record_header(record).type < RECORD_FIRST_OF_PERF)
		return reading_take_kernel(reading, record);
	return reading_take_perf(reading, record, packed);
}

/* All records that are whole in @bytes; @taken: how many bytes these records have. */
static int reading_take_records(struct reading *reading, const u8 *bytes, size_t size,
				size_t *taken)
{
	struct record_header header;

	while (size - *taken >= RECORD_HEADER) {
		header = record_header(bytes + *taken);
		if (reading_check(reading, &header))
			return -1;
		if (header.size > size - *taken)
			break;
		if (reading_take(reading, bytes + *taken, true))
			return -1;
		*taken += header.size;
	}
	return 0;
}

/* Bytes that follow a record: traces of the CPU, and the formats of tracepoints in a pipe. */
static u64 record_trailing(const u8 *record)
{
	struct record_header header = record_header(record);
	struct cursor body = cursor_of(record + RECORD_HEADER, header.size - RECORD_HEADER);

	if (header.type == RECORD_TRACING_DATA)
		return ((u64)cursor_u32(&body) + 7) & ~7ull;
	return header.type == RECORD_AUXTRACE ? cursor_u64(&body) : 0;
}

/* Take the next record of a file.  Return: 0, 1 at its end, or -1. */
static int reading_next(struct reading *reading)
{
	struct stream *stream = reading->current->stream;
	const u8 *record = stream_peek(stream, RECORD_HEADER);
	struct record_header header;
	u64 trailing;

	if (!record)
		return 1;
	header = record_header(record);
	if (reading_check(reading, &header))
		return -1;
	record = stream_peek(stream, header.size);
	if (!record)
		return 1;
	trailing = record_trailing(record);
	if (reading_take(reading, record, false))
		return -1;
	stream_take(stream, header.size);
	if (!stream_skip(stream, trailing))
		return 0;
	reading->data->unfinished = true;
	return 1;
}

/* A file has no more records. */
static int reading_end(struct reading *reading)
{
	struct stream *stream = reading->current->stream;

	if (stream->failed)
		return error_set(reading->error, stream->failed, "cannot read: %s",
				 strerror(stream->failed));
	if (stream_peek(stream, 1) || reading->current->plain_size)
		reading->data->unfinished = true;
	reading->current->stream = NULL;
	return 0;
}

/* The file that is behind the others; NULL if all have been read. */
static struct part *reading_behind(const struct reading *reading)
{
	struct part *part = reading->part, *found = NULL;

	for (; part < reading->part + reading->count; part++)
		if (part->stream && (!found || part->time < found->time))
			found = part;
	return found;
}

static int reading_run(struct reading *reading)
{
	int ret;

	while ((reading->current = reading_behind(reading))) {
		/* All that follows is later than this: several files have no rounds of perf's. */
		if (reading->count > 1 && !(reading->records % READ_EVERY)) {
			reading->rounds.limit = reading->current->time;
			if (rounds_end(&reading->rounds, reading_take_ordered, reading))
				return -1;
		}
		ret = reading_next(reading);
		if (ret < 0 || (ret && reading_end(reading)))
			return -1;
	}
	if (rounds_flush(&reading->rounds, reading_take_ordered, reading))
		return -1;
	deferred_flush(reading->data, reading->handler);
	return 0;
}

/* The header; afterwards the stream is at the first record. */
static int reading_begin(struct reading *reading)
{
	struct stream *stream = reading->part->stream;
	u64 start = 0, end = ~0ull;
	struct cursor c;

	if (!stream_peek(stream, HEADER_PIPE_SIZE))
		return error_set(reading->error, EINVAL, "perf.data's header is cut off");
	c = cursor_of(stream_peek(stream, HEADER_PIPE_SIZE), HEADER_PIPE_SIZE);
	if (cursor_u64(&c) != HEADER_MAGIC)
		return error_set(reading->error, EINVAL, "recorded on a machine with another byte "
				 "order");
	if (cursor_u64(&c) == HEADER_PIPE_SIZE) {
		stream_take(stream, HEADER_PIPE_SIZE);
		return 0;
	}
	if (header_read_file(reading->data, stream->fd, &start, &end, reading->error))
		return -1;
	if (stream_seek(stream, start))
		return error_set(reading->error, errno, "cannot read: %s", strerror(errno));
	stream->limit = end;
	return 0;
}

/**
 * perfdata_read() - read a recording
 * @data: all zero; filled.  perfdata_free() releases it, also on failure
 * @stream: perf.data, or what "perf record -o -" writes, at its start; if perf record --threads has written a
 *	directory its file "data", and the files "data.0" and so on by @next
 * @handler: takes the records
 * @error: filled on failure
 *
 * A recording that ends too early, as perf was killed, is read as far as it goes: @data->unfinished
 * says so.
 *
 * Return: 0, or -1 if it cannot be read, or is malformed.
 */
int perfdata_read(struct perfdata *data, struct stream *stream,
		  const struct perfdata_handler *handler, struct bee_error *error)
{
	struct reading reading = { data, handler, error };
	size_t i;
	int ret;

	for (; stream; stream = stream->next) {
		reading.part = alloc_array(reading.part, reading.count + 1, sizeof(*reading.part));
		reading.part[reading.count++] = (struct part){ .stream = stream };
	}
	ret = reading_begin(&reading) ?: reading_run(&reading);
	rounds_free(&reading.rounds);
	for (i = 0; i < reading.count; i++) {
		ZSTD_freeDStream(reading.part[i].zstd);
		free(reading.part[i].plain);
	}
	free(reading.part);
	return ret;
}

void perfdata_free(struct perfdata *data)
{
	size_t i;

	for (i = 0; i < data->nevents; i++)
		free(data->event[i].name);
	for (i = 0; i < data->nfiles; i++)
		free(data->file[i].path);
	free(data->event);
	free(data->ids);
	free(data->file);
	free(data->cmdline);
	free(data->lbr);
	deferred_flush(data, NULL);
	*data = (struct perfdata){ 0 };
}
