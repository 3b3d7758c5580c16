// SPDX-License-Identifier: GPL-2.0
/* Stacks as text: what "perf script" prints, and folded stacks.  Their names are taken as they are. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
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
 * @count: entries in @name
 * @wish: from the caller
 * @event: number of the text that names the event of the current sample, or 0
 * @period: of the current sample, 1 if it has none
 * @shown_event: the first one that was named, or that was asked for
 * @samples: stacks so far, each as often as it was counted
 * @periods: sum of their periods
 * @has_periods: a sample has had one
 * @line: number of the line
 * @left_out: lines that are not understood
 * @first_left: number of the first line that is not understood
 * @flat: number of a line that is a sample without a callchain
 * @too_many: more samples than can be counted
 */
struct text_input {
	struct profile		*profile;
	struct intern		*names;
	struct graph_builder	 builder;
	u32			 name[PROFILE_MAX_DEPTH];
	size_t			 count;
	const struct text_wish	*wish;
	u32			 event;
	u64			 period;
	u32			 shown_event;
	u64			 samples;
	u64			 periods;
	bool			 has_periods;
	u64			 line;
	u64			 left_out;
	u64			 first_left;
	u64			 flat;
	bool			 too_many;
};

static void input_add_name(struct text_input *input, const char *text, size_t length,
			   enum flame_kind kind, const char *module)
{
	struct flame_name name = { .kind = kind };

	if (input->count == PROFILE_MAX_DEPTH) {
		input->profile->frames_cut++;
		return;
	}
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
	if (input->event != input->shown_event && (input->event || input->wish->event)) {
		input->profile->left_out++;
		input->count = 0;
		return;
	}
	node = graph_builder_add(&input->builder, 0, input->name[0]);
	for (i = input->count; --i;)
		node = graph_builder_add(&input->builder, node, input->name[i]);
	graph_builder_count(&input->builder, node, 1, input->period);
	input->too_many = __builtin_add_overflow(input->periods, input->period, &input->periods);
	input->samples++;
	input->count = 0;
}

/*
 * After the name of the thread: "12.345: 1000 cycles:P:", time, period and event, of which any may be missing.
 * The event is a number of a text; 0, which is "", if there is none.
 */
static void input_take_event(struct text_input *input, const char *at)
{
	bool after_time = false, has_period = false;
	u64 period = 1;
	size_t length;

	input->event = 0;
	input->period = 1;
	for (; *at; at += length) {
		size_t digits = strspn(at += strspn(at, " \t"), "0123456789");

		length = strcspn(at, " \t");
		if (length > 1 && at[length - 1] == ':' && strspn(at, "0123456789.") < length - 1) {
			input->event = texts_add(&input->profile->texts, at, length - 1);
			input->period = has_period ? period : 1;
			input->has_periods |= has_period;
			return;
		}
		has_period = after_time && length && digits == length;
		period = has_period ? strtoull(at, NULL, 10) : 1;
		after_time = length && at[length - 1] == ':';
	}
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
	input_take_event(input, name_end);
	if (!input->shown_event && (!input->wish->event ||
				    profile_event_is(profile_get_text(input->profile, input->event),
						     input->wish->event)))
		input->shown_event = input->event;
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
	char *name, *module, *end, *offset, file[256];
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
	base = basename(module);
	/* Where the file has no name for an address, perf script has none for its function either. */
	if (!strcmp(name, "[unknown]") && strcmp(module, "[unknown]") && strncmp(base, "perf-", 5)) {
		snprintf(file, sizeof(file), *base == '[' ? "%.200s" : "[%.200s]", base);
		name = file;
		kind = FLAME_UNKNOWN;
	}
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

/* Has a line a word of digits that ends with a colon, the time?  Then it begins a sample. */
static bool line_has_time(const char *line)
{
	size_t length;

	for (; *line; line += length + strspn(line + length, " \t")) {
		length = strcspn(line, " \t");
		if (length > 1 && line[length - 1] == ':' && strspn(line, "0123456789.") == length - 1)
			return true;
	}
	return false;
}

/* A line of a recording without callchains: "comm 123 12.345: 1 event: ffffffff81000000 name (module)". */
static bool line_is_flat(const char *line)
{
	const char *end = strrchr(line, ')');

	return end && !end[1] && line_has_time(line);
}

/*
 * A line of "perf script".  In a recording without callchains a sample follows without a blank line between: names
 * like dd and bc can be taken for addresses.
 *
 * Return: whether it can be one.
 */
static bool input_take_script(struct text_input *input, char *line)
{
	char *text = line + strspn(line, " \t");

	if (!*text) {
		if (input->count == 1 && input->flat == input->line - 1)
			input->count = 0;
		input_end_sample(input);
		return true;
	}
	if (input->count == 1 && line_is_flat(text)) {
		input->flat = input->line;
		return false;
	}
	if (input->count)
		return input_take_frame(input, text);
	if (!strchr(text, ':'))
		return false;
	input_begin_sample(input, text);
	return true;
}

/*
 * Is a line that begins with # a comment?  It may also be the first line of a sample, of a thread whose name begins
 * so.  That line has a word of digits that ends with a colon, the time, and its last word, the event, ends so, too.
 */
static bool line_is_comment(const char *line)
{
	size_t length = strlen(line);

	return !line_has_time(line) || line[length - 1] != ':';
}

/* A line of either kind: folded stacks are known by the number at their end. */
static void input_take(struct text_input *input, bool (**take)(struct text_input *input, char *line), char *line,
		       size_t length)
{
	if (length && line[length - 1] == '\r')
		line[length - 1] = '\0';
	if ((*line == '#' && line_is_comment(line)) || (*take != input_take_script && !*line))
		return;
	if (*take != input_take_script && input_take_folded(input, line))
		*take = input_take_folded;
	else if (!input->too_many && *take != input_take_folded && input_take_script(input, line))
		*take = input_take_script;
	else if (!input->left_out++)
		input->first_left = input->line;
}

/* Why there is nothing to show, or what is missing. */
static int input_judge(struct text_input *input, const struct stream *stream, struct bee_error *error)
{
	if (stream_check_line(stream, input->line + 1, error))
		return -1;
	if (input->too_many)
		return error_set(error, EOVERFLOW, "up to line %llu there are more samples than can be "
				 "counted", (unsigned long long)input->line);
	if (!input->samples && input->flat)
		return error_set(error, EINVAL, "line %llu has a sample without a callchain: record with "
				 "perf record -g", (unsigned long long)input->flat);
	if (!input->samples && input->left_out)
		return error_set(error, EINVAL, "line %llu is neither of perf script nor a folded stack",
				 (unsigned long long)input->first_left);
	if (!input->samples && !input->profile->left_out)
		return error_set(error, EINVAL, "there are no stacks in it");
	if (input->wish->event && input->profile->left_out && !input->shown_event)
		return error_set(error, EINVAL, "it has no samples of %s", input->wish->event);
	return 0;
}

/**
 * text_input_read() - read stacks as text
 * @stream: the text, at its start
 * @wish: what to show; no folded stack says of which event it is, or what its number counts
 * @profile: open and empty; gets the texts
 * @resolve: gets the names
 * @graph: filled
 * @error: filled on failure
 *
 * Return: 0 or -1.
 */
int text_input_read(struct stream *stream, const struct text_wish *wish, struct profile *profile,
		    struct resolve *resolve, struct graph *graph, struct bee_error *error)
{
	struct text_input *input = alloc_zero(1, sizeof(*input));
	bool (*take)(struct text_input *input, char *line) = NULL;
	size_t length;
	char *line;
	int ret;

	input->wish = wish;
	input->profile = profile;
	input->names = &resolve->names;
	resolve->names = (struct intern)INTERN_OF(struct flame_name, module);
	*graph = (struct graph){ .texts = &profile->texts, .names = &resolve->names,
				 .event = "stacks", .cmdline = "", .stops = "" };
	graph_builder_open(&input->builder);
	while (!input->too_many && (line = stream_line(stream, &length))) {
		input->line++;
		input_take(input, &take, line, length);
	}
	if (take == input_take_script && !(input->count == 1 && input->flat))
		input_end_sample(input);
	ret = input_judge(input, stream, error);
	profile->lines_left = input->left_out;
	profile->first_line_left = input->first_left;
	graph->samples = input->samples;
	profile->shown_event = input->shown_event;
	if (input->shown_event)
		graph->event = profile_get_text(profile, input->shown_event);
	graph_weigh(graph, input->has_periods && !wish->samples);
	graph_builder_finish(&input->builder, graph);
	free(input->builder.place);
	free(input);
	return ret;
}
