// SPDX-License-Identifier: GPL-2.0
/* Stacks as text: what "perf script" prints, and folded stacks.  Their names are taken as they are. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "text_input.h"

/**
 * struct text_input - what is being read
 * @profile: has the texts
 * @names: of struct flame_name
 * @builder: the stacks
 * @name: names of the current stack: a thread, then frames as they come
 * @count: number of them
 * @event: number of the text that names the event of the current sample, or 0
 * @first_event: the first one that was named
 * @samples: stacks so far, each as often as it was counted
 * @line: number of the line
 * @too_many: more samples than can be counted
 */
struct text_input {
	struct profile		*profile;
	struct intern		*names;
	struct graph_builder	 builder;
	u32			 name[PROFILE_MAX_DEPTH];
	size_t			 count;
	u32			 event;
	u32			 first_event;
	u64			 samples;
	u64			 line;
	bool			 too_many;
};

static void input_add_name(struct text_input *input, const char *text, size_t length,
			   enum flame_kind kind, const char *module)
{
	struct flame_name name = { .kind = kind };

	if (input->count == PROFILE_MAX_DEPTH)
		return;
	name.text = texts_add(&input->profile->texts, text, length);
	name.source = profile_text(input->profile, "");
	name.module = profile_text(input->profile, module);
	input->name[input->count++] = flame_name_add(input->names, &name, input->profile);
}

/* A name of a folded stack: its end may say what it is. */
static void input_add_folded(struct text_input *input, const char *text, size_t length)
{
	static const struct { const char *end; enum flame_kind kind; } ends[] = {
		{ "_[k]", FLAME_KERNEL }, { "_[i]", FLAME_INLINED }, { "_[j]", FLAME_JIT },
	};
	enum flame_kind kind = input->count ? FLAME_USER : FLAME_COMM;
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (length > 4 && !memcmp(text + length - 4, ends[i].end, 4)) {
			kind = ends[i].kind;
			length -= 4;
			break;
		}
	if (kind == FLAME_USER && *text == '[')
		kind = FLAME_UNKNOWN;
	input_add_name(input, text, length, kind, "");
}

/* "thread;outermost;...;innermost 12".  Return: whether it is one. */
static bool input_take_folded(struct text_input *input, char *line)
{
	char *space = strrchr(line, ' '), *end;
	u32 node = 0;
	u64 value;
	size_t i;

	if (!space || space == line || !isdigit((unsigned char)space[1]))
		return false;
	errno = 0;
	value = strtoull(space + 1, &end, 10);
	if (*end)
		return false;
	input->too_many = errno || __builtin_add_overflow(input->samples, value, &input->samples);
	if (input->too_many)
		return false;
	*space = '\0';
	input->count = 0;
	do {
		size_t length = strcspn(line, ";");

		input_add_folded(input, line, length);
		line += length + !!line[length];
	} while (*line);
	for (i = 0; i < input->count; i++)
		node = graph_builder_add(&input->builder, node, input->name[i]);
	graph_builder_count(&input->builder, node, value, 0);
	return true;
}

/* The sample that was being read is complete. */
static void input_end_sample(struct text_input *input)
{
	size_t i;
	u32 node;

	if (!input->count)
		return;
	if (input->event && input->event != input->first_event) {
		input->profile->left_out++;
		input->count = 0;
		return;
	}
	node = graph_builder_add(&input->builder, 0, input->name[0]);
	for (i = input->count; --i;)
		node = graph_builder_add(&input->builder, node, input->name[i]);
	graph_builder_count(&input->builder, node, 1, 0);
	input->samples++;
	input->count = 0;
}

/* The text of the event after "12.345:" and perhaps a number, "cycles:P:"; 0, which is "", if there is none. */
static u32 input_event(struct text_input *input, const char *at)
{
	size_t length;

	for (; *at; at += length) {
		at += strspn(at, " \t");
		length = strcspn(at, " \t");
		if (length > 1 && at[length - 1] == ':' && strspn(at, "0123456789.") < length - 1)
			return texts_add(&input->profile->texts, at, length - 1);
	}
	return 0;
}

/*
 * "comm  123/124 [000] 12.345: 1 event:" begins a sample.  The thread's name may have spaces and
 * colons: it ends before the last number in front of CPU or time.
 */
static void input_begin_sample(struct text_input *input, const char *line)
{
	const char *at = line, *name_end = NULL, *other_end = NULL;

	while (*at) {
		size_t spaces = strspn(at, " \t"), length = strcspn(at + spaces, " \t");
		const char *word = at + spaces;
		bool is_end = *word == '[' || (length && word[length - 1] == ':');

		if (is_end && (name_end || strspn(word, "0123456789.") == length - 1))
			break;
		if (at == line)
			;
		else if (is_end)
			other_end = other_end ?: at;
		else if (length && strspn(word, "0123456789/") == length)
			name_end = at;
		at = word + length;
	}
	name_end = name_end ?: other_end ?: at;
	input_add_name(input, line, name_end - line, FLAME_COMM, "");
	input->event = input_event(input, name_end);
	input->first_event = input->first_event ?: input->event;
}

/* Where " (module)" begins: the name before it and the module may have brackets, too. */
static char *line_module(char *line)
{
	char *at = strstr(line, " ("), *last = NULL, *path = NULL;

	for (; at; at = strstr(at + 1, " (")) {
		last = at;
		if (at[2] == '/' || at[2] == '[')
			path = at;
	}
	return path && strcmp(last, " (inlined)") ? path : last;
}

/* "	ffffffff81000000 name+0x12 (module)".  Return: whether it is one. */
static bool input_take_frame(struct text_input *input, char *line)
{
	enum flame_kind kind = FLAME_USER;
	char *name, *module, *end, *offset;
	u64 ip = strtoull(line, &name, 16);
	const char *base;

	module = line_module(name);
	if (name == line || *name != ' ' || !module || module == name)
		return false;
	*module = '\0';
	module += 2;
	end = strrchr(module, ')');
	if (end)
		*end = '\0';
	name++;
	offset = strrchr(name, '+');
	if (offset && !strncmp(offset, "+0x", 3) && offset != name)
		*offset = '\0';
	base = strrchr(module, '/') ? strrchr(module, '/') + 1 : module;
	if (ip >> 63)
		kind = FLAME_KERNEL;
	else if (!strcmp(module, "inlined"))
		kind = FLAME_INLINED;
	else if (!strncmp(base, "perf-", 5) && strstr(base, ".map"))
		kind = FLAME_JIT;
	else if (!strcmp(name, "[unknown]"))
		kind = FLAME_UNKNOWN;
	input_add_name(input, name, strlen(name), kind, kind == FLAME_INLINED ? "" : module);
	return true;
}

/* Of a recording without callchains: "comm 123 12.345: 1 event: ffffffff81000000 name (module)". */
static bool line_is_flat(const char *line)
{
	const char *end = strrchr(line, ')');

	return end && !end[1] && strstr(line, ": ");
}

/* A line of "perf script".  Return: whether it can be one. */
static bool input_take_script(struct text_input *input, char *line)
{
	char *text = line + strspn(line, " \t");

	if (!*text) {
		input_end_sample(input);
		return true;
	}
	if (input->count)
		return input_take_frame(input, text);
	input_begin_sample(input, text);
	return strchr(text, ':');
}

/*
 * Is a line that begins with # a comment?  It may also be the first line of a sample, of a thread whose name begins
 * so.  That line has a word of digits that ends with a colon, the time, and its last word, the event, ends so, too.
 */
static bool line_is_comment(const char *line)
{
	bool time = false, colon = false;
	size_t length;

	for (; *line; line += length + strspn(line + length, " \t")) {
		length = strcspn(line, " \t");
		colon = line[length - 1] == ':';
		time |= colon && length > 1 && strspn(line, "0123456789.") == length - 1;
	}
	return !time || !colon;
}

/**
 * text_input_read() - read stacks as text
 * @stream: the text, at its start
 * @profile: open and empty; gets the texts
 * @resolve: gets the names
 * @graph: filled
 * @error: filled on failure
 *
 * Return: 0 or -1.
 */
int text_input_read(struct stream *stream, struct profile *profile, struct resolve *resolve,
		    struct graph *graph, struct bee_error *error)
{
	struct text_input *input = alloc_zero(1, sizeof(*input));
	bool (*take)(struct text_input *input, char *line) = NULL;
	bool good = true;
	size_t length;
	char *line;

	input->profile = profile;
	input->names = &resolve->names;
	resolve->names = (struct intern)INTERN_OF(struct flame_name, module);
	*graph = (struct graph){ .texts = &profile->texts, .names = &resolve->names,
				 .event = "stacks", .unit = "samples", .cmdline = "", .stops = "" };
	graph_builder_open(&input->builder);
	while (good && (line = stream_line(stream, &length))) {
		input->line++;
		if ((*line == '#' && line_is_comment(line)) || (!take && !*line))
			continue;
		if (take)
			good = take(input, line);
		else if (input_take_folded(input, line))
			take = input_take_folded;
		else if (input->too_many)
			good = false;
		else
			good = (take = input_take_script)(input, line);
	}
	if (take == input_take_script)
		input_end_sample(input);
	if (good && stream_check_line(stream, input->line + 1, error))
		good = false;
	else if (input->too_many)
		error_set(error, EOVERFLOW, "up to line %llu there are more samples than can be "
			  "counted", (unsigned long long)input->line);
	else if (!good && take == input_take_script && line_is_flat(line))
		error_set(error, EINVAL, "line %llu has a sample without a callchain: record with "
			  "perf record -g", (unsigned long long)input->line);
	else if (!good)
		error_set(error, EINVAL, "line %llu is neither of perf script nor a folded stack",
			  (unsigned long long)input->line);
	else if (!take)
		good = !error_set(error, EINVAL, "there are no stacks in it");
	graph->samples = input->samples;
	profile->first_event = input->first_event;
	graph_builder_finish(&input->builder, graph, false);
	free(input);
	return good ? 0 : -1;
}
