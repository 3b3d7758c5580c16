// SPDX-License-Identifier: GPL-2.0
/* beectl compile: make the unwind tables of ELF files. */
#include <asm/byteorder.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <linux/beeunwind_table.h>

#include "alloc.h"
#include "commands.h"
#include "compile.h"
#include "each_file.h"
#include "error.h"
#include "messages.h"
#include "options.h"
#include "progress.h"
#include "text.h"
#include "whole_file.h"

static const char compile_help[] =
	"Usage: beectl compile ELF -o TABLE\n"
	"       beectl compile [-j N] ELF|DIR... -o DIRECTORY\n"
	"\n"
	"Make the unwind tables of executables and shared objects from their .eh_frame\n"
	"and .debug_frame, and those of Go programs from Go's function table.  A table\n"
	"appears complete or not at all.  DIR stands for all such files below it, on its\n"
	"file system.  In DIRECTORY, which must be there, the table of a file has the\n"
	"file's name and \".beet\"; of several files with one name the first has it, and\n"
	"the exit status is 1.\n"
	"\n"
	"Options:\n"
	"  -o, --output PATH  File or directory to write to\n"
	"  -j, --jobs N       Work on N files at a time (default: one for each CPU)\n"
	"      --cfi-only     Code without unwind information has no rows\n"
	"  -q, --quiet        Print nothing but errors\n"
	"  -h, --help         Show this text\n"
	"\n"
	"Smaller tables that are not exact, and say so; how wrong they are is printed:\n"
	"      --fp-bypass    Leave out the rows of functions that keep a frame pointer,\n"
	"                     which the walk then uses.  Refused if a function has no\n"
	"                     frame pointer.\n"
	"      --thin PCT     Leave out up to PCT percent (1 to 90) of the rows, in\n"
	"                     epilogues and the like, those first that cover the least\n"
	"                     text\n"
	"\n"
	"If a file that was named can have no table, the exit status is 1.  Such a file\n"
	"below a DIR is reported, but is no failure.\n"
	"\n"
	"Example:\n"
	"  beectl compile /usr/bin/git -o git.beet\n"
	"  beectl compile /usr/bin -o tables/\n";

/**
 * struct compile_run - what is to be done, and how far it is
 * @files: what to compile
 * @output: where to, as given
 * @into: @output is a directory
 * @quiet: nothing but errors
 * @jobs: files at a time; 0: by the number of CPUs
 * @lossy: what may be left out
 * @status: exit status so far
 */
struct compile_run {
	struct input_files	 files;
	const char		*output;
	bool			 into;
	bool			 quiet;
	unsigned int		 jobs;
	struct lossy_options	 lossy;
	int			 status;
};

/* The table that a child made; @not_written: why it is not written, or "" */
struct compile_report {
	size_t		rows;
	size_t		unsupported;
	size_t		size;
	uint64_t	cfi_size;
	uint64_t	go;
	bool		go_unknown;
	unsigned int	rules;
	struct lossy_report lossy;
	char		not_written[128];
};

/* Write the table; called by whole_file_write(). */
static void compile_put(const void *arg, FILE *out)
{
	const struct compile_result *result = arg;

	fwrite(result->blob, 1, result->size, out);
}

/* The file to write, malloc'ed. */
static char *output_of(const struct compile_run *run, const struct input_file *file)
{
	const char *name = basename(file->path);
	size_t size = strlen(run->output) + strlen(name) + sizeof("/.beet");
	char *path = alloc_array(NULL, size, 1);

	snprintf(path, size, run->into ? "%s/%s.beet" : "%s", run->output, name);
	return path;
}

static int compile_work(void *arg, const struct input_file *file, int fd, FILE *out,
			struct bee_error *error)
{
	const struct compile_run *run = arg;
	const struct bee_table_header *h;
	struct bee_error not_written;
	struct compile_result result;
	struct compile_report report;
	char *output;

	if (compile_elf(fd, &run->lossy, &result, error))
		return -1;
	output = output_of(run, file);
	h = result.blob;
	report = (struct compile_report){
		.rows = result.rows, .unsupported = result.unsupported, .size = result.size,
		.cfi_size = result.cfi_size, .go = result.go,
		.go_unknown = result.go_trouble, .rules = le16_to_cpu(h->nrules), .lossy = result.lossy,
	};
	if (whole_file_write(output, 0666, false, compile_put, &result, &not_written))
		snprintf(report.not_written, sizeof(report.not_written), "%s", not_written.text);
	free(output);
	compile_result_free(&result);
	fwrite(&report, sizeof(report), 1, out);
	return 0;
}

static void print_report(const struct compile_run *run, const char *output,
			 const struct compile_report *report)
{
	const struct lossy_report *r = &report->lossy;

	text_put_name(stdout, output);
	printf(": %zu rows, %u rules, %zu bytes", report->rows, report->rules, report->size);
	if (report->go)
		printf(" (%llu functions of Go)", (unsigned long long)report->go);
	else if (report->go_unknown)
		printf(" (Go's functions are left to frame pointers)");
	else if (report->cfi_size)
		printf(" (%.1f%% of .eh_frame + .eh_frame_hdr)",
		       100.0 * report->size / report->cfi_size);
	printf(", %zu unsupported\n", report->unsupported);
	if (lossy_is_exact(&run->lossy))
		return;
	text_put_name(stdout, output);
	printf(": not exact: %llu of %llu bytes of text (%.3f%%) have a wrong rule\n",
	       (unsigned long long)r->wrong, (unsigned long long)r->text,
	       percent(r->wrong, r->text));
	if (run->lossy.fp_bypass)
		printf("  fp-bypass: %zu of %zu functions; of %llu bytes of their prologues and "
		       "epilogues %llu (%.1f%%)\n", r->by_fp, r->functions, (unsigned long long)r->edges,
		       (unsigned long long)r->edges_wrong, percent(r->edges_wrong, r->edges));
	if (run->lossy.thin)
		printf("  thin: %zu of %zu rows (%.1f%%) left out\n", r->dropped, r->rows,
		       percent(r->dropped, r->rows));
}

static void compile_done(void *arg, const struct input_file *file, const void *data, size_t size)
{
	const struct compile_report *report = data;
	struct compile_run *run = arg;
	char *output = output_of(run, file), why[160];

	(void)size;
	progress_end();
	if (*report->not_written) {
		snprintf(why, sizeof(why), "cannot write: %s", report->not_written);
		run->status = message_error("compile", output, why);
	} else if (!run->quiet) {
		print_report(run, output, report);
	}
	free(output);
}

static void compile_failed(void *arg, const struct input_file *file, const char *why, bool died)
{
	struct compile_run *run = arg;

	message_error("compile", file->path, why);
	run->status |= each_file_status(file, died);
}

static int compare_names(const void *a, const void *b)
{
	const struct input_file *x = *(struct input_file **)a, *y = *(struct input_file **)b;
	int order = strcmp(basename(x->path), basename(y->path));

	return order ?: (x < y ? -1 : x > y);
}

/* Tables in a directory are named after their files: refuse all but the first of a name. */
static void refuse_namesakes(struct input_files *files)
{
	struct input_file **by_name = alloc_array(NULL, files->count + 1, sizeof(*by_name));
	struct input_file *first = NULL;
	size_t i;

	for (i = 0; i < files->count; i++)
		by_name[i] = &files->file[i];
	qsort(by_name, files->count, sizeof(*by_name), compare_names);
	for (i = 0; i < files->count; i++) {
		if (first && !strcmp(basename(first->path), basename(by_name[i]->path)))
			input_file_refuse(by_name[i], "its table would have the name of that of %s",
					  first->path);
		else if (!by_name[i]->why)
			first = by_name[i];
	}
	free(by_name);
}

static bool is_directory(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

int cmd_compile(int argc, char **argv)
{
	struct compile_run run = { .status = EXIT_OK };
	const struct options options = {
		.command = "compile", .help = compile_help,
		.option = {
			{ 'o', "output", OPTION_TEXT, &run.output },
			{ 'j', "jobs", OPTION_JOBS, &run.jobs },
			{ 0, "cfi-only", OPTION_FLAG, &run.lossy.cfi_only },
			{ 0, "fp-bypass", OPTION_FLAG, &run.lossy.fp_bypass },
			{ 0, "thin", OPTION_THIN, &run.lossy.thin },
			{ 'q', "quiet", OPTION_FLAG, &run.quiet },
		},
	};
	int status = options_parse(&options, argc, &argv);
	const struct each_file each = {
		.command = "compile", .files = &run.files, .jobs = run.jobs,
		.report_size = sizeof(struct compile_report), .arg = &run,
		.work = compile_work, .done = compile_done, .failed = compile_failed,
	};

	if (status != OPTIONS_OK)
		return status;
	if (!*argv)
		return message_usage("compile", "an ELF file is needed");
	if (!run.output)
		return message_usage("compile", "-o is needed");
	run.into = is_directory(run.output);
	if (!run.into && (argv[1] || is_directory(argv[0])))
		return message_usage("compile", "-o has to be an existing directory for more "
				     "than one ELF file");
	input_files_collect(&run.files, argv);
	if (run.into)
		refuse_namesakes(&run.files);
	run.status |= each_file_run(&each);
	input_files_free(&run.files);
	return run.status;
}
