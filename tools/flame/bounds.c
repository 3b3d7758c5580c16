// SPDX-License-Identifier: GPL-2.0
/* Where functions begin and end. */
#include <string.h>

#include "bounds.h"
#include "eh_frame.h"
#include "gopclntab.h"
#include "order.h"

/* Add a function. */
void bounds_add(struct bounds *bounds, u64 start, u64 end, const char *name)
{
	const struct symbol function = {
		.start = start, .end = end, .limit = end, .name = name, .rank = *name != '\0',
	};

	symbols_add(&bounds->functions, &function);
}

/**
 * bounds_open() - find the functions of a file
 * @bounds: filled; empty if the file cannot be read
 * @fd: the file; the caller closes it, after bounds_close()
 */
void bounds_open(struct bounds *bounds, int fd)
{
	struct gopclntab_func func;
	struct gopclntab table;
	struct bee_error why;
	struct fde_list list;
	size_t i;

	*bounds = (struct bounds){ 0 };
	if (elf_open(&bounds->elf, fd, &why))
		return;
	eh_frame_read(&bounds->elf, &list);
	for (i = 0; i < list.nfdes; i++)
		bounds_add(bounds, list.fdes[i].begin, list.fdes[i].end, "");
	eh_frame_free(&list);
	gopclntab_open(&bounds->elf, &table);
	for (i = 0; i < table.count; i++)
		if (gopclntab_find(&table, i, &func))
			bounds_add(bounds, func.begin, func.end, gopclntab_name(&table, &func));
	symbols_sort(&bounds->functions);
}

/** bounds_find() - the innermost function that has an address, or NULL */
const struct symbol *bounds_find(const struct bounds *bounds, u64 pc)
{
	return symbols_find(&bounds->functions, pc);
}

/** bounds_cut() - does a function begin behind @label, and up to @pc, so that the label does not name @pc? */
bool bounds_cut(const struct bounds *bounds, u64 label, u64 pc)
{
	const struct symbols *functions = &bounds->functions;
	size_t upto = order_upto(functions->symbol, functions->count, sizeof(*functions->symbol),
				 offsetof(struct symbol, start), pc);

	return upto && functions->symbol[upto - 1].start > label;
}

void bounds_close(struct bounds *bounds)
{
	symbols_free(&bounds->functions);
	elf_close(&bounds->elf);
}
