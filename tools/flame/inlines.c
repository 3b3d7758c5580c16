// SPDX-License-Identifier: GPL-2.0
/*
 * Inlined calls and lines, from DWARF.  Each compilation unit that has one of the addresses is read
 * once: its DIEs from the outside to the inside, so that the innermost call of an address is the
 * last one whose ranges have it.
 */
#include <dwarf.h>
#include <stdlib.h>

#include "alloc.h"
#include "inlines.h"

#define INLINES_MAX_DEPTH	256
#define INLINES_MAX_CALLS	(1u << 26)
/* Ranges, and addresses in them, that are looked at. */
#define INLINES_BUDGET		(1ull << 30)

/* What is being read. */
struct unit {
	struct inlines	*inlines;
	Dwarf_Files	*files;
};

/* Index of the first address that is not below @pc. */
static size_t inlines_index(const struct inlines *inlines, u64 pc)
{
	size_t low = 0, high = inlines->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (inlines->pc[middle] < pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Does a DIE have any of the addresses?  @call: what they belong to, or -1 if it is only asked.
 */
static bool die_covers(struct inlines *inlines, Dwarf_Die *die, int call)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t offset = 0;
	bool covers = false;
	size_t at;

	while (inlines->budget && (offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0) {
		inlines->budget--;
		at = inlines_index(inlines, start);
		for (; at < inlines->count && inlines->pc[at] < end; at++) {
			covers = true;
			if (call < 0 || !inlines->budget)
				break;
			inlines->budget--;
			inlines->innermost[at] = call;
		}
	}
	return covers;
}

static u32 die_number(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	return dwarf_formudata(dwarf_attr(die, name, &attribute), &value) ? 0 : value;
}

static const char *die_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name;

	name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));
	name = name ?: dwarf_formstring(dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name,
							     &attribute));
	return name ?: dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute));
}

static int unit_add_call(struct unit *unit, Dwarf_Die *die, int caller)
{
	struct inline_call call = { .caller = caller, .name = die_name(die) };
	struct inlines *inlines = unit->inlines;

	if (inlines->calls == INLINES_MAX_CALLS)
		return caller;
	if (caller >= 0) {
		call.line = die_number(die, DW_AT_call_line);
		call.source = unit->files ? dwarf_filesrc(unit->files,
							  die_number(die, DW_AT_call_file),
							  NULL, NULL) : NULL;
	}
	inlines->call = alloc_room(inlines->call, inlines->calls, &inlines->room,
				   sizeof(*inlines->call));
	inlines->call[inlines->calls] = call;
	return inlines->calls++;
}

static void unit_read_children(struct unit *unit, Dwarf_Die *parent, int caller,
			       unsigned int depth);

static void unit_read_die(struct unit *unit, Dwarf_Die *die, int caller, unsigned int depth)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
		caller = -1;
		/* fall through */
	case DW_TAG_inlined_subroutine:
		if (!die_covers(unit->inlines, die, -1))
			return;
		caller = unit_add_call(unit, die, caller);
		die_covers(unit->inlines, die, caller);
		break;
	case DW_TAG_lexical_block:
	case DW_TAG_namespace:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_module:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
	case DW_TAG_common_block:
		break;
	default:
		return;
	}
	unit_read_children(unit, die, caller, depth);
}

static void unit_read_children(struct unit *unit, Dwarf_Die *parent, int caller,
			       unsigned int depth)
{
	Dwarf_Die die;

	if (depth == INLINES_MAX_DEPTH || dwarf_child(parent, &die))
		return;
	do {
		if (!unit->inlines->budget)
			return;
		unit->inlines->budget--;
		unit_read_die(unit, &die, caller, depth + 1);
	} while (!dwarf_siblingof(&die, &die));
}

/* Lines of the addresses that belong to functions of this unit. */
static void unit_read_lines(struct inlines *inlines, Dwarf_Die *die, size_t first_call)
{
	const char *source;
	Dwarf_Line *line;
	int number;
	size_t i;

	for (i = 0; i < inlines->count; i++) {
		if (inlines->innermost[i] < (int)first_call)
			continue;
		line = dwarf_getsrc_die(die, inlines->pc[i]);
		source = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
		if (!source || dwarf_lineno(line, &number))
			continue;
		inlines->source[i] = source;
		inlines->line[i] = number;
	}
}

static void unit_read(struct inlines *inlines, Dwarf_Die *die)
{
	struct unit unit = { .inlines = inlines };
	size_t first = inlines->calls, nfiles;
	Dwarf_Attribute attribute;

	/* A unit that does not say what it covers may cover anything. */
	if ((dwarf_hasattr(die, DW_AT_ranges) || dwarf_hasattr(die, DW_AT_low_pc)) &&
	    !die_covers(inlines, die, -1))
		return;
	if (dwarf_attr(die, DW_AT_stmt_list, &attribute) &&
	    dwarf_getsrcfiles(die, &unit.files, &nfiles))
		unit.files = NULL;
	unit_read_children(&unit, die, -1, 0);
	if (inlines->calls > first)
		unit_read_lines(inlines, die, first);
}

/**
 * inlines_find() - find the inlined calls of addresses, and their lines
 * @inlines: filled
 * @dwarf: of the file; its strings are used until inlines_free()
 * @pc: addresses as in @dwarf, ascending
 * @count: number of them
 */
void inlines_find(struct inlines *inlines, Dwarf *dwarf, const u64 *pc, size_t count)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die, sub;
	u8 type;
	size_t i;

	*inlines = (struct inlines){ .pc = pc, .count = count, .budget = INLINES_BUDGET };
	inlines->innermost = alloc_array(NULL, count + 1, sizeof(*inlines->innermost));
	inlines->source = alloc_zero(count + 1, sizeof(*inlines->source));
	inlines->line = alloc_zero(count + 1, sizeof(*inlines->line));
	for (i = 0; i < count; i++)
		inlines->innermost[i] = -1;
	while (!dwarf_get_units(dwarf, cu, &cu, NULL, &type, &die, &sub))
		if (type == DW_UT_compile || type == DW_UT_skeleton)
			unit_read(inlines, type == DW_UT_skeleton && sub.addr ? &sub : &die);
}

void inlines_free(struct inlines *inlines)
{
	free(inlines->innermost);
	free(inlines->source);
	free(inlines->line);
	free(inlines->call);
	*inlines = (struct inlines){ 0 };
}
