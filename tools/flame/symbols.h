/* SPDX-License-Identifier: GPL-2.0 */
/* Symbols of one file, the best one for each address. */
#ifndef SYMBOLS_H
#define SYMBOLS_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

/**
 * struct symbol - a function
 * @start: its first address
 * @end: address after the last; 0 until symbols_sort(): not known
 * @limit: end of what it is in
 * @name: not owned
 * @rank: the higher, the better, of symbols with the same address
 * @is_label: it has no size; filled by symbols_sort()
 * @reach: the highest @end of this symbol and all before it; filled by symbols_sort()
 */
struct symbol {
	u64		 start;
	u64		 end;
	u64		 limit;
	const char	*name;
	u32		 rank;
	bool		 is_label;
	u64		 reach;
};

/* struct symbols - all zero is an empty list */
struct symbols {
	struct symbol	*symbol;
	size_t		 count;
	size_t		 room;
};

void symbols_add(struct symbols *symbols, const struct symbol *symbol);
void symbols_sort(struct symbols *symbols);
const struct symbol *symbols_find(const struct symbols *symbols, u64 address);
void symbols_free(struct symbols *symbols);

char *symbol_demangle(const char *name);

#endif /* SYMBOLS_H */
