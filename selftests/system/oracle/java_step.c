// SPDX-License-Identifier: GPL-2.0
/*
 * Single-step a thread of a Java virtual machine, and look whether it returns to where the module's step out of code
 * heaps says.
 *
 *	java_step PID TID FRAMES
 *
 * At each instruction in a code heap the module's step says where the topmost frame's caller goes on, and with which
 * stack pointer: that is a claim.  It is right if the thread comes to that instruction with that stack pointer before
 * it has a higher one.  (The interpreter sets its stack pointer itself: there it may be lower.)  "Elsewhere in the
 * caller" is where the caller goes on at another instruction of the same piece of code, say in a handler of exceptions,
 * or where it leaves its own frame for one.  (The interpreter is one piece, and leaves frames for handlers in others.)
 * Any other claim is wrong.  So is one at the first instruction behind a call whose caller is not that call's.
 *
 * Where the virtual machine finds code invalid, it replaces the frames of that code by the interpreter's (deoptimization),
 * and claims of these seem wrong: up to three each time.  Hence some claims may be: CLAIMS_WRONG and one in a hundred.
 *
 * Steps until FRAMES claims have been judged, or as many instructions had no answer.  Prints how many were right, wrong
 * and so on, and the places of those that were not right.
 * Exit status: 1 if more were wrong, or most had no answer, 2 if it cannot be told, 4 if ptrace is refused.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* kernel.h has them, too. */
#undef PAGE_SIZE
#undef PAGE_MASK

#include "cache.h"
#include "elf.h"
#include "hotspot.h"
#include "kernel.h"
#include "maps.h"
#include "space.h"
#include "kmod/heap.h"

#define CLAIMS		1024u
#define CLAIMS_WRONG	5u
#define INSN_MOST	15u	/* bytes of an instruction */
#define PLACES		64u
#define MOVED		128u	/* bytes by which adapters align the interpreter's rsp, and its frames have more locals
				 * when compiled code becomes invalid below them */
#define ARGUMENTS	256u	/* bytes that adapters of the interpreter may pop from below a return address */
#define NO_PTRACE	4	/* exit status */

/**
 * struct claim - what was said of a frame
 * @from: ip there
 * @callee_sp: stack pointer there
 * @ra: where its caller goes on
 * @sp: with which stack pointer
 * @count: at how many instructions it was said
 * @left: it was said of a caller in the interpreter, which has been elsewhere since with the frame gone
 */
struct claim {
	u64	from;
	u64	callee_sp;
	u64	ra;
	u64	sp;
	u64	count;
	bool	left;
};

enum verdict { RIGHT, ELSEWHERE, WRONG, NONE, VERDICTS };

static const char *const verdict_name[] = {
	[RIGHT] = "right", [ELSEWHERE] = "elsewhere in the caller", [WRONG] = "wrong", [NONE] = "no answer",
};

static struct {
	struct cache		cache;
	struct bee_code_heaps	heaps;
	struct user_regs_struct	regs;
	struct claim		claim[CLAIMS];
	size_t			claims;
	u64			count[VERDICTS];
	u64			judged[VERDICTS];	/* claims, however often they were made */
	struct { u64 from; enum verdict verdict; u64 count; } place[PLACES];
} run;

static struct bee_uread memory = { .read = cache_read, .arg = &run.cache };

static void die(const char *what)
{
	fprintf(stderr, "java_step: %s: %s\n", what, strerror(errno));
	exit(errno == EPERM ? NO_PTRACE : 2);
}

static void find_heaps(pid_t pid)
{
	u64 address[HOTSPOT_VARIABLES];
	struct elf_file elf = {};
	bool found = false;
	struct memory mem = { .left = 1 << 26 };
	struct maps maps = {};
	struct bee_error error;
	char path[32];
	size_t i;
	int fd;

	if (maps_read_process(pid, &maps, &error))
		die("maps");
	for (i = 0; i < maps.count && !found; i++) {
		if (!maps.entry[i].path || !hotspot_is_named(maps.entry[i].path))
			continue;
		fd = open(maps.entry[i].path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || elf_identify(&elf, fd, &error))
			die(maps.entry[i].path);
		found = hotspot_find(&elf, &maps.entry[i], address);
		elf_close(&elf);
		close(fd);
	}
	maps_free(&maps);
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	mem.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (mem.fd < 0)
		die(path);
	if (!found || hotspot_read(&mem, address, &run.heaps, &error)) {
		fprintf(stderr, "java_step: %s\n", found ? error.text : "no libjvm.so of HotSpot");
		exit(2);
	}
	close(mem.fd);
}

static void count(u64 from, enum verdict verdict, u64 n)
{
	size_t i;

	run.count[verdict] += n;
	run.judged[verdict]++;
	for (i = 0; i < PLACES - 1 && run.place[i].count; i++)
		if (run.place[i].from == from && run.place[i].verdict == verdict)
			break;
	if (verdict == RIGHT)
		return;
	run.place[i].from = from;
	run.place[i].verdict = verdict;
	run.place[i].count += n;
}

/* Whether two addresses are in one piece of code. */
static bool same_piece(u64 a, u64 b)
{
	struct bee_frame f = { .ip = a, .activation = true };
	struct bee_heap_step s = { .mem = &memory, .heaps = &run.heaps, .f = &f };

	if (heap_is_interpreter(&run.heaps, a) || heap_is_interpreter(&run.heaps, b))
		return heap_is_interpreter(&run.heaps, a) && heap_is_interpreter(&run.heaps, b);
	return heap_read_code(&s, a) && heap_read_bounds(&s) && b - s.start < s.end - s.start;
}

/* The thread has a higher stack pointer than was claimed. */
static void judge_other(const struct claim *claim)
{
	enum verdict verdict = claim->left || same_piece(run.regs.rip, claim->ra) ? ELSEWHERE : WRONG;

	count(claim->from, verdict, claim->count);
	if (verdict == WRONG)
		printf("%#llx, rsp %#llx: claimed %#llx, rsp %+lld; went on at %#llx, rsp %+lld\n", claim->from,
		       claim->callee_sp, claim->ra, claim->sp - claim->callee_sp, run.regs.rip,
		       run.regs.rsp - claim->callee_sp);
}

/* Judge the claims of frames that are gone. */
static void judge(void)
{
	u64 ip = run.regs.rip, sp = run.regs.rsp;
	size_t i, kept = 0;

	for (i = 0; i < run.claims; i++) {
		struct claim *claim = &run.claim[i];

		claim->left |= sp >= claim->sp && heap_is_interpreter(&run.heaps, ip) &&
			       heap_is_interpreter(&run.heaps, claim->ra);
		if (ip == claim->ra && (sp == claim->sp || (heap_is_interpreter(&run.heaps, ip) && sp < claim->sp &&
							    sp + MOVED >= claim->callee_sp)))
			count(claim->from, RIGHT, claim->count);
		else if (sp > claim->sp + (heap_is_interpreter(&run.heaps, claim->ra) ? ARGUMENTS : 0))
			judge_other(claim);
		else if (sp == claim->sp && !heap_is_interpreter(&run.heaps, ip) && same_piece(ip, claim->ra))
			count(claim->from, ELSEWHERE, claim->count);
		else
			run.claim[kept++] = *claim;
	}
	run.claims = kept;
}

/*
 * Whether the thread has come to its ip by a call at @before.  The return address comes to @ra.  The interpreter calls
 * itself for the sake of a return address that the virtual machine can find; it has no frame more then.
 */
static bool was_called(const struct user_regs_struct *before, u64 *ra)
{
	if (heap_is_interpreter(&run.heaps, before->rip) && heap_is_interpreter(&run.heaps, run.regs.rip))
		return false;
	return run.regs.rsp == before->rsp - 8 && bee_uread_u64(&memory, run.regs.rsp, ra) && *ra > before->rip &&
	       *ra <= before->rip + INSN_MOST && run.regs.rip != *ra;
}

/* @before: registers at the instruction before */
static void claim(const struct user_regs_struct *before)
{
	const struct user_regs_struct *r = &run.regs;
	const u64 gpr[16] = {
		r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp,
		r->r8, r->r9, r->r10, r->r11, r->r12, r->r13, r->r14, r->r15,
	};
	struct bee_frame f = { .ip = r->rip, .sp = r->rsp, .fp = r->rbp, .fp_known = true, .activation = true, .gpr = gpr };
	struct bee_heap_step s = { .mem = &memory, .heaps = &run.heaps, .f = &f };
	struct claim *last = &run.claim[run.claims - 1];
	u64 ra;

	if (!bee_heaps_have(&run.heaps, r->rip))
		return;
	if (bee_heap_step(&s)) {
		count(r->rip, NONE, 1);
	} else if (was_called(before, &ra) && f.ip != ra) {
		printf("%#llx: claimed %#llx, but was called before %#llx\n", r->rip, f.ip, ra);
		count(r->rip, WRONG, 1);
	} else if (run.claims && last->ra == f.ip && last->sp == f.sp) {
		last->count++;
	} else if (run.claims < CLAIMS) {
		run.claim[run.claims++] = (struct claim){ r->rip, r->rsp, f.ip, f.sp, 1, false };
	}
}

/* Have the thread execute an instruction.  Signals are passed on, and their handlers begin by the way. */
static void step(pid_t tid)
{
	int status, number = 0;

	do {
		if (ptrace(PTRACE_SINGLESTEP, tid, NULL, number) || waitpid(tid, &status, __WALL) != tid ||
		    !WIFSTOPPED(status))
			die("the thread has ended");
		number = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	} while (number);
	run.cache.stop++;
}

int main(int argc, char **argv)
{
	pid_t pid = argc == 4 ? atoi(argv[1]) : 0, tid = argc == 4 ? atoi(argv[2]) : 0;
	u64 wanted = argc == 4 ? strtoull(argv[3], NULL, 10) : 0, judged, claims;
	struct user_regs_struct before = {};
	int status;
	size_t i;

	if (!pid || !tid || !wanted) {
		fprintf(stderr, "usage: java_step PID TID FRAMES\n");
		return 2;
	}
	run.cache.pid = pid;
	find_heaps(pid);
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) || ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) ||
	    waitpid(tid, &status, __WALL) != tid)
		die("ptrace");
	do {
		step(tid);
		if (ptrace(PTRACE_GETREGS, tid, NULL, &run.regs))
			die("registers");
		judge();
		claim(&before);
		before = run.regs;
		judged = run.count[RIGHT] + run.count[ELSEWHERE] + run.count[WRONG];
	} while (judged < wanted && run.count[NONE] < wanted);
	ptrace(PTRACE_DETACH, tid, NULL, NULL);
	for (i = 0; i < PLACES && run.place[i].count; i++)
		printf("%#llx: %s, %llu times\n", (unsigned long long)run.place[i].from,
		       verdict_name[run.place[i].verdict], (unsigned long long)run.place[i].count);
	for (i = 0; i < VERDICTS; i++)
		printf("%s%s %llu", i ? ", " : "", verdict_name[i], (unsigned long long)run.count[i]);
	claims = run.judged[RIGHT] + run.judged[ELSEWHERE] + run.judged[WRONG];
	printf("; claims %llu, wrong %llu\n", (unsigned long long)claims, (unsigned long long)run.judged[WRONG]);
	return run.judged[WRONG] > CLAIMS_WRONG + claims / 100 || judged < wanted;
}
