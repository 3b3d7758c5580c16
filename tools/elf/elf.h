/* SPDX-License-Identifier: GPL-2.0 */
/* ELF files: what a table is made from. */
#ifndef BEE_ELF_H
#define BEE_ELF_H

#include <linux/types.h>
#include <linux/beeunwind_table.h>

#include "error.h"
#include "pointer.h"

#define ELF_MAX_FRAMES	8
#define ELF_MAX_TEXT	(64u << 10)
#define ELF_MAX_BYTES	(512u << 20)

struct Elf;
struct reader;

/**
 * struct elf_segment - a PT_LOAD
 * @vaddr: p_vaddr
 * @offset: p_offset
 * @size: p_filesz
 */
struct elf_segment {
	u64	vaddr;
	u64	offset;
	u64	size;
};

/**
 * struct elf_frames - a section of CIEs and FDEs
 * @data: its bytes
 * @size: how many
 * @debug_frame: .debug_frame, not .eh_frame
 * @stop_at_zero: @size is a guess, so the zero terminator is the end
 * @base: for its encoded pointers
 */
struct elf_frames {
	const u8		*data;
	size_t			 size;
	bool			 debug_frame;
	bool			 stop_at_zero;
	struct pointer_base	 base;
};

/**
 * struct elf_file - an ELF file
 * @handle: libelf's
 * @reader: reads the file; @handle and @reader own all bytes that the other members point to
 * @file_size: bytes of the file
 * @shared: ET_DYN
 * @entry: e_entry; 0 if there is none, or if the file cannot be started (a library)
 * @loads: every PT_LOAD, as in the file
 * @nloads: entries in @loads
 * @text: those of @loads that are executable and not empty, ascending by vaddr, not overlapping
 * @ntext: entries in @text
 * @frames: .eh_frame sections, then .debug_frame sections; see elf_read_cfi()
 * @nframes: entries in @frames
 * @hdr: PT_GNU_EH_FRAME; @size 0 if there is none
 * @bare: there are no section headers, or they lie past the end of the file
 * @is_go: Go's linker has made the file, or a part of it; see elf_read_cfi()
 * @gopclntab: section that is Go's function table, or has it somewhere; @size 0 if there is none
 * @go_module: section with the struct moduledata of Go's runtime; @size 0 if there is none
 * @rela: DT_RELA; @offset unused, @size DT_RELASZ
 * @pltgot: DT_PLTGOT
 * @has_pltgot: there is one
 * @id_type: enum bee_table_id_type
 * @id_len: bytes of @id in use
 * @id: build-id, or digest of the file
 */
struct elf_file {
	struct Elf		*handle;
	struct reader		*reader;
	u64			 file_size;
	bool			 shared;
	u64			 entry;
	struct elf_segment	*loads;
	size_t			 nloads;
	struct elf_segment	 text[BEE_TABLE_MAX_SEGMENTS];
	size_t			 ntext;
	struct elf_frames	 frames[ELF_MAX_FRAMES];
	size_t			 nframes;
	struct elf_segment	 hdr;
	bool			 bare;
	bool			 is_go;
	struct elf_segment	 gopclntab;
	struct elf_segment	 go_module;
	struct elf_segment	 rela;
	u64			 pltgot;
	bool			 has_pltgot;
	u8			 id_type;
	u8			 id_len;
	u8			 id[BEE_TABLE_ID_MAX];
};

/**
 * struct elf_section - a section
 * @vaddr: sh_addr
 * @size: sh_size
 * @type: sh_type
 * @flags: sh_flags
 * @index: its number
 * @name: its name
 */
struct elf_section {
	u64		 vaddr;
	u64		 size;
	u32		 type;
	u64		 flags;
	size_t		 index;
	const char	*name;
};

typedef void (*elf_function_fn)(void *arg, u64 pc, const char *name);
typedef void (*elf_section_fn)(void *arg, const struct elf_section *section);

bool elf_is_candidate(int fd);
int elf_identify(struct elf_file *elf, int fd, struct bee_error *error);
int elf_read_cfi(struct elf_file *elf, struct bee_error *error);
int elf_open(struct elf_file *elf, int fd, struct bee_error *error);
void elf_close(struct elf_file *elf);
const struct elf_segment *elf_find_text(const struct elf_file *elf, u64 vaddr);
const struct elf_segment *elf_find_load(const struct elf_file *elf, u64 vaddr);
bool elf_find_addend(const struct elf_file *elf, u64 vaddr, u64 *addend);
const char *elf_find_symbol(const struct elf_file *elf, u64 vaddr, u64 *offset);
bool elf_find_object(const struct elf_file *elf, const char *name, u64 *vaddr);
void elf_each_function(const struct elf_file *elf, elf_function_fn function, void *arg, bool named);
void elf_each_section(const struct elf_file *elf, elf_section_fn section, void *arg);
const u8 *elf_section_bytes(const struct elf_file *elf, size_t index, u64 *size, u32 *link);
size_t elf_code_sections(const struct elf_file *elf, struct elf_segment **sections);
const u8 *elf_bytes(const struct elf_file *elf, const struct elf_segment *segment, u64 vaddr,
			u64 size);
const u8 *elf_data(const struct elf_file *elf, u64 vaddr, u64 size);
const u8 *elf_text(const struct elf_file *elf, u64 vaddr, u64 *size);
const u8 *elf_text_spot(const struct elf_file *elf, u64 vaddr, u64 *size);
bool elf_text_is(const struct elf_file *elf, u64 vaddr, const u8 *code, u64 size);
int elf_check(const struct elf_file *elf, struct bee_error *error);
u64 elf_frames_size(const struct elf_file *elf);

#endif /* BEE_ELF_H */
