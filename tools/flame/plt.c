// SPDX-License-Identifier: GPL-2.0
/*
 * Names for the procedure linkage table: "NAME@plt", as disassemblers call them.  An entry jumps
 * through a slot (ff 25 disp32), and a relocation says which symbol's address the slot gets (x86-64
 * psABI, 5.2).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "order.h"
#include "plt.h"

#define PLT_MAX_NAME	4096

/* A slot; @name points into the file. */
struct slot {
	u64		 address;
	const char	*name;
};

/* struct slots - ascending by address once they are sorted */
struct slots {
	struct slot	*slot;
	size_t		 count;
	size_t		 room;
};

static int slot_compare(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return order(x->address, y->address);
}

/* The slots that a section of relocations fills. */
static void slots_add(struct slots *slots, Elf *elf, Elf_Scn *section, const GElf_Shdr *shdr)
{
	Elf_Data *data = elf_getdata(section, NULL), *symbols;
	Elf_Scn *table = elf_getscn(elf, shdr->sh_link);
	GElf_Shdr table_shdr;
	const char *name;
	GElf_Rela rela;
	GElf_Sym sym;
	int i;

	symbols = table ? elf_getdata(table, NULL) : NULL;
	if (!data || !symbols || !gelf_getshdr(table, &table_shdr) ||
	    table_shdr.sh_type != SHT_DYNSYM)
		return;
	for (i = 0; gelf_getrela(data, i, &rela); i++) {
		unsigned int type = GELF_R_TYPE(rela.r_info);

		if ((type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) ||
		    !gelf_getsym(symbols, GELF_R_SYM(rela.r_info), &sym))
			continue;
		name = elf_strptr(elf, table_shdr.sh_link, sym.st_name);
		if (!name || !*name)
			continue;
		slots->slot = alloc_room(slots->slot, slots->count, &slots->room,
					 sizeof(*slots->slot));
		slots->slot[slots->count++] = (struct slot){ rela.r_offset, name };
	}
}

/* The slot that an entry at @address jumps through, or NULL. */
static const struct slot *slots_find(const struct slots *slots, const u8 *entry, size_t size,
				     u64 address)
{
	struct slot wanted = { 0 };
	size_t i;
	s32 to;

	for (i = 0; i + 6 <= size; i++) {
		if (entry[i] != 0xff || entry[i + 1] != 0x25)
			continue;
		memcpy(&to, entry + i + 2, sizeof(to));
		wanted.address = address + i + 6 + to;
		return bsearch(&wanted, slots->slot, slots->count, sizeof(wanted), slot_compare);
	}
	return NULL;
}

static void symbols_add_section(struct symbols *symbols, const struct slots *slots,
				Elf_Scn *section, const GElf_Shdr *shdr, u64 bias)
{
	size_t entry = shdr->sh_entsize == 8 ? 8 : 16, at;
	Elf_Data *data = elf_getdata(section, NULL);
	const struct slot *slot;
	struct symbol symbol;
	char *name;

	for (at = 0; data && data->d_buf && at + entry <= data->d_size; at += entry) {
		slot = slots_find(slots, (const u8 *)data->d_buf + at, entry, shdr->sh_addr + at);
		if (!slot || strlen(slot->name) > PLT_MAX_NAME)
			continue;
		/* Kept until the process ends, as all names of the file are. */
		if (asprintf(&name, "%s@plt", slot->name) < 0)
			alloc_check(NULL, 0);
		symbol = (struct symbol){ .start = shdr->sh_addr + at + bias, .name = name };
		symbol.end = symbol.limit = symbol.start + entry;
		symbols_add(symbols, &symbol);
	}
}

/** plt_add_symbols() - add the entries of all PLTs of a file; @bias: is added to its addresses */
void plt_add_symbols(struct symbols *symbols, Elf *elf, u64 bias)
{
	struct slots slots = { 0 };
	Elf_Scn *section = NULL;
	size_t strings;
	GElf_Shdr shdr;
	const char *name;

	if (elf_getshdrstrndx(elf, &strings))
		return;
	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &shdr) && shdr.sh_type == SHT_RELA)
			slots_add(&slots, elf, section, &shdr);
	if (slots.count)
		qsort(slots.slot, slots.count, sizeof(*slots.slot), slot_compare);
	while (slots.count && (section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &shdr) || shdr.sh_type != SHT_PROGBITS)
			continue;
		name = elf_strptr(elf, strings, shdr.sh_name);
		if (name && !strncmp(name, ".plt", 4))
			symbols_add_section(symbols, &slots, section, &shdr, bias);
	}
	free(slots.slot);
}
