// SPDX-License-Identifier: GPL-2.0
/* Parsing /proc/PID/maps: odd names, every kind, and text that no kernel writes. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "maps.h"

#include "../kselftest.h"

static const char canned[] =
"00400000-00401000 r--p 00000000 fd:01 1048600                            /usr/bin/plain\n"
"00401000-00402000 r-xp 00001000 fd:01 1048600                            /usr/bin/plain\n"
"00403000-00404000 rw-p 00003000 fd:01 1048600                            /usr/bin/plain\n"
"01000000-01021000 rw-p 00000000 00:00 0                                  [heap]\n"
"10000000-10001000 r-xs 7ffffffff000 103:0a 18446744073709551615          /a name  with spaces \n"
"10001000-10002000 r-xp 00000000 00:2f 7                                  /two\\012lines\n"
"20000000-20001000 r-xp 00000000 00:2f 8                                  /gone (deleted)\n"
"30000000-30001000 rwxp 00000000 00:00 0 \n"
"30001000-30002000 --xp 00000000 00:00 0                                  [anon:jit code]\n"
"40000000-40001000 r-xs 00000000 00:01 9                                  /memfd:jit (deleted)\n"
"50000000-50001000 r-xp 00000000 00:2f 10                                 /back\\slash \\01\n"
"60000000-60001000 r-xp 00000000 00:00 0                                  [uprobes]\n"
"7f0000000000-7f0000002000 r-xp 00000000 00:00 0                          [vdso]\n"
"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n";

#define NAME(text)	((char[]){ text })

static const struct mapping expected[] = {
	{ 0x401000, 0x402000, 0x1000, 1048600, 0xfd, 1, MAPPING_FILE, false, NAME("/usr/bin/plain") },
	{ 0x10000000, 0x10001000, 0x7ffffffff000, UINT64_MAX, 0x103, 0xa, MAPPING_FILE, false,
	  NAME("/a name  with spaces ") },
	{ 0x10001000, 0x10002000, 0, 7, 0, 0x2f, MAPPING_FILE, false, NAME("/two\nlines") },
	{ 0x20000000, 0x20001000, 0, 8, 0, 0x2f, MAPPING_FILE, true, NAME("/gone") },
	{ 0x30000000, 0x30001000, 0, 0, 0, 0, MAPPING_ANON, false, NAME("") },
	{ 0x30001000, 0x30002000, 0, 0, 0, 0, MAPPING_ANON, false, NAME("[anon:jit code]") },
	{ 0x40000000, 0x40001000, 0, 9, 0, 1, MAPPING_FILE, true, NAME("/memfd:jit") },
	{ 0x50000000, 0x50001000, 0, 10, 0, 0x2f, MAPPING_FILE, false, NAME("/back\\slash \\01") },
	{ 0x60000000, 0x60001000, 0, 0, 0, 0, MAPPING_ANON, false, NAME("[uprobes]") },
	{ 0x7f0000000000, 0x7f0000002000, 0, 0, 0, 0, MAPPING_VDSO, false, NAME("[vdso]") },
	{ 0xffffffffff600000, 0xffffffffff601000, 0, 0, 0, 0, MAPPING_VSYSCALL, false,
	  NAME("[vsyscall]") },
};

#define NEXPECTED	(sizeof(expected) / sizeof(expected[0]))

static bool mapping_equal(const struct mapping *a, const struct mapping *b)
{
	return a->start == b->start && a->end == b->end && a->offset == b->offset &&
	       a->inode == b->inode && a->major == b->major && a->minor == b->minor &&
	       a->kind == b->kind && a->deleted == b->deleted && !strcmp(a->path, b->path);
}

static void test_canned(void)
{
	struct maps maps;
	bool parsed = !maps_parse(canned, &maps);
	size_t i;

	ksft_test_result(parsed && maps.count == NEXPECTED,
			 "only executable mappings, all of them\n");
	for (i = 0; i < NEXPECTED; i++) {
		const struct mapping *m = i < maps.count ? &maps.mapping[i] : NULL;

		ksft_test_result(m && mapping_equal(m, &expected[i]), "mapping %zu: %s\n", i,
				 strchr(expected[i].path, '\n') ? "(newline)" :
				 expected[i].path);
	}
	maps_free(&maps);
}

static const char *const refused[] = {
	"nonsense\n",
	"1000-2000 r-xp 00000000 00:00\n",
	"1000 r-xp 00000000 00:00 0\n",
	"2000-1000 r-xp 00000000 00:00 0 \n",
	"1000-1000 r-xp 00000000 00:00 0 \n",
	"1000-2000 r-x 00000000 00:00 0 \n",
	"1000-2000 r-xpp 00000000 00:00 0 \n",
	"2000-3000 r-xp 00000000 00:00 0 \n1000-2000 r-xp 00000000 00:00 0 \n",
	"1000-3000 r-xp 00000000 00:00 0 \n2000-4000 r-xp 00000000 00:00 0 \n",
	"\n",
};

#define NREFUSED	(sizeof(refused) / sizeof(refused[0]))

static void test_refused(void)
{
	size_t i;

	for (i = 0; i < NREFUSED; i++) {
		struct maps maps;

		ksft_test_result(maps_parse(refused[i], &maps) == -EINVAL,
				 "no kernel writes: %.*s\n", (int)strcspn(refused[i], "\n"),
				 refused[i]);
		maps_free(&maps);
	}
}

static bool check_truncated(void)
{
	char text[sizeof(canned)];
	size_t i;

	for (i = 0; i < sizeof(canned); i++) {
		struct maps maps;
		int ret;

		memcpy(text, canned, i);
		text[i] = '\0';
		ret = maps_parse(text, &maps);
		maps_free(&maps);
		if (ret && ret != -EINVAL)
			return false;
	}
	return true;
}

/* A name may be as long as PATH_MAX after escaping, and the line without a newline. */
static bool check_long_name(void)
{
	static char text[80 + 5000];
	struct maps maps;
	bool good;
	int n;

	n = snprintf(text, sizeof(text), "1000-2000 r-xp 00000000 00:01 5 /");
	memset(text + n, 'x', 4095);
	good = !maps_parse(text, &maps) && maps.count == 1 &&
	       strlen(maps.mapping[0].path) == 4096;
	maps_free(&maps);
	return good;
}

static bool check_many(void)
{
	size_t i, n = 10000, size = n * 64;
	char *text = malloc(size), *at = text;
	struct maps maps;
	bool good;

	if (!text)
		return false;
	for (i = 0; i < n; i++)
		at += sprintf(at, "%zx-%zx r-xp 00000000 00:00 0 \n", i << 12, (i + 1) << 12);
	good = !maps_parse(text, &maps) && maps.count == n;
	maps_free(&maps);
	free(text);
	return good;
}

static bool check_same(void)
{
	struct maps a, b;
	bool good;

	good = !maps_parse(canned, &a) && !maps_parse(canned, &b) && maps_are_same(&a, &b);
	if (good) {
		b.mapping[3].offset++;
		good = !maps_are_same(&a, &b);
		b.mapping[3].offset--;
		b.count--;
		good = good && !maps_are_same(&a, &b);
		b.count++;
	}
	maps_free(&a);
	maps_free(&b);
	return good;
}

/* Our own main() is in one of our mappings, whose file opens and is ours. */
static bool check_self(void)
{
	struct stat exe, mapped;
	struct maps maps;
	bool found = false;
	size_t i;

	if (maps_read(getpid(), &maps) || stat("/proc/self/exe", &exe))
		return false;
	for (i = 0; i < maps.count; i++) {
		const struct mapping *m = &maps.mapping[i];
		uint64_t here = (uint64_t)(uintptr_t)check_self;
		char why[256];
		int fd;

		if (here < m->start || here >= m->end)
			continue;
		fd = mapping_open(getpid(), m, why, sizeof(why));
		found = fd >= 0 && !fstat(fd, &mapped) && mapped.st_ino == exe.st_ino;
		if (fd >= 0)
			close(fd);
		else
			ksft_print_msg("%s\n", why);
	}
	maps_free(&maps);
	return found;
}

static int open_as(const char *path, unsigned int minor_off, uint64_t inode_off)
{
	struct mapping m = { .start = 1, .end = 2, .kind = MAPPING_FILE };
	struct maps maps;
	int fd = -1;

	/* Like our own program, so that only the name or the numbers are wrong. */
	if (!maps_read(getpid(), &maps) && maps.count) {
		m.major = maps.mapping[0].major;
		m.minor = maps.mapping[0].minor + minor_off;
		m.inode = maps.mapping[0].inode + inode_off;
		m.path = path ? (char *)path : maps.mapping[0].path;
		fd = mapping_open_by_path(getpid(), &m);
	}
	maps_free(&maps);
	return fd;
}

static bool check_by_path(void)
{
	int fd = open_as(NULL, 0, 0);

	if (fd < 0)
		return false;
	close(fd);
	return open_as(NULL, 1, 0) == -ESTALE && open_as(NULL, 0, 1) == -ESTALE &&
	       open_as("/bin/sh", 0, 0) == -ESTALE;
}

/* Opening a FIFO that nobody writes would wait for ever, and a device might act. */
static bool check_not_regular(void)
{
	char dir[] = "/tmp/maps_test.XXXXXX", fifo[64];
	bool good;

	if (!mkdtemp(dir))
		return false;
	snprintf(fifo, sizeof(fifo), "%s/fifo", dir);
	good = !mkfifo(fifo, 0600) && open_as(fifo, 0, 0) == -ENXIO &&
	       open_as("/dev/null", 0, 0) == -ENXIO;
	unlink(fifo);
	rmdir(dir);
	return good;
}

static bool check_vdso(void)
{
	char why[256], magic[4] = "";
	int fd = mapping_open_vdso(why, sizeof(why));
	bool good;

	if (fd < 0) {
		ksft_print_msg("%s\n", why);
		return false;
	}
	good = pread(fd, magic, 4, 0) == 4 && !memcmp(magic, "\177ELF", 4);
	close(fd);
	return good;
}

int main(void)
{
	struct maps maps;

	ksft_print_header();
	ksft_set_plan(1 + NEXPECTED + NREFUSED + 10);
	test_canned();
	test_refused();
	ksft_test_result(!maps_parse("", &maps) && !maps.count, "empty text\n");
	ksft_test_result(check_truncated(), "text cut off anywhere\n");
	ksft_test_result(check_long_name(), "a name as long as names get\n");
	ksft_test_result(check_many(), "10,000 mappings\n");
	ksft_test_result(check_same(), "comparing two looks\n");
	ksft_test_result(check_self(), "our own mappings and the file behind them\n");
	ksft_test_result(check_by_path(), "by name only what has the same device and inode\n");
	ksft_test_result(check_not_regular(), "neither pipes nor devices are opened\n");
	ksft_test_result(check_vdso(), "the vDSO as a file\n");
	ksft_test_result(maps_read(0x3fffffff, &maps) == -ENOENT, "no such process\n");
	ksft_finished();
}
