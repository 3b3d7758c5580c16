// SPDX-License-Identifier: GPL-2.0
/*
 * Calls spin_called() through a library's torture_call(), in ways that change what is mapped where.
 *
 *	lookup_work MODE [LIBRARY]...
 *
 * The callers of spin_called() are known: torture_call(), at the address that is printed first, and
 * call_library().  Prints "STAGE SPIN SPIN_END CALL CALL_END OFFSET" in hex, and then runs until it is
 * killed; OFFSET is where the stage's page is in the library.  For it to have the same addresses after
 * an exec it is run by "setarch -R".
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
#include <unistd.h>

#define PAGE	0x1000ul
#define STAGE	((char *)0x100000000000ul)

typedef int call_fn(int (*fn)(void *), void *arg);

/* Each of the two functions has a section of its own, to which the linker gives a start and an end. */
extern const char __start_spin[], __stop_spin[], __start_call[], __stop_call[];

static char **libraries, *program;
static int nr;
static size_t at;	/* of torture_call() in its page, the same in all libraries */
static off_t page;

static __attribute__((noinline, section("spin"))) int spin_called(void *arg)
{
	volatile unsigned int i;

	for (i = *(unsigned int *)arg; i; i--)
		;
	return 0;
}

/* The volatile result keeps the call from being a tail call, so that this function is in the stack. */
static __attribute__((noinline, section("call"))) int call_library(char *where, unsigned int spin)
{
	volatile int result = ((call_fn *)(where + at))(spin_called, &spin);

	return result;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void map(const char *library, char *where, int flags)
{
	int fd = open(library, O_RDONLY | O_CLOEXEC);

	if (mmap(where, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | flags, fd, page) != where)
		die(library);
	close(fd);
}

static void find_code(const char *library)
{
	void *opened = dlopen(library, RTLD_NOW);
	Dl_info info;

	if (!opened || !dladdr(dlsym(opened, "torture_call"), &info))
		die(library);
	at = (char *)info.dli_saddr - (char *)info.dli_fbase;
	page = at & ~(PAGE - 1);
	at -= page;
	dlclose(opened);
}

#define SHORT	20000
#define LONG	20000000

/* Another library at the same place each time, most in a hole, some over the one before. */
static void run_turns(int over)
{
	int i;

	for (i = 0; ; i++) {
		map(libraries[i % nr], STAGE, over || i % 7 == 0 ? MAP_FIXED : MAP_FIXED_NOREPLACE);
		call_library(STAGE, SHORT);
		if (!over && (i + 1) % 7)
			munmap(STAGE, PAGE);
	}
}

/* Map elsewhere, and move it there. */
static void run_moved(void)
{
	char *from = STAGE + 16 * PAGE;

	map(libraries[0], from, MAP_FIXED);
	if (mremap(from, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, STAGE) != STAGE)
		die("mremap");
	for (;;)
		call_library(STAGE, LONG);
}

static void run_still(void)
{
	map(libraries[0], STAGE, MAP_FIXED);
	for (;;)
		call_library(STAGE, LONG);
}

static void *thread_run(void *arg)
{
	run_still();
	return arg;
}

static void run_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, thread_run, NULL) || pthread_join(thread, NULL))
		die("thread");
}

/* A child calls; "vfork": as long as the parent waits for its exec, and then another one after that. */
static void run_child(int vforks)
{
	for (;;) {
		pid_t pid;

		map(libraries[0], STAGE, MAP_FIXED);
		pid = vforks ? vfork() : fork();
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			call_library(STAGE, LONG);
			if (vforks)
				execl(program, program, "once", libraries[0], NULL);
			_exit(0);
		}
		if (waitpid(pid, NULL, 0) != pid)
			die("waitpid");
	}
}

static void copy(const char *library)
{
	int fd = open(library, O_RDONLY | O_CLOEXEC);

	if (mmap(STAGE, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != STAGE ||
	    pread(fd, STAGE, PAGE, page) <= 0)
		die("copy");
	close(fd);
}

static volatile sig_atomic_t asked;

static void take_signal(int number)
{
	asked = number;
}

/* Code that was copied into memory without a file; after SIGUSR1 that of the last library. */
static void run_copy(void)
{
	signal(SIGUSR1, take_signal);
	copy(libraries[0]);
	for (;;) {
		call_library(STAGE, LONG);
		if (!asked)
			continue;
		copy(libraries[nr - 1]);
		asked = 0;
		puts("changed");
		fflush(stdout);
	}
}

/* So many files, each new, that are not known: each is called once or, if it was not sampled, again. */
static void run_many(void)
{
	char code[PAGE];
	int fd = open(libraries[0], O_RDONLY | O_CLOEXEC), i, memfd[64];

	if (pread(fd, code, PAGE, page) <= 0)
		die("many");
	for (i = 0; ; i = (i + 1) % 64) {
		char *where = STAGE + i * PAGE;

		munmap(where, PAGE);
		if (where == STAGE)
			for (int k = 0; k < 64; k++) {
				close(memfd[k]);
				memfd[k] = memfd_create("many", MFD_CLOEXEC);
				if (write(memfd[k], code, PAGE) != PAGE)
					die("memfd");
			}
		if (mmap(where, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, memfd[i], 0) != where)
			die("mmap");
		call_library(where, 100000);
	}
}

static void run(const char *mode)
{
	if (!strcmp(mode, "turns"))
		run_turns(0);
	else if (!strcmp(mode, "over"))
		run_turns(1);
	else if (!strcmp(mode, "moved"))
		run_moved();
	else if (!strcmp(mode, "still"))
		run_still();
	else if (!strcmp(mode, "thread"))
		run_thread();
	else if (!strcmp(mode, "fork"))
		run_child(0);
	else if (!strcmp(mode, "vfork"))
		run_child(1);
	else if (!strcmp(mode, "copy"))
		run_copy();
	else if (!strcmp(mode, "many"))
		run_many();
	errno = EINVAL;
	die(mode);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	program = argv[0];
	libraries = argv + 2;
	nr = argc - 2;
	find_code(libraries[0]);
	if (!strcmp(argv[1], "once")) {
		map(libraries[0], STAGE, MAP_FIXED);
		call_library(STAGE, LONG);
		return 0;
	}
	printf("%p %p %p %p %p %lx\n", (void *)STAGE, (void *)__start_spin, (void *)__stop_spin,
	       (void *)__start_call, (void *)__stop_call, (unsigned long)page);
	fflush(stdout);
	run(argv[1]);
}
