// SPDX-License-Identifier: GPL-2.0
/*
 * Processes that map, unmap, move, fork, execute and die as fast as they can, and call code in what
 * they have mapped.  Meanwhile perf records all stacks, beectl watch makes the tables, and requests
 * make the module read their mappings anew.  Every half second the processes are stopped, and the
 * module's ranges of each are compared with /proc/PID/maps.
 *
 *	torture_test [SECONDS]
 *
 * Needs the module that has the oracle of selftests/fixtures/modules/mapped.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "guest.h"
#include "kselftest.h"
#include "torture.h"

#define WORKERS	3

static struct guest g;
static pid_t watch;	/* beectl watch */

/* The state of a thread, as the letter in /proc; Z if the thread is gone. */
static char thread_state(pid_t pid, const char *tid)
{
	char path[300], state = 'Z';
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/stat", pid, tid);
	f = fopen(path, "r");
	if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 'Z';
	if (f)
		fclose(f);
	return state;
}

/*
 * If every thread of the process has stopped or ended: a thread that has stopped.  Otherwise, or
 * if all have ended, 0.
 */
static pid_t stopped_thread(pid_t pid)
{
	bool all_stand = true;
	struct dirent *entry;
	char path[64], state;
	pid_t tid = 0;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	while (all_stand && tasks && (entry = readdir(tasks))) {
		if (entry->d_name[0] == '.')
			continue;
		state = thread_state(pid, entry->d_name);
		if (state == 'T')
			tid = atoi(entry->d_name);
		all_stand = strchr("TZX", state);
	}
	if (tasks)
		closedir(tasks);
	return all_stand ? tid : 0;
}

/*
 * Stop a process.  A thread in vfork() stops only once its child has executed or ended, so this
 * waits.  Return: one of its threads, or 0 if it has not stopped in time.
 */
static pid_t stop(pid_t pid)
{
	const long deadline = guest_deadline();
	pid_t tid;

	kill(pid, SIGSTOP);
	do {
		tid = stopped_thread(pid);
	} while (!tid && guest_waits(deadline));
	return tid;
}

static bool round_is_exact(pid_t *pid, int *stopped)
{
	bool exact = true;
	pid_t tid;
	int i;

	for (i = 0; i < WORKERS; i++) {
		tid = stop(pid[i]);
		if (!tid)
			continue;
		++*stopped;
		exact = guest_is_exact(&g, tid) && exact;
		kill(pid[i], SIGCONT);
	}
	return exact;
}

static void dies_with_parent(void *signal)
{
	prctl(PR_SET_PDEATHSIG, (uintptr_t)signal);
}

/* Delete and add again, one by one, the ranges of a child that does nothing. */
static void ask_of_child(struct guest *own)
{
	struct bee_error error;
	struct netlink_proc proc;
	pid_t pid = guest_spawn(dies_with_parent, (void *)SIGKILL);
	size_t i;

	netlink_proc_del(own->nl, pid, &error);
	guest_add(own, pid);
	guest_get_proc(own, pid, &proc);
	for (i = 0; i < proc.ranges.count; i++) {
		struct range r = proc.ranges.range[i];

		if (guest_update(own, &proc, &r, 1, NULL, 0) ||
		    guest_update(own, &proc, NULL, 0, &r, 1))
			guest_die("proc-update", own->error.text);
	}
	ranges_free(&proc.ranges);
	guest_reap(pid);
}

static volatile sig_atomic_t asker_ends;

static void on_term(int signal)
{
	(void)signal;
	asker_ends = 1;
}

/*
 * Fork a process that asks the module to read the workers' mappings, again and again, while they
 * change.  The requests may fail, because workers end.
 */
static pid_t start_asker(const pid_t *pid)
{
	const struct timespec tick = { .tv_nsec = 20000000 };
	pid_t asker;
	struct guest own;
	unsigned int i;

	fflush(stdout);
	asker = fork();
	if (asker)
		return asker;
	dies_with_parent((void *)SIGKILL);
	signal(SIGTERM, on_term);
	guest_open(&own);
	for (i = 0; !asker_ends; i++) {
		struct netlink_proc proc = { .pid = pid[i % WORKERS] };

		netlink_proc_add(own.nl, &proc, &own.error);
		if (i % 16 == 0)
			ask_of_child(&own);
		nanosleep(&tick, NULL);
	}
	netlink_close(own.nl);
	_exit(0);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* struct oracle - the counts of mapped.c: steps by what was mapped at their ip */
struct oracle {
	unsigned long	walks;
	unsigned long	right, absent, private, overtaken, wrong;
};

static void oracle_read(struct oracle *o)
{
	FILE *f = fopen("/sys/module/beeunwind/parameters/mapped", "r");
	struct netlink_info info;

	if (!f || fscanf(f, "right %lu absent %lu private %lu overtaken %lu wrong %lu",
			 &o->right, &o->absent, &o->private, &o->overtaken, &o->wrong) != 5)
		guest_die("the oracle's module", f ? "other counts" : strerror(errno));
	fclose(f);
	guest_info(&g, &info);
	o->walks = info.walks;
}

/* Steps in a second that test_oracle() asks for at least. */
#define RIGHT_STEPS	100

/* A guest that shares its CPUs takes few samples: so it is tortured for a minute more, if need be. */
static bool is_enough(double seconds, double begin, const struct oracle *start)
{
	struct oracle o;

	if (now() < begin + seconds)
		return false;
	oracle_read(&o);
	return o.right - start->right > RIGHT_STEPS * seconds || now() >= begin + seconds + 60;
}

/* In each round one worker's main thread ends, and another worker is killed. */
static void torture(double seconds, const struct oracle *start)
{
	const struct timespec run = { .tv_nsec = 500000000 };
	const struct torture_counts *c = torture_counts;
	double begin = now();
	int i, rounds = 0, stopped = 0, bad = 0, status;
	uintptr_t seed = 1;
	pid_t asker, *pid = mmap(NULL, sizeof(*pid) * WORKERS, PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	for (i = 0; i < WORKERS; i++)
		pid[i] = guest_spawn(torture_worker, (void *)seed++);
	asker = start_asker(pid);
	while (!is_enough(seconds, begin, start) || !stopped) {
		kill(pid[(rounds + 1) % WORKERS], SIGUSR1);
		nanosleep(&run, NULL);
		bad += !round_is_exact(pid, &stopped);
		i = rounds++ % WORKERS;
		guest_reap(pid[i]);
		pid[i] = guest_spawn(torture_worker, (void *)seed++);
	}
	kill(asker, SIGTERM);
	bad += waitpid(asker, &status, 0) != asker || status;
	for (i = 0; i < WORKERS; i++)
		guest_reap(pid[i]);
	munmap(pid, sizeof(*pid) * WORKERS);
	ksft_print_msg("%d rounds, %d processes looked at\n", rounds, stopped);
	ksft_print_msg("maps %lu, unmaps %lu, moves %lu, calls %lu, dlopens %lu, new files %lu\n",
		       c->maps, c->unmaps, c->moves, c->calls, c->dlopens, c->fresh);
	ksft_print_msg("forks %lu, execs %lu, threads %lu\n", c->forks, c->execs, c->threads);
	ksft_test_result(stopped >= rounds && !bad, "what the module knows is what is mapped\n");
}

/* Print how many requests and changes of ranges counts.c has counted in the module. */
static void show_counts(void)
{
	FILE *f = fopen("/sys/module/beeunwind/parameters/counts", "r");
	unsigned long value;
	char word[32];

	if (!f)
		guest_die("the oracle's module does not count", strerror(errno));
	printf("# requests and followed changes:");
	while (fscanf(f, "%31s %lu", word, &value) == 2)
		printf(" %s %lu", word, value);
	printf("\n");
	fclose(f);
}

/*
 * A step at which the oracle saw no page of a file proves nothing, so these must be few.  Pages are
 * absent in a forked child, which shares no page table of a file's pages with its parent, until it
 * runs there or close by: in all callers of a child of beectl watch that makes a table for seconds.
 */
static void test_oracle(double seconds, const struct oracle *start)
{
	struct oracle end;
	unsigned long right, unknown;

	oracle_read(&end);
	right = end.right - start->right;
	unknown = end.absent - start->absent + end.private - start->private +
		  end.overtaken - start->overtaken;
	ksft_print_msg("%lu walks; steps by what was mapped: right %lu, absent %lu, private %lu, "
		       "overtaken %lu, wrong %lu\n", end.walks - start->walks, right,
		       end.absent - start->absent, end.private - start->private,
		       end.overtaken - start->overtaken, end.wrong);
	ksft_test_result(right > RIGHT_STEPS * seconds && right > 4 * unknown,
			 "walks with tables, through what is being mapped\n");
	ksft_test_result(!end.wrong, "no table of a file that was not mapped there\n");
}

/* Start a program; returns after its exec, for the test then counts managed address spaces. */
static pid_t start_program(char *const argv[])
{
	int executed[2];
	pid_t pid;
	char c;

	if (pipe2(executed, O_CLOEXEC))
		guest_die("pipe", strerror(errno));
	pid = fork();
	if (!pid) {
		int null = open("/dev/null", O_WRONLY);

		prctl(PR_SET_PDEATHSIG, SIGTERM);
		dup2(null, 1);
		dup2(null, 2);
		execvp(argv[0], argv);
		_exit(127);
	}
	close(executed[1]);
	if (read(executed[0], &c, 1))
		guest_die("pipe", "not closed");
	close(executed[0]);
	return pid;
}

static bool is_same_procs(const struct netlink_info *a, const struct netlink_info *b)
{
	return a->procs == b->procs && a->ranges == b->ranges && a->range_bytes == b->range_bytes;
}

/* beectl watch makes tables in a child, which is managed like its parent. */
static bool watch_works(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	bool found = false;

	while ((entry = readdir(proc))) {
		char path[300];
		pid_t parent;
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
		f = fopen(path, "r");
		if (!f)
			continue;
		if (fscanf(f, "%*d (%*[^)]) %*c %d", &parent) == 1 && parent == watch)
			found = true;
		fclose(f);
	}
	closedir(proc);
	return found;
}

/*
 * Whether beectl watch has run since the last call, or waits for a CPU now.  @switches: how often it
 * had been switched at the last call; filled for the next one.
 */
static bool watch_ran(unsigned long *switches)
{
	unsigned long value, sum = 0;
	char path[64], line[128];
	char state = 'R';
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", watch);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f)) {
		sscanf(line, "State: %c", &state);
		if (sscanf(line, "voluntary_ctxt_switches: %lu", &value) == 1 ||
		    sscanf(line, "nonvoluntary_ctxt_switches: %lu", &value) == 1)
			sum += value;
	}
	if (f)
		fclose(f);
	value = *switches;
	*switches = sum;
	return state != 'S' || sum != value;
}

/* Tenths of a second; longer than beectl watch needs between two of its children. */
#define AT_REST	30

/* Wait until the module's sums have not changed, and beectl watch not worked, for AT_REST. */
static bool wait_quiet(struct netlink_info *info)
{
	const struct timespec tick = { .tv_nsec = 100000000 };
	const long deadline = guest_deadline();
	unsigned long switches = 0;
	struct netlink_info before;
	int same = 0;

	guest_info(&g, info);
	do {
		before = *info;
		nanosleep(&tick, NULL);
		guest_info(&g, info);
		same = is_same_procs(&before, info) && before.table_bytes == info->table_bytes &&
		       info->follow == BEEUNWIND_FOLLOW_ALL && !watch_ran(&switches) ? same + 1 : 0;
		if (same == AT_REST && watch_works())
			same = 0;
	} while (same < AT_REST && guest_waits(deadline));
	return same == AT_REST;
}

/* As is_same_procs(), but processes that were sampled often may have got counters for each CPU. */
static bool is_same_but_counters(const struct netlink_info *start, const struct netlink_info *now)
{
	/* struct bee_tally_cpu of kmod/tally.h */
	const uint64_t counters = sysconf(_SC_NPROCESSORS_CONF) * sizeof(uint32_t) *
				  (BEEUNWIND_STOP_MAX + 3);
	const uint64_t more = now->range_bytes - start->range_bytes;

	return now->procs == start->procs && now->ranges == start->ranges &&
	       now->range_bytes >= start->range_bytes && more % counters == 0 &&
	       more / counters <= now->procs;
}

static bool settles_procs(const struct netlink_info *start)
{
	struct netlink_info now = {};
	int i;

	for (i = 0; i < 5; i++) {
		wait_quiet(&now);
		if (is_same_but_counters(start, &now))
			return true;
	}
	ksft_print_msg("procs %u ranges %u range-bytes %lu; at the start %u %u %lu\n", now.procs,
		       now.ranges, now.range_bytes, start->procs, start->ranges,
		       start->range_bytes);
	return false;
}

/* Do the sums of info-get agree with the processes, ranges and files that the module lists? */
static bool sums_agree(size_t *users)
{
	struct netlink_files tables;
	struct netlink_procs procs;
	struct netlink_info info;
	size_t i, k, ranges = 0, mapped = 0, bytes = 0;

	*users = 0;
	wait_quiet(&info);
	if (netlink_files_get(g.nl, &tables, &g.error) ||
	    netlink_procs_get(g.nl, 0, &procs, &g.error))
		guest_die("dump", g.error.text);
	for (i = 0; i < tables.count; i++) {
		*users += tables.file[i].users;
		bytes += tables.file[i].bytes;
	}
	for (i = 0; i < procs.count; i++) {
		ranges += procs.proc[i].ranges.count;
		for (k = 0; k < procs.proc[i].ranges.count; k++)
			mapped += !!procs.proc[i].ranges.range[k].file;
	}
	ksft_print_msg("%zu processes, %zu ranges; files: %zu, %zu users of %zu, %zu bytes of %lu\n",
		       procs.count, ranges, tables.count, *users, mapped, bytes, info.table_bytes);
	i = procs.count == info.procs && ranges == info.ranges && tables.count == info.files &&
	 *users <= mapped && bytes == info.table_bytes;
	netlink_files_free(&tables);
	netlink_procs_free(&procs);
	return i;
}

/*
 * Whether the sums agree and are of @users users, as at the start.  perf and beectl watch still run and
 * may fork a child between two lists, so this looks up to five times.
 */
static bool settles_sums(size_t users)
{
	size_t now;
	int i;

	for (i = 0; i < 5; i++)
		if (sums_agree(&now) && now == users)
			return true;
	return false;
}

int main(int argc, char **argv)
{
	char *hz = getenv("TORTURE_HZ");
	char *const perf_argv[] = { "perf", "record", "-q", "-a", "-g", "-e", "cpu-clock",
				    "-F", hz ? hz : "999", "-o", "/dev/null", NULL };
	char *const watch_argv[] = { getenv("BEECTL"), "watch", "-q", NULL };
	char *const unload_argv[] = { getenv("BEECTL"), "unload", "-q", "--all", "--tables", NULL };
	double seconds = argc > 1 ? atof(argv[1]) : 20;
	struct netlink_info start, quiet, end;
	struct oracle oracle;
	pid_t perf;
	size_t users;
	int i, status = 0;

	ksft_print_header();
	ksft_set_plan(9);
	guest_open(&g);
	guest_info(&g, &start);
	torture_open();
	perf = start_program(perf_argv);
	watch = start_program(watch_argv);
	for (i = 0; !wait_quiet(&quiet) || !sums_agree(&users) || !quiet.walks; i++)
		if (i == 10)
			guest_die("beectl watch and perf", "no rest, or no walks");

	oracle_read(&oracle);
	torture(seconds, &oracle);
	test_oracle(seconds, &oracle);
	show_counts();
	ksft_test_result(guest_is_exact(&g, getpid()), "its parent's ranges are what they were\n");
	ksft_test_result(settles_procs(&quiet), "processes, ranges and bytes are what they were\n");
	ksft_test_result(settles_sums(users),
			 "the sums are those of what is listed, and users are what they were\n");
	ksft_test_result(guest_users_agree(&g), "each file's users are those who have it mapped\n");
	kill(perf, SIGINT);
	kill(watch, SIGTERM);
	waitpid(perf, NULL, 0);
	waitpid(watch, &status, 0);
	if (status)
		guest_die("beectl watch", "failed");
	waitpid(start_program(unload_argv), &status, 0);
	ksft_test_result(!status && guest_settles(&g, &start), "everything is given back\n");
	guest_info(&g, &end);
	ksft_test_result(!end.follow_lost, "nothing was lost: %llu\n", (unsigned long long)end.follow_lost);
	ksft_finished();
}
