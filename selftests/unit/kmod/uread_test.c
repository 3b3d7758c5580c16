// SPDX-License-Identifier: GPL-2.0
/* Reads of stack and code through uread.h: which bytes are read, and code in how many copies. */
#include <limits.h>

#include "kselftest.h"
#include "uread.h"
#include "frame.h"

#define MEMORY	0x7ffe00001000ull
#define PAGES	4

/* Adjacent fake pages; a copy ends at the first one that is absent, as at a page fault. */
static struct {
	u8		bytes[PAGES * PAGE_SIZE];
	bool		absent[PAGES];
	unsigned int	copies;		/* of more than a word */
	unsigned int	words;
} memory;

unsigned long copy_from_user_nmi(void *to, const void __user *from, unsigned long n)
{
	u64 at = (unsigned long)from - MEMORY;
	u8 *byte = to;

	if (n > sizeof(u64))
		memory.copies++;
	else
		memory.words++;
	for (; n && at < sizeof(memory.bytes) && !memory.absent[at / PAGE_SIZE]; n--)
		*byte++ = memory.bytes[at++];
	return n;
}

static struct bee_uread mem;

/* Start again: nothing read, all pages present, neighbouring bytes different, any work allowed. */
static void reset(void)
{
	size_t i;

	for (i = 0; i < sizeof(memory.bytes); i++)
		memory.bytes[i] = i * 167 >> 4;
	memset(memory.absent, 0, sizeof(memory.absent));
	bee_uread_init(&mem, MEMORY + 8);
	mem.left = INT_MAX;
	memory.copies = 0;
}

static bool word_is_right(u64 addr)
{
	u64 value = 0, expected;

	memcpy(&expected, memory.bytes + (addr - MEMORY), sizeof(expected));
	return bee_uread_u64(&mem, addr, &value) && value == expected;
}

static void test_words(void)
{
	bool right = true;
	u64 addr, value;

	reset();
	for (addr = MEMORY; addr <= MEMORY + sizeof(memory.bytes) - 8; addr++)
		right = right && word_is_right(addr);
	for (; addr-- > MEMORY;)
		right = right && word_is_right(addr);
	ksft_test_result(right, "words are read at every address, upwards and downwards\n");
	ksft_test_result(!bee_uread_u64(&mem, MEMORY + sizeof(memory.bytes) - 7, &value) &&
			 !bee_uread_u64(&mem, MEMORY - 1, &value) &&
			 !bee_uread_u64(&mem, 0, &value),
			 "a word that lacks one byte is not read\n");
	memory.words = 0;
	ksft_test_result(!bee_uread_u64(&mem, -8, &value) && !bee_uread_u64(&mem, -1, &value) &&
			 !bee_uread_u64(&mem, 1ull << 63, &value) &&
			 !bee_uread_u64(&mem, TASK_SIZE_MAX - 7, &value) && !memory.words &&
			 !bee_uread_u64(&mem, TASK_SIZE_MAX - 8, &value) && memory.words == 1,
			 "no word past the end of user memory is tried\n");
}

/*
 * Without copy_from_user_nmi(), which alone knows whether user memory can be read, no word is read
 * before it has read one.
 */
static void test_allowed(void)
{
	u64 edge = MEMORY + PAGE_SIZE, value;
	bool first;

	reset();
	ksft_test_result(mem.allowed, "the word at the stack pointer is read first\n");
	memory.absent[0] = true;
	bee_uread_init(&mem, MEMORY + 8);
	first = !mem.allowed && !bee_uread_u64(&mem, MEMORY + 16, &value) && !mem.allowed;
	ksft_test_result(first && word_is_right(edge) && mem.allowed,
			 "another word is read first if the one at the stack pointer is absent\n");
	for (bee_uread_init(&mem, MEMORY + 8); !mem.allowed && mem.limit;)
		bee_uread_u64(&mem, MEMORY + 16, &value);
	ksft_test_result(mem.left < 0 && !bee_uread_u64(&mem, edge, &value),
			 "a first word is not looked for when the work is used up\n");
	bee_uread_init(&mem, -16);
	ksft_test_result(!mem.allowed && mem.left == BEE_WORK_WALK,
			 "a walk with a stack pointer that no program can have tries no first word\n");
}

static void test_absent(void)
{
	u64 edge = MEMORY + PAGE_SIZE, value;

	reset();
	memory.absent[0] = memory.absent[2] = true;
	ksft_test_result(word_is_right(edge) && word_is_right(edge + PAGE_SIZE - 8),
			 "first and last word of a page between absent pages are read\n");
	ksft_test_result(!bee_uread_u64(&mem, edge - 8, &value) &&
			 !bee_uread_u64(&mem, edge - 4, &value) &&
			 !bee_uread_u64(&mem, edge + PAGE_SIZE - 4, &value) &&
			 !bee_uread_u64(&mem, edge + PAGE_SIZE, &value),
			 "a word that is in an absent page, or partly, is not read\n");
	ksft_test_result(word_is_right(edge + 16), "a word is read after one that is absent\n");
}

/* A walk need not end at a word that is absent, so it pays for each. */
static void test_many_absent(void)
{
	u64 there = MEMORY + PAGE_SIZE, value;
	unsigned int words;
	bool right = true;
	int i;

	reset();
	mem.left = BEE_WORK_WALK;
	memory.absent[2] = true;
	for (i = 0; i <= BEE_WORK_WALK / BEE_WORK_FAULT; i++) {
		right = right && word_is_right(there + 8 * i);
		right = right && !bee_uread_u64(&mem, there + PAGE_SIZE + 8 * i, &value);
	}
	words = memory.words;
	ksft_test_result(right && !bee_uread_u64(&mem, there + PAGE_SIZE, &value) &&
			 !bee_uread_u64(&mem, there, &value) && memory.words == words,
			 "no word is read when absent words have used up the work\n");
	bee_uread_init(&mem, MEMORY + PAGE_SIZE);
	ksft_test_result(word_is_right(there), "the next walk reads what an earlier one did not\n");
}

static void test_code(void)
{
	u64 edge = MEMORY + PAGE_SIZE;
	unsigned int copies;
	u8 value = 0;
	bool none = true;
	u64 addr;

	reset();
	memory.absent[1] = true;
	ksft_test_result(bee_uread_u8(&mem, edge - 1, &value) &&
			 value == memory.bytes[PAGE_SIZE - 1],
			 "the byte of code before an absent page is read\n");
	copies = memory.copies;
	for (addr = edge; addr < edge + PAGE_SIZE; addr++)
		none = none && !bee_uread_u8(&mem, addr, &value);
	/* The copy of the first byte was across both pages, and then of its own. */
	ksft_test_result(none && copies == 2 && memory.copies == copies + 1,
			 "a page of code that is absent is tried once\n");
	ksft_test_result(bee_uread_u8(&mem, edge - 1, &value) &&
			 bee_uread_u8(&mem, edge + PAGE_SIZE, &value) &&
			 value == memory.bytes[2 * PAGE_SIZE],
			 "the bytes of code beside an absent page are read\n");
	ksft_test_result(!bee_uread_u8(&mem, edge, &value) && memory.copies == copies + 3,
			 "an absent page of code is remembered when others were read\n");
	bee_uread_init(&mem, MEMORY + PAGE_SIZE);
	memory.absent[1] = false;
	ksft_test_result(bee_uread_u8(&mem, edge, &value) && value == memory.bytes[PAGE_SIZE],
			 "the next walk reads what an earlier one did not\n");
	ksft_test_result(!bee_uread_u8(&mem, -1, &value) && !bee_uread_u8(&mem, 0, &value),
			 "no byte of code at either end of all addresses is read\n");
}

/* The bytes before a return address, and then those at it, are one copy. */
static void test_code_window(void)
{
	u64 addr, at = MEMORY + PAGE_SIZE + 0x100;
	bool right = true;
	u8 value = 0;

	reset();
	for (addr = at - 1; addr >= at - 8; addr--)
		right &= bee_uread_u8(&mem, addr, &value) && value == memory.bytes[addr - MEMORY];
	for (addr = at; addr < at + 16; addr++)
		right &= bee_uread_u8(&mem, addr, &value) && value == memory.bytes[addr - MEMORY];
	ksft_test_result(right && memory.copies == 1, "code around an address is one copy\n");
	right = word_is_right(at);
	ksft_test_result(right && bee_uread_u8(&mem, at, &value) && memory.copies == 1,
			 "code around an address stays copied when a word of the stack is read\n");
	for (right = true, addr = MEMORY; addr < MEMORY + sizeof(memory.bytes); addr++)
		right &= bee_uread_u8(&mem, addr, &value) && value == memory.bytes[addr - MEMORY];
	for (; addr-- > MEMORY;)
		right &= bee_uread_u8(&mem, addr, &value) && value == memory.bytes[addr - MEMORY];
	ksft_test_result(right, "code is read at every address, upwards and downwards\n");
}

/* The module's steps across a frame without a rule; how many copies of code they take. */
static unsigned int step_copies(struct bee_frame *f)
{
	unsigned int copies = memory.copies;
	struct bee_frame caller;

	if (bee_frame_step_sigreturn(&mem, f))
		return ~0u;
	caller = *f;
	if (!bee_frame_step_fp(&mem, &caller))
		return ~0u;
	*f = caller;
	return memory.copies - copies;
}

/* An activation and its caller without CFI, at each place of a page: one copy of code each. */
static void test_code_of_frames(void)
{
	const u64 fp = MEMORY + 3 * PAGE_SIZE + 0x200, words[2] = { fp + 0x40, 0 };
	u64 ip, ra, target;
	bool one = true;

	for (ip = MEMORY + PAGE_SIZE; ip < MEMORY + 2 * PAGE_SIZE; ip++) {
		struct bee_frame f = {
			.ip = ip, .sp = fp - 0x20, .fp = fp, .fp_known = true, .activation = true,
		};

		reset();
		memset(memory.bytes, 0x90, 3 * PAGE_SIZE);
		/* The return address is at another place of its page, behind "call *%rax". */
		ra = MEMORY + PAGE_SIZE + (ip * 7 + 2048) % PAGE_SIZE;
		memory.bytes[ra - 2 - MEMORY] = 0xff;
		memory.bytes[ra - 1 - MEMORY] = 0xd0;
		memcpy(memory.bytes + (fp - MEMORY), words, sizeof(words));
		memcpy(memory.bytes + (fp + 8 - MEMORY), &ra, sizeof(ra));
		one = one && step_copies(&f) == 1 && f.ip == ra &&
		      bee_frame_find_call(&mem, f.ip, &target) == BEE_CALL_FOUND &&
		      !bee_frame_is_sigreturn(&mem, &f) && memory.copies <= 2;
	}
	ksft_test_result(one, "a frame without CFI: one copy of code, wherever it is\n");
}

/* Frames in pages that are all absent, as a process can build them on its stack. */
static void test_faults(void)
{
	u64 addr;
	bool none = true;
	u8 value;

	reset();
	mem.left = BEE_WORK_WALK;
	for (addr = 0x10000; addr < 0x10000 + 200 * PAGE_SIZE; addr += PAGE_SIZE + 5)
		none = none && !bee_uread_u8(&mem, addr, &value);
	ksft_test_result(none && mem.left < 0 && memory.copies <= BEE_WORK_WALK / BEE_WORK_FAULT + 1,
			 "200 absent pages of code: copies until the work is used up\n");
	ksft_test_result(!bee_uread_u8(&mem, MEMORY, &value),
			 "no byte of code is read when absent pages have used up the work\n");
	reset();
	memory.absent[1] = memory.absent[3] = true;
	for (addr = MEMORY + PAGE_SIZE - 4; addr < MEMORY + PAGE_SIZE; addr++)
		none = none && bee_uread_u8(&mem, addr, &value) &&
		       bee_uread_u8(&mem, addr + 2 * PAGE_SIZE, &value);
	ksft_test_result(none && INT_MAX - mem.left < 2 * BEE_WORK_FAULT,
			 "last bytes of pages before absent ones: one failure, all read\n");
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(3 + 4 + 3 + 2 + 6 + 3 + 1 + 3);
	test_words();
	test_allowed();
	test_absent();
	test_many_absent();
	test_code();
	test_code_window();
	test_code_of_frames();
	test_faults();
	ksft_finished();
}
