// SPDX-License-Identifier: GPL-2.0
/*
 * Profiles as text, a line for each thing.  Files, frames and nodes are numbered in the order of
 * their lines, from 0; texts stand at the end of lines, with white space, control characters, "%" and
 * what is not UTF-8 as %XX:
 *
 *	cmdline TEXT		what was recorded
 *	stops TEXT		how walks ended
 *	kernel ADDRESS SYMBOL	where a symbol of the kernel was
 *	lost LOST THROTTLED UNFINISHED
 *	event SAMPLES NAME
 *	file KIND BUILD-ID MAPPED-ID PID DEV INODE PATH
 *				of the kernel PATH is empty, or what the recording calls the code
 *	jitdump PATH		of the file before
 *	ended			the process of the file before has ended while it was recorded
 *	frame FILE EXACT 0xOFFSET, or for threads: frame FILE EXACT NAME
 *	node PARENT FRAME SAMPLES PERIOD
 *
 * Build-ids that are not known, and parents that are not there, are "-".  The last line is "end", so
 * a file that was cut off is known by its absence.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "raw.h"
#include "text.h"

#define RAW_VERSION	"2"

static const char *const raw_kinds[] = {
	[PROFILE_ELF] = "elf", [PROFILE_KERNEL] = "kernel", [PROFILE_JIT] = "jit",
	[PROFILE_UNKNOWN] = "unknown", [PROFILE_COMM] = "thread", [PROFILE_EVENT] = "event",
};

#define RAW_KINDS	(sizeof(raw_kinds) / sizeof(raw_kinds[0]))

static void raw_put_text(const struct profile *profile, u32 number, FILE *out)
{
	const unsigned char *s = (const unsigned char *)profile_get_text(profile, number);

	while (*s) {
		unsigned int n = text_utf8_length(s);
		bool plain = n && *s != ' ' && *s != '%' && !text_utf8_is_control(s);

		for (n = n ?: 1; n; n--, s++)
			plain ? putc(*s, out) : fprintf(out, "%%%02x", *s);
	}
	putc('\n', out);
}

static const char *raw_id(const struct profile *profile, u32 number)
{
	const char *id = profile_get_text(profile, number);

	return *id ? id : "-";
}

static void raw_put_frame(const struct profile *profile, const struct profile_frame *frame,
			  FILE *out)
{
	fprintf(out, "frame %u %u ", frame->file, frame->exact);
	if (profile_file(profile, frame->file)->kind == PROFILE_COMM)
		raw_put_text(profile, frame->offset, out);
	else
		fprintf(out, "%#llx\n", (unsigned long long)frame->offset);
}

static void raw_put_node(const struct profile_node *node, FILE *out)
{
	if (node->parent == INTERN_NONE)
		fputs("node -", out);
	else
		fprintf(out, "node %u", node->parent);
	fprintf(out, " %u %llu %llu\n", node->frame, (unsigned long long)node->samples,
		(unsigned long long)node->period);
}

/** raw_write() - write a profile as raw_read() reads it */
void raw_write(const struct profile *profile, FILE *out)
{
	size_t event;
	u32 i;

	fputs(RAW_MAGIC RAW_VERSION "\ncmdline ", out);
	raw_put_text(profile, profile->cmdline, out);
	fputs("stops ", out);
	raw_put_text(profile, profile->stops, out);
	fprintf(out, "kernel %#llx ", (unsigned long long)profile->kernel_address);
	raw_put_text(profile, profile->kernel_symbol, out);
	fprintf(out, "lost %llu %llu %u\n", (unsigned long long)profile->lost,
		(unsigned long long)profile->throttled, profile->unfinished);
	for (event = 0; event < profile->nevents; event++) {
		fprintf(out, "event %llu ", (unsigned long long)profile->event[event].samples);
		raw_put_text(profile, profile->event[event].name, out);
	}
	for (i = 0; i < profile->files.count; i++) {
		const struct profile_file *file = profile_file(profile, i);

		fprintf(out, "file %s %s %s %u %#llx %llu ", raw_kinds[file->kind],
			raw_id(profile, file->build_id), raw_id(profile, file->mapped_id),
			file->pid, (unsigned long long)file->dev, (unsigned long long)file->inode);
		raw_put_text(profile, file->path, out);
		if (*profile_get_text(profile, file->jitdump)) {
			fputs("jitdump ", out);
			raw_put_text(profile, file->jitdump, out);
		}
		if (file->ended)
			fputs("ended\n", out);
	}
	for (i = 0; i < profile->frames.count; i++)
		raw_put_frame(profile, profile_frame(profile, i), out);
	for (i = 0; i < profile->nodes.count; i++)
		raw_put_node(profile_node(profile, i), out);
	fputs("end\n", out);
}

/**
 * struct raw - what is being read
 * @profile: filled
 * @at: what is left of the line
 * @bad: something in the line is wrong
 * @ended: its last line has been read
 * @depth: callers of each node
 * @room: entries of @depth there is memory for
 * @samples: sum of the samples of all nodes
 * @period: sum of the periods of all nodes
 */
struct raw {
	struct profile	*profile;
	char		*at;
	bool		 bad;
	bool		 ended;
	u16		*depth;
	size_t		 room;
	u64		 samples;
	u64		 period;
};

/* The next word, which a space or the end of the line follows. */
static const char *raw_word(struct raw *raw)
{
	const char *word = strsep(&raw->at, " ");

	raw->bad |= !word;
	return word ?: "";
}

/* A number of at most @max. */
static u64 raw_number(struct raw *raw, u64 max)
{
	const char *word = raw_word(raw);
	char *end;
	u64 value;

	errno = 0;
	value = strtoull(word, &end, strncmp(word, "0x", 2) ? 10 : 16);
	raw->bad |= !isdigit((unsigned char)*word) || *end || errno || value > max;
	return raw->bad ? 0 : value;
}

static int hex_digit(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The text at the end of the line. */
static u32 raw_text(struct raw *raw)
{
	char *from = raw->at, *to = from, *start = from;

	raw->bad |= !raw->at;
	raw->at = NULL;
	for (; !raw->bad && *from; from++, to++) {
		*to = *from;
		if (*from != '%')
			continue;
		if (hex_digit(from[1]) < 0 || hex_digit(from[2]) < 0) {
			raw->bad = true;
			break;
		}
		*to = hex_digit(from[1]) << 4 | hex_digit(from[2]);
		raw->bad |= !*to;
		from += 2;
	}
	return texts_add(&raw->profile->texts, start ?: "", raw->bad ? 0 : to - start);
}

/* A build-id in hexadecimal. */
static u32 raw_build_id(struct raw *raw)
{
	const char *word = raw_word(raw);
	size_t length = strlen(word);

	if (!strcmp(word, "-"))
		return profile_text(raw->profile, "");
	raw->bad |= !length || length > 2 * PERFDATA_MAX_BUILD_ID ||
		    strspn(word, "0123456789abcdef") != length;
	return profile_text(raw->profile, raw->bad ? "" : word);
}

static void raw_take_file(struct raw *raw)
{
	const char *kind = raw_word(raw);
	struct profile_file file = { 0 };
	u32 count = raw->profile->files.count;

	while (file.kind < RAW_KINDS && strcmp(kind, raw_kinds[file.kind]))
		file.kind++;
	raw->bad |= file.kind == RAW_KINDS;
	file.build_id = raw_build_id(raw);
	file.mapped_id = raw_build_id(raw);
	file.pid = raw_number(raw, ~0u);
	file.dev = raw_number(raw, ~0ull);
	file.inode = raw_number(raw, ~0ull);
	file.path = raw_text(raw);
	file.jitdump = profile_text(raw->profile, "");
	if (!raw->bad && intern_add(&raw->profile->files, &file) != count)
		raw->bad = true;
}

static void raw_take_frame(struct raw *raw)
{
	struct profile *profile = raw->profile;
	u32 count = profile->frames.count, file = raw_number(raw, ~0u);
	bool exact = raw_number(raw, 1);
	u64 offset = 0;
	u32 kind;

	if (raw->bad || file >= profile->files.count) {
		raw->bad = true;
		return;
	}
	kind = profile_file(profile, file)->kind;
	if (kind == PROFILE_COMM)
		offset = raw_text(raw);
	else
		offset = raw_number(raw, ~0ull);
	if (kind == PROFILE_EVENT && offset >= profile->nevents)
		raw->bad = true;
	if (!raw->bad && profile_add_frame(profile, file, offset, exact) != count)
		raw->bad = true;
}

/* Events have no parents, and only they; threads are below them, and only there. */
static bool node_fits(const struct raw *raw, const struct profile_node *node)
{
	const struct profile *profile = raw->profile;
	u32 kind = profile_file(profile, profile_frame(profile, node->frame)->file)->kind;
	u32 depth = node->parent == INTERN_NONE ? 0 : raw->depth[node->parent] + 1;

	return (depth == 0) == (kind == PROFILE_EVENT) && (depth == 1) == (kind == PROFILE_COMM) &&
	       depth < PROFILE_MAX_DEPTH + 2;
}

static void raw_take_node(struct raw *raw)
{
	struct profile *profile = raw->profile;
	struct profile_node node = { .parent = INTERN_NONE };
	u32 count = profile->nodes.count;

	if (raw->at && !strncmp(raw->at, "- ", 2))
		raw->at += 2;
	else
		node.parent = raw_number(raw, count ? count - 1 : 0);
	node.frame = raw_number(raw, ~0u);
	node.samples = raw_number(raw, ~0ull);
	node.period = raw_number(raw, ~0ull);
	if (raw->bad || node.frame >= profile->frames.count || (!count && !node.parent) ||
	    !node_fits(raw, &node) || intern_add(&profile->nodes, &node) != count ||
	    __builtin_add_overflow(raw->samples, node.samples, &raw->samples) ||
	    __builtin_add_overflow(raw->period, node.period, &raw->period)) {
		raw->bad = true;
		return;
	}
	raw->depth = alloc_room(raw->depth, count, &raw->room, sizeof(*raw->depth));
	raw->depth[count] = node.parent == INTERN_NONE ? 0 : raw->depth[node.parent] + 1;
}

static void raw_take_event(struct raw *raw)
{
	u64 samples = raw_number(raw, ~0ull);
	u32 name = raw_text(raw);

	if (raw->bad || raw->profile->nevents == PERFDATA_MAX_EVENTS)
		raw->bad = true;
	else
		profile_add_event(raw->profile, profile_get_text(raw->profile, name), samples);
}

static void raw_take_jitdump(struct raw *raw)
{
	u32 path = raw_text(raw), count = raw->profile->files.count;

	if (raw->bad || !count)
		raw->bad = true;
	else
		profile_file(raw->profile, count - 1)->jitdump = path;
}

static void raw_take_ended(struct raw *raw)
{
	u32 count = raw->profile->files.count;

	if (count)
		profile_file(raw->profile, count - 1)->ended = true;
	else
		raw->bad = true;
}

static void raw_take_line(struct raw *raw)
{
	struct profile *profile = raw->profile;
	const char *what = raw_word(raw);

	if (!strcmp(what, "node")) {
		raw_take_node(raw);
	} else if (!strcmp(what, "frame")) {
		raw_take_frame(raw);
	} else if (!strcmp(what, "file")) {
		raw_take_file(raw);
	} else if (!strcmp(what, "jitdump")) {
		raw_take_jitdump(raw);
	} else if (!strcmp(what, "ended")) {
		raw_take_ended(raw);
	} else if (!strcmp(what, "event")) {
		raw_take_event(raw);
	} else if (!strcmp(what, "cmdline")) {
		profile->cmdline = raw_text(raw);
	} else if (!strcmp(what, "stops")) {
		profile->stops = raw_text(raw);
	} else if (!strcmp(what, "kernel")) {
		profile->kernel_address = raw_number(raw, ~0ull);
		profile->kernel_symbol = raw_text(raw);
	} else if (!strcmp(what, "lost")) {
		profile->lost = raw_number(raw, ~0ull);
		profile->throttled = raw_number(raw, ~0ull);
		profile->unfinished = raw_number(raw, 1);
	} else {
		raw->ended = !strcmp(what, "end");
		raw->bad |= !raw->ended;
	}
	raw->bad |= raw->at != NULL;
}

/**
 * raw_read() - read a profile that raw_write() has written
 * @stream: the file, at its start
 * @profile: open and empty; filled
 * @error: filled on failure
 *
 * Return: 0 or -1.
 */
int raw_read(struct stream *stream, struct profile *profile, struct bee_error *error)
{
	struct raw raw = { .profile = profile };
	unsigned long long number = 1;
	size_t length;
	char *line = stream_line(stream, &length);

	if (!line || strcmp(line, RAW_MAGIC RAW_VERSION))
		return error_set(error, EINVAL, "another version of beectl has written it");
	while (!raw.bad && !raw.ended && (line = stream_line(stream, &length))) {
		number++;
		raw.at = line;
		raw.bad = strlen(line) != length;
		raw_take_line(&raw);
	}
	free(raw.depth);
	if (raw.bad)
		return error_set(error, EINVAL, "line %llu is not as \"beectl flame --raw\" writes it",
				 number);
	if (!raw.ended && stream_check_line(stream, number + 1, error))
		return -1;
	return raw.ended ? 0 : error_set(error, EINVAL, "it is cut off");
}
