// SPDX-License-Identifier: GPL-2.0
/*
 * pprof's profile.proto, compressed (https://github.com/google/pprof, proto/profile.proto).  The
 * message is flat and small, and protocol buffers are numbers and bytes with tags, so no library is
 * needed to write it.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "alloc.h"
#include "output.h"

/* Fields of profile.proto. */
enum {
	PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE = 2, PROFILE_LOCATION = 4, PROFILE_FUNCTION = 5,
	PROFILE_STRING_TABLE = 6, PROFILE_COMMENT = 13,
	VALUE_TYPE = 1, VALUE_UNIT = 2,
	SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2,
	LOCATION_ID = 1, LOCATION_LINE = 4,
	LINE_FUNCTION = 1, LINE_LINE = 2,
	FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILENAME = 4,
};

/* The strings that are not texts of the graph come first: number 0 must be "". */
enum { STRING_EMPTY, STRING_UNIT, STRING_COUNT, STRING_CMDLINE, STRINGS };

/* A message that is being written. */
struct message {
	u8	*bytes;
	size_t	 size;
	size_t	 room;
};

static void message_put(struct message *message, const void *bytes, size_t size)
{
	if (message->room - message->size < size) {
		message->room = 2 * message->room + size + 256;
		message->bytes = alloc_array(message->bytes, message->room, 1);
	}
	memcpy(message->bytes + message->size, bytes, size);
	message->size += size;
}

static void message_put_varint(struct message *message, u64 value)
{
	u8 byte;

	do {
		byte = (value & 0x7f) | (value > 0x7f ? 0x80 : 0);
		message_put(message, &byte, 1);
		value >>= 7;
	} while (value);
}

static void message_put_number(struct message *message, unsigned int field, u64 value)
{
	message_put_varint(message, field << 3);
	message_put_varint(message, value);
}

static void message_put_bytes(struct message *message, unsigned int field, const void *bytes,
			      size_t size)
{
	message_put_varint(message, field << 3 | 2);
	message_put_varint(message, size);
	if (size)
		message_put(message, bytes, size);
}

/* Put @part into @message as a field, and empty it. */
static void message_take(struct message *message, unsigned int field, struct message *part)
{
	message_put_bytes(message, field, part->bytes, part->size);
	part->size = 0;
}

static void pprof_put_samples(struct message *profile, const struct graph *graph)
{
	struct message sample = { 0 }, locations = { 0 };
	size_t i, at;

	for (i = 1; i < graph->count; i++) {
		if (!graph->node[i].self)
			continue;
		for (at = i; at; at = graph->node[at].parent)
			message_put_varint(&locations, graph->node[at].name + 1);
		message_take(&sample, SAMPLE_LOCATION, &locations);
		message_put_number(&sample, SAMPLE_VALUE, graph->node[i].self);
		message_take(profile, PROFILE_SAMPLE, &sample);
	}
	free(sample.bytes);
	free(locations.bytes);
}

/* A name is a function and its only location. */
static void pprof_put_names(struct message *profile, const struct graph *graph)
{
	struct message part = { 0 }, line = { 0 };
	u32 i;

	for (i = 0; i < graph->names->count; i++) {
		const struct flame_name *name = intern_item(graph->names, i);

		message_put_number(&part, LOCATION_ID, i + 1);
		message_put_number(&line, LINE_FUNCTION, i + 1);
		message_put_number(&line, LINE_LINE, name->line);
		message_take(&part, LOCATION_LINE, &line);
		message_take(profile, PROFILE_LOCATION, &part);
		message_put_number(&part, FUNCTION_ID, i + 1);
		message_put_number(&part, FUNCTION_NAME, STRINGS + name->text);
		message_put_number(&part, FUNCTION_SYSTEM_NAME, STRINGS + name->text);
		message_put_number(&part, FUNCTION_FILENAME,
				   STRINGS + (name->line ? name->source : name->module));
		message_take(profile, PROFILE_FUNCTION, &part);
	}
	free(part.bytes);
	free(line.bytes);
}

static void pprof_put_strings(struct message *profile, const struct graph *graph)
{
	const char *const strings[STRINGS] = {
		[STRING_EMPTY] = "", [STRING_UNIT] = graph->unit, [STRING_COUNT] = "count",
		[STRING_CMDLINE] = graph->cmdline,
	};
	const char *text;
	u32 i;

	for (i = 0; i < STRINGS; i++)
		message_put_bytes(profile, PROFILE_STRING_TABLE, strings[i], strlen(strings[i]));
	for (i = 0; i < graph->texts->index.count; i++) {
		text = texts_get(graph->texts, i);
		message_put_bytes(profile, PROFILE_STRING_TABLE, text, strlen(text));
	}
}

/* Write @profile as a gzip file: RFC 1952, which zlib does with 16 added to the window's bits. */
static void pprof_compress(const struct message *profile, FILE *out)
{
	z_stream z = { .next_in = profile->bytes, .avail_in = profile->size };
	u8 packed[16 << 10] = { 0 };
	int ret;

	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY))
		alloc_check(NULL, 0);
	do {
		z.next_out = packed;
		z.avail_out = sizeof(packed);
		ret = deflate(&z, Z_FINISH);
		fwrite(packed, 1, sizeof(packed) - z.avail_out, out);
	} while (ret == Z_OK);
	deflateEnd(&z);
}

/** output_pprof() - write a graph for pprof */
void output_pprof(const struct graph *graph, FILE *out)
{
	struct message profile = { 0 }, type = { 0 };

	message_put_number(&type, VALUE_TYPE, STRING_UNIT);
	message_put_number(&type, VALUE_UNIT, STRING_COUNT);
	message_take(&profile, PROFILE_SAMPLE_TYPE, &type);
	pprof_put_samples(&profile, graph);
	pprof_put_names(&profile, graph);
	pprof_put_strings(&profile, graph);
	if (*graph->cmdline)
		message_put_number(&profile, PROFILE_COMMENT, STRING_CMDLINE);
	pprof_compress(&profile, out);
	free(profile.bytes);
	free(type.bytes);
}
