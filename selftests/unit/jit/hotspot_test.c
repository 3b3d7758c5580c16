// SPDX-License-Identifier: GPL-2.0
/* The tables of a made-up Java virtual machine, in a file that stands for the memory of its process. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hotspot.h"
#include "io.h"
#include "kselftest.h"

#define VARIABLES	0x1000
#define STRUCTS		0x2000
#define STRIDE		48
#define TYPES		0x8000
#define STRINGS		0x9000
#define STATICS		0xa000
#define HEAPS		0xb000
#define CODE		0x100000

/* One field of the tables, as JDK 17 has it. */
struct field {
	const char	*type;
	const char	*name;
	const char	*kind;
	u64		 at;		/* its offset, or its address if it is static */
	bool		 is_static;
};

static const struct field fields[] = {
	{ "CodeBlob", "_name", "const char*", 96, false },
	{ "CodeBlob", "_frame_size", "int", 28, false },
	{ "CodeBlob", "_frame_complete_offset", "int", 20, false },
	{ "CodeBlob", "_code_begin", "address", 32, false },
	{ "CodeBlob", "_code_end", "address", 40, false },
	{ "HeapBlock::Header", "_length", "size_t", 0, false },
	{ "HeapBlock::Header", "_used", "bool", 8, false },
	{ "CodeCache", "_heaps", "GrowableArray<CodeHeap*>*", STATICS, true },
	{ "GenericGrowableArray", "_len", "int", 0, false },
	{ "GrowableArray<int>", "_data", "int*", 8, false },
	{ "CodeHeap", "_memory", "VirtualSpace", 16, false },
	{ "CodeHeap", "_segmap", "VirtualSpace", 64, false },
	{ "CodeHeap", "_log2_segment_size", "int", 8, false },
	{ "VirtualSpace", "_low_boundary", "char*", 0, false },
	{ "VirtualSpace", "_high_boundary", "char*", 8, false },
	{ "AbstractInterpreter", "_code", "StubQueue*", STATICS + 8, true },
	{ "StubQueue", "_stub_buffer", "address", 8, false },
	{ "StubQueue", "_buffer_limit", "int", 16, false },
};

#define NFIELDS	(sizeof(fields) / sizeof(fields[0]))

static int fd;
static u64 strings;

static void put(u64 at, u64 value, size_t size)
{
	if (pwrite(fd, &value, size, at) != (ssize_t)size)
		abort();
}

static u64 put_string(const char *text)
{
	u64 at = strings;

	strings += strlen(text) + 1;
	if (pwrite(fd, text, strlen(text) + 1, at) != (ssize_t)strlen(text) + 1)
		abort();
	return at;
}

static void put_heap(u64 at, u64 low)
{
	put(at + 8, 7, 4);
	put(at + 16, low, 8);
	put(at + 24, low + 0x10000, 8);
	put(at + 64, low + 0x800000, 8);
}

/* A virtual machine with two heaps, the higher one first; without the field of this number. */
static void lay_out(size_t without)
{
	static const u64 offset[HOTSPOT_VARIABLES] = {
		[HOTSPOT_STRUCTS] = STRUCTS, [HOTSPOT_STRUCT_STRIDE] = STRIDE, [HOTSPOT_STRUCT_TYPE] = 0,
		[HOTSPOT_STRUCT_FIELD] = 8, [HOTSPOT_STRUCT_KIND] = 16, [HOTSPOT_STRUCT_STATIC] = 24,
		[HOTSPOT_STRUCT_OFFSET] = 32, [HOTSPOT_STRUCT_ADDRESS] = 40, [HOTSPOT_TYPES] = TYPES,
		[HOTSPOT_TYPE_STRIDE] = 16, [HOTSPOT_TYPE_NAME] = 0, [HOTSPOT_TYPE_SIZE] = 8,
	};
	u64 entry = STRUCTS;
	size_t i;

	if (ftruncate(fd, 0) || ftruncate(fd, 0x2000000))
		abort();
	strings = STRINGS;
	for (i = 0; i < HOTSPOT_VARIABLES; i++)
		put(VARIABLES + 8 * i, offset[i], 8);
	for (i = 0; i < NFIELDS; i++) {
		if (i == without)
			continue;
		put(entry, put_string(fields[i].type), 8);
		put(entry + 8, put_string(fields[i].name), 8);
		put(entry + 16, put_string(fields[i].kind), 8);
		put(entry + 24, fields[i].is_static, 4);
		put(entry + (fields[i].is_static ? 40 : 32), fields[i].at, 8);
		entry += STRIDE;
	}
	put(TYPES, put_string("HeapBlock"), 8);
	put(TYPES + 8, 16, 8);
	put(STATICS, HEAPS, 8);
	put(STATICS + 8, HEAPS + 0x100, 8);
	put(HEAPS, 2, 4);
	put(HEAPS + 8, HEAPS + 0x200, 8);
	put(HEAPS + 0x200, HEAPS + 0x300, 8);
	put(HEAPS + 0x208, HEAPS + 0x400, 8);
	put_heap(HEAPS + 0x300, CODE + 0x20000);
	put_heap(HEAPS + 0x400, CODE);
	put(HEAPS + 0x108, CODE + 0x200, 8);
	put(HEAPS + 0x110, 0x1000, 4);
}

static int read_heaps(struct bee_code_heaps *heaps, struct bee_error *error)
{
	struct memory memory = { .fd = fd, .left = 256 << 20 };
	u64 address[HOTSPOT_VARIABLES];
	int i;

	*error = (struct bee_error){};
	for (i = 0; i < HOTSPOT_VARIABLES; i++)
		address[i] = VARIABLES + 8 * i;
	return hotspot_read(&memory, address, heaps, error);
}

static bool is_sound(const struct bee_code_heaps *h)
{
	return h->nr == 2 && h->heap[0].start == CODE && h->heap[0].end == CODE + 0x10000 &&
	       h->heap[0].map == CODE + 0x800000 && h->heap[1].start == CODE + 0x20000 && h->shift == 7 &&
	       h->interpreter == CODE + 0x200 && h->interpreter_end == CODE + 0x1200 && h->used == 8 &&
	       h->blob == 16 && h->frame_size == 28 && h->complete == 20 && h->complete_size == 4 && h->code == 32 &&
	       h->code_size == 8 && h->code_end == 40 && h->code_end_size == 8;
}

static void is_refused(const char *words, const char *name)
{
	struct bee_code_heaps heaps;
	struct bee_error error;
	int ret = read_heaps(&heaps, &error);

	ksft_test_result(ret == -1 && strstr(error.text, words), "%s\n", name);
	if (!ret || !strstr(error.text, words))
		ksft_print_msg("%d: %s\n", ret, error.text);
}

/* A block with a CodeBlob of this name, and where the next is. */
static u64 put_blob(u64 at, const char *name)
{
	put(at, 4, 8);
	put(at + 8, 1, 1);
	put(at + 16 + 96, put_string(name), 8);
	put(at + 16 + 32, at + 0x80, 8);
	put(at + 16 + 40, at + 0x180, 8);
	return at + (4 << 7);
}

/* A file of the second of two segments of text, mapped from its second page on. */
static bool address_is(u64 offset, u64 address)
{
	static struct elf_segment text[] = { { .vaddr = 0x1000, .offset = 0x1000, .size = 0x800 },
					     { .vaddr = 0x5300, .offset = 0x2300, .size = 0x3000 } };
	const struct elf_file elf = { .text = { text[0], text[1] }, .ntext = 2 };
	const struct maps_entry entry = { .start = 0x7f0000003000, .offset = offset };
	u64 found;

	return maps_find_address(&entry, &elf, 0x9008, &found) ? found == address : !address;
}

int main(void)
{
	struct bee_code_heaps heaps;
	struct bee_error error;
	size_t i;

	ksft_print_header();
	ksft_set_plan(4 + NFIELDS + 4 + 2);
	ksft_test_result(address_is(0x3000, 0x7f0000003000 - 0x6000 + 0x9008) &&
			 address_is(0x2000, 0x7f0000003000 - 0x5000 + 0x9008) && address_is(0x6000, 0),
			 "a variable's address follows from a mapping of any page of the segment of text\n");
	ksft_test_result(hotspot_is_named("/usr/lib/jvm/x/libjvm.so") && !hotspot_is_named("/usr/lib/jvm/libjvm.so.1") &&
			 !hotspot_is_named("libjvm.so"), "a Java virtual machine is a file libjvm.so\n");
	fd = io_memfd("memory", "", 0);
	lay_out(NFIELDS);
	ksft_test_result(!read_heaps(&heaps, &error) && is_sound(&heaps) && !heaps.barrier,
			 "the heaps of a virtual machine are found, in order\n");
	put_blob(put_blob(CODE, "Interpreter"), "StubRoutines (continuation stubs)");
	ksft_test_result(!read_heaps(&heaps, &error) && is_sound(&heaps) && heaps.barrier == CODE + 0x280 &&
			 heaps.barrier_end == CODE + 0x380, "the stub to which virtual threads return is found\n");
	put(STATICS + 8, 0, 8);
	is_refused("just starting", "a virtual machine without an interpreter is just starting");
	ksft_test_result(!read_heaps(&heaps, &error) || error.code == EAGAIN,
			 "a Java virtual machine that is just starting is to be looked at again\n");
	for (i = 0; i < NFIELDS; i++) {
		lay_out(i);
		ksft_test_result(read_heaps(&heaps, &error) == -1 && error.text[0], "without %s::%s there are no heaps\n",
				 fields[i].type, fields[i].name);
	}
	lay_out(NFIELDS);
	put(HEAPS, 9, 4);
	is_refused("more than 8", "more heaps than the module takes are refused");
	lay_out(NFIELDS);
	put(VARIABLES + 8 * HOTSPOT_STRUCT_STRIDE, 0, 8);
	is_refused("does not tell", "a table whose entries have no size ends");
	lay_out(NFIELDS);
	put(HEAPS + 0x400 + 16, 0, 8);
	is_refused("just starting", "a heap that begins nowhere is not there yet");
	lay_out(NFIELDS);
	put(HEAPS + 0x108, 0x7000, 8);
	is_refused("just starting", "an interpreter outside of the heaps is not believed");
	ksft_finished();
}
