// SPDX-License-Identifier: GPL-2.0
/* beectl unload: make the module forget processes, or tables that nobody uses. */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "manage_all.h"
#include "netlink.h"
#include "text.h"
#include "commands.h"

static const char unload_help[] =
	"Usage: beectl unload [-q] PID...\n"
	"       beectl unload [-q] [--all] [--tables]\n"
	"\n"
	"Make the module forget processes: perf sees their stacks as it does without the\n"
	"module.  Their tables stay in the module for the next load, until memory is short;\n"
	"--tables removes all tables that no process uses.  --all forgets all processes and\n"
	"has no new ones followed (\"beectl config follow managed\").\n"
	"\n"
	"Options:\n"
	"  -a, --all     Forget all processes\n"
	"  -t, --tables  Remove unused tables\n"
	"  -q, --quiet   Print nothing but errors\n"
	"  -h, --help    Show this text\n";

static int unload_proc(struct netlink *nl, const char *word, bool quiet)
{
	struct bee_error error = { .text = "not a process id" };
	pid_t pid;

	if (!text_parse_pid(word, &pid) && !netlink_proc_del(nl, pid, &error)) {
		if (!quiet)
			printf("%d: unloaded\n", pid);
		return EXIT_OK;
	}
	fflush(stdout);
	fprintf(stderr, "beectl: unload: %s: %s\n", word, error.text);
	return EXIT_FAILED;
}

/* One that came into use, or went, since it was listed is no failure. */
static int unload_table(struct netlink *nl, const struct netlink_file *table, uint64_t *bytes,
			size_t *count)
{
	struct bee_error error;

	if (!table->loaded || table->users)
		return EXIT_OK;
	if (!netlink_table_del(nl, table->id, false, &error)) {
		*bytes += table->bytes;
		++*count;
		return EXIT_OK;
	}
	if (error.code == EBUSY || error.code == ENOENT)
		return EXIT_OK;
	fprintf(stderr, "beectl: unload: table %u: %s\n", table->id, error.text);
	return EXIT_FAILED;
}

static int unload_tables(struct netlink *nl, bool quiet)
{
	struct netlink_files tables;
	struct bee_error error;
	int status = EXIT_OK;
	uint64_t bytes = 0;
	size_t i, count = 0, loaded = 0;

	if (netlink_files_get(nl, &tables, &error)) {
		fprintf(stderr, "beectl: unload: %s\n", error.text);
		status = EXIT_FAILED;
	}
	for (i = 0; i < tables.count; i++)
		loaded += tables.table[i].loaded;
	for (i = 0; i < tables.count; i++)
		if (unload_table(nl, &tables.table[i], &bytes, &count))
			status = EXIT_FAILED;
	if (!status && !quiet)
		printf("%zu of %zu tables removed, %s\n", count, loaded,
		       text_size(bytes).text);
	netlink_files_free(&tables);
	return status;
}

/* First of all no new ones, which would come back with the next fork or exec. */
static int unload_procs(struct netlink *nl, bool quiet)
{
	struct bee_error error;
	size_t count;

	if (netlink_config_set_follow(nl, BEEUNWIND_FOLLOW_MANAGED, &error) ||
	    all_forget(nl, &count, &error)) {
		fprintf(stderr, "beectl: unload: %s\n", error.text);
		return EXIT_FAILED;
	}
	if (!quiet)
		printf("%zu process%s unloaded\n", count, count == 1 ? "" : "es");
	return EXIT_OK;
}

static int unload_run(char **words, bool all, bool tables, bool quiet)
{
	struct bee_error error;
	struct netlink *nl = netlink_open(&error);
	int status = EXIT_OK;

	if (!nl) {
		fprintf(stderr, "beectl: unload: %s\n", error.text);
		return EXIT_FAILED;
	}
	for (; *words; words++)
		if (unload_proc(nl, *words, quiet))
			status = EXIT_FAILED;
	if (all && unload_procs(nl, quiet))
		status = EXIT_FAILED;
	if (tables && unload_tables(nl, quiet))
		status = EXIT_FAILED;
	netlink_close(nl);
	return status;
}

int cmd_unload(int argc, char **argv)
{
	static const struct option options[] = {
		{ "all", no_argument, NULL, 'a' },
		{ "tables", no_argument, NULL, 't' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	bool all = false, tables = false, quiet = false;
	int c;

	argv[0] = (char *)"beectl: unload";	/* for getopt's messages */
	optind = 0;
	while ((c = getopt_long(argc, argv, "atqh", options, NULL)) >= 0) {
		switch (c) {
		case 'a':
			all = true;
			break;
		case 't':
			tables = true;
			break;
		case 'q':
			quiet = true;
			break;
		case 'h':
			fputs(unload_help, stdout);
			return EXIT_OK;
		default:
			return EXIT_USAGE;
		}
	}
	if (optind == argc && !tables && !all) {
		fputs("beectl: unload: which process?  See beectl unload --help.\n", stderr);
		return EXIT_USAGE;
	}
	if (all && optind < argc) {
		fputs("beectl: unload: --all or process ids, not both\n", stderr);
		return EXIT_USAGE;
	}
	return unload_run(argv + optind, all, tables, quiet);
}
