// SPDX-License-Identifier: GPL-2.0
/* beectl cache: show, empty or fill the cache of compiled tables. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cache.h"
#include "commands.h"
#include "error.h"
#include "inputs.h"
#include "json.h"
#include "parallel.h"
#include "progress.h"
#include "table_file.h"
#include "text.h"

static const char cache_help[] =
	"Usage: beectl cache list [--json]\n"
	"       beectl cache clear [-q]\n"
	"       beectl cache prewarm [-q] [-j N] [--json] ELF|DIR...\n"
	"\n"
	"Compiled tables are kept in /var/cache/beeunwind, or $BEEUNWIND_CACHE, so that no\n"
	"file is compiled twice.  list shows them, that used last at the end; clear removes\n"
	"them; prewarm makes those of the given files, and of all executables and shared\n"
	"objects below DIR, before they are needed.\n"
	"\n"
	"Options:\n"
	"  -j, --jobs N   Work on N files at a time (default: one for each CPU)\n"
	"  -q, --quiet    Print nothing but errors\n"
	"      --json     list: print one object: directory, limit, bytes, entries ([{name,\n"
	"                 path, bytes, used, state}]); prewarm: files ([{path, table,\n"
	"                 bytes}], or path and error), bytes\n"
	"  -h, --help     Show this text\n"
	"\n"
	"The cache holds 256 MiB, or $BEEUNWIND_CACHE_SIZE (as 512M); then what was used\n"
	"longest ago goes.  States other than current: old (made by another version of\n"
	"beectl), damaged and untrusted (others may have written it): such are not used.\n"
	"\n"
	"Examples:\n"
	"  beectl cache prewarm /usr/bin /usr/lib\n"
	"  beectl cache list\n";

static const char *const state_names[] = {
	[CACHE_CURRENT] = "current",
	[CACHE_OLD] = "old",
	[CACHE_DAMAGED] = "damaged",
	[CACHE_UNTRUSTED] = "untrusted",
};

/**
 * struct cache_command - options and what is known so far
 * @quiet: errors only
 * @jobs: files at a time; 0: by the number of CPUs
 * @cache: the cache
 * @files: to prewarm
 * @json: what is printed in the end, NULL for text
 * @array: its entries or files
 * @count: tables, by enum table_source or enum cache_state
 * @bytes: that they take
 * @status: exit status so far
 */
struct cache_command {
	bool			 quiet;
	unsigned int		 jobs;
	struct cache		*cache;
	struct input_files	 files;
	struct json_object	*json;
	struct json_object	*array;
	size_t			 count[4];
	uint64_t		 bytes;
	int			 status;
};

/* What a child has to say of a file. */
struct prewarm_report {
	enum table_source	source;
	bool			kept;
	uint64_t		bytes;
	struct bee_error	error;
};

static int complain(const char *file, const char *why)
{
	fflush(stdout);
	fputs("beectl: cache: ", stderr);
	if (file) {
		text_put_name(stderr, file);
		fputs(": ", stderr);
	}
	fprintf(stderr, "%s\n", why);
	return EXIT_FAILED;
}

static struct json_object *json_entry(const struct cache_entry *entry)
{
	struct json_object *object = json_object_new_object();

	json_add_string(object, "name", entry->name);
	json_add_string(object, "path", entry->path);
	json_add_uint(object, "bytes", entry->bytes);
	json_add_uint(object, "used", entry->used);
	json_add_string(object, "state", state_names[entry->state]);
	return object;
}

static void print_entry(const struct cache_entry *entry)
{
	struct tm tm;
	char when[32] = "?";

	if (localtime_r(&entry->used, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M", &tm);
	printf("%10s  %16s  %-9s  %.12s  ", text_size(entry->bytes).text, when,
	       state_names[entry->state], entry->name);
	text_put_name(stdout, entry->path[0] ? entry->path : "?");
	putchar('\n');
}

static void list_entry(void *arg, const struct cache_entry *entry)
{
	struct cache_command *command = arg;

	if (command->json) {
		json_object_array_add(command->array, json_entry(entry));
	} else {
		if (!command->bytes)
			printf("%10s  %16s  %-9s  %-12s  %s\n", "size", "last used", "state",
			       "file id", "path");
		print_entry(entry);
	}
	command->count[entry->state]++;
	command->bytes += entry->bytes;
}

static void print_sum(const struct cache_command *command)
{
	size_t state, count = 0;

	for (state = CACHE_CURRENT; state <= CACHE_UNTRUSTED; state++)
		count += command->count[state];
	text_put_name(stdout, cache_path(command->cache));
	printf(": %zu table%s", count, count == 1 ? "" : "s");
	for (state = CACHE_OLD; state <= CACHE_UNTRUSTED; state++)
		if (command->count[state])
			printf(", %zu %s", command->count[state], state_names[state]);
	printf("; %s", text_size(command->bytes).text);
	printf(" of %s\n", text_size(cache_limit(command->cache)).text);
}

static int list_run(struct cache_command *command)
{
	if (cache_list(command->cache, list_entry, command))
		return complain(cache_path(command->cache), strerror(errno));
	if (!command->json) {
		print_sum(command);
		return EXIT_OK;
	}
	json_add_string(command->json, "directory", cache_path(command->cache));
	json_add_uint(command->json, "limit", cache_limit(command->cache));
	json_add_uint(command->json, "bytes", command->bytes);
	json_object_object_add(command->json, "entries", json_object_get(command->array));
	return EXIT_OK;
}

static int clear_run(struct cache_command *command)
{
	uint64_t bytes;
	size_t count;

	if (cache_clear(command->cache, &count, &bytes))
		return complain(cache_path(command->cache), strerror(errno));
	if (!command->quiet)
		printf("%zu table%s removed, %s\n", count, count == 1 ? "" : "s",
		       text_size(bytes).text);
	return EXIT_OK;
}

static void prewarm_opened(struct cache *cache, int fd, const char *path,
			   struct prewarm_report *report)
{
	struct lossy_report lossy;
	struct table_file table;

	report->source = table_file_get(cache, fd, path, false, NULL, &lossy, &table,
					&report->error);
	report->kept = table.kept;
	report->bytes = cache_disk_bytes(table.table.size);
	table_file_close(&table);
}

static void prewarm_work(void *arg, size_t index, FILE *out)
{
	const struct cache_command *command = arg;
	const struct input_file *file = &command->files.file[index];
	struct prewarm_report report = { .source = TABLE_NONE };
	char path[4096];
	int fd = -1;

	if (file->why) {
		error_set(&report.error, 0, "%s", file->why);
	} else {
		fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd < 0)
			error_set(&report.error, errno, "cannot open: %s", strerror(errno));
	}
	if (fd >= 0) {
		prewarm_opened(command->cache, fd, realpath(file->path, path) ?: file->path,
			       &report);
		close(fd);
	}
	fwrite(&report, sizeof(report), 1, out);
}

static void prewarm_failed(struct cache_command *command, const char *path, const char *why)
{
	struct json_object *object;

	complain(path, why);
	command->count[TABLE_NONE]++;
	if (!command->json)
		return;
	object = json_object_new_object();
	json_add_string(object, "path", path);
	json_add_string(object, "error", why);
	json_object_array_add(command->array, object);
}

static void prewarm_made(struct cache_command *command, const char *path,
			 const struct prewarm_report *report)
{
	struct json_object *object;

	command->count[report->source]++;
	command->bytes += report->bytes;
	if (!command->json)
		return;
	object = json_object_new_object();
	json_add_string(object, "path", path);
	json_add_string(object, "table",
			report->source == TABLE_CACHED ? "cached" : "compiled");
	json_add_uint(object, "bytes", report->bytes);
	json_object_array_add(command->array, object);
}

static void prewarm_done(void *arg, size_t index, const void *data, size_t size, const char *died)
{
	const struct prewarm_report *report = data;
	struct cache_command *command = arg;
	const struct input_file *file = &command->files.file[index];

	progress_end();
	if (died || size != sizeof(*report)) {
		prewarm_failed(command, file->path, died ?: "no result");
		command->status = EXIT_FAILED;
	} else if (report->kept) {
		prewarm_made(command, file->path, report);
	} else {
		prewarm_failed(command, file->path, report->error.text);
		/* That a file below a directory can have no table is no failure. */
		if (!file->found || file->why || report->source != TABLE_NONE)
			command->status = EXIT_FAILED;
	}
}

static void prewarm_progress(void *arg, size_t ready, size_t index)
{
	const struct cache_command *command = arg;

	progress_count(ready, command->files.count, command->files.file[index].path);
}

static void print_prewarmed(const struct cache_command *command)
{
	size_t count = command->count[TABLE_CACHED] + command->count[TABLE_COMPILED];

	printf("%zu table%s, %zu compiled now, %s", count, count == 1 ? "" : "s",
	       command->count[TABLE_COMPILED], text_size(command->bytes).text);
	if (command->count[TABLE_NONE])
		printf("; %zu file%s without one", command->count[TABLE_NONE],
		       command->count[TABLE_NONE] == 1 ? "" : "s");
	putchar('\n');
	if (command->bytes > cache_limit(command->cache))
		printf("The cache holds %s only; set BEEUNWIND_CACHE_SIZE to have them all.\n",
		       text_size(cache_limit(command->cache)).text);
}

static int prewarm_run(struct cache_command *command)
{
	const struct parallel parallel = {
		.count = command->files.count, .jobs = command->jobs, .arg = command,
		.work = prewarm_work, .done = prewarm_done, .progress = prewarm_progress,
	};

	if (!parallel.count)
		return complain(NULL, INPUT_FILES_NONE);
	cache_measure(command->cache);
	if (parallel_run(&parallel)) {
		progress_end();
		return complain("cannot start a process", strerror(errno));
	}
	if (command->json) {
		json_object_object_add(command->json, "files", json_object_get(command->array));
		json_add_uint(command->json, "bytes", command->bytes);
	} else if (!command->quiet) {
		print_prewarmed(command);
	}
	return command->status;
}

static int misuse(const char *why)
{
	fprintf(stderr, "beectl: cache: %s; see \"beectl cache --help\"\n", why);
	return EXIT_USAGE;
}

static int cache_run(struct cache_command *command, int (*run)(struct cache_command *command),
		     char **words, bool json)
{
	int status;

	command->cache = cache_open();
	if (cache_warning(command->cache))
		complain(NULL, cache_warning(command->cache));
	if (cache_absent(command->cache)) {
		if (!cache_warning(command->cache))
			complain(NULL, cache_absent(command->cache));
		cache_close(command->cache);
		return EXIT_FAILED;
	}
	if (json) {
		command->json = json_object_new_object();
		command->array = json_object_new_array();
	}
	for (; *words; words++)
		input_files_add(&command->files, *words);
	input_files_finish(&command->files);
	status = run(command);
	if (command->json)
		json_print(command->json);
	json_object_put(command->array);
	input_files_free(&command->files);
	cache_close(command->cache);
	return status;
}

int cmd_cache(int argc, char **argv)
{
	static const struct option options[] = {
		{ "jobs", required_argument, NULL, 'j' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "json", no_argument, NULL, 'J' },
		{ "help", no_argument, NULL, 'h' },
		{},
	};
	struct cache_command command = { .status = EXIT_OK };
	bool json = false, words;
	const char *verb;
	int c;

	optind = 0;
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":j:qh", options, NULL)) != -1) {
		switch (c) {
		case 'j':
			if (text_parse_jobs(optarg, &command.jobs))
				return misuse("-j needs a number from 1 to 1024");
			break;
		case 'q':
			command.quiet = true;
			break;
		case 'J':
			json = true;
			break;
		case 'h':
			fputs(cache_help, stdout);
			return EXIT_OK;
		case ':':
			return misuse("an option lacks its argument");
		default:
			return misuse("unknown option");
		}
	}
	verb = argv[optind] ?: "";
	words = verb[0] && argv[optind + 1];
	if (!strcmp(verb, "prewarm"))
		return words ? cache_run(&command, prewarm_run, argv + optind + 1, json) :
			       misuse("prewarm needs an ELF file or a directory");
	if (strcmp(verb, "list") && strcmp(verb, "clear"))
		return misuse("list, clear or prewarm?");
	if (words)
		return misuse("too many words");
	if (!strcmp(verb, "clear") && json)
		return misuse("clear has nothing to say in JSON");
	return cache_run(&command, !strcmp(verb, "list") ? list_run : clear_run,
			 argv + optind + 1, json);
}
