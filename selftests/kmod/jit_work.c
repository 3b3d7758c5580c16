// SPDX-License-Identifier: GPL-2.0
/*
 * Work for LLVM's JIT compiler, built as its bitcode: calls of known depth through functions that
 * use rbp for something else.  Prints the stacks of its marks as the programs of walk/mark.h do.
 *
 *	jit_work READY GO	at READY and GO, two fifos, it waits for tables to be loaded
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEPTHS		20

#define noinline	__attribute__((noinline))
#define not_tail()	asm volatile("" ::: "memory")
#define use_rbp()	asm volatile("mov $12345, %%ebp" ::: "rbp")

static noinline void mark(void)
{
	long ret;

	asm volatile("syscall" : "=a"(ret) : "a"(SYS_getppid) : "rcx", "r11", "memory");
}

static noinline void odd(int depth);

static noinline void even(int depth)
{
	volatile char pad[64];

	pad[0] = depth;
	use_rbp();
	if (depth)
		odd(depth - 1);
	else
		mark();
	not_tail();
}

static noinline void odd(int depth)
{
	volatile char pad[512];

	pad[0] = depth;
	use_rbp();
	if (depth)
		even(depth - 1);
	else
		mark();
	not_tail();
}

/* Each depth is a mark; with @whole, there are tables. */
static noinline void work(int whole)
{
	int depth, i;

	for (depth = 0; depth < DEPTHS; depth++) {
		printf("stack: [jit]");
		/* Before mark() come depth + 1 functions, this one and main(). */
		for (i = 0; whole && i < depth + 3; i++)
			printf(" [jit]");
		puts(whole ? " [libLLVM] ..." : " ...");
		fflush(NULL);
		use_rbp();
		even(depth);
	}
}

static noinline void wait_for_tables(const char *ready, const char *go)
{
	int fd = open(ready, O_WRONLY);
	char c = 'l';

	if (fd < 0 || write(fd, &c, 1) != 1)
		exit(1);
	close(fd);
	fd = open(go, O_RDONLY);
	if (fd < 0 || read(fd, &c, 1) != 1)
		exit(1);
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 1;
	wait_for_tables(argv[1], argv[2]);
	work(0);
	wait_for_tables(argv[1], argv[2]);
	work(1);
	return 0;
}
