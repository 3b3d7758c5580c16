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
#include "json.h"
#include "lossy.h"
#include "messages.h"
#include "options.h"
#include "progress.h"
#include "rule_text.h"
#include "text.h"

static const char verify_help[] =
	"Usage: beectl verify [OPTIONS] ELF...|DIR...|--all\n"
	"       beectl verify [OPTIONS] --table TABLE ELF\n"
	"\n"
	"Compile files and compare their tables with what libdw, of elfutils, says of\n"
	"the same unwind information: at the start of every row, one byte before it, and\n"
	"in the middle of every row, over all text.  Four things that libdw does not\n"
	"say are right: padding between functions belongs to the row before it, code at\n"
	"the entry point without unwind information, or its endbr64, is the outermost\n"
	"frame, other such code has rows if it proves them (synth) or is taken to keep\n"
	"the calling convention of C (abi), which are made again, and for swapcontext()\n"
	"and makecontext() of glibc the code counts, as their unwind information is\n"
	"wrong.  Where a file contradicts itself (FDEs overlap, or .eh_frame_hdr lacks\n"
	"one), differences are counted apart.  Functions of Go are not compared: their\n"
	"rows are made from Go's function table.\n"
	"\n"
	"Options:\n"
	"  -a, --all          Everything under /usr, and /bin, /sbin, /lib, /lib64\n"
	"      --table TABLE  Compare this table, which \"beectl compile\" wrote, instead\n"
	"  -j, --jobs N       Work on N files at a time (default: one for each CPU)\n"
	"  -v, --verbose      A line for each file, all differences, and the rules that\n"
	"                     a table cannot hold\n"
	"      --json         Print one object; keys: JSON in beectl(8)\n"
	"  -h, --help         Show this text\n"
	"\n"
	"The exit status is 0 if there is no difference, and every file named was\n"
	"compared: one without unwind information, with an empty table.\n"
	"\n"
	"Example:\n"
	"  beectl verify --all\n";

#define SHOWN_DEFAULT	5
#define SHOWN_VERBOSE	100000

/**
 * enum verify_status - what became of a file
 * @VERIFY_DONE: its table was compared
 * @VERIFY_NO_CFI: it has no CFI: an empty table was compared
 * @VERIFY_SKIPPED: found in a directory, and no file that can have a table
 * @VERIFY_FAILED: no comparison, or not of the table that was asked for
 */
enum verify_status {
	VERIFY_DONE,
	VERIFY_NO_CFI,
	VERIFY_SKIPPED,
	VERIFY_FAILED,
	/* private: */
	__VERIFY_STATUS_MAX,
};

static const char *const status_names[] = {
	[VERIFY_DONE] = "compared", [VERIFY_NO_CFI] = "no_cfi",
	[VERIFY_SKIPPED] = "skipped", [VERIFY_FAILED] = "failed",
};

static const char *const doubt_names[] = {
	[COMPARE_NO_DOUBT] = "", [COMPARE_OVERLAP] = "FDEs overlap",
	[COMPARE_UNLISTED] = "FDE is not in .eh_frame_hdr",
	[COMPARE_DAMAGED] = ".eh_frame_hdr is damaged",
};

/**
 * struct verify_outcome - the result of one file
 * @status: what became of it
 * @why: the reason, in a sentence, unless VERIFY_DONE
 * @result: the comparison
 */
struct verify_outcome {
	enum verify_status	status;
	char			why[256];
	struct compare_result	result;
};

/**
 * struct verify_command - the command line, and what has been found so far
 * @files: to work on
 * @table: file of the table to compare; NULL: compile it
 * @jobs: files to work on at a time; 0: as many as there are CPUs
 * @all: all of the system's files
 * @verbose: more lines
 * @json: JSON instead of text
 * @array: the files, if @json
 * @sum: of all files
 * @count: files by what became of them
 */
struct verify_command {
	struct input_files	 files;
	const char		*table;
	unsigned int		 jobs;
	bool			 all;
	bool			 verbose;
	bool			 json;
	struct json_object	*array;
	struct compare_result	 sum;
	size_t			 count[__VERIFY_STATUS_MAX];
};

__attribute__((format(printf, 3, 4)))
static void outcome_set(struct verify_outcome *outcome, enum verify_status status,
			const char *format, ...)
{
	va_list args;

	outcome->status = status;
	va_start(args, format);
	vsnprintf(outcome->why, sizeof(outcome->why), format, args);
	va_end(args);
}

/* Compare with the table that was named on the command line. */
static void verify_table_file(const struct elf_file *elf, const char *path,
			      struct verify_outcome *outcome)
{
	struct bee_table_error error;
	struct bee_table table;
	size_t size;
	char *blob = io_read_all(path, &size);

	if (!blob) {
		outcome_set(outcome, VERIFY_FAILED, "cannot read the table: %s", strerror(errno));
		return;
	}
	if (bee_table_validate(blob, size, &table, &error)) {
		outcome_set(outcome, VERIFY_FAILED, "table refused: %s at offset %llu", error.why,
			    (unsigned long long)error.offset);
		free(blob);
		return;
	}
	if (table.header->id_type != elf->id_type || table.header->id_len != elf->id_len ||
	    memcmp(table.header->id, elf->id, elf->id_len)) {
		outcome_set(outcome, VERIFY_FAILED, "the table is that of another file");
		free(blob);
		return;
	}
	compare_file(elf, &table, &outcome->result);
	if (table.header->flags)
		outcome_set(outcome, VERIFY_FAILED, "the table leaves out rows (%s): it is not exact",
			    lossy_words(table.header->flags));
	free(blob);
}

/*
 * Without rows there is no table, as the file has no CFI: compare with an all-zero table, in
 * which every pc is a gap.
 */
static void verify_compiled(const struct elf_file *elf, struct verify_outcome *outcome)
{
	struct bee_table none = {};
	struct compile_result compiled;
	struct row_set rows = {};
	struct bee_error error;

	if (!compile_rows(elf, NULL, &rows, &compiled, &error)) {
		compare_file(elf, &compiled.table, &outcome->result);
	} else if (rows.nrows) {
		outcome_set(outcome, VERIFY_FAILED, "%s", error.text);
	} else {
		outcome_set(outcome, VERIFY_NO_CFI, "%s", error.text);
		compare_file(elf, &none, &outcome->result);
	}
	compile_result_free(&compiled);
	row_set_free(&rows);
}

/* In a child.  Writes the outcome, then the ranges shown and the forms. */
static int verify_work(void *arg, const struct input_file *file, int fd, FILE *out,
		       struct bee_error *error)
{
	const struct verify_command *command = arg;
	struct verify_outcome outcome = { .status = VERIFY_DONE };
	struct compare_result *r = &outcome.result;
	struct elf_file elf;
	int ret;

	(void)file;
	r->max_shown = command->verbose ? SHOWN_VERBOSE : SHOWN_DEFAULT;
	ret = elf_open(&elf, fd, error);
	if (!ret) {
		if (command->table)
			verify_table_file(&elf, command->table, &outcome);
		else
			verify_compiled(&elf, &outcome);
		fwrite(&outcome, sizeof(outcome), 1, out);
		if (r->nshown)
			fwrite(r->shown, sizeof(*r->shown), r->nshown, out);
		if (r->nforms)
			fwrite(r->forms, sizeof(*r->forms), r->nforms, out);
		compare_free(r);
	}
	elf_close(&elf);
	return ret;
}

static void json_add_result(struct json_object *object, const struct compare_result *r)
{
	struct json_object *array = json_object_new_array(), *form;
	size_t i;

	json_add_uint(object, "rows", r->rows);
	json_add_uint(object, "frames", r->frames);
	json_add_uint(object, "pcs", r->pcs);
	json_add_uint(object, "text", r->text);
	json_add_uint(object, "no_fde", r->gaps);
	json_add_uint(object, "padding", r->padding);
	json_add_uint(object, "go", r->go);
	json_add_uint(object, "synth", r->synth);
	json_add_uint(object, "synth_rows", r->synth_rows);
	json_add_uint(object, "abi", r->abi);
	json_add_uint(object, "abi_rows", r->abi_rows);
	json_add_uint(object, "differences", r->differences);
	json_add_uint(object, "contradictory", r->contradictory);
	json_add_uint(object, "overlapping", r->overlaps);
	json_add_uint(object, "outside", r->outside);
	for (i = 0; i < r->nforms; i++) {
		form = json_append(array);
		json_add_string(form, "reason", rule_reason(r->forms[i].reason));
		json_add_string(form, "rules", r->forms[i].text);
		json_add_uint(form, "rows", r->forms[i].rows);
		json_add_uint(form, "bytes", r->forms[i].bytes);
	}
	json_add(object, "unsupported", array);
}

static void json_append_file(struct json_object *array, const char *path,
			     const struct verify_outcome *outcome)
{
	struct json_object *object = json_append(array), *range;
	struct json_object *shown = json_object_new_array();
	const struct compare_range *r = outcome->result.shown;
	size_t i;

	json_add_string(object, "path", path);
	json_add_string(object, "status", status_names[outcome->status]);
	if (outcome->status != VERIFY_DONE)
		json_add_string(object, "error", outcome->why);
	json_add_result(object, &outcome->result);
	for (i = 0; i < outcome->result.nshown; i++, r++) {
		range = json_append(shown);
		json_add_hex(range, "start", r->start);
		json_add_hex(range, "end", r->end);
		json_add_string(range, "symbol", r->symbol);
		json_add_string(range, "doubt", doubt_names[r->doubt]);
		json_add_string(range, "libdw", r->oracle);
		json_add_string(range, "table", r->table);
	}
	json_add(object, "shown", shown);
}

/* Rules as "dump --rows" prints them, with commas for tabs. */
static void print_rules(const char *rules)
{
	for (; *rules; rules++)
		if (*rules == '\t')
			fputs(", ", stdout);
		else
			putchar(*rules);
}

static void print_file(const char *path, const struct verify_outcome *outcome, bool verbose)
{
	const struct compare_result *r = &outcome->result;
	const struct compare_range *range;

	for (range = r->shown; range < r->shown + r->nshown; range++) {
		text_put_name(stdout, path);
		printf(": 0x%llx-0x%llx", range->start, range->end);
		if (range->symbol[0]) {
			fputs(" (", stdout);
			text_put_name(stdout, range->symbol);
			putchar(')');
		}
		printf(": %s%slibdw: ", doubt_names[range->doubt], range->doubt ? "; " : "");
		print_rules(range->oracle);
		printf("; table: ");
		print_rules(range->table);
		putchar('\n');
	}
	if (!verbose && !r->differences)
		return;
	text_put_name(stdout, path);
	if (outcome->status == VERIFY_DONE || r->differences)
		printf(": %llu rows, %llu pcs, %llu differences\n", r->rows, r->pcs,
		       r->differences);
	else
		printf(": %s\n", outcome->why);
}

static void verify_report(struct verify_command *command, const char *path,
			  const struct verify_outcome *outcome)
{
	command->count[outcome->status]++;
	compare_add(&command->sum, &outcome->result);
	if (outcome->status == VERIFY_FAILED)
		message_error("verify", path, outcome->why);
	if (command->json)
		json_append_file(command->array, path, outcome);
	else
		print_file(path, outcome, command->verbose);
}

static void verify_failed(void *arg, const struct input_file *file, const char *why, bool died)
{
	struct verify_outcome outcome = { 0 };

	/* A file below a directory that is no program is left out, but not one that cannot be read. */
	outcome_set(&outcome, file->found && !file->why && !died ? VERIFY_SKIPPED : VERIFY_FAILED,
		    "%s", why);
	verify_report(arg, file->path, &outcome);
}

/* @data is what verify_work() wrote.  Pointers in it are the child's: the arrays follow it. */
static void verify_done(void *arg, const struct input_file *file, const void *data, size_t size)
{
	const struct verify_outcome *sent = data;
	struct verify_outcome outcome;
	struct compare_result *r = &outcome.result;

	progress_end();
	if (size < sizeof(*sent) ||
	    size != sizeof(*sent) + sent->result.nshown * sizeof(*r->shown) +
		    sent->result.nforms * sizeof(*r->forms)) {
		verify_failed(arg, file, EACH_FILE_NO_RESULT, true);
		return;
	}
	outcome = *sent;
	r->shown = (struct compare_range *)(sent + 1);
	r->forms = (struct compare_form *)(r->shown + r->nshown);
	verify_report(arg, file->path, &outcome);
}

static int form_order(const void *a, const void *b)
{
	const struct compare_form *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return strcmp(x->text, y->text);
}

/* Rows that are not supported: all, for each reason, and with @verbose for each form. */
static void print_unsupported(const struct compare_result *sum, bool verbose)
{
	u64 rows[__BEE_UNSUP_MAX] = {}, bytes[__BEE_UNSUP_MAX] = {}, all_rows = 0, all_bytes = 0;
	const struct compare_form *form, *end = sum->forms + sum->nforms;
	size_t i;

	for (form = sum->forms; form < end; form++) {
		rows[form->reason] += form->rows;
		bytes[form->reason] += form->bytes;
		all_rows += form->rows;
		all_bytes += form->bytes;
	}
	printf("unsupported     %12llu  rows: %llu bytes, %.6f %% of the text\n", all_rows,
	       all_bytes, percent(all_bytes, sum->text));
	for (i = 0; i < __BEE_UNSUP_MAX; i++)
		if (rows[i])
			printf("  %-16s%12llu  %llu bytes, %.6f %%\n", rule_reason(i), rows[i],
			       bytes[i], percent(bytes[i], sum->text));
	for (form = sum->forms; verbose && form < end; form++) {
		printf("  %s, %llu rows, %llu bytes: ", rule_reason(form->reason), form->rows,
		       form->bytes);
		print_rules(form->text);
		putchar('\n');
	}
}

static void print_total(const struct verify_command *command)
{
	const struct compare_result *sum = &command->sum;
	const size_t *count = command->count;

	printf("files           %12zu", count[VERIFY_DONE]);
	if (count[VERIFY_NO_CFI])
		printf("  and %zu without unwind information", count[VERIFY_NO_CFI]);
	if (count[VERIFY_SKIPPED])
		printf("  (%zu skipped)", count[VERIFY_SKIPPED]);
	if (count[VERIFY_FAILED])
		printf("  (%zu failed)", count[VERIFY_FAILED]);
	printf("\nrows            %12llu\n", sum->rows);
	printf("pcs compared    %12llu  in %llu bytes of text\n", sum->pcs, sum->text);
	printf("no FDE          %12llu  bytes, of them %llu padding between functions\n",
	       sum->gaps, sum->padding);
	if (sum->go)
		printf("Go              %12llu  bytes, described by Go's function table: not compared\n",
		       sum->go);
	printf("synth           %12llu  rows: %llu bytes without FDE, whose code proves them\n",
	       sum->synth_rows, sum->synth);
	printf("abi             %12llu  rows: %llu bytes without FDE, if the code keeps the ABI\n",
	       sum->abi_rows, sum->abi);
	print_unsupported(sum, command->verbose);
	printf("contradictory   %12llu  pcs; FDEs overlap in %llu bytes, %llu describe no text\n",
	       sum->contradictory, sum->overlaps, sum->outside);
	printf("differences     %12llu\n", sum->differences);
}

static void json_print_total(const struct verify_command *command)
{
	struct json_object *object = json_object_new_object();
	struct json_object *total = json_object_new_object();
	size_t i;

	for (i = 0; i < __VERIFY_STATUS_MAX; i++)
		json_add_uint(total, status_names[i], command->count[i]);
	json_add_result(total, &command->sum);
	json_add(object, "files", command->array);
	json_add(object, "total", total);
	json_print(object);
}

static int verify_files(struct verify_command *command)
{
	const struct each_file each = {
		.command = "verify", .files = &command->files, .jobs = command->jobs,
		.arg = command, .work = verify_work, .done = verify_done, .failed = verify_failed,
	};
	struct compare_result *sum = &command->sum;
	int status;

	if (!command->files.count && !command->json)
		return each_file_run(&each);
	if (command->json)
		command->array = json_object_new_array();
	status = each_file_run(&each);
	if (sum->nforms)
		qsort(sum->forms, sum->nforms, sizeof(*sum->forms), form_order);
	if (command->json)
		json_print_total(command);
	else
		print_total(command);
	if (sum->differences || command->count[VERIFY_FAILED])
		status = EXIT_FAILED;
	compare_free(sum);
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
			{ 0, "table", OPTION_TEXT, &command.table },
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
	if (command.all && *argv)
		return message_usage("verify", "--all or files, not both");
	verify_collect(&command, argv);
	status = verify_files(&command);
	input_files_free(&command.files);
	return status;
}
