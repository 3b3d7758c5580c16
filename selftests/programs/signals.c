// SPDX-License-Identifier: GPL-2.0
/* Signals: on the same stack and on another one, nested, faults, and jumps out of handlers. */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static volatile int seen, zero;
static sigjmp_buf out;
static long *page;

NOINLINE static int work(int n)
{
	volatile int a[16] = { n };

	return a[zero] + seen;
}

static void on_usr1(int sig)
{
	seen += work(sig);
	/* nested, on the stack that we are on */
	if (sig == SIGUSR1)
		raise(SIGUSR2);
}

static void on_usr2(int sig, siginfo_t *info, void *context)
{
	(void)info;
	(void)context;
	seen += work(sig);
}

static void on_fault(int sig)
{
	seen += work(sig);
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static void on_jump(int sig)
{
	seen += work(sig);
	siglongjmp(out, 1);
}

/* A fault in a leaf without a frame. */
NOINLINE static long touch(long *p)
{
	return *p += 1;
}

NOINLINE static long touch_twice(long *p)
{
	long a = touch(p);

	mprotect(page, 4096, PROT_NONE);
	return a + touch(p);
}

static void handle(int sig, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	sigaction(sig, &action, NULL);
}

static void alternate(void)
{
	stack_t stack = { .ss_sp = malloc(65536), .ss_size = 65536 };

	sigaltstack(&stack, NULL);
}

NOINLINE static void all(int flags)
{
	handle(SIGUSR1, on_usr1, flags);
	handle(SIGUSR2, (void (*)(int))(uintptr_t)on_usr2, flags | SA_SIGINFO);
	handle(SIGSEGV, on_fault, flags);
	handle(SIGALRM, on_jump, flags);
	raise(SIGUSR1);
	kill(getpid(), SIGUSR2);
	mprotect(page, 4096, PROT_NONE);
	touch_twice(page);
	if (!sigsetjmp(out, 1))
		raise(SIGALRM);
	work(3);
}

/* Once, or as often as the argument says. */
int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;

	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	all(0);
	alternate();
	while (n--)
		all(SA_ONSTACK);
	return !seen;
}
