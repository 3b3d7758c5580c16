// SPDX-License-Identifier: GPL-2.0
/*
 * Names of addresses in an ELF file.  libdwfl finds and opens what goes with it: debug files by
 * build-id and .gnu_debuglink, from debuginfod if $DEBUGINFOD_URLS is set, and .gnu_debugdata.
 */
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "alloc.h"
#include "answer.h"
#include "bounds.h"
#include "debug_image.h"
#include "inlines.h"
#include "io.h"
#include "order.h"
#include "plt.h"
#include "resolve.h"
#include "symbols.h"
#include "text.h"

/**
 * struct binary - the file that is asked about
 * @question: the question
 * @dwfl: libdwfl's session
 * @path: the file below the root
 * @debug_path: where libdwfl looks for debug files
 * @callbacks: for libdwfl
 * @module: the file in it
 * @elf: the file
 * @bias: what libdwfl adds to the file's addresses
 * @symbols: at addresses with @bias
 * @fd: the file, for @bounds; -1: there is none
 * @bounds: functions that symbols do not name, at addresses without @bias
 * @has_bounds: @bounds has been filled
 * @entry: e_entry with @bias
 * @pc: of each address that is asked for, with @bias; ~0: it is in no segment
 * @inlines: what DWARF says of them
 * @dwarf_bias: what libdwfl adds to DWARF's addresses
 * @doubt: why it may be another file than the recorded one, or NULL
 */
struct binary {
	const struct question	*question;
	Dwfl			*dwfl;
	char			*path;
	char			*debug_path;
	Dwfl_Callbacks		 callbacks;
	Dwfl_Module		*module;
	Elf			*elf;
	GElf_Addr		 bias;
	struct symbols		 symbols;
	int			 fd;
	struct bounds		 bounds;
	bool			 has_bounds;
	u64			 entry;
	u64			*pc;
	struct inlines		 inlines;
	Dwarf_Addr		 dwarf_bias;
	const char		*doubt;
};

/* In hexadecimal, cut to what perf has of it.  Return: whether there is one. */
static bool elf_build_id(Elf *elf, char *id, size_t room)
{
	const void *bits;
	ssize_t size = dwelf_elf_gnu_build_id(elf, &bits);

	if (size > 0)
		text_hex(bits, size < PERFDATA_MAX_BUILD_ID ? size : PERFDATA_MAX_BUILD_ID, id, room);
	return size > 0;
}

/* Is it the file that was recorded? */
enum file_match {
	FILE_OTHER,
	FILE_PERHAPS,
	FILE_SAME,
};

/* Devices without a major number, as those of btrfs, have several minor ones. */
static bool file_match_device(u64 recorded, dev_t dev)
{
	return !recorded || (recorded >> 32 == major(dev) &&
			     (!major(dev) || (u32)recorded == minor(dev)));
}

/*
 * By its inode number, which a copy below --symfs cannot have, and its device, which may have had
 * another number.  Those that perf has of a file on overlayfs are of the file system below.
 */
static enum file_match file_match_inode(const struct question *question, int fd)
{
	bool is_overlay, is_same;
	struct statfs fs;
	struct stat st;

	if (!question->file.inode || *question->root)
		return FILE_SAME;
	is_overlay = !fstatfs(fd, &fs) && fs.f_type == OVERLAYFS_SUPER_MAGIC;
	is_same = !fstat(fd, &st) && question->file.inode == st.st_ino;
	if (is_same && (is_overlay || file_match_device(question->file.dev, st.st_dev)))
		return FILE_SAME;
	return is_same || is_overlay ? FILE_PERHAPS : FILE_OTHER;
}

static enum file_match file_match(const struct question *question, int fd)
{
	const char *wanted = question->build_id;
	char id[2 * PERFDATA_MAX_BUILD_ID + 1];
	bool is_same;
	Elf *elf;

	if (!*wanted)
		return file_match_inode(question, fd);
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	/* perf pads shorter build-ids with zeros. */
	is_same = elf && elf_build_id(elf, id, sizeof(id)) && !strncmp(id, wanted, strlen(id)) &&
		  strspn(wanted + strlen(id), "0") == strlen(wanted) - strlen(id);
	elf_end(elf);
	return is_same ? FILE_SAME : FILE_OTHER;
}

/*
 * Open what the recorded path leads to for a process that has mapped the file: if that process runs
 * in a container, the path leads to another file here.
 */
static int file_open_of_process(const struct question *question)
{
	if (!question->file.mapper || *question->root)
		return -1;
	return io_open_of_process(question->file.mapper, question->path);
}

/* perf's copy of it. */
static int file_open_copy(const struct question *question)
{
	const char *home = getenv("HOME"), *id = question->build_id;
	char *path;
	int fd;

	if (!home || strlen(id) < 4 ||
	    asprintf(&path, "%s/.debug/.build-id/%.2s/%s/elf", home, id, id + 2) < 0)
		return -1;
	fd = io_open_regular(path);
	free(path);
	return fd;
}

/*
 * Open the file that was recorded.  Return: its descriptor, with @why NULL, or a sentence if it may be
 * another file; or -1, with @why a sentence that says why there is none.
 */
static int file_open(const struct question *question, const char **why)
{
	int (*const others[])(const struct question *question) = {
		file_open_of_process, file_open_copy,
	};
	int fd, perhaps = -1;
	char *path;
	size_t i;

	if (asprintf(&path, "%s%s", question->root, question->path) < 0)
		alloc_check(NULL, 0);
	fd = strcmp(question->path, "[vdso]") ? io_open_regular(path) : io_memfd_vdso();
	free(path);
	*why = fd >= 0 ? *question->build_id ?
			 "the file is not the recorded one: its build-id differs" :
			 "the file is not the recorded one: its inode number differs "
			 "(--symfs / takes it all the same)" :
	       errno == ENXIO ? "not a regular file" : strerror(errno);
	for (i = 0; i <= sizeof(others) / sizeof(others[0]); i++) {
		enum file_match match = fd < 0 ? FILE_OTHER : file_match(question, fd);

		if (match == FILE_SAME) {
			if (perhaps >= 0)
				close(perhaps);
			*why = NULL;
			return fd;
		}
		if (match == FILE_PERHAPS && perhaps < 0)
			perhaps = fd;
		else if (fd >= 0)
			close(fd);
		fd = i < sizeof(others) / sizeof(others[0]) ? others[i](question) : -1;
	}
	if (perhaps >= 0)
		*why = "it may be another file than the recorded one: its inode number or device "
		       "differs, as they may on overlayfs, and its build-id is not known";
	return perhaps;
}

/*
 * Find a debug file, or the one that it shares with others (.gnu_debugaltlink: @crc is 0), as
 * dwfl_standard_find_debuginfo() does, and make it quick to read.  A debug file that this finds by
 * its name and checks by its build-id cannot be replaced: libdwfl keeps the handle that it checked.
 */
static int binary_find_debug(Dwfl_Module *module, void **arg, const char *name, Dwarf_Addr base,
			     const char *path, const char *link, GElf_Word crc, char **found)
{
	int fd = dwfl_build_id_find_debuginfo(module, arg, name, base, path, link, crc, found);
	const unsigned char *bits;
	bool is_kept = false;
	GElf_Addr address;

	if (fd < 0) {
		fd = dwfl_standard_find_debuginfo(module, arg, name, base, path, link, crc, found);
		is_kept = *found && (crc || !link) &&
			  dwfl_module_build_id(module, &bits, &address) > 0;
	}
	return fd < 0 || is_kept ? fd : debug_image_open(fd);
}

/* Return: NULL, or why there are no names. */
static const char *binary_open(struct binary *binary)
{
	bool wants_dwarf = binary->question->inlines || binary->question->lines;
	const char *root = binary->question->root, *why;
	int fd = file_open(binary->question, &why);

	if (fd < 0)
		return why;
	binary->doubt = why;
	binary->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	io_open_only_regular();
	/* libdwfl's own, and the same below the root; beside the file first, with its checksum. */
	if (asprintf(&binary->path, "%s%s", root, binary->question->path) < 0 ||
	    asprintf(&binary->debug_path, "+:.debug:%s/usr/lib/debug:/usr/lib/debug", root) < 0)
		alloc_check(NULL, 0);
	if (wants_dwarf)
		fd = debug_image_open(fd);
	binary->callbacks = (Dwfl_Callbacks){
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = wants_dwarf ? binary_find_debug :
						  dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &binary->debug_path,
	};
	binary->dwfl = dwfl_begin(&binary->callbacks);
	alloc_check(binary->dwfl, 0);
	binary->module = dwfl_report_offline(binary->dwfl, binary->path, binary->path, fd);
	dwfl_report_end(binary->dwfl, NULL, NULL);
	if (!binary->module) {
		close(fd);
		return dwfl_errmsg(-1);
	}
	binary->elf = dwfl_module_getelf(binary->module, &binary->bias);
	return binary->elf ? NULL : dwfl_errmsg(-1);
}

static void binary_close(struct binary *binary)
{
	dwfl_end(binary->dwfl);
	if (binary->has_bounds)
		bounds_close(&binary->bounds);
	if (binary->fd >= 0)
		close(binary->fd);
	free(binary->path);
	free(binary->debug_path);
}

/* Ends of sections with code: 0 for others. */
struct section_end {
	Elf	*elf;
	size_t	 index;
	u64	 end;
};

static u64 section_find_end(struct section_end *known, Elf *elf, size_t index, u64 bias)
{
	GElf_Shdr shdr;

	if (known->elf == elf && known->index == index)
		return known->end;
	*known = (struct section_end){ elf, index, 0 };
	if (gelf_getshdr(elf_getscn(elf, index), &shdr) && shdr.sh_flags & SHF_EXECINSTR)
		known->end = shdr.sh_addr + shdr.sh_size + bias;
	return known->end;
}

/* If an address has several names, the best one is global, not weak, with few underscores (as perf chooses). */
static u32 symbol_rank(const GElf_Sym *symbol, const char *name)
{
	unsigned int binding = GELF_ST_BIND(symbol->st_info), underscores = strspn(name, "_");

	return (binding != STB_WEAK) << 8 | (binding == STB_GLOBAL) << 7 |
	       (64 - (underscores < 64 ? underscores : 64));
}

static bool symbol_is_code(const GElf_Sym *symbol)
{
	unsigned int type = GELF_ST_TYPE(symbol->st_info);

	return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

#define VERSYM_HIDDEN	0x8000	/* of Elf64_Versym (LSB 5.0, 10.7.2) */

/* Symbols of old versions, which only programs get that were linked with them, at addresses without bias. */
struct hidden {
	struct hidden_symbol {
		const char	*name;
		u64		 address;
	}	*symbol;
	size_t	 count;
	size_t	 room;
};

/* Take those that a section of symbols' versions has. */
static void hidden_add(struct hidden *hidden, Elf *elf, Elf_Scn *section, const GElf_Shdr *shdr)
{
	Elf_Data *versions = elf_getdata(section, NULL), *symbols;
	Elf_Scn *table = elf_getscn(elf, shdr->sh_link);
	GElf_Shdr table_shdr;
	GElf_Versym version;
	const char *name;
	GElf_Sym sym;
	int i;

	symbols = table ? elf_getdata(table, NULL) : NULL;
	if (!versions || !symbols || !gelf_getshdr(table, &table_shdr))
		return;
	for (i = 0; gelf_getsym(symbols, i, &sym) && gelf_getversym(versions, i, &version); i++) {
		name = version & VERSYM_HIDDEN && sym.st_shndx != SHN_UNDEF ?
		       elf_strptr(elf, table_shdr.sh_link, sym.st_name) : NULL;
		if (!name)
			continue;
		hidden->symbol = alloc_room(hidden->symbol, hidden->count, &hidden->room,
					    sizeof(*hidden->symbol));
		hidden->symbol[hidden->count++] = (struct hidden_symbol){ name, sym.st_value };
	}
}

static int hidden_compare(const void *a, const void *b)
{
	const struct hidden_symbol *x = a, *y = b;

	return order(x->address, y->address) ?: strcmp(x->name, y->name);
}

static void hidden_find(struct hidden *hidden, Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr shdr;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &shdr) && shdr.sh_type == SHT_GNU_versym)
			hidden_add(hidden, elf, section, &shdr);
	if (hidden->count)
		qsort(hidden->symbol, hidden->count, sizeof(*hidden->symbol), hidden_compare);
}

/* In .symtab the names say it: "cfree@GLIBC_2.2.5" is an old version, "free@@GLIBC_2.2.5" is not. */
static bool hidden_has(const struct hidden *hidden, const char *name, u64 address)
{
	const struct hidden_symbol symbol = { name, address };
	const char *at = strchr(name, '@');

	if (at)
		return at[1] != '@';
	return hidden->count && bsearch(&symbol, hidden->symbol, hidden->count,
					sizeof(symbol), hidden_compare);
}

static void binary_read_symbols(struct binary *binary)
{
	int i, count = dwfl_module_getsymtab(binary->module);
	struct section_end known = { 0 };
	struct hidden hidden = { 0 };

	hidden_find(&hidden, binary->elf);
	for (i = 0; i < count; i++) {
		GElf_Addr address, bias;
		struct symbol symbol;
		GElf_Word section;
		GElf_Sym sym;
		Elf *elf;

		symbol.name = dwfl_module_getsym_info(binary->module, i, &sym, &address, &section,
						      &elf, &bias);
		if (!symbol.name || !*symbol.name || !symbol_is_code(&sym) || !elf ||
		    section == SHN_UNDEF || section >= SHN_LORESERVE)
			continue;
		symbol.start = address;
		symbol.limit = section_find_end(&known, elf, section, bias);
		if (address >= symbol.limit)
			continue;
		symbol.end = sym.st_size ? address + sym.st_size : 0;
		if (symbol.end > symbol.limit || symbol.end < address)
			symbol.end = sym.st_size ? symbol.limit : 0;
		symbol.rank = hidden_has(&hidden, symbol.name, address - binary->bias) ? 0 :
			      symbol_rank(&sym, symbol.name);
		symbols_add(&binary->symbols, &symbol);
	}
	free(hidden.symbol);
	plt_add_symbols(&binary->symbols, binary->elf, binary->bias);
	symbols_sort(&binary->symbols);
}

/* Where a program begins; ~0 in libraries, whose e_entry may be anything. */
static u64 binary_entry(const struct binary *binary)
{
	bool program = false;
	size_t i, count;
	GElf_Phdr phdr;
	GElf_Ehdr ehdr;

	if (!gelf_getehdr(binary->elf, &ehdr) || elf_getphdrnum(binary->elf, &count))
		return ~0ull;
	for (i = 0; i < count; i++)
		program |= gelf_getphdr(binary->elf, i, &phdr) && phdr.p_type == PT_INTERP;
	return ehdr.e_entry && (program || ehdr.e_type == ET_EXEC) ? ehdr.e_entry + binary->bias :
								     ~0ull;
}

/* From an offset in the file to an address, by the program headers; ~0 if it is in none. */
static u64 binary_pc(const struct binary *binary, u64 offset)
{
	size_t i, count;
	GElf_Phdr phdr;

	if (elf_getphdrnum(binary->elf, &count))
		return ~0ull;
	for (i = 0; i < count; i++)
		if (gelf_getphdr(binary->elf, i, &phdr) && phdr.p_type == PT_LOAD &&
		    offset >= phdr.p_offset && offset - phdr.p_offset < phdr.p_filesz)
			return offset - phdr.p_offset + phdr.p_vaddr + binary->bias;
	return ~0ull;
}

/*
 * Where to look for an address: a return address belongs to the call before it.  The exception is
 * the trampoline that signal handlers return to: no call is before it.
 */
static u64 binary_lookup(const struct binary *binary, const struct profile_frame *frame)
{
	u64 pc = binary_pc(binary, frame->offset);
	const struct symbol *symbol;

	if (frame->exact || pc == ~0ull)
		return frame->exact ? pc : binary_pc(binary, frame->offset - 1);
	symbol = symbols_find(&binary->symbols, pc);
	if (symbol && symbol->start == pc && (!strcmp(symbol->name, "__restore_rt") ||
					      !strcmp(symbol->name, "__kernel_rt_sigreturn")))
		return pc;
	return binary_pc(binary, frame->offset - 1);
}

static void binary_read_dwarf(struct binary *binary)
{
	size_t i, count = binary->question->count;
	Dwarf *dwarf;
	u64 *pc;

	dwarf = dwfl_module_getdwarf(binary->module, &binary->dwarf_bias);
	pc = alloc_array(NULL, count + 1, sizeof(*pc));
	/*
	 * Ascending, as the questions are but for segments that are out of order.  What is in no
	 * segment stands there as the address before it, and gets no answer.
	 */
	for (i = 0; i < count; i++) {
		u64 before = i ? pc[i - 1] : 0;

		pc[i] = binary->pc[i] == ~0ull ? before : binary->pc[i] - binary->dwarf_bias;
		if (pc[i] < before)
			dwarf = NULL;
	}
	if (dwarf)
		inlines_find(&binary->inlines, dwarf, pc, count, binary->question->lines);
	binary->inlines.pc = NULL;
	free(pc);
}

/*
 * Is an address, for which the file has no name, in the function that a program or a thread begins with?
 * The program's is at the entry point.  Of a thread's, which in glibc is clone3(), CFI says that the return
 * address is undefined.
 */
static bool binary_begins(const struct binary *binary, u64 pc)
{
	Dwarf_Op ops_mem[3], *ops;
	Dwarf_Frame *frame;
	Dwarf_Addr bias;
	Dwarf_CFI *cfi;
	bool undefined;
	size_t nops;
	int reg;

	if (pc >= binary->entry && pc - binary->entry < 64)
		return true;
	cfi = dwfl_module_eh_cfi(binary->module, &bias);
	if (!cfi || dwarf_cfi_addrframe(cfi, pc - bias, &frame))
		return false;
	reg = dwarf_frame_info(frame, NULL, NULL, NULL);
	/* For "same value" it has no operations, either, but sets @ops to NULL. */
	undefined = reg >= 0 && !dwarf_frame_register(frame, reg, ops_mem, &ops, &nops) && !nops &&
		    ops == ops_mem;
	free(frame);
	return undefined;
}

static void put_name(FILE *out, struct answer answer, const char *name, const char *source)
{
	char *text = name ? symbol_demangle(name) : NULL;

	answer_put(out, answer, text ?: "", source);
	free(text);
}

/* The calls inlined at an address, the outermost first.  @call: the innermost. */
static void binary_put_inlined(const struct binary *binary, int call, size_t index, FILE *out)
{
	const struct inlines *inlines = &binary->inlines;
	int chain[256] = { 0 }, n = 0;
	const char *source;
	u32 line;

	for (; call >= 0 && inlines->call[call].caller >= 0 && n < 256;
	     call = inlines->call[call].caller)
		chain[n++] = call;
	while (n--) {
		/* Where this function was when it called the next one, or where the address is. */
		source = n ? inlines->call[chain[n - 1]].source : inlines->source[index];
		line = n ? inlines->call[chain[n - 1]].line : inlines->line[index];
		put_name(out, (struct answer){ .kind = FLAME_INLINED, .more = n > 0, .line = line },
			 inlines->call[chain[n]].name ?: "[inlined]", source);
	}
}

/* The function at the bottom of a chain of inlined calls, and the call that it makes. */
static int inlines_outermost(const struct inlines *inlines, int innermost, int *first)
{
	*first = -1;
	while (innermost >= 0 && inlines->call[innermost].caller >= 0) {
		*first = innermost;
		innermost = inlines->call[innermost].caller;
	}
	return innermost;
}

/* The functions that CFI and Go's table know of: read when a symbol leaves something open. */
static const struct bounds *binary_bounds(struct binary *binary)
{
	if (!binary->has_bounds)
		bounds_open(&binary->bounds, binary->fd);
	binary->has_bounds = true;
	return &binary->bounds;
}

/* The symbol that names an address, or NULL.  One without size ends where the next function begins. */
static const struct symbol *binary_find_symbol(struct binary *binary, u64 pc)
{
	const struct symbol *symbol = pc == ~0ull ? NULL : symbols_find(&binary->symbols, pc);

	if (symbol && symbol->is_label &&
	    bounds_cut(binary_bounds(binary), symbol->start - binary->bias, pc - binary->bias))
		return NULL;
	return symbol;
}

/* From an address, without bias, to an offset in the file, by the program headers. */
static u64 binary_offset(const struct binary *binary, u64 pc)
{
	const struct elf_segment *load = elf_find_load(&binary->bounds.elf, pc);

	return load ? pc - load->vaddr + load->offset : pc;
}

/*
 * The name, in Go's table, of the function that has an address; NULL if there is none.  @nameless: filled if only the
 * bounds of that function are known: where it begins, for free().
 */
static const char *binary_name_function(struct binary *binary, u64 pc, char **nameless)
{
	const struct symbol *function = pc == ~0ull ? NULL :
					bounds_find(binary_bounds(binary), pc - binary->bias);

	if (function && *function->name)
		return function->name;
	if (function)
		*nameless = answer_nameless(binary->question->path,
					    binary_offset(binary, function->start));
	return NULL;
}

static void binary_put(struct binary *binary, size_t index, FILE *out)
{
	const struct inlines *inlines = &binary->inlines;
	u64 pc = binary->pc[index];
	int innermost = inlines->innermost && pc != ~0ull ? inlines->innermost[index] : -1, first;
	int function = inlines_outermost(inlines, innermost, &first);
	const struct symbol *symbol = binary_find_symbol(binary, pc);
	const char *name = symbol ? symbol->name : function >= 0 ? inlines->call[function].name : NULL;
	struct answer answer = { .kind = FLAME_USER };
	const char *source = NULL;
	char *nameless = NULL;

	if (first >= 0) {
		source = inlines->call[first].source;
		answer.line = inlines->call[first].line;
	} else if (inlines->source) {
		source = inlines->source[index];
		answer.line = inlines->line[index];
	}
	answer.more = first >= 0 && binary->question->inlines;
	name = name ?: binary_name_function(binary, pc, &nameless);
	answer.outermost = name ? answer_is_outermost(name) || (symbol && symbol->start == binary->entry) :
				  pc != ~0ull && binary_begins(binary, pc);
	if (nameless)
		answer.kind = FLAME_UNKNOWN;
	if (nameless)
		answer_put(out, answer, nameless, source);
	else
		put_name(out, answer, name, source);
	free(nameless);
	if (answer.more)
		binary_put_inlined(binary, innermost, index, out);
}

/**
 * elf_names_identify() - the build-id of the recorded file, in hexadecimal
 * @question: the file
 * @out: takes it
 *
 * Return: through @out; nothing if that file is not there.
 */
void elf_names_identify(const struct question *question, FILE *out)
{
	struct binary binary = { .question = question, .fd = -1 };
	const char *why = binary_open(&binary);
	char id[2 * PERFDATA_MAX_BUILD_ID + 1];

	if (!why && !binary.doubt && !*question->root && elf_build_id(binary.elf, id, sizeof(id)))
		fputs(id, out);
	binary_close(&binary);
}

/** elf_names_find() - answer a question about an ELF file.  Return: through @out. */
void elf_names_find(const struct question *question, FILE *out)
{
	struct binary binary = { .question = question, .fd = -1 };
	const char *why = binary_open(&binary);
	size_t i;

	binary.pc = alloc_array(NULL, question->count + 1, sizeof(*binary.pc));
	if (!why) {
		binary.entry = binary_entry(&binary);
		binary_read_symbols(&binary);
		for (i = 0; i < question->count; i++)
			binary.pc[i] = binary_lookup(&binary, &question->frame[i]);
		if (question->inlines || question->lines)
			binary_read_dwarf(&binary);
	}
	for (i = 0; i < question->count; i++)
		if (why)
			answer_put(out, (struct answer){ .kind = FLAME_UNKNOWN, .unread = true }, "", NULL);
		else
			binary_put(&binary, i, out);
	if (why)
		answer_warn(out, "no names: %s", why);
	else if (binary.doubt)
		answer_warn(out, "%s", binary.doubt);
	free(binary.pc);
	inlines_free(&binary.inlines);
	symbols_free(&binary.symbols);
	binary_close(&binary);
}
