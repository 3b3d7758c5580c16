// SPDX-License-Identifier: GPL-2.0
/* beectl unload: make the module forget processes, or tables. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#include "commands.h"
#include "manage.h"
#include "messages.h"
#include "netlink.h"
#include "options.h"
#include "table_users.h"
#include "text.h"

static const char unload_help[] =
	"Usage: beectl unload [-q] PID...\n"
	"       beectl unload [-q] [--all] [--tables]\n"
	"       beectl unload [-q] --tables FILE...\n"
	"\n"
	"Make the module forget processes: perf then sees their stacks as it does\n"
	"without the module.  Their tables stay in the module for the next load, until\n"
	"memory is short; --tables removes all tables that no process uses.  --all\n"
	"forgets all processes, and the module follows no new ones (\"beectl config\n"
	"follow managed\"), even while \"beectl watch\" is running: start that again to\n"
	"have new ones followed again.\n"
	"\n"
	"--tables FILE removes the tables of these files, also while processes use them,\n"
	"say a table that is wrong, and lists these processes.  Their stacks cross the\n"
	"file by frame pointers from then on.  \"beectl watch\", \"run\", \"record\" and\n"
	"\"flame\" that are running do not make the table again; \"beectl load\" does.  FILE\n"
	"is a path, or a name that \"beectl status --files\" shows, which may be of a file\n"
	"that was replaced since.\n"
	"\n"
	"Options:\n"
	"  -a, --all     Forget all processes\n"
	"  -t, --tables  Remove unused tables, or those of FILEs\n"
	"  -q, --quiet   Print nothing but errors\n"
	"  -h, --help    Show this text\n";

static int unload_tables(struct netlink *nl, bool quiet)
{
	struct netlink_files files;
	struct bee_error error;
	int status = EXIT_OK;
	uint64_t bytes = 0;
	size_t i, count = 0, loaded = 0;

	if (netlink_files_get(nl, &files, &error))
		status = message_error("unload", NULL, error.text);
	for (i = 0; i < files.count; i++) {
		const struct netlink_file *file = &files.file[i];

		loaded += file->loaded;
		if (!file->loaded || file->users)
			continue;
		if (!netlink_table_del(nl, file->id, false, &error)) {
			bytes += file->bytes;
			count++;
		} else if (error.code != EBUSY && error.code != ENOENT) {
			/* EBUSY, ENOENT: it came into use, or went, since it was listed */
			status = message_error("unload", file->name, error.text);
		}
	}
	if (!status && !quiet)
		printf("%zu of %zu table%s removed, %s\n", count, loaded, plural(loaded),
		       text_size(bytes).text);
	netlink_files_free(&files);
	return status;
}

/* Remove the tables of the files that @word means.  Return: exit status. */
static int unload_file(struct netlink *nl, const char *word, bool quiet)
{
	struct netlink_files files;
	struct bee_error error;
	size_t i, loaded = 0;
	int ret = table_users_find(nl, word, &files, &error);

	for (i = 0; !ret && i < files.count; i++) {
		if (!files.file[i].loaded)
			continue;
		loaded++;
		ret = table_users_kill(nl, &files.file[i], quiet, &error);
		/* Of several with that name, one has gone meanwhile: code in memory comes and goes. */
		if (ret && error.code == ENOENT && files.count > 1)
			ret = 0;
	}
	if (!ret && !loaded)
		ret = error_set(&error, ENOENT, "has no table");
	netlink_files_free(&files);
	return ret ? message_error("unload", word, error.text) : EXIT_OK;
}

/* Stop following first, or a fork or exec would add processes again while these are removed. */
static int unload_all(struct netlink *nl, bool quiet)
{
	struct netlink_info info;
	struct bee_error error;
	size_t count;

	if (netlink_config_set(nl, BEEUNWIND_A_CONFIG_FOLLOW, BEEUNWIND_FOLLOW_MANAGED, &error) ||
	    manage_forget_all(nl, &count, &error))
		return message_error("unload", NULL, error.text);
	if (!quiet)
		printf("%zu process%s unloaded\n", count, count == 1 ? "" : "es");
	if (!netlink_info_get(nl, &info, &error) && info.listeners)
		message_warning("unload", "new processes are not followed any more, not even by a "
				"\"beectl watch\" that is running", "to have them followed: systemctl "
				"restart beeunwind, or start it again");
	return EXIT_OK;
}

int cmd_unload(int argc, char **argv)
{
	bool all = false, tables = false, quiet = false, files;
	const struct options options = {
		.command = "unload", .help = unload_help,
		.option = {
			{ 'a', "all", OPTION_FLAG, &all },
			{ 't', "tables", OPTION_FLAG, &tables },
			{ 'q', "quiet", OPTION_FLAG, &quiet },
		},
	};
	int status = options_parse(&options, argc, &argv);
	struct bee_error error;
	struct netlink *nl;
	pid_t pid;

	if (status != OPTIONS_OK)
		return status;
	if (!*argv && !tables && !all)
		return message_usage("unload", "a process id, --all or --tables is needed");
	if (all && *argv)
		return message_usage("unload", "--all or %s, not both",
				     tables ? "files" : "process ids");
	if (!tables && options_check_pids("unload", argv))
		return EXIT_USAGE;
	files = *argv;
	nl = netlink_open(&error);
	if (!nl)
		return message_error("unload", NULL, error.text);
	status = EXIT_OK;
	for (; *argv; argv++) {
		if (tables) {
			status |= unload_file(nl, *argv, quiet);
			continue;
		}
		text_parse_pid(*argv, &pid);
		if (netlink_proc_del(nl, pid, &error))
			status = message_error("unload", *argv, error.text);
		else if (!quiet)
			printf("%d: unloaded\n", pid);
	}
	if (all)
		status |= unload_all(nl, quiet);
	if (tables && !files)
		status |= unload_tables(nl, quiet);
	netlink_close(nl);
	return status;
}
