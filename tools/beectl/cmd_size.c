// SPDX-License-Identifier: GPL-2.0
/* beectl size: how large unwind tables are, beside the CFI that they are made from. */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "commands.h"
#include "compile.h"
#include "each_file.h"
#include "eh_frame.h"
#include "gopclntab.h"
#include "json.h"
#include "messages.h"
#include "options.h"
#include "text.h"

static const char size_help[] =
	"Usage: beectl size [OPTIONS] ELF|DIR...\n"
	"\n"
	"Show how large the unwind tables of executables and shared objects are, beside\n"
	"their .eh_frame and .eh_frame_hdr (CFI), and how much text without CFI has rows\n"
	"that its code proves (synth), or that are right if its code keeps the calling\n"
	"convention of C (ABI).  Functions of Go, which no CFI describes, are counted\n"
	"with the FDEs.  DIR stands for all such files below it, on its file system.\n"
	"\n"
	"Options:\n"
	"  -s, --sort KEY  Sort by name, ratio (table of CFI), row (bytes a row), or one\n"
	"                  of text, fdes, rows, cfi, table, synth, abi, the largest\n"
	"                  first; without it, files are listed as given\n"
	"  -j, --jobs N    Work on N files at a time (default: one for each CPU)\n"
	"      --json      Print one object; keys: JSON in beectl(8)\n"
	"  -h, --help      Show this text\n"
	"\n"
	"Example:\n"
	"  beectl size --sort table /usr/lib\n";

/**
 * struct sizes - of one file, or of several together
 * @text: bytes of executable segments
 * @fdes: FDEs that describe text, functions as a rule, and functions in Go's function table
 * @rows: of the table
 * @cfi: bytes of .eh_frame and .eh_frame_hdr
 * @table: bytes of the table
 * @synth: of @text, bytes without CFI whose rows are proved by their code
 * @synth_rows: of @rows, those of such text
 * @abi: of @text, bytes without CFI whose rows are right if their code keeps the ABI
 * @abi_rows: of @rows, those of such text
 * @unsupported: rows without rules that a table can hold
 */
struct sizes {
	u64	text;
	u64	fdes;
	u64	rows;
	u64	cfi;
	u64	table;
	u64	synth;
	u64	synth_rows;
	u64	abi;
	u64	abi_rows;
	u64	unsupported;
};

/* A member of struct sizes; @key: its name in JSON and for --sort; @width: 0: not in the text */
static const struct column {
	const char	*heading;
	const char	*key;
	int		 width;
	bool		 is_count;
	size_t		 offset;
} columns[] = {
	{ "text", "text", 6, .offset = offsetof(struct sizes, text) },
	{ "FDEs", "fdes", 9, true, offsetof(struct sizes, fdes) },
	{ "rows", "rows", 11, true, offsetof(struct sizes, rows) },
	{ "CFI", "cfi", 6, .offset = offsetof(struct sizes, cfi) },
	{ "table", "table", 6, .offset = offsetof(struct sizes, table) },
	{ "synth", "synth", 6, .offset = offsetof(struct sizes, synth) },
	{ "", "synth_rows", 0, true, offsetof(struct sizes, synth_rows) },
	{ "ABI", "abi", 6, .offset = offsetof(struct sizes, abi) },
	{ "", "abi_rows", 0, true, offsetof(struct sizes, abi_rows) },
	{ "", "unsupported_rows", 0, true, offsetof(struct sizes, unsupported) },
};

#define NCOLUMNS	(sizeof(columns) / sizeof(columns[0]))

/* A file in the list. */
struct size_file {
	const char	*path;
	double		 weight;	/* what to sort by */
	struct sizes	 sizes;
};

/**
 * struct size_run - what is to be done, and what is known
 * @files: the files of the command line
 * @jobs: files at a time; 0: by the number of CPUs
 * @sort: key or NULL
 * @sized: files that have a table
 * @nsized: entries in @sized
 * @total: sum of their sizes
 * @bare: of @sized, files most of whose text has rows that are made from the code
 * @first_bare: the first of these
 * @problems: the other files, for JSON; NULL: print text
 * @status: exit status so far
 */
struct size_run {
	struct input_files	 files;
	unsigned int		 jobs;
	const char		*sort;
	struct size_file	*sized;
	size_t			 nsized;
	struct sizes		 total;
	size_t			 bare;
	const char		*first_bare;
	struct json_object	*problems;
	int			 status;
};

static u64 *column_of(size_t i, const struct sizes *sizes)
{
	return (u64 *)((char *)sizes + columns[i].offset);
}

static double bytes_per_row(const struct sizes *sizes)
{
	return sizes->rows ? (double)sizes->table / sizes->rows : 0;
}

static u64 count_fdes(const struct elf_file *elf)
{
	struct fde_list list;
	struct gopclntab go;
	u64 count;
	size_t i;

	gopclntab_open(elf, &go);
	count = go.count;
	eh_frame_read(elf, &list);
	for (i = 0; i < list.nfdes; i++) {
		/* .debug_frame, whose FDEs come last, repeats what .eh_frame or Go's table says. */
		if (list.fdes[i].debug_frame && (go.exists || !list.fdes[0].debug_frame))
			break;
		count += !!elf_find_text(elf, list.fdes[i].begin);
	}
	eh_frame_free(&list);
	return count;
}

static int size_work(void *arg, const struct input_file *file, int fd, FILE *out,
		     struct bee_error *error)
{
	struct compile_result result = { 0 };
	struct row_set rows = { 0 };
	struct sizes sizes = { 0 };
	struct elf_file elf;
	size_t i;
	int ret;

	(void)arg;
	(void)file;
	ret = elf_open(&elf, fd, error) ?: compile_rows(&elf, NULL, &rows, &result, error);
	if (!ret) {
		for (i = 0; i < elf.ntext; i++)
			sizes.text += elf.text[i].size;
		sizes.fdes = count_fdes(&elf);
		sizes.rows = rows.nrows;
		sizes.synth = result.synth;
		sizes.synth_rows = result.synth_rows;
		sizes.abi = result.abi;
		sizes.abi_rows = result.abi_rows;
		sizes.cfi = result.cfi_size;
		sizes.table = result.size;
		sizes.unsupported = result.unsupported;
		fwrite(&sizes, sizeof(sizes), 1, out);
	}
	compile_result_free(&result);
	row_set_free(&rows);
	elf_close(&elf);
	return ret;
}

static void size_failed(void *arg, const struct input_file *file, const char *why, bool died)
{
	struct size_run *run = arg;

	message_error("size", file->path, why);
	json_append_problem(run->problems, file->path, why);
	run->status |= each_file_status(file, died);
}

/* Fills in what to sort @file by; false if there is no such key. */
static bool size_file_weigh(const char *key, struct size_file *file)
{
	const struct sizes *sizes = &file->sizes;
	size_t i;

	for (i = 0; i < NCOLUMNS; i++)
		if (columns[i].width && !strcmp(key, columns[i].key)) {
			file->weight = *column_of(i, sizes);
			return true;
		}
	if (!strcmp(key, "ratio"))
		file->weight = percent(sizes->table, sizes->cfi);
	else if (!strcmp(key, "row"))
		file->weight = bytes_per_row(sizes);
	else
		return !strcmp(key, "name");
	return true;
}

static void size_done(void *arg, const struct input_file *file, const void *data, size_t size)
{
	const struct sizes *sizes = data;
	struct size_run *run = arg;
	struct size_file *sized;
	size_t i;

	(void)size;
	sized = &run->sized[run->nsized++];
	*sized = (struct size_file){ .path = file->path, .sizes = *sizes };
	if (run->sort)
		size_file_weigh(run->sort, sized);
	if (sizes->synth + sizes->abi > sizes->text / 2 && !run->bare++)
		run->first_bare = file->path;
	for (i = 0; i < NCOLUMNS; i++)
		*column_of(i, &run->total) += *column_of(i, sizes);
}

static int compare_files(const void *a, const void *b)
{
	const struct size_file *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return strcmp(x->path, y->path);
}

/* "12,345", or "12.1K" if it is bytes. */
static void print_sizes(const struct sizes *sizes)
{
	char text[32];
	size_t i;

	for (i = 0; i < NCOLUMNS; i++) {
		u64 value = *column_of(i, sizes);

		if (!columns[i].width)
			continue;
		if (columns[i].is_count)
			text_count(value, text, sizeof(text));
		else
			text_bytes(value, text, sizeof(text));
		printf("%*s ", columns[i].width, text);
	}
	printf("%5.1f%% %5.2f  ", percent(sizes->table, sizes->cfi), bytes_per_row(sizes));
}

static void print_text(const struct size_run *run)
{
	size_t i;

	if (!run->nsized)
		return;
	for (i = 0; i < NCOLUMNS; i++)
		if (columns[i].width)
			printf("%*s ", columns[i].width, columns[i].heading);
	printf("%6s %5s  file\n", "of CFI", "B/row");
	for (i = 0; i < run->nsized; i++) {
		print_sizes(&run->sized[i].sizes);
		text_put_name(stdout, run->sized[i].path);
		putchar('\n');
	}
	if (run->nsized > 1) {
		print_sizes(&run->total);
		printf("total of %zu files\n", run->nsized);
	}
	if (!run->bare)
		return;
	text_put_name(stdout, run->first_bare);
	if (run->bare > 1)
		printf(" and %zu more have", run->bare - 1);
	else
		printf(" has");
	puts(" no CFI for most of the code: the rows there are made from the code.  With\n"
	     "-fasynchronous-unwind-tables compilers write CFI.");
}

static void json_add_sizes(struct json_object *object, const struct sizes *sizes)
{
	size_t i;

	for (i = 0; i < NCOLUMNS; i++)
		json_add_uint(object, columns[i].key, *column_of(i, sizes));
}

static void print_json(struct size_run *run)
{
	struct json_object *all = json_object_new_object(), *total = json_object_new_object();
	struct json_object *files = json_object_new_array();
	size_t i;

	for (i = 0; i < run->nsized; i++) {
		struct json_object *file = json_append(files);

		json_add_string(file, "path", run->sized[i].path);
		json_add_sizes(file, &run->sized[i].sizes);
	}
	json_add(all, "files", files);
	json_add(all, "problems", json_object_get(run->problems));
	json_add_uint(total, "files", run->nsized);
	json_add_sizes(total, &run->total);
	json_add(all, "total", total);
	json_print(all);
}

static int size_refuse_key(const char *key)
{
	char keys[128];
	size_t i, length;

	length = snprintf(keys, sizeof(keys), "name, ratio, row");
	for (i = 0; i < NCOLUMNS; i++)
		if (columns[i].width)
			length += snprintf(keys + length, sizeof(keys) - length, ", %s", columns[i].key);
	return message_usage("size", "--sort: %s is none of %s", key, keys);
}

int cmd_size(int argc, char **argv)
{
	struct size_run run = { .status = EXIT_OK };
	struct size_file probe = { 0 };
	bool json = false;
	const struct options options = {
		.command = "size", .help = size_help,
		.option = {
			{ 's', "sort", OPTION_TEXT, &run.sort },
			{ 'j', "jobs", OPTION_JOBS, &run.jobs },
			{ 0, "json", OPTION_FLAG, &json },
		},
	};
	int status = options_parse(&options, argc, &argv);
	const struct each_file each = {
		.command = "size", .files = &run.files, .jobs = run.jobs,
		.report_size = sizeof(struct sizes), .arg = &run,
		.work = size_work, .done = size_done, .failed = size_failed,
	};

	if (status != OPTIONS_OK)
		return status;
	if (run.sort && !size_file_weigh(run.sort, &probe))
		return size_refuse_key(run.sort);
	if (!*argv)
		return message_usage("size", "an ELF file or directory is needed");
	if (json)
		run.problems = json_object_new_array();
	input_files_collect(&run.files, argv);
	run.sized = alloc_array(NULL, run.files.count + 1, sizeof(*run.sized));
	run.status |= each_file_run(&each);
	if (run.sort)
		qsort(run.sized, run.nsized, sizeof(*run.sized), compare_files);
	if (run.problems)
		print_json(&run);
	else
		print_text(&run);
	json_object_put(run.problems);
	input_files_free(&run.files);
	free(run.sized);
	return run.status;
}
