// SPDX-License-Identifier: GPL-2.0
/* Files whose compressed debug sections are inflated, against what libelf makes of them. */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "debug_image.h"
#include "io.h"
#include "kselftest.h"
#include "random.h"

#define CONTENT		20000
#define MUTATIONS	5000

enum { INFO = 1, TEXT, LOCLISTS, STR, LINE, TWICE, NAMES, SECTIONS };

/* @kept: compressed in the file, and nothing is made of it */
static const struct {
	const char	*name;
	bool		 compressed;
	bool		 read;
	bool		 kept;
} sections[SECTIONS] = {
	[INFO] = { ".debug_info", true, true }, [TEXT] = { ".text" },
	[LOCLISTS] = { ".debug_loclists", true }, [STR] = { ".debug_str", true, true },
	[LINE] = { ".debug_line" }, [TWICE] = { ".debug_str", true, true, true },
	[NAMES] = { ".shstrtab" },
};

/* An ELF file: its header, sections and section headers, each at a multiple of 8. */
static u8 file[SECTIONS * 2 * CONTENT];
static size_t file_size;
static Elf64_Shdr *shdr;
static u8 content[SECTIONS][CONTENT];

static Elf64_Chdr *chdr_of(int section)
{
	return (Elf64_Chdr *)(file + shdr[section].sh_offset);
}

static void file_add(const void *data, size_t size)
{
	memcpy(file + file_size, data, size);
	file_size = (file_size + size + 7) / 8 * 8;
}

static void file_add_section(Elf64_Shdr *header, int section)
{
	static u8 packed[2 * CONTENT];
	Elf64_Chdr chdr = { .ch_type = ELFCOMPRESS_ZLIB, .ch_size = CONTENT, .ch_addralign = 1 };
	uLongf size = sizeof(packed) - sizeof(chdr);

	header->sh_type = SHT_PROGBITS;
	header->sh_offset = file_size;
	header->sh_size = CONTENT;
	header->sh_addralign = 8;
	if (!sections[section].compressed) {
		file_add(content[section], CONTENT);
		return;
	}
	memcpy(packed, &chdr, sizeof(chdr));
	if (compress(packed + sizeof(chdr), &size, content[section], CONTENT) != Z_OK)
		abort();
	header->sh_size = sizeof(chdr) + size;
	header->sh_flags = SHF_COMPRESSED;
	file_add(packed, header->sh_size);
}

static void file_make(void)
{
	Elf64_Ehdr ehdr = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_ehsize = sizeof(ehdr), .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = SECTIONS,
		.e_shstrndx = NAMES,
	};
	Elf64_Shdr headers[SECTIONS] = {};
	size_t i, j, names = 1;

	file_size = 0;
	file_add(&ehdr, sizeof(ehdr));
	for (i = 1; i < SECTIONS; i++) {
		headers[i].sh_name = names;
		memcpy(content[NAMES] + names, sections[i].name, strlen(sections[i].name) + 1);
		names += strlen(sections[i].name) + 1;
		for (j = 0; i != NAMES && j < CONTENT; j++)
			content[i][j] = j % 3 ? i : random_u64();
	}
	for (i = 1; i < SECTIONS; i++)
		file_add_section(&headers[i], i);
	headers[NAMES].sh_type = SHT_STRTAB;
	ehdr.e_shoff = file_size;
	shdr = (Elf64_Shdr *)(file + file_size);
	file_add(headers, sizeof(headers));
	memcpy(file, &ehdr, sizeof(ehdr));
}

/* What is made of the first bytes of the file; @same: it is the file itself. */
static int file_open(size_t size, bool *same)
{
	struct stat before, after;
	int fd = io_memfd("debug_image_test", file, size), to;

	if (fd < 0 || fstat(fd, &before))
		abort();
	to = debug_image_open(fd);
	if (fstat(to, &after))
		abort();
	*same = before.st_ino == after.st_ino;
	if (!*same && fcntl(fd, F_GETFD) != -1)
		abort();
	return to;
}

/* Is a section inflated (or, if nothing reads it, empty)?  @left: it must be as it was. */
static bool section_is_right(Elf *elf, int section, bool left)
{
	Elf_Scn *scn = elf_getscn(elf, section);
	Elf_Data *data = elf_rawdata(scn, NULL);
	GElf_Shdr header;

	if (!data || !gelf_getshdr(scn, &header))
		return false;
	if (left || !sections[section].compressed)
		return !memcmp(&header, &shdr[section], sizeof(header)) &&
		       data->d_size == header.sh_size &&
		       !memcmp(data->d_buf, file + header.sh_offset, header.sh_size);
	if (!sections[section].read)
		return header.sh_type == SHT_NOBITS && !(header.sh_flags & SHF_COMPRESSED);
	return header.sh_type == SHT_PROGBITS && !(header.sh_flags & SHF_COMPRESSED) &&
	       header.sh_addralign == 1 && data->d_size == CONTENT &&
	       !memcmp(data->d_buf, content[section], CONTENT);
}

/* @left: a section that must be as it was, 0: none but the one that comes twice */
static bool image_is_right(int left)
{
	bool same, right = true;
	int i, fd = file_open(file_size, &same);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);

	for (i = 1; i < SECTIONS; i++)
		if (!section_is_right(elf, i, i == left || sections[i].kept)) {
			ksft_print_msg("%s (section %d) is wrong\n", sections[i].name, i);
			right = false;
		}
	elf_end(elf);
	close(fd);
	return right && !same;
}

static void test_nothing_compressed(void)
{
	bool same;
	int i;

	file_make();
	for (i = 1; i < SECTIONS; i++)
		shdr[i].sh_flags = 0;
	close(file_open(file_size, &same));
	ksft_test_result(same, "a file without compressed sections is taken as it is\n");
}

/* Sections that lie about themselves are left to libdw; the others are inflated all the same. */
static void test_lies(void)
{
	static const u64 sizes[] = { 0, 1, CONTENT - 1, CONTENT + 1, 4 * CONTENT, 1ull << 40, ~0ull };
	bool good = true;
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		file_make();
		chdr_of(INFO)->ch_size = sizes[i];
		good &= image_is_right(INFO);
	}
	file_make();
	chdr_of(INFO)->ch_type = 99;
	good &= image_is_right(INFO);
	file_make();
	chdr_of(INFO)->ch_addralign = 3;
	good &= image_is_right(INFO);
	file_make();
	shdr[INFO].sh_size /= 2;
	good &= image_is_right(INFO);
	file_make();
	shdr[INFO].sh_size = sizeof(Elf64_Chdr) - 1;
	good &= image_is_right(INFO);
	file_make();
	file[shdr[INFO].sh_offset + shdr[INFO].sh_size - 1] ^= 1;
	good &= image_is_right(INFO);
	ksft_test_result(good, "compressed sections that lie stay as they were\n");
}

static void test_cut(void)
{
	bool same;
	size_t n;

	file_make();
	for (n = 0; n < file_size; n += n < 200 || n + 800 > file_size ? 1 : 997)
		close(file_open(n, &same));
	ksft_test_result_pass("files that are cut off crash no reader\n");
}

/* Headers of the file, of sections and of compressed data. */
static void test_mutations(void)
{
	size_t i, changed = 0;
	bool same;

	file_make();
	for (i = 0; i < MUTATIONS; i++) {
		int section = 1 + random_u64() % (SECTIONS - 1);
		u8 *const places[] = {
			file, (u8 *)shdr, (u8 *)shdr, file + shdr[section].sh_offset,
		};
		size_t which = random_u64() % 4;
		u8 *at = places[which] + random_u64() % (which == 1 || which == 2 ?
							 SECTIONS * sizeof(*shdr) : 64);
		u8 before = *at;

		*at = random_u64() % 2 ? random_u64() : before ^ 1 << random_u64() % 8;
		close(file_open(file_size, &same));
		changed += !same;
		*at = before;
	}
	ksft_test_result(changed > MUTATIONS / 2, "files with mutated headers crash no reader\n");
}

int main(void)
{
	elf_version(EV_CURRENT);
	ksft_print_header();
	ksft_set_plan(5);
	test_nothing_compressed();
	file_make();
	ksft_test_result(image_is_right(0), "compressed sections are inflated if they are read, or left out\n");
	test_lies();
	test_cut();
	test_mutations();
	ksft_finished();
}
