// SPDX-License-Identifier: GPL-2.0
/* Symbols of an ELF file: this program. */
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "elf.h"
#include "kselftest.h"

int elf_test_object;
static struct elf_file elf;
static u64 object;	/* where the file has @elf_test_object */

static u64 vaddr_of(const void *p)
{
	return (uintptr_t)p - (uintptr_t)&elf_test_object + object;
}

static bool check_object(void)
{
	u64 none = 5;

	return elf_find_object(&elf, "elf_test_object", &object) && object &&
	       ((uintptr_t)&elf_test_object - object) % 4096 == 0 &&
	       !elf_find_object(&elf, "elf_test_objec", &none) &&
	       !elf_find_object(&elf, "main", &none) && none == 5;
}

static bool check_nearest(void)
{
	u64 offset;
	const char *name = elf_find_symbol(&elf, vaddr_of(vaddr_of) + 3, &offset);

	return name && !strcmp(name, "vaddr_of") && offset == 3 && !elf_find_symbol(&elf, 0, &offset);
}

/* struct seen: what elf_each_function() has told of the function @name at @wanted */
struct seen {
	u64		 wanted;
	const char	*name;
	size_t		 found;
	size_t		 count;
};

static void see(void *arg, u64 pc, const char *name)
{
	struct seen *seen = arg;

	seen->found += pc == seen->wanted && !strcmp(name, seen->name);
	seen->count++;
}

static bool check_functions(void)
{
	struct seen seen = { .wanted = vaddr_of(check_functions), .name = "check_functions" };

	elf_each_function(&elf, see, &seen, true);
	return seen.found == 1 && seen.count > 10;
}

/* Two tables of symbols, mostly holes: one is too large, and of the other nothing is kept. */
static bool check_large(void)
{
	const u64 size = 240 << 20;
	struct {
		Elf64_Ehdr head;
		Elf64_Phdr segment[2];
		Elf64_Shdr section[3];
		uint32_t note[5];
	} made = {
		.head = {
			.e_ident = { ELFMAG0, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
			.e_phoff = sizeof(Elf64_Ehdr), .e_ehsize = sizeof(Elf64_Ehdr),
			.e_shoff = sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr),
			.e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 2,
			.e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 3,
		},
		.segment = {
			{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = 64 },
			{ .p_type = PT_NOTE, .p_offset = (char *)made.note - (char *)&made,
			  .p_filesz = sizeof(made.note), .p_align = 4 },
		},
		/* A build-id of four bytes; "GNU" */
		.note = { 4, 4, NT_GNU_BUILD_ID, 0x00554e47, 1 },
		.section = {
			[1] = { .sh_type = SHT_SYMTAB, .sh_offset = 4096, .sh_size = 3 * size,
				.sh_entsize = sizeof(Elf64_Sym) },
			[2] = { .sh_type = SHT_DYNSYM, .sh_offset = 4096, .sh_size = size,
				.sh_entsize = sizeof(Elf64_Sym) },
		},
	};
	const Elf64_Sym last = { .st_info = STT_FUNC, .st_shndx = 1, .st_value = 77 };
	int fd = memfd_create("elf_test", MFD_CLOEXEC);
	struct seen seen = { .wanted = 77, .name = "" };
	struct rusage before, after;
	struct elf_file large;
	struct bee_error error;
	bool good;

	large = (struct elf_file){ 0 };
	good = fd >= 0 && pwrite(fd, &made, sizeof(made), 0) == sizeof(made) &&
	       pwrite(fd, &last, sizeof(last), 4096 + (size / sizeof(last) - 1) * sizeof(last)) ==
			sizeof(last) && !ftruncate(fd, 4096 + 3 * size) &&
	       !elf_identify(&large, fd, &error);
	getrusage(RUSAGE_SELF, &before);
	elf_each_function(&large, see, &seen, true);
	getrusage(RUSAGE_SELF, &after);
	elf_close(&large);
	close(fd);
	return good && seen.found == 1 && after.ru_maxrss - before.ru_maxrss < 64 << 10;
}

int main(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct bee_error error;

	ksft_print_header();
	ksft_set_plan(4);
	if (fd < 0 || elf_identify(&elf, fd, &error))
		return 1;
	ksft_test_result(check_object(), "the address of a variable is found by its name\n");
	ksft_test_result(check_functions(), "the functions of a file are found\n");
	ksft_test_result(check_nearest(), "the function nearest to an address is found\n");
	ksft_test_result(check_large(), "functions of large tables of symbols are found\n");
	elf_close(&elf);
	close(fd);
	ksft_finished();
}
