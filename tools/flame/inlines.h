/* SPDX-License-Identifier: GPL-2.0 */
/* Inlined calls and lines, from DWARF. */
#ifndef INLINES_H
#define INLINES_H

#include <elfutils/libdw.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

/**
 * struct inline_call - a function, or a call that was inlined into another function
 * @caller: index of the function that it is inlined into; -1: not inlined
 * @name: not owned; NULL if DWARF has none
 * @source: file of the call; NULL if not known
 * @line: of the call, 0 if not known
 */
struct inline_call {
	int		 caller;
	const char	*name;
	const char	*source;
	u32		 line;
};

/**
 * struct inlines - what DWARF knows of addresses
 * @pc: the addresses, ascending
 * @count: entries in @pc
 * @lines: source files and lines are wanted; otherwise there are none
 * @innermost: for each address, index of its innermost call; -1 if there is none
 * @unit: for each address, number of the unit that it belongs to; -1 if there is none
 * @source: for each address, its source file; NULL if not known
 * @line: for each address, its line; 0 if not known
 * @call: calls
 * @calls: entries in @call
 * @room: entries of @call there is memory for
 * @budget: what may still be done
 */
struct inlines {
	const u64		*pc;
	size_t			 count;
	bool			 lines;
	int			*innermost;
	int			*unit;
	const char		**source;
	u32			*line;
	struct inline_call	*call;
	size_t			 calls;
	size_t			 room;
	u64			 budget;
};

void inlines_find(struct inlines *inlines, Dwarf *dwarf, const u64 *pc, size_t count, bool lines);
bool inlines_are_split(int fd);
void inlines_free(struct inlines *inlines);

#endif /* INLINES_H */
