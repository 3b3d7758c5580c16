// SPDX-License-Identifier: GPL-2.0
/* Bad and odd ELF files: the compiler must refuse with one line, or succeed; never crash. */
#include <elf.h>
#include <fcntl.h>
#include <sha2.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "compile.h"
#include "elf.h"
#include "kselftest.h"

#define TEXT_AT		0x1000
#define FRAMES_AT	0x2000
#define STRINGS_AT	0x2100
#define NOTE_AT		0x2140
#define SECTIONS_AT	0x2180
#define IMAGE_SIZE	(SECTIONS_AT + 4 * sizeof(Elf64_Shdr))

#define NPHDRS		2

/* A shared object of one function, with section headers and a build-id. */
struct image {
	union {
		u8		bytes[0x4000];
		Elf64_Ehdr	eh;
	};
	size_t	size;
};

static Elf64_Phdr *image_phdr(struct image *image, size_t n)
{
	return (Elf64_Phdr *)(image->bytes + sizeof(Elf64_Ehdr)) + n;
}

static Elf64_Shdr *image_shdr(struct image *image, size_t n)
{
	return (Elf64_Shdr *)(image->bytes + SECTIONS_AT) + n;
}

static const u8 frames[] = {
	/* CIE: version 1, no augmentation, CFA = rsp+8, RA at CFA-8 */
	20, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1, 0, 0, 0, 0, 0, 0,
	/* FDE: 16 bytes at TEXT_AT */
	20, 0, 0, 0, 28, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0,
	0, 0, 0, 0,
};

static const char strings[] = "\0.eh_frame\0.strings";

static const u8 note[] = {
	4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0,
	1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
};

static void image_make(struct image *image)
{
	memset(image, 0, sizeof(*image));
	image->size = IMAGE_SIZE;
	image->eh = (Elf64_Ehdr){
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_phoff = sizeof(Elf64_Ehdr), .e_shoff = SECTIONS_AT,
		.e_ehsize = sizeof(Elf64_Ehdr), .e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = NPHDRS, .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 3, .e_shstrndx = 2,
	};
	*image_phdr(image, 0) = (Elf64_Phdr){
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = TEXT_AT, .p_vaddr = TEXT_AT,
		.p_filesz = 0x100, .p_memsz = 0x100, .p_align = 0x1000,
	};
	*image_phdr(image, 1) = (Elf64_Phdr){
		.p_type = PT_NOTE, .p_flags = PF_R, .p_offset = NOTE_AT, .p_vaddr = NOTE_AT,
		.p_filesz = sizeof(note), .p_align = 4,
	};
	*image_shdr(image, 1) = (Elf64_Shdr){
		.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_addr = FRAMES_AT, .sh_offset = FRAMES_AT,
		.sh_size = sizeof(frames),
	};
	*image_shdr(image, 2) = (Elf64_Shdr){
		.sh_name = 11, .sh_type = SHT_STRTAB, .sh_offset = STRINGS_AT,
		.sh_size = sizeof(strings),
	};
	memset(image->bytes + TEXT_AT, 0x90, 0x100);
	memcpy(image->bytes + FRAMES_AT, frames, sizeof(frames));
	memcpy(image->bytes + STRINGS_AT, strings, sizeof(strings));
	memcpy(image->bytes + NOTE_AT, note, sizeof(note));
}

/* The error of the last file that was refused. */
static struct bee_error why;

/* Write the bytes to a file, the same one each time.  Return: its descriptor. */
static int file_of(const void *bytes, size_t size)
{
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("compile_test", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, size) ||
	    (size && pwrite(fd, bytes, size, 0) != (ssize_t)size)) {
		perror("memfd");
		exit(KSFT_FAIL);
	}
	return fd;
}

static int compile_bytes(const void *bytes, size_t size, struct compile_result *result)
{
	return compile_elf(file_of(bytes, size), NULL, result, &why);
}

/* Did the compiler return -1 without a table and with an error of one line? */
static bool is_clean_failure(int ret, const struct compile_result *result)
{
	return ret == -1 && !result->blob && strlen(why.text) > 5 &&
	       !strchr(why.text, '\n');
}

static void expect_refused(const char *name, int ret, struct compile_result *result,
			   const char *message)
{
	bool good = is_clean_failure(ret, result) && strstr(why.text, message);

	if (!good)
		ksft_print_msg("%d \"%s\", not \"%s\"\n", ret, why.text, message);
	ksft_test_result(good, "%s\n", name);
	compile_result_free(result);
}

static void refuse_image(const char *name, const struct image *image, const char *message)
{
	struct compile_result result;
	int ret = compile_bytes(image->bytes, image->size, &result);

	expect_refused(name, ret, &result, message);
}

static void refuse_path(const char *path, const char *message)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct compile_result result;
	int ret = compile_elf(fd, NULL, &result, &why);

	expect_refused(path, ret, &result, message);
	close(fd);
}

/* A change of one field of the good file, and the answer that it must give. */
struct patch {
	const char	*name;
	size_t		 at;
	unsigned int	 size;
	u64		 value;
	const char	*message;
};

#define EH(field)	offsetof(Elf64_Ehdr, field)
#define PH(n, field)	(sizeof(Elf64_Ehdr) + (n) * sizeof(Elf64_Phdr) + \
			 offsetof(Elf64_Phdr, field))
#define SH(n, field)	(SECTIONS_AT + (n) * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, field))

static const struct patch patches[] = {
	{ "bad magic", 0, 1, 0x7e, "not an ELF file" },
	{ "32-bit", EI_CLASS, 1, ELFCLASS32, "32-bit" },
	{ "unknown class", EI_CLASS, 1, 3, "unknown ELF class 3" },
	{ "big endian", EI_DATA, 1, ELFDATA2MSB, "big-endian" },
	{ "unknown byte order", EI_DATA, 1, 7, "unknown ELF byte order 7" },
	{ "AArch64", EH(e_machine), 2, EM_AARCH64, "AArch64" },
	{ "i386", EH(e_machine), 2, EM_386, "i386" },
	{ "unknown machine", EH(e_machine), 2, 4711, "e_machine 4711" },
	{ "relocatable", EH(e_type), 2, ET_REL, "relocatable" },
	{ "core", EH(e_type), 2, ET_CORE, "core dump" },
	{ "unknown type", EH(e_type), 2, 9, "e_type 9" },
	{ "no program headers", EH(e_phnum), 2, 0, "no program headers" },
	{ "odd e_phentsize", EH(e_phentsize), 2, 55, "e_phentsize" },
	{ "odd e_shentsize", EH(e_shentsize), 2, 63, "e_shentsize" },
	{ "program headers past the end", EH(e_phoff), 8, IMAGE_SIZE - 8,
	  "program headers lie past" },
	{ "program headers wrap", EH(e_phoff), 8, -8ull, "program headers lie past" },
	{ "section headers past the end", EH(e_shoff), 8, IMAGE_SIZE,
	  "no .eh_frame or .debug_frame" },
	{ "too many section headers", EH(e_shnum), 2, 9,
	  "no .eh_frame or .debug_frame" },
	{ "segment past the end", PH(0, p_filesz), 8, IMAGE_SIZE, "segment lies past" },
	{ "segment offset past the end", PH(0, p_offset), 8, -16ull, "segment lies past" },
	{ "segment wraps", PH(0, p_vaddr), 8, -16ull, "wraps" },
	{ "note past the end", PH(1, p_filesz), 8, -1ull, "segment lies past" },
	{ "no executable segment", PH(0, p_flags), 4, PF_R, "no executable segment" },
	{ "section past the end", SH(1, sh_size), 8, IMAGE_SIZE, "section .eh_frame lies past" },
	{ "section offset past the end", SH(1, sh_offset), 8, -1ull,
	  "section .eh_frame lies past" },
	{ "no .eh_frame", SH(1, sh_type), 4, SHT_NOBITS, "no .eh_frame or .debug_frame" },
	{ "empty .eh_frame", SH(1, sh_size), 8, 0, "no .eh_frame or .debug_frame" },
	{ "terminator only", FRAMES_AT, 4, 0, "no readable FDE" },
	{ "code elsewhere", FRAMES_AT + 34, 1, 0x40, "no FDE describes code" },
};

static void test_patch(const struct patch *p)
{
	u64 value = p->value;
	struct image image;

	image_make(&image);
	memcpy(image.bytes + p->at, &value, p->size);
	refuse_image(p->name, &image, p->message);
}

static bool blob_has_id(const struct compile_result *result, u8 type, u8 len, u8 first)
{
	const struct bee_table_header *h = result->blob;

	return h->id_type == type && h->id_len == len && (len != 20 || h->id[0] == first);
}

static void test_good(void)
{
	struct compile_result result;
	struct image image;
	int ret;

	image_make(&image);
	ret = compile_bytes(image.bytes, image.size, &result);
	ksft_test_result(!ret && result.rows == 1 && !result.unsupported, "a good file: %s\n",
			 ret ? why.text : "accepted");
	ksft_test_result(!ret && blob_has_id(&result, BEE_ID_BUILD_ID, 20, 1), "a file's table has its build-id\n");
	compile_result_free(&result);

	image_phdr(&image, 1)->p_type = PT_NULL;
	ret = compile_bytes(image.bytes, image.size, &result);
	ksft_test_result(!ret && blob_has_id(&result, BEE_ID_SHA256, 32, 0),
			 "a table of a file without a build-id has its SHA-256\n");
	compile_result_free(&result);

	image_make(&image);
	image.bytes[NOTE_AT + 4] = 200;
	ret = compile_bytes(image.bytes, image.size, &result);
	ksft_test_result(!ret && blob_has_id(&result, BEE_ID_SHA256, 32, 0),
			 "a table of a file whose build-id runs past its note has its SHA-256\n");
	compile_result_free(&result);
}

static void test_digest(void)
{
	struct compile_result result;
	u8 digest[SHA256_DIGEST_LENGTH];
	struct image image;
	SHA2_CTX context;
	int ret;

	image_make(&image);
	image_phdr(&image, 1)->p_type = PT_NULL;
	SHA256Init(&context);
	SHA256Update(&context, image.bytes, image.size);
	SHA256Final(digest, &context);
	ret = compile_bytes(image.bytes, image.size, &result);
	ksft_test_result(!ret && !memcmp(((struct bee_table_header *)result.blob)->id, digest,
					 sizeof(digest)), "the digest of a table is the file's\n");
	compile_result_free(&result);
}

static void test_truncations(void)
{
	struct compile_result result;
	struct image image;
	bool good = true;
	size_t size;
	int ret;

	image_make(&image);
	/* Between the program headers and .eh_frame is only text: there one size in 64 will do. */
	for (size = 0; size < image.size; size += size < 0x100 || size >= FRAMES_AT ? 1 : 64) {
		/* The space behind the third section header is not used. */
		ret = compile_bytes(image.bytes, size, &result);
		if (size < image.size - sizeof(Elf64_Shdr) && !is_clean_failure(ret, &result)) {
			ksft_print_msg("%zu bytes: %d \"%s\"\n", size, ret, why.text);
			good = false;
		}
		compile_result_free(&result);
	}
	ksft_test_result(good, "truncated files are refused\n");
}

/*
 * Set each byte of each structure to one of values[], or with @all to each of them in turn.  The
 * compiler may accept or refuse the file; it must not crash.
 */
static void test_mutations(bool all)
{
	static const u8 values[] = { 0, 1, 0x7f, 0x80, 0xff };
	struct compile_result result;
	struct image image;
	bool good = true;
	size_t at, v;
	int ret;

	image_make(&image);
	for (at = 0; at < image.size; at++) {
		u8 original = image.bytes[at];

		if (at == 0xc0)
			at = FRAMES_AT;
		for (v = all ? 0 : at % sizeof(values); v < sizeof(values); v += all ? 1 : 5) {
			image.bytes[at] = values[v];
			ret = compile_bytes(image.bytes, image.size, &result);
			good &= !ret ? !!result.blob : is_clean_failure(ret, &result);
			compile_result_free(&result);
		}
		image.bytes[at] = original;
	}
	ksft_test_result(good, "a file with any byte changed gets a table or a message\n");
}

/* version 1, pcrel sdata4, udata4, datarel sdata4; two FDEs, the second behind a terminator */
static const u8 hdr[] = {
	1, 0x1b, 0x03, 0x3b, 0xfc, 0xfe, 0xff, 0xff, 2, 0, 0, 0,
	0, 0xef, 0xff, 0xff, 24, 0xff, 0xff, 0xff,
	0x20, 0xef, 0xff, 0xff, 52, 0xff, 0xff, 0xff,
};

#define HDR_AT		(FRAMES_AT + 0x100)

/*
 * Without section headers .eh_frame is found through PT_GNU_EH_FRAME.  The search table shows
 * that .eh_frame goes on behind a terminator; without that table it ends at the terminator.
 */
static void test_hdr(void)
{
	struct compile_result result;
	struct image image;
	u8 *second;
	int ret;

	image_make(&image);
	image.eh.e_shoff = image.eh.e_shnum = image.eh.e_shstrndx = 0;
	image.size = sizeof(image.bytes);
	second = image.bytes + FRAMES_AT + sizeof(frames);
	memcpy(second, frames + 24, 24);
	second[4] = sizeof(frames) + 4;
	second[8] = 0x20;
	/* Behind the second FDE are bytes that look like an FDE but are none. */
	memcpy(second + 24, second, 24);
	second[24 + 4] += 24;
	second[24 + 8] = 0x40;
	memcpy(image.bytes + HDR_AT, hdr, sizeof(hdr));
	image_phdr(&image, 0)->p_filesz = 0x2000;
	*image_phdr(&image, 1) = (Elf64_Phdr){
		.p_type = PT_GNU_EH_FRAME, .p_offset = HDR_AT, .p_vaddr = HDR_AT,
		.p_filesz = sizeof(hdr),
	};
	ret = compile_bytes(image.bytes, image.size, &result);
	ksft_test_result(!ret && ((struct bee_table_header *)result.blob)->span == 0x30,
			 "rows are found by a PT_GNU_EH_FRAME with a search table\n");
	compile_result_free(&result);

	image.bytes[HDR_AT + 2] = 0xff;
	ret = compile_bytes(image.bytes, image.size, &result);
	ksft_test_result(!ret && ((struct bee_table_header *)result.blob)->span == 0x10,
			 "rows are found by a PT_GNU_EH_FRAME without a search table\n");
	compile_result_free(&result);

	image.bytes[HDR_AT] = 2;
	refuse_image("PT_GNU_EH_FRAME of another version", &image, "no readable FDE");
}

/* Text of more than 4 GiB: two segments far apart. */
static void test_span(void)
{
	struct image image;

	image_make(&image);
	*image_phdr(&image, 1) = *image_phdr(&image, 0);
	image_phdr(&image, 1)->p_vaddr = 0x200000000;
	memcpy(image.bytes + FRAMES_AT + sizeof(frames) - 4, frames + 24, 28);
	image.bytes[FRAMES_AT + sizeof(frames)] = 52;
	image.bytes[FRAMES_AT + sizeof(frames) + 8] = 2;
	image.bytes[FRAMES_AT + sizeof(frames) + 5] = 0;
	image_shdr(&image, 1)->sh_size = sizeof(frames) + 24;
	refuse_image("more than 4 GiB", &image, "more than 4 GiB of text");
}

/* With an argument, whatever it is, test_mutations() tries all values. */
int main(int argc, char **argv)
{
	const size_t npatches = sizeof(patches) / sizeof(patches[0]);
	struct image empty = {};
	size_t i;

	(void)argv;
	ksft_print_header();
	ksft_set_plan(4 + 1 + npatches + 4 + 2 + 3 + 1);
	test_good();
	test_digest();
	for (i = 0; i < npatches; i++)
		test_patch(&patches[i]);
	refuse_image("empty file", &empty, "empty file");
	refuse_path("/tmp", "is a directory");
	refuse_path("/dev/null", "not a regular file");
	refuse_path("/etc/passwd", "not an ELF file");
	test_truncations();
	test_mutations(argc > 1);
	test_hdr();
	test_span();
	ksft_finished();
}
