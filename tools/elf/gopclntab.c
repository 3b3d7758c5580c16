// SPDX-License-Identifier: GPL-2.0
/*
 * Go's function table.  Its layout is that of Go's runtime: struct pcHeader and functab in
 * src/runtime/symtab.go, struct _func in src/runtime/runtime2.go, the flags in
 * src/internal/abi/symtab.go, all filled by src/cmd/link/internal/ld/pcln.go.  The file is
 * hostile: every offset of the table is checked where it is used.
 */
#include <string.h>

#include "cursor.h"
#include "gopclntab.h"
#include "reader.h"

/* The first word: its values since Go 1.18 and 1.20 (src/internal/abi/symtab.go). */
#define GO_MAGIC_118	0xfffffff0u
#define GO_MAGIC_120	0xfffffff1u

#define GO_TEXT_START	24	/* offsetof(struct pcHeader, textStart) */
#define GO_FUNCTAB	8	/* bytes of a functab: entryoff, funcoff */

/* offsetof(struct moduledata, ...), in src/runtime/symtab.go of Go 1.26 and 1.27 */
#define GO_MODULE_HEADER	0	/* pcHeader */
#define GO_MODULE_MINPC		160
#define GO_MODULE_TEXT		176

/* offsetof(struct _func, ...); 1.20 has put startLine before the flags. */
#define GO_FUNC_NAME	4
#define GO_FUNC_PCSP	16
#define GO_FUNC_FLAG_118	37
#define GO_FUNC_FLAG_120	41

/* Bytes of names, with the NUL: those by which functions of the runtime are known, and any. */
#define GO_RUNTIME_NAME	64
#define GO_NAME_MAX	(64u << 10)

#define GO_FLAG_TOP_FRAME	0x1
#define GO_FLAG_SP_WRITE	0x2

/* struct pcHeader */
struct go_header {
	u32	magic;
	u16	padding;	/* pad1, pad2: 0 */
	u8	quantum;	/* minLC */
	u8	pointer;	/* ptrSize */
	u64	nfuncs;
	u64	names;		/* funcnameOffset */
	u64	files;		/* cuOffset: the end of the names */
	u64	pctab;		/* pctabOffset */
	u64	funcs;		/* pclnOffset: the end of pctab */
};

/* The part [@start, @end) of the table's bytes.  Return: how many; 0 if they are not in it. */
static u64 go_part(const struct cursor *table, u64 start, u64 end, const u8 **part)
{
	if (start >= end || end > cursor_left(table))
		return 0;
	*part = table->at + start;
	return end - start;
}

static void go_read_header(struct cursor c, struct go_header *h)
{
	h->magic = cursor_u32(&c);
	h->padding = cursor_uint(&c, 2);
	h->quantum = cursor_u8(&c);
	h->pointer = cursor_u8(&c);
	h->nfuncs = cursor_u64(&c);
	cursor_take(&c, 16);
	h->names = cursor_u64(&c);
	h->files = cursor_u64(&c);
	cursor_take(&c, 8);
	h->pctab = cursor_u64(&c);
	h->funcs = cursor_u64(&c);
	if (c.bad)
		*h = (struct go_header){};
}

static bool go_is_known(const struct go_header *h)
{
	return (h->magic == GO_MAGIC_118 || h->magic == GO_MAGIC_120) && !h->padding &&
	       h->quantum == 1 && h->pointer == 8;
}

/* Go to where in the section @c the table's header is.  Its address is a multiple of a pointer's size. */
static bool go_find_header(struct cursor *c, struct go_header *h)
{
	for (; cursor_left(c); cursor_take(c, 8)) {
		go_read_header(*c, h);
		if (go_is_known(h))
			return true;
	}
	return false;
}

/*
 * The address at @offset of @section; 0 if there is none.  In a position-independent file it is
 * relocated, and may be in the relocation only.
 */
static u64 go_address(const struct elf_file *elf, const struct elf_segment *section, u64 offset)
{
	bool fits = section->size >= 8 && offset <= section->size - 8;
	u64 vaddr = section->vaddr + offset, address;
	const u8 *bytes = fits ? elf_bytes(elf, section, vaddr, 8) : NULL;
	struct cursor c = cursor_of(bytes, bytes ? 8 : 0);

	address = cursor_u64(&c);
	if (c.bad || (!address && !elf_find_addend(elf, vaddr, &address)))
		return 0;
	return address;
}

/*
 * Where text begins: since Go 1.26 only the module's data says so.  By what the runtime demands of
 * it (src/runtime/symtab.go, moduledataverify1()) its struct is known to have the expected layout:
 * @header is the address of the table's header, @first that of its first function, from the start
 * of text.
 */
static u64 go_module_text(const struct elf_file *elf, u64 header, u32 first)
{
	const struct elf_segment *module = &elf->go_module;
	u64 text = go_address(elf, module, GO_MODULE_TEXT);

	if (go_address(elf, module, GO_MODULE_HEADER) != header ||
	    go_address(elf, module, GO_MODULE_MINPC) != text + first)
		return 0;
	return text;
}

/*
 * Do the functions ascend, up to the end of the text that the file has?  Then no two have a byte in
 * common, and to follow all of them takes no more steps than there are bytes.
 */
static bool go_functions_ascend(const struct elf_file *elf, const struct gopclntab *table, u64 count,
				u64 *end)
{
	const struct elf_segment *text = elf_find_text(elf, table->text);
	struct cursor c = cursor_of(table->funcs, table->funcs_size);
	u32 last = 0, begin;
	u64 i;

	for (i = 0; i <= count; i++, last = begin) {
		begin = cursor_u32(&c);
		if (begin < last)
			return false;
		cursor_take(&c, GO_FUNCTAB - 4);
	}
	*end = table->text + last;
	return !c.bad && last <= text->size - (table->text - text->vaddr);
}

/* Does the header's table lie within @size bytes, with its parts in the order of Go's linker? */
static bool go_header_fits(const struct go_header *h, u64 size)
{
	return go_is_known(h) && h->nfuncs && h->names < h->files && h->files < h->pctab &&
	       h->pctab < h->funcs && h->funcs < size && h->nfuncs < (size - h->funcs) / GO_FUNCTAB;
}

#define GO_WINDOW	(READER_MAX_WINDOW / 2)	/* bytes searched at a time */
#define GO_HEADER	128		/* more than a header has */

/*
 * In a file without section headers: find the table by its header, in all segments together not in
 * more bytes than the file has.  Return: false if there is none.
 */
static bool go_find_table(const struct elf_file *elf, struct elf_segment *table)
{
	const struct elf_segment *load = elf->loads;
	u64 left = elf->file_size, at, size, i;
	struct go_header h;

	for (; load < elf->loads + elf->nloads; load++) {
		for (at = 0; at < load->size; at += GO_WINDOW) {
			const u8 *bytes;

			size = load->size - at < GO_WINDOW + GO_HEADER ? load->size - at :
									 GO_WINDOW + GO_HEADER;
			if (size > left)
				return false;
			bytes = reader_window(elf->reader, load->offset + at, size);
			for (i = 0; bytes && i < size && i < GO_WINDOW; i += 8) {
				go_read_header(cursor_of(bytes + i, size - i), &h);
				if (!go_header_fits(&h, load->size - at - i))
					continue;
				*table = (struct elf_segment){
					.vaddr = load->vaddr + at + i,
					.offset = load->offset + at + i,
					.size = load->size - at - i,
				};
				return true;
			}
			left -= size < GO_WINDOW ? size : GO_WINDOW;
		}
	}
	return false;
}

/**
 * gopclntab_open() - find the function table of a file
 * @elf: the file, with its sections; has to outlive @table
 * @table: filled
 */
void gopclntab_open(const struct elf_file *elf, struct gopclntab *table)
{
	const struct elf_segment *section = &elf->gopclntab;
	struct elf_segment found;
	struct go_header h = {};
	const u8 *bytes = NULL;
	struct cursor c, funcs;
	u64 header;

	*table = (struct gopclntab){ .exists = elf->is_go };
	if (elf->bare && go_find_table(elf, &found)) {
		table->exists = true;
		section = &found;
	}
	if (!table->exists)
		return;
	if (section->size && section->size <= ELF_MAX_BYTES)
		bytes = elf_bytes(elf, section, section->vaddr, section->size);
	c = cursor_of(bytes, bytes ? section->size : 0);
	if (!go_find_header(&c, &h)) {
		table->trouble = "no function table of Go 1.18 or a version known after it";
		return;
	}
	header = c.at - bytes;
	table->names_size = go_part(&c, h.names, h.files, &table->names);
	table->pctab_size = go_part(&c, h.pctab, h.funcs, &table->pctab);
	table->funcs_size = go_part(&c, h.funcs, cursor_left(&c), &table->funcs);
	table->flag = h.magic == GO_MAGIC_118 ? GO_FUNC_FLAG_118 : GO_FUNC_FLAG_120;
	funcs = cursor_of(table->funcs, table->funcs_size);
	table->text = go_address(elf, section, header + GO_TEXT_START);
	if (!table->text)
		table->text = go_module_text(elf, section->vaddr + header, cursor_u32(&funcs));
	table->end = table->text;
	if (!elf_find_text(elf, table->text))
		table->trouble = "its function table does not say where Go's text is";
	else if (!table->names_size || !table->pctab_size ||
		 table->funcs_size / GO_FUNCTAB <= h.nfuncs ||
		 !go_functions_ascend(elf, table, h.nfuncs, &table->end))
		table->trouble = "its function table is malformed";
	else
		table->count = h.nfuncs;
}

/* Values for pcs: the next pair of differences.  Return: false at the end, or if malformed. */
struct go_values {
	struct cursor	c;
	s64		value;
	u64		pc;
	u64		end;		/* pc where the next function begins */
	bool		started;
};

static bool go_next_value(struct go_values *v)
{
	u64 difference = cursor_uleb(&v->c), bytes;

	/* A zero ends the list, except as the first difference. */
	if (v->c.bad || (!difference && v->started))
		return false;
	bytes = cursor_uleb(&v->c);
	if (v->c.bad || !bytes || bytes > v->end - v->pc || difference >> 32)
		return false;
	v->started = true;
	v->value += (s64)(difference >> 1) ^ -(s64)(difference & 1);
	v->pc += bytes;
	return true;
}

static struct go_values go_values_of(const struct gopclntab *table, u32 at, u64 begin, u64 end)
{
	struct go_values v = {
		.c = cursor_of(table->pctab, table->pctab_size), .value = -1, .pc = begin, .end = end,
	};

	/* 0: none (src/runtime/symtab.go, pcvalue()) */
	if (!at)
		v.c.bad = true;
	cursor_take(&v.c, at);
	return v;
}

/* A name; an empty one if it has @most bytes or more. */
static const char *go_name(const struct gopclntab *table, u64 at, u64 most)
{
	u64 room = at < table->names_size ? table->names_size - at : 0;

	if (!room || !memchr(table->names + at, 0, room < most ? room : most))
		return "";
	return (const char *)table->names + at;
}

/**
 * gopclntab_find() - a function by its number
 * @table: the table
 * @number: below @table->count; functions ascend by pc
 * @func: filled
 *
 * Return: false if the table is malformed there, or has no pcs for it.
 */
bool gopclntab_find(const struct gopclntab *table, u64 number, struct gopclntab_func *func)
{
	struct cursor c = cursor_of(table->funcs, table->funcs_size), r = c;
	u64 begin, end, record;
	struct go_values v;
	u8 flags;

	cursor_take(&c, number * GO_FUNCTAB);
	begin = table->text + cursor_u32(&c);
	record = cursor_u32(&c);
	end = table->text + cursor_u32(&c);
	cursor_take(&r, record + GO_FUNC_NAME);
	func->name_at = cursor_u32(&r);
	cursor_take(&r, GO_FUNC_PCSP - GO_FUNC_NAME - 4);
	func->pcsp = cursor_u32(&r);
	cursor_take(&r, table->flag - GO_FUNC_PCSP - 4);
	flags = cursor_u8(&r);
	if (c.bad || r.bad || begin >= end)
		return false;
	func->begin = begin;
	func->name = go_name(table, func->name_at, GO_RUNTIME_NAME);
	func->top_frame = flags & GO_FLAG_TOP_FRAME;
	func->writes_sp = flags & GO_FLAG_SP_WRITE;
	for (v = go_values_of(table, func->pcsp, begin, end); go_next_value(&v);)
		;
	func->end = v.pc;
	return func->end > begin;
}

/** gopclntab_name() - the name of a function that gopclntab_find() has filled; empty if it has 64 KiB or more */
const char *gopclntab_name(const struct gopclntab *table, const struct gopclntab_func *func)
{
	return go_name(table, func->name_at, GO_NAME_MAX);
}

/**
 * gopclntab_run() - how far the stack pointer has moved, from the first to the last pc of a function
 * @table: the table
 * @func: the function
 * @emit: called for each range of pcs, in ascending order and without holes
 * @arg: for @emit
 *
 * Values for pcs are a list of pairs of numbers in ULEB128: by how much the value differs from the
 * one before, sign in the lowest bit, and for how many bytes it holds (src/runtime/symtab.go, step()).
 * The value before the first is -1.
 */
void gopclntab_run(const struct gopclntab *table, const struct gopclntab_func *func,
		   gopclntab_emit_fn emit, void *arg)
{
	struct go_values v = go_values_of(table, func->pcsp, func->begin, func->end);
	u64 start = v.pc;

	for (; go_next_value(&v); start = v.pc)
		emit(arg, start, v.pc, (s32)v.value);
}
