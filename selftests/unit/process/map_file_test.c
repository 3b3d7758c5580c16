// SPDX-License-Identifier: GPL-2.0
/* Opening the file of a mapping: by /proc/PID/map_files, and by its name. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest.h"
#include "map_file.h"

static char path[] = "/tmp/map_file_test.XXXXXX";

/* This process has the file mapped there. */
static struct mapping mapping;

/* Opens @mapping; the file has @text, or with @text NULL it fails with @code. */
static bool opens(const struct mapping *where, const char *text, const char *wanted, int code)
{
	struct bee_error why = {};
	char got[64] = "", name[64];
	int fd = map_file_open(where, name, sizeof(name), &why);
	bool good;

	if (fd < 0)
		return !text && why.code == code && why.text[0];
	good = text && read(fd, got, sizeof(got) - 1) >= 0 && !strcmp(got, text) && !strcmp(name, wanted);
	close(fd);
	return good;
}

static bool check_mapped(void)
{
	struct mapping larger = mapping, none = mapping;

	/* The mapping may have become smaller: part of the range is enough. */
	larger.end += 4096;
	none.start = 4096;
	none.end = 8192;
	return opens(&mapping, "file\n", path, 0) && opens(&larger, "file\n", path, 0) &&
	       opens(&none, NULL, "", ENOENT) && opens(&(struct mapping){ 0x3fffffff, 0, 1 }, NULL, "", ENOENT);
}

/* Without privileges: in a child of another user, which has the mapping, too. */
static bool check_named(void)
{
	struct mapping here = mapping;
	int status;

	fflush(NULL);
	if (!fork()) {
		if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
			_exit(2);
		here.pid = getpid();
		_exit(!opens(&here, "file\n", path, 0));
	}
	return wait(&status) > 0 && !status;
}

/* The name leads to another file now: only the mapping leads to the one that is mapped. */
static bool check_replaced(void)
{
	char deleted[sizeof(path) + 10];
	FILE *file;

	unlink(path);
	file = fopen(path, "w");
	if (!file || fputs("other\n", file) < 0 || fclose(file))
		return false;
	snprintf(deleted, sizeof(deleted), "%s (deleted)", path);
	return opens(&mapping, "file\n", deleted, 0);
}

/* Only regular files are opened: a device might act. */
static bool check_not_regular(void)
{
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	void *at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	struct mapping zero = { getpid(), (uintptr_t)at, (uintptr_t)at + 4096 };

	close(fd);
	return opens(&zero, NULL, "", ENXIO);
}

static bool check_vdso(void)
{
	struct bee_error why = {};
	char magic[4] = "";
	int fd = map_file_open_vdso(&why);
	bool good = fd >= 0 && pread(fd, magic, 4, 0) == 4 && !memcmp(magic, "\177ELF", 4);

	if (fd >= 0)
		close(fd);
	return good;
}

int main(void)
{
	int fd = mkstemp(path);
	void *at;

	if (fd < 0 || write(fd, "file\n", 5) != 5 || fchmod(fd, 0644))
		return 1;
	at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	mapping = (struct mapping){ getpid(), (uintptr_t)at, (uintptr_t)at + 4096 };
	ksft_print_header();
	ksft_set_plan(5);
	ksft_test_result(check_vdso(), "the vDSO is opened as a file\n");
	if (geteuid()) {
		ksft_test_result_skip("a mapped file is opened by its mapping # SKIP needs root\n");
		ksft_test_result_skip("a mapped file is opened by its name # SKIP needs root\n");
		ksft_test_result_skip("a mapped file that was replaced is opened by its mapping # SKIP needs root\n");
		ksft_test_result_skip("a mapped device is not opened # SKIP needs root\n");
	} else {
		ksft_test_result(check_mapped(), "a mapped file is opened by its mapping\n");
		ksft_test_result(check_named(), "a mapped file is opened by its name\n");
		ksft_test_result(check_replaced(), "a mapped file that was replaced is opened by its mapping\n");
		ksft_test_result(check_not_regular(), "a mapped device is not opened\n");
	}
	unlink(path);
	ksft_finished();
}
