// SPDX-License-Identifier: GPL-2.0
/*
 * Why walks end: the module counts each reason.  Processes of this program run in loops whose CFI,
 * registers or stacks are such that there is no caller.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "guest.h"
#include "kselftest.h"

#define SAMPLES		100
#define PERIOD_NS	1000000

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

/* Without CFI, rows or a frame pointer: no row can be made of what moves rsp by a word of memory. */
asm(".data\n in_gap_size: .quad 64\n"
    ".text\n .type in_gap, @function\n"
    "in_gap: mov $1, %ebp\n sub in_gap_size(%rip), %rsp\n" SPIN
    ".size in_gap, . - in_gap\n");
void in_gap(void *absent);

static struct guest g;
static char *absent;

static void run_code(int told, void *arg)
{
	void (**code)(void *absent) = arg;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (write(told, "", 1) == 1)
		(*code)(absent + PAGE / 2);
}

/* Start a process that runs @code. */
static pid_t start(void (*code)(void *absent))
{
	char c;

	return guest_start(run_code, &code, &c, 1);
}

/* How the walks of @pid have ended.  Return: how many there were. */
static uint32_t read_stops(pid_t pid, uint32_t stop[BEEUNWIND_STOP_MAX + 1])
{
	struct netlink_proc proc;
	uint32_t i, sum = 0;

	guest_get_proc(&g, pid, &proc);
	for (i = 0; i <= BEEUNWIND_STOP_MAX; i++)
		sum += stop[i] = proc.stop[i];
	ranges_free(&proc.ranges);
	return sum;
}

/* The walks of @pid end for this reason, all but those of samples taken before it was in its loop. */
static bool ends(pid_t pid, uint16_t frames, enum beeunwind_stop reason)
{
	uint32_t stop[BEEUNWIND_STOP_MAX + 1], sum, i;
	const long deadline = guest_deadline();
	int fd = guest_sampler_open(pid, PERIOD_NS, frames);
	bool good;

	do
		sum = read_stops(pid, stop);
	while (sum < SAMPLES && guest_waits(deadline));
	close(fd);
	good = sum >= SAMPLES && stop[reason] >= sum - sum / 10;
	for (i = 0; i <= BEEUNWIND_STOP_MAX && !good; i++)
		if (stop[i])
			ksft_print_msg("reason %u: %u walks\n", i, stop[i]);
	return good;
}

static void test(const char *name, void (*code)(void *absent), uint16_t frames,
		 enum beeunwind_stop reason)
{
	pid_t pid = start(code);

	ksft_test_result(ends(pid, frames, reason), "%s\n", name);
	guest_reap(pid);
}

/* Ranges that a request has made are not looked up again: the code is in none of them. */
static void test_no_mapping(void)
{
	struct range elsewhere = { .start = 0x10000, .end = 0x11000 };
	pid_t pid = start(in_gap);
	struct netlink_proc proc;

	guest_get_proc(&g, pid, &proc);
	if (guest_update(&g, &proc, NULL, 0, &elsewhere, 1))
		guest_die("proc-update", g.error.text);
	ranges_free(&proc.ranges);
	ksft_test_result(ends(pid, 0, BEEUNWIND_STOP_NO_MAPPING), "no-mapping\n");
	guest_reap(pid);
}

int main(int argc, char **argv)
{
	struct netlink_info begin;
	uint32_t id;

	ksft_print_header();
	ksft_set_plan(13);
	absent = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (argc != 1 || absent == MAP_FAILED)
		guest_die("start", strerror(errno));
	guest_open(&g);
	guest_info_at_rest(&g, &begin);
	test_no_mapping();
	guest_add(&g, getpid());
	test("no-table", in_gap, 0, BEEUNWIND_STOP_NO_TABLE);
	id = guest_add_table(&g, argv[0]);
	test("gap", in_gap, 0, BEEUNWIND_STOP_GAP);
	test("unsupported", in_unsupported, 0, BEEUNWIND_STOP_UNSUPPORTED);
	test("unknown-register", in_unknown_register, 0, BEEUNWIND_STOP_UNKNOWN_REGISTER);
	test("read-fault", in_absent_stack, 0, BEEUNWIND_STOP_READ_FAULT);
	test("no-progress", in_no_progress, 0, BEEUNWIND_STOP_NO_PROGRESS);
	test("misaligned", in_misaligned, 0, BEEUNWIND_STOP_MISALIGNED);
	test("bad-ra", in_bad_ra, 0, BEEUNWIND_STOP_BAD_RA);
	test("outermost", in_outermost, 0, BEEUNWIND_STOP_OUTERMOST);
	test("depth, if there are more frames than perf asks for", in_outermost, 1,
	     BEEUNWIND_STOP_DEPTH);
	test("outermost, if there are just as many", in_outermost, 2, BEEUNWIND_STOP_OUTERMOST);
	ksft_test_result(!netlink_proc_del(g.nl, getpid(), &g.error) &&
			 !netlink_table_del(g.nl, id, true, &g.error) &&
			 guest_settles(&g, &begin), "nothing is left of them\n");
	ksft_finished();
}
