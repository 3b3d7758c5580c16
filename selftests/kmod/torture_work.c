// SPDX-License-Identifier: GPL-2.0
/* Workers that change their mappings by every system call there is, and call code in them. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "torture.h"

#define THREADS		2
#define ARENA_PAGES	64	/* of each thread */
#define DEPTH		3	/* of nested calls */

typedef int call_fn(int (*fn)(void *), void *arg);

struct torture_lib torture_lib[TORTURE_LIBS];
struct torture_counts *torture_counts;
static int memfd;

#define count(what)	__atomic_fetch_add(&torture_counts->what, 1, __ATOMIC_RELAXED)

/*
 * struct thread - one thread of a worker
 * @arena: pages that the thread maps, moves and unmaps at random
 * @stage: pages that the thread maps code in and calls: two for each call that has not returned
 * @depth: number of calls that have not returned
 */
struct thread {
	pthread_t	 thread;
	uint64_t	 random;
	char		*arena;
	char		*stage;
	unsigned int	 depth;
};

static unsigned int below(struct thread *t, unsigned int n)
{
	t->random ^= t->random << 13;
	t->random ^= t->random >> 7;
	t->random ^= t->random << 17;
	return t->random % n;
}

/* Choose a part of the arena.  Return: its start; @pages: its size */
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
	int fd = below(t, TORTURE_LIBS + 1);
	size_t pages;
	char *p = somewhere(t, &pages);

	fd = fd == TORTURE_LIBS ? memfd : torture_lib[fd].fd;
	count(maps);
	mmap(p, pages * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd,
	     below(t, 4) * PAGE);
}

static void op_map_anonymous(struct thread *t)
{
	size_t pages;
	char *p = somewhere(t, &pages);

	count(maps);
	mmap(p, pages * PAGE, PROT_READ | (below(t, 2) ? PROT_EXEC : PROT_WRITE),
	     MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0);
}

static void op_unmap(struct thread *t)
{
	size_t pages;
	char *p = somewhere(t, &pages);

	count(unmaps);
	munmap(p, pages * PAGE);
}

static void op_protect(struct thread *t)
{
	size_t pages;
	char *p = somewhere(t, &pages);

	mprotect(p, pages * PAGE, PROT_READ | (below(t, 3) ? PROT_EXEC : 0));
}

/* Both places are in the arena, so the move overwrites nothing else. */
static void op_move(struct thread *t)
{
	size_t from_pages, to_pages;
	char *from = somewhere(t, &from_pages), *to = somewhere(t, &to_pages);

	count(moves);
	mremap(from, from_pages * PAGE, to_pages * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to);
}

static void op_advise(struct thread *t)
{
	static const int advice[] = { MADV_DONTNEED, MADV_RANDOM, MADV_NORMAL, MADV_WILLNEED };
	size_t pages;
	char *p = somewhere(t, &pages);

	madvise(p, pages * PAGE, advice[below(t, 4)]);
}

static void op_few(struct thread *t)
{
	void (*const ops[])(struct thread *) = {
		op_map_file, op_map_file, op_map_anonymous, op_unmap, op_protect, op_move,
		op_advise,
	};

	ops[below(t, sizeof(ops) / sizeof(ops[0]))](t);
}

static void op_fork(struct thread *t);
static void op_call(struct thread *t);

/* Code that has just been mapped calls this, so it is in every stack that is sampled here. */
static int while_called(void *arg)
{
	struct thread *t = arg;
	volatile unsigned int spin;
	unsigned int n;

	t->depth++;
	for (spin = below(t, 20000); spin; spin--)
		;
	for (n = below(t, 10); n; n--)
		op_few(t);
	if (!below(t, 30))
		op_fork(t);
	if (t->depth < DEPTH && !below(t, 3))
		op_call(t);
	t->depth--;
	return 0;
}

static void call(struct thread *t, call_fn *fn)
{
	count(calls);
	fn(while_called, t);
}

/* Unmap the code, and mostly map and call it again at once, or that of another library. */
static void op_unmap_again(struct thread *t, char *p, const struct torture_lib *l)
{
	for (;;) {
		count(unmaps);
		munmap(p, PAGE);
		if (!below(t, 4))
			return;
		if (!below(t, 10))
			op_fork(t);
		if (!below(t, 4))
			l = &torture_lib[below(t, TORTURE_LIBS)];
		count(maps);
		if (mmap(p, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, l->fd,
			 l->page) != p)
			return;
		call(t, (call_fn *)(p + l->at));
	}
}

/*
 * Map a library's code over whatever the call before has left there, call it, and then unmap it,
 * move it, change its protection, or leave it.
 */
static void op_call_mapped(struct thread *t)
{
	char *p = t->stage + 2 * t->depth * PAGE;
	const struct torture_lib *l = &torture_lib[below(t, TORTURE_LIBS)];

	count(maps);
	if (mmap(p, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, l->fd, l->page) != p)
		return;
	call(t, (call_fn *)(p + l->at));
	switch (below(t, 4)) {
	case 0:
		op_unmap_again(t, p, l);
		break;
	case 1:
		count(moves);
		if (mremap(p, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, p + PAGE) == p + PAGE)
			call(t, (call_fn *)(p + PAGE + l->at));
		break;
	case 2:
		mprotect(p, PAGE, PROT_NONE);
		mprotect(p, PAGE, PROT_READ | PROT_EXEC);
		call(t, (call_fn *)(p + l->at));
		break;
	}
}

static void call_opened(struct thread *t, const char *path)
{
	void *opened = dlopen(path, RTLD_NOW);

	count(dlopens);
	if (!opened)
		return;
	call(t, (call_fn *)dlsym(opened, "torture_call"));
	dlclose(opened);
}

/* A library that is opened often gets the address of the one that was closed last. */
static void op_call_opened(struct thread *t)
{
	call_opened(t, torture_lib[below(t, TORTURE_LIBS)].path);
}

static void op_call(struct thread *t)
{
	if (below(t, 4))
		op_call_mapped(t);
	else
		op_call_opened(t);
}

/* Copy a library to a new file, call its code, and delete the file. */
static void op_fresh(struct thread *t)
{
	const struct torture_lib *l = &torture_lib[below(t, TORTURE_LIBS)];
	char path[64], page[PAGE];
	ssize_t n;
	off_t at;
	int fd;

	count(fresh);
	snprintf(path, sizeof(path), "/tmp/torture.%d.%u", gettid(), below(t, 1u << 30));
	fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0700);
	for (at = 0; fd >= 0 && (n = pread(l->fd, page, PAGE, at)) > 0; at += n)
		if (write(fd, page, n) != n)
			break;
	close(fd);
	call_opened(t, path);
	unlink(path);
}

static void *thread_exec(void *arg)
{
	static char *const argv[] = { "true", NULL };

	count(execs);
	execv("/bin/true", argv);
	return arg;
}

/*
 * @how: 0 ends at once, 1 waits to be killed, 2 maps and ends, 3 to 6 execute: 4 after an exec that
 * fails, 5 in a second thread, 6 after vfork()
 */
static void run_child(struct thread *t, int how)
{
	static char *const bad[] = { "/etc/passwd", NULL };
	pthread_t thread;
	int i;

	if (how == 4)
		execv("/etc/passwd", bad);
	if (how == 5 && !pthread_create(&thread, NULL, thread_exec, NULL))
		pthread_join(thread, NULL);
	if (how >= 3)
		thread_exec(NULL);
	for (i = 0; how == 2 && i < 20; i++)
		op_few(t);
	if (how == 1) {
		alarm(10);	/* in case the parent, who kills this, is killed first */
		pause();
	}
	_exit(0);
}

static void op_fork(struct thread *t)
{
	int how = below(t, 7);
	pid_t pid;

	count(forks);
	pid = how == 6 ? vfork() : fork();
	if (!pid)
		run_child(t, how);
	if (pid < 0)
		return;
	if (how == 1)
		kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void *short_thread(void *arg)
{
	int i;

	for (i = 0; i < 20; i++)
		op_few(arg);
	return NULL;
}

static void op_thread(struct thread *t)
{
	struct thread other = *t;

	other.random ^= 0x9e3779b97f4a7c15ull;
	count(threads);
	if (!pthread_create(&other.thread, NULL, short_thread, &other))
		pthread_join(other.thread, NULL);
}

static void *thread_run(void *arg)
{
	struct thread *t = arg;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		unsigned int dice = below(t, 60);

		if (!dice)
			op_fork(t);
		else if (dice == 1)
			op_thread(t);
		else if (dice < 20)
			op_call(t);
		else
			op_few(t);
		if (!below(t, 300))
			op_fresh(t);
	}
	return NULL;
}

/* Only the main thread ends; the process lives on in its other threads. */
static void main_ends(int signal)
{
	(void)signal;
	syscall(SYS_exit, 0);
}

/*
 * Reserve pages far below the addresses that the kernel chooses for mappings, so that it never
 * puts another mapping into a hole in them.
 */
static char *map_over(size_t pages)
{
	static char *next = (char *)0x100000000000ul;
	char *p = mmap(next, pages * PAGE, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (p != next)
		_exit(1);
	next += 2 * pages * PAGE;
	return p;
}

/**
 * torture_worker() - the body of a worker, for guest_spawn()
 * @seed_arg: seed of the worker's random numbers
 *
 * SIGUSR1 ends the worker's main thread only.
 */
void torture_worker(void *seed_arg)
{
	const struct sigaction end = { .sa_handler = main_ends };
	static struct thread threads[THREADS];
	uint64_t seed = (uintptr_t)seed_arg;
	sigset_t usr1;
	int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigaction(SIGUSR1, &end, NULL);
	pthread_sigmask(SIG_BLOCK, &usr1, NULL);
	for (i = 0; i < THREADS; i++) {
		struct thread *t = &threads[i];

		t->random = (seed * THREADS + i + 1) * 0x9e3779b97f4a7c15ull;
		t->arena = map_over(ARENA_PAGES);
		t->stage = map_over(2 * (DEPTH + 1));
		if (pthread_create(&t->thread, NULL, thread_run, t))
			_exit(1);
	}
	pthread_sigmask(SIG_UNBLOCK, &usr1, NULL);
}

/** torture_open() - open the libraries and shared memory; call it before the first worker starts */
void torture_open(void)
{
	static const int frame[TORTURE_LIBS] = { 16, 240, 1008, 4080 };
	char dir[200];
	ssize_t n = readlink("/proc/self/exe", dir, sizeof(dir) - 1);
	size_t i;

	dir[n < 0 ? 0 : n] = '\0';
	for (i = 0; i < TORTURE_LIBS; i++) {
		struct torture_lib *l = &torture_lib[i];
		Dl_info where;
		void *opened;

		snprintf(l->path, sizeof(l->path), "%s/libtorture%d.so", dirname(dir), frame[i]);
		dir[strlen(dir)] = '/';
		opened = dlopen(l->path, RTLD_NOW);
		if (!opened || !dladdr(dlsym(opened, "torture_call"), &where))
			guest_die(l->path, dlerror());
		/* Each segment of so small a library has the same offset in file and memory. */
		l->at = (char *)where.dli_saddr - (char *)where.dli_fbase;
		l->page = l->at & ~(PAGE - 1);
		l->at -= l->page;
		l->fd = open(l->path, O_RDONLY | O_CLOEXEC);
		dlclose(opened);
	}
	memfd = memfd_create("torture", MFD_CLOEXEC);
	torture_counts = mmap(NULL, sizeof(*torture_counts), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (ftruncate(memfd, 16 * PAGE) || torture_counts == MAP_FAILED)
		guest_die("memfd", strerror(errno));
}
