// SPDX-License-Identifier: GPL-2.0
/* Files of a command line, and work on many of them at once. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inputs.h"
#include "parallel.h"

#include "../kselftest.h"

#define ITEMS	300

/* What done() has been told. */
struct seen {
	size_t	count;
	size_t	wrong;
	size_t	died;
	size_t	max_ready;
	size_t	progressed;
	int	gate[2];
};

static void square_work(void *arg, size_t index, FILE *out)
{
	size_t i;

	(void)arg;
	/* Results of all sizes, some larger than a pipe. */
	for (i = 0; i < (index % 50 ? index : 20000); i++)
		fwrite(&index, sizeof(index), 1, out);
}

static void square_done(void *arg, size_t index, const void *data, size_t size, const char *died)
{
	const size_t *values = data;
	struct seen *seen = arg;
	size_t i, n = size / sizeof(*values);

	seen->wrong += index != seen->count || n != (index % 50 ? index : 20000);
	for (i = 0; i < n; i++)
		seen->wrong += values[i] != index;
	seen->died += !!died;
	seen->count++;
}

static void test_order(unsigned int jobs)
{
	struct seen seen = {};
	struct parallel parallel = {
		.count = ITEMS, .jobs = jobs, .arg = &seen,
		.work = square_work, .done = square_done,
	};
	int ret = parallel_run(&parallel);

	ksft_test_result(!ret && seen.count == ITEMS && !seen.wrong && !seen.died,
			 "%u jobs: results whole and in order\n", jobs);
}

#define GATE_JOBS	2
#define GATE_READY	(GATE_JOBS * PARALLEL_MAX_RESULTS - 1)

/* The first item ends only when as many others are ready as may be. */
static void gate_work(void *arg, size_t index, FILE *out)
{
	struct seen *seen = arg;
	char byte;

	if (!index && read(seen->gate[0], &byte, 1) != 1)
		_exit(1);
	fprintf(out, "%zu", index);
}

static void gate_done(void *arg, size_t index, const void *data, size_t size, const char *died)
{
	struct seen *seen = arg;
	char text[24];

	snprintf(text, sizeof(text), "%zu", index);
	seen->wrong += index != seen->count++ || size != strlen(text) ||
		       memcmp(data, text, size) || died;
}

static void gate_progress(void *arg, size_t ready, size_t index)
{
	struct seen *seen = arg;
	bool open = ready >= GATE_READY;

	if (seen->max_ready < GATE_READY)
		seen->wrong += index != 0;
	if (ready > seen->max_ready)
		seen->max_ready = ready;
	if (open && !seen->progressed++ && write(seen->gate[1], "", 1) != 1)
		seen->wrong++;
}

static void test_gate(void)
{
	struct seen seen = {};
	struct parallel parallel = {
		.count = 100, .jobs = GATE_JOBS, .arg = &seen,
		.work = gate_work, .done = gate_done, .progress = gate_progress,
	};
	int ret = pipe(seen.gate) ? -1 : parallel_run(&parallel);

	ksft_test_result(!ret && seen.count == 100 && !seen.wrong && seen.progressed,
			 "a slow item holds the results of others up, and then their start\n");
}

static void deadly_work(void *arg, size_t index, FILE *out)
{
	(void)arg;
	fprintf(out, "part");
	fflush(out);
	switch (index % 4) {
	case 1:
		raise(SIGKILL);
		break;
	case 2:
		exit(7);
	case 3:
		fclose(out);
		_exit(1);
	}
}

static void deadly_done(void *arg, size_t index, const void *data, size_t size, const char *died)
{
	static const char *const expected[] = {
		NULL, "killed by signal 9 (Killed)", "given up, exit status 7",
		"given up, exit status 1",
	};
	const char *want = expected[index % 4];
	struct seen *seen = arg;

	seen->wrong += size != 4 || memcmp(data, "part", 4) || !want != !died ||
		       (want && strcmp(want, died));
	seen->count++;
}

static void test_deaths(void)
{
	struct seen seen = {};
	struct parallel parallel = {
		.count = 40, .jobs = 3, .arg = &seen, .work = deadly_work, .done = deadly_done,
	};
	int ret = parallel_run(&parallel);

	ksft_test_result(!ret && seen.count == 40 && !seen.wrong,
			 "a child that dies is told of, and the others go on\n");
}

static void test_nothing(void)
{
	struct parallel parallel = {};

	ksft_test_result(!parallel_run(&parallel), "no items\n");
}

static char directory[] = "/tmp/parallel_test.XXXXXX";

static char *path_of(const char *name)
{
	static char paths[4][PATH_MAX];
	static unsigned int next;
	char *path = paths[next++ % 4];

	snprintf(path, PATH_MAX, "%s/%s", directory, name);
	return path;
}

static bool file_write(const char *name, const void *data, size_t size)
{
	FILE *file = fopen(path_of(name), "w");
	bool good = file && fwrite(data, 1, size, file) == size;

	return (file && !fclose(file)) && good;
}

static bool file_copy_self(const char *name)
{
	static char bytes[4096];
	FILE *self = fopen("/proc/self/exe", "r");
	size_t n = self ? fread(bytes, 1, sizeof(bytes), self) : 0;

	if (self)
		fclose(self);
	return n == sizeof(bytes) && file_write(name, bytes, n);
}

static bool tree_make(void)
{
	return mkdtemp(directory) && !mkdir(path_of("z"), 0755) && !mkdir(path_of("a"), 0755) &&
	       file_copy_self("z/elf") && file_copy_self("a/two") && file_copy_self("b.so") &&
	       file_write("text", "text\n", 5) && file_write("empty", "", 0) &&
	       !link(path_of("b.so"), path_of("a/hard")) &&
	       !symlink("z/elf", path_of("link")) && !symlink("z", path_of("linked")) &&
	       !symlink(".", path_of("loop")) && !mkfifo(path_of("fifo"), 0644);
}

/* files_are(): as listed, each "path" or "path: why", below the directory */
static bool files_are(const struct input_files *files, const char *const *expected)
{
	size_t i;

	for (i = 0; i < files->count && expected[i]; i++) {
		const struct input_file *file = &files->file[i];
		char text[PATH_MAX];

		snprintf(text, sizeof(text), "%s%s%s", file->path, file->why ? ": " : "",
			 file->why ?: "");
		if (strncmp(text, directory, strlen(directory)) ||
		    strcmp(text + strlen(directory), expected[i])) {
			ksft_print_msg("'%s', not '%s'\n", text, expected[i]);
			return false;
		}
	}
	return i == files->count && !expected[i];
}

static void test_files(const char *what, const char *const *words, const char *const *expected)
{
	struct input_files files = {};

	for (; *words; words++)
		input_files_add(&files, path_of(*words));
	input_files_finish(&files);
	ksft_test_result(files_are(&files, expected), "%s\n", what);
	input_files_free(&files);
}

#define LIST(...)	((const char *const[]){ __VA_ARGS__, NULL })

static void test_trees(void)
{
	ksft_test_result(tree_make(), "a tree in %s\n", directory);
	test_files("a directory: ELF files by name, each inode once", LIST(""),
		   LIST("/a/hard", "/a/two", "/z/elf"));
	test_files("a file that is named is taken as it is", LIST("text", "fifo", "empty"),
		   LIST("/text", "/fifo", "/empty"));
	test_files("a file that is named stays, one that was found goes", LIST("a", "b.so"),
		   LIST("/a/two", "/b.so"));
	test_files("a symbolic link that is named is followed", LIST("link", "z/elf", "linked"),
		   LIST("/link"));
	test_files("a directory by symbolic link", LIST("linked"), LIST("/linked/elf"));
	test_files("no such file", LIST("nothing", "b.so", "nothing"),
		   LIST("/nothing: No such file or directory", "/b.so",
			"/nothing: No such file or directory"));
}

int main(void)
{
	char command[PATH_MAX];

	ksft_print_header();
	ksft_set_plan(13);
	test_order(1);
	test_order(2);
	test_order(0);
	test_gate();
	test_deaths();
	test_nothing();
	test_trees();
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	if (system(command))
		ksft_print_msg("cannot remove %s\n", directory);
	ksft_finished();
}
