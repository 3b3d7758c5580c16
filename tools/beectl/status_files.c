// SPDX-License-Identifier: GPL-2.0
/* The files that the module knows, for beectl status. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "json.h"
#include "order.h"
#include "lossy.h"
#include "messages.h"
#include "status_files.h"
#include "stops.h"
#include "text.h"

/* Files that plain "beectl status" lists under "incomplete stacks". */
#define MAX_INCOMPLETE	10

typedef unsigned long long ull;

/* @t->idle_ms is printed in the largest unit in which it is not 0: "12 s", "3 h". */
static void print_file(const struct netlink_file *t)
{
	static const struct { uint64_t ms; const char *name; } units[] = {
		{ 86400000, "d" }, { 3600000, "h" }, { 60000, "min" }, { 1000, "s" }, { 1, "ms" },
	};
	char id[13], age[24];
	size_t i = 0;

	while (units[i].ms > 1 && t->idle_ms < units[i].ms)
		i++;
	snprintf(age, sizeof(age), "%llu %s", (ull)(t->idle_ms / units[i].ms), units[i].name);
	text_hex(t->identity, t->identity_len, id, sizeof(id));
	printf("%8u %10s ", t->id, text_size(t->bytes).text);
	if (t->loaded)
		printf("%9u ", t->rows);
	else
		printf("%9s ", "no table");
	printf("%6s %9u %8llu %8s %6u  %-12s  ", t->mapped ? "yes" : "no", t->hits,
	       (ull)stops_cut(t->stop), age, t->uid, id);
	text_put_name(stdout, t->name);
	if (t->flags)
		printf(" (not exact: %s)", lossy_words(t->flags));
	putchar('\n');
}

static void json_file(struct json_object *file, const struct netlink_file *t)
{
	char id[2 * sizeof(t->identity) + 1];

	text_hex(t->identity, t->identity_len, id, sizeof(id));
	json_add_uint(file, "id", t->id);
	json_add_bool(file, "loaded", t->loaded);
	json_add_uint(file, "bytes", t->bytes);
	json_add_uint(file, "rows", t->rows);
	json_add_bool(file, "mapped", t->mapped);
	json_add_uint(file, "samples", t->hits);
	json_add_uint(file, "cut", stops_cut(t->stop));
	json_add_uint(file, "idle_ms", t->idle_ms);
	json_add(file, "stops", stops_json(t->stop));
	json_add_string(file, "identity", id);
	json_add_uint(file, "inode", t->inode);
	json_add_uint(file, "pid", t->pid);
	json_add_uint(file, "uid", t->uid);
	json_add_string(file, "path", t->name);
	json_add_string(file, "lossy", lossy_words(t->flags));
}

/* status_show_files(): all files, as "files" in @json; if that is NULL, one line each, and sums */
void status_show_files(const struct netlink_files *files, struct json_object *json)
{
	struct json_object *array = NULL;
	size_t i, loaded = 0;
	uint64_t bytes = 0;

	if (json) {
		array = json_object_new_array();
		json_add(json, "files", array);
	} else {
		printf("%8s %10s %9s %6s %9s %8s %8s %6s  %-12s  %s\n", "id", "size", "rows",
		       "mapped", "samples", "cut", "used", "uid", "identity", "path");
	}
	for (i = 0; i < files->count; i++) {
		if (json)
			json_file(json_append(array), &files->file[i]);
		else
			print_file(&files->file[i]);
		bytes += files->file[i].bytes;
		loaded += files->file[i].loaded;
	}
	if (!json)
		printf("%zu file%s, %zu table%s, %s\n", files->count, plural(files->count),
		       loaded, plural(loaded), text_size(bytes).text);
}

static int compare_cut(const void *a, const void *b)
{
	uint64_t x = stops_cut(((const struct netlink_file *)a)->stop);
	uint64_t y = stops_cut(((const struct netlink_file *)b)->stop);

	return x > y ? -1 : x < y;
}

/* Copies of a file are next to each other, in the order in which the module has heard of them. */
static int compare_copies(const void *a, const void *b)
{
	const struct netlink_file *x = a, *y = b;

	return order(x->pid, y->pid) ?: order(x->identity_len, y->identity_len) ?:
	       memcmp(x->identity, y->identity, x->identity_len) ?: strcmp(x->name, y->name) ?:
	       order(x->id, y->id);
}

/* Whether both have a table of equal ELF files: one is overlayfs's copy, or was installed anew. */
static bool is_copy(const struct netlink_file *a, const struct netlink_file *b)
{
	return a->pid == b->pid && a->identity_len && a->identity_len == b->identity_len &&
	       !memcmp(a->identity, b->identity, a->identity_len) && !strcmp(a->name, b->name);
}

/* Adds the counters of copies to those of the first of each; returns how many files are left. */
static size_t merge_copies(struct netlink_file *file, size_t count)
{
	size_t i, left = 0;
	uint32_t reason;

	qsort(file, count, sizeof(*file), compare_copies);
	for (i = 0; i < count; i++) {
		if (!left || !is_copy(&file[left - 1], &file[i])) {
			file[left++] = file[i];
			continue;
		}
		for (reason = 0; reason <= BEEUNWIND_STOP_MAX; reason++)
			file[left - 1].stop[reason] += file[i].stop[reason];
	}
	return left;
}

/* Walks that ended too early, and their share of all such walks */
static void print_cut(FILE *out, uint64_t cut, const struct netlink_stats *stats)
{
	fprintf(out, "  %12llu %5.1f%%  ", (ull)cut,
		percent(cut, stats_walks(stats) - stats->stop[BEEUNWIND_STOP_OUTERMOST]));
}

/* "  123  4.5%  /usr/bin/name (no-table 12, gap 3)" */
static void print_incomplete(FILE *out, const struct netlink_file *t,
			     const struct netlink_stats *stats)
{
	uint32_t reason, stop[BEEUNWIND_STOP_MAX + 1];

	for (reason = 0; reason <= BEEUNWIND_STOP_MAX; reason++)
		stop[reason] = stop_is_cut(reason) ? t->stop[reason] : 0;
	print_cut(out, stops_cut(t->stop), stats);
	text_put_name(out, t->name);
	fprintf(out, "%s ", t->loaded ? "" : ", which has no table");
	stops_put(out, stop);
	putc('\n', out);
}

/* Print how many walks were cut short outside of the files; @in_files: walks that were cut short in files */
static void print_elsewhere(FILE *out, const struct netlink_stats *stats, uint64_t in_files)
{
	uint64_t cut = stats_cut(stats);

	if (cut <= in_files)
		return;
	print_cut(out, cut - in_files, stats);
	fputs("elsewhere: in code without a file, or in files that are mapped no longer\n", out);
}

/*
 * status_show_incomplete(): the files in whose code walks were cut short, the worst first, and
 * why: all as "incomplete" in @json; if that is NULL, the first MAX_INCOMPLETE in a line each
 * to @out, where the copies of a file are one, with shares of all walks in @stats that are not complete
 */
void status_show_incomplete(FILE *out, const struct netlink_files *files,
			    const struct netlink_stats *stats, struct json_object *json)
{
	struct netlink_file *list = alloc_array(NULL, files->count + 1, sizeof(*list));
	struct json_object *array = NULL, *file;
	size_t i, count = 0;
	uint64_t sum = 0;

	for (i = 0; i < files->count; i++)
		if (stops_cut(files->file[i].stop)) {
			list[count++] = files->file[i];
			sum += stops_cut(files->file[i].stop);
		}
	if (!json)
		count = merge_copies(list, count);
	qsort(list, count, sizeof(*list), compare_cut);
	if (json) {
		array = json_object_new_array();
		json_add(json, "incomplete", array);
	} else if (stats_cut(stats)) {
		fprintf(out, "incomplete stacks end in:\n");
	}
	for (i = 0; i < count && (json || i < MAX_INCOMPLETE); i++) {
		if (!json) {
			print_incomplete(out, &list[i], stats);
			continue;
		}
		file = json_append(array);
		json_add_uint(file, "id", list[i].id);
		json_add_string(file, "path", list[i].name);
		json_add_bool(file, "loaded", list[i].loaded);
		json_add_uint(file, "cut", stops_cut(list[i].stop));
		json_add(file, "stops", stops_json(list[i].stop));
	}
	if (!json && count > MAX_INCOMPLETE)
		fprintf(out, "  and %zu more files; \"beectl status --files\" lists all\n",
			count - MAX_INCOMPLETE);
	if (!json)
		print_elsewhere(out, stats, sum);
	free(list);
}
