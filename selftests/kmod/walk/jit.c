// SPDX-License-Identifier: GPL-2.0
/*
 * Code without CFI: code that the program writes at run time, as a JIT does, with and without
 * frame pointers, in memory mapped in different ways; assembly; a library without FDEs.
 *
 *	jit		marks with known stacks
 *	jit SECONDS	a loop in JIT code, for samples at any instruction of it
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "mark.h"

typedef void callback(void);

void nofde_call(callback *function);
void nofde_pointer_call(callback *function);
void gap_call(callback *function);
void gap_pointer_call(callback *function);
void call_with_lost_fp(void (*code)(callback *), callback *function);

/*
 * gap_call() has no CFI, though functions around it have.  gap_pointer_call() has none either, and
 * calls with rbp pointing to a word below a function's address, which no call has put there.
 * call_with_lost_fp() has CFI, but calls with a number in rbp that is no address.
 */
asm(".text\n"
	".globl gap_call\n"
	".type gap_call, @function\n"
	"gap_call:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	sub $48, %rsp\n"
	"	call *%rdi\n"
	"	leave\n"
	"	ret\n"
	".size gap_call, . - gap_call\n"
	".globl gap_pointer_call\n"
	".type gap_pointer_call, @function\n"
	"gap_pointer_call:\n"
	"	push %rbp\n"
	"	lea gap_call(%rip), %rax\n"
	"	push %rax\n"
	"	push $0\n"
	"	mov %rsp, %rbp\n"
	"	call *%rdi\n"
	"	add $16, %rsp\n"
	"	pop %rbp\n"
	"	ret\n"
	".size gap_pointer_call, . - gap_pointer_call\n"
	".globl call_with_lost_fp\n"
	".type call_with_lost_fp, @function\n"
	"call_with_lost_fp:\n"
	"	.cfi_startproc\n"
	"	push %rbp\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset %rbp, -16\n"
	"	mov $12345, %ebp\n"
	"	mov %rdi, %rax\n"
	"	mov %rsi, %rdi\n"
	"	call *%rax\n"
	"	pop %rbp\n"
	"	.cfi_def_cfa_offset 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size call_with_lost_fp, . - call_with_lost_fp\n");

/* push %rbp; mov %rsp,%rbp; sub $16,%rsp; call *%rdi; leave; ret */
static const unsigned char with_fp[] = {
	0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10, 0xff, 0xd7, 0xc9, 0xc3,
};

/* sub $8,%rsp; call *%rdi; nop; add $8,%rsp; ret */
static const unsigned char without_fp[] = {
	0x48, 0x83, 0xec, 0x08, 0xff, 0xd7, 0x90, 0x48, 0x83, 0xc4, 0x08, 0xc3,
};

/* sub $8,%rsp; call *%rdi; add $8,%rsp; ret: as Python's trampolines for perf, but for the register. */
static const unsigned char trampoline[] = {
	0x48, 0x83, 0xec, 0x08, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x08, 0xc3,
};

/*
 * 0: push %rbp; mov %rsp,%rbp; sub $32,%rsp; mov %edi,-4(%rbp); 1: call 2f;
 * decl -4(%rbp); jnz 1b; leave; ret; 2: push %rbp; mov %rsp,%rbp; imul %eax,%eax;
 * pop %rbp; ret
 */
static const unsigned char loop[] = {
	0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x20, 0x89, 0x7d, 0xfc,
	0xe8, 0x07, 0x00, 0x00, 0x00, 0xff, 0x4d, 0xfc, 0x75, 0xf6, 0xc9, 0xc3,
	0x55, 0x48, 0x89, 0xe5, 0x0f, 0xaf, 0xc0, 0x5d, 0xc3,
};

static noinline void reached(void)
{
	mark();
	not_tail();
}

static noinline void call_code(void *code, callback *function)
{
	((void (*)(callback *))code)(function);
	not_tail();
}

static void *checked(void *memory)
{
	if (memory != MAP_FAILED)
		return memory;
	perror("mmap");
	exit(1);
}

static void *map(int prot)
{
	return checked(mmap(NULL, 8192, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

/* Memory that is written first and then made executable. */
static noinline void flipped(void)
{
	char *code = map(PROT_READ | PROT_WRITE);

	memcpy(code, with_fp, sizeof(with_fp));
	mprotect(code, 4096, PROT_READ | PROT_EXEC);
	known("reached [jit] call_code flipped main");
	call_code(code, reached);
	mprotect(code, 8192, PROT_READ | PROT_WRITE);
	memcpy(code + 4096, with_fp, sizeof(with_fp));
	mprotect(code, 8192, PROT_READ | PROT_EXEC);
	known("reached [jit] call_code flipped main");
	call_code(code + 4096, reached);
	munmap(code, 8192);
}

static noinline void writable(void)
{
	char *code = map(PROT_READ | PROT_WRITE | PROT_EXEC);

	memcpy(code, with_fp, sizeof(with_fp));
	known("reached [jit] call_code writable main");
	call_code(code, reached);
	not_tail();
}

/* Memory mapped twice: writable, and executable. */
static noinline void twice(void)
{
	int fd = memfd_create("code", 0);
	char *code, *view;

	if (fd < 0 || ftruncate(fd, 4096))
		exit(1);
	view = checked(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
	code = checked(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0));
	memcpy(view, with_fp, sizeof(with_fp));
	known("reached [jit] call_code twice main");
	call_code(code, reached);
	not_tail();
}

static char *nested_code;

static noinline void call_again(void)
{
	call_code(nested_code, reached);
	not_tail();
}

/* A stack that alternates between JIT code and functions with a table. */
static noinline void alternating(void)
{
	nested_code = map(PROT_READ | PROT_WRITE | PROT_EXEC);
	memcpy(nested_code, with_fp, sizeof(with_fp));
	known("reached [jit] call_code call_again [jit] call_code alternating main");
	call_code(nested_code, call_again);
	not_tail();
}

static noinline void assembly(void)
{
	known("reached gap_call assembly main");
	gap_call(reached);
	not_tail();
	known("reached [libwalk_nofde] assembly main");
	nofde_call(reached);
	not_tail();
}

/* Neither CFI nor rbp tells where the caller is: the stack must end, without a wrong frame. */
static noinline void pointers(void)
{
	known("reached gap_pointer_call end");
	gap_pointer_call(reached);
	not_tail();
	known("reached [libwalk_nofde] end");
	nofde_pointer_call(reached);
	not_tail();
}

/* rbp is no address in the code without a rule: the stack ends there, unless its end tells the caller. */
static noinline void lost(void)
{
	char *code = map(PROT_READ | PROT_WRITE | PROT_EXEC);

	memcpy(code, without_fp, sizeof(without_fp));
	known("reached [jit] end");
	call_with_lost_fp((void (*)(callback *))code, reached);
	memcpy(code, trampoline, sizeof(trampoline));
	known("reached [jit] call_with_lost_fp lost main");
	call_with_lost_fp((void (*)(callback *))code, reached);
	not_tail();
}

static noinline void spin(int seconds)
{
	char *code = map(PROT_READ | PROT_WRITE | PROT_EXEC);
	time_t end = time(NULL) + seconds;

	memcpy(code, loop, sizeof(loop));
	while (time(NULL) < end)
		((void (*)(int))code)(100000);
	not_tail();
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		spin(atoi(argv[1]));
		return 0;
	}
	flipped();
	writable();
	twice();
	alternating();
	assembly();
	pointers();
	lost();
	return 0;
}
