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
#include "text.h"

#define PPROF_PIECE	(1u << 30)	/* bytes that zlib is given at a time; it counts in 32 bits */

/* Fields of profile.proto. */
enum {
	PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE = 2, PROFILE_LOCATION = 4, PROFILE_FUNCTION = 5,
	PROFILE_STRING_TABLE = 6, PROFILE_COMMENT = 13, PROFILE_DEFAULT_SAMPLE_TYPE = 14,
	VALUE_TYPE = 1, VALUE_UNIT = 2,
	SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2,
	LOCATION_ID = 1, LOCATION_LINE = 4,
	LINE_FUNCTION = 1, LINE_LINE = 2,
	FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILENAME = 4,
};

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

/**
 * struct pprof - a profile that is being written
 * @profile: the message
 * @strings: its string table, put into @profile at the end
 * @string: one that is being made
 * @types: kinds of values that each sample has
 */
struct pprof {
	struct message	profile;
	struct texts	strings;
	struct message	string;
	unsigned int	types;
};

/* Readers of protobuf refuse a whole message if one string in it is not UTF-8. */
static u32 pprof_string(struct pprof *pprof, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	struct message *string = &pprof->string;
	unsigned int n;

	for (string->size = 0; *s; s += n ?: 1) {
		n = text_utf8_length(s);
		message_put(string, n ? (const char *)s : "\xef\xbf\xbd", n ?: 3);
	}
	return texts_add(&pprof->strings, string->size ? (const char *)string->bytes : "",
			 string->size);
}

static bool graph_has_periods(const struct graph *graph)
{
	size_t i;

	for (i = 0; i < graph->count; i++)
		if (graph->node[i].period)
			return true;
	return false;
}

static void pprof_put_type(struct pprof *pprof, const char *name, const char *unit, bool shown)
{
	struct message type = { 0 };

	message_put_number(&type, VALUE_TYPE, pprof_string(pprof, name));
	message_put_number(&type, VALUE_UNIT, pprof_string(pprof, unit));
	message_take(&pprof->profile, PROFILE_SAMPLE_TYPE, &type);
	if (shown)
		message_put_number(&pprof->profile, PROFILE_DEFAULT_SAMPLE_TYPE,
				   pprof_string(pprof, name));
	pprof->types++;
	free(type.bytes);
}

/* For each event its samples and, if they are known, what they stand for. */
static void pprof_put_types(struct pprof *pprof, const struct graph *graph)
{
	const struct graph *of = graph;
	char name[256];

	for (; of; of = of->next) {
		bool by_period = of == graph && of->by_period;

		snprintf(name, sizeof(name), graph->next ? "%.200s samples" : "samples", of->event);
		pprof_put_type(pprof, name, "count", of == graph && !by_period);
		if (graph_has_periods(of))
			pprof_put_type(pprof, of->event, graph_event_is_time(of->event) ?
				       "nanoseconds" : "count", by_period);
	}
}

/* @first: which of the values of each sample is the first one of this event. */
static void pprof_put_samples(struct pprof *pprof, const struct graph *graph, unsigned int first,
			      unsigned int values)
{
	struct message sample = { 0 }, locations = { 0 };
	unsigned int type;
	size_t i, at;

	for (i = 1; i < graph->count; i++) {
		const struct graph_node *node = &graph->node[i];

		if (!node->samples && !node->period)
			continue;
		for (at = i; at; at = graph->node[at].parent)
			message_put_varint(&locations, graph->node[at].name + 1);
		message_take(&sample, SAMPLE_LOCATION, &locations);
		for (type = 0; type < pprof->types; type++)
			message_put_varint(&locations, type == first ? node->samples :
					   type == first + 1 && values > 1 ? node->period : 0);
		message_take(&sample, SAMPLE_VALUE, &locations);
		message_take(&pprof->profile, PROFILE_SAMPLE, &sample);
	}
	free(sample.bytes);
	free(locations.bytes);
}

/* A name is a function and its only location. */
static void pprof_put_names(struct pprof *pprof, const struct graph *graph)
{
	struct message *profile = &pprof->profile, part = { 0 }, line = { 0 };
	u32 i, text;

	for (i = 0; i < graph->names->count; i++) {
		const struct flame_name *name = intern_item(graph->names, i);

		message_put_number(&part, LOCATION_ID, i + 1);
		message_put_number(&line, LINE_FUNCTION, i + 1);
		message_put_number(&line, LINE_LINE, name->line);
		message_take(&part, LOCATION_LINE, &line);
		message_take(profile, PROFILE_LOCATION, &part);
		text = pprof_string(pprof, texts_get(graph->texts, name->text));
		message_put_number(&part, FUNCTION_ID, i + 1);
		message_put_number(&part, FUNCTION_NAME, text);
		message_put_number(&part, FUNCTION_SYSTEM_NAME, text);
		text = name->line ? name->source : name->module;
		message_put_number(&part, FUNCTION_FILENAME,
				   pprof_string(pprof, texts_get(graph->texts, text)));
		message_take(profile, PROFILE_FUNCTION, &part);
	}
	free(part.bytes);
	free(line.bytes);
}

/* Write @profile as a gzip file: RFC 1952, which zlib does with 16 added to the window's bits. */
static void pprof_compress(const struct message *profile, FILE *out)
{
	z_stream z = { .next_in = profile->bytes };
	u8 packed[16 << 10] = { 0 };
	size_t left = profile->size;
	int ret;

	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY))
		alloc_check(NULL, 0);
	do {
		if (!z.avail_in) {
			z.avail_in = left < PPROF_PIECE ? left : PPROF_PIECE;
			left -= z.avail_in;
		}
		z.next_out = packed;
		z.avail_out = sizeof(packed);
		ret = deflate(&z, left ? Z_NO_FLUSH : Z_FINISH);
		fwrite(packed, 1, sizeof(packed) - z.avail_out, out);
	} while (ret == Z_OK);
	deflateEnd(&z);
}

/** output_pprof() - write a graph for pprof, with those of other events */
void output_pprof(const struct graph *graph, FILE *out)
{
	const struct graph *of = graph;
	struct pprof pprof = { 0 };
	unsigned int first = 0, values;
	const char *text;
	u32 i;

	texts_open(&pprof.strings);
	pprof_string(&pprof, "");	/* must be number 0 */
	pprof_put_types(&pprof, graph);
	for (; of; of = of->next, first += values) {
		values = graph_has_periods(of) ? 2 : 1;
		pprof_put_samples(&pprof, of, first, values);
	}
	pprof_put_names(&pprof, graph);
	if (*graph->cmdline)
		message_put_number(&pprof.profile, PROFILE_COMMENT,
				   pprof_string(&pprof, graph->cmdline));
	for (i = 0; i < pprof.strings.index.count; i++) {
		text = texts_get(&pprof.strings, i);
		message_put_bytes(&pprof.profile, PROFILE_STRING_TABLE, text, strlen(text));
	}
	pprof_compress(&pprof.profile, out);
	texts_close(&pprof.strings);
	free(pprof.profile.bytes);
	free(pprof.string.bytes);
}
