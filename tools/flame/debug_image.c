// SPDX-License-Identifier: GPL-2.0
/*
 * ELF files whose debug sections are inflated, as far as they are read.  When libdw opens a file it
 * inflates all compressed sections that it knows, with zlib; that can take longer than everything
 * else that is done with the file.  libdeflate needs less than half the time, and half a dozen of
 * these sections are never asked for.
 */
#include <gelf.h>
#include <libdeflate.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "debug_image.h"
#include "inlines.h"
#include "io.h"

#define IMAGE_MAX_BYTES		(8ull << 30)
#define DEFLATE_MAX_RATIO	1032	/* two bits for 258 bytes (RFC 1951, 3.2.5) */
#define IMAGE_PAGE		4096ull

/*
 * The sections that libdw inflates.  @is_read: inlines.c asks for something that is in it, or in
 * what leads there.
 */
static const struct debug_section {
	const char	*name;
	bool		 is_read;
} debug_sections[] = {
	{ ".debug_info", true }, { ".debug_types", true }, { ".debug_abbrev", true },
	{ ".debug_line", true }, { ".debug_line_str", true },
	{ ".debug_str", true }, { ".debug_str_offsets", true },
	{ ".debug_ranges", true }, { ".debug_rnglists", true }, { ".debug_addr", true },
	{ ".debug_aranges", false }, { ".debug_pubnames", false }, { ".debug_frame", false },
	{ ".debug_loc", false }, { ".debug_loclists", false },
	{ ".debug_macinfo", false }, { ".debug_macro", false },
};

#define DEBUG_SECTIONS	(sizeof(debug_sections) / sizeof(debug_sections[0]))

/**
 * struct image - a file in memory, made of another
 * @from: the other file's bytes
 * @from_size: bytes of @from
 * @copied: up to here it has been copied, or is not needed
 * @to: the file in memory
 * @size: bytes of the file in memory
 * @most: more it is not to have
 * @inflate: libdeflate's
 * @index: of each of debug_sections, its number in the file; 0: it has not come
 * @header: of each of debug_sections, its section header in the image
 * @is_replaced: of each of debug_sections, whether @header differs from the one in the file
 */
struct image {
	int				 from;
	u64				 from_size;
	u64				 copied;
	int				 to;
	u64				 size;
	u64				 most;
	struct libdeflate_decompressor	*inflate;
	size_t				 index[DEBUG_SECTIONS];
	GElf_Shdr			 header[DEBUG_SECTIONS];
	bool				 is_replaced[DEBUG_SECTIONS];
};

/* Copy what is before an offset and has not been copied.  What is left out is a hole. */
static bool image_copy(struct image *image, u64 end)
{
	off_t at = image->copied;

	if (lseek(image->to, at, SEEK_SET) < 0)
		return false;
	while ((u64)at < end)
		if (sendfile(image->to, image->from, &at, end - at) <= 0)
			return false;
	return true;
}

/* Map a part of a file.  Return: its first byte, or NULL.  @map, @mapped: for munmap() */
static u8 *file_map(int fd, u64 offset, u64 size, bool is_written, void **map, size_t *mapped)
{
	u64 before = offset % IMAGE_PAGE;

	*mapped = before + size;
	*map = mmap(NULL, *mapped, is_written ? PROT_READ | PROT_WRITE : PROT_READ,
		    is_written ? MAP_SHARED | MAP_POPULATE : MAP_PRIVATE, fd, offset - before);
	return *map == MAP_FAILED ? NULL : (u8 *)*map + before;
}

/* Inflate a part of the file to an offset of the image.  Return: whether these are @size bytes. */
static bool image_inflate(struct image *image, u64 from, u64 from_size, u64 to, u64 size)
{
	size_t in_mapped, out_mapped;
	bool is_good = false;
	void *in_map, *out_map;
	u8 *in, *out;

	in = file_map(image->from, from, from_size, false, &in_map, &in_mapped);
	if (!in)
		return false;
	out = file_map(image->to, to, size, true, &out_map, &out_mapped);
	if (out) {
		is_good = libdeflate_zlib_decompress(image->inflate, in, from_size, out, size,
						     NULL) == LIBDEFLATE_SUCCESS;
		munmap(out_map, out_mapped);
	}
	munmap(in_map, in_mapped);
	return is_good;
}

/* Append a section, inflated.  Return: whether it can be; if not, libdw will judge it. */
static bool image_append(struct image *image, GElf_Shdr *shdr)
{
	u64 to = (image->size + IMAGE_PAGE - 1) / IMAGE_PAGE * IMAGE_PAGE;
	Elf64_Chdr chdr;

	if (shdr->sh_size <= sizeof(chdr) ||
	    io_read_at(image->from, &chdr, sizeof(chdr), shdr->sh_offset) != sizeof(chdr) ||
	    chdr.ch_type != ELFCOMPRESS_ZLIB || !chdr.ch_size ||
	    chdr.ch_addralign & (chdr.ch_addralign - 1) ||
	    chdr.ch_size / DEFLATE_MAX_RATIO > shdr->sh_size || to > image->most ||
	    chdr.ch_size > image->most - to || ftruncate(image->to, to + chdr.ch_size) ||
	    !image_inflate(image, shdr->sh_offset + sizeof(chdr), shdr->sh_size - sizeof(chdr), to,
			   chdr.ch_size))
		return false;
	image->size = to + chdr.ch_size;
	shdr->sh_offset = to;
	shdr->sh_size = chdr.ch_size;
	shdr->sh_addralign = chdr.ch_addralign;
	return true;
}

/*
 * Replace a section.  libdw takes the first one of a name, so the others stay as they are.
 * Return: false if the file cannot be copied.
 */
static bool image_replace(struct image *image, size_t at, size_t index, const GElf_Shdr *shdr)
{
	GElf_Shdr *header = &image->header[at];

	if (image->index[at] || shdr->sh_type == SHT_NOBITS ||
	    shdr->sh_offset > image->from_size ||
	    shdr->sh_size > image->from_size - shdr->sh_offset)
		return true;
	image->index[at] = index;
	*header = *shdr;
	if (!debug_sections[at].is_read)
		header->sh_type = SHT_NOBITS;
	else if (!image_append(image, header))
		return true;
	header->sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
	image->is_replaced[at] = true;
	/* A section that overlaps the one before it: up to @copied the file has been copied, or is a hole. */
	if (shdr->sh_offset < image->copied)
		return true;
	if (!image_copy(image, shdr->sh_offset))
		return false;
	image->copied = shdr->sh_offset + shdr->sh_size;
	return true;
}

/* The sections that are replaced, then the rest of the file.  Return: whether that is an image. */
static bool image_fill(struct image *image, Elf *elf, const GElf_Ehdr *ehdr)
{
	Elf_Scn *section = NULL;
	size_t strings, at;
	bool any = false;
	GElf_Shdr shdr;
	const char *name;

	if (elf_getshdrstrndx(elf, &strings))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &shdr) || !(shdr.sh_flags & SHF_COMPRESSED))
			continue;
		name = elf_strptr(elf, strings, shdr.sh_name);
		for (at = 0; name && at < DEBUG_SECTIONS; at++)
			if (!strcmp(name, debug_sections[at].name) &&
			    !image_replace(image, at, elf_ndxscn(section), &shdr))
				return false;
	}
	for (at = 0; at < DEBUG_SECTIONS; at++)
		any |= image->is_replaced[at];
	if (!any || !image_copy(image, image->from_size))
		return false;
	for (at = 0; at < DEBUG_SECTIONS; at++)
		if (image->is_replaced[at] &&
		    pwrite(image->to, &image->header[at], sizeof(Elf64_Shdr),
			   ehdr->e_shoff + image->index[at] * sizeof(Elf64_Shdr)) !=
		    sizeof(Elf64_Shdr))
			return false;
	return true;
}

/* Bytes that an image may have: half of the machine's memory at most. */
static u64 image_most(void)
{
	u64 half = (u64)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / 2;

	return half < IMAGE_MAX_BYTES ? half : IMAGE_MAX_BYTES;
}

/* Is it of the kind that is known here?  Sections of objects have relocations, too. */
static bool elf_has_image(Elf *elf, GElf_Ehdr *ehdr)
{
	return elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, ehdr) &&
	       ehdr->e_ident[EI_CLASS] == ELFCLASS64 && ehdr->e_ident[EI_DATA] == ELFDATA2LSB &&
	       ehdr->e_shentsize == sizeof(Elf64_Shdr) && ehdr->e_type != ET_REL;
}

/**
 * debug_image_open() - what libdw should read in place of a file
 * @fd: the file; closed, unless it is returned
 *
 * Return: a file in memory with the same content, except that compressed debug sections are
 * inflated, or empty if beectl does not read them; @fd if it has no such sections, or if no file in
 * memory can be made.
 */
int debug_image_open(int fd)
{
	struct image image = { .from = fd, .to = -1 };
	GElf_Ehdr ehdr;
	struct stat st;
	bool is_good;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	is_good = elf_has_image(elf, &ehdr) && !fstat(fd, &st);
	if (is_good) {
		image.from_size = image.size = st.st_size;
		image.most = image_most();
		is_good = image.from_size <= image.most;
	}
	if (is_good) {
		image.to = io_memfd("debug", NULL, 0);
		image.inflate = libdeflate_alloc_decompressor();
		is_good = image.to >= 0 && !ftruncate(image.to, image.size) && image.inflate &&
			  image_fill(&image, elf, &ehdr);
		/* libdw looks for .dwo files beside the file: a file in memory has no directory. */
		is_good = is_good && !inlines_are_split(image.to);
		libdeflate_free_decompressor(image.inflate);
	}
	elf_end(elf);
	if (is_good)
		close(fd);
	else if (image.to >= 0)
		close(image.to);
	return is_good ? image.to : fd;
}
