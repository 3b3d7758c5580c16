// SPDX-License-Identifier: GPL-2.0
/*
 * Words that the dynamic linker relocates (gABI, "Relocation"; psABI 4.4): sections of RELA and RELR
 * that are loaded.
 */
#include <elf.h>
#include <string.h>

#include "alloc.h"
#include "order.h"
#include "relocs.h"

#ifndef SHT_RELR
#define SHT_RELR	19
#endif

#define RELR_WORDS	63	/* words that an odd entry stands for */

/**
 * struct relocs_reader - relocations being read
 * @elf: the file
 * @relocs: what has been read
 */
struct relocs_reader {
	const struct elf_file	*elf;
	struct relocs		*relocs;
};

static void relocs_add(struct relocs *relocs, u64 where, u64 value, const char *name)
{
	relocs->cut |= relocs->count == RELOCS_MAX;
	if (relocs->cut)
		return;
	relocs->list = alloc_room(relocs->list, relocs->count, &relocs->room,
				  sizeof(*relocs->list));
	relocs->list[relocs->count++] = (struct reloc){ where, value, name };
}

/* The symbols of a table, and their names. */
struct relocs_symbols {
	const u8	*bytes;
	u64		 size;
	const char	*names;
	u64		 names_size;
};

static struct relocs_symbols symbols_of(const struct elf_file *elf, u32 section)
{
	struct relocs_symbols s = {};
	u32 link = 0, none;

	s.bytes = elf_section_bytes(elf, section, &s.size, &link);
	s.names = s.bytes ? (const char *)elf_section_bytes(elf, link, &s.names_size, &none) : NULL;
	/* All names then end within the table. */
	if (s.names && s.names[s.names_size - 1])
		s.names = NULL;
	return s;
}

static void relocs_add_symbol(struct relocs *relocs, const Elf64_Rela *rela, const struct relocs_symbols *s)
{
	u32 type = ELF64_R_TYPE(rela->r_info);
	bool slot = type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
	u64 at = (u64)ELF64_R_SYM(rela->r_info) * sizeof(Elf64_Sym), value = 0;
	const char *name = NULL;
	Elf64_Sym sym;

	if (!s->bytes || s->size < sizeof(sym) || at > s->size - sizeof(sym) ||
	    (!slot && type != R_X86_64_64))
		return;
	memcpy(&sym, s->bytes + at, sizeof(sym));
	if (sym.st_shndx != SHN_UNDEF)
		value = sym.st_value + (slot ? 0 : rela->r_addend);
	if (slot && s->names && sym.st_name < s->names_size)
		name = s->names + sym.st_name;
	relocs_add(relocs, rela->r_offset, value, name);
}

static void relocs_read_rela(struct relocs_reader *r, const u8 *bytes, u64 size, u32 link)
{
	struct relocs_symbols symbols = symbols_of(r->elf, link);
	Elf64_Rela rela;
	u64 at;

	for (at = 0; size - at >= sizeof(rela); at += sizeof(rela)) {
		memcpy(&rela, bytes + at, sizeof(rela));
		switch (ELF64_R_TYPE(rela.r_info)) {
		case R_X86_64_RELATIVE:
		case R_X86_64_IRELATIVE:
			relocs_add(r->relocs, rela.r_offset, rela.r_addend, NULL);
			break;
		default:
			relocs_add_symbol(r->relocs, &rela, &symbols);
		}
	}
}

/* The word is its own addend. */
static void relocs_add_word(struct relocs_reader *r, u64 where)
{
	const u8 *bytes = elf_data(r->elf, where, sizeof(u64));
	u64 value;

	if (!bytes)
		return;
	memcpy(&value, bytes, sizeof(value));
	relocs_add(r->relocs, where, value, NULL);
}

/* An even entry is an address; an odd one has a bit for each of the words behind the last address. */
static void relocs_read_relr(struct relocs_reader *r, const u8 *bytes, u64 size)
{
	u64 at, entry, where = 0;
	unsigned int i;

	for (at = 0; size - at >= sizeof(entry) && !r->relocs->cut; at += sizeof(entry)) {
		memcpy(&entry, bytes + at, sizeof(entry));
		if (!(entry & 1)) {
			relocs_add_word(r, entry);
			where = entry + sizeof(entry);
			continue;
		}
		for (i = 0; i < RELR_WORDS; i++)
			if (entry >> (i + 1) & 1)
				relocs_add_word(r, where + i * sizeof(entry));
		where += RELR_WORDS * sizeof(entry);
	}
}

/* An elf_section_fn */
static void relocs_read_section(void *arg, const struct elf_section *section)
{
	struct relocs_reader *r = arg;
	const u8 *bytes;
	u64 size;
	u32 link;

	if (!(section->flags & SHF_ALLOC) ||
	    (section->type != SHT_RELA && section->type != SHT_RELR))
		return;
	bytes = elf_section_bytes(r->elf, section->index, &size, &link);
	if (bytes && section->type == SHT_RELA)
		relocs_read_rela(r, bytes, size, link);
	else if (bytes)
		relocs_read_relr(r, bytes, size);
}

static int reloc_order(const void *a, const void *b)
{
	const struct reloc *x = a, *y = b;

	return order(x->where, y->where);
}

/**
 * relocs_read() - read the relocations of a file
 * @elf: the file; has to outlive @relocs
 * @relocs: filled; relocs_free() releases it
 */
void relocs_read(const struct elf_file *elf, struct relocs *relocs)
{
	struct relocs_reader reader = { .elf = elf, .relocs = relocs };

	*relocs = (struct relocs){};
	elf_each_section(elf, relocs_read_section, &reader);
	if (relocs->count)
		qsort(relocs->list, relocs->count, sizeof(*relocs->list), reloc_order);
}

/* relocs_find(): the relocation of the word at @where, or NULL */
const struct reloc *relocs_find(const struct relocs *relocs, u64 where)
{
	size_t upto = order_upto(relocs->list, relocs->count, sizeof(*relocs->list),
				 offsetof(struct reloc, where), where);

	return upto && relocs->list[upto - 1].where == where ? &relocs->list[upto - 1] : NULL;
}

/* relocs_free(): release what relocs_read() filled */
void relocs_free(struct relocs *relocs)
{
	free(relocs->list);
	*relocs = (struct relocs){};
}
