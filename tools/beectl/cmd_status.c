// SPDX-License-Identifier: GPL-2.0
/* beectl status: what the module does, holds and has seen. */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "json.h"
#include "netlink.h"
#include "names.h"
#include "manage.h"
#include "self_sample.h"
#include "status_tables.h"
#include "text.h"
#include "commands.h"

static const char status_help[] =
	"Usage: beectl status [--json]\n"
	"       beectl status [--json] PID\n"
	"       beectl status [--json] --tables\n"
	"\n"
	"Show whether the module is at work (tried out with a perf sample of beectl\n"
	"itself), what it holds, how the walks of user stacks ended since it was loaded,\n"
	"and in which files' code those ended that are not complete; or the ranges of a\n"
	"process; or the files that are mapped by managed processes or have a table.\n"
	"\n"
	"Options:\n"
	"  -t, --tables  List the files: size and rows of the table, ranges that use it,\n"
	"                samples in the code, walks that missed a table, walks cut short, and\n"
	"                time since it was used\n"
	"      --json    Print one object: hook, hook_proven, hook_note, module_version,\n"
	"                table_version, budget, used, files, tables, table_bytes,\n"
	"                processes, ranges, range_bytes, follow, announce, follow_lost,\n"
	"                hook_hits, walks, stops ([{reason, walks, doc}]), frames, fp_steps,\n"
	"                incomplete ([{path, loaded, walks, stops}], the worst first);\n"
	"                with PID: process ({pid, name, cookie, generation, ranges: [{start,\n"
	"                end, offset, table, rows, path}]}); with --tables: table_list ([{id,\n"
	"                loaded, bytes, rows, users, hits, missed, cut, idle_ms, stops, file_id,\n"
	"                inode, path, lossy}])\n"
	"  -h, --help    Show this text\n"
	"\n"
	"The exit status is 1 also if the hook is on but not proven by a sample, and if the\n"
	"module takes another table format than this beectl makes.\n";

/**
 * struct status - everything the module told, and what a self-sample showed
 * @info: state of the module
 * @stats: walks
 * @tables: in the store
 * @proven: a self-sample reached the hook
 * @note: why not
 */
struct status {
	struct netlink_info	info;
	struct netlink_stats	stats;
	struct netlink_files	tables;
	bool			proven;
	struct bee_error	note;
};

typedef unsigned long long ull;

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * part / whole : 0;
}

static const char *hook_name(uint32_t hook)
{
	return hook <= BEEUNWIND_HOOK_STATE_MAX ? bee_hook_state_names[hook] : "unknown";
}

static const struct netlink_file *table_find(const struct netlink_files *tables, uint32_t id)
{
	size_t i;

	for (i = 0; i < tables->count; i++)
		if (tables->table[i].id == id)
			return &tables->table[i];
	return NULL;
}

/* The hook's count of calls has to move while perf samples us. */
static int status_prove_hook(struct netlink *nl, struct status *status,
			     struct bee_error *error)
{
	uint64_t before = status->info.hook_hits;

	if (status->info.hook == BEEUNWIND_HOOK_STATE_OFF)
		return 0;
	if (sample_self(&status->note))
		return 0;
	if (netlink_info_get(nl, &status->info, error))
		return -1;
	status->proven = status->info.hook_hits > before;
	if (!status->proven)
		error_set(&status->note, 0, "perf took the sample without calling the hook");
	return 0;
}

/* Reasons in the order of their counts, the largest first. */
static size_t stops_sort(const struct netlink_stats *stats, uint32_t order[])
{
	size_t n = 0, at;
	uint32_t reason;

	for (reason = 0; reason <= BEEUNWIND_STOP_MAX; reason++) {
		if (!stats->stop[reason])
			continue;
		for (at = n++; at && stats->stop[order[at - 1]] < stats->stop[reason]; at--)
			order[at] = order[at - 1];
		order[at] = reason;
	}
	return n;
}

static uint64_t stops_sum(const struct netlink_stats *stats)
{
	uint64_t sum = stats->stop_other;
	uint32_t reason;

	for (reason = 0; reason <= BEEUNWIND_STOP_MAX; reason++)
		sum += stats->stop[reason];
	return sum;
}

static void print_stop(const char *name, uint64_t walks, uint64_t sum, const char *doc)
{
	printf("  %-16s %12llu %5.1f%%  %s\n", name, (ull)walks, percent(walks, sum), doc);
}

static void print_walks(const struct netlink_stats *stats)
{
	uint32_t order[BEEUNWIND_STOP_MAX + 1];
	uint64_t sum = stops_sum(stats);
	size_t i, n = stops_sort(stats, order);

	printf("walks:     %llu\n", (ull)sum);
	for (i = 0; i < n; i++)
		print_stop(bee_stop_names[order[i]], stats->stop[order[i]], sum,
			   bee_stop_docs[order[i]]);
	if (stats->stop_other)
		print_stop("other", stats->stop_other, sum,
			   "reasons that this beectl does not know");
	if (sum)
		printf("frames:    %.1f per walk, %.1f%% of them through the frame pointer\n",
		       (double)stats->frames / sum, percent(stats->fp_steps, stats->frames));
}

static void print_hook(const struct status *status)
{
	const char *name = hook_name(status->info.hook);

	if (status->info.hook == BEEUNWIND_HOOK_STATE_OFF)
		printf("hook:      off\n");
	else if (status->proven)
		printf("hook:      %s, proven by a self-sample\n", name);
	else
		printf("hook:      %s, but not proven by a self-sample: %s\n", name, status->note.text);
	if (status->info.hook == BEEUNWIND_HOOK_STATE_STUCK)
		printf("           ftrace refused to remove it; only a reboot unloads the module\n");
}

static void print_status(const struct status *status)
{
	const struct netlink_info *info = &status->info;
	uint64_t used = info->table_bytes + info->range_bytes;

	print_hook(status);
	printf("module:    %s, table format %u\n", info->module_version, info->table_version);
	printf("memory:    %s", text_size(used).text);
	printf(" of %s (%.1f%%)\n", text_size(info->budget).text, percent(used, info->budget));
	printf("tables:    %u of %u files, %s\n", info->tables, info->files,
	       text_size(info->table_bytes).text);
	printf("processes: %u with %u ranges, %s\n", info->procs, info->ranges,
	       text_size(info->range_bytes).text);
	if (info->follow_lost)
		printf("lost:      %llu times a process could not be followed for want of memory\n",
		       (ull)info->follow_lost);
	print_walks(&status->stats);
}

/* Addresses do not fit the numbers that JSON readers have. */
static void json_add_hex(struct json_object *object, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%#llx", (ull)value);
	json_add_string(object, key, text);
}

static struct json_object *json_stops(const struct netlink_stats *stats)
{
	struct json_object *array = json_object_new_array();
	uint32_t order[BEEUNWIND_STOP_MAX + 1];
	size_t i, n = stops_sort(stats, order);

	for (i = 0; i < n; i++) {
		struct json_object *stop = json_object_new_object();

		json_add_string(stop, "reason", bee_stop_names[order[i]]);
		json_add_uint(stop, "walks", stats->stop[order[i]]);
		json_add_string(stop, "doc", bee_stop_docs[order[i]]);
		json_object_array_add(array, stop);
	}
	return array;
}

static void json_status(struct json_object *object, const struct status *status)
{
	const struct netlink_info *info = &status->info;

	json_add_string(object, "hook", hook_name(info->hook));
	json_object_object_add(object, "hook_proven", json_object_new_boolean(status->proven));
	json_add_string(object, "hook_note", status->note.text);
	json_add_string(object, "module_version", info->module_version);
	json_add_uint(object, "table_version", info->table_version);
	json_add_uint(object, "budget", info->budget);
	json_add_uint(object, "used", info->table_bytes + info->range_bytes);
	json_add_uint(object, "files", info->files);
	json_add_uint(object, "tables", info->tables);
	json_add_uint(object, "table_bytes", info->table_bytes);
	json_add_uint(object, "processes", info->procs);
	json_add_uint(object, "ranges", info->ranges);
	json_add_uint(object, "range_bytes", info->range_bytes);
	json_add_string(object, "follow", info->follow <= BEEUNWIND_FOLLOW_MAX ?
			bee_follow_names[info->follow] : "unknown");
	json_add_string(object, "announce", info->announce <= BEEUNWIND_ANNOUNCE_MAX ?
			bee_announce_names[info->announce] : "unknown");
	json_add_uint(object, "follow_lost", info->follow_lost);
	json_add_uint(object, "hook_hits", info->hook_hits);
	json_add_uint(object, "walks", stops_sum(&status->stats));
	json_object_object_add(object, "stops", json_stops(&status->stats));
	json_add_uint(object, "frames", status->stats.frames);
	json_add_uint(object, "fp_steps", status->stats.fp_steps);
}

static int show_status(struct netlink *nl, struct status *status, struct json_object *json,
		       struct bee_error *error)
{
	if (netlink_info_get(nl, &status->info, error) ||
	    status_prove_hook(nl, status, error) ||
	    netlink_stats_get(nl, &status->stats, error) ||
	    netlink_files_get(nl, &status->tables, error))
		return -1;
	if (json) {
		json_status(json, status);
		json_incomplete(json, &status->tables);
	} else {
		print_status(status);
		print_incomplete(&status->tables);
	}
	if (netlink_check_format(&status->info, error))
		fprintf(stderr, "beectl: status: %s\n", error->text);
	else if (status->info.hook == BEEUNWIND_HOOK_STATE_OFF || status->proven)
		return EXIT_OK;
	return EXIT_FAILED;
}

static void json_proc(struct json_object *object, const struct netlink_proc *proc,
		      const char *name, const struct netlink_files *tables)
{
	struct json_object *process = json_object_new_object();
	struct json_object *array = json_object_new_array();
	size_t i;

	for (i = 0; i < proc->ranges.count; i++) {
		const struct range *r = &proc->ranges.range[i];
		const struct netlink_file *t = table_find(tables, r->file);
		struct json_object *range = json_object_new_object();

		json_add_hex(range, "start", r->start);
		json_add_hex(range, "end", r->end);
		json_add_hex(range, "offset", r->offset);
		json_add_uint(range, "table", t && t->loaded ? r->file : 0);
		json_add_uint(range, "rows", t ? t->rows : 0);
		json_add_string(range, "path", t ? t->name : "");
		json_object_array_add(array, range);
	}
	json_add_uint(process, "pid", proc->pid);
	json_add_string(process, "name", name);
	json_add_uint(process, "cookie", proc->cookie);
	json_add_uint(process, "generation", proc->generation);
	json_object_object_add(process, "ranges", array);
	json_object_object_add(object, "process", process);
}

static void print_proc(const struct netlink_proc *proc, const char *name,
		       const struct netlink_files *tables)
{
	size_t i;

	printf("%u ", proc->pid);
	text_put_name(stdout, name);
	printf(": %zu range%s\n", proc->ranges.count, proc->ranges.count == 1 ? "" : "s");
	printf("  %-33s %18s %8s %10s  %s\n", "start-end", "offset", "table", "rows", "path");
	for (i = 0; i < proc->ranges.count; i++) {
		const struct range *r = &proc->ranges.range[i];
		const struct netlink_file *t = table_find(tables, r->file);

		printf("  %016llx-%016llx ", (ull)r->start, (ull)r->end);
		if (!r->file) {
			printf("%18s %8s %10s  (executable memory without a file)\n", "-", "-",
			       "-");
			continue;
		}
		printf("%#18llx ", (ull)r->offset);
		if (t && t->loaded)
			printf("%8u %10u  ", r->file, t->rows);
		else
			printf("%8s %10s  ", "none", "-");
		text_put_name(stdout, t ? t->name : "?");
		putchar('\n');
	}
}

static int show_proc(struct netlink *nl, pid_t pid, const struct netlink_files *tables,
		     struct json_object *json, struct bee_error *error)
{
	struct netlink_procs procs;
	char name[64];
	int ret;

	ret = netlink_procs_get(nl, pid, &procs, error);
	if (!ret && !procs.count) {
		snprintf(error->text, sizeof(error->text),
			 "no ranges known; load them with: beectl load %d", pid);
		ret = -1;
	}
	if (!ret) {
		proc_name(pid, name, sizeof(name));
		if (json)
			json_proc(json, &procs.proc[0], name, tables);
		else
			print_proc(&procs.proc[0], name, tables);
	}
	netlink_procs_free(&procs);
	return ret;
}

static int status_show(struct netlink *nl, pid_t pid, bool tables, struct json_object *json,
		       struct bee_error *error)
{
	struct status status = { 0 };
	int ret = 0;

	if (pid || tables)
		ret = netlink_files_get(nl, &status.tables, error);
	else
		ret = show_status(nl, &status, json, error);
	if (!ret && pid)
		ret = show_proc(nl, pid, &status.tables, json, error);
	if (!ret && tables) {
		if (json)
			json_tables(json, &status.tables);
		else
			print_tables(&status.tables);
	}
	netlink_files_free(&status.tables);
	return ret;
}

static int status_run(const char *word, pid_t pid, bool tables, bool want_json)
{
	struct json_object *json = want_json ? json_object_new_object() : NULL;
	struct bee_error error;
	struct netlink *nl = netlink_open(&error);
	int ret = -1;

	if (nl)
		ret = status_show(nl, pid, tables, json, &error);
	netlink_close(nl);
	if (ret < 0) {
		fprintf(stderr, "beectl: status: %s%s%s\n", nl && word ? word : "",
			nl && word ? ": " : "", error.text);
		json_object_put(json);
		return EXIT_FAILED;
	}
	if (json)
		json_print(json);
	return ret;
}

int cmd_status(int argc, char **argv)
{
	static const struct option options[] = {
		{ "tables", no_argument, NULL, 't' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	bool tables = false, json = false;
	pid_t pid = 0;
	int c;

	argv[0] = (char *)"beectl: status";	/* for getopt's messages */
	optind = 0;
	while ((c = getopt_long(argc, argv, "th", options, NULL)) >= 0) {
		switch (c) {
		case 't':
			tables = true;
			break;
		case 'j':
			json = true;
			break;
		case 'h':
			fputs(status_help, stdout);
			return EXIT_OK;
		default:
			return EXIT_USAGE;
		}
	}
	if (argc - optind > 1) {
		fputs("beectl: status: one process at a time, please\n", stderr);
		return EXIT_USAGE;
	}
	if (optind < argc && text_parse_pid(argv[optind], &pid)) {
		fprintf(stderr, "beectl: status: %s: not a process id\n", argv[optind]);
		return EXIT_USAGE;
	}
	return status_run(argv[optind], pid, tables, json);
}
