// SPDX-License-Identifier: GPL-2.0
/*
 * The walk of kmod/walk.c over two made files: which rules it looks up in tables, and which it has
 * in its cache.  The tables are functions of this test, which count how often they are asked.
 */
#include <stdlib.h>

#include "kernel.h"
#include "kselftest.h"
#include "random.h"

#include "kmod/walk.c"
#include "around_walk.h"

#define STACK	0x7ffe00000000ull
#define WORDS	4096
#define TEXT	0x400000ull
#define SIZE	0x10000ull
#define OTHER	0x7f0000000000ull	/* of the other file */
#define DEPTH	64

static u64 stack[WORDS];
static u8 text[SIZE];		/* at TEXT; of the other file nothing can be read */
static struct bee_file files[2];
static struct bee_range ranges[2];

static struct bee_table_header header;

/* What each table says. */
static u32 (*rule_at[2])(u64 place);
static unsigned int lookups;
static s32 lookup_price;

/* Cannot be read. */
static u64 absent;

static const struct bee_range *around_find(u64 ip)
{
	int i;

	for (i = 0; i < 2; i++)
		if (bee_range_contains(&ranges[i], ip))
			return &ranges[i];
	return NULL;
}

/* A walk of another context level that the next read of the stack is interrupted by. */
static void (*interrupt)(void);

unsigned long copy_from_user_nmi(void *to, const void __user *from, unsigned long n)
{
	u64 at = (u64)from - STACK, code = (u64)from - TEXT;
	void (*nested)(void) = interrupt;

	interrupt = NULL;
	if (nested)
		nested();
	if (code <= sizeof(text) && sizeof(text) - code >= n) {
		memcpy(to, text + code, n);
		return 0;
	}
	if (at > sizeof(stack) || sizeof(stack) - at < n || (u64)from == absent)
		return n;
	memcpy(to, (u8 *)stack + at, n);
	return 0;
}

u32 bee_table_word(const struct bee_table *table, u64 place, s32 *left)
{
	lookups++;
	*left -= lookup_price;
	return rule_at[table == &files[1].stored.table](place);
}

void bee_table_decode(const struct bee_table *table, u32 word, struct bee_rule *rule)
{
	s32 n = word >> BEE_WORD_CFA_SHIFT & BEE_WORD_CFA_FIELD;
	s32 slot = word >> BEE_WORD_FP_SHIFT & BEE_WORD_FP_MAX;

	(void)table;
	*rule = (struct bee_rule) {
		.kind = word == BEE_WORD_GAP ? BEE_RULE_GAP : BEE_RULE_KNOWN,
		.cfa_reg = BEE_REG_RBX, .ra_off = -8,
	};
	if (bee_word_is_simple(word)) {
		rule->cfa_reg = word & BEE_WORD_KIND ? BEE_REG_RBP : BEE_REG_RSP;
		rule->cfa_off = 8 * n;
		rule->fp = slot ? BEE_FP_CFA : BEE_FP_SAME;
		rule->fp_off = -8 * slot;
	}
}

static unsigned int searches;
static s32 search_price;

/* Functions have 256 bytes. */
bool bee_table_is_one(const struct bee_table *table, u64 start, u64 place, s32 *left)
{
	(void)table;
	searches++;
	*left -= search_price;
	return start >> 8 == place >> 8;
}

/* The second segment's text is behind the first one's, at another distance than in the file. */
static const struct bee_table_segment segments[] = {
	{ .offset = 0, .vaddr = 0x1000, .size = SIZE / 2 },
	{ .offset = SIZE / 2, .vaddr = 0x1000 + SIZE / 2 - 0x1001, .size = SIZE / 2 },
};

static unsigned int pcs;	/* asked for */

u64 bee_table_pc(const struct bee_table *table, u64 offset)
{
	pcs++;
	return table->base + (offset < SIZE / 2 ? offset : offset - 0x1001);
}

/* CFA = rsp + 16 */
static u32 rule_two(u64 place)
{
	(void)place;
	return BEE_WORD_RSP | 2 << BEE_WORD_CFA_SHIFT;
}

/* CFA = rsp + 24 */
static u32 rule_three(u64 place)
{
	(void)place;
	return BEE_WORD_RSP | 3 << BEE_WORD_CFA_SHIFT;
}

/* In the topmost frame, which is at 0x100, CFA = rbx. */
static u32 rule_rbx(u64 place)
{
	return place == 0x100 ? BEE_WORD_FULL : rule_two(place);
}

/* In the topmost frame CFA = rsp; in others too, at odd places. */
static u32 rule_popped(u64 place)
{
	return place == 0x100 || place & 1 ? BEE_WORD_RSP : rule_two(place);
}

/* A gap up to 0x100. */
static u32 rule_from_0x100(u64 place)
{
	return place < 0x100 ? BEE_WORD_GAP : rule_two(place);
}

static u32 rule_place(u64 place)
{
	return place & 1 ? rule_two(place) : rule_three(place);
}

/* A table that is put in the memory of one that is gone. */
static void table_put(int i, u64 serial, u32 (*rule)(u64 place))
{
	files[i].stored = (struct bee_stored){
		.serial = serial, .one_segment = true,
		.table = {
			.header = &header, .base = 0x1000, .span = SIZE, .segments = segments, .nsegments = 1,
		},
		.delta = 0x1000,
	};
	rule_at[i] = rule;
}

/* The words of the stack are return addresses into both files, all different. */
static void reset(void)
{
	int i;

	for (i = 0; i < WORDS; i++)
		stack[i] = (i & 1 ? OTHER : TEXT) + 0x201 + 8 * i;
	memset(text, 0x90, sizeof(text));
	memset(files, 0, sizeof(files));
	table_put(0, 1, rule_two);
	table_put(1, 2, rule_two);
	ranges[0] = (struct bee_range){ TEXT, TEXT + SIZE, 0, &files[0], NULL };
	ranges[1] = (struct bee_range){ OTHER, OTHER + SIZE, 0, &files[1], NULL };
	lookups = 0;
}

static struct bee_walk *walk_new(void)
{
	struct bee_walk *walk = calloc(1, sizeof(*walk));

	walk->cache = calloc(1, sizeof(*walk->cache));
	return walk;
}

static void walk_free(struct bee_walk *walk)
{
	free(walk->cache);
	free(walk);
}

static const struct pt_regs regs = {
	.ip = TEXT + 0x100, .sp = STACK + 0x100, .bx = STACK + 0x180, .orig_ax = -1,
};

static void start(struct bee_walk *walk, const struct pt_regs *top)
{
	bee_walk_look(walk, top->ip);
	bee_walk_start(walk, top);
}

/* Walk @depth frames.  Return: the stack pointer of the last, or 0 if there were less. */
static u64 walk_to(struct bee_walk *walk, u32 depth)
{
	u64 ips[DEPTH];

	start(walk, &regs);
	bee_walk_callers(walk, ips, depth);
	return walk->stop ? 0 : walk->frame.sp;
}

static void test_hit(void)
{
	struct bee_walk *walk = walk_new();
	u64 first, again;
	unsigned int asked;

	reset();
	first = walk_to(walk, DEPTH);
	asked = lookups;
	again = walk_to(walk, DEPTH);
	ksft_test_result(first == STACK + 0x100 + 16 * DEPTH && asked == DEPTH,
			 "a walk with an empty cache looks up each rule\n");
	ksft_test_result(again == first && lookups - asked < DEPTH / 8,
			 "a second walk has the rules of the first from the cache\n");
	walk_free(walk);
}

/* The stack pointer is in a page that is absent, the return addresses are not. */
static void test_first_absent(void)
{
	struct bee_walk *walk = walk_new();

	reset();
	absent = regs.sp;
	ksft_test_result(walk_to(walk, DEPTH) == STACK + 0x100 + 16 * DEPTH && walk->mem.left < BEE_WORK_WALK + BEE_WORK_FRAME * DEPTH - BEE_WORK_FAULT,
			 "the word at the stack pointer may be absent\n");
	absent = 0;
	walk_free(walk);
}

static void test_miss(void)
{
	struct bee_walk *walk = walk_new();
	unsigned int asked;

	reset();
	walk_to(walk, 1);
	stack[0x108 / 8] += 2;
	walk_to(walk, 2);
	asked = lookups;
	stack[0x108 / 8] -= 2;
	walk_to(walk, 2);
	ksft_test_result(asked == 2 && lookups == 3, "a walk to another place of a table looks up its rule\n");
	walk_free(walk);
}

static u64 ip_at(u32 place)
{
	return TEXT + place + 1;
}

/* The place after @place whose rule has the same entry, or its neighbour, as that at 0x100. */
static u32 place_beside(const struct bee_walk *walk, u32 place)
{
	struct bee_cached_rule *at = bee_rule_cache_at(walk->cache, 1, 0x100), *other;

	for (place++;; place++) {
		other = bee_rule_cache_at(walk->cache, 1, place);
		if (other == at || other == bee_rule_cache_other(walk->cache, at))
			return place;
	}
}

static void test_pair(void)
{
	struct bee_walk *walk = walk_new();
	u32 second = place_beside(walk, 0x100);
	bool good;

	while (bee_rule_cache_at(walk->cache, 1, second) != bee_rule_cache_at(walk->cache, 1, 0x100))
		second = place_beside(walk, second);
	reset();
	stack[0x108 / 8] = ip_at(second);
	good = walk_to(walk, 2) && lookups == 2 && walk_to(walk, 2) && walk_to(walk, 2);
	ksft_test_result(good && lookups == 2, "two rules with the same entry are both kept\n");
	stack[0x118 / 8] = ip_at(place_beside(walk, second));
	good = walk_to(walk, 3) && walk_to(walk, 3);
	ksft_test_result(good && lookups > 3 && walk->frame.sp == STACK + 0x100 + 3 * 16,
			 "a third rule with the same entry takes the place of another, and all are right\n");
	walk_free(walk);
}

static void test_serial(void)
{
	struct bee_walk *walk = walk_new();
	u64 before, after, serial = 3;

	reset();
	before = walk_to(walk, 1);
	/* Both have the same entry of the cache, as one time in 512. */
	while (bee_rule_cache_at(walk->cache, serial, 0x100) !=
	       bee_rule_cache_at(walk->cache, 1, 0x100))
		serial++;
	table_put(0, serial, rule_three);
	after = walk_to(walk, 1);
	ksft_test_result(before == STACK + 0x110 && after == STACK + 0x118,
			 "a new table in the memory of an old one has its own rules\n");
	/* Two files, the same place. */
	reset();
	table_put(1, 4, rule_three);
	ranges[1].offset = 0;
	walk_to(walk, 1);
	stack[0x108 / 8] = OTHER + 0x101;
	ksft_test_result(walk_to(walk, 2) == STACK + 0x110 + 24,
			 "a place of another table has its own rule\n");
	walk_free(walk);
}

static void test_span(void)
{
	struct bee_walk *walk = walk_new();

	reset();
	ranges[0].end = TEXT + (2ull << 32);
	walk_to(walk, 1);
	/* In the 32 bits of an entry this is the topmost frame's place. */
	stack[0x108 / 8] = TEXT + (1ull << 32) + 0x101;
	ksft_test_result(!walk_to(walk, 2), "text beyond the table is a gap\n");
	walk_free(walk);
}

static void test_gpr(void)
{
	struct bee_walk *walk = walk_new();

	reset();
	table_put(0, 1, rule_rbx);
	ksft_test_result(walk_to(walk, 1) == STACK + 0x180, "a rule that needs rbx has it\n");
	ksft_test_result(walk_to(walk, 1) == STACK + 0x180 && lookups == 1,
			 "a rule from the cache that needs rbx has it\n");
	walk_free(walk);
}

static void test_popped(void)
{
	struct bee_walk *walk = walk_new();
	u64 ips[DEPTH];

	reset();
	rule_at[0] = rule_popped;
	stack[0xf8 / 8] = TEXT + 0x201;
	stack[0x108 / 8] = TEXT + 0x202;
	start(walk, &regs);
	ksft_test_result(bee_walk_callers(walk, ips, DEPTH) == 2 && ips[0] == TEXT + 0x201 &&
			 ips[1] == TEXT + 0x202 && walk->stop == BEEUNWIND_STOP_NO_PROGRESS,
			 "a return address below rsp: in an activation only\n");
	walk_free(walk);
}

/* Why the walk ends whose topmost frame has @ra for its return address, at @at in the stack. */
static enum beeunwind_stop end_of(struct bee_walk *walk, u64 at, u64 ra)
{
	u64 ips[DEPTH];

	stack[at / 8] = ra;
	start(walk, &regs);
	return bee_walk_callers(walk, ips, DEPTH) ? BEEUNWIND_STOP_NONE : walk->stop;
}

/* The interrupted code is in no range; rbp may lead to a caller all the same. */
static void test_no_mapping(void)
{
	struct bee_walk *walk = walk_new();
	struct pt_regs top = regs;
	u64 ips[1];

	reset();
	top.ip = TEXT - 0x100;
	start(walk, &top);
	ksft_test_result(!bee_walk_callers(walk, ips, 1) &&
			 walk->stop == BEEUNWIND_STOP_NO_MAPPING && !walk->file,
			 "code that is in no mapping is the end\n");
	top.bp = STACK + 0x140;
	stack[0x140 / 8] = STACK + 0x160;
	stack[0x148 / 8] = TEXT + 0x301;
	text[0x300 + 1 - 5] = 0xe8;
	start(walk, &top);
	ksft_test_result(bee_walk_callers(walk, ips, 1) == 1 && ips[0] == TEXT + 0x301,
			 "code that is in no mapping has the caller to which rbp leads\n");
	walk_free(walk);
}

/* The outermost frame has the return address 0; any other one that is in no mapping is wrong. */
static void test_outermost(void)
{
	struct bee_walk *walk = walk_new();
	u64 elsewhere = TEXT - 8;

	reset();
	ksft_test_result(end_of(walk, 0x108, 0) == BEEUNWIND_STOP_OUTERMOST &&
			 end_of(walk, 0x108, elsewhere) == BEEUNWIND_STOP_BAD_RA,
			 "a return address of 0 is the end, by a simple rule\n");
	table_put(0, 3, rule_rbx);
	ksft_test_result(end_of(walk, 0x178, 0) == BEEUNWIND_STOP_OUTERMOST &&
			 end_of(walk, 0x178, elsewhere) == BEEUNWIND_STOP_BAD_RA,
			 "a return address of 0 is the end, by a rule that is not simple\n");
	walk_free(walk);
}

/*
 * A walk from a frame without a rule, whose rbp says that the caller's ip is @ra.
 * Return: whether there is a caller; if there is none walk->stop tells why.
 */
static bool guess(struct bee_walk *walk, u64 ra)
{
	struct pt_regs top = regs;
	u64 ips[1];

	top.bp = STACK + 0x140;
	stack[0x140 / 8] = STACK + 0x160;
	stack[0x148 / 8] = ra;
	start(walk, &top);
	return bee_walk_callers(walk, ips, 1);
}

/* All code, that of the topmost frame too, is without rules. */
static u32 rule_gap(u64 place)
{
	(void)place;
	return BEE_WORD_GAP;
}

/* rbp may be any number, so what it leads to is a caller only if it has called. */
static void test_called(void)
{
	struct bee_walk *walk = walk_new();

	reset();
	files[0].stored.serial = 0;
	ksft_test_result(!guess(walk, TEXT + 0x301) && walk->stop == BEEUNWIND_STOP_NO_TABLE,
			 "a step by rbp to an address without a call before it is not made\n");
	text[0x300 + 1 - 5] = 0xe8;
	ksft_test_result(guess(walk, TEXT + 0x301), "a step by rbp to an address behind a call is made\n");
	ksft_test_result(!guess(walk, OTHER + 0x301) && walk->stop == BEEUNWIND_STOP_READ_FAULT,
			 "a step by rbp to an address whose code is absent is not made\n");
	walk_free(walk);
}

/* Write "call" or "jmp" (@opcode) to @target at @at. */
static void branch_put(u32 at, u8 opcode, u32 target)
{
	s32 disp = target - (at + 5);

	text[at] = opcode;
	memcpy(text + at + 1, &disp, sizeof(disp));
}

/* As guess(), in a gap. */
static bool guess_in_gap(struct bee_walk *walk, u64 ra)
{
	rule_at[0] = rule_gap;
	return guess(walk, ra);
}

/* A call of another function has left a return address where rbp points to by chance. */
static void test_target(void)
{
	struct bee_walk *walk = walk_new();
	const s32 disp = 0x800 - 0x706;
	const u64 ra = TEXT + 0x305;
	u64 got = TEXT + 0x400;
	bool jumps, plt;

	reset();
	branch_put(0x300, 0xe8, 0x400);
	ksft_test_result(!guess_in_gap(walk, ra) && walk->stop == BEEUNWIND_STOP_GAP,
			 "a step by rbp to behind a call of another function is not made\n");
	branch_put(0x300, 0xe8, 0x120);
	ksft_test_result(guess_in_gap(walk, ra), "a step by rbp to behind a call of the frame's function is made\n");
	branch_put(0x300, 0xe8, 0x400);
	branch_put(0x400, 0xe9, 0x600);
	jumps = !guess_in_gap(walk, ra);
	branch_put(0x600, 0xe9, 0x110);
	ksft_test_result(jumps && guess_in_gap(walk, ra),
			 "a step by rbp to behind a call that leads to the frame across two jumps is made\n");
	branch_put(0x300, 0xe8, 0x700);
	text[0x700] = 0xff;
	text[0x701] = 0x25;
	memcpy(text + 0x702, &disp, sizeof(disp));
	memcpy(text + 0x800, &got, sizeof(got));
	text[0x400] = 0x90;
	plt = !guess_in_gap(walk, ra);
	got = TEXT + 0x100;
	memcpy(text + 0x800, &got, sizeof(got));
	ksft_test_result(plt && guess_in_gap(walk, ra),
			 "a step by rbp to behind a call that leads to the frame across an entry of a PLT is made\n");
	text[0x300 + 3] = 0xff;
	text[0x300 + 4] = 0xd0;
	ksft_test_result(guess_in_gap(walk, ra), "a step by rbp to behind an indirect call is made\n");
	branch_put(0x300, 0xe8, 0x400);
	header.flags = BEE_TABLE_F_FP_BYPASS;
	ksft_test_result(guess_in_gap(walk, ra),
			 "a step by rbp to behind any call is made if all functions keep a frame pointer\n");
	header.flags = 0;
	walk_free(walk);
}

/* Where the function of a gap begins is looked for in its table once. */
static void test_starts(void)
{
	struct bee_walk *walk = walk_new();
	const u64 ra = TEXT + 0x305;
	bool first, other;

	reset();
	branch_put(0x300, 0xe8, 0x120);
	searches = 0;
	search_price = 1 << 20;
	first = guess_in_gap(walk, ra);
	search_price = 0;
	ksft_test_result(!first && guess_in_gap(walk, ra) && searches == 2,
			 "what a search for a function's start finds without work left is not kept\n");
	ksft_test_result(guess_in_gap(walk, ra) && searches == 2, "the start of a gap's function is kept\n");
	branch_put(0x300, 0xe8, 0x400);
	first = !guess_in_gap(walk, ra) && searches == 3;
	branch_put(0x300, 0xe8, 0x110);
	other = guess_in_gap(walk, ra) && searches == 4;
	ksft_test_result(first && other, "another start is looked for\n");
	branch_put(0x300, 0xe8, 0x120);
	files[0].stored.serial = 3;
	ksft_test_result(guess_in_gap(walk, ra) && searches == 5, "the start in another table is looked for\n");
	walk_free(walk);
}

/* Why a walk ends that has one caller, at TEXT + 0x301. */
static enum beeunwind_stop end_of_two(struct bee_walk *walk)
{
	struct pt_regs top = regs;
	u64 ips[DEPTH];

	top.bp = STACK + 0x140;
	start(walk, &top);
	return bee_walk_callers(walk, ips, DEPTH) == 1 && ips[0] == TEXT + 0x301 ?
	       walk->stop : BEEUNWIND_STOP_NONE;
}

/* Code in memory before 0x200; in it rbp may be that of a caller further up. */
static void test_unproven(void)
{
	struct bee_walk *walk = walk_new();

	reset();
	ranges[0] = (struct bee_range){ TEXT, TEXT + 0x200, 0, NULL, NULL };
	ranges[1] = (struct bee_range){ TEXT + 0x200, TEXT + SIZE, 0x200, &files[0], NULL };
	text[0x2ff] = 0xff;
	text[0x300] = 0xd0;
	stack[0x148 / 8] = TEXT + 0x301;
	stack[0x158 / 8] = 0;
	ksft_test_result(end_of_two(walk) == BEEUNWIND_STOP_UNPROVEN,
			 "the end is unproven if rbp leads to it out of memory without a file\n");
	files[1].code = (void *)1;
	rule_at[1] = rule_gap;
	ranges[0].file = &files[1];
	ksft_test_result(end_of_two(walk) == BEEUNWIND_STOP_UNPROVEN,
			 "the end is unproven if rbp leads to it out of memory without a rule in its table\n");
	table_put(1, 3, rule_two);
	stack[0x108 / 8] = TEXT + 0x301;
	stack[0x118 / 8] = 0;
	ksft_test_result(end_of_two(walk) == BEEUNWIND_STOP_OUTERMOST,
			 "the end is complete if a rule leads to it out of memory that has a table\n");
	ranges[0].file = NULL;
	text[0x100] = 0xc3;
	stack[0x100 / 8] = TEXT + 0x301;
	stack[0x110 / 8] = 0;
	ksft_test_result(end_of_two(walk) == BEEUNWIND_STOP_OUTERMOST,
			 "the end is complete out of memory without a file at a ret\n");
	walk_free(walk);
}

/* In a file without a table rbp leads to zeros. */
static void test_zeros(void)
{
	struct bee_walk *walk = walk_new();

	reset();
	files[0].stored.serial = 0;
	ksft_test_result(!guess(walk, 0) && walk->stop == BEEUNWIND_STOP_NO_TABLE,
			 "a return address of 0 to which rbp leads is no end\n");
	walk_free(walk);
}

/*
 * A sample in rt_sigreturn(): the trampoline ends where ip is, and a function with rules begins.  The
 * kernel's signal frame is at the stack pointer.
 */
static void test_sigreturn(void)
{
	static const u8 trampoline[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 };
	struct bee_walk *walk = walk_new();
	struct pt_regs top = regs;
	u64 ips[1], *context = stack + (regs.sp - STACK + BEE_SIGNAL_CONTEXT) / 8;

	reset();
	rule_at[0] = rule_from_0x100;
	memcpy(text + 0x100 - sizeof(trampoline), trampoline, sizeof(trampoline));
	context[15] = STACK + 0x400;
	context[16] = TEXT + 0x300;
	top.orig_ax = 15;
	start(walk, &top);
	ksft_test_result(walk->frame.ip == TEXT + 0x100 - 2 &&
			 bee_walk_callers(walk, ips, 1) == 1 && ips[0] == TEXT + 0x300 &&
			 walk->frame.sp == STACK + 0x400 && walk->frame.activation,
			 "in rt_sigreturn() the caller is the interrupted frame\n");
	text[0x100 - 6] = 14;
	start(walk, &top);
	ksft_test_result(walk->frame.ip == top.ip && bee_walk_callers(walk, ips, 1) == 1 &&
			 walk->frame.sp == STACK + 0x110,
			 "behind rt_sigreturn() the caller is the interrupted frame's\n");
	walk_free(walk);
}

/* The kernel has made a thread, which is not yet in user mode. */
static void test_new_thread(void)
{
	struct bee_walk *walk = walk_new();
	struct pt_regs top = regs;
	u64 ips[1];

	reset();
	top.orig_ax = 56;
	top.si = top.sp;
	start(walk, &top);
	ksft_test_result(!bee_walk_callers(walk, ips, 1) && !lookups &&
			 walk->stop == BEEUNWIND_STOP_OUTERMOST && walk->file == &files[0],
			 "clone(): a new thread has no caller\n");
	top.ax = 1234;
	start(walk, &top);
	ksft_test_result(bee_walk_callers(walk, ips, 1) == 1, "clone(): the thread's maker has a caller\n");
	top.ax = 0;
	top.si = 0;
	start(walk, &top);
	ksft_test_result(bee_walk_callers(walk, ips, 1) == 1, "clone(): a new process has a caller\n");
	walk_free(walk);
}

/*
 * Tables whose lookups take half of what a walk of two frames may take.  What is in the cache costs
 * nothing, so a later walk gets further.
 */
static void test_cost(void)
{
	struct bee_walk *walk = walk_new();
	u64 ips[DEPTH];
	bool next;

	reset();
	lookup_price = (BEE_WORK_WALK + BEE_WORK_FRAME * DEPTH) / 2;
	start(walk, &regs);
	ksft_test_result(bee_walk_callers(walk, ips, DEPTH) == 1 && lookups == 2 &&
			 walk->stop == BEEUNWIND_STOP_COST && walk->file == &files[1],
			 "a walk that has no work left has ended\n");
	start(walk, &regs);
	next = bee_walk_callers(walk, ips, DEPTH) == 2 && walk->stop == BEEUNWIND_STOP_COST;
	lookup_price = 0;
	ksft_test_result(next && walk_to(walk, DEPTH) == STACK + 0x100 + 16 * DEPTH,
			 "rules that a walk without work left has not looked up are looked up by later walks\n");
	walk_free(walk);
}

static void test_segments(void)
{
	struct bee_walk *walk = walk_new();
	struct pt_regs top = regs;
	u64 ips[2];
	u64 sp;

	reset();
	files[0].stored.one_segment = false;
	files[0].stored.table.nsegments = 2;
	rule_at[0] = rule_place;
	/* Odd in the file, even as a pc. */
	stack[0x110 / 8] = TEXT + SIZE / 2 + 0x102;
	sp = walk_to(walk, 2);
	ksft_test_result(sp == STACK + 0x118 + 24 && walk_to(walk, 2) == sp,
			 "rules of a file with two segments are right in both\n");
	top.ip = TEXT + SIZE / 2 + 0x101;
	stack[0x108 / 8] = TEXT + SIZE / 2 + 0x102;
	start(walk, &top);
	bee_walk_callers(walk, ips, 2);
	sp = walk->frame.sp;
	ranges[0].start = TEXT + SIZE / 2;
	ranges[0].offset = SIZE / 2;
	pcs = 0;
	start(walk, &top);
	ksft_test_result(bee_walk_callers(walk, ips, 2) == 2 && walk->frame.sp == sp && !pcs,
			 "a range with bytes of one segment needs no search for the segment\n");
	ranges[0].start -= 8;
	ranges[0].offset -= 8;
	memset(walk->cache, 0, sizeof(*walk->cache));
	start(walk, &top);
	ksft_test_result(bee_walk_callers(walk, ips, 2) == 2 && walk->frame.sp == sp && pcs,
			 "a range with bytes of two segments needs a search for the segment\n");
	walk_free(walk);
}

static struct bee_walk *nested;
static u64 nested_sp;

static void walk_nested(void)
{
	nested_sp = walk_to(nested, DEPTH);
}

/* Contexts: an NMI walks another stack while a walk is at work, with caches that are full. */
static void test_nested(void)
{
	struct bee_walk *walk = walk_new();
	bool right = true;
	int i;

	reset();
	nested = walk_new();
	for (i = 0; i < 1000 && right; i++) {
		interrupt = walk_nested;
		nested_sp = 0;
		stack[0x108 / 8 + 2 * (random_u64() % DEPTH)] = TEXT + 1 + random_u64() % SIZE;
		right = walk_to(walk, DEPTH) == STACK + 0x100 + 16 * DEPTH &&
			nested_sp == STACK + 0x100 + 16 * DEPTH;
	}
	ksft_test_result(right, "nested contexts: a walk in a walk\n");
	walk_free(nested);
	walk_free(walk);
}

/* All entries are met, and replaced by other places; a rule depends on its place. */
static void test_replaced(void)
{
	struct bee_walk *walk = walk_new();
	bool right = true;
	int i;

	reset();
	rule_at[0] = rule_place;
	rule_at[1] = rule_place;
	for (i = 0; i < 20000 && right; i++) {
		u64 ip = (random_u64() & 1 ? OTHER : TEXT) + 1 + random_u64() % (SIZE - 1);

		stack[0x110 / 8] = ip;
		right = walk_to(walk, 2) == STACK + 0x118 + ((ip - 1) & 1 ? 16 : 24);
	}
	ksft_test_result(right, "each rule is its own place's, whatever was there before\n");
	walk_free(walk);
}

/* Mostly simple rules of all kinds; few without a rule. */
static u32 rule_any(u64 place)
{
	u32 mix = hash_32(place, 32), slot = mix >> 8 & 7, n = 1 + (mix >> 4 & 7);

	if (!(mix >> 16 & 31))
		return BEE_WORD_GAP;
	if (!(mix >> 27))
		n = WORDS;
	if (!(mix >> 21 & 63))
		return BEE_WORD_RBP | n << BEE_WORD_CFA_SHIFT;
	return BEE_WORD_RSP | n << BEE_WORD_CFA_SHIFT |
	       (slot < 3 ? (slot + 2) << BEE_WORD_FP_SHIFT : 0);
}

/* Return addresses, words of the stack for rbp, and sometimes what leads nowhere. */
static void random_stack(void)
{
	int i;

	for (i = 0; i < WORDS; i++) {
		u64 random = random_u64();

		stack[i] = (random & 1 << 20 ? OTHER : TEXT) + random % SIZE;
		if (!(random >> 24 & 63))
			stack[i] = STACK + (random >> 30) % sizeof(stack);
		else if (!(random >> 32 & 255))
			stack[i] &= PAGE_MASK;
		else if (!(random >> 40 & 255))
			stack[i] = 0;
		else if (!(random >> 48 & 127))
			stack[i] = TEXT + SIZE + (random & 1);
	}
}

/* Each step as if its rule were not simple. */
static u32 walk_slowly(struct bee_walk *walk, u64 *ips, u32 max)
{
	u32 n = 0;

	walk->mem.left += BEE_WORK_FRAME * max;
	while (n < max) {
		walk->file = walk->range->file;
		walk->word = walk_word(walk, bee_frame_lookup_ip(&walk->frame));
		walk->stop = walk_step(walk);
		if (walk->stop)
			break;
		ips[n++] = walk->frame.ip;
	}
	return n;
}

static u32 walk_by_ones(struct bee_walk *walk, u64 *ips, u32 max)
{
	u32 n = 0;

	while (n < max && !walk->stop)
		n += bee_walk_callers(walk, ips + n, 1);
	return n;
}

/* With registers of its own, each. */
static bool same_frame(const struct bee_walk *a, const struct bee_walk *b)
{
	struct bee_frame f = a->frame, g = b->frame;

	if ((f.gpr == a->gpr) != (g.gpr == b->gpr) ||
	    (f.callee_gpr == a->gpr) != (g.callee_gpr == b->gpr))
		return false;
	return f.ip == g.ip && f.sp == g.sp && f.fp == g.fp && f.fp_known == g.fp_known &&
	       f.slot == g.slot && f.saved == g.saved && f.callee_sp == g.callee_sp &&
	       f.callee_saved == g.callee_saved && f.activation == g.activation;
}

static void test_same(void)
{
	struct bee_walk *walk = walk_new(), *slow = walk_new(), *ones = walk_new();
	u64 a[DEPTH], b[DEPTH], c[DEPTH];
	bool same = true, met[BEEUNWIND_STOP_MAX + 1] = {};
	u32 i, n, max, deep = 0;

	reset();
	rule_at[0] = rule_any;
	rule_at[1] = rule_any;
	for (i = 0; i < 20000 && same; i++) {
		if (!(i % 100))
			random_stack();
		stack[0x108 / 8 + random_u64() % 4] = TEXT + 1 + random_u64() % SIZE;
		max = random_u64() % DEPTH;
		files[1].stored.one_segment = i & 1;
		files[1].stored.table.nsegments = 2 - (i & 1);
		start(walk, &regs);
		start(slow, &regs);
		start(ones, &regs);
		n = bee_walk_callers(walk, a, max);
		same = n == walk_slowly(slow, b, max) && walk->stop == slow->stop &&
		       n == walk_by_ones(ones, c, max) && walk->stop == ones->stop &&
		       !memcmp(a, b, n * sizeof(*a)) && !memcmp(a, c, n * sizeof(*a)) &&
		       walk->file == slow->file && walk->file == ones->file &&
		       (walk->stop || (same_frame(walk, slow) && same_frame(walk, ones)));
		met[walk->stop] = true;
		deep += n > 8;
	}
	ksft_test_result(same && deep > 1000 && met[BEEUNWIND_STOP_OUTERMOST] &&
			 met[BEEUNWIND_STOP_GAP] && met[BEEUNWIND_STOP_READ_FAULT] &&
			 met[BEEUNWIND_STOP_NO_PROGRESS] && met[BEEUNWIND_STOP_MISALIGNED] &&
			 met[BEEUNWIND_STOP_BAD_RA],
			 "walks have equal frames by all steps at once, one at a time, and without simple rules\n");
	walk_free(walk);
	walk_free(slow);
	walk_free(ones);
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(47);
	test_same();
	test_hit();
	test_first_absent();
	test_miss();
	test_pair();
	test_serial();
	test_span();
	test_gpr();
	test_popped();
	test_no_mapping();
	test_outermost();
	test_called();
	test_target();
	test_starts();
	test_unproven();
	test_zeros();
	test_sigreturn();
	test_new_thread();
	test_cost();
	test_segments();
	test_nested();
	test_replaced();
	ksft_finished();
}
