// SPDX-License-Identifier: GPL-2.0
/*
 * Processes that map, unmap, move, fork, execute and die as fast as they can; every
 * now and then they are stopped and what the module knows of each is compared with
 * what the kernel shows.
 *
 *	torture_test [SECONDS]
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
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

#define PAGE		0x1000ul
#define WORKERS		3
#define THREADS		2
#define ARENA_PAGES	64	/* of each thread */

static const char *const libs[] = {
	"/lib/x86_64-linux-gnu/libm.so.6",
	"/lib/x86_64-linux-gnu/libcrypt.so.1",
	"/lib/x86_64-linux-gnu/libutil.so.1",
	"/lib/x86_64-linux-gnu/librt.so.1",
};
#define LIBS	(sizeof(libs) / sizeof(libs[0]))

static struct guest g;
static int lib_fd[LIBS], memfd;

/* struct thread - one thread of a worker, with memory of its own to map over */
struct thread {
	pthread_t	 thread;
	uint64_t	 random;
	char		*arena;
};

static unsigned int below(struct thread *t, unsigned int n)
{
	t->random ^= t->random << 13;
	t->random ^= t->random >> 7;
	t->random ^= t->random << 17;
	return t->random % n;
}

/* Part of the arena: where, and @pages how much. */
static char *somewhere(struct thread *t, size_t *pages)
{
	size_t at = below(t, ARENA_PAGES);

	*pages = 1 + below(t, 8);
	if (*pages > ARENA_PAGES - at)
		*pages = ARENA_PAGES - at;
	return t->arena + at * PAGE;
}

static void op_map_file(struct thread *t)
{
	int fd = below(t, LIBS + 1);
	size_t pages;
	char *p = somewhere(t, &pages);

	fd = fd == LIBS ? memfd : lib_fd[fd];
	mmap(p, pages * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd,
	     below(t, 4) * PAGE);
}

static void op_map_anonymous(struct thread *t)
{
	size_t pages;
	char *p = somewhere(t, &pages);

	mmap(p, pages * PAGE, PROT_READ | (below(t, 2) ? PROT_EXEC : PROT_WRITE),
	     MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0);
}

static void op_unmap(struct thread *t)
{
	size_t pages;
	char *p = somewhere(t, &pages);

	munmap(p, pages * PAGE);
}

static void op_protect(struct thread *t)
{
	size_t pages;
	char *p = somewhere(t, &pages);

	mprotect(p, pages * PAGE, PROT_READ | (below(t, 3) ? PROT_EXEC : 0));
}

/* Within the arena, so that what is overwritten is ours. */
static void op_move(struct thread *t)
{
	size_t from_pages, to_pages;
	char *from = somewhere(t, &from_pages), *to = somewhere(t, &to_pages);

	mremap(from, from_pages * PAGE, to_pages * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to);
}

static void op_advise(struct thread *t)
{
	static const int advice[] = { MADV_DONTNEED, MADV_RANDOM, MADV_NORMAL, MADV_WILLNEED };
	size_t pages;
	char *p = somewhere(t, &pages);

	madvise(p, pages * PAGE, advice[below(t, 4)]);
}

/* The address of a library that goes is often that of the next one that comes. */
static void op_dlopen(struct thread *t)
{
	void *lib = dlopen(libs[below(t, LIBS)], RTLD_NOW);

	if (lib)
		dlclose(lib);
}

static void op_few(struct thread *t);

/* Some children end at once, some map first, some execute, one is killed. */
static void op_fork(struct thread *t)
{
	static char *const good[] = { "true", NULL };
	static char *const bad[] = { "/etc/passwd", NULL };
	int how = below(t, 6), i;
	pid_t pid = how == 5 ? vfork() : fork();

	if (!pid) {
		if (how == 4)
			execv("/etc/passwd", bad);
		if (how >= 3)
			execv("/bin/true", good);
		for (i = 0; how == 2 && i < 20; i++)
			op_few(t);
		if (how == 1) {
			alarm(10);	/* if who shall kill it is killed first */
			pause();
		}
		_exit(0);
	}
	if (pid < 0)
		return;
	if (how == 1)
		kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void op_few(struct thread *t)
{
	void (*const ops[])(struct thread *) = {
		op_map_file, op_map_file, op_map_anonymous, op_unmap, op_protect, op_move, op_advise,
	};

	ops[below(t, sizeof(ops) / sizeof(ops[0]))](t);
}

static void *thread_run(void *arg)
{
	struct thread *t = arg;

	for (;;) {
		unsigned int dice = below(t, 60);

		if (!dice)
			op_fork(t);
		else if (dice < 3)
			op_dlopen(t);
		else
			op_few(t);
	}
	return NULL;
}

static void worker(void *arg)
{
	static struct thread threads[THREADS];
	uint64_t seed = (uintptr_t)arg;
	int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (i = 0; i < THREADS; i++) {
		struct thread *t = &threads[i];

		t->random = (seed * THREADS + i + 1) * 0x9e3779b97f4a7c15ull;
		t->arena = mmap(NULL, ARENA_PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (pthread_create(&t->thread, NULL, thread_run, t))
			_exit(1);
	}
}

/* Every thread of every process of the group stands still. */
static bool is_stopped(pid_t pid)
{
	char command[128];

	/* No thread may be in a state other than T. */
	snprintf(command, sizeof(command),
		 "! grep -h ^State: /proc/%d/task/*/status 2>/dev/null | grep -qv T", pid);
	return !system(command);
}

/* A thread in vfork() does not stop before its child lets it go. */
static bool stop(pid_t pid)
{
	const struct timespec tick = { .tv_nsec = 10000000 };
	int i;

	kill(pid, SIGSTOP);
	for (i = 0; i < 500; i++) {
		if (is_stopped(pid))
			return true;
		nanosleep(&tick, NULL);
	}
	return false;
}

static bool round_is_exact(pid_t *pid, int *stopped)
{
	bool exact = true;
	int i;

	for (i = 0; i < WORKERS; i++) {
		if (!stop(pid[i]))
			continue;
		++*stopped;
		exact = guest_is_exact(&g, pid[i]) && exact;
		kill(pid[i], SIGCONT);
	}
	return exact;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* One worker dies in each round, and another begins. */
static void torture(double seconds)
{
	const struct timespec run = { .tv_nsec = 500000000 };
	double end = now() + seconds;
	int i, rounds = 0, stopped = 0, bad = 0;
	uintptr_t seed = 1;
	pid_t pid[WORKERS];

	for (i = 0; i < WORKERS; i++)
		pid[i] = guest_spawn(worker, (void *)seed++);
	while (now() < end || !stopped) {
		nanosleep(&run, NULL);
		bad += !round_is_exact(pid, &stopped);
		i = rounds++ % WORKERS;
		guest_reap(pid[i]);
		pid[i] = guest_spawn(worker, (void *)seed++);
	}
	for (i = 0; i < WORKERS; i++)
		guest_reap(pid[i]);
	ksft_print_msg("%d rounds, %d processes looked at\n", rounds, stopped);
	ksft_test_result(stopped >= rounds && !bad, "what the module knows is what is mapped\n");
}

int main(int argc, char **argv)
{
	struct bee_nl_info start, managed, end;
	uint32_t table;
	size_t i;

	ksft_print_header();
	ksft_set_plan(5);
	guest_open(&g);
	guest_info(&g, &start);
	for (i = 0; i < LIBS; i++)
		lib_fd[i] = open(libs[i], O_RDONLY | O_CLOEXEC);
	memfd = memfd_create("torture", MFD_CLOEXEC);
	if (ftruncate(memfd, 16 * PAGE))
		guest_die("memfd", strerror(errno));
	table = guest_add_table(&g, libs[0]);
	guest_add(&g, getpid());
	guest_info(&g, &managed);

	torture(argc > 1 ? atof(argv[1]) : 20);
	ksft_test_result(guest_is_exact(&g, getpid()), "its parent's ranges are what they were\n");
	ksft_test_result(guest_settles(&g, &managed), "processes, ranges and bytes are what they were\n");
	if (bee_nl_proc_del(g.nl, getpid(), &g.error) ||
	    bee_nl_table_del(g.nl, table, false, &g.error))
		guest_die("del", g.error.text);
	ksft_test_result(guest_settles(&g, &start), "everything is given back\n");
	guest_info(&g, &end);
	ksft_test_result(!end.follow_lost, "nothing was lost\n");
	ksft_finished();
}
