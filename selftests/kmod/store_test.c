// SPDX-License-Identifier: GPL-2.0
/* The budget: which tables are evicted, which never; memory pressure; bytes for a mapping. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "guest.h"
#include "kselftest.h"

#define DIR	"/tmp/store_test"
#define BUDGET	(1u << 20)
#define FILES	64
#define EXE	"/usr/bin/python3"	/* a table of some 50 KiB, used for all the files */

static struct guest g;
static int table_fd;
static uint32_t id[FILES];
static void *mapped[FILES];

static const char *file_path(int i)
{
	static char path[64];

	snprintf(path, sizeof(path), DIR "/%d", i);
	return path;
}

static void make_files(void)
{
	int i, fd;

	mkdir(DIR, 0700);
	for (i = 0; i < FILES; i++) {
		fd = open(file_path(i), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
		if (fd < 0 || ftruncate(fd, 2 * PAGE))
			guest_die(file_path(i), strerror(errno));
		close(fd);
	}
}

static int add_table(int i)
{
	int exe = open(file_path(i), O_RDONLY | O_CLOEXEC);
	int ret = netlink_table_add(g.nl, table_fd, exe, &id[i], &g.error);

	close(exe);
	guest_next_tick();	/* its last use is earlier than the next one's */
	return ret;
}

static void *map_file(int i, int page)
{
	int fd = open(file_path(i), O_RDONLY | O_CLOEXEC);
	void *p = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, page * PAGE);

	close(fd);
	return p;
}

static void keep_mapped(int i)
{
	if (!mapped[i])
		mapped[i] = map_file(i, 0);
}

static void unmap_all(void)
{
	int i;

	for (i = 0; i < FILES; i++)
		if (mapped[i])
			munmap(mapped[i], PAGE);
	memset(mapped, 0, sizeof(mapped));
}

static bool is_loaded(int i)
{
	struct netlink_file t;

	guest_get_table(&g, id[i], &t);
	return id[i] && t.loaded;
}

static uint64_t bytes_in_use(void)
{
	struct netlink_info info;

	guest_info(&g, &info);
	return netlink_info_used(&info);
}

/* The nth table by last use, the oldest first: 2, 3, ... 9, 0, 10, 11, ...; 1 is mapped. */
static int nth_used(int n)
{
	return n < 8 ? n + 2 : n == 8 ? 0 : n + 1;
}

static void test_order(void)
{
	struct netlink_info info;
	int i, n, gone = 0, holes = 0, added = 0;
	uint32_t before = 0;

	for (i = 0; i < 10; i++)
		add_table(i);
	munmap(map_file(0, 0), PAGE);
	keep_mapped(1);
	/* Add tables until one makes the module evict others. */
	for (i = 10; i < FILES; i++) {
		guest_info(&g, &info);
		if (info.tables < before)
			break;
		before = info.tables;
		if (add_table(i))
			break;
		added = i;
	}
	for (n = 0; n < added; n++) {
		if (is_loaded(nth_used(n)))
			break;
		gone++;
	}
	for (; n < added; n++)
		holes += !is_loaded(nth_used(n));
	ksft_print_msg("%d tables added, the %d least recently used went\n", added + 1, gone);
	ksft_test_result(added > 10 && gone > 1 && gone < 8 && !holes,
			 "the least recently used go, and no others\n");
	ksft_test_result(is_loaded(1), "one that is mapped stays, however long ago it came\n");
	ksft_test_result(is_loaded(0), "one that was mapped since it came goes later\n");
	ksft_test_result(bytes_in_use() <= BUDGET, "the budget is kept\n");
}

static void test_all_used(void)
{
	struct netlink_info before, after;
	int i, fresh = FILES - 1, used[FILES], n = 0, lost = 0;

	/* Add tables and map their files until the next would need one of these evicted. */
	for (i = 0; i < FILES; i++) {
		if (i == fresh)
			continue;
		if (!is_loaded(i) && add_table(i))
			break;
		keep_mapped(i);
		used[n++] = i;
	}
	guest_info(&g, &before);
	ksft_test_result(i < fresh && g.error.code == ENOSPC && strstr(g.error.text, "over budget") &&
			 strstr(g.error.text, "needed") && strstr(g.error.text, "available"),
			 "refused when all are mapped: %s\n", g.error.text);
	guest_info(&g, &after);
	for (i = 0; i < n; i++)
		lost += !is_loaded(used[i]);
	ksft_test_result(n > 10 && !lost && before.tables == after.tables,
			 "and none of them is lost\n");
	ksft_test_result(bytes_in_use() <= BUDGET, "the budget is kept\n");
}

/* An idle table is not evicted if the room it frees would not be enough. */
static void test_in_vain(void)
{
	struct netlink_file idle;
	struct netlink_info rest;
	uint64_t used;
	int i = 0;

	while (!mapped[i])
		i++;
	munmap(mapped[i], PAGE);
	mapped[i] = NULL;
	guest_get_table(&g, id[i], &idle);
	guest_info_at_rest(&g, &rest);
	used = netlink_info_used(&rest);
	ksft_test_result(netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_BUDGET,
					    used - 2 * idle.bytes, &g.error) &&
			 g.error.code == ENOSPC && is_loaded(i), "none is evicted in vain\n");
	ksft_test_result(!netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_BUDGET,
					     used - idle.bytes / 2, &g.error) &&
			 !is_loaded(i), "but it is where that is enough\n");
	if (netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_BUDGET, BUDGET, &g.error))
		guest_die("budget", g.error.text);
}

static bool drop_caches(uint32_t wanted)
{
	const long deadline = guest_deadline();
	struct netlink_info info;
	FILE *f;

	do {
		f = fopen("/proc/sys/vm/drop_caches", "w");
		if (!f || fprintf(f, "2") < 0 || fclose(f))
			guest_die("drop_caches", strerror(errno));
		guest_info(&g, &info);
		if (info.tables == wanted)
			return true;
	} while (guest_waits(deadline));
	ksft_print_msg("%u tables left, not %u\n", info.tables, wanted);
	return false;
}

static void test_shrinker(void)
{
	int i;

	keep_mapped(3);
	for (i = 0; i < 8; i++)
		add_table(i);
	ksft_test_result(drop_caches(1) && is_loaded(3),
			 "memory pressure takes all tables but those that are mapped\n");
	unmap_all();
	ksft_test_result(drop_caches(0) && !is_loaded(3), "and those when they no longer are\n");
}

static unsigned long mem_available(void)
{
	FILE *f = fopen("/proc/meminfo", "re");
	unsigned long kib = 0;
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "MemAvailable: %lu", &kib);
	if (f)
		fclose(f);
	return kib << 10;
}

#define HOG_CHUNK	(4ul << 20)
#define HOG_SIP		(128ul << 10)
#define HOG_LAST	(64ul << 20)

/*
 * Take all memory, the last of it slowly: the test shall kill this before the OOM killer does.  The test
 * is slow too when memory is short, so each sip waits until it has looked: @looks is an eventfd.
 */
static void hog(int looks)
{
	bool last = false;
	eventfd_t count;
	size_t size;
	char *p;

	for (;;) {
		last = last || mem_available() < HOG_LAST;
		size = last ? HOG_SIP : HOG_CHUNK;
		if (last && eventfd_read(looks, &count))
			return;
		p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p != MAP_FAILED)
			memset(p, 1, size);
	}
}

static pid_t hog_start(int looks)
{
	pid_t pid = fork();
	FILE *f;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	f = fopen("/proc/self/oom_score_adj", "w");
	if (!f || fprintf(f, "1000") < 0 || fclose(f))
		_exit(1);
	hog(looks);
	_exit(0);
}

/* Memory pressure from a process: the kernel decides how much it asks the module's shrinker for. */
static void test_short_of_memory(void)
{
	const struct timespec tick = { .tv_nsec = 5000000 };
	int i, looks = eventfd(0, EFD_CLOEXEC);
	struct netlink_info full, now;
	pid_t pid;

	if (looks < 0)
		guest_die("eventfd", strerror(errno));
	if (netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_BUDGET, 64 << 20, &g.error))
		guest_die("budget", g.error.text);
	keep_mapped(3);
	for (i = 0; i < FILES; i++)
		add_table(i);
	guest_info(&g, &full);
	pid = hog_start(looks);
	do {
		nanosleep(&tick, NULL);
		guest_info(&g, &now);
		eventfd_write(looks, 1);
	} while (now.tables == full.tables && waitpid(pid, NULL, WNOHANG) != pid);
	guest_info(&g, &now);
	ksft_print_msg("%u tables before, %u after\n", full.tables, now.tables);
	guest_reap(pid);
	close(looks);
	ksft_test_result(now.tables < full.tables && is_loaded(3),
			 "a process that needs all memory takes idle tables\n");
	unmap_all();
	drop_caches(0);
	if (netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_BUDGET, BUDGET, &g.error))
		guest_die("budget", g.error.text);
}

/*
 * A callback cannot evict tables.  If there is no room for a range the module drops all ranges of
 * the process, and makes them again when there is room.
 */
static void test_lost(void)
{
	struct netlink_info info, now = {};
	long deadline;
	int i;

	guest_info_at_rest(&g, &info);
	if (netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_BUDGET,
			       netlink_info_used(&info), &g.error))
		guest_die("budget", g.error.text);
	for (i = 0; i < FILES; i++)
		keep_mapped(i);
	guest_info(&g, &now);
	ksft_test_result(now.follow_lost > info.follow_lost && now.ranges < info.ranges,
			 "without room for its ranges a process has none\n");
	if (netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_BUDGET, BUDGET, &g.error))
		guest_die("budget", g.error.text);
	deadline = guest_deadline();
	do {
		guest_info(&g, &now);
	} while (now.ranges <= info.ranges && guest_waits(deadline));
	ksft_test_result(now.ranges > info.ranges && guest_is_exact(&g, getpid()),
			 "they come back when there is room\n");
	unmap_all();
}

#define MAPPINGS	100

/* Bytes for each mapping: of one process, and of many children that share its mappings. */
static void test_bytes(int children)
{
	struct netlink_info start, before, after;
	pid_t *pid = calloc(children, sizeof(*pid));
	struct timespec t0, t1, t2;
	double mappings, own, shared;
	int i, gate[2];
	char c;

	guest_info_at_rest(&g, &start);
	for (i = 0; i < MAPPINGS; i++)
		map_file(40, i & 1);	/* alternating pages, so that mappings do not merge */
	guest_info_at_rest(&g, &before);
	mappings = before.ranges - start.ranges;
	own = (before.range_bytes - start.range_bytes) / mappings;
	ksft_print_msg("%.0f mappings of a process of its own: %.1f bytes each\n", mappings, own);
	if (pipe2(gate, O_CLOEXEC))
		guest_die("pipe", strerror(errno));
	for (i = 0; i < children; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			close(gate[1]);
			_exit(read(gate[0], &c, 1));
		}
		if (pid[i] < 0)
			guest_die("fork", strerror(errno));
	}
	guest_info_at_rest(&g, &after);
	shared = (double)(after.range_bytes - start.range_bytes) / ((children + 1) * mappings);
	ksft_print_msg("%d processes with %.0f mappings each: %.2f bytes a mapping\n", children + 1,
		       mappings, shared);
	ksft_test_result(after.procs == before.procs + children &&
			 own <= 72 && shared <= own / 10,
			 "at most 72 bytes a mapping, 32 of them for the reverse map, and far less "
			 "where it is shared\n");
	clock_gettime(CLOCK_MONOTONIC, &t0);
	i = add_table(40);
	clock_gettime(CLOCK_MONOTONIC, &t1);
	i = i || netlink_table_del(g.nl, id[40], true, &g.error);
	clock_gettime(CLOCK_MONOTONIC, &t2);
	ksft_print_msg("table added in %.3f s, taken away in %.3f s\n",
		       t1.tv_sec - t0.tv_sec + (t1.tv_nsec - t0.tv_nsec) / 1e9,
		       t2.tv_sec - t1.tv_sec + (t2.tv_nsec - t1.tv_nsec) / 1e9);
	ksft_test_result(!i && !is_loaded(40), "a table for all of them comes and goes\n");
	close(gate[1]);
	for (i = 0; i < children; i++)
		waitpid(pid[i], NULL, 0);
	close(gate[0]);
	free(pid);
}

int main(int argc, char **argv)
{
	struct netlink_info start;

	ksft_print_header();
	ksft_set_plan(17);
	make_files();
	guest_open(&g);
	table_fd = guest_table_fd(EXE);
	guest_info(&g, &start);
	if (netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_BUDGET, BUDGET, &g.error))
		guest_die("budget", g.error.text);

	guest_add(&g, getpid());
	test_order();
	test_all_used();
	test_in_vain();
	unmap_all();
	test_shrinker();
	test_short_of_memory();
	test_lost();
	if (netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_BUDGET, start.budget, &g.error))
		guest_die("budget", g.error.text);
	test_bytes(argc > 1 ? atoi(argv[1]) : 500);
	if (netlink_proc_del(g.nl, getpid(), &g.error))
		guest_die("proc-del", g.error.text);
	ksft_test_result(guest_settles(&g, &start), "everything is given back\n");
	system("rm -rf " DIR);
	ksft_finished();
}
