// SPDX-License-Identifier: GPL-2.0
/* beectl load: give the module the tables and ranges of running processes. */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "manage.h"
#include "text.h"
#include "commands.h"
#include "load_all.h"
#include "maker.h"
#include "progress.h"

static const char load_help[] =
	"Usage: beectl load [OPTIONS] PID...\n"
	"       beectl load [OPTIONS] --all\n"
	"\n"
	"Make perf's user callchains of running processes complete: have the module follow\n"
	"what they map, compile the unwind tables of all files that they execute (or take\n"
	"them from the cache), and hand them to the module.  What is there already is not\n"
	"sent again.  What starts or is mapped afterwards is left to \"beectl watch\".\n"
	"\n"
	"Options:\n"
	"  -a, --all      All processes\n"
	"  -j, --jobs N   Work on N files at a time (default: one for each CPU)\n"
	"  -q, --quiet    Print nothing but errors\n"
	"  -v, --verbose  Show every range that the process has afterwards; with --all, every\n"
	"                 file without a table\n"
	"      --fp-bypass\n"
	"                 No rows for functions that keep a frame pointer, which the walk takes\n"
	"                 then, in files where that will do; see the manual page\n"
	"      --thin PCT Leave out up to PCT percent (1 to 90) of the rows; see there\n"
	"      --json     Print an array with one object per PID: pid, name, mappings,\n"
	"                 tables, compiled, cached, loaded, bytes, text and wrong (bytes that\n"
	"                 tables made now that are not exact have rules for, and wrong ones),\n"
	"                 problems ([{path, reason}]); or pid and error.  With --all, one\n"
	"                 object: processes, refused, files, tables, compiled, cached, loaded,\n"
	"                 bytes, text, wrong, problems\n"
	"  -h, --help     Show this text\n"
	"\n"
	"Files are found through /proc/PID/map_files, which needs CAP_SYS_ADMIN or\n"
	"CAP_CHECKPOINT_RESTORE; without it, by name.  The exit status is 1 if a process\n"
	"could not be loaded; the others are, all the same.\n"
	"\n"
	"Examples:\n"
	"  beectl load $(pidof postgres)\n"
	"  beectl load --all && perf record -a -g -- sleep 10\n";

/**
 * struct load_command - options and what is open
 * @quiet: errors only
 * @verbose: list ranges
 * @want_json: JSON, not text
 * @json: array of results, NULL for text
 * @maker: how tables are made
 */
struct load_command {
	bool			 quiet;
	bool			 verbose;
	bool			 want_json;
	struct json_object	*json;
	struct table_maker	 maker;
};

static struct json_object *json_problems(const struct proc_result *result)
{
	struct json_object *array = json_object_new_array();
	size_t i;

	for (i = 0; i < result->nproblems; i++) {
		struct json_object *problem = json_object_new_object();

		json_add_string(problem, "path", result->problem[i].path);
		json_add_string(problem, "reason", result->problem[i].why);
		json_object_array_add(array, problem);
	}
	return array;
}

static void load_add_json(struct json_object *array, pid_t pid, const struct proc_result *result)
{
	struct json_object *object = json_object_new_object();

	json_add_uint(object, "pid", pid);
	json_add_string(object, "name", result->name);
	json_add_uint(object, "mappings", result->mappings);
	json_add_uint(object, "tables", result->tables);
	json_add_uint(object, "compiled", result->compiled);
	json_add_uint(object, "cached", result->cached);
	json_add_uint(object, "loaded", result->stored);
	json_add_uint(object, "bytes", result->bytes);
	json_add_uint(object, "text", result->text);
	json_add_uint(object, "wrong", result->wrong);
	json_object_object_add(object, "problems", json_problems(result));
	json_object_array_add(array, object);
}

static void load_add_json_error(struct json_object *array, const char *word, const char *text)
{
	struct json_object *object = json_object_new_object();
	pid_t pid;

	if (text_parse_pid(word, &pid))
		json_add_string(object, "argument", word);
	else
		json_add_uint(object, "pid", pid);
	json_add_string(object, "error", text);
	json_object_array_add(array, object);
}

/* "3 compiled, 1 cached", without the zeros. */
static void print_sources(const struct proc_result *result)
{
	const struct { size_t count; const char *word; } part[] = {
		{ result->compiled, "compiled" },
		{ result->cached, "cached" },
		{ result->stored, "already loaded" },
	};
	const char *before = " (";
	size_t i;

	for (i = 0; i < 3; i++) {
		if (!part[i].count)
			continue;
		printf("%s%zu %s", before, part[i].count, part[i].word);
		before = ", ";
	}
	if (result->tables)
		putchar(')');
}

static void print_result(pid_t pid, const struct proc_result *result)
{
	printf("%d ", pid);
	text_put_name(stdout, result->name);
	printf(": %zu mapping%s, %zu table%s", result->mappings,
	       result->mappings == 1 ? "" : "s", result->tables,
	       result->tables == 1 ? "" : "s");
	print_sources(result);
	printf(", %s\n", text_size(result->bytes).text);
	maker_print_wrong(stdout, result->wrong, result->text);
}

static void print_ranges(const struct load_command *load, pid_t pid)
{
	struct bee_error error;
	struct netlink_procs procs;
	size_t i;

	if (!netlink_procs_get(load->maker.nl, pid, &procs, &error) && procs.count)
		for (i = 0; i < procs.proc[0].ranges.count; i++) {
			const struct range *r = &procs.proc[0].ranges.range[i];

			printf("  %#14llx-%#14llx  offset %#llx  table %u\n",
			       (unsigned long long)r->start, (unsigned long long)r->end,
			       (unsigned long long)r->offset, r->file);
		}
	netlink_procs_free(&procs);
}

static void print_problems(pid_t pid, const struct proc_result *result)
{
	size_t i;

	fflush(stdout);
	for (i = 0; i < result->nproblems; i++) {
		fprintf(stderr, "beectl: load: %d: warning: ", pid);
		text_put_name(stderr, result->problem[i].path);
		fprintf(stderr, ": %s\n", result->problem[i].why);
	}
}

static int load_refuse(struct load_command *load, const char *word, const char *text)
{
	if (load->json)
		load_add_json_error(load->json, word, text);
	fflush(stdout);
	fprintf(stderr, "beectl: load: %s: ", word);
	text_put_name(stderr, text);
	fputc('\n', stderr);
	return EXIT_FAILED;
}

static int load_one(struct load_command *load, const char *word)
{
	struct proc_result result;
	int ret, status = EXIT_OK;
	pid_t pid;

	if (text_parse_pid(word, &pid))
		return load_refuse(load, word, "not a process id");
	ret = proc_load(&load->maker, pid, &result);
	progress_end();
	if (ret) {
		status = load_refuse(load, word, result.error.text);
	} else if (load->json) {
		load_add_json(load->json, pid, &result);
	} else if (!load->quiet) {
		print_result(pid, &result);
		if (load->verbose)
			print_ranges(load, pid);
		print_problems(pid, &result);
	}
	proc_result_free(&result);
	return status;
}

static int load_words(struct load_command *load, char **words)
{
	int status = EXIT_OK;

	if (load->want_json)
		load->json = json_object_new_array();
	for (; *words; words++)
		if (load_one(load, *words))
			status = EXIT_FAILED;
	if (load->json)
		json_print(load->json);
	return status;
}

static int load_run(struct load_command *load, char **words)
{
	struct load_all_options all = { .quiet = load->quiet, .verbose = load->verbose,
					.json = load->want_json };
	struct bee_error error;
	int status;

	if (maker_open(&load->maker, &error)) {
		fprintf(stderr, "beectl: load: %s\n", error.text);
		return EXIT_FAILED;
	}
	maker_warn(&load->maker, "load");
	load->maker.progress = maker_progress;
	status = words ? load_words(load, words) : load_all(&load->maker, &all);
	maker_close(&load->maker);
	return status;
}

int cmd_load(int argc, char **argv)
{
	static const struct option options[] = {
		{ "all", no_argument, NULL, 'a' },
		{ "jobs", required_argument, NULL, 'j' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "fp-bypass", no_argument, NULL, 'F' },
		{ "thin", required_argument, NULL, 'T' },
		{ "json", no_argument, NULL, 'J' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	struct load_command load = { 0 };
	bool all = false;
	int c;

	argv[0] = (char *)"beectl: load";	/* for getopt's messages */
	optind = 0;
	while ((c = getopt_long(argc, argv, "aj:qvh", options, NULL)) >= 0) {
		switch (c) {
		case 'a':
			all = true;
			break;
		case 'j':
			if (!text_parse_jobs(optarg, &load.maker.jobs))
				break;
			fputs("beectl: load: -j needs a number from 1 to 1024\n", stderr);
			return EXIT_USAGE;
		case 'q':
			load.quiet = true;
			break;
		case 'v':
			load.verbose = true;
			break;
		case 'F':
			load.maker.lossy.fp_bypass = true;
			break;
		case 'T':
			if (maker_thin(&load.maker, optarg, "load"))
				return EXIT_USAGE;
			break;
		case 'J':
			load.want_json = true;
			break;
		case 'h':
			fputs(load_help, stdout);
			return EXIT_OK;
		default:
			return EXIT_USAGE;
		}
	}
	if (all == (optind < argc)) {
		fputs(all ? "beectl: load: --all or process ids, not both\n" :
			    "beectl: load: which process?  See beectl load --help.\n", stderr);
		return EXIT_USAGE;
	}
	return load_run(&load, all ? NULL : argv + optind);
}
