// SPDX-License-Identifier: GPL-2.0
/* Time and memory that making a table takes, and that libdw takes to enumerate the rows. */
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "compile.h"
#include "coverage.h"
#include "elf.h"
#include "median.h"

#define LIBDW_NS	2000000000ull	/* after this time no further turn of libdw begins */
#define TURN_NS		50000000ull
#define TURNS		5

/* Return: the value in KiB of a line of /proc/self/status. */
static long status_kib(const char *key)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];
	long kib = 0;

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, key, strlen(key)))
			kib = strtol(line + strlen(key), NULL, 10);
	if (file)
		fclose(file);
	return kib;
}

/* Reset VmHWM to the current RSS. */
static void reset_peak(void)
{
	int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "5", 1) != 1)
		perror("/proc/self/clear_refs");
	close(fd);
}

/*
 * Peak RSS of a child that calls @work, without its RSS after fork and without the pages of
 * files that it has mapped.
 */
static long peak_of(int fd, const struct row_set *set, void (*work)(int fd, const struct row_set *))
{
	int ends[2], status;
	long kib = -1;
	pid_t pid;

	if (pipe(ends))
		return -1;
	pid = fork();
	if (!pid) {
		long born, files;

		malloc_trim(0);
		reset_peak();
		born = status_kib("VmRSS:");
		files = status_kib("RssFile:");
		work(fd, set);
		kib = status_kib("VmHWM:") - born - (status_kib("RssFile:") - files);
		_exit(write(ends[1], &kib, sizeof(kib)) != sizeof(kib));
	}
	close(ends[1]);
	if (pid < 0 || read(ends[0], &kib, sizeof(kib)) != sizeof(kib))
		kib = -1;
	close(ends[0]);
	waitpid(pid, &status, 0);
	return kib;
}

/* Nothing is unmapped at the end, so that the child can count pages of mapped files. */
static void work_compile(int fd, const struct row_set *set)
{
	struct row_set rows = {};
	struct elf_file elf;
	struct bee_error why = {};
	size_t size;

	(void)set;
	if (!elf_open(&elf, fd, &why) && !coverage_rows(&elf, &rows, &why))
		compile_encode(&elf, &rows, &size, &why);
}

static void work_libdw(int fd, const struct row_set *set)
{
	struct Elf *elf = bench_libdw_open(fd);

	if (elf)
		bench_libdw_rows(elf, set);
	bench_libdw_close(elf);
}

static double ms_since(u64 start)
{
	return (bench_now_ns() - start) / 1e6;
}

/*
 * A file, opened by beectl's reader and by libdw before rows are timed: its headers have been read,
 * but nothing of .eh_frame.
 */
struct opened {
	struct elf_file		 elf;
	struct Elf		*libdw;
	const struct row_set	*set;
};

static size_t rows_once(const struct opened *file)
{
	struct row_set rows = {};
	struct bee_error why = {};
	size_t n = 0;

	if (!coverage_fde_rows(&file->elf, &rows, &why))
		n = rows.nrows;
	row_set_free(&rows);
	return n;
}

static size_t libdw_once(const struct opened *file)
{
	return bench_libdw_rows(file->libdw, file->set);
}

/* One turn: repeat @work for TURN_NS, so that also short work mostly runs with warm caches. */
static size_t time_turn(const struct opened *file, size_t (*work)(const struct opened *),
			double *ms)
{
	u64 start = bench_now_ns();
	size_t n, times = 0;

	do {
		n = work(file);
		times++;
	} while (bench_now_ns() - start < TURN_NS);
	*ms = ms_since(start) / times;
	return n;
}

static int encode_once(int fd, double *cover_ms, double *pack_ms)
{
	u64 start = bench_now_ns();
	struct row_set rows = {};
	struct elf_file elf;
	struct bee_error why = {};
	void *blob = NULL;
	size_t size;

	if (!elf_open(&elf, fd, &why) && !coverage_rows(&elf, &rows, &why)) {
		*cover_ms = ms_since(start);
		start = bench_now_ns();
		blob = compile_encode(&elf, &rows, &size, &why);
		*pack_ms = ms_since(start);
	}
	free(blob);
	row_set_free(&rows);
	elf_close(&elf);
	return blob ? 0 : -1;
}

/**
 * bench_encode() - time the compiler
 * @fd: the file
 * @set: its rows
 * @libdw: time libdw too
 * @file: the times and peaks are filled
 *
 * Return: 0, or -1 if the file cannot be compiled.
 */
int bench_encode(int fd, const struct row_set *set, bool libdw, struct bench_file *file)
{
	double rows_ms[BENCH_TURNS], libdw_ms[BENCH_TURNS], cover_ms[TURNS], pack_ms[TURNS];
	struct opened opened = { .set = set };
	u64 start = bench_now_ns();
	size_t i, n = 0, nrows = 1;
	struct bee_error why;

	if (!elf_open(&opened.elf, fd, &why) && libdw)
		opened.libdw = bench_libdw_open(fd);
	for (i = 0; i < BENCH_TURNS && nrows; i++) {
		if (opened.libdw && bench_now_ns() - start < LIBDW_NS)
			file->libdw_rows = time_turn(&opened, libdw_once, &libdw_ms[n++]);
		nrows = time_turn(&opened, rows_once, &rows_ms[i]);
	}
	bench_libdw_close(opened.libdw);
	elf_close(&opened.elf);
	if (!nrows)
		return -1;
	for (i = 0; i < TURNS; i++)
		if (encode_once(fd, &cover_ms[i], &pack_ms[i]))
			return -1;
	file->rows_ms = median(rows_ms, BENCH_TURNS);
	file->cover_ms = median(cover_ms, TURNS);
	file->pack_ms = median(pack_ms, TURNS);
	file->peak_kib = peak_of(fd, set, work_compile);
	if (n) {
		file->libdw_ms = median(libdw_ms, n);
		file->libdw_peak_kib = peak_of(fd, set, work_libdw);
	}
	return 0;
}
