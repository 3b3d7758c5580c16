// SPDX-License-Identifier: GPL-2.0
/* beectl unload: remove tables from the module. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#include "commands.h"
#include "messages.h"
#include "netlink.h"
#include "options.h"
#include "table_users.h"
#include "text.h"

static const char unload_help[] =
	"Usage: beectl unload [-q] FILE...\n"
	"       beectl unload [-q] --all\n"
	"\n"
	"Remove the tables of these files from the module, say one that is wrong, and\n"
	"list the processes that have them mapped: their stacks cross the files by frame\n"
	"pointers from then on.  A FILE is a path, or a name that \"beectl status --files\"\n"
	"shows, which may be of a file that was replaced since.  \"beectl watch\", \"run\",\n"
	"\"record\" and \"flame\" that are running do not make the tables again; \"beectl\n"
	"load\" does.\n"
	"\n"
	"--all has the module forget all files and all code in memory: as soon as these\n"
	"are sampled again, whoever is running makes their tables anew.\n"
	"\n"
	"Options:\n"
	"  -a, --all    Remove all tables\n"
	"  -q, --quiet  Print nothing but errors\n"
	"  -h, --help   Show this text\n";

static int unload_all(struct netlink *nl, bool quiet)
{
	struct netlink_files files;
	struct bee_error error;
	int status = EXIT_OK;
	uint64_t bytes = 0;
	size_t i, count = 0;

	if (netlink_files_get(nl, false, &files, &error))
		status = message_error("unload", NULL, error.text);
	for (i = 0; i < files.count; i++) {
		const struct netlink_file *file = &files.file[i];

		if (!netlink_table_del(nl, file->id, &error)) {
			bytes += file->bytes;
			count += file->loaded;
		} else if (error.code != ENOENT) {
			status = message_error("unload", file->name, error.text);
		}
	}
	if (!status && !quiet)
		printf("%zu table%s removed, %s\n", count, plural(count), text_size(bytes).text);
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
		/* If several processes have that name, one may have lost its code meanwhile. */
		if (ret && error.code == ENOENT && files.count > 1)
			ret = 0;
	}
	if (!ret && !loaded)
		ret = error_set(&error, ENOENT, "has no table");
	netlink_files_free(&files);
	return ret ? message_error("unload", word, error.text) : EXIT_OK;
}

int cmd_unload(int argc, char **argv)
{
	bool all = false, quiet = false;
	const struct options options = {
		.command = "unload", .help = unload_help,
		.option = {
			{ 'a', "all", OPTION_FLAG, &all },
			{ 'q', "quiet", OPTION_FLAG, &quiet },
		},
	};
	int status = options_parse(&options, argc, &argv);
	struct bee_error error;
	struct netlink *nl;
	char **word;
	pid_t pid;

	if (status != OPTIONS_OK)
		return status;
	if (!*argv && !all)
		return message_usage("unload", "a file or --all is needed");
	if (all && *argv)
		return message_usage("unload", "--all or files, not both");
	for (word = argv; *word; word++)
		if (!text_parse_pid(*word, &pid))
			return message_usage("unload", "%s: tables are of files, for all processes that map "
					     "them, so there is nothing to unload of one process", *word);
	nl = netlink_open(&error);
	if (!nl)
		return message_error("unload", NULL, error.text);
	status = all ? unload_all(nl, quiet) : EXIT_OK;
	for (word = argv; *word; word++)
		status |= unload_file(nl, *word, quiet);
	netlink_close(nl);
	return status;
}
