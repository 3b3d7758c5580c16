// SPDX-License-Identifier: GPL-2.0
/*
 * Runs for ever in a loop whose CFI, registers or stack are such that a walk ends for a reason that is known.
 *
 *	stops_work NAME
 *
 * Prints a line when it is about to.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE	0x1000ul

/*
 * Each function gets a pointer into a page that cannot be read, and does not return.  Its samples are
 * taken at SPIN.
 */
#define SPIN	"1: pause\n jmp 1b\n"
#define CODE(name, cfi, text)						\
	asm(".text\n .type " #name ", @function\n" #name ":\n"		\
	    ".cfi_startproc\n" cfi "\n" text "\n.cfi_endproc\n"		\
	    ".size " #name ", . - " #name "\n");				\
	void name(void *absent)

CODE(in_leaf, "", SPIN);
/* CFA = rbp + 16, which is nowhere near; not a multiple of 8 in the other. */
CODE(in_no_progress, ".cfi_def_cfa %rbp, 16", "lea -4096(%rsp), %rbp\n" SPIN);
CODE(in_misaligned, ".cfi_def_cfa %rbp, 16", "lea 1(%rsp), %rbp\n" SPIN);
CODE(in_absent_stack, "", "mov %rdi, %rsp\n" SPIN);
CODE(in_bad_ra, "", "movq $0x1000, (%rsp)\n" SPIN);
/* The CFA is DW_OP_lit8. */
CODE(in_unsupported, ".cfi_escape 0x0f, 1, 0x38", SPIN);
/* rbx of a caller is not known. */
CODE(in_unknown_register, ".cfi_def_cfa %rbx, 16", "call in_leaf\n ud2");
CODE(in_outermost, ".cfi_undefined %rip", "call in_leaf\n ud2");

/* A function in memory without a file, which keeps a frame pointer, and its caller. */
static const unsigned char memory_bytes[] = {
	0x55, 0x48, 0x89, 0xe5,		/* push %rbp; mov %rsp,%rbp */
	0xf3, 0x90, 0xeb, 0xfc,		/* 1: pause; jmp 1b */
};
void *memory_code;
CODE(in_unproven, ".cfi_undefined %rip", "call *memory_code(%rip)\n ud2");

/*
 * Each frame of two pages is called by the next, behind "ud2".  Its return address, in the second page, is
 * present, and the word for rbp, at rsp, is not.
 */
#define COSTLY_FRAMES	64
#define COSTLY_WORDS	(2 * PAGE / sizeof(long))
long *costly_stack;
CODE(in_cost, ".cfi_def_cfa %rsp, 8192\n.cfi_offset %rbp, -8192",
     "mov costly_stack(%rip), %rsp\n" SPIN "ud2\n in_cost_ra: ud2");
extern const char in_cost_ra[];

/* Without CFI, rows or a frame pointer: no row can be made of what moves rsp by a word of memory. */
asm(".data\n in_gap_size: .quad 64\n"
    ".text\n .type in_gap, @function\n"
    "in_gap: mov $1, %ebp\n sub in_gap_size(%rip), %rsp\n" SPIN
    ".size in_gap, . - in_gap\n");
void in_gap(void *absent);

static void *map(size_t size, int prot)
{
	void *at = mmap(NULL, size, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		exit(1);
	return at;
}

static const struct {
	const char	*name;
	void		(*code)(void *absent);
} loops[] = {
	{ "gap", in_gap },
	{ "unsupported", in_unsupported },
	{ "unknown-register", in_unknown_register },
	{ "read-fault", in_absent_stack },
	{ "no-progress", in_no_progress },
	{ "misaligned", in_misaligned },
	{ "bad-ra", in_bad_ra },
	{ "cost", in_cost },
	{ "unproven", in_unproven },
	{ "outermost", in_outermost },
};

int main(int argc, char **argv)
{
	char *absent = map(PAGE, PROT_NONE);
	size_t i;

	memory_code = map(PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
	memcpy(memory_code, memory_bytes, sizeof(memory_bytes));
	costly_stack = map((COSTLY_FRAMES + 1) * 2 * PAGE, PROT_READ | PROT_WRITE);
	for (i = 1; i <= COSTLY_FRAMES; i++)
		costly_stack[i * COSTLY_WORDS - 1] = (long)in_cost_ra;
	for (i = 0; argc == 2 && i < sizeof(loops) / sizeof(loops[0]); i++) {
		if (strcmp(argv[1], loops[i].name))
			continue;
		puts("ready");
		fflush(stdout);
		loops[i].code(absent + PAGE / 2);
	}
	return 1;
}
