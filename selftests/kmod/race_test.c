// SPDX-License-Identifier: GPL-2.0
/*
 * Files that change while a request reads them, signals during requests, a process whose mmap_lock
 * stays held, processes that fork while they are looked at or refused, a budget for nothing, and very
 * many tables.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "kselftest.h"

#define ELF		"/usr/bin/tar"
#define TRIES		300
#define MANY		10000
#define MANY_DEBUG	1000
#define MANY_NAME	"/tmp/race-%d"

static struct guest g;
static volatile bool stop;
static int changing;
static uint8_t *bytes;
static off_t size;

static void read_table(void)
{
	int fd = guest_table_fd(ELF);
	struct stat st;

	fstat(fd, &st);
	size = st.st_size;
	bytes = malloc(size);
	if (!bytes || pread(fd, bytes, size, 0) != (ssize_t)size)
		guest_die(ELF, "no table");
	close(fd);
}

/*
 * In a loop: truncate the table's file, write it whole, make one byte wrong, make it right.  After each eighth turn
 * sleep, so that the module also reads the file while it is whole.
 */
static void *change(void *arg)
{
	const struct timespec rest = { .tv_nsec = 100000 };
	uint8_t bad = 0xff;
	unsigned int i;

	(void)arg;
	for (i = 0; !stop; i++) {
		if (ftruncate(changing, i % 3 * size / 3) ||
		    pwrite(changing, bytes, size, 0) != (ssize_t)size ||
		    pwrite(changing, &bad, 1, size / 2) != 1 ||
		    pwrite(changing, &bytes[size / 2], 1, size / 2) != 1)
			guest_die("changing", strerror(errno));
		if (!(i % 8))
			nanosleep(&rest, NULL);
	}
	return NULL;
}

static void test_changing_table(void)
{
	int exe = open(ELF, O_RDONLY), i, taken = 0, refused = 0;
	const long deadline = guest_deadline();
	pthread_t thread;
	uint32_t id;
	bool ok = true;

	changing = memfd_create("changing", 0);
	if (pthread_create(&thread, NULL, change, NULL))
		guest_die("pthread_create", "failed");
	for (i = 0; i < TRIES || (!(taken && refused) && guest_waits(deadline)); i++) {
		memset(&g.error, 0, sizeof(g.error));
		if (!netlink_table_add(g.nl, changing, exe, &id, &g.error)) {
			taken++;
			ok = ok && !netlink_table_del(g.nl, id, true, &g.error);
		} else {
			refused++;
			ok = ok && *g.error.text && (g.error.code == EINVAL ||
						     g.error.code == EFBIG || g.error.code == EIO);
		}
	}
	stop = true;
	pthread_join(thread, NULL);
	close(changing);
	close(exe);
	if (!ok)
		ksft_print_msg("code %d, \"%s\"\n", g.error.code, g.error.text);
	ksft_test_result(ok && refused && taken,
			 "a file that changes while it is read: %d taken, %d refused\n", taken,
			 refused);
}

/* Give the file's name to other files again and again; requests are about the file that is open. */
static void *replace(void *arg)
{
	const char *path = arg;
	char other[64];

	snprintf(other, sizeof(other), "%s.new", path);
	while (!stop) {
		close(open(other, O_CREAT | O_WRONLY, 0600));
		if (rename(other, path))
			guest_die("rename", strerror(errno));
	}
	return NULL;
}

static void test_replaced_file(void)
{
	char path[] = "/tmp/race-exe";
	int fd = guest_table_fd(ELF), i;
	pthread_t thread;
	bool ok = true;
	uint32_t id;

	stop = false;
	close(open(path, O_CREAT | O_WRONLY, 0600));
	if (pthread_create(&thread, NULL, replace, path))
		guest_die("pthread_create", "failed");
	for (i = 0; ok && i < TRIES; i++) {
		int exe = open(path, O_RDONLY);

		ok = exe >= 0 && !netlink_table_add(g.nl, fd, exe, &id, &g.error) &&
		     !netlink_table_del(g.nl, id, true, &g.error);
		close(exe);
	}
	stop = true;
	pthread_join(thread, NULL);
	unlink(path);
	close(fd);
	if (!ok)
		ksft_print_msg("\"%s\"\n", g.error.text);
	ksft_test_result(ok, "a file whose name is given away all the time\n");
}

static volatile sig_atomic_t alarms;

static void on_alarm(int number)
{
	(void)number;
	alarms++;
}

/* Requests succeed while signals interrupt them: libnl restarts the system calls. */
static void test_signals(void)
{
	const struct itimerval often = { { 0, 300 }, { 0, 300 } }, never = {};
	struct sigaction action = { .sa_handler = on_alarm };
	int fd = guest_table_fd(ELF), exe = open(ELF, O_RDONLY), i;
	struct netlink_files tables = {};
	bool ok = true;
	uint32_t id;

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (i = 0; ok && i < TRIES; i++) {
		ok = !netlink_table_add(g.nl, fd, exe, &id, &g.error) &&
		     !netlink_files_get(g.nl, &tables, &g.error) &&
		     !netlink_table_del(g.nl, id, true, &g.error);
		netlink_files_free(&tables);
		memset(&tables, 0, sizeof(tables));
	}
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_DFL);
	close(fd);
	close(exe);
	if (!ok)
		ksft_print_msg("\"%s\"\n", g.error.text);
	ksft_test_result(ok && alarms > 10, "%d signals in the middle of requests\n", alarms);
}

/* How often this process has given up its CPU of its own accord. */
static long sleeps(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nvcsw;
}

/* A process can hold its mmap_lock for ever: requests about it are refused, after a second or at once. */
static void test_locked(void)
{
	pid_t target = guest_spawn(NULL, NULL), other = guest_spawn(NULL, NULL);
	struct netlink_proc proc = { .pid = target }, beside = { .pid = other };
	char insmod[512];
	long waits, nowaits;
	bool ok;

	snprintf(insmod, sizeof(insmod), "insmod %s/bee_mmap_lock.ko pid=%d",
		 getenv("BEE_TEST_KO"), target);
	if (system(insmod))
		guest_die("insmod", "bee_mmap_lock.ko");
	waits = sleeps();
	ok = netlink_proc_add(g.nl, &proc, &g.error) && g.error.code == EBUSY &&
	     strstr(g.error.text, "memory map");
	waits = sleeps() - waits;
	nowaits = sleeps();
	ok = ok && netlink_proc_add_nowait(g.nl, &proc, &g.error) && g.error.code == EBUSY;
	nowaits = sleeps() - nowaits;
	ksft_print_msg("\"%s\"; slept %ld times, with nowait %ld times\n", g.error.text, waits, nowaits);
	ok = ok && waits > 20 && nowaits < 5;
	ok = ok && !netlink_proc_add_nowait(g.nl, &beside, &g.error);
	if (system("rmmod bee_mmap_lock"))
		guest_die("rmmod", "bee_mmap_lock");
	ok = ok && !netlink_proc_add(g.nl, &proc, &g.error) && guest_is_exact(&g, target);
	guest_reap(target);
	guest_reap(other);
	ksft_test_result(ok, "a process with its memory map locked is refused, and no other\n");
}

/* With so many mappings a fork holds mmap_lock for several ticks. */
#define SLOW_MAPPINGS	1000
#define SLOW_ROUNDS	10

static pid_t fork_paused(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	for (;;)
		pause();
}

/*
 * Of a file that was not known before, a callback with PREEMPT_RT leaves the look to a worker.  That
 * waits for mmap_lock here, which two forks hold one after the other.
 */
static void test_fork_before_settled(void)
{
	pid_t child[2];
	bool ok = true;
	int i, k, fd;
	char *slow, *p;

	guest_add(&g, getpid());
	slow = mmap(NULL, SLOW_MAPPINGS * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (i = 0; i < SLOW_MAPPINGS; i += 2)
		if (mprotect(slow + i * PAGE, PAGE, PROT_NONE))
			guest_die("mprotect", strerror(errno));
	for (i = 0; ok && i < SLOW_ROUNDS; i++) {
		fd = memfd_create("race", 0);
		if (ftruncate(fd, PAGE))
			guest_die("ftruncate", strerror(errno));
		fflush(stdout);
		p = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		child[0] = fork_paused();
		child[1] = fork_paused();
		for (k = 0; k < 2; k++) {
			ok = guest_becomes_exact(&g, child[k]) && ok;
			guest_reap(child[k]);
		}
		munmap(p, PAGE);
		close(fd);
	}
	munmap(slow, SLOW_MAPPINGS * PAGE);
	ok = !netlink_proc_del(g.nl, getpid(), &g.error) && ok;
	ksft_test_result(ok, "children of a process that has just mapped a file have it (round %d)\n",
			 i);
}

#define REFUSED_CHILDREN	200

/*
 * Start a process that reads a byte from @begin, forks REFUSED_CHILDREN children and then writes a byte to
 * @told.  All of them are in its process group.  Return: its pid.
 */
static pid_t fork_many(int begin, int told)
{
	pid_t pid = fork();
	char byte;
	int i;

	if (pid)
		return pid;
	setpgid(0, 0);
	if (read(begin, &byte, 1) != 1)
		_exit(1);
	for (i = 0; i < REFUSED_CHILDREN; i++)
		fork_paused();
	if (write(told, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* The budget has room for an entry, which may exceed it by an eighth, but not for ranges. */
static void test_fork_while_refused(void)
{
	struct range one = { .start = 0x10000, .end = 0x11000 };
	struct netlink_info before, after;
	struct netlink_proc proc = {};
	int begin[2], told[2], refused = 0;
	char byte;
	bool ok;

	guest_info_at_rest(&g, &before);
	ok = !netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_BUDGET, netlink_info_used(&before),
				 &g.error);
	if (pipe(begin) || pipe2(told, O_NONBLOCK))
		guest_die("pipe", strerror(errno));
	fflush(stdout);
	proc.pid = fork_many(begin[0], told[1]);
	while (ok && read(told[0], &byte, 1) != 1) {
		ok = guest_update(&g, &proc, NULL, 0, &one, 1) && g.error.code == ENOSPC;
		if (!refused++ && write(begin[1], "", 1) != 1)
			guest_die("pipe", strerror(errno));
	}
	guest_info(&g, &after);
	ksft_print_msg("%d times, code %d, \"%s\": %u processes\n", refused, g.error.code,
		       g.error.text, after.procs);
	ksft_test_result(ok && refused && after.procs == before.procs,
			 "a process that forks while it is refused leaves no managed children\n");
	kill(-proc.pid, SIGKILL);
	guest_reap(proc.pid);
	close(begin[0]);
	close(begin[1]);
	close(told[0]);
	close(told[1]);
	if (netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_BUDGET, before.budget, &g.error))
		guest_die("config-set", g.error.text);
}

static void many_path(char path[32], int i)
{
	snprintf(path, 32, MANY_NAME, i);
}

static void test_many_tables(void)
{
	const int many = guest_is_instrumented() ? MANY_DEBUG : MANY;
	int fd = guest_table_fd("/bin/true"), i, seen = 0;
	struct netlink_files tables = {};
	uint32_t *ids = calloc(many, sizeof(*ids));
	char path[32];
	bool ok = true;
	size_t t;

	for (i = 0; ok && i < many; i++) {
		int exe;

		many_path(path, i);
		exe = open(path, O_CREAT | O_RDWR, 0600);
		ok = exe >= 0 && !netlink_table_add(g.nl, fd, exe, &ids[i], &g.error);
		close(exe);
	}
	if (!ok)
		ksft_print_msg("%d: \"%s\"\n", i, g.error.text);
	ok = ok && !netlink_files_get(g.nl, &tables, &g.error);
	for (t = 0; t < tables.count; t++)
		seen += tables.file[t].loaded && strstr(tables.file[t].name, "race-") != NULL;
	netlink_files_free(&tables);
	ksft_test_result(ok && seen == many, "%d tables are kept and listed\n", seen);
	for (i = 0; i < many; i++) {
		many_path(path, i);
		unlink(path);
		if (ids[i] && netlink_table_del(g.nl, ids[i], true, &g.error))
			ok = false;
	}
	ksft_test_result(ok, "and deleted\n");
	free(ids);
	close(fd);
}

#define MOST_CHILDREN	4000

/*
 * Over the budget, where callbacks get no more memory for other things, forked children still become
 * managed, from the reserve; and all of them share their parent's ranges.
 */
static void test_reserve(void)
{
	struct netlink_info before, now = {};
	static pid_t child[MOST_CHILDREN];
	uint64_t used = 0, most = 0;
	bool ok = true;
	int n = 0;

	guest_add(&g, getpid());
	guest_info_at_rest(&g, &before);
	most = netlink_info_used(&before);
	ok = !netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_BUDGET, most, &g.error);
	/* An eighth is for all callbacks, and a quarter for the reserve. */
	most += most / 8;
	while (ok && used <= most && n < MOST_CHILDREN) {
		child[n] = fork();
		if (!child[n]) {
			pause();
			_exit(0);
		}
		n++;
		guest_info(&g, &now);
		used = netlink_info_used(&now);
		ok = now.procs == before.procs + n && now.follow_lost == before.follow_lost;
	}
	ksft_print_msg("%d children, %u processes, %lu bytes of %lu\n", n, now.procs, used, most);
	ksft_test_result(ok && used > most, "children over the budget are managed\n");
	while (n--)
		guest_reap(child[n]);
	ok = !netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_BUDGET, before.budget, &g.error) &&
	     !netlink_proc_del(g.nl, getpid(), &g.error);
	ksft_test_result(ok, "and all is as before\n");
}

/*
 * With a budget for nothing but the walks tables and processes are refused, and programs run on
 * unharmed.
 */
static void test_no_budget(void)
{
	int fd = guest_table_fd(ELF), exe = open(ELF, O_RDONLY), status = -1;
	struct netlink_info info;
	pid_t target, child;
	struct netlink_proc proc;
	uint32_t id;
	bool ok;

	/* Workers free what has ended, for which the budget has no room. */
	guest_info_at_rest(&g, &info);
	ok = !netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_BUDGET, info.cache_bytes,
				 &g.error);
	if (!ok)
		ksft_print_msg("\"%s\"\n", g.error.text);
	ok = ok && netlink_table_add(g.nl, fd, exe, &id, &g.error) &&
	     strstr(g.error.text, "over budget");
	target = guest_spawn(NULL, NULL);
	proc = (struct netlink_proc){ .pid = target };
	ok = ok && netlink_proc_add(g.nl, &proc, &g.error) && *g.error.text;
	child = fork();
	if (!child) {
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	waitpid(child, &status, 0);
	ok = ok && !status;
	guest_reap(target);
	if (!ok)
		ksft_print_msg("code %d, \"%s\"\n", g.error.code, g.error.text);
	ok = !netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_BUDGET, info.budget, &g.error) && ok;
	ksft_test_result(ok, "with no budget all is refused in words, and nobody is hurt\n");
	close(fd);
	close(exe);
}

int main(void)
{
	struct netlink_info start;

	ksft_print_header();
	ksft_set_plan(12);
	guest_open(&g);
	guest_info(&g, &start);
	read_table();
	test_reserve();
	test_no_budget();
	test_changing_table();
	test_replaced_file();
	test_signals();
	test_locked();
	test_fork_before_settled();
	test_fork_while_refused();
	test_many_tables();
	ksft_test_result(guest_settles(&g, &start), "everything is given back\n");
	ksft_finished();
}
