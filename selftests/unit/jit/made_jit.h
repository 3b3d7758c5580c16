/* SPDX-License-Identifier: GPL-2.0 */
/* A process's memory with registered JIT code, made in a file: each byte is at its address. */
#ifndef MADE_JIT_H
#define MADE_JIT_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MADE_DESCRIPTOR	0x10000ull
#define MADE_ENTRY	0x20000ull	/* and 0x100 for each object */
#define MADE_OBJECT	0x100000ull	/* and 0x1000 */
#define MADE_FRAMES	0x200000ull	/* and 0x1000 */
#define MADE_CODE	0x10000000ull	/* and 0x100 */
#define MADE_CODE_SIZE	32

struct made_descriptor {
	uint32_t	version;
	uint32_t	action;
	uint64_t	relevant;
	uint64_t	first;
};

struct made_entry {
	uint64_t	next;
	uint64_t	prev;
	uint64_t	symfile;
	uint64_t	size;
};

/* As LLVM's object: sections have the addresses of their bytes in memory. */
struct made_object {
	Elf64_Ehdr	header;
	Elf64_Shdr	section[4];
	char		names[32];
};

/*
 * A function of MADE_CODE_SIZE bytes: CFA = rsp + 8, from its fifth byte on rsp + 16 + 8 * number.
 * Bytes 32 to 35 are the distance to the code.
 */
static const uint8_t made_frames[] = {
	20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0,
	20, 0, 0, 0, 28, 0, 0, 0, 0, 0, 0, 0, MADE_CODE_SIZE, 0, 0, 0, 0, 0x44, 0x0e, 16, 0, 0, 0, 0,
};

#define MADE_NAMES	"\0.text\0.eh_frame\0.shstrtab"

static inline void made_put(int fd, uint64_t address, const void *bytes, size_t size)
{
	if (pwrite(fd, bytes, size, address) != (ssize_t)size)
		abort();
}

static inline struct made_object made_object(unsigned int number)
{
	struct made_object object = {
		.header = {
			.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_REL, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
			.e_shoff = sizeof(object.header), .e_ehsize = sizeof(object.header),
			.e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 4, .e_shstrndx = 3,
		},
		.section = {
			[1] = { .sh_name = 1, .sh_type = SHT_PROGBITS,
				.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
				.sh_addr = MADE_CODE + 0x100 * number, .sh_size = MADE_CODE_SIZE },
			[2] = { .sh_name = 7, .sh_type = SHT_X86_64_UNWIND, .sh_flags = SHF_ALLOC,
				.sh_addr = MADE_FRAMES + 0x1000 * number,
				.sh_size = sizeof(made_frames) },
			[3] = { .sh_name = 17, .sh_type = SHT_STRTAB,
				.sh_offset = offsetof(struct made_object, names),
				.sh_size = sizeof(MADE_NAMES) },
		},
		.names = MADE_NAMES,
	};

	return object;
}

/* CFI for code at @code, at @frames; the second rule is CFA = rsp + 16 + 8 * @number. */
static inline void made_put_frames(int fd, uint64_t frames, uint64_t code, unsigned int number)
{
	uint8_t bytes[sizeof(made_frames)];
	int32_t distance = code - (frames + 32);

	memcpy(bytes, made_frames, sizeof(bytes));
	memcpy(bytes + 32, &distance, sizeof(distance));
	bytes[43] = 16 + 8 * number;
	made_put(fd, frames, bytes, sizeof(bytes));
}

/* A file with @count objects, the last first in the list. */
static inline int made_memory(unsigned int count)
{
	const struct made_descriptor descriptor = {
		.version = 1, .first = count ? MADE_ENTRY + 0x100 * (count - 1) : 0,
	};
	int fd = memfd_create("memory", MFD_CLOEXEC);
	uint8_t code[MADE_CODE_SIZE];
	unsigned int i;

	memset(code, 0x90, sizeof(code));
	made_put(fd, MADE_DESCRIPTOR, &descriptor, sizeof(descriptor));
	for (i = 0; i < count; i++) {
		const struct made_entry entry = {
			.next = i ? MADE_ENTRY + 0x100 * (i - 1) : 0,
			.prev = i + 1 < count ? MADE_ENTRY + 0x100 * (i + 1) : 0,
			.symfile = MADE_OBJECT + 0x1000 * i, .size = sizeof(struct made_object),
		};
		const struct made_object object = made_object(i);

		made_put(fd, MADE_ENTRY + 0x100 * i, &entry, sizeof(entry));
		made_put(fd, entry.symfile, &object, sizeof(object));
		made_put_frames(fd, MADE_FRAMES + 0x1000 * i, MADE_CODE + 0x100 * i, i);
		made_put(fd, MADE_CODE + 0x100 * i, code, sizeof(code));
	}
	made_put(fd, MADE_CODE + 0x1000 - 1, "", 1);
	return fd;
}

#endif /* MADE_JIT_H */
