// SPDX-License-Identifier: GPL-2.0
/*
 * A function with CFI that makes a thread: samples of clone()'s end, which the new thread has too
 * before it is in user mode.
 */
#include <linux/futex.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FLAGS	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | \
		 CLONE_CHILD_CLEARTID)

/* cloned(flags, top of the stack, unused, &tid): the thread waits for nothing, and ends. */
void cloned(unsigned long flags, void *top, void *unused, int *tid);
asm(".text\n"
	".globl cloned\n"
	".type cloned, @function\n"
	"cloned:\n"
	"	.cfi_startproc\n"
	"	mov %rcx, %r10\n"
	"	mov $56, %eax\n"
	"	syscall\n"
	"	test %eax, %eax\n"
	"	jz 1f\n"
	"	ret\n"
	"1:	mov $60, %eax\n"
	"	xor %edi, %edi\n"
	"	syscall\n"
	"	.cfi_endproc\n"
	".size cloned, . - cloned\n");

/*
 * The new thread's.  Its top word looks like a return address: a walk that follows the CFI of cloned() takes
 * it for the thread's caller.
 */
static uintptr_t stack[512] __attribute__((aligned(16)));

static void wait_for(int *tid)
{
	int now;

	while ((now = __atomic_load_n(tid, __ATOMIC_SEQ_CST)))
		syscall(SYS_futex, tid, FUTEX_WAIT, now, NULL, NULL, 0);
}

int main(void)
{
	static int tid = 1;

	stack[256] = (uintptr_t)wait_for + 1;
	printf("stack: cloned end\n");
	fflush(stdout);
	cloned(FLAGS, &stack[256], NULL, &tid);
	wait_for(&tid);
	return 0;
}
