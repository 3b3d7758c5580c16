// SPDX-License-Identifier: GPL-2.0
/* What beectl flame prints when it writes no file. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "alloc.h"
#include "flame_summary.h"
#include "json.h"
#include "messages.h"
#include "stops.h"
#include "summary.h"
#include "text.h"

#define SUMMARY_ROWS	10
#define SUMMARY_NAME	24	/* bytes of a name that a narrow terminal gets */

/* A share and, for graphs that are compared, how it has changed. */
static void print_share(const struct graph *graph, u64 value, double change)
{
	printf("%6.2f%% ", percent(value, graph->node[0].total));
	if (graph->is_diff)
		printf("%+7.2f ", change);
}

/* Columns of the terminal that stdout is; none if it is something else. */
static size_t terminal_columns(void)
{
	struct winsize size = { 0 };

	return isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ? size.ws_col : 0;
}

/* Print a name, in a terminal cut so that it and @where fit into a line.  @before: columns in use. */
static void print_function(const char *name, const char *where, size_t before)
{
	size_t columns = terminal_columns(), used = before + strlen(where), length = strlen(name);
	size_t room = columns > used + SUMMARY_NAME ? columns - used : SUMMARY_NAME;

	if (!columns || length <= room) {
		printf("%s%s\n", name, where);
		return;
	}
	/* Not within a character of UTF-8. */
	for (length = room - 2; length && (name[length] & 0xc0) == 0x80; length--)
		;
	printf("%.*s..%s\n", (int)length, name, where);
}

static void print_name(const struct graph *graph, const struct flame_name *name, size_t before)
{
	const char *module = texts_get(graph->texts, name->module);
	char *text = NULL, *where = NULL;
	size_t size;
	FILE *out = alloc_check(open_memstream(&text, &size), 1);

	text_put_name(out, texts_get(graph->texts, name->text));
	fclose(out);
	out = alloc_check(open_memstream(&where, &size), 1);
	if (name->line) {
		fputc(' ', out);
		text_put_name(out, texts_get(graph->texts, name->source));
		fprintf(out, ":%u", name->line);
	}
	if (*module && name->kind != FLAME_UNKNOWN) {
		fputs(" (", out);
		text_put_name(out, module);
		fputc(')', out);
	}
	fclose(out);
	print_function(text, where, before);
	free(text);
	free(where);
}

static void print_rows(const struct graph *graph, const char *heading, bool by_total)
{
	size_t i, count, before = graph->is_diff ? 33 : 17;
	struct summary_row *row = summary_make(graph, by_total, &count);
	const char *change = graph->is_diff ? " change " : "";

	printf("\n%7s %s%7s %s %s\n", "self", change, "total", change, heading);
	for (i = 0; i < count && i < SUMMARY_ROWS; i++) {
		print_share(graph, row[i].self, row[i].self_change);
		print_share(graph, row[i].total, row[i].total_change);
		putchar(' ');
		print_name(graph, intern_item(graph->names, row[i].name), before);
	}
	free(row);
}

/** flame_summary_print() - print what was recorded, and the functions that take the most */
void flame_summary_print(const struct graph *graph)
{
	char count[32];

	if (*graph->cmdline) {
		text_put_name(stdout, graph->cmdline);
		putchar('\n');
	}
	text_put_name(stdout, graph->event);
	text_count(graph->samples, count, sizeof(count));
	printf(": %s sample%s", count, plural(graph->samples));
	if (graph->lost)
		printf(", %llu lost", (unsigned long long)graph->lost);
	if (graph->judged)
		printf(", %.1f%% of the stacks complete", percent(graph->complete, graph->judged));
	if (graph->unfinished)
		fputs("; the recording is cut off", stdout);
	putchar('\n');
	if (*graph->stops) {
		text_put_name(stdout, graph->stops);
		putchar('\n');
	}
	print_rows(graph, "by themselves", false);
	print_rows(graph, "with what they call", true);
}

/** flame_summary_json() - the same as JSON, with all functions */
void flame_summary_json(const struct graph *graph)
{
	struct json_object *all = json_object_new_object(), *functions = json_object_new_array();
	size_t i, count;
	struct summary_row *row = summary_make(graph, false, &count);

	json_add_string(all, "cmdline", graph->cmdline);
	json_add_string(all, "event", graph->event);
	json_add_string(all, "unit", graph->unit);
	json_add_uint(all, "total", graph->node[0].total);
	if (graph->is_diff)
		json_add_uint(all, "before_total", graph->node[0].before_total);
	json_add_uint(all, "samples", graph->samples);
	json_add_uint(all, "judged", graph->judged);
	json_add_uint(all, "complete", graph->complete);
	json_add_uint(all, "lost", graph->lost);
	json_add_bool(all, "unfinished", graph->unfinished);
	json_add(all, "stops", stats_line_json(graph->stops));
	for (i = 0; i < count; i++) {
		const struct flame_name *name = intern_item(graph->names, row[i].name);
		struct json_object *function = json_append(functions);

		json_add_string(function, "name", texts_get(graph->texts, name->text));
		json_add_string(function, "module", texts_get(graph->texts, name->module));
		if (name->line) {
			json_add_string(function, "source", texts_get(graph->texts, name->source));
			json_add_uint(function, "line", name->line);
		}
		json_add_uint(function, "self", row[i].self);
		json_add_uint(function, "total", row[i].total);
		if (graph->is_diff) {
			json_add_uint(function, "before_self", row[i].before_self);
			json_add_uint(function, "before_total", row[i].before_total);
		}
	}
	json_add(all, "functions", functions);
	json_print(all);
	free(row);
}
