// SPDX-License-Identifier: GPL-2.0
/* Tables for files: made, taken from the cache, refused; and what the module is told of each. */
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fake_netlink.h"
#include "io.h"
#include "kselftest.h"
#include "table_jobs.h"

static struct table_maker maker;
static struct table_result results[8];
static size_t count;

static void done(void *arg, const struct table_want *want, const struct table_result *result)
{
	(void)arg;
	(void)want;
	results[count++] = *result;
}

/* Make the table of one file.  Return: what has become of it. */
static const struct table_result *make(int fd, const char *name, bool cached_only)
{
	struct table_wants wants = { 0 };
	struct table_want *want = table_wants_add(&wants, name, 1234);

	want->fd = fd;
	want->cached_only = cached_only;
	count = 0;
	if (table_jobs_run(&maker, &wants) || count != 1)
		exit(KSFT_FAIL);
	table_wants_free(&wants);
	return &results[0];
}

static int self(void)
{
	return io_open_regular("/proc/self/exe");
}

static bool check_compiled(void)
{
	const struct table_result *result;

	fake_reset();
	result = make(self(), "/self", false);
	return result->source == TABLE_COMPILED && result->opened && result->bytes && result->id == 1 &&
	       fake->adds == 1 && fake->uid == 1234 && !fake->dels && fake->file[0].loaded;
}

/* After check_compiled() */
static bool check_cached(void)
{
	fake_reset();
	return make(self(), "/self", true)->source == TABLE_CACHED && fake->adds == 1;
}

/* A file whose table the module has gets no other one, unless the file was written to since. */
static bool check_stored(void)
{
	bool good = make(self(), "/self", false)->source == TABLE_STORED && fake->adds == 1;

	fake->file[0].written = true;
	return good && make(self(), "/self", false)->source == TABLE_CACHED && fake->adds == 2;
}

/* What has been left out is not noted as a file without a table. */
static bool check_left(void)
{
	const struct table_result *result;

	fake_reset();
	maker.lossy.cfi_only = true;
	result = make(self(), "/self", true);
	maker.lossy.cfi_only = false;
	return result->source == TABLE_NONE && result->left && !fake->file[0].id && !fake->adds;
}

static bool check_no_elf(void)
{
	const struct table_result *result;
	int fd = io_memfd("text", "hello", 5);

	fake_reset();
	result = make(fd, "/text", false);
	return result->source == TABLE_NONE && result->error.text[0] && !result->may_pass &&
	       fake->file[0].id && !fake->file[0].loaded && fake->marks == 1 && !fake->dels;
}

static bool check_refused(int code, bool may_pass)
{
	const struct table_result *result;

	fake_reset();
	fake->add_code = code;
	result = make(self(), "/self", false);
	return result->source == TABLE_NONE && result->refusal == code && result->may_pass == may_pass &&
	       !fake->file[0].id == may_pass;
}

static bool check_vdso(void)
{
	fake_reset();
	return make(NETLINK_VDSO, "[vdso]", false)->source != TABLE_NONE && !fake->file[0].inode && fake->adds == 1;
}

/* A file that one process has mapped twice, and another process once, is wanted once. */
static bool check_mapped(void)
{
	struct mapped at[] = {
		{ .mapping = { 2, 1, 2 }, .device = 5, .inode = 7, .path = "/a" },
		{ .mapping = { 1, 3, 4 }, .device = 5, .inode = 7, .path = "/a" },
		{ .mapping = { 1, 1, 2 }, .device = 5, .inode = 7, .path = "/a" },
		{ .mapping = { 1, 5, 6 }, .device = 5, .inode = 7, .path = "/subvolume/b" },
		{ .mapping = { 1, 7, 8 }, .path = "" },
		{ .mapping = { 1, 9, 10 }, .path = "[vdso]" },
	};
	struct mapped_list list = { .at = at, .count = 6 };
	struct table_wants wants = { 0 };
	bool good;

	fake_reset();
	good = !table_wants_add_mapped(&wants, &list, maker.nl).files && wants.count == 3 &&
	       wants.want[0].fd == NETLINK_VDSO && !strcmp(wants.want[1].name, "/a") &&
	       wants.want[1].mapping.pid == 1 && wants.want[1].mapping.start == 1 &&
	       wants.want[1].fd == TABLE_WANT_MAPPED && !strcmp(wants.want[2].name, "/subvolume/b");
	table_wants_free(&wants);
	return good;
}

/* How many files that this process has mapped are wanted; @stored: filled: those that are not */
static size_t own_wanted(struct table_stored *stored)
{
	struct mapped_list list = { 0 };
	struct table_wants wants = { 0 };
	struct bee_error error;
	size_t wanted;

	if (mapped_add(&list, getpid(), &error))
		exit(KSFT_FAIL);
	*stored = table_wants_add_mapped(&wants, &list, maker.nl);
	wanted = wants.count;
	table_wants_free(&wants);
	mapped_free(&list);
	return wanted;
}

/* A file is not wanted whose table the module has, unless it was written to since. */
static bool check_wanted(void)
{
	struct table_stored stored;
	struct netlink_file *file;
	size_t all, wanted;
	int fd = self();

	fake_reset();
	all = own_wanted(&stored);
	file = fake_find(fd, true);
	close(fd);
	if (own_wanted(&stored) != all || stored.files)
		return false;
	file->loaded = true;
	file->bytes = 99;
	wanted = own_wanted(&stored);
	if (all - wanted != 1 || stored.files != 1 || stored.bytes != 99)
		return false;
	file->written = true;
	return own_wanted(&stored) == all;
}

/* What a child has told before it died. */
static bool check_died(void)
{
	struct table_result told[2] = { { .opened = true, .id = 5, .name = "/file" } };
	struct table_result before = table_jobs_result("", 0, "killed"), waits = { 0 };
	struct table_result after = table_jobs_result(told, sizeof(told[0]) + 1, "killed");

	told[1] = (struct table_result){ .source = TABLE_CACHED, .id = 6 };
	return before.source == TABLE_NONE && !before.opened && !before.id && after.opened && after.id == 5 &&
	       strstr(after.error.text, "killed") && table_jobs_waits(told, sizeof(told[0]), &waits) &&
	       waits.id == 5 && !table_jobs_waits(told, sizeof(told), &waits) &&
	       !table_jobs_waits(told, 5, &waits) && table_jobs_result(told, sizeof(told), NULL).id == 6 &&
	       table_jobs_result(told, sizeof(told), NULL).source == TABLE_CACHED;
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
		good = alarm(0) > 30 && !getrlimit(RLIMIT_CORE, &core) && core.rlim_cur <= 1 &&
		       !getrlimit(RLIMIT_CPU, &cpu) &&
		       cpu.rlim_cur == clock() / CLOCKS_PER_SEC + TABLE_JOBS_SECONDS;
		cpu = (struct rlimit){ 50, 50 };
		good = good && !setrlimit(RLIMIT_CPU, &cpu);
		table_jobs_limit();
		_exit(!good || getrlimit(RLIMIT_CPU, &cpu) || cpu.rlim_cur != 50 ||
		      !is_first_to_go());
	}
	return wait(&status) > 0 && !status;
}

int main(void)
{
	char cache[] = "/tmp/table_jobs_test.XXXXXX";
	char command[64];
	int ret;

	ksft_print_header();
	ksft_set_plan(12);
	if (!mkdtemp(cache))
		return 1;
	setenv("BEEUNWIND_CACHE", cache, 1);
	maker.cache = cache_open();
	maker.done = done;
	ksft_test_result(check_compiled(), "a table is compiled and added for a user\n");
	ksft_test_result(check_cached(), "a table is added from the cache\n");
	ksft_test_result(check_stored(), "a table that the module has already is not added again\n");
	ksft_test_result(check_left(), "a file not in the cache is left to be news\n");
	ksft_test_result(check_no_elf(), "a file that is no ELF file is known to have no table\n");
	ksft_test_result(check_refused(ENOSPC, true), "a file whose table has no room is left to be news\n");
	ksft_test_result(check_refused(EINVAL, false), "a file whose table the module refuses is told of\n");
	ksft_test_result(check_vdso(), "the vDSO gets a table\n");
	ksft_test_result(check_mapped(), "files that processes have mapped get one table each\n");
	ksft_test_result(check_wanted(), "a mapped file whose table the module has is wanted once more when it was written to\n");
	ksft_test_result(check_died(), "what a child has told before it died is known\n");
	ksft_test_result(check_limit(), "a child has limits of memory and time\n");
	cache_close(maker.cache);
	snprintf(command, sizeof(command), "rm -r %s", cache);
	ret = system(command);
	(void)ret;
	ksft_finished();
}
