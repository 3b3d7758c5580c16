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

/** flame_summary_facts() - print what there is in a graph: a line, without its end */
void flame_summary_facts(const struct graph *graph, FILE *out)
{
	char *facts = graph_facts(graph);

	text_put_name(out, facts);
	free(facts);
}

static void print_head(const struct graph *graph)
{
	if (*graph->cmdline) {
		text_put_name(stdout, graph->cmdline);
		putchar('\n');
	}
	flame_summary_facts(graph, stdout);
	putchar('\n');
	if (*graph->stops) {
		text_put_name(stdout, graph->stops);
		putchar('\n');
	}
}

/** flame_summary_print() - print what was recorded, and the functions that take the most */
void flame_summary_print(const struct graph *graph)
{
	print_head(graph);
	print_rows(graph, "by themselves", false);
	print_rows(graph, "with what they call", true);
}

static void print_relatives(const struct graph *graph, const char *heading, struct summary_row *row,
			    size_t count)
{
	size_t i;

	printf("\n%7s  %s\n", "total", heading);
	for (i = 0; i < count; i++) {
		printf("%6.2f%%  ", percent(row[i].total, graph->node[0].total));
		print_name(graph, intern_item(graph->names, row[i].name), 9);
	}
	free(row);
}

/** flame_summary_print_around() - print who calls a function, and what it calls, in shares of all */
void flame_summary_print_around(const struct graph *graph, const char *around)
{
	u64 self, total = summary_around(graph, around, &self);
	struct summary_row *row;
	size_t count;

	print_head(graph);
	row = summary_make_callers(graph, around, &count);
	print_relatives(graph, "called by", row, count);
	printf("\n%6.2f%%  ", percent(total, graph->node[0].total));
	text_put_name(stdout, around);
	printf(", %.2f%% by itself\n", percent(self, graph->node[0].total));
	row = summary_make_callees(graph, around, &count);
	print_relatives(graph, "calls", row, count);
}

/* Name and module of a function, in a new element of @array. */
static struct json_object *json_function(const struct graph *graph, struct json_object *array, u32 number)
{
	const struct flame_name *name = intern_item(graph->names, number);
	struct json_object *function = json_append(array);

	json_add_string(function, "name", texts_get(graph->texts, name->text));
	json_add_string(function, "module", texts_get(graph->texts, name->module));
	if (name->line) {
		json_add_string(function, "source", texts_get(graph->texts, name->source));
		json_add_uint(function, "line", name->line);
	}
	return function;
}

static void json_relatives(const struct graph *graph, struct json_object *all, const char *key,
			   struct summary_row *row, size_t count)
{
	struct json_object *array = json_object_new_array();
	size_t i;

	for (i = 0; i < count; i++)
		json_add_uint(json_function(graph, array, row[i].name), "total", row[i].total);
	json_add(all, key, array);
	free(row);
}

/** flame_summary_json() - a summary as JSON, with all functions; @around: with its callers and callees; or NULL */
void flame_summary_json(const struct graph *graph, const char *around)
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
	json_add_uint(all, "unread", graph->unread);
	json_add_uint(all, "unproven", graph->unproven);
	json_add_uint(all, "lost", graph->lost);
	json_add_bool(all, "unfinished", graph->unfinished);
	json_add(all, "stops", stats_line_json(graph->stops));
	for (i = 0; i < count; i++) {
		struct json_object *function = json_function(graph, functions, row[i].name);

		json_add_uint(function, "self", row[i].self);
		json_add_uint(function, "total", row[i].total);
		if (graph->is_diff) {
			json_add_uint(function, "before_self", row[i].before_self);
			json_add_uint(function, "before_total", row[i].before_total);
		}
	}
	json_add(all, "functions", functions);
	free(row);
	if (around) {
		row = summary_make_callers(graph, around, &count);
		json_relatives(graph, all, "callers", row, count);
		row = summary_make_callees(graph, around, &count);
		json_relatives(graph, all, "callees", row, count);
	}
	json_print(all);
}
