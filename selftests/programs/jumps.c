// SPDX-License-Identifier: GPL-2.0
/* setjmp, longjmp, vfork, and noreturn calls. */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static jmp_buf outer, inner;
static volatile int sink;

NOINLINE static void deep(int n, jmp_buf to)
{
	char buffer[32];

	memset(buffer, n, sizeof(buffer));
	if (n)
		deep(n - 1, to);
	else
		longjmp(to, 1);
	sink += buffer[n];
}

NOINLINE static int both(void)
{
	volatile int n = 0;

	if (!setjmp(outer)) {
		if (!setjmp(inner))
			deep(5, inner);
		n++;
		deep(3, outer);
	}
	return n + 1;
}

NOINLINE static int child(int status)
{
	pid_t pid = vfork();
	int got = 0;

	if (!pid)
		_exit(status);
	waitpid(pid, &got, 0);
	return WEXITSTATUS(got);
}

__attribute__((noreturn, noinline)) static void leave(int status)
{
	exit(status);
}

/* Once, or as often as the argument says. */
int main(int argc, char **argv)
{
	int i, n = 0, times = argc > 1 ? atoi(argv[1]) : 1;

	for (i = 0; i < times; i++)
		n += both();
	leave(n == 2 * times && child(3) == 3 ? 0 : 1);
}
