// SPDX-License-Identifier: GPL-2.0
/* beectl: find the command, and say what there is. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "version.h"

static const struct command {
	const char	*name;
	int		(*run)(int argc, char **argv);
	const char	*summary;
} commands[] = {
	{ "run",	cmd_run,	"Start a program with complete stacks from its first sample" },
	{ "load",	cmd_load,	"Give running processes their unwind tables" },
	{ "unload",	cmd_unload,	"Take the unwind tables of processes away again" },
	{ "watch",	cmd_watch,	"Keep the tables of all programs loaded, as a service" },
	{ "status",	cmd_status,	"Show the module, its processes and why walks ended" },
	{ "config",	cmd_config,	"Show or change the module's settings" },
	{ "cache",	cmd_cache,	"Show, empty or fill the cache of compiled tables" },
	{ "compile",	cmd_compile,	"Make the unwind tables of ELF files" },
	{ "size",	cmd_size,	"Show how large unwind tables are, beside the CFI of files" },
	{ "dump",	cmd_dump,	"Show the unwind table of an ELF file, or a table file" },
	{ "verify",	cmd_verify,	"Compare tables with what libdw says of the same files" },
};

#define NCOMMANDS	(sizeof(commands) / sizeof(commands[0]))

static void print_help(FILE *out)
{
	size_t i;

	fputs("Usage: beectl COMMAND [OPTIONS] [ARGUMENTS]\n\n"
	      "Complete user stacks in perf's callchains, by unwind tables in the kernel.\n\n"
	      "Commands:\n", out);
	for (i = 0; i < NCOMMANDS; i++)
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
	fputs("  help       Show this text, or that of a command\n\n"
	      "Options:\n"
	      "  -h, --help     Show this text\n"
	      "      --version  Show the version\n\n"
	      "\"beectl help COMMAND\" tells more about a command.\n", out);
}

static const struct command *find_command(const char *name)
{
	size_t i;

	for (i = 0; i < NCOMMANDS; i++)
		if (!strcmp(name, commands[i].name))
			return &commands[i];
	return NULL;
}

static int unknown_command(const char *name)
{
	fprintf(stderr, "beectl: unknown command '%s'; \"beectl help\" lists the commands\n", name);
	return EXIT_USAGE;
}

static int show_help(int argc, char **argv)
{
	const struct command *command;
	char option[] = "--help";
	char *words[3] = { NULL, option, NULL };

	if (argc < 2 || !strcmp(argv[1], "help")) {
		print_help(stdout);
		return EXIT_OK;
	}
	command = find_command(argv[1]);
	if (!command)
		return unknown_command(argv[1]);
	words[0] = argv[1];
	return command->run(2, words);
}

static int run_word(int argc, char **argv)
{
	const struct command *command;

	if (!strcmp(argv[0], "help") || !strcmp(argv[0], "--help") || !strcmp(argv[0], "-h"))
		return show_help(argc, argv);
	if (!strcmp(argv[0], "--version")) {
		puts("beectl " BEE_VERSION);
		return EXIT_OK;
	}
	command = find_command(argv[0]);
	return command ? command->run(argc, argv) : unknown_command(argv[0]);
}

/*
 * Whoever starts us with a standard stream closed must not find our words in the
 * next file that we open.  Opened the wrong way round, so that using it still fails.
 */
static void keep_standard_streams(void)
{
	int fd;

	for (fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd ? O_RDONLY : O_WRONLY);
}

int main(int argc, char **argv)
{
	int status;

	keep_standard_streams();
	if (argc < 2) {
		print_help(stderr);
		return EXIT_USAGE;
	}
	status = run_word(argc - 1, argv + 1);
	if (fflush(stdout) || ferror(stdout)) {
		perror("beectl: cannot write to standard output");
		return status == EXIT_OK ? EXIT_FAILED : status;
	}
	return status;
}
