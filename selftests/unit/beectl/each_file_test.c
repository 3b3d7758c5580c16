// SPDX-License-Identifier: GPL-2.0
/* each_file_run(): what it reports for files that succeed, fail, or kill their worker. */
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "each_file.h"
#include "kselftest.h"

static char directory[] = "/tmp/each_file_test.XXXXXX";

/* A line for each call of done() and failed(). */
static char told[4096];

__attribute__((format(printf, 1, 2)))
static void tell(const char *format, ...)
{
	size_t length = strlen(told);
	va_list args;

	va_start(args, format);
	vsnprintf(told + length, sizeof(told) - length, format, args);
	va_end(args);
}

static const char *name_of(const struct input_file *file)
{
	return strrchr(file->path, '/') + 1;
}

/* The file's first byte chooses the outcome: k, e, s, or anything else for success. */
static int work(void *arg, const struct input_file *file, int fd, FILE *out,
		struct bee_error *error)
{
	char byte = 0;
	int report = 42;

	(void)arg;
	(void)file;
	if (read(fd, &byte, 1) != 1)
		return error_set(error, 0, "empty");
	if (byte == 'k')
		raise(SIGKILL);
	if (byte == 'e')
		return error_set(error, 0, "it says so");
	if (byte == 's')
		fwrite(&report, 1, 1, out);
	else
		fwrite(&report, sizeof(report), 1, out);
	/* An error text is ignored if work() returns 0. */
	error_set(error, 0, "of no importance");
	return 0;
}

static void done(void *arg, const struct input_file *file, const void *report, size_t size)
{
	(void)arg;
	tell("%s: %d, %zu bytes\n", name_of(file), *(const int *)report, size);
}

static void failed(void *arg, const struct input_file *file, const char *why, bool died)
{
	(void)arg;
	tell("%s: %s%s -> %d\n", name_of(file), why, died ? " (died)" : "",
	     each_file_status(file, died));
}

static void file_add(struct input_files *files, const char *name, const char *text, bool found)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	if (text) {
		file = fopen(path, "w");
		fputs(text, file);
		fclose(file);
	}
	input_files_add(files, path);
	files->file[files->count - 1].found = found;
}

/* Replace a file by a symbolic link. */
static bool replace(const char *name, const char *target)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return !unlink(path) && !symlink(target, path);
}

/* The callbacks are called in the order of the files, whichever worker ends first. */
static bool check_all(void)
{
	static const char expected[] =
		"fine: 42, 4 bytes\n"
		"error: it says so -> 0\n"
		"named: it says so -> 1\n"
		"killer: killed by signal 9 (Killed) (died) -> 1\n"
		"short: its process ended without a result; please report it (died) -> 1\n"
		"none: No such file or directory -> 1\n"
		"last: 42, 4 bytes\n"
		"other: cannot open: another file has its name by now -> 0\n"
		"device: cannot open: not a regular file -> 0\n";
	struct input_files files = { 0 };
	const struct each_file each = {
		.command = "test", .files = &files, .jobs = 3, .report_size = sizeof(int),
		.work = work, .done = done, .failed = failed,
	};
	int status;

	file_add(&files, "fine", "f", true);
	file_add(&files, "error", "e", true);
	file_add(&files, "named", "e", false);
	file_add(&files, "killer", "k", true);
	file_add(&files, "short", "s", true);
	file_add(&files, "none", NULL, true);
	file_add(&files, "last", "l", false);
	/* Since they were listed one has become another file, and one a link to a device. */
	file_add(&files, "other", "o", true);
	file_add(&files, "device", "d", true);
	if (!replace("other", "last") || !replace("device", "/dev/null"))
		return false;
	status = each_file_run(&each);
	input_files_free(&files);
	if (status == EXIT_OK && !strcmp(told, expected))
		return true;
	ksft_print_msg("status %d:\n%s", status, told);
	return false;
}

static bool check_none(void)
{
	struct input_files files = { 0 };
	const struct each_file each = { .command = "test", .files = &files };
	int saved = dup(STDERR_FILENO), status;
	char said[256] = "";
	FILE *file = tmpfile();

	dup2(fileno(file), STDERR_FILENO);
	status = each_file_run(&each);
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(file);
	said[fread(said, 1, sizeof(said) - 1, file)] = '\0';
	fclose(file);
	return status == EXIT_FAILED &&
	       !strcmp(said, "beectl: test: no x86-64 executable or shared object below what was named\n");
}

int main(void)
{
	char command[64];
	bool all, none;

	ksft_print_header();
	ksft_set_plan(2);
	if (!mkdtemp(directory))
		return 1;
	all = check_all();
	none = check_none();
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	ksft_test_result(all, "files that are fine, fail, and kill the worker\n");
	ksft_test_result(none && !system(command), "work on no files\n");
	ksft_finished();
}
