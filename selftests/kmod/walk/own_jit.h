/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A JIT compiler that registers its code as GDB's JIT interface says: code with CFI, which uses rbp
 * for something else, always at the same address.
 */
#ifndef BEE_OWN_JIT_H
#define BEE_OWN_JIT_H

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../../unit/jit/made_jit.h"
#include "mark.h"

struct jit_code_entry {
	struct jit_code_entry	*next;
	struct jit_code_entry	*prev;
	const void		*symfile;
	uint64_t		 size;
};

struct jit_descriptor {
	uint32_t		 version;
	uint32_t		 action;
	struct jit_code_entry	*relevant;
	struct jit_code_entry	*first;
} __jit_debug_descriptor = { 1, 0, NULL, NULL };

typedef void callback(void);

#define PAGE	4096

/*
 * push %rbp; mov $12345,%ebp; sub $FRAME,%rsp; mov %rdi,%rdx; mov %rsi,%rax; mov %rsp,%rdi;
 * mov $FRAME/8,%ecx; rep stosq; call *%rdx; add $FRAME,%rsp; pop %rbp; ret.  All words of its frame
 * are the second argument.
 */
static const unsigned char code_bytes[] = {
	0x55, 0xbd, 0x39, 0x30, 0, 0, 0x48, 0x83, 0xec, 32, 0x48, 0x89, 0xfa, 0x48, 0x89, 0xf0,
	0x48, 0x89, 0xe7, 0xb9, 4, 0, 0, 0, 0xf3, 0x48, 0xab, 0xff, 0xd2, 0x48, 0x83, 0xc4, 32,
	0x5d, 0xc3,
};

#define CODE_SUB	9
#define CODE_WORDS	20
#define CODE_ADD	32

/* CIE and FDE of it; bytes 32 to 35 are the distance to the code, byte 48 is FRAME + 16. */
static const unsigned char frames_bytes[] = {
	20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0,
	28, 0, 0, 0, 28, 0, 0, 0, 0, 0, 0, 0, sizeof(code_bytes), 0, 0, 0, 0,
	0x41, 0x0e, 16, 0x86, 2, 0x49, 0x0e, 48, 0x57, 0x0e, 16, 0x41, 0x0e, 8, 0xc6, 0, 0, 0, 0,
};

#define FRAMES_PC	32
#define FRAMES_CFA	48

static struct made_object object;
static struct jit_code_entry entry = { .symfile = &object, .size = sizeof(object) };
static unsigned char *code, *frames;

static void check(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

static const char *ready_path, *go_path;

/* Have tables loaded, or with 'u' removed, by who reads and writes the two fifos. */
static noinline __attribute__((unused)) void wait_for(char what)
{
	int fd = open(ready_path, O_WRONLY);
	char c;

	check(fd >= 0 && write(fd, &what, 1) == 1, ready_path);
	close(fd);
	fd = open(go_path, O_RDONLY);
	check(fd >= 0 && read(fd, &c, 1) == 1, go_path);
	close(fd);
}

static void map_code(void)
{
	code = mmap((void *)0x7e0000000000, PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	check(code != MAP_FAILED, "mmap");
}

/* Write code with a frame of so many bytes, and its CFI. */
static void put_code(unsigned char frame)
{
	int32_t distance;

	memcpy(code, code_bytes, sizeof(code_bytes));
	code[CODE_SUB] = code[CODE_ADD] = frame;
	code[CODE_WORDS] = frame / 8;
	memcpy(frames, frames_bytes, sizeof(frames_bytes));
	distance = code - (frames + FRAMES_PC);
	memcpy(frames + FRAMES_PC, &distance, sizeof(distance));
	frames[FRAMES_CFA] = frame + 16;
}

static void write_code(unsigned char frame)
{
	check(!mprotect(code, PAGE, PROT_READ | PROT_WRITE), "mprotect");
	put_code(frame);
	check(!mprotect(code, PAGE, PROT_READ | PROT_EXEC), "mprotect");
}

/* Within 2 GiB of the code. */
static void map_frames(void)
{
	frames = mmap((void *)0x7e0000100000, PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	check(frames != MAP_FAILED, "mmap");
}

static void register_code(void)
{
	object = made_object(0);
	object.section[1].sh_addr = (uintptr_t)code;
	object.section[1].sh_size = sizeof(code_bytes);
	object.section[2].sh_addr = (uintptr_t)frames;
	object.section[2].sh_size = sizeof(frames_bytes);
	__jit_debug_descriptor.first = &entry;
}

static noinline void reached(void)
{
	mark();
	not_tail();
}

/* In this function, behind a call: what a walk with the rule of another frame takes for a caller. */
extern const char decoy_place[];

static noinline __attribute__((used)) void decoy(void)
{
	reached();
	asm volatile(".globl decoy_place\ndecoy_place:" ::: "memory");
}

/* Code with a frame of at most 96 bytes: above it and in it are only wrong return addresses. */
static noinline void call_code(void)
{
	const char *words[16];
	int i;

	for (i = 0; i < 16; i++)
		words[i] = decoy_place;
	asm volatile("" : : "r"(words) : "memory");
	((void (*)(callback *, const char *))code)(reached, decoy_place);
	not_tail();
}

#endif /* BEE_OWN_JIT_H */
