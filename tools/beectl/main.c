// SPDX-License-Identifier: GPL-2.0
/* beectl: run the command that the first word names, or list the commands. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "io.h"
#include "version.h"

typedef int (*command_fn)(int argc, char **argv);

/* struct command: @run is NULL if it is in the library, see library_command() */
static const struct command {
	const char	*name;
	command_fn	run;
	const char	*summary;
} commands[] = {
	{ "run",	cmd_run,	"Start a program with complete stacks from its first sample" },
	{ "record",	NULL,		"Run perf record with complete stacks, and without beectl in them" },
	{ "flame",	NULL,		"Draw a flame graph of a program or of a recording of perf" },
	{ "load",	cmd_load,	"Give running processes their unwind tables" },
	{ "unload",	cmd_unload,	"Remove unwind tables from the module" },
	{ "watch",	cmd_watch,	"Keep the tables of all programs loaded, as a service" },
	{ "status",	cmd_status,	"Show the module, its tables and why walks ended" },
	{ "config",	cmd_config,	"Show or change the module's settings" },
	{ "cache",	cmd_cache,	"Show, empty or fill the cache of compiled tables" },
	{ "compile",	cmd_compile,	"Make the unwind tables of ELF files" },
	{ "size",	cmd_size,	"Show how large unwind tables are, beside the CFI of files" },
	{ "dump",	cmd_dump,	"Show the unwind table of an ELF file, or a table file" },
	{ "verify",	NULL,		"Compare tables with what libdw says of the same files" },
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
	      "  -V, --version  Show the version\n\n"
	      "\"beectl help COMMAND\" tells more about a command.\n", out);
}

/*
 * Load the library that has the commands which draw or verify: to load it and the libraries that only these
 * commands need takes as long as most other commands.  "make" puts it beside the program.
 * Return: the command @name; or NULL, if standard error has a message.
 */
static command_fn library_command(const char *name)
{
	char path[PATH_MAX], function[32];
	command_fn run = NULL;
	void *library;

	if (io_beside_program("beectl-draw.so", path) || access(path, F_OK))
		io_beside_program("../lib/beeunwind/beectl-draw.so", path);
	snprintf(function, sizeof(function), "cmd_%s", name);
	library = dlopen(path, RTLD_LAZY);
	if (library)
		run = (command_fn)dlsym(library, function);
	if (!run)
		fprintf(stderr, "beectl: %s: %s\n", name, dlerror());
	return run;
}

static bool is_help(const char *word)
{
	return !strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-h");
}

/* "help", "--help" and "-h" may be followed by a command, whose help is printed then. */
static int run_word(int argc, char **argv)
{
	char option[] = "--help";
	char *help[] = { argc > 1 ? argv[1] : NULL, option, NULL };
	command_fn run;
	size_t i;

	if (is_help(argv[0])) {
		if (!help[0] || is_help(help[0])) {
			print_help(stdout);
			return EXIT_OK;
		}
		argc = 2;
		argv = help;
	} else if (!strcmp(argv[0], "--version") || !strcmp(argv[0], "-V")) {
		puts("beectl " BEE_VERSION);
		return EXIT_OK;
	}
	for (i = 0; i < NCOMMANDS; i++) {
		if (strcmp(argv[0], commands[i].name))
			continue;
		run = commands[i].run ?: library_command(argv[0]);
		return run ? run(argc, argv) : EXIT_FAILED;
	}
	fprintf(stderr, "beectl: unknown command '%s'; \"beectl help\" lists the commands\n",
		argv[0]);
	return EXIT_USAGE;
}

/*
 * If a standard stream is closed, the next file opened would take its number, and messages would
 * be written into that file.  Occupy the number with /dev/null, opened so that using it fails.
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
