// SPDX-License-Identifier: GPL-2.0
/*
 * How many instructions a walk takes at most, whoever made the process and its files: kmod/walk.c
 * with kmod/table.c, built for user space with optimization, executed one instruction at a time.
 *
 *	walk_cost [all]		with "all" the most expensive frames 127 and 1,024 deep, not 16
 *
 * A copy of user memory counts as its call and memcpy(), a word of the stack as a look where it is;
 * how many there are is counted as well.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* A word of user memory, which the kernel reads by one instruction and an exception table. */
#define unsafe_get_user(x, ptr, label) do {				\
	u64 __at = (u64)(ptr) - STACK;					\
									\
	if (__at + sizeof(x) <= stack_bytes && !odd_pages_absent) {	\
		memcpy(&(x), stack + __at, sizeof(x));			\
		told->words++;						\
	} else if (copy_from_user_nmi(&(x), ptr, sizeof(x))) {		\
		goto label;						\
	}								\
} while (0)

#include "kernel.h"
#include "kselftest.h"

#define STACK		0x7ffe00000000ull

static u8 *stack;
static size_t stack_bytes;
static bool odd_pages_absent;

/* Shared with the child that walks. */
static struct {
	unsigned int	copies;
	unsigned int	words;
	unsigned int	faults;
	unsigned int	frames;
} *told;

#include "kmod/walk.c"
#include "around_walk.h"
#include "selftests/unit/kmod/blob.h"

#define PAGE		4096ul
#define TEXT		0x100000000ull
#define SPACING		0x2000ull	/* from one range to the next */
#define RANGES		65536u
#define CHUNK		24u		/* as kmod/map.c fills them */
#define FILES		64u
#define DEEPEST		1024u
#define FIRST		8u		/* bytes of the stack below the topmost frame */

#define SPAN		256u		/* of the table */
#define TOKENS_AT	(THIRD_RECORD_AT + 2)

/*
 * Most instructions of a frame and of a walk beside them: half as many again as were counted when this
 * was written, since compilers differ.  Documentation/walk.rst has the counts.
 */
#define FRAME_CACHED	110u
#define FRAME_WORST	15000u
#define FRAME_NO_TABLE	1200u
#define WALK_FIXED	4000u

/* The two limits of kmod/uread.h. */
#define FAULTS_MOST	(BEE_UREAD_FAULTS + BEE_UREAD_CODE_FAULTS)

static struct bee_file files[FILES];
static struct bee_stored tables[FILES];
static struct bee_map map;
static struct bee_walk walk;
static struct bee_rule_cache cache;

/* All code is calls, so that each return address is behind one. */
unsigned long copy_from_user_nmi(void *to, const void __user *from, unsigned long n)
{
	u64 at = (u64)from - STACK;

	told->copies++;
	if ((u64)from - TEXT < RANGES * SPACING) {
		memset(to, 0xe8, n);
		return 0;
	}
	if (at < stack_bytes && stack_bytes - at >= n && !(odd_pages_absent && at / PAGE % 2)) {
		memcpy(to, stack + at, n);
		return 0;
	}
	told->faults++;
	return n;
}

/*
 * A table each of whose places has BEE_TABLE_MAX_TOKENS tokens before it, and the simple rule @word;
 * as in test_too_many_tokens() of unit/kmod/table_test.c.
 */
static void table_make(struct bee_table *table, u32 word)
{
	const size_t end = 16 + 2 + 4 * BEE_TABLE_MAX_TOKENS;
	const size_t size = THIRD_RECORD_AT + (end + 7) / 8 + BEE_TABLE_PAD;
	u8 *third = blob_third(), *blob = aligned_alloc(64, (size + 63) & ~63ul);
	struct bee_table_header *h = (void *)blob;
	struct bee_table_error error;
	__le32 *rules;
	size_t i;

	memset(blob, 0, size);
	memcpy(blob, third, TOKENS_AT);
	blob_set_classes(blob, 0x40, 0x40);
	for (i = 0; i < BEE_TABLE_CLASSES; i++)
		h->classes[i].id = 0;
	h->size = cpu_to_le32(size);
	blob[THIRD_RECORD_AT] = end & 0xff;
	blob[THIRD_RECORD_AT + 1] = end >> 8;
	rules = (void *)(blob + THIRD_FULL_AT + 24);
	for (i = 0; i < 3; i++)
		rules[i] = cpu_to_le32(word);
	blob_fix_crc(blob, size);
	if (bee_table_validate(blob, size, table, &error)) {
		ksft_print_msg("table: %s at %llu\n", error.why, (unsigned long long)error.offset);
		exit(1);
	}
	free(third);
}

static u32 word_of(u32 bytes, u32 fp_slot)
{
	return BEE_WORD_RSP | bytes / 8 << BEE_WORD_CFA_SHIFT | fp_slot / 8 << BEE_WORD_FP_SHIFT;
}

/* As many ranges as there may be, one page each, the files in turns. */
static void map_make(void)
{
	u32 chunks = (RANGES + CHUNK - 1) / CHUNK, i;
	struct bee_index *index = calloc(1, sizeof(*index) + chunks * sizeof(index->at[0]));
	struct bee_chunk *chunk = NULL;

	for (i = 0; i < RANGES; i++) {
		if (i % CHUNK == 0) {
			chunk = calloc(1, sizeof(*chunk) + CHUNK * sizeof(chunk->ranges[0]));
			index->at[index->nr].start = i ? TEXT + i * SPACING : 0;
			index->at[index->nr++].chunk = chunk;
		}
		chunk->ranges[chunk->nr++] = (struct bee_range){
			.start = TEXT + i * SPACING, .end = TEXT + i * SPACING + PAGE,
			.file = &files[i % FILES],
		};
	}
	map = (struct bee_map){ .nr = RANGES, .index = index };
}

/* Frame @i has its return address in another range and file than the one before. */
static u64 ip_of(u32 i)
{
	u32 range = i * 40503u % RANGES;

	return TEXT + range * SPACING + 1 + (i / 7 * 13 + i) % (SPAN - 2);
}

/* @rule: of all tables; 0: the files have none.  @bytes: from frame to frame. */
static void prepare(u32 rule, u32 bytes, bool one_place)
{
	struct bee_table table = {};
	u32 i;

	if (rule)
		table_make(&table, rule);
	memset(files, 0, sizeof(files));
	for (i = 0; i < FILES; i++) {
		tables[i] = (struct bee_stored){
			.serial = i + 1, .one_segment = true, .delta = table.base, .table = table,
		};
		files[i].table = rule ? &tables[i] : NULL;
		/* Announced. */
		atomic_set(&files[i].news.state, NEWS_TOLD);
	}
	stack_bytes = FIRST + (u64)bytes * (DEEPEST + 2) + 2 * PAGE;
	stack = mmap(NULL, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack == MAP_FAILED)
		exit(1);
	/* A return address, and below it rbp, which points to the next. */
	for (i = 0; i <= DEEPEST; i++) {
		u64 at = FIRST + (u64)bytes * i, word = ip_of(one_place ? 0 : i + 1);

		memcpy(stack + at + bytes - 8, &word, sizeof(word));
		word = STACK + at + 2 * bytes - 16;
		memcpy(stack + at + bytes - 16, &word, sizeof(word));
	}
}

static void walk_once(u32 bytes, u32 depth)
{
	const struct pt_regs regs = { .ip = ip_of(0), .sp = STACK + FIRST,
				      .bp = STACK + FIRST + bytes - 16, .orig_ax = -1 };
	static u64 ips[DEEPEST];

	told->copies = 0;
	told->words = 0;
	told->faults = 0;
	walk.cache = &cache;
	raise(SIGUSR1);
	bee_walk_start(&walk, &map, &regs);
	told->frames = 1 + bee_walk_callers(&walk, ips, depth - 1);
	raise(SIGUSR1);
}

/* May a process trace another here? */
static bool may_trace(void)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(ptrace(PTRACE_TRACEME, 0, 0, 0) ? 1 : 0);
	return waitpid(pid, &status, 0) == pid && !status;
}

/* @warm: the second of two walks.  Return: instructions of the walk. */
static unsigned long count(u32 bytes, u32 depth, bool warm)
{
	unsigned long n = 0;
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		signal(SIGUSR1, SIG_IGN);
		memset(&cache, 0, sizeof(cache));
		if (warm)
			walk_once(bytes, depth);
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		walk_once(bytes, depth);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	ptrace(PTRACE_SINGLESTEP, pid, 0, 0);
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP) {
		n++;
		ptrace(PTRACE_SINGLESTEP, pid, 0, 0);
	}
	ptrace(PTRACE_CONT, pid, 0, 0);
	waitpid(pid, &status, 0);
	return n;
}

/* Count a walk at a depth; its frames must be as many, and each within @most. */
static void test_depth(const char *what, u32 bytes, u32 depth, bool warm, unsigned long most)
{
	unsigned long n = count(bytes, depth, warm);

	ksft_print_msg("%s, %u deep: %lu instructions, %lu a frame; %u words, %u copies, %u failed\n",
		       what, told->frames, n, n / told->frames, told->words, told->copies,
		       told->faults);
	ksft_test_result(told->frames == depth && n >= depth && n <= most * depth + WALK_FIXED &&
			 told->faults <= FAULTS_MOST, "%s, %u deep\n", what, depth);
}

static void test_ordinary(void)
{
	prepare(word_of(64, 0), 64, true);
	test_depth("rules in the cache", 64, 127, true, FRAME_CACHED);
	test_depth("rules in the cache", 64, DEEPEST, true, FRAME_CACHED);
}

/* Each frame in another file, its rule behind all tokens, RA and rbp in two pages. */
static void test_tables(bool all)
{
	const u32 bytes = 2 * PAGE;

	prepare(word_of(bytes, PAGE + 8), bytes, false);
	test_depth("tables with all tokens", bytes, all ? 127 : 16, false, FRAME_WORST);
	if (all)
		test_depth("tables with all tokens", bytes, DEEPEST, false, FRAME_WORST);
	else
		ksft_test_result_skip("tables with all tokens, %u deep # SKIP takes minutes; BEE_LONG\n",
				      DEEPEST);
}

/* No tables: each frame by rbp, with a look at the code. */
static void test_code(bool all)
{
	const u32 bytes = PAGE + 8;

	prepare(0, bytes, false);
	test_depth("code without tables", bytes, 127, false, FRAME_NO_TABLE);
	if (all)
		test_depth("code without tables", bytes, DEEPEST, false, FRAME_NO_TABLE);
	else
		ksft_test_result_skip("code without tables, %u deep # SKIP takes half a minute; BEE_LONG\n",
				      DEEPEST);
}

/* Each RA in a page that is present, and the word for rbp in one that is not. */
static void test_absent(void)
{
	const u32 bytes = 2 * PAGE;
	unsigned long n;

	/* The CFA is 8 bytes into an even page. */
	prepare(word_of(bytes, 16), bytes, false);
	odd_pages_absent = true;
	n = count(bytes, 127, false);
	odd_pages_absent = false;
	ksft_print_msg("absent pages: %u frames, %lu instructions; %u copies, %u failed\n",
		       told->frames, n, told->copies, told->faults);
	ksft_test_result(n >= told->frames && told->faults == BEE_UREAD_FAULTS &&
			 told->frames <= BEE_UREAD_FAULTS + 1,
			 "a walk ends after so many absent pages\n");
}

int main(int argc, char **argv)
{
	bool all = argc > 1 && !strcmp(argv[1], "all");

	ksft_print_header();
	if (!may_trace()) {
		puts("1..0 # SKIP no ptrace here");
		return KSFT_SKIP;
	}
	ksft_set_plan(7);
	told = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	map_make();
	test_ordinary();
	test_tables(all);
	test_code(all);
	test_absent();
	ksft_finished();
}
