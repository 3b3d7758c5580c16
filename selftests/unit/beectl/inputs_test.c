// SPDX-License-Identifier: GPL-2.0
/* Which input files the arguments of a command line name. */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inputs.h"
#include "kselftest.h"

static char directory[] = "/tmp/inputs_test.XXXXXX";

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

/* Are @files the @expected ones, each "path" or "path: why" with a path below the directory? */
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
	ksft_set_plan(7);
	test_trees();
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	if (system(command))
		ksft_print_msg("cannot remove %s\n", directory);
	ksft_finished();
}
