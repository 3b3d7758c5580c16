// SPDX-License-Identifier: GPL-2.0
/*
 * The same-sample oracle: run a command, take samples that have a callchain, the
 * user registers and a copy of the stack, and compare the callchain, address by
 * address, with the one that libdw finds from the registers and the stack.
 *
 *	sample [--launcher] [--here [--cold]] [--seconds N] [--samples N] [--period NS]
 *		NAME COMMAND...
 *
 * --launcher: the command starts the program, as "beectl run" does.  --here: the kernel's
 * callchain, which needs the module, is replaced by one that this process makes of the
 * registers and the stack, with the same tables and the same step.  --cold: it is also walked without
 * any table, and without those of either half of the files, as while tables are made; then every
 * return address in a file must have a call before it.
 * Prints differences, by place, and sums.  Exit status: 1 if a sample that can be compared
 * differs, or with --cold has such an address without a call, 4 if perf is refused, else 0.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "insn.h"
#include "space.h"
#include "unwind.h"

#define PLACES		256
#define PLACES_SHOWN	20
#define NAME_SIZE	16	/* TASK_COMM_LEN */
#define CHAIN_MAX	1024
/* Bytes of the longest call, with a prefix. */
#define CALL_BYTES	9
#define NO_PERF		4	/* exit status */

/**
 * enum verdict - the result of comparing a sample
 * @IDENTICAL: callchain and libdw have equal addresses
 * @DIFFERENT: other addresses, for none of the reasons below
 * @DUMP_SHORT: addresses are equal up to where libdw needs memory beyond the copied stack
 * @RED_ZONE: addresses are equal up to where libdw needs memory below rsp, which perf does not copy: GCC's
 *	CFI says that rbp is still saved there after "leave"
 * @LAZY: the walk or libdw ends at a caller the CFA of which is in rbx: _dl_runtime_resolve()
 * @IN_EXEC: during exec: perf has reported no mapping yet, or the sample has no stack and the
 *	callchain only one frame
 * @NOWHERE: addresses are equal up to the end of the callchain, whose caller is in no mapping for libdw: the CFI
 *	is wrong there, and the walk does not take such an address for a caller
 * @NO_CFI: addresses are equal up to a frame in a file's code without CFI, where libdw guesses
 * @JIT: addresses are equal up to a frame in code without a file, where libdw guesses
 * @DEPTH: addresses are equal for as many frames as perf was asked for
 * @BUSY: only the topmost frame, which is in a system call: while mappings change, nobody can tell what is
 *	mapped
 */
enum verdict {
	IDENTICAL,
	DIFFERENT,
	DUMP_SHORT,
	RED_ZONE,
	LAZY,
	IN_EXEC,
	NOWHERE,
	NO_CFI,
	JIT,
	DEPTH,
	BUSY,
	VERDICTS,
};

static const char * const verdict_name[VERDICTS] = {
	[DUMP_SHORT] = "dump too short", [RED_ZONE] = "red zone", [LAZY] = "lazy binding",
	[IN_EXEC] = "in exec", [NOWHERE] = "caller nowhere", [NO_CFI] = "no CFI", [JIT] = "JIT", [DEPTH] = "depth",
	[BUSY] = "busy",
};

/**
 * struct process - an image of a process
 * @next: in the list of all
 * @pid: the process
 * @name: its name
 * @code: what is mapped, for libdw
 * @space: what is mapped, for our step; --here
 */
struct process {
	struct process	*next;
	pid_t		 pid;
	char		 name[NAME_SIZE];
	struct unwinder	*code;
	struct space	 space;
	bool		 launched;	/* by the launcher, or by what that has */
};

/**
 * struct place - a frame after which stacks differ
 * @what: where, and how
 * @count: times
 */
struct place {
	char	 what[320];
	size_t	 count;
};

static struct {
	struct process	*processes;
	size_t		 verdicts[VERDICTS];
	size_t		 native, complete;
	struct place	 place[PLACES];
	size_t		 places;
	unsigned int	 seconds;
	size_t		 samples;
	uint64_t	 period;
	bool		 launcher, here, cold;
	size_t		 cold_walks, cold_frames, invented;
} run = { .seconds = 60, .samples = 2000, .period = 2000000 };

static struct process *process_get(pid_t pid)
{
	struct process *process;

	for (process = run.processes; process; process = process->next)
		if (process->pid == pid)
			return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		abort();
	process->pid = pid;
	process->code = unwinder_new();
	process->next = run.processes;
	run.processes = process;
	return process;
}

static void note_comm(const struct record *record, pid_t launcher)
{
	struct process *process = process_get(record->pid);

	if (record->pid == record->tid)
		snprintf(process->name, sizeof(process->name), "%s", record->name);
	if (record->exec) {
		process->launched = record->pid != launcher;
		unwinder_free(process->code);
		process->code = unwinder_new();
		space_free(&process->space);
	}
}

static void note_map(const struct record *record)
{
	struct process *process = process_get(record->pid);

	unwinder_map(process->code, record);
	if (run.here)
		space_map(&process->space, record->start, record->start + record->size,
			  record->offset, record->name);
}

static void note_fork(const struct record *record)
{
	struct process *process = process_get(record->pid);
	struct process *parent = process_get(record->parent);

	if (process == parent)
		return;
	unwinder_free(process->code);
	process->code = unwinder_copy(parent->code);
	space_copy(&process->space, &parent->space);
	memcpy(process->name, parent->name, sizeof(process->name));
	process->launched = parent->launched;
}

static void report(const char *what)
{
	size_t i;

	for (i = 0; i < run.places && strcmp(run.place[i].what, what); i++)
		;
	if (i == PLACES)
		return;
	if (i == run.places) {
		run.places++;
		snprintf(run.place[i].what, sizeof(run.place[i].what), "%s", what);
	}
	run.place[i].count++;
}

static void explain(struct process *process, const struct record *sample,
		    const struct unwound *truth, size_t at)
{
	struct unwinder *code = process->code;
	char what[320], from[64], ours[64] = "the end", theirs[64] = "the end";

	if (at < sample->nchain)
		unwinder_place(code, sample->chain[at], ours, sizeof(ours));
	if (at < truth->count)
		unwinder_place(code, truth->frame[at].ip, theirs, sizeof(theirs));
	snprintf(what, sizeof(what), "%s: caller of %s%s: %s, libdw: %s", process->name,
		 at ? unwinder_place(code, truth->frame[at - 1].ip, from, sizeof(from)) : "nothing",
		 at && truth->frame[at - 1].activation ? " (activation)" : "", ours, theirs);
	report(what);
}

/* The index of the first frame whose caller libdw guesses; the number of frames if none. */
static size_t first_guess(const struct unwound *truth)
{
	size_t i;

	for (i = 0; i < truth->count; i++)
		if (truth->frame[i].code > CODE_ENTRY)
			break;
	return i;
}

/* Does a program or thread begin in such code? */
static bool is_start(enum unwind_code code)
{
	return code == CODE_OUTERMOST || code == CODE_ENTRY;
}

static enum verdict compare(struct process *process, const struct record *sample,
			    const struct unwound *truth)
{
	size_t i, guess = first_guess(truth);

	if (unwinder_is_empty(process->code) || (!sample->nstack && sample->nchain == 1))
		return IN_EXEC;
	for (i = 0; i < sample->nchain && i < truth->count; i++)
		if (sample->chain[i] != truth->frame[i].ip)
			break;
	if (i && i == sample->nchain && i == truth->count && is_start(truth->frame[i - 1].code))
		return IDENTICAL;
	if (i == truth->count && truth->dump_ended)
		return DUMP_SHORT;
	if (i == truth->count && truth->red_zone)
		return RED_ZONE;
	if (i && i == sample->nchain && i == truth->count)
		return IDENTICAL;
	if (guess < i)
		return truth->frame[guess].code == CODE_NO_FILE ? JIT : NO_CFI;
	if (i && i == sample->nchain && !unwinder_is_mapped(process->code, truth->frame[i].ip))
		return NOWHERE;
	if (i == sample->nchain && i >= 1000)
		return DEPTH;
	if (i && (i == sample->nchain || i == truth->count) &&
	    truth->frame[i - 1].code == CODE_RULES_RBX && !truth->frame[i - 1].activation)
		return LAZY;
	/* SYSCALL has put rip into rcx. */
	if (i == 1 && sample->nchain == 1 && sample->regs[BEE_REG_RCX] == sample->regs[RECORD_RIP])
		return BUSY;
	explain(process, sample, truth, i);
	return DIFFERENT;
}

/* Is every frame in a file, and the last one where a program or thread begins? */
static void judge_completeness(struct process *process, const struct record *sample)
{
	enum unwind_code code = CODE_NO_FILE;
	size_t i;

	for (i = 0; i < sample->nchain; i++) {
		code = unwinder_code(process->code, sample->chain[i], !i);
		if (code == CODE_NO_FILE)
			return;
	}
	run.native++;
	if (is_start(code)) {
		run.complete++;
	} else {
		char what[320], place[64];

		snprintf(what, sizeof(what), "%s: incomplete: ends in %s", process->name,
			 sample->nchain ?
			 unwinder_place(process->code, sample->chain[sample->nchain - 1], place,
					sizeof(place)) : "nothing");
		report(what);
	}
}

struct memory {
	const struct space	*space;
	const struct record	*sample;
};

static bool memory_read(void *arg, u64 addr, void *to, size_t n)
{
	const struct memory *memory = arg;

	return record_read(memory->sample, addr, to, n) ||
	       space_read_code(memory->space, addr, to, n);
}

/*
 * --here: walk the sample's stack in this process.  @exact: whether each address in @chain was
 * interrupted.  Returns their number.
 */
static size_t walk(const struct space *space, const struct record *sample, uint64_t *chain,
		   bool *exact)
{
	struct memory memory = { space, sample };
	struct bee_uread mem = { .read = memory_read, .arg = &memory };
	struct bee_frame f = {
		.ip = sample->regs[RECORD_RIP], .sp = sample->regs[BEE_REG_RSP],
		.fp = sample->regs[BEE_REG_RBP], .fp_known = true, .activation = true,
		.gpr = (const u64 *)sample->regs,
	};
	enum space_how how;
	size_t n = 0;

	do {
		exact[n] = f.activation;
		chain[n++] = f.ip;
	} while (n < CHAIN_MAX && !space_next(space, &mem, &f, &how));
	return n;
}

/* --here: replace the sample's callchain. */
static void walk_here(const struct process *process, struct record *sample)
{
	static bool exact[CHAIN_MAX];

	free(sample->chain);
	sample->chain = calloc(CHAIN_MAX, sizeof(*sample->chain));
	if (!sample->chain)
		abort();
	sample->nchain = walk(&process->space, sample, sample->chain, exact);
}

/* The end of a call?  Decoded from the file, by other code than that of the walk. */
static bool is_called(const struct space *space, uint64_t ip)
{
	u8 code[CALL_BYTES];
	struct insn insn;
	size_t n;

	for (n = 2; n <= CALL_BYTES; n++)
		if (space_read_code(space, ip - n, code, n) &&
		    insn_decode(code, n, ip - n, &insn) && insn.length == n &&
		    (insn.kind == INSN_CALL || insn.kind == INSN_CALL_INDIRECT))
			return true;
	return false;
}

/*
 * Of return addresses in files: not where a program or thread starts, which nothing calls, and not
 * those that a signal has interrupted or that are its trampoline.
 */
static void judge_calls(struct process *process, const uint64_t *chain, const bool *exact, size_t n)
{
	char what[320], from[64], place[64];
	size_t i;
	u8 byte;

	for (i = 1; i < n; i++) {
		if (exact[i] || (i + 1 < n && exact[i + 1]) ||
		    !space_read_code(&process->space, chain[i] - 1, &byte, 1))
			continue;
		run.cold_frames++;
		if (is_called(&process->space, chain[i]) ||
		    is_start(unwinder_code(process->code, chain[i], false)))
			continue;
		run.invented++;
		snprintf(what, sizeof(what), "%s: caller of %s: %s, which no call is before",
			 process->name,
			 unwinder_place(process->code, chain[i - 1], from, sizeof(from)),
			 unwinder_place(process->code, chain[i], place, sizeof(place)));
		report(what);
	}
}

/* Which half of the files this one is in. */
static unsigned int half_of(const char *path)
{
	unsigned int sum = 0;

	while (*path)
		sum = sum * 31 + (unsigned char)*path++;
	return sum % 2;
}

/* --cold: without the tables of some files: those of both halves, of the first, of the second. */
static void walk_cold(struct process *process, const struct record *sample)
{
	static bool exact[CHAIN_MAX];
	static uint64_t chain[CHAIN_MAX];
	struct space space = process->space;
	unsigned int without;
	size_t i;

	if (!space.count)
		return;
	space.range = calloc(space.count, sizeof(*space.range));
	if (!space.range)
		abort();
	for (without = 0; without < 3; without++) {
		memcpy(space.range, process->space.range, space.count * sizeof(*space.range));
		for (i = 0; i < space.count; i++)
			if (!without || half_of(space.range[i].path) == without - 1)
				space.range[i].table = NULL;
		run.cold_walks++;
		judge_calls(process, chain, exact, walk(&space, sample, chain, exact));
	}
	free(space.range);
}

static void judge(struct record *sample)
{
	static struct unwound truth;
	enum verdict verdict;
	struct process *process = process_get(sample->pid);

	/* The launcher's child before exec: take_sample() sees records unsorted and cannot tell. */
	if (run.launcher && !process->launched)
		return;
	if (run.here)
		walk_here(process, sample);
	if (run.cold)
		walk_cold(process, sample);
	unwinder_run(process->code, sample, &truth);
	verdict = compare(process, sample, &truth);
	run.verdicts[verdict]++;
	/* With --here the walk has the same copy of the stack as libdw, and may end with it. */
	if (verdict != IN_EXEC && verdict != BUSY && (!run.here || (verdict != DUMP_SHORT && verdict != RED_ZONE)))
		judge_completeness(process, sample);
}

static void judge_all(const struct recording *recording)
{
	size_t i;

	for (i = 0; i < recording->count; i++) {
		struct record *record = &recording->record[i];

		switch (record->type) {
		case RECORD_SAMPLE:
			judge(record);
			break;
		case RECORD_MMAP:
			note_map(record);
			break;
		case RECORD_COMM:
			note_comm(record, recording->launcher);
			break;
		case RECORD_FORK:
			note_fork(record);
			break;
		}
	}
}

static int by_count(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->count < y->count ? 1 : -(x->count > y->count);
}

static void print(const char *name, const struct recording *recording)
{
	size_t i, samples = 0;

	qsort(run.place, run.places, sizeof(run.place[0]), by_count);
	for (i = 0; i < run.places && i < PLACES_SHOWN; i++)
		printf("%6zu %s\n", run.place[i].count, run.place[i].what);
	for (i = 0; i < VERDICTS; i++)
		samples += run.verdicts[i];
	printf("%s: samples %zu lost %llu identical %zu of %zu comparable", name, samples,
	       (unsigned long long)recording->lost, run.verdicts[IDENTICAL],
	       run.verdicts[IDENTICAL] + run.verdicts[DIFFERENT]);
	for (i = DUMP_SHORT; i < VERDICTS; i++)
		printf(", %s %zu", verdict_name[i], run.verdicts[i]);
	printf(", complete %zu of %zu native\n", run.complete, run.native);
	if (run.cold)
		printf("cold: %s: walks %zu frames %zu, without a call %zu\n", name, run.cold_walks,
		       run.cold_frames, run.invented);
}

static int parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "launcher", no_argument, NULL, 'l' },
		{ "here", no_argument, NULL, 'h' },
		{ "cold", no_argument, NULL, 'c' },
		{ "seconds", required_argument, NULL, 's' },
		{ "samples", required_argument, NULL, 'n' },
		{ "period", required_argument, NULL, 'p' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		unsigned long value = strchr("lhc", c) ? 1 : c == '?' ? 0 : strtoul(optarg, NULL, 0);

		if (!value)
			exit(2);
		if (c == 'l')
			run.launcher = true;
		else if (c == 'h')
			run.here = true;
		else if (c == 'c')
			run.cold = true;
		else if (c == 's')
			run.seconds = value;
		else if (c == 'n')
			run.samples = value;
		else
			run.period = value;
	}
	return optind;
}

int main(int argc, char **argv)
{
	static struct recording recording;
	int first = parse(argc, argv);

	if (argc - first < 2) {
		fprintf(stderr, "usage: sample [OPTIONS] NAME COMMAND...\n");
		return 2;
	}
	if (record_command(&recording, argv + first + 1, run.launcher, run.period, run.seconds,
			   run.samples)) {
		bool refused = errno == EACCES || errno == EPERM || errno == ENOSYS || errno == ENOENT;

		fprintf(stderr, "sample: perf: %s\n", strerror(errno));
		return refused ? NO_PERF : 2;
	}
	judge_all(&recording);
	print(argv[first], &recording);
	return run.verdicts[DIFFERENT] || run.invented;
}
