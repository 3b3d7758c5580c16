// SPDX-License-Identifier: GPL-2.0
/*
 * Measure size, lookups and compilation of the tables of some files, and of plain sorted rows for
 * comparison.  Only wrong tables or lookups are errors.
 *
 *	bench [--cold MIB] [--libdw] [--json FILE] [--data FILE] ELF...
 *	bench --stacks FILE...
 *
 * --data FILE is for the plot: a line for each file and format, with bytes per row and ns.
 */
#include <fcntl.h>
#include <getopt.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "alloc.h"
#include "bench.h"
#include "compile.h"
#include "coverage.h"
#include "elf.h"
#include "json.h"
#include "median.h"
#include "random.h"

static const char *const format_names[BENCH_FORMATS] = { "table", "rows8", "rows4" };

/* CPU time, as other programs may use the machine at the same time. */
u64 bench_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* One sequence for all files of this program. */
u64 bench_random(void)
{
	return random_u64();
}

static int bench_rows(int fd, const struct elf_file *elf, const struct row_set *rows,
		      const struct bench_options *options, struct bench_file *file)
{
	struct compile_result result;
	struct bee_table_error error;
	struct bee_table table;
	struct bee_error why;
	int ret = -1;

	if (compile_elf(fd, NULL, &result, &why)) {
		fprintf(stderr, "%s: %s\n", file->name, why.text);
		return -1;
	}
	file->rows = rows->nrows;
	file->functions = rows->nstarts;
	file->cfi = elf_frames_size(elf);
	if (!bee_table_validate(result.blob, result.size, &table, &error)) {
		bench_exact(rows, &table, file);
		bench_lookups(rows, &table, options->cold_bytes, file);
		ret = bench_encode(fd, rows, options->libdw, file);
	}
	compile_result_free(&result);
	return ret;
}

static int bench_path(const char *path, const struct bench_options *options,
		      struct bench_file *file)
{
	const char *slash = strrchr(path, '/');
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret = -1;
	struct row_set rows = {};
	struct elf_file elf;
	struct bee_error why = {};

	*file = (struct bench_file){ .name = slash ? slash + 1 : path };
	if (fd < 0) {
		perror(path);
		return -1;
	}
	if (elf_open(&elf, fd, &why))
		fprintf(stderr, "%s: %s\n", path, why.text);
	else if (coverage_rows(&elf, &rows, &why))
		fprintf(stderr, "%s: %s\n", path, why.text);
	else
		ret = bench_rows(fd, &elf, &rows, options, file);
	row_set_free(&rows);
	elf_close(&elf);
	close(fd);
	return ret;
}

static void print_head(const struct bench_options *options)
{
	printf("%-22s %7s %7s %5s %5s %4s|%5s %5s %5s %5s|%5s %5s %5s", "file", "rows", "bytes",
	       "% cfi", "B/row", "win", "ns", "8-B", "4-B", "ratio", "bodie", "8-B", "ratio");
	if (options->cold_bytes)
		printf("|%5s %5s %5s %5s", "cold", "8-B", "4-B", "ratio");
	printf("|%7s %6s %7s %7s %6s %7s", "rows ms", "ns/row", "+ cover", "pack ms", "MB/s",
	       "peak KB");
	if (options->libdw)
		printf("|%8s %6s %7s %7s", "libdw ms", "times", "+ cover", "peak KB");
	printf("|%8s %5s\n", "checked", "wrong");
}

static double mb_per_s(const struct bench_file *f)
{
	return f->cfi / 1e3 / (f->cover_ms + f->pack_ms);
}

static void print_file(const struct bench_file *f, const struct bench_options *options)
{
	printf("%-22.22s %7zu %7zu %5.2f %5.3f %4u|%5.1f %5.1f %5.1f %5.2f|%5.1f %5.1f %5.2f",
	       f->name, f->rows, f->bytes[BENCH_TABLE], 100.0 * f->bytes[BENCH_TABLE] / f->cfi,
	       (double)f->bytes[BENCH_TABLE] / f->rows, f->window, f->uniform.ns[BENCH_TABLE],
	       f->uniform.ns[BENCH_ROWS8], f->uniform.ns[BENCH_ROWS4], f->uniform.ratio,
	       f->bodies.ns[BENCH_TABLE], f->bodies.ns[BENCH_ROWS8], f->bodies.ratio);
	if (options->cold_bytes)
		printf("|%5.0f %5.0f %5.0f %5.2f", f->cold.ns[BENCH_TABLE], f->cold.ns[BENCH_ROWS8],
		       f->cold.ns[BENCH_ROWS4], f->cold.ratio);
	printf("|%7.2f %6.1f %7.2f %7.1f %6.1f %7ld", f->rows_ms, f->rows_ms * 1e6 / f->rows,
	       f->cover_ms, f->pack_ms, mb_per_s(f), f->peak_kib);
	if (options->libdw)
		printf("|%8.2f %6.1f %7.1f %7ld", f->libdw_ms, f->libdw_ms / f->rows_ms,
		       f->libdw_ms / f->cover_ms, f->libdw_peak_kib);
	printf("|%8zu %5zu\n", f->checked, f->wrong);
	fflush(stdout);
}

/**
 * struct bench_total - figures of all files together
 * @cfi: bytes of .eh_frame and .eh_frame_hdr
 * @table: bytes of the tables
 * @rows: before packing
 * @ns: median of uniform lookups, by format
 * @ratio: median of the ratios of uniform lookups
 * @worst: the largest of them
 * @cold: median of the ratios of cold lookups
 * @rows_ms: sum over the files, as are the next two
 * @cover_ms: see struct bench_file
 * @libdw_ms: see struct bench_file
 */
struct bench_total {
	u64	cfi;
	u64	table;
	u64	rows;
	double	ns[BENCH_FORMATS];
	double	ratio;
	double	worst;
	double	cold;
	double	rows_ms;
	double	cover_ms;
	double	libdw_ms;
};

/* The median over all files of the double at @offset of struct bench_file. */
static double median_of(const struct bench_file *files, size_t n, size_t offset)
{
	double *values = alloc_array(NULL, n, sizeof(*values)), middle;
	size_t i;

	for (i = 0; i < n; i++)
		memcpy(&values[i], (const char *)&files[i] + offset, sizeof(*values));
	middle = median(values, n);
	free(values);
	return middle;
}

static void sum_files(const struct bench_file *files, size_t n, struct bench_total *total)
{
	size_t i;

	*total = (struct bench_total){
		.ratio = median_of(files, n, offsetof(struct bench_file, uniform.ratio)),
		.cold = median_of(files, n, offsetof(struct bench_file, cold.ratio)),
	};
	for (i = 0; i < BENCH_FORMATS; i++)
		total->ns[i] = median_of(files, n, offsetof(struct bench_file, uniform.ns[0]) +
					 i * sizeof(double));
	for (i = 0; i < n; i++) {
		total->cfi += files[i].cfi;
		total->table += files[i].bytes[BENCH_TABLE];
		total->rows += files[i].rows;
		total->rows_ms += files[i].rows_ms;
		total->cover_ms += files[i].cover_ms;
		total->libdw_ms += files[i].libdw_ms;
		if (files[i].uniform.ratio > total->worst)
			total->worst = files[i].uniform.ratio;
	}
}

static void print_total(const struct bench_total *t, size_t n)
{
	printf("\n%zu files: %llu rows, %llu bytes of CFI, %llu of tables: %.2f %%, %.3f a row\n",
	       n, (unsigned long long)t->rows, (unsigned long long)t->cfi,
	       (unsigned long long)t->table, 100.0 * t->table / t->cfi, (double)t->table / t->rows);
	printf("medians over files: %.1f ns a lookup; 8-byte rows %.1f, 4-byte rows %.1f\n",
	       t->ns[BENCH_TABLE], t->ns[BENCH_ROWS8], t->ns[BENCH_ROWS4]);
	printf("table by 8-byte rows: median %.2f, worst %.2f", t->ratio, t->worst);
	if (t->cold)
		printf("; cold: median %.2f, 8-byte rows take %.2f times as long", t->cold,
		       1 / t->cold);
	if (t->libdw_ms)
		printf("\nrows: %.1f times as fast as libdw, with what lies between functions %.1f times",
		       t->libdw_ms / t->rows_ms, t->libdw_ms / t->cover_ms);
	printf("\n");
}

static void json_add_double(struct json_object *object, const char *key, double value)
{
	json_object_object_add(object, key, json_object_new_double(value));
}

static void json_add_lookups(struct json_object *object, const char *key,
			     const struct bench_lookups *lookups)
{
	struct json_object *ns = json_object_new_object();
	u32 f;

	for (f = 0; f < BENCH_FORMATS; f++)
		json_add_double(ns, format_names[f], lookups->ns[f]);
	json_add_double(ns, "ratio", lookups->ratio);
	json_object_object_add(object, key, ns);
}

static struct json_object *json_file(const struct bench_file *f,
				     const struct bench_options *options)
{
	struct json_object *object = json_object_new_object();
	struct json_object *bytes = json_object_new_object();
	u32 i;

	json_add_string(object, "name", f->name);
	json_add_uint(object, "rows", f->rows);
	json_add_uint(object, "functions", f->functions);
	json_add_uint(object, "cfi", f->cfi);
	json_add_uint(object, "window", f->window);
	for (i = 0; i < BENCH_FORMATS; i++)
		json_add_uint(bytes, format_names[i], f->bytes[i]);
	json_object_object_add(object, "bytes", bytes);
	json_add_lookups(object, "uniform_ns", &f->uniform);
	json_add_lookups(object, "bodies_ns", &f->bodies);
	if (options->cold_bytes)
		json_add_lookups(object, "cold_ns", &f->cold);
	json_add_double(object, "rows_ms", f->rows_ms);
	json_add_double(object, "cover_ms", f->cover_ms);
	json_add_double(object, "pack_ms", f->pack_ms);
	json_add_uint(object, "peak_kib", f->peak_kib);
	if (options->libdw) {
		json_add_double(object, "libdw_ms", f->libdw_ms);
		json_add_uint(object, "libdw_rows", f->libdw_rows);
		json_add_uint(object, "libdw_peak_kib", f->libdw_peak_kib);
	}
	json_add_uint(object, "checked", f->checked);
	json_add_uint(object, "wrong", f->wrong);
	return object;
}

static struct json_object *json_total(const struct bench_total *t)
{
	struct json_object *object = json_object_new_object();
	struct json_object *ns = json_object_new_object();
	u32 f;

	json_add_uint(object, "rows", t->rows);
	json_add_uint(object, "cfi", t->cfi);
	json_add_uint(object, "table", t->table);
	for (f = 0; f < BENCH_FORMATS; f++)
		json_add_double(ns, format_names[f], t->ns[f]);
	json_object_object_add(object, "median_ns", ns);
	json_add_double(object, "median_ratio", t->ratio);
	json_add_double(object, "worst_ratio", t->worst);
	json_add_double(object, "cold_ratio", t->cold);
	json_add_double(object, "rows_ms", t->rows_ms);
	json_add_double(object, "cover_ms", t->cover_ms);
	json_add_double(object, "libdw_ms", t->libdw_ms);
	return object;
}

static int write_json(const char *path, const struct bench_file *files, size_t n,
		      const struct bench_total *total, const struct bench_options *options)
{
	struct json_object *object = json_object_new_object();
	struct json_object *array = json_object_new_array();
	size_t i;
	int ret;

	for (i = 0; i < n; i++)
		json_object_array_add(array, json_file(&files[i], options));
	json_object_object_add(object, "files", array);
	json_object_object_add(object, "total", json_total(total));
	ret = json_object_to_file_ext(path, object, JSON_C_TO_STRING_PRETTY);
	json_object_put(object);
	return ret;
}

static int write_data(const char *path, const struct bench_file *files, size_t n)
{
	FILE *out = fopen(path, "we");
	size_t i;
	u32 f;

	if (!out)
		return -1;
	for (f = 0; f < BENCH_FORMATS; f++) {
		for (i = 0; i < n; i++)
			fprintf(out, "%.4f %.2f %s\n", (double)files[i].bytes[f] / files[i].rows,
				files[i].uniform.ns[f], files[i].name);
		fprintf(out, "\n\n");
	}
	return fclose(out);
}

static int bench_files(char **paths, int npaths, const struct bench_options *options,
		       const char *json, const char *data)
{
	struct bench_file *files = alloc_array(NULL, npaths, sizeof(*files));
	struct bench_total total = {};
	int i, status = 0;
	size_t n = 0;

	print_head(options);
	for (i = 0; i < npaths; i++) {
		if (bench_path(paths[i], options, &files[n])) {
			status = 1;
			continue;
		}
		print_file(&files[n], options);
		status |= !!files[n++].wrong;
	}
	if (n) {
		sum_files(files, n, &total);
		print_total(&total, n);
	}
	if (json && write_json(json, files, n, &total, options))
		status = 1;
	if (data && write_data(data, files, n))
		status = 1;
	free(files);
	return status;
}

enum { OPT_COLD = 256, OPT_LIBDW, OPT_JSON, OPT_DATA, OPT_STACKS };

static const struct option long_options[] = {
	{ "cold",	required_argument, NULL, OPT_COLD },
	{ "libdw",	no_argument,	   NULL, OPT_LIBDW },
	{ "json",	required_argument, NULL, OPT_JSON },
	{ "data",	required_argument, NULL, OPT_DATA },
	{ "stacks",	no_argument,	   NULL, OPT_STACKS },
	{},
};

/* Let malloc() keep freed memory, so that a turn does not fault in pages again. */
static void keep_memory(void)
{
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

int main(int argc, char **argv)
{
	const char *json = NULL, *data = NULL;
	struct bench_options options = {};
	bool stacks = false;
	int opt, status = 0;

	keep_memory();
	while ((opt = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		switch (opt) {
		case OPT_COLD:
			options.cold_bytes = strtoull(optarg, NULL, 0) << 20;
			break;
		case OPT_LIBDW:
			options.libdw = true;
			break;
		case OPT_JSON:
			json = optarg;
			break;
		case OPT_DATA:
			data = optarg;
			break;
		case OPT_STACKS:
			stacks = true;
			break;
		default:
			return 2;
		}
	}
	if (!stacks)
		return bench_files(argv + optind, argc - optind, &options, json, data);
	for (; optind < argc; optind++)
		status |= !!bench_cache(argv[optind]);
	return status;
}
