// SPDX-License-Identifier: GPL-2.0
/*
 * What a file says of the places in its code: where functions start, and where calls end.
 *
 * Symbols, relocations and words of data are read, and the code is swept once from its start to its
 * end: for calls, for addresses that it computes, and for what is called where functions end.
 */
#include <elf.h>
#include <string.h>

#include "alloc.h"
#include "insn.h"
#include "noreturn.h"
#include "order.h"
#include "padding.h"
#include "reader.h"
#include "starts.h"

/* If a file has more of these, none is believed. */
#define STARTS_MAX_NAMED	(1u << 20)	/* addresses of data */
#define STARTS_MAX_SITES	(1u << 21)	/* calls */
#define STARTS_MAX_PLTS		16		/* sections: linkers make four; each looks at all gaps */

#define STARTS_MAX_NAME		1024		/* bytes of a symbol's name */

/* If one of so many calls of a function is at the end of its caller, the function does not return. */
#define STARTS_VOTES		10

/* PLT entries are no longer; with an endbr64 and a mov before the jump. */
#define PLT_BYTES		24
#define PLT_INSNS		3

/* A call of a function, or by way of a word.  @key: what it calls; @next: the place behind it. */
struct start_site {
	u64	key;
	u32	next;
	bool	by_word;
};

/* The sweep: starts, and the calls found. */
struct start_sweep {
	struct starts		*starts;
	struct start_site	*sites;
	size_t			 nsites;
	size_t			 room;
};

static void starts_add(struct starts *s, u64 pc, u16 how)
{
	size_t at = code_place(s->code, pc);

	if (at != CODE_NOWHERE)
		s->at[at] |= how;
}

/*
 * An elf_function_fn.  Parts of functions have symbols of functions, too; one whose name is not read,
 * or too long to look through, can be such a part.
 */
static void starts_add_symbol(void *arg, u64 pc, const char *name)
{
	struct starts *s = arg;

	if (*name && strnlen(name, STARTS_MAX_NAME) < STARTS_MAX_NAME && !strstr(name, ".cold"))
		starts_add(s, pc, START_SYMBOL | (noreturn_name(name) ? START_NORETURN : 0));
}

static void starts_add_dynamic(struct starts *s, const u8 *bytes, u64 size)
{
	Elf64_Dyn dyn;
	u64 at;

	for (at = 0; size - at >= sizeof(dyn); at += sizeof(dyn)) {
		memcpy(&dyn, bytes + at, sizeof(dyn));
		if (dyn.d_tag == DT_NULL)
			return;
		if (dyn.d_tag == DT_INIT || dyn.d_tag == DT_FINI)
			starts_add(s, dyn.d_un.d_ptr, START_ENTRY);
	}
}

static void starts_mark_plt(struct starts *s, const struct elf_section *section)
{
	size_t i;

	if (strncmp(section->name, ".plt", 4) && strcmp(section->name, ".iplt"))
		return;
	s->cut |= s->nplts++ >= STARTS_MAX_PLTS;
	if (s->cut)
		return;
	for (i = 0; i < s->code->ngaps; i++)
		if (s->code->gaps[i].start - section->vaddr < section->size)
			s->plt[i] = true;
}

/* An elf_section_fn */
static void starts_read_section(void *arg, const struct elf_section *section)
{
	struct starts *s = arg;
	bool words = !s->code->elf->shared && section->type == SHT_PROGBITS;
	bool array = !s->code->elf->shared && (section->type == SHT_INIT_ARRAY ||
					       section->type == SHT_FINI_ARRAY);
	u64 size, at, word;
	const u8 *bytes;
	u32 link;

	if (!(section->flags & SHF_ALLOC))
		return;
	if (section->flags & SHF_EXECINSTR)
		return starts_mark_plt(s, section);
	if (section->type != SHT_DYNAMIC && !words && !array)
		return;
	bytes = elf_section_bytes(s->code->elf, section->index, &size, &link);
	if (bytes && section->type == SHT_DYNAMIC)
		return starts_add_dynamic(s, bytes, size);
	for (at = 0; bytes && size - at >= sizeof(word); at += sizeof(word)) {
		memcpy(&word, bytes + at, sizeof(word));
		starts_add(s, word, array ? START_RELOC : START_WORD);
	}
}

static void starts_name(struct starts *s, u64 address)
{
	if (code_place(s->code, address) != CODE_NOWHERE)
		return starts_add(s, address, START_LEA);
	s->cut |= s->nnamed == STARTS_MAX_NAMED;
	if (s->cut)
		return;
	s->named = alloc_room(s->named, s->nnamed, &s->room_named, sizeof(*s->named));
	s->named[s->nnamed++] = address;
}

static void sweep_call(struct start_sweep *sweep, const struct insn *insn, size_t next)
{
	struct start_site site = { .key = insn->target, .next = next };

	if (insn->kind == INSN_CALL_INDIRECT) {
		site.by_word = true;
		site.key = insn->moves.mem.disp;
		if (insn->moves.op != INSN_OP_GOTO_MEM || !insn->moves.mem.fixed)
			return;
	} else {
		starts_add(sweep->starts, insn->target, START_CALL);
	}
	sweep->starts->cut |= sweep->nsites == STARTS_MAX_SITES;
	if (sweep->starts->cut)
		return;
	sweep->sites = alloc_room(sweep->sites, sweep->nsites, &sweep->room, sizeof(*sweep->sites));
	sweep->sites[sweep->nsites++] = site;
}

static void sweep_addresses(struct starts *s, const struct insn *insn)
{
	const struct insn_value *v = &insn->moves;

	if (v->op == INSN_OP_SET && insn->kind != INSN_LEA && v->mem.fixed)
		starts_name(s, v->value);
	else if (v->op == INSN_OP_SET && !s->code->elf->shared &&
		 code_place(s->code, v->value) != CODE_NOWHERE)
		starts_add(s, v->value, START_LEA);
	/* A jump by a table at a fixed address. */
	if (insn->kind == INSN_JUMP_INDIRECT && v->op == INSN_OP_GOTO_MEM &&
	    v->mem.base == INSN_NO_REG && !v->mem.fixed)
		starts_name(s, v->mem.disp);
}

static void sweep_gap(struct start_sweep *sweep, size_t gap)
{
	struct starts *s = sweep->starts;
	const struct code *code = s->code;
	size_t at = code->first[gap], end = code_gap_end(code, gap), padding;
	u64 bias = code->gaps[gap].start - at;
	bool behind = true, called = false;
	struct insn insn;

	for (; at < end; at += insn.length) {
		padding = padding_length(code->bytes + at, end - at);
		insn.length = padding;
		if (padding && behind)
			continue;
		if (!insn_decode(code->bytes + at, end - at, at + bias, &insn)) {
			insn.length = 1;
			behind = false;
			continue;
		}
		/* setjmp() comes back to an endbr64, too. */
		if (insn.moves.op == INSN_OP_ENDBR && behind && !called)
			s->at[at] |= START_ENDBR;
		called = insn.kind == INSN_CALL;
		if (called || insn.kind == INSN_CALL_INDIRECT)
			sweep_call(sweep, &insn, at + insn.length);
		sweep_addresses(s, &insn);
		behind = insn_is_end(&insn) || called;
	}
}

static int site_order(const void *a, const void *b)
{
	const struct start_site *x = a, *y = b;

	return order(x->key, y->key);
}

/* What is called in @calls places, of which @ends are ends of functions. */
static void sweep_vote(struct starts *s, const struct start_site *site, size_t calls, size_t ends)
{
	size_t at = code_place(s->code, site->key);

	if (!ends || ends * STARTS_VOTES < calls)
		return;
	if (at != CODE_NOWHERE && !site->by_word) {
		s->at[at] |= START_ENDS;
		return;
	}
	s->ends = alloc_room(s->ends, s->nends, &s->room_ends, sizeof(*s->ends));
	s->ends[s->nends++] = site->key;
}

/* Count calls at ends of functions.  Calls through PLT and word count as one: of the word. */
static void sweep_votes(struct start_sweep *sweep)
{
	struct starts *s = sweep->starts;
	size_t i, end, ends, gap;

	for (i = 0; i < sweep->nsites; i++) {
		struct start_site *site = &sweep->sites[i];
		struct start_callee callee = site->by_word ? starts_slot(s, site->key) :
							     starts_callee(s, site->key);

		if (callee.place != CODE_NOWHERE) {
			site->key = code_pc(s->code, callee.place);
			site->by_word = false;
		} else if (callee.import) {
			site->key = callee.import->where;
			site->by_word = true;
		}
	}
	if (sweep->nsites)
		qsort(sweep->sites, sweep->nsites, sizeof(*sweep->sites), site_order);
	for (i = 0; i < sweep->nsites; i = end) {
		ends = 0;
		for (end = i; end < sweep->nsites && sweep->sites[end].key == sweep->sites[i].key; end++) {
			size_t next = sweep->sites[end].next;

			gap = code_gap_of(s->code, next - 1);
			ends += starts_end(s, next, code_gap_end(s->code, gap));
		}
		sweep_vote(s, &sweep->sites[i], end - i, ends);
	}
}

/**
 * starts_find() - find what a file says of its code
 * @s: filled; starts_free() releases it
 * @code: the code; has to outlive @s
 * @functions: pcs where functions with rows and a caller start, ascending; have to outlive @s
 * @nfunctions: entries in @functions
 */
void starts_find(struct starts *s, const struct code *code, const u64 *functions, size_t nfunctions)
{
	struct start_sweep sweep = { .starts = s };
	size_t i;

	*s = (struct starts){ .code = code, .functions = functions, .nfunctions = nfunctions };
	s->at = alloc_zero(code->size + 1, sizeof(*s->at));
	s->plt = alloc_zero(code->ngaps, sizeof(*s->plt));
	relocs_read(code->elf, &s->relocs);
	elf_each_function(code->elf, starts_add_symbol, s, true);
	elf_each_section(code->elf, starts_read_section, s);
	s->cut |= !reader_parts_end(code->elf->reader) || s->relocs.cut;
	for (i = 0; i < s->relocs.count; i++)
		if (!s->relocs.list[i].name)
			starts_add(s, s->relocs.list[i].value, START_RELOC);
	for (i = 0; i < code->ngaps; i++)
		if (!s->plt[i])
			sweep_gap(&sweep, i);
	if (s->nnamed)
		qsort(s->named, s->nnamed, sizeof(*s->named), order_u64);
	sweep_votes(&sweep);
	if (s->nends)
		qsort(s->ends, s->nends, sizeof(*s->ends), order_u64);
	free(sweep.sites);
}

/* starts_free(): release what starts_find() filled */
void starts_free(struct starts *s)
{
	relocs_free(&s->relocs);
	free(s->at);
	free(s->plt);
	free(s->named);
	free(s->ends);
	*s = (struct starts){};
}

/**
 * starts_slot() - what the word at @where leads to
 * @s: the starts
 * @where: address of the word
 *
 * Return: a place if the file has it, otherwise an import; neither if nothing is known.
 */
struct start_callee starts_slot(const struct starts *s, u64 where)
{
	const struct reloc *reloc = relocs_find(&s->relocs, where);
	struct start_callee callee = { CODE_NOWHERE, reloc };

	if (reloc && reloc->value)
		callee.place = code_place(s->code, reloc->value);
	return callee;
}

/**
 * starts_callee() - what a call or jump to @pc leads to
 * @s: the starts
 * @pc: its target
 *
 * An entry of a PLT is looked through: it jumps, behind an endbr64 or a mov, to what a word holds.
 * Return: as starts_slot().
 */
struct start_callee starts_callee(const struct starts *s, u64 pc)
{
	struct start_callee none = { CODE_NOWHERE, NULL };
	size_t at = code_place(s->code, pc);
	u64 end = pc + PLT_BYTES;
	struct insn insn;
	unsigned int i;

	if (at != CODE_NOWHERE && !s->plt[code_gap_of(s->code, at)]) {
		none.place = at;
		return none;
	}
	for (i = 0; i < PLT_INSNS && insn_read(s->code->elf, pc, end, &insn); i++) {
		const struct insn_value *v = &insn.moves;

		if ((insn.kind == INSN_JUMP_INDIRECT && v->op == INSN_OP_GOTO_MEM && v->mem.fixed) ||
		    (v->op == INSN_OP_LOAD && v->mem.fixed))
			return starts_slot(s, v->mem.disp);
		if (v->op != INSN_OP_ENDBR && v->op != INSN_OP_SET)
			break;
		pc += insn.length;
	}
	return none;
}

/* starts_returns(): can the callee return?  Of most it is not known, and true. */
bool starts_returns(const struct starts *s, const struct start_callee *callee)
{
	u64 where = callee->import ? callee->import->where : 0;
	size_t upto = callee->import ? order_upto(s->ends, s->nends, sizeof(u64), 0, where) : 0;

	if (callee->place != CODE_NOWHERE && s->at[callee->place] & START_NORETURN)
		return false;
	if (!callee->import)
		return true;
	if (callee->import->name && noreturn_name(callee->import->name))
		return false;
	return callee->place != CODE_NOWHERE || !upto || s->ends[upto - 1] != where;
}

/* starts_has_function(): does a function with rows and a caller start at @pc? */
bool starts_has_function(const struct starts *s, u64 pc)
{
	size_t upto = order_upto(s->functions, s->nfunctions, sizeof(u64), 0, pc);

	return upto && s->functions[upto - 1] == pc;
}

/* starts_end(): is what follows a call, at @at, another function, or the end of the gap at @end? */
bool starts_end(const struct starts *s, size_t at, size_t end)
{
	u64 pc = code_pc(s->code, at);
	bool padding = false;
	size_t n;

	for (; at < end; at += n, pc += n) {
		const u8 *bytes = s->code->bytes + at;

		if (s->at[at] & (START_STRONG | START_RELOC | START_WORD) || *bytes == 0xcc || !*bytes)
			return true;
		if (s->at[at] & (START_ENDBR | START_LEA) && (padding || !(pc & 15)))
			return true;
		n = padding_length(bytes, end - at);
		if (!n)
			return false;
		padding = true;
	}
	return true;
}

/* starts_next_named(): the first address of data behind @address that code names, or ~0 */
u64 starts_next_named(const struct starts *s, u64 address)
{
	size_t upto = order_upto(s->named, s->nnamed, sizeof(u64), 0, address);

	return upto < s->nnamed ? s->named[upto] : ~0ull;
}
