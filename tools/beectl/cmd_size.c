// SPDX-License-Identifier: GPL-2.0
/* beectl size: how large unwind tables are, and what the same would cost otherwise. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "commands.h"
#include "error.h"
#include "inputs.h"
#include "json.h"
#include "measure.h"
#include "parallel.h"
#include "progress.h"
#include "text.h"

static const char usage[] =
	"Usage: beectl size [OPTIONS] ELF|DIR...\n"
	"\n"
	"Show how large the unwind tables of executables and shared objects are, beside their\n"
	".eh_frame and .eh_frame_hdr (CFI) and what the same rows would take in other formats.\n"
	"DIR stands for all such files below it, on its file system.\n"
	"\n"
	"Options:\n"
	"  -s, --sort KEY  Sort by name, ratio (table of CFI), row (bytes a row), or what has a\n"
	"                  name below, largest first; without it, files are listed as given\n"
	"  -j, --jobs N    Work on N files at a time (default: one for each CPU)\n"
	"      --json      Print one object: files, failed (path, reason), total; sizes in bytes:\n"
	"                  text, cfi, table, rows8, rows4, deltas, orc, sframe; and numbers: fdes,\n"
	"                  rows, unsupported, sframe_fdes, sframe_fres, sframe_skipped\n"
	"  -h, --help      Show this text\n"
	"\n"
	"Formats: 8-byte rows (u32 pc, u32 rule); 4-byte rows (u16 pc, CFA / 8, types); deltas:\n"
	"the stack deltas of OpenTelemetry's profiler (u16 pc, u16 rule of 12 bytes); ORC, as in\n"
	"Linux; SFrame version 2, as GNU as and ld make it.  The man page says more.\n"
	"\n"
	"Example:\n"
	"  beectl size --sort table /usr/lib\n";

/* How a measure is shown; @key is its name in JSON, and for --sort. */
static const struct column {
	const char	*heading;
	const char	*key;
	int		 width;
	bool		 is_count;
} columns[__MEASURE_MAX] = {
	[MEASURE_TEXT]		= { "text", "text", 6 },
	[MEASURE_FDES]		= { "FDEs", "fdes", 9, .is_count = true },
	[MEASURE_ROWS]		= { "rows", "rows", 11, .is_count = true },
	[MEASURE_CFI]		= { "CFI", "cfi", 6 },
	[MEASURE_TABLE]		= { "table", "table", 6 },
	[MEASURE_ROW8]		= { "8-byte", "rows8", 6 },
	[MEASURE_ROW4]		= { "4-byte", "rows4", 6 },
	[MEASURE_DELTAS]	= { "deltas", "deltas", 6 },
	[MEASURE_ORC]		= { "ORC", "orc", 6 },
	[MEASURE_SFRAME]	= { "SFrame", "sframe", 6 },
};

/* What a child has to say of a file; @error.text is "" if all is well. */
struct size_report {
	struct measures	measures;
	struct bee_error error;
};

/* A file in the list. */
struct size_file {
	const char	*path;
	double		 weight;	/* what to sort by */
	struct measures	 measures;
};

/**
 * struct size_run - what is to be done, and what is known
 * @files: what to look at
 * @jobs: files at a time; 0: by the number of CPUs
 * @sort: key or NULL
 * @sized: files that have a table
 * @nsized: number of them
 * @total: theirs
 * @failed: the others, for JSON; NULL without
 * @status: exit status so far
 */
struct size_run {
	struct input_files	 files;
	unsigned int		 jobs;
	const char		*sort;
	struct size_file	*sized;
	size_t			 nsized;
	struct measures		 total;
	struct json_object	*failed;
	int			 status;
};

static double ratio_of(const struct measures *m)
{
	return m->value[MEASURE_CFI] ? 100.0 * m->value[MEASURE_TABLE] / m->value[MEASURE_CFI] : 0;
}

static double bytes_per_row(const struct measures *m, enum measure what)
{
	return m->value[MEASURE_ROWS] ? (double)m->value[what] / m->value[MEASURE_ROWS] : 0;
}

static void size_work(void *arg, size_t index, FILE *out)
{
	const struct size_run *run = arg;
	const struct input_file *file = &run->files.file[index];
	struct size_report report = {};
	int fd = -1;

	if (file->why)
		error_set(&report.error, 0, "%s", file->why);
	else if ((fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) < 0)
		error_set(&report.error, errno, "cannot open: %s", strerror(errno));
	else
		measure_file(fd, &report.measures, &report.error);
	if (fd >= 0)
		close(fd);
	fwrite(&report, sizeof(report), 1, out);
}

static void size_fail(struct size_run *run, const struct input_file *file, const char *why)
{
	struct json_object *object;

	fputs("beectl: size: ", stderr);
	text_put_name(stderr, file->path);
	fputs(": ", stderr);
	text_put_name(stderr, why);
	fputc('\n', stderr);
	if (!run->failed)
		return;
	object = json_object_new_object();
	json_add_string(object, "path", file->path);
	json_add_string(object, "reason", why);
	json_object_array_add(run->failed, object);
}

static void size_done(void *arg, size_t index, const void *data, size_t size, const char *died)
{
	const struct size_report *report = data;
	struct size_run *run = arg;
	const struct input_file *file = &run->files.file[index];
	bool lost = died || size != sizeof(*report);

	if (lost || report->error.text[0]) {
		progress_end();
		size_fail(run, file, died ?: lost ? "no result" : report->error.text);
		if (lost || !file->found || file->why)
			run->status = EXIT_FAILED;
		return;
	}
	run->sized[run->nsized++] = (struct size_file){
		.path = file->path, .measures = report->measures,
	};
	measure_add(&run->total, &report->measures);
}

static void size_progress(void *arg, size_t ready, size_t index)
{
	const struct size_run *run = arg;

	progress_count(ready, run->files.count, run->files.file[index].path);
}

/* What to sort @file by; false if there is no such key. */
static bool weigh(const char *key, struct size_file *file)
{
	size_t i;

	file->weight = 0;
	if (!strcmp(key, "name"))
		return true;
	if (!strcmp(key, "ratio") || !strcmp(key, "row")) {
		file->weight = *key == 'r' && key[1] == 'a' ? ratio_of(&file->measures) :
			       bytes_per_row(&file->measures, MEASURE_TABLE);
		return true;
	}
	for (i = 0; i < __MEASURE_MAX; i++)
		if (!strcmp(key, columns[i].key)) {
			file->weight = file->measures.value[i];
			return true;
		}
	return false;
}

static int compare_files(const void *a, const void *b)
{
	const struct size_file *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return strcmp(x->path, y->path);
}

static void sort_files(struct size_run *run)
{
	size_t i;

	for (i = 0; i < run->nsized; i++)
		weigh(run->sort, &run->sized[i]);
	qsort(run->sized, run->nsized, sizeof(*run->sized), compare_files);
}

static void print_headings(void)
{
	size_t i;

	for (i = 0; i < __MEASURE_MAX; i++) {
		printf("%*s ", columns[i].width, columns[i].heading);
		if (i == MEASURE_TABLE)
			printf("%6s %5s ", "of CFI", "B/row");
	}
	puts(" file");
}

/* "12,345", or "12.1K" if it is bytes. */
static void print_value(const struct column *column, u64 value)
{
	char text[32];

	if (column->is_count)
		text_count(value, text, sizeof(text));
	else
		text_bytes(value, text, sizeof(text));
	printf("%*s ", column->width, text);
}

static void print_measures(const struct measures *m)
{
	size_t i;

	for (i = 0; i < __MEASURE_MAX; i++) {
		print_value(&columns[i], m->value[i]);
		if (i == MEASURE_TABLE)
			printf("%5.1f%% %5.2f ", ratio_of(m), bytes_per_row(m, i));
	}
	putchar(' ');
}

/* Bytes a row in each format, and how many times the table that is. */
static void print_comparison(const struct measures *m)
{
	size_t i, before = 0;

	for (i = 0; i < MEASURE_ROW8; i++)
		before += columns[i].width + 1;
	printf("%*s", (int)before + 13, "");
	for (i = MEASURE_ROW8; i < __MEASURE_MAX; i++)
		printf("%*.2f ", columns[i].width, bytes_per_row(m, i));
	printf(" bytes a row\n%*s", (int)before + 13, "");
	for (i = MEASURE_ROW8; i < __MEASURE_MAX; i++)
		printf("%*.1f ", columns[i].width, (double)m->value[i] / m->value[MEASURE_TABLE]);
	puts(" times the table");
}

static void print_text(const struct size_run *run)
{
	size_t i;

	if (!run->nsized)
		return;
	print_headings();
	for (i = 0; i < run->nsized; i++) {
		print_measures(&run->sized[i].measures);
		text_put_name(stdout, run->sized[i].path);
		putchar('\n');
	}
	if (run->nsized > 1) {
		print_measures(&run->total);
		printf("total of %zu files\n", run->nsized);
	}
	print_comparison(&run->total);
	if (run->total.sframe.skipped)
		printf("SFrame leaves %zu of %llu functions out, with rules that it cannot represent.\n",
		       run->total.sframe.skipped,
		       (unsigned long long)run->total.value[MEASURE_FDES]);
}

static void json_add_measures(struct json_object *object, const struct measures *m)
{
	size_t i;

	for (i = 0; i < __MEASURE_MAX; i++)
		json_add_uint(object, columns[i].key, m->value[i]);
	json_add_uint(object, "unsupported", m->unsupported);
	json_add_uint(object, "sframe_fdes", m->sframe.nfdes);
	json_add_uint(object, "sframe_fres", m->sframe.nfres);
	json_add_uint(object, "sframe_skipped", m->sframe.skipped);
}

static void print_json(struct size_run *run)
{
	struct json_object *all = json_object_new_object(), *total = json_object_new_object();
	struct json_object *files = json_object_new_array();
	size_t i;

	for (i = 0; i < run->nsized; i++) {
		struct json_object *file = json_object_new_object();

		json_add_string(file, "path", run->sized[i].path);
		json_add_measures(file, &run->sized[i].measures);
		json_object_array_add(files, file);
	}
	json_object_object_add(all, "files", files);
	json_object_object_add(all, "failed", run->failed);
	json_add_uint(total, "files", run->nsized);
	json_add_measures(total, &run->total);
	json_object_object_add(all, "total", total);
	json_print(all);
}

static int size_all(struct size_run *run)
{
	const struct parallel parallel = {
		.count = run->files.count, .jobs = run->jobs, .arg = run,
		.work = size_work, .done = size_done, .progress = size_progress,
	};
	int ret;

	if (!parallel.count) {
		fputs("beectl: size: " INPUT_FILES_NONE "\n", stderr);
		return EXIT_FAILED;
	}
	run->sized = alloc_array(NULL, run->files.count + 1, sizeof(*run->sized));
	ret = parallel_run(&parallel);
	progress_end();
	if (ret) {
		fprintf(stderr, "beectl: size: cannot start a process: %s\n", strerror(errno));
		return EXIT_FAILED;
	}
	if (run->sort)
		sort_files(run);
	if (run->failed)
		print_json(run);
	else
		print_text(run);
	return run->status;
}

static int misuse(const char *why)
{
	fprintf(stderr, "beectl: size: %s; see \"beectl size --help\"\n", why);
	return EXIT_USAGE;
}

static int size_words(struct size_run *run, char **words)
{
	int status;

	for (; *words; words++)
		input_files_add(&run->files, *words);
	input_files_finish(&run->files);
	status = size_all(run);
	input_files_free(&run->files);
	free(run->sized);
	return status;
}

int cmd_size(int argc, char **argv)
{
	static const struct option options[] = {
		{ "sort", required_argument, NULL, 's' },
		{ "jobs", required_argument, NULL, 'j' },
		{ "json", no_argument, NULL, 'J' },
		{ "help", no_argument, NULL, 'h' },
		{},
	};
	struct size_file probe = {};
	struct size_run run = {};
	bool json = false;
	int c;

	optind = 0;
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":s:j:h", options, NULL)) != -1) {
		switch (c) {
		case 's':
			if (!weigh(optarg, &probe))
				return misuse("-s knows no such key");
			run.sort = optarg;
			break;
		case 'j':
			if (text_parse_jobs(optarg, &run.jobs))
				return misuse("-j needs a number from 1 to 1024");
			break;
		case 'J':
			json = true;
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
	if (optind == argc)
		return misuse("an ELF file or directory is needed");
	if (json)
		run.failed = json_object_new_array();
	return size_words(&run, argv + optind);
}
