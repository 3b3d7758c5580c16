// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzz what flame graphs are written as: of any names, XML and JSON are well-formed (as expat and
 * json-c judge), and files of addresses are refused in one line or become such graphs.  And what
 * debug information is read from: of an ELF file another one is made, or it stays.
 *
 * An ELF file is told by its magic number.  Otherwise the first byte chooses: a file of addresses,
 * folded stacks or perf script's text; or the bytes are names, ended by NUL, of one stack after the
 * other.
 */
#include <elf.h>
#include <expat.h>
#include <json-c/json.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "debug_image.h"
#include "diff.h"
#include "io.h"
#include "output.h"
#include "raw.h"
#include "text_input.h"

#define NAMES_IN_STACK	5

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_xml(const char *text, size_t size)
{
	XML_Parser parser = XML_ParserCreate("UTF-8");

	if (XML_Parse(parser, text, size, 1) != XML_STATUS_OK)
		abort();
	XML_ParserFree(parser);
}

static void check_json(const char *text, size_t size)
{
	struct json_tokener *tokener = json_tokener_new();
	struct json_object *object;

	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	object = json_tokener_parse_ex(tokener, text, size);
	if (json_tokener_get_error(tokener) != json_tokener_success)
		abort();
	json_object_put(object);
	json_tokener_free(tokener);
}

/* Each line of a folded graph ends with a value, or two. */
static void check_folded(const char *text, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		if (text[i] == '\n' && (!i || text[i - 1] < '0' || text[i - 1] > '9'))
			abort();
}

/* What may be checked beside that the writer does nothing wrong. */
static void check_text(const char *format, const char *text, size_t size)
{
	if (!strcmp(format, "svg"))
		check_xml(text, size);
	else if (!strcmp(format, "speedscope") || !strcmp(format, "firefox"))
		check_json(text, size);
	else if (!strcmp(format, "folded"))
		check_folded(text, size);
}

static void check_outputs(const struct graph *graph)
{
	const struct output *output;
	size_t size;
	char *text;
	FILE *out;

	for (output = outputs; output->name; output++) {
		if (!output->write || (graph->is_diff && !output->diff))
			continue;
		out = open_memstream(&text, &size);
		output->write(graph, out);
		fclose(out);
		check_text(output->name, text, size);
		free(text);
	}
}

/* The bytes are names; the kind of each is that of its length. */
static void graph_of_names(struct graph *graph, struct profile *profile, struct resolve *resolve,
			   const uint8_t *data, size_t size)
{
	struct graph_builder builder;
	size_t n = 0;
	u32 at = 0;

	resolve->names = (struct intern)INTERN_OF(struct flame_name, module);
	graph_builder_open(&builder);
	while (size) {
		size_t length = strnlen((const char *)data, size);
		u32 text = texts_add(&profile->texts, (const char *)data, length);
		const struct flame_name name = {
			.text = text, .source = text, .module = text, .line = length % 3,
			.kind = n % NAMES_IN_STACK ? length % FLAME_COMM : FLAME_COMM,
		};

		at = graph_builder_add(&builder, at, intern_add(&resolve->names, &name));
		data += length;
		size -= length;
		if (size) {
			data++;
			size--;
		}
		if (++n % NAMES_IN_STACK && size)
			continue;
		graph_builder_count(&builder, at, n, 3 * n);
		at = 0;
	}
	*graph = (struct graph){
		.texts = &profile->texts, .names = &resolve->names, .event = "event",
		.cmdline = texts_get(&profile->texts, 0), .stops = "stops",
	};
	graph_weigh(graph, false);
	graph_builder_finish(&builder, graph);
	free(builder.place);
}

/* Read it as text.  Return: whether there is a graph. */
static bool graph_of_text(struct graph *graph, struct profile *profile, struct resolve *resolve,
			  const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct bee_error why = {};
	struct stream stream;
	int ret;

	if (fd < 0)
		fd = memfd_create("fuzz_flame", MFD_CLOEXEC);
	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size || lseek(fd, 0, SEEK_SET))
		abort();
	stream_open(&stream, fd);
	if (size >= strlen(RAW_MAGIC) && !memcmp(data, RAW_MAGIC, strlen(RAW_MAGIC)))
		ret = raw_read(&stream, profile, &why);
	else
		ret = text_input_read(&stream, &(struct text_wish){}, profile, resolve, graph, &why);
	if (ret && (!*why.text || strchr(why.text, '\n')))
		abort();
	stream_close(&stream);
	return !ret && graph->node;
}

/* What has been read is written as it was read. */
static void check_raw(const struct profile *profile)
{
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	raw_write(profile, out);
	fclose(out);
	free(text);
}

/* There is a file as long as the other one at least. */
static void check_debug_image(const uint8_t *data, size_t size)
{
	int fd = io_memfd("fuzz_flame", data, size);
	struct stat st;

	if (fd < 0)
		abort();
	fd = debug_image_open(fd);
	if (fstat(fd, &st) || st.st_size < (off_t)size)
		abort();
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct resolve resolve = {};
	struct profile profile;
	struct graph graph = {};
	bool made = true;

	if (!size)
		return 0;
	if (size >= SELFMAG && !memcmp(data, ELFMAG, SELFMAG)) {
		check_debug_image(data, size);
		return 0;
	}
	profile_open(&profile);
	resolve.profile = &profile;
	if (*data % 2)
		graph_of_names(&graph, &profile, &resolve, data, size);
	else
		made = graph_of_text(&graph, &profile, &resolve, data + 1, size - 1);
	if (made && graph.node[0].total) {
		check_outputs(&graph);
		graph_diff(&graph, &resolve, &graph);
		check_outputs(&graph);
	}
	check_raw(&profile);
	graph_free(&graph);
	intern_free(&resolve.names);
	profile_close(&profile);
	return 0;
}
