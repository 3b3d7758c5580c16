/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Go's function table, the section .gopclntab: where the functions of Go's text are, and how far
 * each of their instructions has moved the stack pointer.  Go's own tracebacks depend on it, so
 * stripped files have it too.
 */
#ifndef BEE_GOPCLNTAB_H
#define BEE_GOPCLNTAB_H

#include <linux/types.h>

#include "elf.h"

/**
 * struct gopclntab - the function table of a file
 * @exists: the file is Go's, so it should have one
 * @trouble: why nothing of it can be used, in a sentence; NULL if it can
 * @text: pc that others are relative to, of the first function
 * @end: pc after the last function; @text if @count is 0
 * @count: number of functions
 * @names: their names, each with a NUL
 * @names_size: bytes of @names
 * @pctab: values for pcs
 * @pctab_size: bytes of @pctab
 * @funcs: for each function and for the end of the last, its pc and where its record is; then
 *	these records
 * @funcs_size: bytes of @funcs
 * @flag: where in such a record the flags are
 *
 * The bytes belong to the struct elf_file.
 */
struct gopclntab {
	bool		 exists;
	const char	*trouble;
	u64		 text;
	u64		 end;
	u64		 count;
	const u8	*names;
	u64		 names_size;
	const u8	*pctab;
	u64		 pctab_size;
	const u8	*funcs;
	u64		 funcs_size;
	unsigned int	 flag;
};

/**
 * struct gopclntab_func - one function
 * @begin: its first pc
 * @end: pc after its last instruction, > @begin; padding may follow
 * @name: its name with the package's path; empty if that is long, see gopclntab_name()
 * @name_at: where in the names it is
 * @pcsp: where in pctab the movements of its stack pointer are
 * @top_frame: it has no caller
 * @writes_sp: its stack pointer does not only move by constants, so @pcsp is wrong for a part of it
 */
struct gopclntab_func {
	u64		 begin;
	u64		 end;
	const char	*name;
	u32		 name_at;
	u32		 pcsp;
	bool		 top_frame;
	bool		 writes_sp;
};

/**
 * typedef gopclntab_emit_fn - take a range of pcs
 * @arg: the caller's
 * @start: first pc
 * @end: pc after it, > @start
 * @depth: bytes from the stack pointer up to the return address; can be any number
 */
typedef void (*gopclntab_emit_fn)(void *arg, u64 start, u64 end, s32 depth);

void gopclntab_open(const struct elf_file *elf, struct gopclntab *table);
bool gopclntab_find(const struct gopclntab *table, u64 number, struct gopclntab_func *func);
const char *gopclntab_name(const struct gopclntab *table, const struct gopclntab_func *func);
void gopclntab_run(const struct gopclntab *table, const struct gopclntab_func *func,
		   gopclntab_emit_fn emit, void *arg);

#endif /* BEE_GOPCLNTAB_H */
