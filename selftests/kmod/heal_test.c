// SPDX-License-Identifier: GPL-2.0
/*
 * What samples themselves put right: ranges that the callbacks did not report, or that were lost for
 * want of room; and the counters of what is sampled much.
 *
 *	heal_test		the tests
 *	heal_test faults	those with allocations that fail in the callbacks, for test_faults.sh
 *	heal_test spin FD	is executed by the latter, and "stray FD" by the former
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "chains.h"
#include "guest.h"
#include "kselftest.h"


/* Samples of a process in which its ranges are to be right again: of two seconds; and of a look. */
#define HEAL_SAMPLES	2000
#define ROUND		50

/* Samples after which a busy tally is spread (BEE_TALLY_BUSY of kmod/tally.h), and some. */
#define BUSY	2200

/* Bytes that the budget has beside what is used, and mappings that are too many for them. */
#define ROOM	(4ul << 10)
#define MANY	3000

/* Pages that are mapped and unmapped at once, each other one with code. */
#define MAPPED	100

static struct guest g;

/* What a child tells: the process that is to be sampled; and, of failing allocations, how many not. */
struct told {
	pid_t		pid;
	unsigned int	left;
};

static void run_body(int told, void *arg)
{
	void (**body)(int told) = arg;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	(*body)(told);
}

/* Fork a child that runs @body, which writes to @told when it is there, and does not return. */
static pid_t start(void (*body)(int told), struct told *what)
{
	return guest_start(run_body, &body, what, sizeof(*what));
}

static void tell_of(int told, pid_t pid, unsigned int left)
{
	struct told what = { .pid = pid, .left = left };

	if (write(told, &what, sizeof(what)) != sizeof(what))
		_exit(1);
	close(told);
}

static void tell(int told, unsigned int left)
{
	tell_of(told, getpid(), left);
}

static bool has_ranges(pid_t pid)
{
	struct netlink_proc proc;
	bool has;

	guest_get_proc(&g, pid, &proc);
	has = proc.ranges.count;
	ranges_free(&proc.ranges);
	return has;
}

/* Take samples of @pid until its ranges are right. */
static bool heals(pid_t pid)
{
	struct chains chains;
	unsigned int samples = 0;
	bool exact = false;

	while (!exact && samples < HEAL_SAMPLES) {
		chains_take(pid, ROUND, 0, &chains);
		if (!chains.total)
			break;
		samples += chains.total;
		exact = has_ranges(pid) && guest_is_exact(&g, pid);
	}
	ksft_print_msg("right after %u samples, of at most %u\n", samples, HEAL_SAMPLES);
	return exact;
}

/* mremap() in place calls nothing that is hooked.  Return: the new page, which is a loop. */
static char *grow(void)
{
	static const unsigned char loop[] = { 0xf3, 0x90, 0xeb, 0xfc };	/* pause; jmp to it */
	char *p = mmap(NULL, 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(p, 2 * PAGE);
	if (mmap(p, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		 -1, 0) != p || mremap(p, PAGE, 2 * PAGE, 0) != p)
		_exit(1);
	memcpy(p + PAGE, loop, sizeof(loop));
	return p + PAGE;
}

static void grow_and_run(int told)
{
	char *p = grow();

	tell(told, 0);
	((void (*)(void))p)();
}

/* Send a table for code of @pid of which only 64 bytes are left.  Return: whether it is refused. */
static bool table_is_refused(pid_t pid)
{
	int fd = guest_table_fd("/bin/cat");
	uint32_t id;
	bool refused = !ftruncate(fd, 64) && netlink_table_new(g.nl, fd, pid, "[jit]", &id, &g.error) &&
		       g.error.code == EINVAL;

	close(fd);
	return refused;
}

static void test_growth(void)
{
	struct told what;
	pid_t pid = start(grow_and_run, &what);

	ksft_test_result(!guest_is_exact(&g, pid), "mremap in place is not reported\n");
	ksft_test_result(table_is_refused(pid), "a table for its code is refused\n");
	ksft_test_result(heals(pid), "a sample in the new page has the mappings looked at\n");
	guest_reap(pid);
}

static void run_on(void)
{
	volatile unsigned long n = 0;

	for (;;)
		n++;
}

static void spin(int told)
{
	tell(told, 0);
	run_on();
}

/* So many mappings that there is no room for their ranges: all ranges of the process are lost. */
static void map_and_spin(int told)
{
	int i;

	for (i = 0; i < MANY; i++)
		if (mmap(NULL, PAGE, i & 1 ? PROT_READ : PROT_READ | PROT_EXEC,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
			_exit(1);
	spin(told);
}

static void set_budget(uint64_t bytes)
{
	if (netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_BUDGET, bytes, &g.error))
		guest_die("config-set", g.error.text);
}

static void test_lost(void)
{
	struct netlink_info before, after;
	struct told what;
	pid_t pid;

	guest_info_at_rest(&g, &before);
	set_budget(netlink_info_used(&before) + ROOM);
	pid = start(map_and_spin, &what);
	guest_info(&g, &after);
	ksft_test_result(after.follow_lost > before.follow_lost && !has_ranges(pid),
			 "a process without room for its ranges has lost them\n");
	set_budget(before.budget);
	ksft_test_result(heals(pid), "and has them again once there is room\n");
	guest_reap(pid);
}

/* Maps and unmaps so much that it takes memory each time. */
static void map_and_unmap(int told)
{
	char *p;
	int i;

	tell(told, 0);
	for (;;) {
		p = mmap(NULL, MAPPED * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		for (i = 0; i < MAPPED; i += 2)
			mprotect(p + i * PAGE, PAGE, PROT_READ | PROT_EXEC);
		munmap(p, MAPPED * PAGE);
	}
}

static void test_refused_budget(void)
{
	struct netlink_info before, after;
	struct told what;
	pid_t pid = start(map_and_unmap, &what);
	int i, refused = 0;

	guest_info(&g, &before);
	for (i = 0; i < 20; i++)
		refused += netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_BUDGET, 1, &g.error) &&
			   g.error.code == ENOSPC;
	guest_info(&g, &after);
	ksft_test_result(refused == i && after.follow_lost == before.follow_lost,
			 "a budget that is refused meanwhile takes nothing from a process\n");
	guest_reap(pid);
}

static void set_most(uint32_t ranges)
{
	if (netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_MOST_RANGES, ranges, &g.error))
		guest_die("config-set", g.error.text);
}

static void test_most(void)
{
	struct range one = { .start = PAGE, .end = 2 * PAGE };
	struct netlink_proc proc = {};
	struct netlink_info info;
	struct told what;
	pid_t pid;

	guest_info(&g, &info);
	set_most(MANY / 4);
	pid = start(map_and_spin, &what);
	ksft_test_result(!has_ranges(pid), "a process with more mappings than it may have has no ranges\n");
	proc.pid = pid;
	ksft_test_result(netlink_proc_add(g.nl, &proc, &g.error) && g.error.code == E2BIG &&
			 strstr(g.error.text, "too many ranges"), "it is refused: %s\n", g.error.text);
	guest_get_proc(&g, pid, &proc);
	ksft_test_result(guest_update(&g, &proc, NULL, 0, &one, 1) && g.error.code == ESTALE &&
			 strstr(g.error.text, "lost"), "ranges that it has lost are not changed: %s\n",
			 g.error.text);
	set_most(info.most_ranges);
	ksft_test_result(heals(pid), "and has its ranges once it may have so many\n");
	guest_reap(pid);
}

static volatile sig_atomic_t signals;

static void on_signal(int number)
{
	(void)number;
	signals++;
}

/* At the first signal it maps a page, at the second it grows and runs there. */
static void map_and_grow(int told)
{
	signal(SIGUSR1, on_signal);
	tell(told, 0);
	while (!signals)
		;
	mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	while (signals < 2)
		;
	((void (*)(void))grow())();
}

/* Ranges that are lost and found again are no longer those that a request has made by hand. */
static void test_by_hand(void)
{
	struct range one = { .start = PAGE, .end = 2 * PAGE };
	const long deadline = guest_deadline();
	struct netlink_proc proc = {};
	struct netlink_info info;
	struct told what;
	bool good;
	pid_t pid;

	guest_info(&g, &info);
	pid = start(map_and_grow, &what);
	guest_get_proc(&g, pid, &proc);
	good = !guest_update(&g, &proc, NULL, 0, &one, 1);
	ranges_free(&proc.ranges);
	set_most(1);
	kill(pid, SIGUSR1);
	while (has_ranges(pid) && guest_waits(deadline))
		;
	good = good && !has_ranges(pid);
	set_most(info.most_ranges);
	good = good && heals(pid);
	kill(pid, SIGUSR1);
	while (guest_is_exact(&g, pid) && guest_waits(deadline))
		;
	ksft_test_result(good && heals(pid), "ranges by hand that were lost are looked at again\n");
	guest_reap(pid);
}

/* A fork of so many mappings can be killed in the midst. */
#define DYING_MAPPINGS	4000
#define DYING_ROUNDS	20

/* Nanoseconds that the last fork took; and whether one is going on.  Shared. */
static volatile struct dying {
	long	took;
	bool	forks;
} *dying;

static long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000 + now.tv_nsec;
}

static void lose_and_fork(int told)
{
	const struct timespec moment = { .tv_nsec = 200000000 };
	char *slow = mmap(NULL, DYING_MAPPINGS * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i;

	for (i = 0; i < DYING_MAPPINGS; i += 2)
		if (mprotect(slow + i * PAGE, PAGE, PROT_NONE))
			_exit(1);
	mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	/*
	 * With PREEMPT_RT a worker looks for the ranges of this process meanwhile, and gives up.  After
	 * that it looks for those of the children only.
	 */
	nanosleep(&moment, NULL);
	for (i = 0;; i++) {
		long start = now_ns();
		pid_t pid;

		dying->forks = true;
		pid = fork();
		if (!pid)
			_exit(0);
		dying->forks = false;
		dying->took = now_ns() - start;
		waitpid(pid, NULL, 0);
		if (!i)
			tell(told, 0);
	}
}

/* Send requests without end: with PREEMPT_RT the module looks for lost ranges before it answers one. */
static void ask_on(int told)
{
	struct netlink_info info;

	guest_open(&g);
	tell(told, 0);
	for (;;)
		guest_info(&g, &info);
}

/*
 * The test kills processes in the midst of a fork, so that the fork fails.  The child's tree of mappings
 * then still leads to some of the parent's mappings (dup_mmap() in kernel/fork.c).  If the module reads
 * them when it looks for the child's ranges, the guest's kernel crashes.
 */
static void test_killed_forks(void)
{
	const long deadline = guest_deadline();
	struct netlink_info before;
	struct told what;
	pid_t pid, asking;
	int i, lost = 0, killed = 0;
	long begin;

	guest_info_at_rest(&g, &before);
	dying = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	set_most(1);
	asking = start(ask_on, &what);
	/* The instrumented kernel takes a quarter of a minute for each. */
	for (i = 0; i < DYING_ROUNDS && (!killed || guest_waits(deadline)); i++) {
		pid = start(lose_and_fork, &what);
		lost += !has_ranges(pid);
		while (dying->forks)
			;
		while (!dying->forks)
			;
		begin = now_ns();
		while (now_ns() - begin < dying->took * (i + 1) / (DYING_ROUNDS + 1))
			;
		killed += dying->forks;
		kill(pid, SIGKILL);
		guest_reap(pid);
	}
	guest_reap(asking);
	set_most(before.most_ranges);
	munmap((void *)dying, PAGE);
	ksft_test_result(lost == i && killed && guest_settles(&g, &before),
			 "%d processes of %d that have lost their ranges are killed in forks\n", killed,
			 lost);
}

/*
 * Strays: children of a user who has no room for them
 */

#define STRAY_UID	1009

/* More children than fit into what the user may have. */
#define CHILDREN	300

static const char *self;

static void die_with_parent(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == 1)	/* it has died before */
		_exit(0);
}

static void pause_for_ever(void)
{
	die_with_parent();
	for (;;)
		pause();
}

/* As the user: fork so many children that the last one, in which this returns, is a stray. */
static void become_stray(void)
{
	int i;

	if (setresuid(STRAY_UID, STRAY_UID, STRAY_UID))
		_exit(1);
	die_with_parent();
	for (i = 0; i < CHILDREN; i++)
		if (!fork())
			pause_for_ever();
	if (fork())
		pause_for_ever();
	die_with_parent();
}

static void stray(int told)
{
	become_stray();
	spin(told);
}

static void stray_forks(int told)
{
	become_stray();
	if (fork())
		pause_for_ever();
	die_with_parent();
	spin(told);
}

static void stray_executes(int told)
{
	char text[16];

	become_stray();
	snprintf(text, sizeof(text), "%d", told);
	execl(self, self, "stray", text, NULL);
}

static pthread_t first_thread;

static void *spin_alone(void *told)
{
	pthread_join(first_thread, NULL);
	tell_of((long)told, gettid(), 0);
	run_on();
	return NULL;
}

/* Its first thread ends, and only the other can be sampled. */
static void stray_alone(int told)
{
	pthread_t thread;

	become_stray();
	first_thread = pthread_self();
	if (pthread_create(&thread, NULL, spin_alone, (void *)(long)told))
		_exit(1);
	syscall(SYS_exit, 0);
}

#define MOMENT_NS	20000000

/* Takes samples of itself for a moment of CPU time. */
static void *spin_for_a_moment(void *unused)
{
	int fd = guest_sampler_open(0, 1000000, 0);
	struct timespec now;

	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while (now.tv_nsec < MOMENT_NS);
	close(fd);
	return unused;
}

/* Only threads that live for a moment can be sampled, and no thread twice. */
static void stray_in_moments(int told)
{
	pthread_t thread;

	become_stray();
	tell(told, 0);
	while (!pthread_create(&thread, NULL, spin_for_a_moment, NULL))
		pthread_join(thread, NULL);
}

static void set_follow(uint32_t mode)
{
	if (netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_FOLLOW, mode, &g.error))
		guest_die("config-set", g.error.text);
}

static void set_share(uint32_t percent)
{
	if (netlink_config_set(g.nl, BEEUNWIND_A_CONFIG_SHARE, percent, &g.error))
		guest_die("config-set", g.error.text);
}

/*
 * What a request says of a stray: nothing, or that it is not to be managed, or that all are to be, or
 * that it is, and is refused.
 */
enum said {
	SAID_NOTHING,
	SAID_UNLOAD,
	SAID_ALL,
	SAID_LOAD,
};

/* Ask for a process to be managed that has more ranges than a process may have. */
static bool is_refused(pid_t pid)
{
	struct netlink_proc proc = { .pid = pid };
	struct netlink_info info;
	bool refused;

	guest_info(&g, &info);
	set_most(1);
	refused = netlink_proc_add(g.nl, &proc, &g.error);
	set_most(info.most_ranges);
	return refused;
}

static void test_stray(void (*body)(int told), enum said said, const char *what)
{
	struct netlink_info before, after;
	struct chains chains;
	struct told told;
	bool good;
	pid_t pid;

	guest_info_at_rest(&g, &before);
	set_budget(netlink_info_used(&before) + ROOM);
	set_share(1);
	pid = start(body, &told);
	guest_info(&g, &after);
	good = after.follow_lost > before.follow_lost && !has_ranges(told.pid);
	set_budget(before.budget);
	set_share(before.share);
	if (said == SAID_ALL)
		set_follow(BEEUNWIND_FOLLOW_ALL);
	if (said == SAID_LOAD)
		good = good && is_refused(told.pid) && !has_ranges(told.pid);
	if (said == SAID_UNLOAD) {
		good = good && !netlink_proc_del(g.nl, told.pid, &g.error);
		chains_take(told.pid, 4 * ROUND, 0, &chains);
		good = good && chains.total && !has_ranges(told.pid);
	} else if (body == stray_in_moments) {
		good = good && guest_becomes_exact(&g, told.pid);
	} else {
		good = good && heals(told.pid);
	}
	if (said == SAID_ALL)
		set_follow(before.follow);
	ksft_test_result(good, "%s\n", what);
	guest_reap(pid);
}

static void *spin_thread(void *unused)
{
	run_on();
	return unused;
}

static void spin_in_two(int told)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, spin_thread, NULL))
		_exit(1);
	spin(told);
}

static uint64_t stops_of(const uint32_t stop[])
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i <= BEEUNWIND_STOP_MAX; i++)
		sum += stop[i];
	return sum;
}

/* The walks that the module has counted for @pid; *@files: and those for all files. */
static uint64_t walks_of(pid_t pid, uint64_t *files)
{
	struct netlink_files list;
	struct netlink_proc proc;
	uint64_t walks;
	size_t i;

	guest_get_proc(&g, pid, &proc);
	walks = stops_of(proc.stop);
	ranges_free(&proc.ranges);
	if (netlink_files_get_counts(g.nl, &list, &g.error))
		guest_die("file-get", g.error.text);
	for (*files = 0, i = 0; i < list.count; i++)
		*files += stops_of(list.file[i].stop);
	netlink_files_free(&list);
	return walks;
}

/*
 * Of a process with two threads so many samples are taken that each CPU gets counters of its own.
 * All walks of this time are of this process, and end in code of files.
 */
static void test_tally(void)
{
	struct netlink_info before, after;
	uint64_t files_before, files, walks;
	struct chains chains;
	struct told what;
	pid_t pid;
	int i;

	pid = start(spin_in_two, &what);
	guest_info_at_rest(&g, &before);
	walks_of(pid, &files_before);
	for (i = 0; i < 20; i++) {
		chains_take(pid, BUSY / 10, 0, &chains);
		guest_info(&g, &after);
		if (after.walks - before.walks > BUSY && after.range_bytes > before.range_bytes)
			break;
	}
	guest_info_at_rest(&g, &after);
	walks = walks_of(pid, &files);
	ksft_print_msg("%lu walks, %lu of the process, %lu in files; %lu and %lu bytes more\n",
		       (unsigned long)(after.walks - before.walks), (unsigned long)walks,
		       (unsigned long)(files - files_before),
		       (unsigned long)(after.range_bytes - before.range_bytes),
		       (unsigned long)(after.table_bytes - before.table_bytes));
	ksft_test_result(after.range_bytes > before.range_bytes && after.ranges == before.ranges &&
			 after.table_bytes > before.table_bytes && after.files == before.files,
			 "each CPU has counters of its own for what is sampled much\n");
	ksft_test_result(walks == after.walks - before.walks && files - files_before == walks,
			 "and none is lost or counted twice\n");
	guest_reap(pid);
}

/*
 * Allocations that fail in the callbacks
 */

#define FAILS_MOST	12	/* no callback makes so many allocations */

static unsigned int fail_nth;	/* which allocation is to fail */

static int nth_open(void)
{
	int fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		_exit(1);
	return fd;
}

static void nth_begin(void)
{
	char text[16];
	int fd = nth_open();

	if (pwrite(fd, text, snprintf(text, sizeof(text), "%u", fail_nth), 0) < 0)
		_exit(1);
	close(fd);
}

/* Return: how many more allocations had to succeed before the one to fail; 0: it has failed. */
static unsigned int nth_end(void)
{
	char text[16] = "";
	int fd = nth_open();

	if (pread(fd, text, sizeof(text) - 1, 0) <= 0 || pwrite(fd, "0", 1, 0) != 1)
		_exit(1);
	close(fd);
	return strtoul(text, NULL, 10);
}

static void tell_and_spin(int told, unsigned int left)
{
	tell(told, left);
	run_on();
}

static char *map_text(void)
{
	int fd = open(self, O_RDONLY | O_CLOEXEC);
	char *p = mmap(NULL, 4 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	close(fd);
	if (p == MAP_FAILED)
		_exit(1);
	return p;
}

static void fail_mmap(int told)
{
	nth_begin();
	map_text();
	tell_and_spin(told, nth_end());
}

static void fail_munmap(int told)
{
	char *p = map_text();

	nth_begin();
	munmap(p + PAGE, PAGE);
	tell_and_spin(told, nth_end());
}

static void fail_mremap(int told)
{
	char *p = map_text(), *to = mmap(NULL, 4 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	nth_begin();
	mremap(p, 4 * PAGE, 4 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to);
	tell_and_spin(told, nth_end());
}

static void fail_mprotect(int told)
{
	char *p = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	nth_begin();
	mprotect(p, PAGE, PROT_READ | PROT_EXEC);
	tell_and_spin(told, nth_end());
}

static void fail_fork(int told)
{
	pid_t pid;

	nth_begin();
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run_on();
	}
	tell_of(told, pid, nth_end());
	pause();
}

static void fail_exec(int told)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", told);
	nth_begin();
	execl(self, self, "spin", text, NULL);
}

static const struct {
	const char	*name;
	void		(*run)(int told);
} fails[] = {
	{ "mmap", fail_mmap }, { "munmap", fail_munmap }, { "mremap", fail_mremap },
	{ "mprotect", fail_mprotect }, { "fork", fail_fork }, { "exec", fail_exec },
};

#define NFAILS	(sizeof(fails) / sizeof(fails[0]))

static void test_fail(size_t i)
{
	struct netlink_info before, after;
	struct told what = {};
	bool good = true;
	pid_t pid;

	guest_info(&g, &before);
	for (fail_nth = 1; good && !what.left && fail_nth <= FAILS_MOST; fail_nth++) {
		pid = start(fails[i].run, &what);
		good = heals(what.pid);
		guest_reap(pid);
	}
	guest_info(&g, &after);
	/*
	 * In the last round all allocations succeed (@left), so it is one round more than there were failures.
	 * With PREEMPT_RT the first round is the last: callbacks do not allocate.
	 */
	ksft_test_result(good && what.left && (guest_is_rt() ? fail_nth == 2 : fail_nth > 2),
			 "%s: of %u allocations each failed, ranges were lost %lu times\n",
			 fails[i].name, fail_nth - 2,
			 (unsigned long)(after.follow_lost - before.follow_lost));
}

static int test_faults(void)
{
	size_t i;

	ksft_set_plan(NFAILS);
	guest_open(&g);
	guest_add(&g, getpid());
	for (i = 0; i < NFAILS; i++)
		test_fail(i);
	if (netlink_proc_del(g.nl, getpid(), &g.error))
		guest_die("proc-del", g.error.text);
	ksft_finished();
}

int main(int argc, char **argv)
{
	struct netlink_info begin;

	if (argc > 2 && !strcmp(argv[1], "stray"))
		spin(atoi(argv[2]));
	if (argc > 2 && !strcmp(argv[1], "spin"))
		tell_and_spin(atoi(argv[2]), nth_end());
	self = argv[0];
	ksft_print_header();
	if (argc > 1 && !strcmp(argv[1], "faults"))
		return test_faults();
	ksft_set_plan(23);
	guest_open(&g);
	guest_info_at_rest(&g, &begin);
	guest_add(&g, getpid());
	test_growth();
	test_lost();
	test_refused_budget();
	test_most();
	test_by_hand();
	test_killed_forks();
	test_stray(stray, SAID_NOTHING, "a child without any room is managed once there is some");
	test_stray(stray_forks, SAID_NOTHING, "so is a child of such a child");
	test_stray(stray_executes, SAID_NOTHING, "and one that has executed a program");
	test_stray(stray_alone, SAID_NOTHING, "and one whose first thread has ended");
	test_stray(stray_in_moments, SAID_NOTHING, "and one that runs in threads of a moment");
	test_stray(stray, SAID_ALL, "also if all programs are to be followed meanwhile");
	test_stray(stray, SAID_LOAD, "also if a request to manage it is refused meanwhile");
	test_stray(stray, SAID_UNLOAD, "but not if it is not to be managed");
	test_tally();
	if (netlink_proc_del(g.nl, getpid(), &g.error))
		guest_die("proc-del", g.error.text);
	ksft_test_result(guest_settles(&g, &begin), "nothing is left of them\n");
	ksft_finished();
}
