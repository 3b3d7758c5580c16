// SPDX-License-Identifier: GPL-2.0
/*
 * Enumerate the rows of a file with libdw: function by function, range by range, with the rules
 * of the CFA, rbp and the return address.  The only file here that uses libdw.
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
 * bench_libdw_open() - open a file for libdw
 * @fd: the file; needed until bench_libdw_close()
 *
 * Return: the file, or NULL.
 */
struct Elf *bench_libdw_open(int fd)
{
	elf_version(EV_CURRENT);
	return elf_begin(fd, ELF_C_READ_MMAP, NULL);
}

void bench_libdw_close(struct Elf *elf)
{
	elf_end(elf);
}

/**
 * bench_libdw_rows() - enumerate the rows of an open file
 * @elf: the file; what libdw learns of its FDEs is dropped again at the end
 * @set: its function starts, so that libdw need not find them
 *
 * Return: how many ranges it has, 0 if libdw cannot tell.
 */
size_t bench_libdw_rows(struct Elf *elf, const struct row_set *set)
{
	Dwarf_CFI *cfi = dwarf_getcfi_elf(elf);
	size_t i, n = 0;

	for (i = 0; cfi && i < set->nstarts; i++)
		n += libdw_function(cfi, set->starts[i],
				    i + 1 < set->nstarts ? set->starts[i + 1] : set->end);
	if (cfi)
		dwarf_cfi_end(cfi);
	return n;
}
