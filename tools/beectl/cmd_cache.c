// SPDX-License-Identifier: GPL-2.0
/* beectl cache: show, empty or fill the cache of compiled tables. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include <linux/magic.h>

#include "cache.h"
#include "commands.h"
#include "each_file.h"
#include "json.h"
#include "messages.h"
#include "netlink.h"
#include "options.h"
#include "progress.h"
#include "table_file.h"
#include "text.h"

static const char cache_help[] =
	"Usage: beectl cache list [--json]\n"
	"       beectl cache clear [-q]\n"
	"       beectl cache prewarm [-q] [-j N] [--json] ELF|DIR...\n"
	"\n"
	"Compiled tables are kept in /var/cache/beeunwind, or $BEEUNWIND_CACHE, so that\n"
	"no file is compiled twice.  list shows them, the last used at the end; clear\n"
	"removes them; prewarm makes the tables of the given files, and of all\n"
	"executables and shared objects below DIR, before they are needed.\n"
	"\n"
	"Options:\n"
	"  -j, --jobs N   Work on N files at a time (default: one for each CPU)\n"
	"  -q, --quiet    Print nothing but errors\n"
	"      --json     list, prewarm: print one object; keys: JSON in beectl(8)\n"
	"  -h, --help     Show this text\n"
	"\n"
	"The cache holds 256 MiB, or $BEEUNWIND_CACHE_SIZE (as 512M); when it is full,\n"
	"beectl removes the tables that were used longest ago.  It does not use tables\n"
	"whose state is old (made by another version of beectl), damaged, or untrusted\n"
	"(others may have written them).\n"
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
 * @array: for @json: the entries of list, or the files of prewarm
 * @count: tables, by enum cache_state (list) or enum table_source (prewarm)
 * @bytes: sum of their sizes
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

/* The table that a child found or made; @error: why it is not kept in the cache */
struct prewarm_report {
	enum table_source	source;
	bool			kept;
	uint64_t		bytes;
	struct bee_error	error;
};

/* Entries so far. */
static size_t list_count(const struct cache_command *command)
{
	size_t state, count = 0;

	for (state = CACHE_CURRENT; state <= CACHE_UNTRUSTED; state++)
		count += command->count[state];
	return count;
}

static void list_entry(void *arg, const struct cache_entry *entry)
{
	struct cache_command *command = arg;
	struct json_object *object;
	char when[32] = "?";
	struct tm tm;

	if (command->json) {
		object = json_append(command->array);
		json_add_string(object, "name", entry->name);
		json_add_string(object, "path", entry->path);
		json_add_uint(object, "bytes", entry->bytes);
		json_add_uint(object, "last_used", entry->used);
		json_add_string(object, "state", state_names[entry->state]);
	} else {
		if (!list_count(command))
			printf("%10s  %16s  %-9s  %-12s  %s\n", "size", "last used", "state",
			       "identity", "path");
		if (localtime_r(&entry->used, &tm))
			strftime(when, sizeof(when), "%Y-%m-%d %H:%M", &tm);
		printf("%10s  %16s  %-9s  %.12s  ", text_size(entry->bytes).text, when,
		       state_names[entry->state], entry->name);
		text_put_name(stdout, entry->path[0] ? entry->path : "?");
		putchar('\n');
	}
	command->count[entry->state]++;
	command->bytes += entry->bytes;
}

static int list_run(struct cache_command *command)
{
	const char *path = cache_path(command->cache);
	uint64_t limit = cache_limit(command->cache);
	size_t state, count;

	if (cache_list(command->cache, list_entry, command))
		return message_error("cache", path, strerror(errno));
	if (command->json) {
		json_add_string(command->json, "directory", path);
		json_add_uint(command->json, "limit", limit);
		json_add_uint(command->json, "bytes", command->bytes);
		json_add(command->json, "entries", json_object_get(command->array));
		return EXIT_OK;
	}
	count = list_count(command);
	text_put_name(stdout, path);
	printf(": %zu table%s", count, plural(count));
	for (state = CACHE_OLD; state <= CACHE_UNTRUSTED; state++)
		if (command->count[state])
			printf(", %zu %s", command->count[state], state_names[state]);
	printf("; %s of %s\n", text_size(command->bytes).text, text_size(limit).text);
	return EXIT_OK;
}

static int clear_run(struct cache_command *command)
{
	uint64_t bytes;
	size_t count;

	if (cache_clear(command->cache, &count, &bytes))
		return message_error("cache", cache_path(command->cache), strerror(errno));
	if (!command->quiet)
		printf("%zu table%s removed, %s\n", count, plural(count), text_size(bytes).text);
	return EXIT_OK;
}

/*
 * On overlayfs only the module knows the inode below, by which those who have the file mapped will look
 * for its table: of files that it knows, as this one is for a moment.  The module is not loaded for that.
 */
static bool ask_module(int fd, struct identity_known *known)
{
	struct netlink_file file;
	struct bee_error error;
	struct netlink *nl;
	struct statfs fs;
	uint32_t id = 0;
	bool told;

	if (fstatfs(fd, &fs) || fs.f_type != OVERLAYFS_SUPER_MAGIC ||
	    access("/sys/module/beeunwind", F_OK))
		return false;
	nl = netlink_open(&error);
	told = nl && (!netlink_file_get(nl, fd, &file, &error) ||
		      (error.code == ENOENT && !netlink_table_add(nl, NETLINK_NO_TABLE, fd, geteuid(), &id, &error) &&
		       !netlink_file_get_id(nl, id, &file, &error)));
	if (id)
		netlink_table_del(nl, id, &error);
	if (told)
		*known = (struct identity_known){ .device = file.device, .inode = file.inode };
	netlink_close(nl);
	return told;
}

static int prewarm_work(void *arg, const struct input_file *file, int fd, FILE *out,
			struct bee_error *error)
{
	const struct cache_command *command = arg;
	struct prewarm_report report = { .kept = false };
	struct identity_known known;
	struct lossy_report lossy;
	struct table_file table;
	char path[PATH_MAX];

	report.source = table_file_get(command->cache, fd, realpath(file->path, path) ?: file->path,
				       ask_module(fd, &known) ? &known : NULL, NULL, &lossy, &table,
				       &report.error);
	report.kept = table.kept;
	report.bytes = cache_disk_bytes(table.table.size);
	table_file_close(&table);
	if (report.source == TABLE_NONE) {
		*error = report.error;
		return -1;
	}
	fwrite(&report, sizeof(report), 1, out);
	return 0;
}

static void prewarm_failed(void *arg, const struct input_file *file, const char *why, bool died)
{
	struct cache_command *command = arg;

	message_error("cache", file->path, why);
	json_append_problem(command->array, file->path, why);
	command->count[TABLE_NONE]++;
	command->status |= each_file_status(file, died);
}

static void prewarm_done(void *arg, const struct input_file *file, const void *data, size_t size)
{
	const struct prewarm_report *report = data;
	struct cache_command *command = arg;
	struct json_object *object;

	(void)size;
	progress_end();
	if (!report->kept) {
		prewarm_failed(command, file, report->error.text, true);
		return;
	}
	command->count[report->source]++;
	command->bytes += report->bytes;
	if (!command->json)
		return;
	object = json_append(command->array);
	json_add_string(object, "path", file->path);
	json_add_string(object, "source", report->source == TABLE_CACHED ? "cached" : "compiled");
	json_add_uint(object, "bytes", report->bytes);
}

static int prewarm_run(struct cache_command *command)
{
	const struct each_file each = {
		.command = "cache", .files = &command->files, .jobs = command->jobs,
		.report_size = sizeof(struct prewarm_report), .arg = command,
		.work = prewarm_work, .done = prewarm_done, .failed = prewarm_failed,
	};
	size_t compiled, none;
	int failed;

	cache_measure(command->cache);
	failed = each_file_run(&each);
	if (command->json) {
		json_add(command->json, "files", json_object_get(command->array));
		json_add_uint(command->json, "bytes", command->bytes);
	}
	if (failed || command->json || command->quiet)
		return failed ?: command->status;
	compiled = command->count[TABLE_COMPILED];
	none = command->count[TABLE_NONE];
	printf("%zu table%s, %zu compiled now, %s", command->count[TABLE_CACHED] + compiled,
	       plural(command->count[TABLE_CACHED] + compiled), compiled,
	       text_size(command->bytes).text);
	if (none)
		printf("; %zu file%s without one", none, plural(none));
	putchar('\n');
	if (command->bytes > cache_limit(command->cache))
		printf("The cache holds %s only; set BEEUNWIND_CACHE_SIZE to have them all.\n",
		       text_size(cache_limit(command->cache)).text);
	return command->status;
}

int cmd_cache(int argc, char **argv)
{
	struct cache_command command = { .status = EXIT_OK };
	bool json = false;
	const struct options options = {
		.command = "cache", .help = cache_help,
		.option = {
			{ 'j', "jobs", OPTION_JOBS, &command.jobs },
			{ 'q', "quiet", OPTION_FLAG, &command.quiet },
			{ 0, "json", OPTION_FLAG, &json },
		},
	};
	int status = options_parse(&options, argc, &argv);
	const char *verb = status == OPTIONS_OK && *argv ? *argv++ : "";
	int (*run)(struct cache_command *command) = NULL;

	if (status != OPTIONS_OK)
		return status;
	if (!strcmp(verb, "list"))
		run = list_run;
	else if (!strcmp(verb, "clear"))
		run = clear_run;
	else if (!strcmp(verb, "prewarm"))
		run = prewarm_run;
	if (!run)
		return message_usage("cache", "one of list, clear and prewarm is needed");
	if (run == prewarm_run && !*argv)
		return message_usage("cache", "prewarm needs an ELF file or a directory");
	if (run != prewarm_run && *argv)
		return message_usage("cache", "%s takes no file", verb);
	if (run == clear_run && json)
		return message_usage("cache", "--json: only for list and prewarm");
	if (run == list_run && command.quiet)
		return message_usage("cache", "-q: only for clear and prewarm");
	if (run != prewarm_run && command.jobs)
		return message_usage("cache", "-j: only for prewarm");
	command.cache = run == prewarm_run ? cache_open() : cache_open_old();
	if (cache_limit_warning(command.cache))
		message_warning("cache", NULL, cache_limit_warning(command.cache));
	if (cache_absent(command.cache)) {
		message_error("cache", NULL, cache_absent(command.cache));
		cache_close(command.cache);
		return EXIT_FAILED;
	}
	if (json) {
		command.json = json_object_new_object();
		command.array = json_object_new_array();
	}
	input_files_collect(&command.files, argv);
	status = run(&command);
	if (command.json)
		json_print(command.json);
	json_object_put(command.array);
	input_files_free(&command.files);
	cache_close(command.cache);
	return status;
}
