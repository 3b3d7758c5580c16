// SPDX-License-Identifier: GPL-2.0
/* Tables for mapped files: which files need one, and the result for each. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fake_netlink.h"
#include "kselftest.h"
#include "table_jobs.h"

static char directory[] = "/tmp/table_jobs_test.XXXXXX";
static char self[256];	/* an ELF file: this program */
static struct lossy_options lossy;
static struct table_result got[4];
static size_t ngot;

static bool check_refusals(void)
{
	static const int general[] = { EPERM, ENOSPC, ENOMEM, BEE_ERROR_NO_MODULE, EIO, EPROTO };
	static const int single[] = { 0, EINVAL, ENOENT, ESTALE, EBUSY, EEXIST, EDQUOT };
	bool good = true;
	size_t i;

	for (i = 0; i < sizeof(general) / sizeof(general[0]); i++)
		good &= table_jobs_refusal_is_general(general[i]);
	for (i = 0; i < sizeof(single) / sizeof(single[0]); i++)
		good &= !table_jobs_refusal_is_general(single[i]);
	return good && table_jobs_refusal_may_pass(ENOSPC) && table_jobs_refusal_may_pass(ENOMEM) &&
	       table_jobs_refusal_may_pass(EDQUOT) && !table_jobs_refusal_may_pass(EPERM) &&
	       !table_jobs_refusal_may_pass(EINVAL) && !table_jobs_refusal_may_pass(0);
}

/* The first general refusal is kept, and only that. */
static bool check_first_refusal(void)
{
	struct table_result result = { .refusal = EBUSY, .error = { .text = "busy" } };
	struct table_want want = { .name = "/first" };
	struct bee_error error = { 0 };
	bool good = !table_jobs_note_refusal(&want, &result, &error) && !error.code;

	result.refusal = ENOSPC;
	strcpy(result.error.text, "full");
	good &= table_jobs_note_refusal(&want, &result, &error);
	strcpy(want.name, "/second");
	return good && table_jobs_note_refusal(&want, &result, &error) && error.code == ENOSPC &&
	       !strcmp(error.text, "/first: full");
}

static bool is_unreadable;

/* Takes the place of libc's pread(), and fails as on a broken disk while @is_unreadable is set. */
ssize_t pread(int fd, void *to, size_t size, off_t offset)
{
	if (!is_unreadable)
		return syscall(SYS_pread64, fd, to, size, offset);
	errno = EIO;
	return -1;
}

/* What a child has told before it died. */
static bool check_died(void)
{
	struct table_result before = table_jobs_result("", 0, "killed"), after = table_jobs_result("o", 1, "killed");

	return before.source == TABLE_NONE && !before.opened && after.source == TABLE_NONE &&
	       after.opened && strstr(after.error.text, "killed");
}

/* Whether the kernel kills this process before all others. */
static bool is_first_to_go(void)
{
	FILE *file = fopen("/proc/self/oom_score_adj", "r");
	int value = 0;
	bool good = file && fscanf(file, "%d", &value) == 1;

	if (file)
		fclose(file);
	return good && value == 1000;
}

/* In a child: a file gets CPU time beyond what is used, but not beyond what the process may use. */
static bool check_limit(void)
{
	struct rlimit cpu, core;
	int status;
	bool good;

	fflush(NULL);
	if (!fork()) {
		getrlimit(RLIMIT_CORE, &core);
		core.rlim_cur = core.rlim_max;
		setrlimit(RLIMIT_CORE, &core);
		alarm(30);
		table_jobs_limit();
		good = alarm(0) > 30 && !getrlimit(RLIMIT_CORE, &core) && core.rlim_cur <= 1 && !getrlimit(RLIMIT_CPU, &cpu) &&
		       cpu.rlim_cur == clock() / CLOCKS_PER_SEC + TABLE_JOBS_SECONDS;
		cpu = (struct rlimit){ 50, 50 };
		good = good && !setrlimit(RLIMIT_CPU, &cpu);
		table_jobs_limit();
		_exit(!good || getrlimit(RLIMIT_CPU, &cpu) || cpu.rlim_cur != 50 ||
		      !is_first_to_go());
	}
	return wait(&status) > 0 && !status;
}

/* Four files: with a table; mapped twice; not mapped; mapped by an unknown process (pid 0). */
static bool check_select(void)
{
	struct netlink_file file[] = {
		{ .id = 7, .name = "/loaded", .loaded = true },
		{ .id = 3, .name = "/twice", .inode = 33, .size = 333, .device = 5 },
		{ .id = 9, .name = "/nowhere" },
		{ .id = 4, .name = "/nobody" },
	};
	struct range first[] = { { 0x1000, 0x2000, 0, 7 }, { 0x3000, 0x4000, 0, 3 },
				 { 0x5000, 0x6000, 0, 0 }, { 0x7000, 0x8000, 0, 3 } };
	struct range second[] = { { 0x1000, 0x2000, 0, 4 } };
	struct netlink_proc proc[] = {
		{ .pid = 100, .ranges = { .range = first, .count = 4 } },
		{ .pid = 0, .ranges = { .range = second, .count = 1 } },
	};
	struct netlink_files files = { .file = file, .count = 4 };
	struct netlink_procs procs = { .proc = proc, .count = 2 };
	struct table_wants wants = { 0 };
	const struct table_want *want;
	bool good;

	table_jobs_select(&files, &procs, &wants);
	want = wants.want;
	good = wants.count == 1 && want->id == 3 && !strcmp(want->name, "/twice") &&
	       want->device == 5 && want->mapping.pid == 100 && want->mapping.inode == 33 &&
	       want->mapping.size == 333 && want->pin == -ENOENT &&
	       (want->mapping.start == 0x3000 || want->mapping.start == 0x7000) &&
	       want->mapping.end == want->mapping.start + 0x1000 && !file[1].pid;
	table_jobs_free(&wants);
	procs.count = 0;
	table_jobs_select(&files, &procs, &wants);
	return good && !wants.count && !wants.want;
}

static void done(void *arg, const struct table_want *want, const struct table_result *result)
{
	(void)arg;
	(void)want;
	got[ngot++] = *result;
}

static void want_path(struct table_wants *wants, const char *path, uint32_t id)
{
	struct netlink_file file = { .id = id, .device = 5 };
	struct stat st = { 0 };

	stat(path, &st);
	file.size = st.st_size;
	file.inode = st.st_ino;
	snprintf(file.name, sizeof(file.name), "%s", path);
	table_jobs_add(wants, &file);
}

static bool run(struct table_wants *wants)
{
	struct table_maker maker = {
		.cache = cache_open(), .lossy = lossy, .done = done, .jobs = 2, .mark = true,
	};
	int ret;

	ngot = 0;
	ret = table_jobs_run(&maker, wants);
	cache_close(maker.cache);
	table_jobs_free(wants);
	return !ret;
}

static bool check_no_table(void)
{
	struct table_wants wants = { 0 };
	char text[64];
	FILE *file;

	snprintf(text, sizeof(text), "%s/text", directory);
	file = fopen(text, "w");
	fputs("text\n", file);
	fclose(file);
	fake_reset();
	want_path(&wants, "/nonexistent", 1);
	want_path(&wants, text, 2);
	return run(&wants) && ngot == 2 && got[0].source == TABLE_NONE && !got[0].opened &&
	       !strcmp(got[0].error.text, "no longer mapped, and not found by its name") &&
	       got[1].source == TABLE_NONE && got[1].opened && !got[1].refusal &&
	       strstr(got[1].error.text, "not an ELF file") && !unlink(text);
}

/* One that cannot have a table gets an empty one; one that cannot be read now does not. */
static bool check_mark(void)
{
	struct table_wants wants = { 0 };
	char text[64];
	FILE *file;
	bool good;

	snprintf(text, sizeof(text), "%s/text", directory);
	file = fopen(text, "w");
	fputs("text\n", file);
	fclose(file);
	fake_reset();
	fake.added_id = 2;
	want_path(&wants, text, 2);
	is_unreadable = true;
	good = run(&wants) && got[0].source == TABLE_NONE && !got[0].opened &&
	       got[0].error.code == EIO && !*fake.adds;
	is_unreadable = false;
	want_path(&wants, text, 2);
	return good && run(&wants) && got[0].source == TABLE_NONE && got[0].opened && *fake.adds == 1 &&
	       !unlink(text);
}

static bool check_added(void)
{
	struct table_wants wants = { 0 };

	fake_reset();
	fake.added_id = 8;
	want_path(&wants, self, 8);
	if (!run(&wants) || ngot != 1 || got[0].source != TABLE_COMPILED || !got[0].bytes)
		return false;
	want_path(&wants, self, 8);
	return run(&wants) && got[0].source == TABLE_CACHED && got[0].opened && *fake.adds == 2;
}

static bool check_refused(void)
{
	struct table_wants wants = { 0 };

	fake_reset();
	fake.add_code = ENOSPC;
	want_path(&wants, self, 8);
	return run(&wants) && got[0].source == TABLE_NONE && got[0].opened &&
	       got[0].refusal == ENOSPC && !strcmp(got[0].error.text, "its table was refused: no");
}

/* What is found under the wanted file's name is that file if its inode is, also with another id. */
static bool check_other_id(void)
{
	struct table_wants wants = { 0 };
	bool good;

	fake_reset();
	fake.added_id = fake.open_id = 9;
	want_path(&wants, self, 8);
	good = run(&wants) && got[0].source == TABLE_CACHED && *fake.adds == 1;
	want_path(&wants, self, 8);
	wants.want[0].mapping.inode++;
	return good && run(&wants) && got[0].source == TABLE_NONE && !got[0].opened &&
	       got[0].error.code == ESTALE && *fake.adds == 1 &&
	       !strcmp(got[0].error.text, "no longer mapped, and another file has its name");
}

/* A deleted file: the process that was named has ended, and this one has the file mapped. */
static bool check_other_user(void)
{
	struct table_wants wants = { 0 };
	char gone[64], copy[400];
	size_t size;
	void *map;
	int fd;

	snprintf(gone, sizeof(gone), "%s/gone", directory);
	snprintf(copy, sizeof(copy), "cp '%s' %s", self, gone);
	if (system(copy))
		return false;
	fake_reset();
	fake.added_id = fake.open_id = 8;
	want_path(&wants, gone, 8);
	wants.want[0].mapping.pid = 0x3fffffff;
	size = wants.want[0].mapping.size;
	fd = open(gone, O_RDONLY | O_CLOEXEC);
	map = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	unlink(gone);
	if (map == MAP_FAILED)
		return false;
	fake.pid = getpid();
	fake.nranges = 1;
	fake.range[0] = (struct range){ (uintptr_t)map, (uintptr_t)map + size, 0, 8 };
	if (!run(&wants) || got[0].source == TABLE_NONE)
		ksft_print_msg("%s\n", got[0].error.text);
	munmap(map, size);
	return got[0].source != TABLE_NONE && *fake.adds == 1;
}

/*
 * Another file is mapped by now where the wanted one was: no table is made for the other, and the
 * wanted one is found by its name.
 */
static bool check_other_mapped(void)
{
	struct table_wants wants = { 0 };

	fake_reset();
	fake.added_id = 8;
	want_path(&wants, self, 8);
	wants.want[0].pin = open("/bin/sh", O_PATH | O_CLOEXEC);
	return wants.want[0].pin >= 0 && run(&wants) && got[0].source == TABLE_CACHED &&
	       *fake.adds == 1;
}

/* A file that the module has a table of by now is not compiled again. */
static bool check_stored(void)
{
	struct table_wants wants = { 0 };
	struct stat st = { 0 };

	fake_reset();
	stat(self, &st);
	fake.nfiles = 1;
	fake.file[0] = (struct netlink_file){ .id = 9, .loaded = true, .inode = st.st_ino };
	want_path(&wants, self, 8);
	return run(&wants) && got[0].source == TABLE_STORED && !*fake.adds;
}

/* With cached_only, a file that is not in the cache is left, and one whose table is another there. */
static bool check_cached_only(void)
{
	struct table_wants wants = { 0 };
	bool good;

	fake_reset();
	fake.added_id = fake.open_id = 8;
	want_path(&wants, "/bin/sh", 8);
	wants.want[0].cached_only = true;
	good = run(&wants) && got[0].source == TABLE_NONE && got[0].left && !*fake.adds;
	want_path(&wants, self, 8);
	wants.want[0].cached_only = true;
	good = good && run(&wants) && got[0].source == TABLE_CACHED && !got[0].left &&
	       *fake.adds == 1;
	lossy.cfi_only = true;
	want_path(&wants, self, 8);
	wants.want[0].cached_only = true;
	good = good && run(&wants) && got[0].source == TABLE_NONE && got[0].left &&
	       *fake.adds == 1;
	lossy.cfi_only = false;
	return good;
}

/* What is in the cache is loaded by one child, with one connection, and told of in order. */
static bool check_one_child(void)
{
	struct table_wants wants = { 0 };
	size_t i;

	fake_reset();
	for (i = 0; i < 4; i++)
		want_path(&wants, i == 2 ? "/nonexistent" : self, 0);
	if (!run(&wants) || ngot != 4 || *fake.clones != 2 || *fake.adds != 3)
		return false;
	for (i = 0; i < 4; i++)
		if (got[i].source != (i == 2 ? TABLE_NONE : TABLE_CACHED) || got[i].opened == (i == 2) ||
		    !got[i].bytes != (i == 2))
			return false;
	return true;
}

/* The child stays at a file, and is ended: this file and those behind it get children of their own. */
static bool check_stuck(void)
{
	struct table_wants wants = { 0 };
	struct stat st = { 0 };
	size_t i;

	fake_reset();
	stat(self, &st);
	fake.deadly = st.st_ino;
	want_path(&wants, "/nonexistent", 0);
	for (i = 0; i < 3; i++)
		want_path(&wants, self, 0);
	return run(&wants) && ngot == 4 && *fake.deaths == 1 && *fake.clones == 5 &&
	       got[0].source == TABLE_NONE && got[1].source == TABLE_CACHED &&
	       got[2].source == TABLE_CACHED && got[3].source == TABLE_CACHED && *fake.adds == 3;
}

/* The module finds a table from the cache damaged: another attempt reads and checks it first. */
static bool check_damaged(void)
{
	struct table_wants wants = { 0 };

	fake_reset();
	fake.add_code = EINVAL;
	fake.refuse = 2;	/* in the child for all files, and in that of the file */
	want_path(&wants, self, 0);
	if (!run(&wants) || got[0].source != TABLE_CACHED || got[0].refusal || *fake.refused != 2)
		return false;
	/* If it has no room, it need not be asked again in this child and the next. */
	fake_reset();
	fake.add_code = ENOSPC;
	want_path(&wants, self, 0);
	if (!run(&wants) || got[0].source != TABLE_NONE || got[0].refusal != ENOSPC ||
	    *fake.refused != 1)
		return false;
	fake_reset();
	fake.add_code = EDQUOT;
	want_path(&wants, self, 0);
	return run(&wants) && got[0].source == TABLE_NONE && got[0].refusal == EDQUOT &&
	       *fake.refused == 1;
}

static bool check_find(void)
{
	struct table_wants wants = { 0 };
	struct bee_error error;
	bool good;

	fake_reset();
	fake.pid = 100;
	fake.nfiles = fake.nranges = 1;
	fake.file[0] = (struct netlink_file){ .id = 2, .name = "/x" };
	fake.range[0] = (struct range){ 0x1000, 0x2000, 0, 2 };
	good = !table_jobs_find(NULL, 0, &wants, &error) && wants.count == 1;
	good &= !table_jobs_find(NULL, 101, &wants, &error) && wants.count == 1;
	table_jobs_free(&wants);
	return good;
}

int main(void)
{
	char command[64];

	ksft_print_header();
	ksft_set_plan(18);
	if (!mkdtemp(directory) || readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 1;
	setenv("BEEUNWIND_CACHE", directory, 1);
	ksft_test_result(check_refusals(), "refusals that are about all files, or one\n");
	ksft_test_result(check_limit(), "what a file may cost\n");
	ksft_test_result(check_first_refusal(), "the first general refusal is kept\n");
	ksft_test_result(check_select(), "mapped files without a table\n");
	ksft_test_result(check_find(), "of one process, or of all\n");
	ksft_test_result(check_no_table(), "not found, and no ELF file\n");
	ksft_test_result(check_died(), "of a child that died\n");
	ksft_test_result(check_mark(), "an empty table, unless the file cannot be read now\n");
	ksft_test_result(check_added(), "compiled, then from the cache\n");
	ksft_test_result(check_refused(), "refused by the module\n");
	ksft_test_result(check_other_id(), "found again under another id, or replaced\n");
	if (geteuid())
		ksft_test_result_skip("mapped by another process: /proc/PID/map_files is root's\n");
	else
		ksft_test_result(check_other_user(), "mapped by another process\n");
	ksft_test_result(check_other_mapped(), "another file is mapped there by now\n");
	ksft_test_result(check_stored(), "loaded by somebody else meanwhile\n");
	ksft_test_result(check_cached_only(), "only if it is in the cache\n");
	ksft_test_result(check_one_child(), "from the cache, in one child\n");
	ksft_test_result(check_stuck(), "a file that does not answer\n");
	ksft_test_result(check_damaged(), "refused by the module, and tried again\n");
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	if (system(command))
		ksft_print_msg("%s is left\n", directory);
	ksft_finished();
}
