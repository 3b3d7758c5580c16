/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Programs with known stacks.  Where the stack is known, a program prints the stack that a sample
 * must have, and calls mark(), whose system call perf samples:
 *
 *	stack: NAME... 	innermost first; NAME is a function of the program,
 *			[FILE] a frame in another file, NAME+OFFSET an exact ip
 *
 * selftests/kmod/walk/check.py compares the two, and knows which frames are above main().
 */
#ifndef BEE_MARK_H
#define BEE_MARK_H

#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define noinline	__attribute__((noinline, noclone, noipa))

/* After a call: keeps it from becoming a tail call, which would lose the caller's frame. */
#define not_tail()	asm volatile("" ::: "memory")

/* The system call is inline, not libc's, so mark() is the topmost frame. */
static noinline void mark(void)
{
	long ret;

	asm volatile("syscall" : "=a"(ret) : "a"(SYS_getppid) : "rcx", "r11", "memory");
}

/* Print the stack of the next mark; flushed, for the program may end without doing so. */
#define known(...) do {				\
	printf("stack: mark " __VA_ARGS__);	\
	putchar('\n');				\
	fflush(stdout);				\
} while (0)

#endif /* BEE_MARK_H */
