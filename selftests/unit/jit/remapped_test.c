// SPDX-License-Identifier: GPL-2.0
/* Text that has been remapped: the list of mappings, the hole, and the bytes in it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest.h"
#include "remapped.h"

/*
 * A program at 0x555555554000: headers, text of which five pages have been moved, constants.  Its
 * text is at 0x2345 of the file, at 0x3345 of memory.
 */
#define BIAS	0x555555554000ull
#define HOLE	(BIAS + 0x4000)
#define HOLE_END (BIAS + 0x9000)

static const char good_maps[] =
	"555555554000-555555556000 r--p 00000000 fe:01 4711                       /a b/prog\n"
	"555555557000-555555558000 r-xp 00002000 fe:01 4711                       /a b/prog\n"
	"555555558000-55555555b000 r-xp 00000000 00:00 0 \n"
	"55555555b000-55555555d000 rwxp 00000000 00:00 0 \n"
	"55555555e000-55555555f000 r--p 00008000 fe:01 4711                       /a b/prog\n"
	"555555560000-555555581000 rw-p 00000000 00:00 0                          [heap]\n"
	"7ffff7fc9000-7ffff7fcb000 r-xp 00000000 00:00 0                          [vdso]\n"
	"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n";

static struct elf_segment good_loads[] = {
	{ .vaddr = 0, .offset = 0, .size = 0x1800 },
	{ .vaddr = 0x3345, .offset = 0x2345, .size = 0x5a00 },
	{ .vaddr = 0xa000, .offset = 0x8000, .size = 0x1000 },
};

static struct elf_file elf_with(struct elf_segment *loads)
{
	return (struct elf_file){
		.loads = loads, .nloads = 3, .text = { loads[1] }, .ntext = 1,
	};
}

static int read_maps(const char *text, size_t size, struct maps *maps)
{
	FILE *in = fmemopen((char *)text, size, "r");
	struct bee_error error;
	int ret;

	if (!in)
		abort();
	ret = maps_read(in, maps, &error);
	fclose(in);
	return ret;
}

static struct maps good(void)
{
	struct maps maps = {};

	if (read_maps(good_maps, strlen(good_maps), &maps))
		abort();
	return maps;
}

static void test_maps(void)
{
	struct maps maps = good();
	const struct maps_entry *e = maps.entry;

	ksft_test_result(maps.count == 8 && e[1].start == BIAS + 0x3000 && e[1].end == HOLE &&
			 e[1].offset == 0x2000 && e[1].device == (0xfeull << 20 | 1) &&
			 e[1].inode == 4711 && !e[2].inode &&
			 e[7].start == 0xffffffffff600000, "a list of mappings is read\n");
	ksft_test_result(!e[0].path && !strcmp(e[1].path, "/a b/prog") && !*e[2].path &&
			 !strcmp(e[6].path, "[vdso]") && !e[2].writable && e[3].writable && !e[5].path,
			 "a list of mappings is read with names and rights\n");
	ksft_test_result(!maps_is_memory(&e[0]) && !maps_is_memory(&e[1]) && maps_is_memory(&e[2]) &&
			 maps_is_memory(&e[3]) && !maps_is_memory(&e[5]) && !maps_is_memory(&e[6]) &&
			 !maps_is_memory(&e[7]), "mappings that are code in memory are told from others\n");
	maps_free(&maps);
}

static bool maps_refused(const char *text)
{
	struct maps maps = {};
	int ret = read_maps(text, strlen(text), &maps);

	maps_free(&maps);
	return ret;
}

static void test_bad_maps(void)
{
	ksft_test_result(maps_refused("hello\n"), "text that is no list of mappings is refused\n");
	ksft_test_result(maps_refused("2000-1000 r-xp 00000000 00:00 0\n") &&
			 maps_refused("1000-1000 r-xp 00000000 00:00 0\n"),
			 "mappings that end before they start are refused\n");
	ksft_test_result(maps_refused("1000-3000 r-xp 00000000 00:00 0\n"
				      "2000-4000 r-xp 00000000 00:00 0\n"),
			 "mappings that overlap are refused\n");
	ksft_test_result(maps_refused("1000-3000 r-xp 0000"), "a list of mappings that is cut short is refused\n");
}

/* A hole filled by mappings of a page each: a process may have as many as it likes. */
static bool finds_among(size_t count)
{
	const u64 start = 0x10000000;
	struct maps maps = { .entry = calloc(count + 2, sizeof(*maps.entry)), .count = count + 2 };
	struct remapped r;
	size_t i;
	bool found;

	for (i = 0; i < maps.count; i++) {
		maps.entry[i].start = start + i * 0x1000;
		maps.entry[i].end = maps.entry[i].start + 0x1000;
	}
	maps.entry[0].inode = maps.entry[count + 1].inode = 4711;
	i = start + (count / 2 + 1) * 0x1000;
	found = remapped_find(&maps, i, i + 0x1000, &r);
	maps_free(&maps);
	return found;
}

static void test_find(void)
{
	struct maps maps = good();
	struct remapped r;

	ksft_test_result(remapped_find(&maps, HOLE, HOLE_END, &r) && r.before.offset == 0x2000 &&
			 r.after.offset == 0x8000,
			 "a hole between a file's mappings is found with the mappings beside it\n");
	ksft_test_result(remapped_find(&maps, HOLE + 0x3000, HOLE_END, &r) &&
			 r.before.offset == 0x2000, "a part of a hole is found with the mapping before it\n");
	ksft_test_result(!remapped_find(&maps, 0x1000, 0x2000, &r) &&
			 !remapped_find(&maps, 0x555555560000, 0x555555561000, &r) &&
			 !remapped_find(&maps, ~0xfffull, ~0ull, &r),
			 "a range with a file's mapping on one side only is no hole\n");
	ksft_test_result(!remapped_find(&maps, HOLE, BIAS + 0xb000, &r),
			 "a range that reaches into a file's mapping is no hole\n");
	maps.entry[4].inode++;
	ksft_test_result(!remapped_find(&maps, HOLE, HOLE_END, &r),
			 "a range between mappings of two inodes is no hole\n");
	maps.entry[4].inode--;
	maps.entry[4].device++;
	ksft_test_result(!remapped_find(&maps, HOLE, HOLE_END, &r),
			 "a range between mappings on two devices is no hole\n");
	maps_free(&maps);
	ksft_test_result(!remapped_find(&maps, HOLE, HOLE_END, &r), "a process that has nothing mapped has no hole\n");
	ksft_test_result(finds_among(1000) && !finds_among(3000), "a hole is found among many mappings\n");
}

/* Whether a hole is found to be text if @change is made. */
static bool placed(size_t load, const struct elf_segment *change, u64 start, u64 end, u64 *offset)
{
	struct elf_segment loads[3];
	struct maps maps = good();
	struct remapped r = {};
	struct elf_file elf;
	bool ret;

	memcpy(loads, good_loads, sizeof(loads));
	if (change)
		loads[load] = *change;
	elf = elf_with(loads);
	ret = remapped_find(&maps, start, end, &r) && remapped_place(&elf, &r);
	*offset = r.offset;
	maps_free(&maps);
	return ret;
}

static void test_place(void)
{
	const struct elf_segment shorter = { 0x3345, 0x2345, 0x4000 };
	const struct elf_segment elsewhere = { 0x4345, 0x2345, 0x5a00 };
	const struct elf_segment odd = { 0x3346, 0x2345, 0x5a00 };
	const struct elf_segment wide = { ~0xfffull, 0x2345, 0xfff };
	const struct elf_segment later = { 0xb000, 0x8000, 0x1000 };
	u64 offset;

	ksft_test_result(placed(0, NULL, HOLE, HOLE_END, &offset) && offset == 0x3000,
			 "moved text is placed at its offset in the file\n");
	ksft_test_result(placed(0, NULL, HOLE + 0x3000, HOLE_END, &offset) && offset == 0x6000,
			 "a part of moved text is placed at its offset in the file\n");
	ksft_test_result(!placed(1, &shorter, HOLE, HOLE_END, &offset) &&
			 placed(1, &shorter, HOLE, HOLE + 0x3000, &offset),
			 "a range that reaches beyond the file's text is not placed\n");
	ksft_test_result(!placed(1, &elsewhere, HOLE, HOLE_END, &offset) &&
			 !placed(1, &odd, HOLE, HOLE_END, &offset) &&
			 !placed(1, &wide, HOLE, HOLE_END, &offset) &&
			 !placed(2, &later, HOLE, HOLE_END, &offset),
			 "moved text is not placed if a neighbour is elsewhere than the headers say\n");
}

static int file_of(const uint8_t *bytes, size_t size, u64 offset)
{
	int fd = memfd_create("bytes", MFD_CLOEXEC);

	if (fd < 0 || pwrite(fd, bytes, size, offset) != (ssize_t)size)
		abort();
	return fd;
}

static void test_bytes(void)
{
	struct remapped r = {
		.start = 0x4000, .end = 0x9000, .offset = 0x2000, .text = { 0, 0x2345, 0x4a00 },
	};
	struct memory memory = { .left = 1u << 20 }, none = {};
	uint8_t bytes[0x5000];
	bool ok = true;
	size_t i;
	int fd;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = i * 7 ^ i >> 8;
	memory.fd = file_of(bytes, sizeof(bytes), 0x4000);
	fd = file_of(bytes, sizeof(bytes), 0x2000);
	none.fd = memory.fd;
	ksft_test_result(remapped_is_text(&memory, fd, &r), "memory with the bytes of the file is its text\n");
	ksft_test_result(!remapped_is_text(&none, fd, &r),
			 "moved text is not read when the limit of bytes is used up\n");
	for (i = 0; i < sizeof(bytes); i += 0x345) {
		uint8_t other = bytes[i] ^ 1;

		/* What is before and behind the text is not compared. */
		if (pwrite(memory.fd, &other, 1, 0x4000 + i) != 1 ||
		    remapped_is_text(&memory, fd, &r) != (i < 0x345 || i >= 0x4d45) ||
		    pwrite(memory.fd, &bytes[i], 1, 0x4000 + i) != 1)
			ok = false;
	}
	ksft_test_result(ok, "memory with one other byte is not the file's text\n");
	ok = !ftruncate(fd, 0x6000) && !remapped_is_text(&memory, fd, &r);
	ksft_test_result(ok, "memory is not the text of a file that is cut short\n");
	close(memory.fd);
	close(fd);
}

/* Any change of a byte: the list is refused, or it is in order. */
static void test_mutations(void)
{
	static const char change[] = { 1, 4, 0x10, 0x40, 0x7f };
	char text[sizeof(good_maps)];
	bool ok = true;
	size_t i, c, k;

	for (i = 0; i < strlen(good_maps); i++)
		for (c = 0; c <= sizeof(change); c++) {
			struct maps maps = {};
			struct remapped r;
			struct elf_file elf = elf_with(good_loads);

			memcpy(text, good_maps, sizeof(text));
			if (c < sizeof(change))
				text[i] ^= change[c];
			if (read_maps(text, c < sizeof(change) ? strlen(good_maps) : i + 1, &maps))
				;
			else if (remapped_find(&maps, HOLE, HOLE_END, &r))
				remapped_place(&elf, &r);
			for (k = 0; k < maps.count; k++)
				ok = ok && maps.entry[k].start < maps.entry[k].end &&
				     (!k || maps.entry[k - 1].end <= maps.entry[k].start);
			maps_free(&maps);
		}
	ksft_test_result(ok, "lists of mappings with changed and missing bytes are refused, or are in order\n");
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(24);
	test_maps();
	test_bad_maps();
	test_find();
	test_place();
	test_bytes();
	test_mutations();
	ksft_finished();
}
