// SPDX-License-Identifier: GPL-2.0
/*
 * Where a file is started.  A table says that this code has no caller, so a wrong entry point makes
 * a cut stack look complete.  That is why verify reads the headers here once more, from the bytes
 * of the file.
 */
#include <elf.h>

#include "entry.h"

#define ENTRY_MAX_DYNAMIC	(1u << 20)

static const void *entry_bytes(const struct elf_file *elf, u64 offset, u64 size)
{
	const struct elf_segment file = { .size = elf->file_size };

	if (!size || offset > elf->file_size || size > elf->file_size - offset)
		return NULL;
	return elf_bytes(elf, &file, offset, size);
}

/* Is a shared object with this dynamic section a library, which only other programs use? */
static bool entry_is_library(const struct elf_file *elf, const Elf64_Phdr *dynamic)
{
	u64 size = dynamic->p_filesz < ENTRY_MAX_DYNAMIC ? dynamic->p_filesz : ENTRY_MAX_DYNAMIC;
	const Elf64_Dyn *d = entry_bytes(elf, dynamic->p_offset, size);
	bool library = false;
	size_t n;

	for (n = d ? size / sizeof(*d) : 0; n && d->d_tag != DT_NULL; n--, d++) {
		if (d->d_tag == DT_FLAGS_1 && d->d_un.d_val & DF_1_PIE)
			return false;
		/* The dynamic linker has none of these. */
		if (d->d_tag == DT_NEEDED || d->d_tag == DT_INIT_ARRAY ||
		    d->d_tag == DT_FINI_ARRAY)
			library = true;
	}
	return library;
}

/**
 * entry_find() - the first pc of a program
 * @elf: the file
 *
 * Return: e_entry; 0 if there is none, or if the file is a library.
 */
u64 entry_find(const struct elf_file *elf)
{
	const Elf64_Ehdr *h = entry_bytes(elf, 0, sizeof(*h));
	const Elf64_Phdr *ph, *dynamic = NULL;
	size_t i;

	if (!h || h->e_type == ET_EXEC)
		return h ? h->e_entry : 0;
	ph = entry_bytes(elf, h->e_phoff, (u64)h->e_phnum * sizeof(*ph));
	for (i = 0; ph && i < h->e_phnum; i++) {
		if (ph[i].p_type == PT_INTERP)
			return h->e_entry;
		if (ph[i].p_type == PT_DYNAMIC && !dynamic)
			dynamic = &ph[i];
	}
	return dynamic && entry_is_library(elf, dynamic) ? 0 : h->e_entry;
}
