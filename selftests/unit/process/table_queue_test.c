// SPDX-License-Identifier: GPL-2.0
/* The queue of files that need a table: which comes next, and that each is in it once. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fake_netlink.h"
#include "kselftest.h"
#include "table_queue.h"

/* map_file.c with another map_file_pin() before its own. */
#define map_file_pin map_file_pin_really
int map_file_pin(const struct mapping *mapping);
#include "map_file.c"
#undef map_file_pin

#define STUCK	0x3ffffffe	/* a process that does not let itself be looked at */

#define USER	0x20000000	/* and more: processes of user 0, 1 ... */
#define ONE	70001
#define OTHER	70002
#define SLOW	70003		/* one whose file system does not answer */
#define KILLED	70004		/* one whose children are killed */

int map_file_pin(const struct mapping *mapping)
{
	if (mapping->pid == USER + SLOW)
		signal(SIGALRM, SIG_IGN);
	if (mapping->pid == USER + KILLED)
		raise(SIGKILL);
	while (mapping->pid == STUCK || mapping->pid == USER + SLOW)
		pause();
	return map_file_pin_really(mapping);
}


/* Instead of libc's: such processes have users. */
int stat(const char *path, struct stat *st)
{
	int pid;

	if (sscanf(path, "/proc/%d", &pid) != 1 || pid < USER || pid >= STUCK)
		return fstatat(AT_FDCWD, path, st, 0);
	st->st_uid = pid - USER;
	return 0;
}

static bool is_deaf;

/* Likewise: as if processes waited for a file system that does not answer. */
int kill(pid_t pid, int number)
{
	return is_deaf ? 0 : syscall(SYS_kill, pid, number);
}

static int64_t later_ms;

/* Likewise: as if time had passed. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
	int ret = syscall(SYS_clock_gettime, clock, now);

	if (clock == CLOCK_MONOTONIC)
		now->tv_sec += later_ms / 1000;
	return ret;
}

static char directory[] = "/tmp/table_queue_test.XXXXXX";
static char order[16];	/* the last letter of the name of each file that is done */
static int loaded;	/* how many of them have a table */
static int refusal;	/* of the last one */
static bool opened;	/* likewise */

static void done(void *arg, const struct table_want *want, const struct table_result *result)
{
	size_t length = strlen(order);

	(void)arg;
	loaded += result->source != TABLE_NONE;
	refusal = result->refusal;
	opened = result->opened;
	if (length + 1 < sizeof(order))
		order[length] = want->name[strlen(want->name) - 1];
}

static struct table_maker maker = { .done = done, .jobs = 1 };

/* A file that does not exist, so that each child ends at once.  Its id is that of its letter. */
static struct netlink_file file_of(char letter, uint32_t missed)
{
	struct netlink_file file = { .id = letter, .inode = letter, .device = 5, .missed = missed };

	snprintf(file.name, sizeof(file.name), "/nonexistent/%c", letter);
	return file;
}

static void add(struct table_queue *queue, char letter, uint32_t missed)
{
	struct netlink_file file = file_of(letter, missed);

	table_queue_add(queue, &file);
}

static void add_of(struct table_queue *queue, char letter, uint32_t missed, uid_t user)
{
	struct table_want want = { .id = letter, .missed = missed, .pin = -ENOENT,
				   .mapping = { .pid = USER + user, .inode = letter, .user = user } };

	snprintf(want.name, sizeof(want.name), "/nonexistent/%c", letter);
	table_queue_add_want(queue, &want);
}

static bool drained(struct table_queue *queue, const char *expected)
{
	bool good = !table_queue_drain(queue) && !strcmp(order, expected);

	if (!good)
		ksft_print_msg("order: %s, expected: %s\n", order, expected);
	table_queue_close(queue);
	return good;
}

static struct table_queue *fresh(void)
{
	memset(order, 0, sizeof(order));
	loaded = 0;
	fake_reset();
	return table_queue_open(&maker);
}

static bool check_hottest(void)
{
	struct table_queue *queue = fresh();

	add(queue, 'a', 1);
	add(queue, 'b', 7);
	add(queue, 'c', 1);
	add(queue, 'd', 9);
	return drained(queue, "dbac");
}

/* The module's counts are newer than those of the messages; what is loaded needs no table. */
static bool check_counts(void)
{
	struct table_queue *queue = fresh();

	add(queue, 'a', 5);
	add(queue, 'b', 1);
	add(queue, 'c', 3);
	fake.nfiles = 2;
	fake.file[0] = file_of('b', 8);
	fake.file[1] = file_of('a', 9);
	fake.file[1].loaded = true;
	return drained(queue, "bc");
}

/*
 * An id is in the queue once.  A file with another id that looks the same may be the same, or that
 * of another subvolume.
 */
static bool check_once(void)
{
	struct table_queue *queue = fresh();
	struct netlink_file file = file_of('a', 2);

	add(queue, 'a', 1);
	add(queue, 'b', 1);
	add(queue, 'a', 1);
	file.id = 1000;
	table_queue_add(queue, &file);
	fake.nfiles = 3;
	fake.file[0] = file_of('a', 1);
	fake.file[1] = file_of('b', 1);
	fake.file[2] = file;
	return table_queue_waiting(queue) == 3 && drained(queue, "aab");
}

/* Of those that look the same and that the module has forgotten, only the last may be mapped. */
static bool check_forgotten(void)
{
	struct table_queue *queue = fresh();
	struct netlink_file file = file_of('a', 1);
	struct netlink_files files = { .file = &file, .count = 1 };
	bool good;

	for (file.id = 1000; file.id < 1003; file.id++)
		table_queue_add(queue, &file);
	add(queue, 'b', 1);
	file.id = 1000;
	table_queue_count(queue, &files);
	good = table_queue_waiting(queue) == 3;
	files.count = 0;
	table_queue_count(queue, &files);
	return good && table_queue_waiting(queue) == 2 && drained(queue, "ab");
}

/*
 * What looks like a file that is worked on waits for it, and has its turn whether that has got a
 * table (a file of this test, of which the module says so) or was not found.
 */
static bool check_alike(bool found)
{
	struct table_queue *queue;
	struct netlink_file file = file_of('a', 1);
	struct stat st = { 0 };
	char path[64];
	bool good = true;
	int fd;

	maker.jobs = 2;
	queue = fresh();
	snprintf(path, sizeof(path), "%s/a", directory);
	if (found) {
		fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
		good = fd >= 0 && !fstat(fd, &st) && !close(fd);
		snprintf(file.name, sizeof(file.name), "%s", path);
		file.inode = st.st_ino;
		fake.nfiles = 1;
		fake.file[0] = (struct netlink_file){ .id = 5, .inode = st.st_ino, .loaded = true };
	}
	table_queue_add(queue, &file);
	good &= table_queue_start(queue, 2) == 1;
	table_queue_add(queue, &file);
	good &= !table_queue_waiting(queue);
	for (file.id = 1000; file.id < 1002; file.id++) {
		table_queue_add(queue, &file);
		fake.file[file.id - 999] = file;
	}
	fake.nfiles = 3;
	good &= table_queue_waiting(queue) == 2 && !table_queue_start(queue, 2) &&
		drained(queue, "aaa") && loaded == (found ? 3 : 0);
	maker.jobs = 1;
	return good && (!found || !unlink(path));
}

static bool skip(void *arg, uint32_t id)
{
	return id == *(const char *)arg;
}

/* Of four files that are mapped: one was not missed, one has a table, and one is to be skipped. */
static bool check_missed(void)
{
	struct table_queue *queue = fresh();
	char skipped = 'c';
	bool good;

	fake.pid = 100;
	fake.nfiles = fake.nranges = 4;
	for (size_t i = 0; i < 4; i++) {
		fake.file[i] = file_of('a' + i, i);
		fake.range[i] = (struct range){ 0x1000 * i, 0x1000 * (i + 1), 0, 'a' + i };
	}
	fake.file[1].loaded = true;
	table_queue_add_missed(queue, 101, NULL, NULL);
	good = !table_queue_waiting(queue);
	table_queue_add_missed(queue, 100, skip, &skipped);
	good &= table_queue_waiting(queue) == 1;
	table_queue_add_missed(queue, 0, NULL, NULL);
	return good && drained(queue, "dc");
}

/* What is worked on is not queued again, and ends with the queue. */
static bool check_close(void)
{
	struct table_queue *queue = fresh();
	char path[64];
	struct netlink_file file = file_of('p', 1);
	struct table_want want = { .id = 'p', .pin = -ENOENT };
	bool good;

	/* A FIFO that nobody writes to would hold the child, if it were opened. */
	snprintf(path, sizeof(path), "%s/p", directory);
	good = !mkfifo(path, 0600);
	snprintf(file.name, sizeof(file.name), "%s", path);
	snprintf(want.name, sizeof(want.name), "%s", path);
	table_queue_add(queue, &file);
	good &= table_queue_start(queue, 1) == 1 && table_queue_running(queue) == 1;
	table_queue_add(queue, &file);
	good &= !table_queue_waiting(queue) && table_queue_start(queue, 1) == 0;
	table_queue_close(queue);
	return good && !order[0] && !unlink(path);
}

/* Waiting or not, under its id or, when it is mapped again, another.  Code in memory is no file. */
static bool check_ban(void)
{
	struct table_queue *queue = fresh();
	struct netlink_file a = file_of('a', 3), c = file_of('c', 3), code = { .owner = 1 }, vdso;
	bool good;

	table_queue_add(queue, &a);
	add(queue, 'b', 2);
	table_queue_ban(queue, &a);
	table_queue_ban(queue, &a);
	table_queue_ban(queue, &c);
	table_queue_ban(queue, &code);
	good = table_queue_waiting(queue) == 1;
	table_queue_add(queue, &a);
	a.id = 1000;
	table_queue_add(queue, &a);
	table_queue_add(queue, &c);
	vdso = (struct netlink_file){ .id = 'd', .name = "/nonexistent/d" };
	table_queue_add(queue, &vdso);
	good &= table_queue_waiting(queue) == 2;
	return drained(queue, "bd") && good;
}

/* More files than this process may have descriptors, all of them mapped here. */
static int check_pins(void)
{
	struct rlimit limit, low = { 64, 64 };
	struct table_queue *queue = fresh();
	struct netlink_file file;
	int i, fd = open("/proc/self/exe", O_RDONLY);
	void *map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	bool good = map != MAP_FAILED && !close(fd) && !getrlimit(RLIMIT_NOFILE, &limit);

	file = file_of('a', 1);
	file.pid = getpid();
	file.start = (uintptr_t)map;
	file.end = file.start + 4096;
	i = map_file_pin(&(struct mapping){ .pid = file.pid, .start = file.start, .end = file.end });
	if (i < 0) {
		table_queue_close(queue);
		return -1;
	}
	close(i);
	low.rlim_max = limit.rlim_max;
	good &= !setrlimit(RLIMIT_NOFILE, &low);
	for (i = 0; i < 200; i++) {
		file.id = 1000 + i;
		file.inode = i;
		table_queue_add(queue, &file);
	}
	/* Until it has a pin for each file that may have one, which are fewer than 64. */
	while (table_queue_poll(queue, NULL, 0, 50, NULL) > 0)
		;
	good &= table_queue_waiting(queue) == 200 && table_queue_start(queue, 1) == 1;
	table_queue_close(queue);
	return !munmap(map, 4096) && !setrlimit(RLIMIT_NOFILE, &limit) && good;
}

/*
 * A process that holds its mmap_lock keeps nobody waiting: neither the files of others, nor its own,
 * which are looked for by name.  A file that is added again still waits for its pin.
 */
static bool check_stuck(void)
{
	struct table_queue *queue;
	struct netlink_file file = file_of('a', 9);

	maker.jobs = 2;
	queue = fresh();
	file.pid = STUCK;
	table_queue_add(queue, &file);
	add(queue, 'a', 9);
	add(queue, 'b', 1);
	if (table_queue_start(queue, 2) != 1 || table_queue_poll(queue, NULL, 0, -1, NULL) < 0) {
		table_queue_close(queue);
		return false;
	}
	maker.jobs = 1;
	return drained(queue, "ba");
}

/* Users take turns; who comes back comes after those who have waited. */
static bool check_turns(void)
{
	struct table_queue *queue = fresh();

	add_of(queue, 'a', 900, ONE);
	add_of(queue, 'b', 901, ONE);
	add_of(queue, 'c', 902, ONE);
	add_of(queue, 'd', 1, OTHER);
	add_of(queue, 'e', 5, 0);
	add_of(queue, 'f', 2, OTHER);
	return drained(queue, "cefbda");
}

/* A user has half of the children, root all; a child counts until its result has been read. */
static bool check_share(void)
{
	struct table_queue *queue;
	bool good;
	char c;

	maker.jobs = 5;
	queue = fresh();
	for (c = 'a'; c < 'e'; c++)
		add_of(queue, c, 1, ONE);
	good = table_queue_start(queue, 5) == 2 && !table_queue_start(queue, 5);
	for (c = 'e'; c < 'i'; c++)
		add_of(queue, c, 1, 0);
	good &= table_queue_start(queue, 5) == 3 && !table_queue_drain(queue) && strlen(order) == 8;
	maker.jobs = 1;
	table_queue_close(queue);
	return good;
}

/* A full queue has room for who has fewer files there, but not in place of root's. */
static bool check_room(void)
{
	struct table_queue *queue = fresh();
	bool good;
	char c;

	for (c = 'a'; c < 'f'; c++)
		add_of(queue, c, 1, 0);
	good = !table_queue_make_room(queue, OTHER);
	for (c = 'f'; c < 'i'; c++)
		add_of(queue, c, 1, ONE);
	good &= !table_queue_make_room(queue, ONE) &&
		table_queue_make_room(queue, OTHER) && table_queue_waiting(queue) == 7;
	add_of(queue, 'i', 1, OTHER);
	good &= !table_queue_make_room(queue, OTHER);
	return good && drained(queue, "afibgcde");
}

/* The files of a user have kept too many children: for now they get none, and those of others do. */
static bool check_lost(void)
{
	struct table_queue *queue;
	struct table_want want = { .id = 's', .pin = -ENOENT, .name = "/nonexistent/s",
				   .mapping = { .pid = USER + SLOW, .user = SLOW } };
	bool good = true;
	int i;

	for (i = 0; i < 9; i++) {
		queue = fresh();
		table_queue_add_want(queue, &want);
		good &= table_queue_start(queue, 1) == (i < 8) && !table_queue_waiting(queue) &&
			!strcmp(order, i < 8 ? "" : "s") && (i < 8 || refusal == EDQUOT);
		is_deaf = true;
		table_queue_close(queue);
		is_deaf = false;
	}
	queue = fresh();
	add_of(queue, 'a', 1, ONE);
	good &= drained(queue, "a");
	return good;
}

/* The kernel has killed the child, for want of memory: the file is not to blame. */
static bool check_killed(void)
{
	struct table_queue *queue = fresh();

	add_of(queue, 'k', 1, KILLED);
	return drained(queue, "k") && refusal == EDQUOT && !opened;
}

/* Whose file it is says the module, or the process that has it mapped; both may be this user. */
static bool check_user(void)
{
	struct netlink_file file[] = {
		{ .id = 1, .pid = USER + ONE, .uid = OTHER },
		{ .id = 2, .pid = USER + ONE, .uid = NETLINK_NO_UID },
		{ .id = 3, .pid = USER + ONE, .uid = geteuid() },
		{ .id = 4, .pid = USER + geteuid(), .uid = NETLINK_NO_UID },
		{ .id = 5, .pid = 0x3fffffff, .uid = NETLINK_NO_UID },
	};
	static const uid_t users[] = { OTHER, ONE, 0, 0, -1 };
	struct table_wants wants = { 0 };
	bool good = true;
	size_t i;

	for (i = 0; i < 5; i++) {
		table_jobs_add(&wants, &file[i]);
		good &= wants.want[i].mapping.user == users[i];
	}
	table_jobs_free(&wants);
	return good;
}

/* What finds no place is looked for when no file waits, or when some time has passed. */
static bool check_look(void)
{
	struct table_queue *queue = fresh();
	struct netlink_file file = file_of('z', 1);
	struct table_want want = { .pin = -ENOENT };
	bool good;

	good = !table_queue_may_look(queue) && !table_queue_note_left(queue) &&
	       table_queue_note_left(queue) && table_queue_may_look(queue) &&
	       !table_queue_may_look(queue);
	for (want.id = 1000; want.id < 1000 + TABLE_QUEUE_MOST; want.id++)
		table_queue_add_want(queue, &want);
	table_queue_add(queue, &file);
	good &= table_queue_waiting(queue) == TABLE_QUEUE_MOST && !table_queue_may_look(queue);
	later_ms += 9000;
	good &= !table_queue_may_look(queue);
	later_ms += 2000;
	/* It wakes up for that. */
	good &= !table_queue_poll(queue, NULL, 0, -1, NULL) && table_queue_may_look(queue) &&
		!table_queue_may_look(queue);
	file.uid = OTHER;
	want.mapping.user = ONE;
	for (; want.id < 1010 + TABLE_QUEUE_MOST; want.id++)
		table_queue_add_want(queue, &want);
	table_queue_add(queue, &file);
	good &= table_queue_waiting(queue) == TABLE_QUEUE_MOST + 10 && table_queue_note_left(queue);
	/* One more of the user who has most is left out; another user's comes in, once, in place of one of these. */
	table_queue_offer(queue, &want);
	good &= table_queue_waiting(queue) == TABLE_QUEUE_MOST + 10;
	want.mapping.user = OTHER;
	table_queue_offer(queue, &want);
	table_queue_offer(queue, &want);
	good &= table_queue_waiting(queue) == TABLE_QUEUE_MOST + 10;
	table_queue_close(queue);
	return good;
}

static void note_signal(int number)
{
	(void)number;
}

/* That a signal has ended the wait is what the caller hears, whatever the pinner is about. */
static bool check_signal(void)
{
	struct sigaction action = { .sa_handler = note_signal };
	struct table_queue *queue = fresh();
	struct netlink_file file = file_of('a', 1);
	sigset_t none, blocked;
	bool good;

	sigemptyset(&none);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	sigaction(SIGUSR1, &action, NULL);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	file.pid = STUCK;
	table_queue_add(queue, &file);
	raise(SIGUSR1);
	good = table_queue_poll(queue, NULL, 0, -1, &none) == -1 && errno == EINTR;
	table_queue_close(queue);
	return good;
}

int main(void)
{
	char command[64];
	int pins;

	ksft_print_header();
	ksft_set_plan(19);
	if (!mkdtemp(directory))
		return 1;
	setenv("BEEUNWIND_CACHE", directory, 1);
	maker.cache = cache_open();
	ksft_test_result(check_hottest(), "the file that is missed most comes first\n");
	ksft_test_result(check_turns(), "users take turns\n");
	ksft_test_result(check_share(), "half of the children are for others\n");
	ksft_test_result(check_room(), "a full queue has room for other users\n");
	ksft_test_result(check_lost(), "a user whose file systems do not answer\n");
	ksft_test_result(check_killed(), "a child that is killed\n");
	ksft_test_result(check_user(), "whose a file is\n");
	ksft_test_result(check_look(), "what finds no place is looked for later\n");
	ksft_test_result(check_counts(), "by the module's counts\n");
	ksft_test_result(check_missed(), "files that walks have missed before\n");
	ksft_test_result(check_once(), "an id is in the queue once\n");
	ksft_test_result(check_forgotten(), "what is forgotten is there once\n");
	ksft_test_result(check_alike(false), "two that look like a file that was not found\n");
	ksft_test_result(check_alike(true), "two that look like a file that has a table\n");
	ksft_test_result(check_ban(), "a file that is to have no table does not enter\n");
	pins = check_pins();
	if (pins < 0)
		ksft_test_result_skip("more files than descriptors # SKIP may not open map_files\n");
	else
		ksft_test_result(pins, "more files than descriptors\n");
	ksft_test_result(check_stuck(), "a process that cannot be looked at\n");
	ksft_test_result(check_signal(), "a signal ends the wait\n");
	ksft_test_result(check_close(), "what is at work ends with the queue\n");
	cache_close(maker.cache);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	if (system(command))
		ksft_print_msg("%s is left\n", directory);
	ksft_finished();
}
