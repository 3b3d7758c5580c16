// SPDX-License-Identifier: GPL-2.0
/*
 * The reverse map: which processes have a file mapped, and who is told when its table is removed.
 *
 *	users_test		the tests
 *	users_test bench N...	times of requests about a file that N processes have mapped, each
 *				with a map of its own, and what other requests wait meanwhile
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "events.h"
#include "guest.h"
#include "kselftest.h"
#include "random.h"

#define LIB	"/lib/x86_64-linux-gnu/libcrypt.so.1"
#define DIR	"/tmp/users_test"
#define ONE	DIR "/one.so"

/* Of the random part: processes, files, pages of each, changes of each process. */
#define WORKERS	6
#define FILES	4
#define PAGES	8
#define CHANGES	300

/* Of the large part: forked processes, and ranges of one file. */
#define MANY		300
#define MANY_RANGES	200

/* For so many forgotten files FILE_GET has an answer: FILE_TOLD of kmod/netlink_file.c. */
#define TOLD	256

static struct guest g;

static void *map_one(size_t pages)
{
	int fd = open(ONE, O_RDONLY | O_CLOEXEC);
	void *p = mmap(NULL, pages * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	close(fd);
	if (p == MAP_FAILED)
		guest_die(ONE, strerror(errno));
	return p;
}

static uint32_t id_of_one(void)
{
	int fd = open(ONE, O_RDONLY | O_CLOEXEC);
	struct netlink_file file;

	if (netlink_file_get(g.nl, fd, &file, &g.error))
		guest_die("file-get", g.error.text);
	close(fd);
	return file.id;
}

/* Are @n processes listed as users of ONE, these among them, each with so many ranges? */
static bool used_by(uint32_t id, size_t n, const pid_t *pid, const size_t *ranges)
{
	struct netlink_procs users;
	size_t i, k, found = 0;
	bool good;

	if (netlink_procs_get_users(g.nl, id, &users, &g.error))
		guest_die("proc-get of a file", g.error.text);
	for (i = 0; i < n; i++)
		for (k = 0; k < users.count; k++)
			found += users.proc[k].pid == (uint32_t)pid[i] &&
				 users.proc[k].ranges.count == ranges[i];
	good = users.count == n && found == n;
	for (k = 0; !good && k < users.count; k++)
		ksft_print_msg("%u: %zu ranges\n", users.proc[k].pid, users.proc[k].ranges.count);
	netlink_procs_free(&users);
	return good;
}

static void unmap_it(void *arg)
{
	munmap(arg, 4 * PAGE);
}

static void unmap_second_page(void *arg)
{
	munmap((char *)arg + PAGE, PAGE);
}

static void test_fork(void)
{
	void *p = map_one(4);
	uint32_t id = id_of_one();
	size_t ranges[4] = { 1, 1, 1, 1 };
	struct netlink_procs none;
	pid_t pid[4] = { getpid() };

	ksft_test_result(used_by(id, 1, pid, ranges), "a process that has mapped a file uses it\n");
	pid[1] = guest_spawn(NULL, NULL);
	ksft_test_result(used_by(id, 2, pid, ranges), "so does a forked child\n");
	pid[2] = guest_spawn(unmap_second_page, p);
	ranges[2] = 2;
	pid[3] = guest_spawn(unmap_it, p);
	ksft_test_result(used_by(id, 3, pid, ranges),
			 "one that unmaps a part has two ranges, one that unmaps all has none\n");
	munmap(p, PAGE);
	ksft_test_result(used_by(id, 3, pid, ranges) && guest_users_agree(&g) &&
			 guest_is_exact(&g, pid[1]) && guest_is_exact(&g, pid[2]),
			 "the parent changes its mapping; the children keep theirs\n");
	munmap((char *)p + PAGE, 3 * PAGE);
	ksft_test_result(used_by(id, 2, pid + 1, ranges + 1), "the parent ends its own\n");
	guest_reap(pid[1]);
	ksft_test_result(used_by(id, 1, pid + 2, ranges + 2), "so does a child that ends\n");
	guest_reap(pid[2]);
	guest_reap(pid[3]);
	ksft_test_result(netlink_procs_get_users(g.nl, id, &none, &g.error) &&
			 g.error.code == ENOENT, "a file that nobody uses is not known\n");
	netlink_procs_free(&none);
}

/* What a process does is decided by its own sequence of random numbers, begun by @arg. */
static void change_at_random(void *arg)
{
	char *place[FILES];
	int fd[FILES], i, k;
	long seed = (long)arg;

	for (i = 0; i < FILES; i++) {
		char name[64];

		snprintf(name, sizeof(name), DIR "/%d", i);
		fd[i] = open(name, O_RDONLY | O_CLOEXEC);
		place[i] = mmap(NULL, 2 * PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	}
	while (seed--)
		random_u64();
	for (i = 0; i < CHANGES; i++) {
		u64 r = random_u64();
		int file = r % FILES, first = (r >> 8) % PAGES, n = 1 + (r >> 16) % PAGES;
		char *at = place[(r >> 24) % FILES] + first * PAGE;
		pid_t pid = 0;

		switch ((r >> 32) % 8) {
		case 0:
			mmap(at, n * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
			break;
		case 1:
			mmap(at, n * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
			     -1, 0);
			break;
		case 2:
			/* A child that changes, one that does not, or its parent is first. */
			pid = fork();
			if (!pid && (r >> 40) % 2)
				munmap(at, n * PAGE);
			if (!pid)
				_exit(0);
			if ((r >> 41) % 2)
				waitpid(pid, NULL, 0);
			break;
		default:
			mmap(at, n * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd[file],
			     first * PAGE);
		}
	}
	while (waitpid(-1, NULL, 0) > 0)
		;
	for (k = 0; k < FILES; k++)
		close(fd[k]);
}

static void test_random(void)
{
	char zero[PAGES * PAGE] = {};
	pid_t pid[WORKERS];
	bool exact = true;
	long i;

	for (i = 0; i < FILES; i++) {
		char name[64];
		int fd;

		snprintf(name, sizeof(name), DIR "/%ld", i);
		fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
		if (write(fd, zero, sizeof(zero)) != sizeof(zero))
			guest_die(name, strerror(errno));
		close(fd);
	}
	for (i = 0; i < WORKERS; i++)
		pid[i] = guest_spawn(change_at_random, (void *)(1000 * i));
	for (i = 0; i < WORKERS; i++)
		exact &= guest_is_exact(&g, pid[i]);
	ksft_test_result(exact, "after random changes the ranges are those of /proc/PID/maps\n");
	ksft_test_result(guest_users_agree(&g), "and each file's users are those who have it mapped\n");
	for (i = 0; i < WORKERS; i++)
		guest_reap(pid[i]);
}

/* So many that they do not fit into one message; each is there once. */
static void test_many(void)
{
	struct netlink_procs users;
	static pid_t pid[MANY];
	void *p[MANY_RANGES];
	struct netlink_info info;
	bool good = true;
	uint32_t id;
	size_t i;

	for (i = 0; i < MANY_RANGES; i++)
		p[i] = map_one(1);
	id = id_of_one();
	for (i = 0; i < MANY; i++)
		pid[i] = guest_spawn(NULL, NULL);
	if (netlink_procs_get_users(g.nl, id, &users, &g.error))
		guest_die("proc-get of a file", g.error.text);
	for (i = 0; i < users.count; i++)
		good &= users.proc[i].ranges.count == MANY_RANGES;
	guest_info_at_rest(&g, &info);
	ksft_print_msg("%u processes with %u ranges: %lu bytes\n", info.procs, info.ranges,
		       (unsigned long)info.range_bytes);
	ksft_test_result(good && users.count == MANY + 1, "%d forked users, %d ranges\n", MANY,
			 MANY_RANGES);
	netlink_procs_free(&users);
	for (i = 0; i < MANY; i++)
		guest_reap(pid[i]);
	for (i = 0; i < MANY_RANGES; i++)
		munmap(p[i], PAGE);
}

/* The next message about a file; NETLINK_EVENT_NONE if none comes.  Half a second is for @none. */
static enum netlink_event_kind next_event(struct netlink_events *events, uint32_t id, bool none,
					  struct netlink_file *file)
{
	struct pollfd fd = { .fd = netlink_events_fd(events), .events = POLLIN };
	enum netlink_event_kind kind = NETLINK_EVENT_NONE;
	const long deadline = guest_deadline();

	while (poll(&fd, 1, 500) > 0 || (!none && guest_waits(deadline))) {
		kind = netlink_events_next(events, file);
		if (kind == NETLINK_EVENT_LOST || (kind != NETLINK_EVENT_NONE && file->id == id))
			return kind;
	}
	return NETLINK_EVENT_NONE;
}

static void add_table(int table, uint32_t id)
{
	if (netlink_table_set(g.nl, table, id, &g.error))
		guest_die("table-add", g.error.text);
}

static void test_kill(void)
{
	struct netlink_events *events = netlink_events_open(&g.error);
	int table = guest_table_fd(ONE), other = guest_table_fd("/bin/true"), i;
	uint32_t id, procs = 0;
	struct netlink_file file;
	pid_t pid[3];
	void *p = map_one(1);

	if (!events)
		guest_die("events", g.error.text);
	id = id_of_one();
	for (i = 0; i < 3; i++)
		pid[i] = guest_spawn(NULL, NULL);
	add_table(table, id);
	ksft_test_result(next_event(events, id, true, &file) == NETLINK_EVENT_NONE,
			 "a first table is no news\n");
	ksft_test_result(!netlink_table_set(g.nl, other, id, &g.error) &&
			 next_event(events, id, false, &file) == NETLINK_EVENT_OTHER && file.loaded &&
			 file.procs == 4, "listeners are told of one that replaces it\n");
	ksft_test_result(!netlink_table_del_used(g.nl, id, &procs, &g.error) && procs == 4,
			 "who removes it learns how many used it\n");
	ksft_test_result(next_event(events, id, false, &file) == NETLINK_EVENT_REMOVED && !file.loaded &&
			 file.procs == 4 && strstr(file.name, "/one.so"), "and listeners do\n");
	ksft_test_result(netlink_table_del_used(g.nl, id, &procs, &g.error) && g.error.code == ENOENT,
			 "it is gone\n");
	for (i = 0; i < 3; i++)
		guest_reap(pid[i]);
	add_table(table, id);
	munmap(p, PAGE);
	ksft_test_result(!netlink_table_del_used(g.nl, id, &procs, &g.error) && !procs &&
			 next_event(events, id, false, &file) == NETLINK_EVENT_REMOVED && !file.procs &&
			 strstr(file.name, "/one.so") && file.inode && file.size,
			 "and of one that nobody uses, with which the file is forgotten\n");
	p = map_one(1);
	id = id_of_one();
	add_table(table, id);
	munmap(p, PAGE);
	ksft_test_result(!netlink_table_del(g.nl, id, false, &g.error) &&
			 next_event(events, id, true, &file) == NETLINK_EVENT_NONE,
			 "but not if it is removed only because nobody uses it\n");
	if (netlink_table_new(g.nl, table, getpid(), "code", &id, &g.error))
		guest_die("table-add", g.error.text);
	ksft_test_result(!netlink_table_del(g.nl, id, true, &g.error) &&
			 next_event(events, id, true, &file) == NETLINK_EVENT_NONE,
			 "nor of code in memory that is nowhere\n");
	netlink_events_close(events);
	close(table);
	close(other);
}

/*
 * The module tells its listeners that it removes the table of a file, and forgets the file as nobody has it
 * mapped.  It still answers FILE_GET for the TOLD files of which it told them last.
 */
static void test_told(void)
{
	struct netlink_events *events = netlink_events_open(&g.error);
	int table = guest_table_fd(ONE), i, known = 0;
	uint32_t id[TOLD + 1], procs;
	struct netlink_file file;

	if (!events)
		guest_die("events", g.error.text);
	for (i = 0; i <= TOLD; i++) {
		void *p = map_one(1);

		id[i] = id_of_one();
		add_table(table, id[i]);
		munmap(p, PAGE);
		if (netlink_table_del_used(g.nl, id[i], &procs, &g.error))
			guest_die("table-del", g.error.text);
	}
	for (i = 1; i <= TOLD; i++)
		known += !netlink_file_get_id(g.nl, id[i], &file, &g.error) &&
			 strstr(file.name, "/one.so");
	ksft_print_msg("%d are known\n", known);
	ksft_test_result(known == TOLD && netlink_file_get_id(g.nl, id[0], &file, &g.error) &&
			 g.error.code == ENOENT, "the last %d are known, and no others\n", TOLD);
	netlink_events_close(events);
	close(table);
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e3 * t.tv_sec + t.tv_nsec / 1e6;
}

static void bench_list(uint32_t id, size_t n)
{
	struct netlink_procs users;

	if (netlink_procs_get_users(g.nl, id, &users, &g.error) || users.count != n)
		guest_die("proc-get of a file", g.error.text);
	netlink_procs_free(&users);
}

static void bench_kill(uint32_t id, size_t n)
{
	uint32_t procs;

	if (netlink_table_del_used(g.nl, id, &procs, &g.error) || procs != n)
		guest_die("table-del", g.error.text);
}

/* A process that lists the users again and again, until it is killed. */
static pid_t bench_start_lister(uint32_t id, size_t n)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	guest_open(&g);
	for (;;)
		bench_list(id, n);
}

/* The longest of some requests, in ms. */
static double bench_info(int rounds)
{
	struct netlink_info info;
	double longest = 0, begin;

	while (rounds--) {
		begin = now_ms();
		guest_info(&g, &info);
		begin = now_ms() - begin;
		longest = begin > longest ? begin : longest;
	}
	return longest;
}

/* Another mapping of its own makes the map of a forked process its own. */
static void map_more(void *arg)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	(void)arg;
}

static void bench(size_t n)
{
	int table = guest_table_fd(ONE), other = guest_table_fd("/bin/true");
	double begin, listed, killed, set, replaced, alone, beside;
	pid_t *pid = calloc(n, sizeof(*pid)), lister;
	struct netlink_info before, after;
	void *p = map_one(1);
	uint32_t id = id_of_one();
	size_t i;

	guest_info_at_rest(&g, &before);
	for (i = 0; i < n; i++)
		pid[i] = guest_spawn(map_more, NULL);
	guest_info_at_rest(&g, &after);
	begin = now_ms();
	bench_list(id, n + 1);
	listed = now_ms() - begin;
	add_table(table, id);
	begin = now_ms();
	bench_kill(id, n + 1);
	killed = now_ms() - begin;
	begin = now_ms();
	add_table(table, id);
	set = now_ms() - begin;
	begin = now_ms();
	add_table(other, id);
	replaced = now_ms() - begin;
	alone = bench_info(200);
	lister = bench_start_lister(id, n + 1);
	beside = bench_info(200);
	kill(lister, SIGKILL);
	waitpid(lister, NULL, 0);
	printf("%zu processes: list %.2f, remove %.2f, set %.2f, replace %.2f ms; info-get at most %.2f, while another lists %.2f ms; a process more is %.0f bytes for %.1f ranges\n",
	       n, listed, killed, set, replaced, alone, beside,
	       (double)(after.range_bytes - before.range_bytes) / n,
	       (double)(after.ranges - before.ranges) / n);
	fflush(stdout);
	for (i = 0; i < n; i++)
		kill(pid[i], SIGKILL);
	for (i = 0; i < n; i++)
		waitpid(pid[i], NULL, 0);
	bench_kill(id, 1);
	munmap(p, PAGE);
	free(pid);
	close(table);
	close(other);
}

int main(int argc, char **argv)
{
	struct netlink_info start;
	int i;

	if (argc == 1) {
		ksft_print_header();
		ksft_set_plan(20);
	}
	if (system("rm -rf " DIR " && mkdir " DIR " && cp -L " LIB " " ONE))
		guest_die(DIR, "cannot be made");
	guest_open(&g);
	guest_add(&g, getpid());
	if (argc > 2 && !strcmp(argv[1], "bench")) {
		for (i = 2; i < argc; i++)
			bench(strtoul(argv[i], NULL, 10));
		return 0;
	}
	guest_info_at_rest(&g, &start);
	test_fork();
	test_random();
	test_many();
	test_kill();
	test_told();
	ksft_test_result(guest_settles(&g, &start), "nothing is left of them\n");
	if (system("rm -rf " DIR))
		guest_die(DIR, "is left");
	ksft_finished();
}
