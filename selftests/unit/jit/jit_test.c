// SPDX-License-Identifier: GPL-2.0
/* JIT code in memory: what is registered, its table, and everything that can be wrong with it. */
#include <stdio.h>
#include <stdlib.h>

#include "jit_table.h"
#include "kselftest.h"
#include "made_jit.h"

#define ALL	(64ull << 20)	/* bytes to read */

static int read_all(int fd, struct jit_objects *objects)
{
	struct memory memory = { .fd = fd, .left = ALL };
	struct bee_error error = {};
	int ret = jit_objects_read(&memory, MADE_DESCRIPTOR, objects, &error);

	if (ret)
		ksft_print_msg("%s\n", error.text);
	jit_objects_settle(objects);
	return ret;
}

/* The CFA's offset from rsp at an address, by the table of a range; 0: a gap, -1: no table. */
static int cfa_at(int fd, const struct jit_objects *objects, uint64_t start, uint64_t end,
		  uint64_t address)
{
	struct memory memory = { .fd = fd, .left = ALL };
	struct compile_result result;
	struct bee_rule rule = {};
	struct bee_error error;
	int cfa = -1;

	if (!jit_table_make(&memory, objects, start, end, &result, &error)) {
		bee_table_lookup(&result.table, bee_table_pc(&result.table, address), &rule);
		cfa = rule.kind == BEE_RULE_KNOWN ? rule.cfa_off : 0;
	} else {
		ksft_print_msg("no table: %s\n", error.text);
	}
	compile_result_free(&result);
	return cfa;
}

static void test_good(void)
{
	const uint64_t end = MADE_CODE + 0x1000;
	struct jit_objects objects = {}, again = {}, none = {};
	int fd = made_memory(3), empty = made_memory(0);
	bool ok;

	ok = !read_all(fd, &objects) && objects.count == 3 && objects.object[0].nspans == 1 &&
	     objects.object[0].span[0].start == MADE_CODE + 0x200;
	ksft_test_result(ok, "three registered objects are read, the latest first\n");
	ksft_test_result(jit_objects_cover(&objects, MADE_CODE, MADE_CODE + 1) &&
			 jit_objects_cover(&objects, MADE_CODE + 0x21f, end) &&
			 !jit_objects_cover(&objects, MADE_CODE + 0x220, end) &&
			 !jit_objects_cover(&objects, 0, MADE_CODE), "registered objects cover their ranges\n");
	ok = cfa_at(fd, &objects, MADE_CODE, end, MADE_CODE) == 8 &&
	     cfa_at(fd, &objects, MADE_CODE, end, MADE_CODE + 4) == 16 &&
	     cfa_at(fd, &objects, MADE_CODE, end, MADE_CODE + 0x103) == 8 &&
	     cfa_at(fd, &objects, MADE_CODE, end, MADE_CODE + 0x104) == 24 &&
	     cfa_at(fd, &objects, MADE_CODE, end, MADE_CODE + 0x21f) == 32;
	ksft_test_result(ok, "one table has the rows of all registered objects, by address\n");
	ok = cfa_at(fd, &objects, MADE_CODE, end, MADE_CODE + 0x220) == 0;
	ksft_test_result(ok, "a table of registered objects has a gap outside of them\n");
	ok = cfa_at(fd, &objects, MADE_CODE + 0x100, end, MADE_CODE + 0x104) == 24 &&
	     cfa_at(fd, &objects, MADE_CODE + 0x100, end, MADE_CODE) == 0 &&
	     cfa_at(fd, &objects, MADE_CODE + 0x110, MADE_CODE + 0x200, MADE_CODE + 0x110) == -1;
	ksft_test_result(ok, "a table of a range has only the rows of objects in the range\n");
	ok = !read_all(fd, &again) && jit_objects_are_same(&objects, &again);
	jit_objects_free(&again);
	made_put_frames(fd, MADE_FRAMES + 0x1000, MADE_CODE + 0x100, 2);
	ok = ok && !read_all(fd, &again) && !jit_objects_are_same(&objects, &again);
	ksft_test_result(ok, "a registered object's CFI that has changed is noticed\n");
	ksft_test_result(!read_all(empty, &none) && !none.count &&
			 !jit_objects_are_same(&objects, &none), "memory without registered objects has no objects\n");
	jit_objects_free(&objects);
	jit_objects_free(&again);
	jit_objects_free(&none);
	close(fd);
	close(empty);
}

/* Two objects with code at one place: the memory of the first has become the second's. */
static void test_latest(void)
{
	struct jit_objects objects = {};
	struct made_object object = made_object(1);
	int fd = made_memory(2);

	object.section[1].sh_addr = MADE_CODE;
	made_put(fd, MADE_OBJECT + 0x1000, &object, sizeof(object));
	made_put_frames(fd, MADE_FRAMES + 0x1000, MADE_CODE, 1);
	read_all(fd, &objects);
	ksft_test_result(cfa_at(fd, &objects, MADE_CODE, MADE_CODE + 0x1000, MADE_CODE + 4) == 24,
			 "of registered objects at one address the latest counts\n");
	jit_objects_free(&objects);
	close(fd);
}

/*
 * The process has freed the code of the first object, which it left in the list, and put the second object's code
 * over a part of it.  @has_frames: the second object has CFI.
 */
static bool is_taken_over(bool has_frames)
{
	const uint64_t end = MADE_CODE + 0x1000;
	struct jit_objects objects = {};
	struct made_object object = made_object(1);
	int fd = made_memory(2);
	bool ok;

	object.section[1].sh_addr = MADE_CODE - 8;
	if (!has_frames)
		object.section[2].sh_addr = 0;
	made_put(fd, MADE_OBJECT + 0x1000, &object, sizeof(object));
	made_put_frames(fd, MADE_FRAMES + 0x1000, MADE_CODE - 8, 1);
	read_all(fd, &objects);
	ok = objects.nowners == 2 && objects.owner[0].object == 0 && objects.owner[1].object == 1 &&
	     objects.owner[0].end == objects.owner[1].start;
	if (has_frames)
		ok = ok && cfa_at(fd, &objects, 0, end, MADE_CODE - 8) == 8 &&
		     cfa_at(fd, &objects, 0, end, MADE_CODE + 8) == 24 &&
		     cfa_at(fd, &objects, 0, end, objects.owner[1].start) == 0;
	else
		ok = ok && cfa_at(fd, &objects, 0, end, MADE_CODE) == -1;
	jit_objects_free(&objects);
	close(fd);
	return ok;
}

/* A list that cannot be followed: what is at its @offset becomes @value. */
static bool list_is_refused(uint64_t address, uint64_t value)
{
	struct jit_objects objects = {};
	int fd = made_memory(3), ret;

	made_put(fd, address, &value, sizeof(value));
	ret = read_all(fd, &objects);
	jit_objects_free(&objects);
	close(fd);
	return ret;
}

static void test_lists(void)
{
	const uint64_t first = MADE_ENTRY + 0x200, last = MADE_ENTRY;

	ksft_test_result(list_is_refused(last, first) && list_is_refused(last, last),
			 "a list of objects that goes in circles is refused\n");
	ksft_test_result(list_is_refused(first, ~0ull) && list_is_refused(last, 1ull << 47) &&
			 list_is_refused(MADE_DESCRIPTOR + 16, 1ull << 63),
			 "a list of objects that leads to nowhere is refused\n");
	ksft_test_result(list_is_refused(first + 8, last), "a list of objects whose links do not agree is refused\n");
	ksft_test_result(list_is_refused(MADE_DESCRIPTOR, 2), "a descriptor of another version is refused\n");
}

/* Whether an object with a change has no table, and is read without harm. */
static bool object_is_ignored(const struct made_object *object, const struct made_entry *entry)
{
	struct jit_objects objects = {};
	int fd = made_memory(1), cfa;

	made_put(fd, MADE_OBJECT, object, sizeof(*object));
	if (entry)
		made_put(fd, MADE_ENTRY, entry, sizeof(*entry));
	cfa = read_all(fd, &objects) ? -2 :
	      cfa_at(fd, &objects, MADE_CODE, MADE_CODE + 0x1000, MADE_CODE + 4);
	jit_objects_free(&objects);
	close(fd);
	return cfa == -1;
}

#define IGNORED(name, change) do {				\
	struct made_object object = made_object(0);		\
	change;							\
	ksft_test_result(object_is_ignored(&object, NULL), "an object is ignored: " name "\n"); \
} while (0)

static void test_objects(void)
{
	struct made_object good = made_object(0);
	struct made_entry entry = { .symfile = MADE_OBJECT, .size = 100 };

	ksft_test_result(!object_is_ignored(&good, NULL), "a good object is not ignored\n");
	ksft_test_result(object_is_ignored(&good, &entry), "an object that is cut short is ignored\n");
	entry.size = ~0ull;
	entry.symfile = ~0ull - 10;
	ksft_test_result(object_is_ignored(&good, &entry), "an object at no address is ignored\n");
	IGNORED("no ELF file", object.header.e_ident[1] = 'x');
	IGNORED("32 bits", object.header.e_ident[EI_CLASS] = ELFCLASS32);
	IGNORED("another machine", object.header.e_machine = EM_AARCH64);
	IGNORED("too many sections", object.header.e_shnum = 0xffff);
	IGNORED("sections elsewhere", object.header.e_shoff = ~0ull - 8);
	IGNORED("names in no section", object.header.e_shstrndx = 4);
	IGNORED("names elsewhere", object.section[3].sh_offset = ~0ull);
	IGNORED("names cut short", object.section[3].sh_size = 10);
	IGNORED("CFI without an address", object.section[2].sh_addr = 0);
	IGNORED("CFI elsewhere", object.section[2].sh_addr = 1ull << 46);
	IGNORED("CFI of another name", object.names[9] = 'x');
	IGNORED("CFI without end", object.section[2].sh_size = ~0ull);
	IGNORED("CFI of 2 GiB", object.section[2].sh_size = 1ull << 31);
	IGNORED("no code", object.section[1].sh_flags = SHF_ALLOC);
	IGNORED("code of others", object.section[1].sh_addr += 0x100);
	IGNORED("code cut short", object.section[1].sh_size--);
	IGNORED("code without end", object.section[1].sh_size = ~0ull);
}

/* Any change of a byte: nothing is read past a limit, and what is made is a valid table. */
static void test_mutations(void)
{
	static const struct { uint64_t start, size; } part[] = {
		{ MADE_DESCRIPTOR, sizeof(struct made_descriptor) },
		{ MADE_ENTRY, sizeof(struct made_entry) },
		{ MADE_OBJECT, sizeof(struct made_object) },
		{ MADE_FRAMES, sizeof(made_frames) },
	};
	static const uint8_t change[] = { 0x01, 0x80, 0xff, 0x7f };
	unsigned int tried = 0, p, c;
	uint64_t at;

	for (p = 0; p < 4; p++)
		for (at = part[p].start; at < part[p].start + part[p].size; at++)
			for (c = 0; c < sizeof(change); c++) {
				struct jit_objects objects = {};
				int fd = made_memory(2);
				uint8_t byte;

				if (pread(fd, &byte, 1, at) != 1)
					abort();
				byte ^= change[c];
				made_put(fd, at, &byte, 1);
				if (!read_all(fd, &objects))
					cfa_at(fd, &objects, 0, 1ull << 47, MADE_CODE);
				jit_objects_free(&objects);
				close(fd);
				tried++;
			}
	ksft_test_result(tried > 1000, "%u changed bytes\n", tried);
}

static void test_limits(void)
{
	struct memory memory = { .fd = made_memory(3), .left = 500 };
	struct jit_objects objects = {};
	struct bee_error error;
	char byte;
	int i;

	ksft_test_result(jit_objects_read(&memory, MADE_DESCRIPTOR, &objects, &error) &&
			 objects.count < 3, "a process's memory is read for as many bytes as may be\n");
	memory.left = 10000;
	for (i = 0; i < 1000 && memory_read(&memory, 0, &byte, 0); i++)
		;
	ksft_test_result(i < 1000 && !memory_copy(&memory, 0, 1), "a process's memory is read as often as may be\n");
	jit_objects_free(&objects);
	close(memory.fd);
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(37);
	test_good();
	test_latest();
	ksft_test_result(is_taken_over(true), "an older object has no code where a later one has\n");
	ksft_test_result(is_taken_over(false), "an older object has no code where a later one without CFI has\n");
	test_lists();
	test_objects();
	test_mutations();
	test_limits();
	ksft_finished();
}
