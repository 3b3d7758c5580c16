// SPDX-License-Identifier: GPL-2.0
/*
 * Inlined calls and lines, from DWARF.  The DIEs of each compilation unit that has one of the
 * addresses are read from the outside to the inside, so that the innermost call of an address is the
 * last one whose ranges have it.
 */
#include <dwarf.h>
#include <stdlib.h>

#include "alloc.h"
#include "inlines.h"
#include "order.h"

#define INLINES_MAX_DEPTH	256
#define INLINES_MAX_CALLS	(1u << 26)
/* Ranges, and addresses in them, that are looked at. */
#define INLINES_BUDGET		(1ull << 30)

/*
 * Where functions that have addresses are looked for; each step only if an address of the unit was
 * found in none so far.  gcc's C and C++ are done after the first one.  Most DIEs are members of
 * types, nearly all of them declarations.  The last step is for member functions of types that are
 * local to a function.
 */
enum reach {
	REACH_UNIT,		/* at the top of the unit */
	REACH_NAMESPACES,	/* and in namespaces */
	REACH_TYPES,		/* and in types */
	REACH_FUNCTIONS,	/* and in functions that have none of the addresses */
	REACHES,
};

#define UNIT_NONE	-1

/* What is being read.  @number: the addresses of @inlines that are looked for have it as their unit */
struct unit {
	struct inlines	*inlines;
	Dwarf_Files	*files;
	enum reach	 reach;
	int		 number;
};

/* Index of the first address that is not below @pc. */
static size_t inlines_index(const struct inlines *inlines, u64 pc)
{
	return pc ? order_upto(inlines->pc, inlines->count, sizeof(*inlines->pc), 0, pc - 1) : 0;
}

/*
 * Does a DIE have any of the addresses that are now @unit's?  @of gets @value for each of them.  Most
 * DIEs are declarations: that they have no addresses is known by the names of their attributes, and
 * looking at these is much less work than reading them.
 */
static bool die_covers(struct inlines *inlines, Dwarf_Die *die, int unit, int *of, int value)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t offset = 0;
	bool covers = false;
	size_t at;

	if (!dwarf_hasattr(die, DW_AT_low_pc) && !dwarf_hasattr(die, DW_AT_ranges))
		return false;
	while (inlines->budget && (offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0) {
		inlines->budget--;
		at = inlines_index(inlines, start);
		for (; inlines->budget && at < inlines->count && inlines->pc[at] < end; at++) {
			inlines->budget--;
			if (inlines->unit[at] != unit)
				continue;
			covers = true;
			of[at] = value;
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

static void unit_add_call(struct unit *unit, Dwarf_Die *die, int caller)
{
	struct inline_call call = { .caller = caller, .name = die_name(die) };
	struct inlines *inlines = unit->inlines;

	if (caller >= 0) {
		call.line = die_number(die, DW_AT_call_line);
		call.source = unit->files ? dwarf_filesrc(unit->files,
							  die_number(die, DW_AT_call_file),
							  NULL, NULL) : NULL;
	}
	inlines->call = alloc_room(inlines->call, inlines->calls, &inlines->room,
				   sizeof(*inlines->call));
	inlines->call[inlines->calls++] = call;
}

static void unit_read_children(struct unit *unit, Dwarf_Die *parent, int caller,
			       unsigned int depth);

static void unit_read_die(struct unit *unit, Dwarf_Die *die, int caller, unsigned int depth)
{
	struct inlines *inlines = unit->inlines;
	int call = inlines->calls;

	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
		caller = -1;
		/* fall through */
	case DW_TAG_inlined_subroutine:
		if (inlines->calls == INLINES_MAX_CALLS)
			return;
		if (die_covers(inlines, die, unit->number, inlines->innermost, call)) {
			unit_add_call(unit, die, caller);
			caller = call;
		} else if (unit->reach < REACH_FUNCTIONS || dwarf_tag(die) != DW_TAG_subprogram) {
			return;
		}
		break;
	case DW_TAG_namespace:
	case DW_TAG_module:
		if (unit->reach < REACH_NAMESPACES)
			return;
		break;
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		if (unit->reach < REACH_TYPES)
			return;
		break;
	case DW_TAG_lexical_block:
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

/* Lines of the addresses that belong to this unit. */
static void unit_read_lines(struct inlines *inlines, Dwarf_Die *die, int unit)
{
	const char *source;
	Dwarf_Line *line;
	int number;
	size_t i;

	for (i = 0; i < inlines->count; i++) {
		if (inlines->unit[i] != unit)
			continue;
		line = dwarf_getsrc_die(die, inlines->pc[i]);
		source = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
		if (!source || dwarf_lineno(line, &number))
			continue;
		inlines->source[i] = source;
		inlines->line[i] = number;
	}
}

/* Was an address of this unit found in none of its functions? */
static bool unit_lacks_function(const struct unit *unit)
{
	const struct inlines *inlines = unit->inlines;
	size_t i;

	for (i = 0; i < inlines->count; i++)
		if (inlines->unit[i] == unit->number && inlines->innermost[i] < 0)
			return true;
	return false;
}

/* Leave addresses that are in none of its functions to the units that come later. */
static void unit_release(const struct unit *unit)
{
	struct inlines *inlines = unit->inlines;
	size_t i;

	for (i = 0; i < inlines->count; i++)
		if (inlines->unit[i] == unit->number && inlines->innermost[i] < 0)
			inlines->unit[i] = UNIT_NONE;
}

/*
 * Take over those addresses of a unit that no earlier one has.  Each unit with a copy of an inline
 * function says that the one copy in the file is its own; that copy is the first unit's, as linkers
 * keep the first one that they meet.
 */
static bool unit_claim(struct unit *unit, Dwarf_Die *die)
{
	struct inlines *inlines = unit->inlines;
	size_t i;

	if (dwarf_hasattr(die, DW_AT_ranges) || dwarf_hasattr(die, DW_AT_low_pc))
		return die_covers(inlines, die, UNIT_NONE, inlines->unit, unit->number);
	/* A unit that does not say what it covers may cover anything. */
	for (i = 0; i < inlines->count; i++)
		if (inlines->unit[i] == UNIT_NONE)
			inlines->unit[i] = unit->number;
	return true;
}

static void unit_read(struct inlines *inlines, Dwarf_Die *die, int number)
{
	struct unit unit = { .inlines = inlines, .number = number };
	Dwarf_Attribute attribute;
	size_t nfiles;

	if (!unit_claim(&unit, die))
		return;
	if (inlines->lines && dwarf_attr(die, DW_AT_stmt_list, &attribute) &&
	    dwarf_getsrcfiles(die, &unit.files, &nfiles))
		unit.files = NULL;
	do {
		unit_read_children(&unit, die, -1, 0);
	} while (unit_lacks_function(&unit) && ++unit.reach < REACHES);
	if (inlines->lines)
		unit_read_lines(inlines, die, number);
	unit_release(&unit);
}

/**
 * inlines_find() - find the inlined calls of addresses
 * @inlines: filled
 * @dwarf: of the file; its strings are used until inlines_free()
 * @pc: addresses as in @dwarf, ascending
 * @count: entries in @pc
 * @lines: find source files and lines too; libdw has to sort all lines of a unit for that
 */
void inlines_find(struct inlines *inlines, Dwarf *dwarf, const u64 *pc, size_t count, bool lines)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die, sub;
	u8 type;
	int units = 0;
	size_t i;

	*inlines = (struct inlines){
		.pc = pc, .count = count, .lines = lines, .budget = INLINES_BUDGET,
	};
	inlines->innermost = alloc_array(NULL, count + 1, sizeof(*inlines->innermost));
	inlines->source = alloc_zero(count + 1, sizeof(*inlines->source));
	inlines->line = alloc_zero(count + 1, sizeof(*inlines->line));
	inlines->unit = alloc_array(NULL, count + 1, sizeof(*inlines->unit));
	for (i = 0; i < count; i++) {
		inlines->innermost[i] = -1;
		inlines->unit[i] = UNIT_NONE;
	}
	while (!dwarf_get_units(dwarf, cu, &cu, NULL, &type, &die, &sub))
		if (type == DW_UT_compile || type == DW_UT_skeleton)
			unit_read(inlines, type == DW_UT_skeleton && sub.addr ? &sub : &die, units++);
}

/**
 * inlines_are_split() - has a file units that continue in others, as gcc -gsplit-dwarf makes them?
 * @fd: the file
 */
bool inlines_are_split(int fd)
{
	Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ);
	Dwarf_CU *cu = NULL;
	u8 type = 0;

	while (dwarf && type != DW_UT_skeleton &&
	       !dwarf_get_units(dwarf, cu, &cu, NULL, &type, NULL, NULL))
		;
	dwarf_end(dwarf);
	return type == DW_UT_skeleton;
}

void inlines_free(struct inlines *inlines)
{
	free(inlines->innermost);
	free(inlines->unit);
	free(inlines->source);
	free(inlines->line);
	free(inlines->call);
	*inlines = (struct inlines){ 0 };
}
