// SPDX-License-Identifier: GPL-2.0
/* beectl verify: compare tables with what libdw makes of the same CFI. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "compile.h"
#include "error.h"
#include "inputs.h"
#include "io.h"
#include "parallel.h"
#include "progress.h"
#include "text.h"
#include "compare.h"
#include "verify_report.h"

static const char usage[] =
	"Usage: beectl verify [OPTIONS] ELF...|DIR...|--all\n"
	"       beectl verify [OPTIONS] --table TABLE ELF\n"
	"\n"
	"Compile files and compare their tables with what libdw, of elfutils, says of the same\n"
	"unwind information: at the start of every row, one byte before it, and in the\n"
	"middle of every row, over all text.  Padding between functions belongs to the row\n"
	"before it, and code without unwind information at the entry point is outermost:\n"
	"that much of what libdw does not say is expected.  Where a file contradicts itself\n"
	"(FDEs overlap, or .eh_frame_hdr lacks one) a difference is counted apart.\n"
	"\n"
	"Options:\n"
	"  -a, --all          Everything under /usr, and /bin, /sbin, /lib, /lib64\n"
	"  -t, --table TABLE  Compare this table, which \"beectl compile\" wrote, instead\n"
	"  -j, --jobs N       Work on N files at a time (default: one for each CPU)\n"
	"  -v, --verbose      A line for each file, all differences, and the rules that a\n"
	"                     table cannot hold\n"
	"      --json         Print an object: files, an array of {path, status (compared,\n"
	"                     no_cfi, skipped or failed), why, rows, frames, pcs, text, no_fde,\n"
	"                     padding, differences, contradictory, overlapping, outside,\n"
	"                     unsupported ([{reason, rules, rows, bytes}]), shown ([{start, end,\n"
	"                     symbol, doubt, libdw, table}])}; and total, with sums of the\n"
	"                     same, and of files by status\n"
	"  -h, --help         Show this text\n"
	"\n"
	"The exit status is 0 if there is no difference, and a table for every file named.\n"
	"\n"
	"Example:\n"
	"  beectl verify --all\n";

#define SHOWN_DEFAULT	5
#define SHOWN_VERBOSE	100000

struct verify_command {
	struct input_files	 files;
	const char		*table;
	unsigned int		 jobs;
	bool			 all;
	bool			 verbose;
	bool			 json;
	struct verify_report	*report;
};

static void outcome_say(struct verify_outcome *outcome, enum verify_status status, const char *why)
{
	outcome->status = status;
	snprintf(outcome->why, sizeof(outcome->why), "%s", why);
}

/* A table of no file, in which all is a gap, stands for one that is not there. */
static void verify_blob(const struct elf_file *elf, const void *blob, size_t size,
			struct verify_outcome *outcome)
{
	struct bee_table table = {};
	struct bee_table_error error;
	char why[200];

	if (blob && bee_table_validate(blob, size, &table, &error)) {
		snprintf(why, sizeof(why), "table refused: %s at offset %llu", error.why,
			 (unsigned long long)error.offset);
		outcome_say(outcome, VERIFY_FAILED, why);
		return;
	}
	verify_file(elf, &table, &outcome->result);
	if (!blob)
		return;
	if (table.header->id_type != elf->id_type || table.header->id_len != elf->id_len ||
	    memcmp(table.header->id, elf->id, elf->id_len))
		outcome_say(outcome, VERIFY_FAILED, "the table is that of another file");
	else if (table.header->flags)
		outcome_say(outcome, VERIFY_FAILED, "the table is one of those that are not exact");
}

/* Rows and no table is a failure; without CFI there are no rows either. */
static void verify_compiled(const struct elf_file *elf, struct verify_outcome *outcome)
{
	struct compile_result compiled;
	struct row_set rows = {};
	struct bee_error error;
	int failed = compile_rows(elf, NULL, &rows, &compiled, &error);

	if (failed)
		outcome_say(outcome, rows.nrows ? VERIFY_FAILED : VERIFY_NO_CFI, error.text);
	if (!failed || !rows.nrows)
		verify_blob(elf, compiled.blob, compiled.size, outcome);
	compile_result_free(&compiled);
	row_set_free(&rows);
}

static void verify_table_file(const struct elf_file *elf, const char *path,
			      struct verify_outcome *outcome)
{
	char *blob, why[200];
	size_t size;

	blob = io_read_all(path, &size);
	if (blob) {
		verify_blob(elf, blob, size, outcome);
	} else {
		snprintf(why, sizeof(why), "cannot read the table: %s", strerror(errno));
		outcome_say(outcome, VERIFY_FAILED, why);
	}
	free(blob);
}

static void verify_opened(const struct verify_command *command, const struct input_file *file,
			  int fd, struct verify_outcome *outcome)
{
	struct bee_error error;
	struct elf_file elf;

	if (elf_open(&elf, fd, &error)) {
		outcome_say(outcome, file->found ? VERIFY_SKIPPED : VERIFY_FAILED, error.text);
	} else {
		if (command->table)
			verify_table_file(&elf, command->table, outcome);
		else
			verify_compiled(&elf, outcome);
		verify_name_shown(&elf, outcome);
	}
	elf_close(&elf);
}

static void verify_work(void *arg, size_t index, FILE *out)
{
	const struct verify_command *command = arg;
	const struct input_file *file = &command->files.file[index];
	enum verify_status status = file->found ? VERIFY_SKIPPED : VERIFY_FAILED;
	struct verify_outcome outcome = { .status = VERIFY_DONE };
	int fd = -1;

	outcome.result.max_shown = command->verbose ? SHOWN_VERBOSE : SHOWN_DEFAULT;
	if (!file->why)
		fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file->why)
		outcome_say(&outcome, status, file->why);
	else if (fd < 0)
		outcome_say(&outcome, status, strerror(errno));
	else
		verify_opened(command, file, fd, &outcome);
	if (fd >= 0)
		close(fd);
	verify_outcome_write(&outcome, out);
	verify_outcome_free(&outcome);
}

static void verify_done(void *arg, size_t index, const void *data, size_t size, const char *died)
{
	const struct verify_command *command = arg;
	struct verify_outcome outcome;

	if (died || verify_outcome_read(&outcome, data, size)) {
		outcome = (struct verify_outcome){};
		outcome_say(&outcome, VERIFY_FAILED, died ?: "no result");
	}
	progress_end();
	verify_report_add(command->report, command->files.file[index].path, &outcome);
	verify_outcome_free(&outcome);
}

static void verify_progress(void *arg, size_t ready, size_t index)
{
	const struct verify_command *command = arg;

	progress_count(ready, command->files.count, command->files.file[index].path);
}

static int verify_files(struct verify_command *command)
{
	struct parallel parallel = {
		.count = command->files.count, .jobs = command->jobs, .arg = command,
		.work = verify_work, .done = verify_done, .progress = verify_progress,
	};
	bool good;

	if (!parallel.count) {
		fputs("beectl: verify: " INPUT_FILES_NONE "\n", stderr);
		return EXIT_FAILED;
	}
	command->report = verify_report_new(command->json, command->verbose);
	if (parallel_run(&parallel)) {
		fprintf(stderr, "beectl: verify: cannot make a process: %s\n", strerror(errno));
		verify_report_end(command->report);
		return EXIT_FAILED;
	}
	progress_end();
	good = verify_report_end(command->report);
	return good ? EXIT_OK : EXIT_FAILED;
}

static int misuse(const char *why)
{
	fprintf(stderr, "beectl: verify: %s; see \"beectl verify --help\"\n", why);
	return EXIT_USAGE;
}

static void verify_collect(struct verify_command *command, char **words)
{
	static const char *const everything[] = { "/usr", "/bin", "/sbin", "/lib", "/lib64" };
	size_t i;

	progress_begin("looking for files");
	for (i = 0; command->all && i < sizeof(everything) / sizeof(everything[0]); i++)
		if (!access(everything[i], F_OK))
			input_files_add(&command->files, everything[i]);
	for (; *words; words++)
		input_files_add(&command->files, *words);
	input_files_finish(&command->files);
	progress_end();
}

int cmd_verify(int argc, char **argv)
{
	static const struct option options[] = {
		{ "all", no_argument, NULL, 'a' },
		{ "table", required_argument, NULL, 't' },
		{ "jobs", required_argument, NULL, 'j' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "json", no_argument, NULL, 'J' },
		{ "help", no_argument, NULL, 'h' },
		{},
	};
	struct verify_command command = {};
	int c, status;

	optind = 0;
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":at:j:vh", options, NULL)) != -1) {
		switch (c) {
		case 'a':
			command.all = true;
			break;
		case 't':
			command.table = optarg;
			break;
		case 'j':
			if (text_parse_jobs(optarg, &command.jobs))
				return misuse("-j needs a number from 1 to 1024");
			break;
		case 'v':
			command.verbose = true;
			break;
		case 'J':
			command.json = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return EXIT_OK;
		case ':':
			return misuse("an option lacks its argument");
		default:
			return misuse("unknown option");
		}
	}
	if (command.table && (command.all || argc - optind != 1))
		return misuse("--table needs one ELF file");
	if (!command.all && optind == argc)
		return misuse("a file, a directory or --all is needed");
	verify_collect(&command, argv + optind);
	status = verify_files(&command);
	input_files_free(&command.files);
	return status;
}
