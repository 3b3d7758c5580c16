// SPDX-License-Identifier: GPL-2.0
/*
 * Single-step a program, find the caller at every instruction with our tables and our step, and
 * compare it with a shadow stack.
 *
 *	step [--from-entry | --from-trap] [--every N] [--limit N] COMMAND...
 *
 * Steps from the first instruction, which is the dynamic linker's, or with --from-entry from the
 * program's entry point, or with --from-trap from behind the first int3 that it executes: callers
 * of that place are not known, and not compared.  The caller is compared at every instruction, the whole stack after
 * every call and every N instructions (default 64).  Prints differences, by place, and sums.
 * Exit status: 1 if any answer was wrong, 4 if ptrace is refused.
 */
#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/auxvec.h>

#include "cache.h"
#include "shadow.h"
#include "space.h"

#define INSN_BYTES	16
#define CODES		(1u << 16)
#define PLACES		4096
#define PLACES_SHOWN	12
#define CLAIMS		32
#define NO_PTRACE	4	/* exit status */

/*
 * How an answer differs from the shadow stack.
 *
 * WRONG: in none of the ways below.
 * STALE: only rbp is wrong, because GCC's CFI of functions that align their stack (DRAP) says
 * after "leave" that the caller's rbp is still at *(rbp).
 * The others are of frames without a row, where the frame pointer is followed:
 * SKIPPED: it gave a caller further up.  GUESSED: it gave a frame that is no caller.
 * UNCOVERED: it gave none, and the walk stops.
 */
enum verdict {
	RIGHT,
	WRONG,
	STALE,
	GUESSED,
	SKIPPED,
	UNCOVERED,
	NVERDICTS,
};

static const char * const verdict_name[] = {
	[WRONG] = "wrong", [STALE] = "stale", [GUESSED] = "guessed",
	[SKIPPED] = "skipped", [UNCOVERED] = "uncovered",
};

/**
 * struct place - a frame whose caller was not found
 * @ip: where it was
 * @verdict: how the answer differed
 * @count: times
 * @what: the first time in words
 */
struct place {
	u64		ip;
	enum verdict	verdict;
	u64		count;
	char		what[300];
};

/**
 * struct claim - an answer that the shadow stack contradicts; the next ret or indirect jump
 *	shows whether it was right
 * @f: the caller
 * @from: ip of its callee
 * @verdict: how it is counted if it was not right
 * @what: the claim in words
 */
struct claim {
	struct bee_frame	f;
	u64			from;
	enum verdict		verdict;
	char			what[300];
};

static struct {
	struct cache		 cache;
	struct space		 space;
	struct shadow		 shadow;
	struct user_regs_struct	 regs;
	struct { u64 ip; enum shadow_insn insn; } code[CODES];
	struct place		 place[PLACES];
	size_t			 places;
	struct claim		 claim[CLAIMS];
	size_t			 claims;
	u64			 steps, frames, by_fp;
	u64			 verdicts[NVERDICTS];
	u64			 every, limit;
	bool			 from_entry, from_trap;
} run = { .every = 64, .limit = ~0ull };

static void die(const char *what)
{
	fprintf(stderr, "step: %s: %s\n", what, strerror(errno));
	exit(2);
}

static struct bee_uread memory = { .read = cache_read, .arg = &run.cache };

static u64 word(u64 addr)
{
	u64 value;

	return bee_uread_u64(&memory, addr, &value) ? value : 0;
}

static void topmost(u64 *gpr, struct bee_frame *f)
{
	const struct user_regs_struct *r = &run.regs;
	const u64 regs[16] = {
		r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp,
		r->r8, r->r9, r->r10, r->r11, r->r12, r->r13, r->r14, r->r15,
	};

	memcpy(gpr, regs, sizeof(regs));
	*f = (struct bee_frame) {
		.ip = r->rip, .sp = r->rsp, .fp = r->rbp, .fp_known = true, .activation = true,
		.gpr = gpr,
	};
}

static void report(u64 ip, enum verdict verdict, const char *what)
{
	size_t i;

	run.verdicts[verdict]++;
	for (i = 0; i < run.places; i++)
		if (run.place[i].ip == ip && run.place[i].verdict == verdict)
			break;
	if (i == PLACES)
		return;
	if (i == run.places) {
		run.places++;
		run.place[i].ip = ip;
		run.place[i].verdict = verdict;
		snprintf(run.place[i].what, sizeof(run.place[i].what), "%s", what);
	}
	run.place[i].count++;
}

static bool is_frame(const struct shadow_frame *truth, const struct bee_frame *f)
{
	return f->ip == truth->ip && f->sp == truth->sp && f->activation == truth->activation;
}

/*
 * Is @f a caller of the @n-th caller?  Only ip is compared: of frames that align their stack rbp
 * does not give the right sp.
 */
static bool is_further_up(size_t n, const struct bee_frame *f)
{
	const struct shadow_frame *truth;

	while ((truth = shadow_caller(&run.shadow, ++n)))
		if (truth->ip == f->ip)
			return true;
	return false;
}

/* Is this GCC's rule at the end of a DRAP epilogue: rbp = *(rbp), but the CFA not from rbp? */
static bool is_stale(const struct bee_rule *row)
{
	return row->fp == BEE_FP_DEREF && row->fp_reg == BEE_REG_RBP && !row->fp_off &&
	       row->cfa == BEE_CFA_REG &&
	       (row->cfa_reg == BEE_REG_R10 || (row->cfa_reg == BEE_REG_RSP && row->cfa_off == 8));
}

/*
 * Compare the frame that was found for the n-th caller with the shadow's.  Another rbp is not
 * wrong at once, as the unwinder of exceptions changes the saved rbp: settle() checks it when
 * the caller is returned to.
 */
static enum verdict judge(size_t n, struct shadow_frame *truth, const struct bee_rule *row,
			  const struct bee_frame *f, enum beeunwind_stop stop, enum space_how how)
{
	if (stop && how == SPACE_BY_FP)
		return UNCOVERED;
	if (!truth)
		return stop == BEEUNWIND_STOP_OUTERMOST ? RIGHT : WRONG;
	if ((stop || !is_frame(truth, f)) && how != SPACE_BY_FP)
		return WRONG;
	if (!is_frame(truth, f))
		return is_further_up(n, f) ? SKIPPED : GUESSED;
	truth->claimed = f->fp_known && f->fp != truth->fp;
	truth->claim = f->fp;
	if (!truth->claimed || !is_stale(row))
		return RIGHT;
	truth->claimed = false;
	return STALE;
}

static void explain(char *what, size_t size, size_t n, const struct shadow_frame *truth,
		    const struct bee_rule *row, u64 from, const struct bee_frame *f,
		    enum beeunwind_stop stop)
{
	char a[64], b[64], c[64];

	snprintf(what, size,
		 "caller %zu of %s: stop %d %s sp %#llx fp %#llx, should be %s sp %#llx fp %#llx; "
		 "row %d cfa %d %d%+d fp %d%+d ra %d%+d", n,
		 space_place(&run.space, from, a, sizeof(a)), stop,
		 space_place(&run.space, f->ip, b, sizeof(b)), (unsigned long long)f->sp,
		 (unsigned long long)f->fp,
		 truth ? space_place(&run.space, truth->ip, c, sizeof(c)) : "none",
		 truth ? (unsigned long long)truth->sp : 0, truth ? (unsigned long long)truth->fp : 0,
		 row->kind, row->cfa, row->cfa_reg, row->cfa_off, row->fp, row->fp_off, row->ra,
		 row->ra_off);
}

/*
 * __builtin_eh_return() returns to a landing pad instead of the caller, as the table may say: keep
 * the answer for judge_claims() at the ret.
 */
static bool put_off(u64 from, const struct bee_frame *f, enum verdict verdict, const char *what)
{
	struct claim *claim = &run.claim[run.claims];

	if (run.claims == CLAIMS || (verdict != WRONG && verdict != GUESSED))
		return false;
	run.claims++;
	claim->f = *f;
	claim->from = from;
	claim->verdict = verdict;
	snprintf(claim->what, sizeof(claim->what), "%s", what);
	return true;
}

/*
 * Compare up to @depth callers with the shadow.  Stop at the first that differs, and at one whose
 * return address or rbp has been changed on the stack: an exception is about to land there.
 */
static void check(size_t depth)
{
	bool landing = false;
	struct bee_frame f;
	u64 gpr[16];
	size_t n;

	topmost(gpr, &f);
	for (n = 0; n < depth && n <= run.shadow.count && !landing; n++) {
		struct shadow_frame *frame = shadow_caller(&run.shadow, n);
		struct shadow_frame *truth = frame, now;
		struct bee_rule row = { .kind = BEE_RULE_GAP };
		enum beeunwind_stop stop;
		enum verdict verdict;
		enum space_how how;
		u64 from = f.ip;
		char what[300];

		if (run.from_trap && !frame)
			return;
		space_row(&run.space, &f, &row);
		stop = space_next(&run.space, &memory, &f, &how);
		run.frames++;
		run.by_fp += how == SPACE_BY_FP;
		if (frame && !frame->activation && !frame->popped &&
		    word(frame->slot) != frame->ip) {
			landing = true;
			now = *frame;
			now.ip = word(frame->slot);
			truth = &now;
		}
		verdict = judge(n, truth, &row, &f, stop, how);
		landing |= truth && truth->claimed;
		if (verdict == RIGHT)
			continue;
		explain(what, sizeof(what), n, truth, &row, from, &f, stop);
		if (n || stop || !put_off(from, &f, verdict, what))
			report(from, verdict, what);
		return;
	}
}

/* After a ret or indirect jump: report the claims that differ from the registers. */
static void judge_claims(void)
{
	size_t i;

	for (i = 0; i < run.claims; i++) {
		const struct bee_frame *f = &run.claim[i].f;

		if (f->ip != run.regs.rip || f->sp != run.regs.rsp ||
		    (f->fp_known && f->fp != run.regs.rbp))
			report(run.claim[i].from, run.claim[i].verdict, run.claim[i].what);
	}
	run.claims = 0;
}

static enum shadow_insn insn_at(u64 ip)
{
	size_t i = (ip ^ ip >> 16) % CODES;
	u8 code[INSN_BYTES] = { 0 };

	if (run.code[i].ip != ip) {
		if (!cache_peek(&run.cache, ip, code, sizeof(code)))
			cache_peek(&run.cache, ip, code, 4096 - ip % 4096 < sizeof(code) ? 4096 - ip % 4096 : 1);
		run.code[i].ip = ip;
		run.code[i].insn = shadow_decode(code, sizeof(code));
	}
	return run.code[i].insn;
}

static void mappings_changed(void)
{
	memset(run.code, 0, sizeof(run.code));
	if (space_read(&run.space, run.cache.pid))
		die("reading mappings");
}

/* Account for a system call; @before: registers at the instruction. */
static void after_syscall(const struct user_regs_struct *before)
{
	u64 stack[3];

	switch (before->rax) {
	case SYS_mmap:
	case SYS_munmap:
	case SYS_mprotect:
	case SYS_mremap:
		mappings_changed();
		break;
	case SYS_sigaltstack:
		if (before->rdi && cache_peek(&run.cache, before->rdi, stack, sizeof(stack))) {
			run.shadow.alt = stack[0];
			run.shadow.alt_end = stack[0] + stack[2];
		}
		break;
	case SYS_rt_sigreturn:
		if (!shadow_sigreturn(&run.shadow, run.regs.rip, run.regs.rsp))
			report(run.regs.rip, WRONG, "lost: not where the signal came");
	}
}

/* Remove callers that have been returned to; report those whose rbp is not the claimed one. */
static void settle(const struct user_regs_struct *before, enum shadow_insn insn)
{
	size_t gone = shadow_gone(&run.shadow, insn, run.regs.rsp);
	const struct shadow_frame *frame = &run.shadow.frame[run.shadow.count];
	char what[160], place[64];

	for (; gone--; frame++) {
		if (!frame->claimed || frame->claim == run.regs.rbp)
			continue;
		snprintf(what, sizeof(what),
			 "back in %s: rbp %#llx, should be %#llx, claimed %#llx",
			 space_place(&run.space, frame->ip, place, sizeof(place)),
			 (unsigned long long)run.regs.rbp, (unsigned long long)frame->fp,
			 (unsigned long long)frame->claim);
		report(before->rip, WRONG, what);
	}
}

/* Account for the instruction that was executed. */
static void account(const struct user_regs_struct *before, enum shadow_insn insn)
{
	const struct user_regs_struct *r = &run.regs;

	switch (insn) {
	case SHADOW_CALL:
		if (r->rsp == before->rsp - 8) {
			shadow_call(&run.shadow, r->rsp, word(r->rsp), before->rbp);
			return;
		}
		break;
	case SHADOW_SYSCALL:
		after_syscall(before);
		break;
	default:
		break;
	}
	settle(before, insn);
}

/* Has the kernel just made a frame for a handler (struct rt_sigframe, asm/sigframe.h)? */
static bool handler_begins(int sig)
{
	return sig && run.regs.rdi == sig && run.regs.rdx == run.regs.rsp + 8;
}

static void begin_handler(const struct user_regs_struct *interrupted)
{
	struct shadow_frame frame = {
		.ip = interrupted->rip, .sp = interrupted->rsp, .fp = interrupted->rbp,
	};
	u64 saved;

	/* uc_mcontext.gregs[REG_RIP] is 2 lower if the system call is to be restarted. */
	if (cache_peek(&run.cache, run.regs.rdx + 168, &saved, sizeof(saved)) && saved == frame.ip - 2)
		frame.ip = saved;
	shadow_signal(&run.shadow, &frame, run.regs.rsp, word(run.regs.rsp));
}

static int wait_stop(void)
{
	int status;

	if (waitpid(run.cache.pid, &status, __WALL) < 0)
		die("waitpid");
	return status;
}

/* Run to the entry point, with a breakpoint (int3) there that is removed again. */
static void go_to_entry(void)
{
	u64 auxv[2 * 64], entry = 0;
	struct user_regs_struct regs;
	unsigned long saved;
	char path[64];
	FILE *file;
	size_t i, n;

	snprintf(path, sizeof(path), "/proc/%d/auxv", run.cache.pid);
	file = fopen(path, "r");
	n = file ? fread(auxv, 16, 64, file) : 0;
	for (i = 0; i < n; i++)
		if (auxv[2 * i] == AT_ENTRY)
			entry = auxv[2 * i + 1];
	if (file)
		fclose(file);
	saved = ptrace(PTRACE_PEEKTEXT, run.cache.pid, entry, NULL);
	if (ptrace(PTRACE_POKETEXT, run.cache.pid, entry, (saved & ~0xfful) | 0xcc) ||
	    ptrace(PTRACE_CONT, run.cache.pid, NULL, NULL))
		die("breakpoint");
	wait_stop();
	if (ptrace(PTRACE_GETREGS, run.cache.pid, NULL, &regs) || regs.rip != entry + 1)
		die("the entry point");
	regs.rip = entry;
	ptrace(PTRACE_SETREGS, run.cache.pid, NULL, &regs);
	ptrace(PTRACE_POKETEXT, run.cache.pid, entry, saved);
}

/* Run to an int3 of the program.  Return: its wait status, at the trap or at its end. */
static int go_to_trap(void)
{
	int status, sig = 0;

	do {
		if (ptrace(PTRACE_CONT, run.cache.pid, NULL, sig))
			die("continue");
		status = wait_stop();
		sig = WIFSTOPPED(status) ? WSTOPSIG(status) : SIGTRAP;
	} while (sig != SIGTRAP);
	return status;
}

/* Single-step the program, to its end or run.limit.  Return: its wait status; 0 at the limit. */
static int follow(void)
{
	int status = wait_stop(), sig = 0;
	struct user_regs_struct before = { .rip = 0 };

	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_PTRACE)
		exit(NO_PTRACE);
	if (!WIFSTOPPED(status))
		return status;
	ptrace(PTRACE_SETOPTIONS, run.cache.pid, NULL, PTRACE_O_EXITKILL);
	if (run.from_entry)
		go_to_entry();
	if (run.from_trap)
		status = go_to_trap();
	if (!WIFSTOPPED(status))
		return status;
	mappings_changed();
	while (run.steps < run.limit) {
		enum shadow_insn insn = SHADOW_OTHER;
		bool called;

		run.cache.stop++;
		if (ptrace(PTRACE_GETREGS, run.cache.pid, NULL, &run.regs))
			die("registers");
		if (handler_begins(sig)) {
			begin_handler(&before);
		} else if (before.rip && run.regs.rip != before.rip) {
			insn = insn_at(before.rip);
			account(&before, insn);
			if (insn == SHADOW_RET || insn == SHADOW_JUMP)
				judge_claims();
		}
		called = insn == SHADOW_CALL || sig;
		sig = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
		run.steps++;
		check(called || run.steps % run.every == 0 ? ~0ull : 1);

		before = run.regs;
		if (ptrace(PTRACE_SINGLESTEP, run.cache.pid, NULL, sig))
			die("single step");
		status = wait_stop();
		if (!WIFSTOPPED(status))
			return status;
	}
	kill(run.cache.pid, SIGKILL);
	wait_stop();
	return 0;
}

/* Sort by verdict, the worst first, then by count, the largest first. */
static int by_weight(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->verdict != y->verdict)
		return x->verdict < y->verdict ? -1 : 1;
	return x->count < y->count ? 1 : -(x->count > y->count);
}

static void parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "from-entry", no_argument, NULL, 'f' },
		{ "from-trap", no_argument, NULL, 't' },
		{ "every", required_argument, NULL, 'e' },
		{ "limit", required_argument, NULL, 'l' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		if (c == '?')
			exit(2);
		if (c == 'f')
			run.from_entry = true;
		else if (c == 't')
			run.from_trap = true;
		else
			*(c == 'e' ? &run.every : &run.limit) = strtoull(optarg, NULL, 0);
	}
	if (optind == argc || !run.every) {
		fprintf(stderr, "usage: step [--from-entry | --from-trap] [--every N] [--limit N] "
			"COMMAND...\n");
		exit(2);
	}
}

/* Tracer and program take turns: on one CPU neither has to be woken up on another. */
static void stay_here(void)
{
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	sched_setaffinity(0, sizeof(here), &here);
}

int main(int argc, char **argv)
{
	size_t i;
	int status;

	parse(argc, argv);
	stay_here();
	run.cache.pid = fork();
	if (!run.cache.pid) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL)) {
			perror("step: ptrace");
			_exit(NO_PTRACE);
		}
		execvp(argv[optind], argv + optind);
		_exit(127);
	}
	if (run.cache.pid < 0)
		die("fork");
	status = follow();
	judge_claims();

	qsort(run.place, run.places, sizeof(run.place[0]), by_weight);
	for (i = 0; i < run.places && i < PLACES_SHOWN; i++)
		printf("%s %llu times: %s\n", verdict_name[run.place[i].verdict],
		       (unsigned long long)run.place[i].count, run.place[i].what);
	printf("steps %llu frames %llu wrong %llu stale %llu without-row %llu: "
	       "guessed %llu skipped %llu uncovered %llu\n",
	       (unsigned long long)run.steps, (unsigned long long)run.frames,
	       (unsigned long long)run.verdicts[WRONG], (unsigned long long)run.verdicts[STALE],
	       (unsigned long long)run.by_fp, (unsigned long long)run.verdicts[GUESSED],
	       (unsigned long long)run.verdicts[SKIPPED],
	       (unsigned long long)run.verdicts[UNCOVERED]);
	if (status)
		printf("%s: wait status %#x\n", argv[optind], status);
	return run.verdicts[WRONG] || status;
}
