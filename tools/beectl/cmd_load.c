// SPDX-License-Identifier: GPL-2.0
/* beectl load: give the module the tables of running processes. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "json.h"
#include "load.h"
#include "maker.h"
#include "messages.h"
#include "options.h"
#include "progress.h"
#include "status_procs.h"
#include "text.h"

static const char load_help[] =
	"Usage: beectl load [OPTIONS] PID...\n"
	"       beectl load [OPTIONS] --all\n"
	"\n"
	"Make perf's user callchains of running processes complete: compile the unwind\n"
	"tables of all files that they execute now (or take them from the cache), and\n"
	"hand them to the module, except those that it has already.  All processes that\n"
	"map these files, also later, have complete stacks in them then.  A file that is\n"
	"mapped later takes another load, or \"beectl watch\".\n"
	"\n"
	"Options:\n"
	"  -a, --all      All processes\n"
	"  -j, --jobs N   Work on N files at a time (default: one for each CPU)\n"
	"  -q, --quiet    Print nothing but errors\n"
	"  -v, --verbose  Show all files of the process afterwards; with --all, every\n"
	"                 file without a table\n"
	"      --cfi-only Leave code without unwind information without rows, even if it\n"
	"                 proves them; see the manual page\n"
	"      --fp-bypass\n"
	"                 Leave out the rows of functions that keep a frame pointer, in\n"
	"                 files where the walk can use it instead; see the manual page\n"
	"      --thin PCT Leave out up to PCT percent (1 to 90) of the rows; see there\n"
	"      --no-jit   Leave code that is in memory without a file without tables\n"
	"      --json     Print one object; keys: JSON in beectl(8)\n"
	"  -h, --help     Show this text\n"
	"\n"
	"Files are found through /proc/PID/map_files, which needs CAP_SYS_ADMIN or\n"
	"CAP_CHECKPOINT_RESTORE; without it, by name.  The exit status is 1 if a process\n"
	"could not be loaded; the others are loaded all the same.\n"
	"\n"
	"Examples:\n"
	"  beectl load $(pidof postgres)\n"
	"  beectl load --all && perf record -a -g -- sleep 10\n";

/**
 * struct load_command - options and what is open
 * @quiet: errors only
 * @verbose: list files, or with --all those without a table
 * @json: results of the processes, or problems of --all; NULL for text
 * @maker: how tables are made
 */
struct load_command {
	bool			 quiet;
	bool			 verbose;
	struct json_object	*json;
	struct table_maker	 maker;
};

/* "..., 4 tables (3 compiled, 1 cached), ...": a source of no table is left out. */
static void print_result(pid_t pid, const struct load_result *result)
{
	const struct { size_t count; const char *word; } part[] = {
		{ result->compiled - result->jit, "compiled" },
		{ result->jit, "of JIT code" },
		{ result->remapped, "of remapped text" },
		{ result->cached, "cached" },
		{ result->stored, "already loaded" },
	};
	const char *before = " (";
	size_t i;

	printf("%d ", pid);
	text_put_name(stdout, result->name);
	printf(": %zu file%s, %zu table%s", result->files, plural(result->files),
	       result->tables, plural(result->tables));
	for (i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
		if (!part[i].count)
			continue;
		printf("%s%zu %s", before, part[i].count, part[i].word);
		before = ", ";
	}
	printf("%s, %s", result->tables ? ")" : "", text_size(result->bytes).text);
	printf("%s\n", result->heaps ? ", and the code heaps of its Java virtual machine" : "");
	maker_print_wrong(stdout, result->wrong, result->text);
}

static void load_add_json(struct json_object *array, pid_t pid, const struct load_result *result)
{
	struct json_object *object = json_append(array);
	struct json_object *problems = json_object_new_array();
	size_t i;

	json_add_uint(object, "pid", pid);
	json_add_string(object, "name", result->name);
	json_add_uint(object, "files", result->files);
	json_add_uint(object, "tables", result->tables);
	json_add_uint(object, "compiled", result->compiled);
	json_add_uint(object, "jit", result->jit);
	json_add_uint(object, "remapped", result->remapped);
	json_add_uint(object, "heaps", result->heaps);
	json_add_uint(object, "cached", result->cached);
	json_add_uint(object, "already_loaded", result->stored);
	json_add_uint(object, "bytes", result->bytes);
	json_add_uint(object, "text", result->text);
	json_add_uint(object, "wrong", result->wrong);
	for (i = 0; i < result->nproblems; i++)
		json_append_problem(problems, result->problem[i].path,
				    result->problem[i].why);
	json_add(object, "problems", problems);
}

static int load_one(const struct load_command *load, const char *word)
{
	struct load_result result;
	struct json_object *object;
	struct bee_error error;
	char subject[300];
	pid_t pid = 0;
	size_t i;
	int ret;

	text_parse_pid(word, &pid);
	ret = load_process(&load->maker, pid, &result);
	progress_end();
	if (ret && load->json) {
		object = json_append(load->json);
		json_add_uint(object, "pid", pid);
		json_add_string(object, "error", result.error.text);
	}
	if (ret) {
		message_error("load", word, result.error.text);
	} else if (load->json) {
		load_add_json(load->json, pid, &result);
	} else if (!load->quiet) {
		print_result(pid, &result);
		if (load->verbose)
			status_show_pid(load->maker.nl, pid, NULL, &error);
		for (i = 0; i < result.nproblems; i++) {
			snprintf(subject, sizeof(subject), "%d: %s", pid, result.problem[i].path);
			message_warning("load", subject, result.problem[i].why);
		}
	}
	load_result_free(&result);
	return ret ? EXIT_FAILED : EXIT_OK;
}

/* Reasons that the summary lists; it leaves out files that have no table for yet another one. */
#define MAX_REASONS	16

/* Files without a table for one reason. */
struct reason {
	char	why[384];
	char	first[256];
	size_t	files;
};

/**
 * struct load_summary - what --all has done
 * @command: its options
 * @processes: whose mappings could be read
 * @compiled: tables compiled now
 * @jit: of @compiled, tables of JIT code
 * @remapped: copies of tables of files for text in memory
 * @cached: tables read from the cache
 * @text: bytes that tables which are not exact have rules for
 * @wrong: of @text, bytes with a wrong rule
 * @reason: why files have no table
 * @nreasons: entries in @reason
 * @refusal: the first refusal of a table that any other table would meet as well
 */
struct load_summary {
	const struct load_command	*command;
	size_t				 processes;
	size_t				 compiled;
	size_t				 jit;
	size_t				 remapped;
	size_t				 cached;
	uint64_t			 text;
	uint64_t			 wrong;
	struct reason			 reason[MAX_REASONS];
	size_t				 nreasons;
	struct table_result		 refusal;
};

static void summary_note(struct load_summary *summary, const char *name, const char *why)
{
	struct reason *reason = summary->reason;
	size_t i;

	for (i = 0; i < summary->nreasons && strcmp(reason[i].why, why); i++)
		;
	if (i == MAX_REASONS)
		return;
	if (i == summary->nreasons) {
		summary->nreasons++;
		snprintf(reason[i].why, sizeof(reason[i].why), "%s", why);
		snprintf(reason[i].first, sizeof(reason[i].first), "%s", name);
	}
	reason[i].files++;
}

/* A file, or code in memory, has no table. */
static void summary_add_problem(struct load_summary *summary, const char *name, const char *why)
{
	const struct load_command *load = summary->command;

	summary_note(summary, name, why);
	json_append_problem(load->json, name, why);
	if (load->verbose && !load->quiet && !load->json) {
		progress_end();
		message_warning("load", name, why);
	}
}

static void summary_done(void *arg, const struct table_want *want,
			 const struct table_result *result)
{
	struct load_summary *summary = arg;

	(void)want;
	summary->text += result->text;
	summary->wrong += result->wrong;
	summary->compiled += result->source == TABLE_COMPILED;
	summary->cached += result->source == TABLE_CACHED;
	if (result->source == TABLE_NONE)
		summary_add_problem(summary, result->name, result->error.text);
	if (table_jobs_refusal_is_general(result->refusal) && !summary->refusal.refusal)
		summary->refusal = *result;
}

static void summary_print(const struct load_summary *summary, const struct netlink_info *info)
{
	size_t processes = summary->processes, now = summary->compiled + summary->cached + summary->remapped;
	size_t i, stored = info->tables > now ? info->tables - now : 0;
	uint64_t bytes = netlink_info_used(info);
	struct json_object *object;

	if (summary->command->json) {
		object = json_object_new_object();
		json_add_uint(object, "processes", processes);
		json_add_uint(object, "files", info->files);
		json_add_uint(object, "tables", info->tables);
		json_add_uint(object, "compiled", summary->compiled);
		json_add_uint(object, "jit", summary->jit);
		json_add_uint(object, "remapped", summary->remapped);
		json_add_uint(object, "cached", summary->cached);
		json_add_uint(object, "already_loaded", stored);
		json_add_uint(object, "used_bytes", bytes);
		json_add_uint(object, "text", summary->text);
		json_add_uint(object, "wrong", summary->wrong);
		json_add(object, "problems", json_object_get(summary->command->json));
		json_print(object);
		return;
	}
	printf("%zu process%s, %u file%s, %u table%s (%zu compiled, %zu cached, %zu already "
	       "loaded), ", processes, processes == 1 ? "" : "es", info->files, plural(info->files),
	       info->tables, plural(info->tables), summary->compiled, summary->cached, stored);
	printf("%s of %s\n", text_size(bytes).text, text_size(info->budget).text);
	maker_print_wrong(stdout, summary->wrong, summary->text);
	for (i = 0; i < summary->nreasons && !summary->command->verbose; i++) {
		const struct reason *reason = &summary->reason[i];
		char files[sizeof(reason->first) + 32];

		snprintf(files, sizeof(files), reason->files > 1 ? "%s and %zu more" : "%s",
			 reason->first, reason->files - 1);
		message_warning("load", files, reason->why);
	}
}

static void summary_jit_done(void *arg, pid_t pid, const struct jit_result *jit)
{
	struct load_summary *summary = arg;
	char name[sizeof(jit->name) + 16];

	summary->compiled += jit->tables;
	summary->jit += jit->tables;
	summary->remapped += jit->remapped;
	if (!jit->error.text[0])
		return;
	snprintf(name, sizeof(name), "%d: %s", pid, jit->name[0] ? jit->name : "[jit]");
	summary_add_problem(summary, name, jit->error.text);
}

/* Fails if, for a general reason, a table was refused. */
static int load_run_all(const struct load_command *load)
{
	struct load_summary summary = { .command = load };
	struct table_maker maker = load->maker;
	struct netlink_info info;
	struct bee_error error;
	int ret;

	maker.arg = &summary;
	maker.done = summary_done;
	progress_begin("looking at all processes");
	ret = load_all(&maker, summary_jit_done, &summary.processes, &error);
	progress_end();
	if (ret || netlink_info_get(maker.nl, &info, &error))
		return message_error("load", NULL, error.text);
	if (load->json || !load->quiet)
		summary_print(&summary, &info);
	if (summary.refusal.refusal)
		message_error("load", NULL, summary.refusal.error.text);
	return summary.refusal.refusal ? EXIT_FAILED : EXIT_OK;
}

int cmd_load(int argc, char **argv)
{
	struct load_command load = { 0 };
	bool all = false, json = false;
	const struct options options = {
		.command = "load", .help = load_help,
		.option = {
			{ 'a', "all", OPTION_FLAG, &all },
			{ 'j', "jobs", OPTION_JOBS, &load.maker.jobs },
			{ 'q', "quiet", OPTION_FLAG, &load.quiet },
			{ 'v', "verbose", OPTION_FLAG, &load.verbose },
			{ 0, "cfi-only", OPTION_FLAG, &load.maker.lossy.cfi_only },
			{ 0, "fp-bypass", OPTION_FLAG, &load.maker.lossy.fp_bypass },
			{ 0, "thin", OPTION_THIN, &load.maker.lossy.thin },
			{ 0, "no-jit", OPTION_FLAG, &load.maker.no_jit },
			{ 0, "json", OPTION_FLAG, &json },
		},
	};
	int status = options_parse(&options, argc, &argv);
	struct json_object *object;
	struct bee_error error;

	if (status != OPTIONS_OK)
		return status;
	if (all && *argv)
		return message_usage("load", "--all or process ids, not both");
	if (!all && !*argv)
		return message_usage("load", "a process id or --all is needed");
	if (options_check_pids("load", argv))
		return EXIT_USAGE;
	if (maker_open(&load.maker, &error))
		return message_error("load", NULL, error.text);
	maker_warn(&load.maker, "load");
	maker_warn_hook(&load.maker, "load");
	load.maker.progress = progress_count;
	if (json)
		load.json = json_object_new_array();
	status = all ? load_run_all(&load) : EXIT_OK;
	for (; *argv; argv++)
		status |= load_one(&load, *argv);
	if (json && !all) {
		object = json_object_new_object();
		json_add(object, "processes", json_object_get(load.json));
		json_print(object);
	}
	json_object_put(load.json);
	maker_close(&load.maker);
	return status;
}
