// SPDX-License-Identifier: GPL-2.0
/*
 * How many instructions a walk takes at most, whoever made the process and its files: kmod/walk.c
 * with kmod/table.c and kmod/vma.c, built for user space with optimization, executed one instruction at a
 * time.
 *
 *	walk_cost [all]		with "all" the most expensive walks 1,024 deep, too
 *
 * A copy of user memory counts as its call and memcpy(), a word of the stack as a look where it is;
 * how many there are is counted as well.  An attempt to read what is absent takes some 1,000 instructions
 * in the kernel: it counts as BEE_WORK_FAULT.
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

/* What is in each page of code, and at the beginning of the next. */
static u8 code[4096 + 64];

/* Shared with the child that walks. */
static struct {
	unsigned int	copies;
	unsigned int	words;
	unsigned int	faults;
	unsigned int	frames;
	int		left;
	int		stop;
} *told;

/*
 * What kmod/vma.c takes of the kernel.  There is no sequence count, and somebody has mmap_lock for writing:
 * so each mapping is looked at twice, and i_mmap_rwsem, too.
 */
#define BEE_COMPAT_H
#define PAGE_OFFSET	1ul
#define VMALLOC_START	(1ul << 47)
#define PAGE_SHIFT	12
#define HZ		250
#define __init
#define __initdata
#define IS_ALIGNED(x, a)	(!((x) & ((a) - 1)))
#define VM_EXEC		4ul
#define max_t(type, a, b)	((type)(a) > (type)(b) ? (type)(a) : (type)(b))
#define __get_kernel_nofault(dst, src, type, label) do {		\
	if (0)								\
		goto label;						\
	*(type *)(dst) = READ_ONCE(*(const type *)(src));		\
} while (0)

struct timespec64 { s64 tv_sec, tv_nsec; };
struct cost_lock { unsigned long count; };
struct address_space { struct cost_lock i_mmap_rwsem; };
struct inode { struct address_space *i_mapping; u64 size; };
struct file { struct inode *f_inode; };
struct mm_struct {
	struct { const void *ma_root; } mm_mt;
	struct cost_lock mmap_lock;
	struct { void *vdso; } context;
};
struct vm_area_struct {
	struct mm_struct *vm_mm;
	unsigned long vm_start, vm_end, vm_flags, vm_pgoff;
	struct file *vm_file;
};

static struct mm_struct mm = { .mmap_lock = { 1 } };
static struct task_struct {
	struct mm_struct *mm;
	struct task_struct *group_leader;
	u64 start_boottime, self_exec_id;
} task = { .mm = &mm, .group_leader = &task }, *const current = &task;

#define bee_compat_mm_seq(mm)		((void)(mm), 1u)
#define bee_compat_rwsem_word(sem)	((sem)->count)
#define bee_compat_write_locked(word)	((word) & 1)
#define bee_compat_inode_mtime(inode)	((void)(inode), (struct timespec64) {})
#define i_size_read(inode)		((inode)->size)
#define hlist_for_each_entry_rcu(at, head, member)				\
	for (struct hlist_node *__node = (head)->first; __node &&		\
	     (at = (void *)((char *)__node - offsetof(typeof(*at), member)));	\
	     __node = __node->next)

/* Of bee_vma_prove(), which nobody calls. */
#define find_vma(mm, at)	((struct vm_area_struct *)((void)(mm), (void)(at), NULL))
#define mmap_read_lock(mm)	((void)(mm))
#define mmap_read_unlock(mm)	((void)(mm))
#define rcu_read_lock()		((void)0)
#define rcu_read_unlock()	((void)0)
#define pr_err(...)		((void)0)
#define EINVAL			22
#define EOPNOTSUPP		95

#include "kmod/walk.c"
#include "kmod/vma.c"
#include "around_walk.h"
#include "selftests/unit/kmod/blob.h"

#define PAGE		4096ul
#define TEXT		0x100000000ull
#define SPACING		0x2000ull	/* from one range to the next */
#define RANGES		65536u
#define FILES		64u
#define DEEPEST		1024u
#define FIRST		8u		/* bytes of the stack below the topmost frame */

#define SPAN		256u		/* of the table */
#define ORDINARY_TOKENS	6u		/* before a place, in tables of stock files */
#define TOKENS_AT	(THIRD_RECORD_AT + 2)

/*
 * Most instructions of a frame whose rule is in the cache, and of a walk beside its frames: half as many
 * again as were counted when this was written, since compilers differ.  Documentation/walk.rst has the
 * counts.
 */
#define FRAME_CACHED	110u
#define WALK_FIXED	4000u

/* What Documentation/security.rst promises. */
#define PERF_DEPTH	127u
#define WALK_MOST	100000u
#define FRAME_MORE	650u

static struct bee_file files[FILES];
static struct inode inodes[FILES];
static struct file opened[FILES];
static struct address_space mapping;
struct hlist_head bee_store_inodes[1 << BEE_STORE_INODES_BITS];
static struct bee_walk walk;
static struct bee_rule_cache cache;

/* Code heaps of the process, or NULL. */
static const struct bee_code_heaps *code_heaps;

unsigned long copy_from_user_nmi(void *to, const void __user *from, unsigned long n)
{
	u64 at = (u64)from - STACK;

	told->copies++;
	if ((u64)from - TEXT < RANGES * SPACING) {
		memcpy(to, code + (u64)from % PAGE, n);
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
 * A table each of whose places has @tokens tokens before it, and the simple rule @word; as in
 * test_too_many_tokens() of unit/kmod/table_test.c.
 */
static void table_make(struct bee_table *table, u32 word, u32 tokens)
{
	const size_t end = 16 + 2 + 4 * tokens;
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

static u64 start_of(u32 range)
{
	return TEXT + range * SPACING;
}

static struct vm_area_struct vmas[RANGES];

static struct vm_area_struct *vma_make(u32 i)
{
	vmas[i] = (struct vm_area_struct){
		.vm_mm = &mm, .vm_start = start_of(i), .vm_end = start_of(i) + PAGE,
		.vm_flags = VM_EXEC, .vm_file = &opened[i % FILES],
	};
	return &vmas[i];
}

static void *node_made(struct maple_node *node, enum maple_type type)
{
	/* Another node's address: it is in the tree. */
	node->parent = (void *)((unsigned long)(node + 1) | 6);
	return (void *)((unsigned long)node | type << MAPLE_NODE_TYPE_SHIFT | MAPLE_ROOT_IS_NODE);
}

static struct maple_node *node_new(void)
{
	return memset(aligned_alloc(256, sizeof(struct maple_node)), 0, sizeof(struct maple_node));
}

#define LEAF	8u	/* mappings, and as many gaps */
#define LEVELS	5u	/* of nodes for RANGES */

/* The part of the tree with @n mappings from @first on. */
static void *tree_part(u32 first, u32 n)
{
	u32 children = n / LEAF < MAPLE_RANGE64_SLOTS ? n / LEAF : MAPLE_RANGE64_SLOTS, i;
	struct maple_range_64 *at;
	struct maple_node *node = node_new();

	at = &node->mr64;
	if (n == LEAF) {
		for (i = 0; i < LEAF; i++) {
			at->slot[2 * i] = vma_make(first + i);
			at->pivot[2 * i] = start_of(first + i) + PAGE - 1;
			if (i < LEAF - 1)
				at->pivot[2 * i + 1] = start_of(first + i + 1) - 1;
		}
		return node_made(node, maple_leaf_64);
	}
	for (i = 0; i < children; i++) {
		at->slot[i] = tree_part(first + i * (n / children), n / children);
		if (i < MAPLE_RANGE64_SLOTS - 1)
			at->pivot[i] = start_of(first + (i + 1) * (n / children)) - 1;
	}
	return node_made(node, maple_range_64);
}

/*
 * As many mappings as there may be, one page each, the files in turns, in a tree that is as deep as the
 * module looks: above all that is needed are nodes whose last slot has it.
 */
static void mm_make(void)
{
	void *root = tree_part(0, RANGES);
	u32 level, i;

	for (level = LEVELS; level < BEE_MAPLE_LEVELS - 1; level++) {
		struct maple_node *node = node_new();

		for (i = 0; i < MAPLE_RANGE64_SLOTS - 1; i++)
			node->mr64.pivot[i] = TEXT - MAPLE_RANGE64_SLOTS + 1 + i;
		node->mr64.slot[i] = root;
		root = node_made(node, maple_range_64);
	}
	mm.mm_mt.ma_root = root;
	for (i = 0; i < FILES; i++) {
		inodes[i].i_mapping = &mapping;
		opened[i].f_inode = &inodes[i];
	}
}

/* The @i-th ip; each is in another range and file than the one before. */
static u64 ip_of(u32 i)
{
	u32 range = i * 40503u % RANGES;

	return TEXT + range * SPACING + 8 + (i / 7 * 13 + i) % (SPAN - 9);
}

static u64 ip_same(u32 i)
{
	return ip_of(!i);
}

/* As ip_of(), all in one range. */
static u64 ip_near(u32 i)
{
	return TEXT + 8 + i % (SPAN - 9);
}

/* As ip_of(), of two files in turns. */
static u64 ip_of_two(u32 i)
{
	return ip_of(i % 2);
}

static void code_put(u32 at, const void *bytes, size_t n)
{
	memcpy(code + at, bytes, n);
	memcpy(code + PAGE, code, sizeof(code) - PAGE);
}

/* A return address, and below it rbp, which points to the next.  Return: address behind both. */
static u64 frame_put(u64 at, u32 bytes, u64 ip)
{
	u64 fp = STACK + at + 2 * bytes - 16;

	memcpy(stack + at + bytes - 16, &fp, sizeof(fp));
	memcpy(stack + at + bytes - 8, &ip, sizeof(ip));
	return at + bytes;
}

/* @table: of all files; NULL: they have none.  @bytes: from frame to frame.  All code is calls. */
static void prepare(const struct bee_table *table, u32 bytes)
{
	u32 i;

	memset(code, 0xe8, sizeof(code));
	memset(files, 0, sizeof(files));
	memset(bee_store_inodes, 0, sizeof(bee_store_inodes));
	for (i = 0; i < FILES; i++) {
		struct hlist_head *bucket = bee_store_bucket(&inodes[i]);

		files[i].inode = &inodes[i];
		files[i].by_inode.next = bucket->first;
		bucket->first = &files[i].by_inode;
		if (table)
			files[i].stored = (struct bee_stored){
				.serial = i + 1, .one_segment = true, .delta = table->base,
				.table = *table,
			};
	}
	stack_bytes = FIRST + (u64)bytes * (DEEPEST + 2) + 2 * PAGE;
	stack = mmap(NULL, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack == MAP_FAILED)
		exit(1);
}

/* Frames of @bytes bytes. */
static void stack_make(u32 bytes, u64 (*ip_at)(u32 i))
{
	u64 at = FIRST;
	u32 i;

	for (i = 0; i <= DEEPEST; i++)
		at = frame_put(at, bytes, ip_at(i + 1));
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
	if (!bee_walk_look(&walk, regs.ip))
		abort();
	walk.heaps = code_heaps;
	bee_walk_start(&walk, &regs);
	told->frames = 1 + bee_walk_callers(&walk, ips, depth - 1);
	raise(SIGUSR1);
	told->left = walk.mem.left;
	told->stop = walk.stop;
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

/*
 * @warm: the second of two walks.  Return: instructions of the walk, with what attempts to read absent
 * memory take in the kernel.
 */
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
	return n + told->faults * BEE_WORK_FAULT;
}

/* Whether a walk takes at most @most instructions, and ends for @stop. */
static void judge(const char *what, u32 depth, unsigned long n, unsigned long most,
		  enum beeunwind_stop stop)
{
	ksft_print_msg("%s, %u of %u frames: %lu instructions, %lu a frame, left %d; %u words, %u copies, %u failed\n",
		       what, told->frames, depth, n, n / told->frames, told->left, told->words,
		       told->copies, told->faults);
	ksft_test_result((stop || told->frames == depth) && told->stop == stop && n >= told->frames &&
			 n <= most, "a walk is as cheap as promised: %s, %u deep\n", what, depth);
}

/* A walk that is as deep as perf asks for.  @most: instructions of a frame. */
static void test_whole(const char *what, u32 bytes, u32 depth, bool warm, unsigned long most)
{
	judge(what, depth, count(bytes, depth, warm), most * depth + WALK_FIXED, BEEUNWIND_STOP_NONE);
}

/* A walk that takes as much as it may. */
static void test_cut(const char *what, u32 bytes, bool all)
{
	judge(what, PERF_DEPTH, count(bytes, PERF_DEPTH, false), WALK_MOST, BEEUNWIND_STOP_COST);
	if (all)
		judge(what, DEEPEST, count(bytes, DEEPEST, false),
		      WALK_MOST + (DEEPEST - PERF_DEPTH) * FRAME_MORE, BEEUNWIND_STOP_COST);
	else
		ksft_test_result_skip("a walk is as cheap as promised: %s, %u deep"
				      " # SKIP counting its instructions takes a minute: with BEE_LONG=1\n",
				      what, DEEPEST);
}

/* What ordinary programs do is done to the end. */
static void test_ordinary(bool all)
{
	struct bee_table table;

	table_make(&table, word_of(64, 0), BEE_TABLE_MAX_TOKENS);
	prepare(&table, 64);
	stack_make(64, ip_same);
	test_whole("rules in the cache", 64, PERF_DEPTH, true, FRAME_CACHED);
	test_whole("rules in the cache", 64, DEEPEST, true, FRAME_CACHED);
	stack_make(64, ip_of_two);
	test_whole("rules in the cache, of two files in turns", 64, DEEPEST, true,
		   FRAME_CACHED + FRAME_MORE);
	table_make(&table, word_of(64, 0), ORDINARY_TOKENS);
	prepare(&table, 64);
	stack_make(64, ip_near);
	test_whole("rules in no cache", 64, PERF_DEPTH, false, WALK_MOST / PERF_DEPTH);
	prepare(NULL, 64);
	stack_make(64, ip_near);
	test_whole("frame pointers", 64, PERF_DEPTH, false, WALK_MOST / PERF_DEPTH);
	if (all)
		test_whole("frame pointers", 64, DEEPEST, false, WALK_MOST / PERF_DEPTH);
}

/* Each frame in another file, its rule behind all tokens, RA and rbp in two pages. */
static void test_tables(bool all)
{
	const u32 bytes = 2 * PAGE;
	struct bee_table table;

	table_make(&table, word_of(bytes, PAGE + 8), BEE_TABLE_MAX_TOKENS);
	prepare(&table, bytes);
	stack_make(bytes, ip_of);
	test_cut("tables with all tokens", bytes, all);
}

/* No tables: each frame by rbp, with a look at the code. */
static void test_code(bool all)
{
	const u32 bytes = PAGE + 8;

	prepare(NULL, bytes);
	stack_make(bytes, ip_of);
	test_cut("code without tables", bytes, all);
}

#define SIGNAL_BYTES	512u		/* of a frame */

/*
 * On the stack, signal trampolines in turns with functions that were interrupted at 0x200 of ranges in the upper half.
 * @pushed: the words that those have at rsp
 */
static void signals_make(u64 pushed)
{
	static const u8 trampoline[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 };
	u64 at = FIRST, words[17] = {};
	u32 i, k;

	code_put(0x100, trampoline, sizeof(trampoline));
	for (i = 0; i < DEEPEST; i += 2) {
		u64 range = ip_of(i) % (RANGES / 2 * SPACING) / SPACING * SPACING + TEXT;

		/* struct ucontext is where the frame's return address ends. */
		at = frame_put(at, SIGNAL_BYTES, range + 0x100);
		words[10] = STACK + at + 2 * SIGNAL_BYTES - 16;
		words[15] = STACK + at + SIGNAL_BYTES;
		words[16] = (range + RANGES / 2 * SPACING + 0x200) | 15 * SPACING;
		memcpy(stack + at + BEE_SIGNAL_CONTEXT, words, sizeof(words));
		at += SIGNAL_BYTES;
		for (k = 0; k < 8; k++)
			memcpy(stack + at + 8 * k, &pushed, sizeof(pushed));
	}
}

/* No tables.  The code of the interrupted functions is all but what is recognised. */
static void test_signals(bool all)
{
	/* test %rax,%rax; je; call *%rax; add $8,%rsp; but no ret */
	static const u8 interrupted[] = { 0x48, 0x85, 0xc0, 0x74, 0x02, 0xff, 0xd0,
					  0x48, 0x83, 0xc4, 0x08, 0xcc };

	prepare(NULL, SIGNAL_BYTES);
	code_put(0x200, interrupted, sizeof(interrupted));
	signals_make(0);
	test_cut("signals in code without tables", SIGNAL_BYTES, all);
}

/* Each RA in a page that is present, and the word for rbp in one that is not. */
static void test_absent(bool all)
{
	const u32 bytes = 2 * PAGE;
	struct bee_table table;

	/* The CFA is 8 bytes into an even page. */
	table_make(&table, word_of(bytes, 16), 1);
	prepare(&table, bytes);
	stack_make(bytes, ip_of);
	odd_pages_absent = true;
	test_cut("absent pages", bytes, all);
	odd_pages_absent = false;
}

/* As ip_of(), in ranges whose segment of a code heap is 15 from its block's first. */
static u64 ip_far(u32 i)
{
	return ip_of(i) | 15 * SPACING;
}

#define HEAP_BYTES	512u		/* of a frame */
#define HEAP_SHIFT	13		/* each range is a segment */
#define HEAP_HEADER	0x400u

/* The header of a piece of code in each range: its frames are complete from @complete on, and have @bytes. */
static void block_make(u32 complete, u32 bytes)
{
	const u64 from = 0, to = ~0ull;
	const u32 words = bytes / 8;

	code_put(HEAP_HEADER, &from, sizeof(from));
	code_put(HEAP_HEADER + 8, &to, sizeof(to));
	code_put(HEAP_HEADER + 16, &complete, sizeof(complete));
	code_put(HEAP_HEADER + 24, &words, sizeof(words));
}

/*
 * A segment map at the stack's end, in which each block has @more segments beside its first.
 * Return: its address for the process.
 */
static u64 segments_make(u32 more)
{
	u64 at = stack_bytes - RANGES;
	u32 i;

	for (i = 0; i < RANGES; i++)
		stack[at + i] = i % (more + 1) ? 1 : 0;
	return STACK + at;
}

/*
 * As test_signals(), in a code heap and with frames of no known size.  The code is that before an end of a prologue that
 * does not come; nothing that the stack has at rsp is a return address behind a call.
 */
static void test_heap_signals(struct bee_code_heaps *heaps, bool all)
{
	prepare(NULL, 2 * SIGNAL_BYTES);
	heaps->heap[0].start = TEXT + RANGES / 2 * SPACING;
	heaps->heap[0].map = segments_make(15);
	memset(code, 0x48, PAGE);
	block_make(0x300, 0);
	signals_make(heaps->heap[0].start + 0x200);
	test_cut("signals in code heaps", SIGNAL_BYTES, all);
}

/* As ip_far(), in one place of each page. */
static u64 ip_stub(u32 i)
{
	return (ip_far(i) & -PAGE) + 0x200;
}

/* Each frame is a stub's that has pushed six words and saved all GPRs, has called, and loads the GPRs next. */
static void test_heap_stubs(struct bee_code_heaps *heaps, bool all)
{
	const u8 call_and_mov[] = { 0xe8, 0, 0, 0, 0, 0x4c, 0x8b, 0x3c, 0x24 };
	const u32 bytes = HEAP_SAVED_ALL + 8 * HEAP_PUSHED;

	prepare(NULL, 2 * bytes);
	memset(code, 0x58, HEAP_HEADER);
	code_put(0x200 - 5, call_and_mov, sizeof(call_and_mov));
	block_make(0, 0);
	heaps->heap[0].map = segments_make(15);
	stack_make(bytes, ip_stub);
	test_cut("stubs that have saved all registers", bytes, all);
}

/*
 * All mappings have no file, and are one code heap.  The first walk is that of an ordinary program: its frames are near
 * each other.  In the second one each frame is in another block, 15 segments from the block's first, and its code pops
 * as many words behind the call as the step looks for.
 */
static void test_heaps(bool all)
{
	struct bee_code_heaps heaps = {
		.heap[0] = { TEXT, TEXT + RANGES * SPACING, }, .nr = 1, .shift = HEAP_SHIFT,
		.used = 8, .blob = HEAP_HEADER, .code_size = 8, .code_end_size = 8, .complete_size = 4,
		.code_end = 8, .complete = 16, .frame_size = 24,
	};
	const u8 call = 0xe8;
	u32 i;

	for (i = 0; i < RANGES; i++)
		vmas[i].vm_file = NULL;
	prepare(NULL, 2 * HEAP_BYTES);
	code_heaps = &heaps;

	block_make(0, HEAP_BYTES);
	heaps.heap[0].map = segments_make(0);
	stack_make(HEAP_BYTES, ip_near);
	test_whole("code heaps", HEAP_BYTES, PERF_DEPTH, false, WALK_MOST / PERF_DEPTH);

	memset(code, 0x58, HEAP_HEADER);
	code_put(ip_far(1) % PAGE - 5, &call, sizeof(call));
	block_make(0, HEAP_BYTES - 8 * HEAP_PUSHED);
	heaps.heap[0].map = segments_make(15);
	stack_make(HEAP_BYTES, ip_far);
	test_cut("code heaps with all segments", HEAP_BYTES, all);
	test_heap_stubs(&heaps, all);
	test_heap_signals(&heaps, all);
	code_heaps = NULL;
	for (i = 0; i < RANGES; i++)
		vmas[i].vm_file = &opened[i % FILES];
}

int main(int argc, char **argv)
{
	bool all = argc > 1 && !strcmp(argv[1], "all");

	ksft_print_header();
	if (!may_trace()) {
		puts("1..0 # SKIP no ptrace here");
		return KSFT_SKIP;
	}
	ksft_set_plan(20 + all);
	told = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	mm_make();
	test_ordinary(all);
	test_tables(all);
	test_code(all);
	test_signals(all);
	test_absent(all);
	test_heaps(all);
	ksft_finished();
}
