// SPDX-License-Identifier: GPL-2.0
/*
 * The rows of a file as libdw tells them: function by function, range by range, with the rules of
 * the CFA, rbp and the return address.  The only file here that uses libdw.
 */
#include <elfutils/libdw.h>
#include <libelf.h>
#include <stdlib.h>

#include "bench.h"

#define RBP	6
#define RA	16

static u64 libdw_row(Dwarf_Frame *frame)
{
	Dwarf_Addr start, end;
	Dwarf_Op memory[3], *ops;
	size_t nops;
	bool signal;

	dwarf_frame_info(frame, &start, &end, &signal);
	dwarf_frame_cfa(frame, &ops, &nops);
	dwarf_frame_register(frame, RBP, memory, &ops, &nops);
	dwarf_frame_register(frame, RA, memory, &ops, &nops);
	return end;
}

static size_t libdw_function(Dwarf_CFI *cfi, u64 pc, u64 end)
{
	Dwarf_Frame *frame;
	size_t n = 0;

	for (; pc < end && !dwarf_cfi_addrframe(cfi, pc, &frame); n++) {
		pc = libdw_row(frame);
		free(frame);
	}
	return n;
}

/**
 * bench_libdw_rows() - enumerate the rows of a file
 * @fd: the file
 * @set: its function starts, so that libdw need not find them
 *
 * Return: how many ranges it has, 0 if libdw cannot tell.
 */
size_t bench_libdw_rows(int fd, const struct row_set *set)
{
	Elf *elf;
	Dwarf_CFI *cfi;
	size_t i, n = 0;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	cfi = elf ? dwarf_getcfi_elf(elf) : NULL;
	for (i = 0; cfi && i < set->nstarts; i++)
		n += libdw_function(cfi, set->starts[i],
				    i + 1 < set->nstarts ? set->starts[i + 1] : set->end);
	if (cfi)
		dwarf_cfi_end(cfi);
	elf_end(elf);
	return n;
}
