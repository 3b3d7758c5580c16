// SPDX-License-Identifier: GPL-2.0
/* beectl verify: compare tables with what libdw makes of the same CFI. */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "compare.h"
#include "compile.h"
#include "each_file.h"
#include "io.h"
#include "messages.h"
#include "options.h"
#include "progress.h"
#include "verify_report.h"

static const char verify_help[] =
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

__attribute__((format(printf, 3, 4)))
static void outcome_say(struct verify_outcome *outcome, enum verify_status status,
			const char *format, ...)
{
	va_list args;

	outcome->status = status;
	va_start(args, format);
	vsnprintf(outcome->why, sizeof(outcome->why), format, args);
	va_end(args);
}

/* Without a blob, compare with an all-zero table, in which every pc is a gap. */
static void verify_blob(const struct elf_file *elf, const void *blob, size_t size,
			struct verify_outcome *outcome)
{
	struct bee_table table = {};
	struct bee_table_error error;

	if (blob && bee_table_validate(blob, size, &table, &error)) {
		outcome_say(outcome, VERIFY_FAILED, "table refused: %s at offset %llu", error.why,
			    (unsigned long long)error.offset);
		return;
	}
	compare_file(elf, &table, &outcome->result);
	if (!blob)
		return;
	if (table.header->id_type != elf->id_type || table.header->id_len != elf->id_len ||
	    memcmp(table.header->id, elf->id, elf->id_len))
		outcome_say(outcome, VERIFY_FAILED, "the table is that of another file");
	else if (table.header->flags)
		outcome_say(outcome, VERIFY_FAILED, "the table is one of those that are not exact");
}

/* No table is a failure if there were rows to put into one; otherwise the file has no CFI. */
static void verify_compiled(const struct elf_file *elf, struct verify_outcome *outcome)
{
	struct compile_result compiled;
	struct row_set rows = {};
	struct bee_error error;
	int failed = compile_rows(elf, NULL, &rows, &compiled, &error);

	if (failed)
		outcome_say(outcome, rows.nrows ? VERIFY_FAILED : VERIFY_NO_CFI, "%s", error.text);
	if (!failed || !rows.nrows)
		verify_blob(elf, compiled.blob, compiled.size, outcome);
	compile_result_free(&compiled);
	row_set_free(&rows);
}

static int verify_work(void *arg, const struct input_file *file, int fd, FILE *out,
		       struct bee_error *error)
{
	const struct verify_command *command = arg;
	struct verify_outcome outcome = { .status = VERIFY_DONE };
	struct elf_file elf;
	size_t size;
	char *blob;

	outcome.result.max_shown = command->verbose ? SHOWN_VERBOSE : SHOWN_DEFAULT;
	(void)file;
	if (elf_open(&elf, fd, error)) {
		elf_close(&elf);
		return -1;
	}
	if (command->table) {
		blob = io_read_all(command->table, &size);
		if (blob)
			verify_blob(&elf, blob, size, &outcome);
		else
			outcome_say(&outcome, VERIFY_FAILED, "cannot read the table: %s",
				    strerror(errno));
		free(blob);
	} else {
		verify_compiled(&elf, &outcome);
	}
	verify_name_shown(&elf, &outcome);
	elf_close(&elf);
	verify_outcome_write(&outcome, out);
	verify_outcome_free(&outcome);
	return 0;
}

static void verify_failed(void *arg, const struct input_file *file, const char *why, bool died)
{
	const struct verify_command *command = arg;
	struct verify_outcome outcome = { 0 };

	outcome_say(&outcome, file->found && !died ? VERIFY_SKIPPED : VERIFY_FAILED, "%s", why);
	verify_report_add(command->report, file->path, &outcome);
}

static void verify_done(void *arg, const struct input_file *file, const void *data, size_t size)
{
	const struct verify_command *command = arg;
	struct verify_outcome outcome;

	progress_end();
	if (verify_outcome_read(&outcome, data, size)) {
		verify_failed(arg, file, "no result", true);
		return;
	}
	verify_report_add(command->report, file->path, &outcome);
	verify_outcome_free(&outcome);
}

static int verify_files(struct verify_command *command)
{
	const struct each_file each = {
		.command = "verify", .files = &command->files, .jobs = command->jobs,
		.arg = command, .work = verify_work, .done = verify_done, .failed = verify_failed,
	};
	int status;

	if (command->files.count)
		command->report = verify_report_new(command->json, command->verbose);
	status = each_file_run(&each);
	if (command->report && !verify_report_end(command->report))
		status = EXIT_FAILED;
	return status;
}

static void verify_collect(struct verify_command *command, char **words)
{
	static const char *const everything[] = { "/usr", "/bin", "/sbin", "/lib", "/lib64" };
	size_t i;

	progress_begin("looking for files");
	for (i = 0; command->all && i < sizeof(everything) / sizeof(everything[0]); i++)
		if (!access(everything[i], F_OK))
			input_files_add(&command->files, everything[i]);
	input_files_collect(&command->files, words);
	progress_end();
}

int cmd_verify(int argc, char **argv)
{
	struct verify_command command = { 0 };
	const struct options options = {
		.command = "verify", .help = verify_help,
		.option = {
			{ 'a', "all", OPTION_FLAG, &command.all },
			{ 't', "table", OPTION_TEXT, &command.table },
			{ 'j', "jobs", OPTION_JOBS, &command.jobs },
			{ 'v', "verbose", OPTION_FLAG, &command.verbose },
			{ 0, "json", OPTION_FLAG, &command.json },
		},
	};
	int status = options_parse(&options, argc, &argv);

	if (status != OPTIONS_OK)
		return status;
	if (command.table && (command.all || !argv[0] || argv[1]))
		return message_usage("verify", "--table needs one ELF file");
	if (!command.all && !*argv)
		return message_usage("verify", "a file, a directory or --all is needed");
	verify_collect(&command, argv);
	status = verify_files(&command);
	input_files_free(&command.files);
	return status;
}
