// SPDX-License-Identifier: GPL-2.0
/* Finding the files of layers below a real overlayfs, in a mount namespace of its own. */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "layers.h"

#include "kselftest.h"

#define TOP	"/tmp"
/* Characters that mountinfo or overlayfs escapes; the option has a backslash before the colon. */
#define LOW1	TOP "/a b,c:d"
#define LOW2	TOP "/low2"
#define OPTIONS	"lowerdir=" TOP "/a b\\,c\\:d:" LOW2 ",upperdir=" TOP "/up,workdir=" TOP "/work"

static char found[8][64];
static int nfound;
static const char *wanted;

static bool write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	return file && fputs(text, file) >= 0 && !fclose(file);
}

/* For layers_search(): notes the content, and stops at the wanted one. */
static bool take(void *arg, int pin)
{
	struct bee_error why;
	char *text = found[nfound++ % 8];
	int fd = map_file_open(arg, pin, &why);

	memset(text, 0, sizeof(found[0]));
	if (fd < 0 || read(fd, text, sizeof(found[0]) - 1) < 0)
		return false;
	close(fd);
	return wanted && !strcmp(text, wanted);
}

static bool search(const char *path, const char *what)
{
	struct mapping mapping = { .pid = getpid(), .path = path };

	nfound = 0;
	wanted = what;
	return layers_search(&mapping, take, &mapping);
}

static int prepare(void)
{
	if (unshare(geteuid() ? CLONE_NEWUSER | CLONE_NEWNS : CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", TOP, "tmpfs", 0, NULL))
		return -1;
	mkdir(LOW1, 0700);
	mkdir(LOW2, 0700);
	mkdir(LOW2 "/dir", 0700);
	mkdir(TOP "/up", 0700);
	mkdir(TOP "/work", 0700);
	mkdir(TOP "/over", 0700);
	mkdir(TOP "/bind", 0700);
	if (!write_file(LOW1 "/name", "first") || !write_file(LOW2 "/name", "second") ||
	    !write_file(LOW2 "/side", "beside") || !write_file(LOW2 "/dir/name", "deep") ||
	    mount("none", TOP "/over", "overlay", 0, OPTIONS) ||
	    mount(TOP "/over/dir", TOP "/bind", NULL, MS_BIND, NULL))
		return -1;
	return 0;
}

static bool check_first(void)
{
	return search(TOP "/over/name", "first") && nfound == 1;
}

static bool check_second(void)
{
	return search(TOP "/over/name", "second") && nfound >= 2;
}

static bool check_all(void)
{
	bool first, second;

	if (search(TOP "/over/name", NULL) || !nfound)
		return false;
	first = !strcmp(found[0], "first");
	second = !strcmp(found[nfound - 1], "second");
	return first && second;
}

static bool check_bind(void)
{
	return search(TOP "/bind/name", "deep");
}

static bool check_outside(void)
{
	/* A layer has "side", but the overlay is not mounted on a directory of that path. */
	return !search(TOP "/overside", NULL) && !nfound && !search("name", NULL) && !nfound;
}

int main(void)
{
	ksft_print_header();
	if (prepare()) {
		ksft_set_plan(1);
		ksft_test_result_skip("layers # SKIP may not mount an overlayfs\n");
		ksft_finished();
	}
	ksft_set_plan(5);
	ksft_test_result(check_first(), "the first layer, whose name is escaped\n");
	ksft_test_result(check_second(), "the second layer\n");
	ksft_test_result(check_all(), "all, if none is the wanted one\n");
	ksft_test_result(check_bind(), "a directory of the overlay that is mounted elsewhere\n");
	ksft_test_result(check_outside(), "none for names outside\n");
	ksft_finished();
}
