// SPDX-License-Identifier: GPL-2.0
/* beectl status: what the module does, holds and has seen. */
#include <stdbool.h>
#include <stdio.h>

#include "commands.h"
#include "error.h"
#include "json.h"
#include "manage.h"
#include "messages.h"
#include "names.h"
#include "netlink.h"
#include "options.h"
#include "self_sample.h"
#include "status_files.h"
#include "text.h"

static const char status_help[] =
	"Usage: beectl status [--json]\n"
	"       beectl status [--json] PID\n"
	"       beectl status [--json] --files\n"
	"\n"
	"Show whether the module is at work (tried out with a perf sample of beectl\n"
	"itself), what it holds, how the walks of user stacks ended since it was loaded,\n"
	"and in which files' code those ended that are not complete; or the ranges of a\n"
	"process; or the files that are mapped by managed processes or have a table.\n"
	"\n"
	"Options:\n"
	"  -f, --files   List the files: size and rows of the table, ranges that use it,\n"
	"                samples in the code, walks that missed a table, walks cut short, and\n"
	"                time since it was used\n"
	"      --json    Print one object: hook, hook_proven, hook_note, module_version,\n"
	"                table_version, budget, used, files, tables, table_bytes,\n"
	"                processes, ranges, range_bytes, follow, announce, follow_lost,\n"
	"                hook_hits, walks, stops ([{reason, walks, doc}]), frames, fp_steps,\n"
	"                incomplete ([{path, loaded, walks, stops}], the worst first);\n"
	"                with PID: process ({pid, name, cookie, generation, ranges: [{start,\n"
	"                end, offset, file, loaded, rows, path}]}), where file is 0 for memory\n"
	"                without one, and loaded tells whether it has a table; with --files:\n"
	"                files ([{id, loaded, bytes, rows, users, hits, missed, cut, idle_ms,\n"
	"                stops, identity, inode, path, lossy}])\n"
	"  -h, --help    Show this text\n"
	"\n"
	"The exit status is 1 also if the hook is on but not proven by a sample, and if the\n"
	"module takes another table format than this beectl makes.\n";

/**
 * struct status - all that the module reports, and what a self-sample showed
 * @info: state of the module
 * @stats: walks by stop reason
 * @files: that the module knows
 * @proven: perf called the hook when it sampled this process
 * @note: why not
 */
struct status {
	struct netlink_info	info;
	struct netlink_stats	stats;
	struct netlink_files	files;
	bool			proven;
	struct bee_error	note;
};

typedef unsigned long long ull;

static const char *name_of(const char *const *names, uint32_t max, uint32_t value)
{
	return value <= max ? names[value] : "unknown";
}

/* The hook is proven if its count of calls rises while perf samples this process. */
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

/* Fills @order with the reasons of walks, the most frequent first.  Return: how many. */
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

static void print_status(const struct status *status)
{
	const struct netlink_info *info = &status->info;
	uint64_t used = info->table_bytes + info->range_bytes;

	printf("hook:      %s",
	       name_of(bee_hook_state_names, BEEUNWIND_HOOK_STATE_MAX, info->hook));
	if (info->hook != BEEUNWIND_HOOK_STATE_OFF && status->proven)
		printf(", proven by a self-sample");
	else if (info->hook != BEEUNWIND_HOOK_STATE_OFF)
		printf(", but not proven by a self-sample: %s", status->note.text);
	if (info->hook == BEEUNWIND_HOOK_STATE_STUCK)
		printf("\n           ftrace refused to remove it; only a reboot unloads the module");
	printf("\nmodule:    %s, table format %u\n", info->module_version, info->table_version);
	printf("memory:    %s of %s (%.1f%%)\n", text_size(used).text,
	       text_size(info->budget).text, percent(used, info->budget));
	printf("tables:    %u of %u files, %s\n", info->tables, info->files,
	       text_size(info->table_bytes).text);
	printf("processes: %u with %u ranges, %s\n", info->procs, info->ranges,
	       text_size(info->range_bytes).text);
	if (info->follow_lost)
		printf("lost:      %llu times a process could not be followed for want of memory\n",
		       (ull)info->follow_lost);
	print_walks(&status->stats);
}

/* Addresses as strings: many JSON readers hold numbers as doubles, exact to 53 bits only. */
static void json_add_hex(struct json_object *object, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%#llx", (ull)value);
	json_add_string(object, key, text);
}

static void json_status(struct json_object *object, const struct status *status)
{
	const struct netlink_info *info = &status->info;
	const struct netlink_stats *stats = &status->stats;
	struct json_object *stop, *stops = json_object_new_array();
	uint32_t order[BEEUNWIND_STOP_MAX + 1];
	size_t i, n = stops_sort(stats, order);

	json_add_string(object, "hook",
			name_of(bee_hook_state_names, BEEUNWIND_HOOK_STATE_MAX, info->hook));
	json_add_bool(object, "hook_proven", status->proven);
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
	json_add_string(object, "follow",
			name_of(bee_follow_names, BEEUNWIND_FOLLOW_MAX, info->follow));
	json_add_string(object, "announce",
			name_of(bee_announce_names, BEEUNWIND_ANNOUNCE_MAX, info->announce));
	json_add_uint(object, "follow_lost", info->follow_lost);
	json_add_uint(object, "hook_hits", info->hook_hits);
	json_add_uint(object, "walks", stops_sum(stats));
	for (i = 0; i < n; i++) {
		stop = json_append(stops);
		json_add_string(stop, "reason", bee_stop_names[order[i]]);
		json_add_uint(stop, "walks", stats->stop[order[i]]);
		json_add_string(stop, "doc", bee_stop_docs[order[i]]);
	}
	json_add(object, "stops", stops);
	json_add_uint(object, "frames", stats->frames);
	json_add_uint(object, "fp_steps", stats->fp_steps);
}

/* Return: exit status, or -1 with the error filled. */
static int show_status(struct netlink *nl, struct json_object *json, struct bee_error *error)
{
	struct status status = { .note = { 0 } };
	int ret = -1;

	if (!netlink_info_get(nl, &status.info, error) &&
	    !status_prove_hook(nl, &status, error) &&
	    !netlink_stats_get(nl, &status.stats, error) &&
	    !netlink_files_get(nl, &status.files, error)) {
		if (json)
			json_status(json, &status);
		else
			print_status(&status);
		status_show_incomplete(&status.files, json);
		ret = status.info.hook == BEEUNWIND_HOOK_STATE_OFF || status.proven ?
		      EXIT_OK : EXIT_FAILED;
		if (netlink_check_format(&status.info, error))
			ret = message_error("status", NULL, error->text);
	}
	netlink_files_free(&status.files);
	return ret;
}

static struct json_object *json_process(const struct netlink_proc *proc, const char *name,
					const struct netlink_files *files)
{
	struct json_object *process = json_object_new_object();
	struct json_object *array = json_object_new_array();
	size_t i;

	for (i = 0; i < proc->ranges.count; i++) {
		const struct range *r = &proc->ranges.range[i];
		const struct netlink_file *file = netlink_files_find(files, r->file);
		struct json_object *range = json_append(array);

		json_add_hex(range, "start", r->start);
		json_add_hex(range, "end", r->end);
		json_add_hex(range, "offset", r->offset);
		json_add_uint(range, "file", r->file);
		json_add_bool(range, "loaded", file && file->loaded);
		json_add_uint(range, "rows", file ? file->rows : 0);
		json_add_string(range, "path", file ? file->name : "");
	}
	json_add_uint(process, "pid", proc->pid);
	json_add_string(process, "name", name);
	json_add_uint(process, "cookie", proc->cookie);
	json_add_uint(process, "generation", proc->generation);
	json_add(process, "ranges", array);
	return process;
}

static void print_process(const struct netlink_proc *proc, const char *name,
			  const struct netlink_files *files)
{
	size_t i;

	printf("%u ", proc->pid);
	text_put_name(stdout, name);
	printf(": %zu range%s\n", proc->ranges.count, plural(proc->ranges.count));
	printf("  %-33s %18s %8s %10s  %s\n", "start-end", "offset", "file", "rows", "path");
	for (i = 0; i < proc->ranges.count; i++) {
		const struct range *r = &proc->ranges.range[i];
		const struct netlink_file *file = netlink_files_find(files, r->file);

		printf("  %016llx-%016llx ", (ull)r->start, (ull)r->end);
		if (!r->file) {
			printf("%18s %8s %10s  (executable memory without a file)\n", "-", "-",
			       "-");
			continue;
		}
		printf("%#18llx %8u ", (ull)r->offset, r->file);
		if (file && file->loaded)
			printf("%10u  ", file->rows);
		else
			printf("%10s  ", "no table");
		text_put_name(stdout, file ? file->name : "?");
		putchar('\n');
	}
}

/* The ranges of process @pid, unless that is 0, and @all files. */
static int show_files(struct netlink *nl, pid_t pid, bool all, struct json_object *json,
		      struct bee_error *error)
{
	struct netlink_files files = { 0 };
	struct netlink_procs procs = { 0 };
	char name[64];
	int ret;

	ret = netlink_files_get(nl, &files, error);
	if (!ret && pid)
		ret = netlink_procs_get(nl, pid, &procs, error);
	if (!ret && pid && !procs.count)
		ret = error_set(error, 0, "no ranges known; load them with: beectl load %d", pid);
	if (!ret && pid) {
		manage_process_name(pid, name, sizeof(name));
		if (json)
			json_add(json, "process", json_process(&procs.proc[0], name, &files));
		else
			print_process(&procs.proc[0], name, &files);
	}
	if (!ret && all)
		status_show_files(&files, json);
	netlink_procs_free(&procs);
	netlink_files_free(&files);
	return ret;
}

int cmd_status(int argc, char **argv)
{
	bool files = false, want_json = false;
	const struct options options = {
		.command = "status", .help = status_help,
		.option = {
			{ 'f', "files", OPTION_FLAG, &files },
			{ 0, "json", OPTION_FLAG, &want_json },
		},
	};
	int status = options_parse(&options, argc, &argv);
	struct json_object *json = NULL;
	struct bee_error error;
	struct netlink *nl;
	pid_t pid = 0;
	int ret = -1;

	if (status != OPTIONS_OK)
		return status;
	if (*argv && argv[1])
		return message_usage("status", "one process at a time");
	if (*argv && text_parse_pid(*argv, &pid))
		return message_usage("status", "%s: not a process id", *argv);
	nl = netlink_open(&error);
	if (!nl)
		return message_error("status", NULL, error.text);
	if (want_json)
		json = json_object_new_object();
	if (pid || files)
		ret = show_files(nl, pid, files, json, &error);
	else
		ret = show_status(nl, json, &error);
	netlink_close(nl);
	if (ret >= 0 && json)
		json_print(json);
	else
		json_object_put(json);
	return ret < 0 ? message_error("status", *argv, error.text) : ret;
}
