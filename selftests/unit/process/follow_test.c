// SPDX-License-Identifier: GPL-2.0
/* Who follows news: files get tables, once and in turn; code is looked at, and less and less often. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "clock.h"
#include "events.h"
#include "fake_netlink.h"
#include "follow.h"
#include "io.h"
#include "kselftest.h"

#define FILES	3

static struct table_maker maker;
static struct netlink_news news[8];
static size_t nnews;
static uint64_t asked;
static size_t compiled, stored, failed;
static int *looks;
static struct jit_result looked;
static int ping[2];
static bool listens;

static char dir[] = "/tmp/follow_test.XXXXXX";

/* Files with ELF contents of their own, mapped in this process. */
static struct mapping files[FILES];

struct netlink_events *netlink_events_open(struct bee_error *error)
{
	if (listens)
		return (struct netlink_events *)ping;
	error_set(error, EPERM, "no");
	return NULL;
}

void netlink_events_close(struct netlink_events *events)
{
	(void)events;
}

int netlink_events_fd(const struct netlink_events *events)
{
	(void)events;
	return ping[0];
}

void netlink_events_drain(struct netlink_events *events)
{
	char byte;

	(void)events;
	while (read(ping[0], &byte, 1) == 1)
		;
}

int netlink_news_get(struct netlink *nl, uint64_t seq, struct netlink_news_list *list,
		     struct bee_error *error)
{
	size_t i;

	(void)nl;
	(void)error;
	asked++;
	list->count = 0;
	for (i = 0; i < nnews; i++)
		if (news[i].seq > seq) {
			list->news = alloc_room(list->news, list->count, &list->room, sizeof(*list->news));
			list->news[list->count++] = news[i];
		}
	return 0;
}

void jit_jobs_look(const struct table_maker *unused, pid_t pid, FILE *out)
{
	(void)unused;
	(void)pid;
	++*looks;
	fwrite(&looked, sizeof(looked), 1, out);
}

struct jit_result jit_jobs_result(const void *data, size_t size, const char *died)
{
	struct jit_result result = {};

	(void)died;
	if (size == sizeof(result))
		memcpy(&result, data, size);
	return result;
}

static void done(void *arg, const struct table_want *want, const struct table_result *result)
{
	(void)arg;
	(void)want;
	compiled += result->source == TABLE_COMPILED;
	stored += result->source == TABLE_STORED;
	failed += result->source == TABLE_NONE;
}

static void tell(uint32_t kind, pid_t pid, const struct mapping *mapping)
{
	news[nnews] = (struct netlink_news){ .seq = nnews + 1, .kind = kind, .pid = pid };
	if (mapping) {
		news[nnews].start = mapping->start;
		news[nnews].end = mapping->end;
	}
	nnews++;
	if (listens && write(ping[1], "", 1) != 1)
		exit(KSFT_FAIL);
}

static struct follow *begin(void)
{
	struct bee_error error;

	fake_reset();
	memset(news, 0, sizeof(news));
	nnews = compiled = stored = failed = asked = 0;
	*looks = 0;
	return follow_open(&maker, NULL, &error);
}

/* Let it work for @ms. */
static void work(struct follow *follow, int ms)
{
	int64_t end = clock_ms() + ms, left;

	while ((left = end - clock_ms()) > 0)
		follow_poll(follow, NULL, 0, left, NULL);
}

/* Until @compiled tables are there, or none has been for a long time. */
static void work_until(struct follow *follow, size_t tables)
{
	int tries;

	for (tries = 0; tries < 100 && compiled < tables; tries++)
		work(follow, 100);
}

/* What was news before, and what becomes news; what is of a process that has ended is left out. */
static bool check_files(void)
{
	struct follow *follow = begin();
	bool good;

	tell(BEEUNWIND_NEWS_FILE, getpid(), &files[0]);
	tell(BEEUNWIND_NEWS_FILE, 0x3fffffff, &files[0]);
	tell(BEEUNWIND_NEWS_FILE, getpid(), &(struct mapping){ .start = 0x1000, .end = 0x2000 });
	tell(BEEUNWIND_NEWS_FILE, 0x3fffffff, &files[0]);
	strcpy(news[nnews - 1].name, "relative");
	work_until(follow, 1);
	good = compiled == 1;
	tell(BEEUNWIND_NEWS_FILE, getpid(), &files[1]);
	tell(BEEUNWIND_NEWS_FILE, getpid(), &files[2]);
	work_until(follow, 3);
	good &= compiled == 3 && !failed && fake->adds == 3 && fake->marks == 3 && !fake->dels &&
		fake->uid == getuid() && !follow_unfinished(follow);
	follow_close(follow);
	return good && !fake->dels;
}

/* Nothing is asked for but when there is something. */
static bool check_sleeps(void)
{
	struct follow *follow = begin();
	uint64_t before;

	work(follow, 100);
	before = asked;
	work(follow, 700);
	follow_close(follow);
	return before == 1 && (listens ? asked == 1 : asked == 2);
}

/* Where there is no room the file is not forgotten at once, and a second attempt not made, but at the end it is. */
static bool check_no_room(void)
{
	struct follow *follow = begin();
	bool good;

	fake->add_code = ENOSPC;
	tell(BEEUNWIND_NEWS_FILE, getpid(), &files[0]);
	for (int tries = 0; tries < 100 && !failed; tries++)
		work(follow, 100);
	good = failed == 1 && fake->file[0].id && !fake->dels;
	follow_close(follow);
	return good && fake->dels == 1;
}

/* A file that has a table of other contents gets a new one. */
static bool check_changed(void)
{
	struct follow *follow = begin();
	int fd;
	char name[64];
	struct bee_error error;
	bool good;

	fd = map_file_open(&files[0], name, sizeof(name), &error);
	*fake_find(fd, true) = (struct netlink_file){ .id = 1, .loaded = true, .written = true,
						      .inode = fake_find(fd, false)->inode };
	close(fd);
	tell(BEEUNWIND_NEWS_FILE, getpid(), &files[0]);
	work_until(follow, 1);
	good = compiled == 1 && fake->adds == 1;
	follow_close(follow);
	return good;
}

/* The same file was news twice, and its table is there by the second time. */
static bool check_twice(void)
{
	struct follow *follow = begin();
	char name[64];
	struct bee_error error;
	int fd, tries;

	fd = map_file_open(&files[0], name, sizeof(name), &error);
	fake_find(fd, true)->loaded = true;
	close(fd);
	tell(BEEUNWIND_NEWS_FILE, getpid(), &files[0]);
	for (tries = 0; tries < 100 && !stored; tries++)
		work(follow, 100);
	follow_close(follow);
	return stored == 1 && !compiled && !fake->adds && !fake->marks;
}

/* Its process has ended: the file is found by its name, and is its owner's. */
static bool check_name(void)
{
	struct follow *follow = begin();

	tell(BEEUNWIND_NEWS_FILE, 0x3fffffff, &files[0]);
	snprintf(news[0].name, sizeof(news[0].name), "%s/1", dir);
	work_until(follow, 1);
	follow_close(follow);
	return compiled == 1 && fake->uid == getuid() && fake->file[0].loaded;
}

/* The vDSO is no file, but has a table as files have. */
static bool check_vdso(void)
{
	struct follow *follow = begin();
	uint64_t vdso = getauxval(AT_SYSINFO_EHDR);

	tell(BEEUNWIND_NEWS_FILE, getpid(), &(struct mapping){ .start = vdso, .end = vdso + 4096 });
	work_until(follow, 1);
	follow_close(follow);
	return compiled == 1 && fake->file[0].id && !fake->file[0].inode && fake->file[0].loaded;
}

static bool check_finish(void)
{
	struct follow *follow = begin();
	bool good;

	follow_finish(follow);
	tell(BEEUNWIND_NEWS_FILE, getpid(), &files[0]);
	work(follow, 300);
	good = !compiled && !follow_unfinished(follow);
	follow_close(follow);
	return good;
}

/* What is given up while it is made is news again. */
static bool check_closed(void)
{
	struct follow *follow = begin();
	int tries;

	tell(BEEUNWIND_NEWS_FILE, getpid(), &files[0]);
	for (tries = 0; tries < 1000 && !fake->marks; tries++)
		follow_poll(follow, NULL, 0, 1, NULL);
	/* It tells of it at once. */
	follow_poll(follow, NULL, 0, 20, NULL);
	follow_close(follow);
	return compiled || fake->dels == 1;
}

/* Code that has no tables is looked at less and less often, however often it is news. */
static bool check_looks(void)
{
	struct follow *follow = begin();
	int i;

	looked = (struct jit_result){};
	for (i = 0; i < 8; i++) {
		tell(BEEUNWIND_NEWS_CODE, getpid(), NULL);
		work(follow, 300);
	}
	follow_close(follow);
	return *looks == 1 || *looks == 2;
}

/* Code that has tables is looked at again though it is no news. */
static bool check_laid(void)
{
	struct follow *follow = begin();
	int tries;

	looked = (struct jit_result){ .laid = 1, .tables = 1 };
	tell(BEEUNWIND_NEWS_CODE, getpid(), NULL);
	for (tries = 0; tries < 200 && *looks < 3; tries++)
		work(follow, 100);
	follow_close(follow);
	return *looks == 3;
}

static bool check_no_jit(void)
{
	struct follow *follow = begin();

	maker.no_jit = true;
	tell(BEEUNWIND_NEWS_CODE, getpid(), NULL);
	work(follow, 200);
	maker.no_jit = false;
	follow_close(follow);
	return !*looks;
}

/* Copies of this program, mapped. */
static void make_files(void)
{
	size_t size, i;
	char *elf = io_read_all("/proc/self/exe", &size), path[64];
	void *at;
	int fd;

	for (i = 0; i < FILES; i++) {
		snprintf(path, sizeof(path), "%s/%zu", dir, i);
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		if (fd < 0 || io_write_all(fd, elf, size))
			exit(KSFT_FAIL);
		at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		files[i] = (struct mapping){ getpid(), (uintptr_t)at, (uintptr_t)at + 4096 };
		close(fd);
	}
	free(elf);
}

int main(void)
{
	char command[64];
	int ret;

	ksft_print_header();
	ksft_set_plan(13);
	looks = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!mkdtemp(dir) || pipe2(ping, O_CLOEXEC | O_NONBLOCK))
		return 1;
	make_files();
	setenv("BEEUNWIND_CACHE", "/dev/null/none", 1);
	maker.cache = cache_open();
	maker.done = done;
	maker.jobs = 1;
	listens = true;
	ksft_test_result(check_files(), "files that are news get their tables\n");
	ksft_test_result(check_sleeps(), "follow sleeps while there is no news\n");
	ksft_test_result(check_no_room(),
			 "a file whose table has no room is tried once, and is news again at the end\n");
	ksft_test_result(check_changed(), "a file with a table of other contents gets a new table\n");
	ksft_test_result(check_twice(), "a file that is news and has got its table meanwhile keeps it\n");
	ksft_test_result(check_name(), "a file that is news of a process that has ended is opened by its name\n");
	ksft_test_result(check_vdso(), "the vDSO that is news gets its table\n");
	ksft_test_result(check_finish(), "follow_finish() has no more news taken\n");
	ksft_test_result(check_closed(), "a file whose child is given up is news again\n");
	ksft_test_result(check_looks(), "code without tables that is news is looked at less and less often\n");
	ksft_test_result(check_laid(), "code that has got tables is looked at again without news\n");
	ksft_test_result(check_no_jit(), "code that is to have no tables is not looked at\n");
	listens = false;
	ksft_test_result(check_sleeps() && check_files(), "follow asks for news now and then without messages\n");
	cache_close(maker.cache);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	ret = system(command);
	(void)ret;
	ksft_finished();
}
