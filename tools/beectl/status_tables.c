// SPDX-License-Identifier: GPL-2.0
/* The files that the module knows, for beectl status. */
#include <stdio.h>
#include <stdlib.h>

#include "alloc.h"
#include "json.h"
#include "lossy.h"
#include "names.h"
#include "status_tables.h"
#include "text.h"

/* Files that are named in the short form. */
#define MAX_INCOMPLETE	10

typedef unsigned long long ull;

static bool stop_is_complete(uint32_t reason)
{
	return reason == BEEUNWIND_STOP_OUTERMOST || reason == BEEUNWIND_STOP_DEPTH;
}

/* Walks that were cut short in the file's code. */
static uint64_t table_cut(const struct netlink_file *t)
{
	uint64_t cut = 0;
	uint32_t reason;

	for (reason = 0; reason <= BEEUNWIND_STOP_MAX; reason++)
		if (!stop_is_complete(reason))
			cut += t->stop[reason];
	return cut;
}

/* "12 s", "3 h": the largest unit of which there is one. */
static void age_print(uint64_t ms)
{
	static const struct { uint64_t ms; const char *name; } units[] = {
		{ 86400000, "d" }, { 3600000, "h" }, { 60000, "min" }, { 1000, "s" }, { 1, "ms" },
	};
	size_t i = 0;
	char text[24];

	while (units[i].ms > 1 && ms < units[i].ms)
		i++;
	snprintf(text, sizeof(text), "%llu %s", (ull)(ms / units[i].ms), units[i].name);
	printf(" %8s", text);
}

static void print_table(const struct netlink_file *t)
{
	char id[13];

	text_hex(t->file_id, t->file_id_len, id, sizeof(id));
	printf("%8u %10s ", t->id, text_size(t->bytes).text);
	if (t->loaded)
		printf("%9u ", t->rows);
	else
		printf("%9s ", "no table");
	printf("%6u %9u %8u %8llu", t->users, t->hits, t->missed, (ull)table_cut(t));
	age_print(t->idle_ms);
	printf("  %-12s  ", id);
	text_put_name(stdout, t->name);
	if (t->flags)
		printf(" (not exact: %s)", lossy_words(t->flags));
	putchar('\n');
}

/* print_tables(): one line for each file, and the sums */
void print_tables(const struct netlink_files *tables)
{
	uint64_t bytes = 0;
	size_t i, loaded = 0;

	printf("%8s %10s %9s %6s %9s %8s %8s %8s  %-12s  %s\n", "id", "size", "rows", "users",
	       "samples", "missed", "cut", "used", "file id", "path");
	for (i = 0; i < tables->count; i++) {
		print_table(&tables->table[i]);
		bytes += tables->table[i].bytes;
		loaded += tables->table[i].loaded;
	}
	printf("%zu file%s, %zu table%s, %s\n", tables->count, tables->count == 1 ? "" : "s",
	       loaded, loaded == 1 ? "" : "s", text_size(bytes).text);
}

static struct json_object *json_table_stops(const struct netlink_file *t)
{
	struct json_object *object = json_object_new_object();
	uint32_t reason;

	for (reason = 0; reason <= BEEUNWIND_STOP_MAX; reason++)
		if (t->stop[reason])
			json_add_uint(object, bee_stop_names[reason], t->stop[reason]);
	return object;
}

static struct json_object *json_table(const struct netlink_file *t)
{
	struct json_object *table = json_object_new_object();
	char id[2 * sizeof(t->file_id) + 1];

	text_hex(t->file_id, t->file_id_len, id, sizeof(id));
	json_add_uint(table, "id", t->id);
	json_object_object_add(table, "loaded", json_object_new_boolean(t->loaded));
	json_add_uint(table, "bytes", t->bytes);
	json_add_uint(table, "rows", t->rows);
	json_add_uint(table, "users", t->users);
	json_add_uint(table, "hits", t->hits);
	json_add_uint(table, "missed", t->missed);
	json_add_uint(table, "cut", table_cut(t));
	json_add_uint(table, "idle_ms", t->idle_ms);
	json_object_object_add(table, "stops", json_table_stops(t));
	json_add_string(table, "file_id", id);
	json_add_uint(table, "inode", t->inode);
	json_add_string(table, "path", t->name);
	json_add_string(table, "lossy", lossy_words(t->flags));
	return table;
}

/* json_tables(): the same, as "table_list" */
void json_tables(struct json_object *object, const struct netlink_files *tables)
{
	struct json_object *array = json_object_new_array();
	size_t i;

	for (i = 0; i < tables->count; i++)
		json_object_array_add(array, json_table(&tables->table[i]));
	json_object_object_add(object, "table_list", array);
}

static int compare_cut(const void *a, const void *b)
{
	uint64_t x = table_cut(*(const struct netlink_file **)a);
	uint64_t y = table_cut(*(const struct netlink_file **)b);

	return x > y ? -1 : x < y;
}

/* Files in which walks were cut short, the worst first, and the sum of these walks. */
static const struct netlink_file **incomplete_list(const struct netlink_files *tables,
						   size_t *count, uint64_t *sum)
{
	const struct netlink_file **list = alloc_array(NULL, tables->count + 1, sizeof(*list));
	size_t i;

	*count = 0;
	*sum = 0;
	for (i = 0; i < tables->count; i++) {
		if (!table_cut(&tables->table[i]))
			continue;
		list[(*count)++] = &tables->table[i];
		*sum += table_cut(&tables->table[i]);
	}
	if (*count)
		qsort(list, *count, sizeof(*list), compare_cut);
	return list;
}

/* "no-table 12, gap 3" */
static void print_reasons(const struct netlink_file *t)
{
	const char *before = "";
	uint32_t reason;

	for (reason = 0; reason <= BEEUNWIND_STOP_MAX; reason++) {
		if (stop_is_complete(reason) || !t->stop[reason])
			continue;
		printf("%s%s %u", before, bee_stop_names[reason], t->stop[reason]);
		before = ", ";
	}
}

/* print_incomplete(): in which files' code walks were cut short, and why */
void print_incomplete(const struct netlink_files *tables)
{
	size_t i, count;
	uint64_t sum;
	const struct netlink_file **list = incomplete_list(tables, &count, &sum);

	if (count)
		printf("incomplete stacks end in:\n");
	for (i = 0; i < count && i < MAX_INCOMPLETE; i++) {
		printf("  %12llu %5.1f%%  ", (ull)table_cut(list[i]),
		       100.0 * table_cut(list[i]) / sum);
		text_put_name(stdout, list[i]->name);
		printf("%s (", list[i]->loaded ? "" : ", which has no table");
		print_reasons(list[i]);
		printf(")\n");
	}
	if (count > MAX_INCOMPLETE)
		printf("  and %zu more files; \"beectl status --tables\" lists all\n",
		       count - MAX_INCOMPLETE);
	free(list);
}

/* json_incomplete(): the same for all, as "incomplete" */
void json_incomplete(struct json_object *object, const struct netlink_files *tables)
{
	struct json_object *array = json_object_new_array();
	size_t i, count;
	uint64_t sum;
	const struct netlink_file **list = incomplete_list(tables, &count, &sum);

	for (i = 0; i < count; i++) {
		struct json_object *file = json_object_new_object();

		json_add_string(file, "path", list[i]->name);
		json_object_object_add(file, "loaded", json_object_new_boolean(list[i]->loaded));
		json_add_uint(file, "walks", table_cut(list[i]));
		json_object_object_add(file, "stops", json_table_stops(list[i]));
		json_object_array_add(array, file);
	}
	json_object_object_add(object, "incomplete", array);
	free(list);
}
