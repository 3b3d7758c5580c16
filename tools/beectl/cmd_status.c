// SPDX-License-Identifier: GPL-2.0
/* beectl status: what the module does, holds and has seen. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "counts.h"
#include "error.h"
#include "json.h"
#include "maker.h"
#include "messages.h"
#include "names.h"
#include "netlink.h"
#include "options.h"
#include "self_sample.h"
#include "status_files.h"
#include "status_procs.h"
#include "status_users.h"
#include "stops.h"
#include "table_users.h"
#include "text.h"
#include "version.h"

static const char status_help[] =
	"Usage: beectl status [--json] [--since FILE]\n"
	"       beectl status [--json] PID\n"
	"       beectl status [--json] --files | --processes | --users\n"
	"       beectl status [--json] --tables FILE...\n"
	"\n"
	"Show whether the module is at work (tried out with a perf sample of beectl\n"
	"itself), what it holds, how the walks of user stacks ended since it was loaded,\n"
	"and in which files' code and which processes those ended that are not complete;\n"
	"or which files of a process have tables; or the files that the module knows; or\n"
	"the processes that were sampled last; or the users for whom tables were made; or\n"
	"the processes that use the table of a FILE.\n"
	"\n"
	"Options:\n"
	"  -f, --files   List the files: memory that each takes, with its counters and\n"
	"                its table, rows of the table, whether a process has it mapped,\n"
	"                samples in the code, walks cut short, time since it was used, and\n"
	"                the user whose share of the memory it takes\n"
	"      --processes\n"
	"                List the processes that were sampled last: their walks, how many\n"
	"                of them were complete, and how the others ended\n"
	"  -t, --tables FILE...\n"
	"                List the processes that have these files mapped, and where.  FILE\n"
	"                is a path, or a name that --files shows\n"
	"  -u, --users   List the users for whose processes tables were made: how many,\n"
	"                the memory that these take, and what it may be at most\n"
	"      --since FILE\n"
	"                Count walks only from the moment at which FILE was written, by\n"
	"                \"beectl status --json >FILE\"; the module goes on counting for\n"
	"                others\n"
	"      --json    Print one object; keys: JSON in beectl(8)\n"
	"  -h, --help    Show this text\n"
	"\n"
	"The exit status is 1 also if the hook is on but not proven by a sample, and if\n"
	"the module takes another table format than this beectl makes.\n"
	"\n"
	"Example:\n"
	"  beectl status --json >before; sleep 60; beectl status --since before\n";

/**
 * struct status - all that the module reports, and what a self-sample showed
 * @counts: what the module reports
 * @proven: perf called the hook when it sampled this process
 * @note: why not
 */
struct status {
	struct counts		counts;
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
	struct netlink_info before, after;

	if (netlink_info_get(nl, &before, error))
		return -1;
	if (before.hook == BEEUNWIND_HOOK_STATE_OFF || sample_self(&status->note))
		return 0;
	if (netlink_info_get(nl, &after, error))
		return -1;
	status->proven = after.hook_hits > before.hook_hits;
	if (!status->proven)
		error_set(&status->note, 0, "perf took the sample without calling the hook");
	return 0;
}

static void print_status(const struct status *status)
{
	const struct netlink_info *info = &status->counts.info;
	uint64_t used = netlink_info_used(info);

	printf("hook:      %s",
	       name_of(bee_hook_state_names, BEEUNWIND_HOOK_STATE_MAX, info->hook));
	if (info->hook != BEEUNWIND_HOOK_STATE_OFF && status->proven)
		printf(", proven by a self-sample");
	else if (info->hook != BEEUNWIND_HOOK_STATE_OFF)
		printf(", but not proven by a self-sample: %s", status->note.text);
	if (info->hook == BEEUNWIND_HOOK_STATE_OFF)
		printf("\n           " MAKER_HOOK_OFF);
	printf("\nmodule:    %s, table format %u\n", info->module_version, info->table_version);
	if (strcmp(info->module_version, BEE_VERSION))
		puts("           not of this beectl, " BEE_VERSION
		     "; rmmod beeunwind && modprobe beeunwind loads the installed one");
	printf("listener:  %s\n", info->listeners ?
	       "somebody makes tables (beectl watch, run, record or flame)" : "nobody makes tables");
	printf("memory:    %s of %s (%.1f%%), %s of it for the caches of walks\n", text_size(used).text,
	       text_size(info->budget).text, percent(used, info->budget),
	       text_size(info->cache_bytes).text);
	printf("tables:    %u of %u files, %s\n", info->tables, info->files,
	       text_size(info->table_bytes).text);
	if (info->code_procs)
		printf("code:      in memory of %u process%s, %s\n", info->code_procs,
		       info->code_procs == 1 ? "" : "es", text_size(info->code_bytes).text);
	stats_put(stdout, &status->counts.stats);
}

static void json_status(struct json_object *object, const struct status *status)
{
	const struct netlink_info *info = &status->counts.info;

	json_add_string(object, "hook",
			name_of(bee_hook_state_names, BEEUNWIND_HOOK_STATE_MAX, info->hook));
	json_add_bool(object, "hook_proven", status->proven);
	json_add_string(object, "hook_note", status->note.text);
	json_add_string(object, "module_version", info->module_version);
	json_add_uint(object, "table_version", info->table_version);
	json_add_uint(object, "budget", info->budget);
	json_add_uint(object, "used_bytes", netlink_info_used(info));
	json_add_uint(object, "files", info->files);
	json_add_uint(object, "tables", info->tables);
	json_add_uint(object, "table_bytes", info->table_bytes);
	json_add_uint(object, "code_processes", info->code_procs);
	json_add_uint(object, "code_bytes", info->code_bytes);
	json_add_uint(object, "cache_bytes", info->cache_bytes);
	json_add_uint(object, "share", info->share);
	json_add_uint(object, "hook_hits", info->hook_hits);
	json_add_bool(object, "listeners", info->listeners);
	json_add_hex(object, "instance", info->instance);
	stats_json(object, &status->counts.stats);
}

/* Fills @counts; of walks only those since @since was written, unless that is NULL. */
static int status_count(struct netlink *nl, const char *since, struct counts *counts,
			struct bee_error *error)
{
	struct counts then = { 0 };
	struct bee_error why;
	int ret = since ? counts_read(since, &then, error) : 0;

	if (!ret)
		ret = counts_get(nl, counts, error);
	if (!ret && since && counts_subtract(counts, &then, &why))
		ret = error_set(error, why.code, "%.300s: %.200s", since, why.text);
	counts_free(&then);
	return ret;
}

/* Return: exit status, or -1 with the error filled. */
static int show_status(struct netlink *nl, const char *since, struct json_object *json,
		       struct bee_error *error)
{
	struct status status = { .note = { 0 } };
	int ret = -1;

	if (!status_prove_hook(nl, &status, error) &&
	    !status_count(nl, since, &status.counts, error)) {
		if (json)
			json_status(json, &status);
		else
			print_status(&status);
		status_show_incomplete(stdout, &status.counts.files, &status.counts.stats, json);
		status_show_procs(&status.counts.procs, false, json);
		if (!json && stats_walks(&status.counts.stats) !=
			     status.counts.stats.stop[BEEUNWIND_STOP_OUTERMOST])
			puts("What each reason means and what helps: STOP REASONS in beectl(8)");
		ret = status.counts.info.hook == BEEUNWIND_HOOK_STATE_OFF || status.proven ? EXIT_OK :
											     EXIT_FAILED;
		if (netlink_check_format(&status.counts.info, error))
			ret = message_error("status", NULL, error->text);
	}
	counts_free(&status.counts);
	return ret;
}

static int show_files(struct netlink *nl, struct json_object *json, struct bee_error *error)
{
	struct netlink_files files;
	int ret = netlink_files_get(nl, false, &files, error);

	if (!ret)
		status_show_files(&files, json);
	netlink_files_free(&files);
	return ret;
}

static int show_processes(struct netlink *nl, struct json_object *json, struct bee_error *error)
{
	struct netlink_procs procs;
	int ret = netlink_procs_get(nl, 0, &procs, error);

	if (!ret)
		status_show_procs(&procs, true, json);
	netlink_procs_free(&procs);
	return ret;
}

static int show_users(struct netlink *nl, struct json_object *json, struct bee_error *error)
{
	struct netlink_files files;
	struct netlink_info info;
	int ret = netlink_files_get(nl, false, &files, error) ?: netlink_info_get(nl, &info, error);

	if (!ret)
		status_show_users(&files, &info, json);
	netlink_files_free(&files);
	return ret;
}

/* The users of the files that each of @words means, as "tables" in @json. */
static int show_tables(struct netlink *nl, char **words, struct json_object *json,
		       struct bee_error *error)
{
	struct json_object *array = json ? json_object_new_array() : NULL;
	struct netlink_files files;
	int status = EXIT_OK, ret;
	size_t i;

	if (json)
		json_add(json, "tables", array);
	for (; *words; words++) {
		ret = table_users_find(nl, *words, &files, error);
		for (i = 0; !ret && i < files.count; i++) {
			ret = table_users_show(nl, &files.file[i], array, error);
			/* If several processes have that name, one may have ended meanwhile. */
			if (ret && error->code == ENOENT && files.count > 1)
				ret = 0;
		}
		netlink_files_free(&files);
		if (ret)
			status = message_error("status", *words, error->text);
	}
	return status;
}

int cmd_status(int argc, char **argv)
{
	bool files = false, processes = false, tables = false, users = false;
	bool want_json = false;
	const char *since = NULL;
	const struct options options = {
		.command = "status", .help = status_help,
		.option = {
			{ 'f', "files", OPTION_FLAG, &files },
			{ 0, "processes", OPTION_FLAG, &processes },
			{ 't', "tables", OPTION_FLAG, &tables },
			{ 'u', "users", OPTION_FLAG, &users },
			{ 0, "since", OPTION_TEXT, &since },
			{ 0, "json", OPTION_FLAG, &want_json },
		},
	};
	int status = options_parse(&options, argc, &argv);
	struct json_object *json = NULL;
	struct bee_error error;
	struct netlink *nl;
	pid_t pid = 0;
	int ret = 0;

	if (status != OPTIONS_OK)
		return status;
	if (tables && (files || processes || users || !*argv))
		return message_usage("status", *argv ?
				     "--tables: without --files, --processes and --users" :
				     "--tables: which files?");
	if (!tables && *argv && argv[1])
		return message_usage("status", "one process at a time");
	if (!tables && *argv && text_parse_pid(*argv, &pid))
		return message_usage("status", "%s: not a process id", *argv);
	if (since && (pid || files || processes || tables || users))
		return message_usage("status", "--since: only without PID, --files, --processes, "
				     "--tables and --users");
	nl = netlink_open(&error);
	if (!nl)
		return message_error("status", NULL, error.text);
	if (want_json)
		json = json_object_new_object();
	if (pid)
		ret = status_show_pid(nl, pid, json, &error);
	if (!ret && files)
		ret = show_files(nl, json, &error);
	if (!ret && processes)
		ret = show_processes(nl, json, &error);
	if (!ret && users)
		ret = show_users(nl, json, &error);
	if (tables)
		ret = show_tables(nl, argv, json, &error);
	if (!pid && !files && !processes && !tables && !users)
		ret = show_status(nl, since, json, &error);
	netlink_close(nl);
	if (ret >= 0 && json)
		json_print(json);
	else
		json_object_put(json);
	return ret < 0 ? message_error("status", *argv, error.text) : ret;
}
