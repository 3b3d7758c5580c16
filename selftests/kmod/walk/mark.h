/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Programs with known stacks.  Each place where a stack is known makes a system
 * call that perf samples, and says what the sample has to be:
 *
 *	stack: NAME... 	innermost first; NAME is a function of the program,
 *			[FILE] a frame in another file, NAME+OFFSET an exact ip
 *
 * selftests/kmod/walk/check.py compares the two; it knows how a stack goes on
 * above main().
 */
#ifndef BEE_MARK_H
#define BEE_MARK_H

#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define noinline	__attribute__((noinline, noclone, noipa))

/* Keeps a call from becoming a jump. */
#define not_tail()	asm volatile("" ::: "memory")

/* As it is in no library the topmost frame is here. */
static noinline void mark(void)
{
	long ret;

	asm volatile("syscall" : "=a"(ret) : "a"(SYS_getppid) : "rcx", "r11", "memory");
}

/* What is printed has to be there even if the program does not live on. */
#define known(...) do {				\
	printf("stack: mark " __VA_ARGS__);	\
	putchar('\n');				\
	fflush(stdout);				\
} while (0)

#endif /* BEE_MARK_H */
