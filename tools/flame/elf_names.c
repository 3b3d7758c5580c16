// SPDX-License-Identifier: GPL-2.0
/*
 * Names of addresses in an ELF file.  libdwfl finds and opens what goes with it: debug files by
 * build-id and .gnu_debuglink, from debuginfod if $DEBUGINFOD_URLS is set, and .gnu_debugdata.
 */
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "answer.h"
#include "debug_image.h"
#include "inlines.h"
#include "io.h"
#include "plt.h"
#include "resolve.h"
#include "symbols.h"
#include "text.h"

#define VDSO_MAX_BYTES	(64u << 10)

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
 * @entry: e_entry with @bias
 * @pc: of each address that is asked for, with @bias; ~0: it is in no segment
 * @inlines: what DWARF says of them
 * @dwarf_bias: what libdwfl adds to DWARF's addresses
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
	u64			 entry;
	u64			*pc;
	struct inlines		 inlines;
	Dwarf_Addr		 dwarf_bias;
};

/* The vDSO of this process, which is that of all on this kernel. */
static int vdso_open(void)
{
	const void *start = (const void *)getauxval(AT_SYSINFO_EHDR);
	GElf_Ehdr ehdr;
	size_t size;

	if (!start)
		return -1;
	memcpy(&ehdr, start, sizeof(ehdr));
	size = ehdr.e_shoff + (size_t)ehdr.e_shnum * ehdr.e_shentsize;
	return size <= VDSO_MAX_BYTES ? io_memfd("vdso", start, size) : -1;
}

/* The file, or perf's copy of it if that is all there is; -1 and errno. */
static int binary_open_file(const struct question *question, bool *is_same)
{
	const char *home = getenv("HOME"), *id = question->build_id;
	char *path = NULL;
	struct stat st;
	int fd;

	*is_same = true;
	if (!strcmp(question->path, "[vdso]"))
		return vdso_open();
	if (asprintf(&path, "%s%s", question->root, question->path) < 0)
		return -1;
	fd = io_open_regular(path);
	free(path);
	if (fd >= 0) {
		*is_same = !question->file.inode || *id ||
			   (!fstat(fd, &st) && question->file.inode == st.st_ino);
		return fd;
	}
	if (!home || strlen(id) < 4 ||
	    asprintf(&path, "%s/.debug/.build-id/%.2s/%s/elf", home, id, id + 2) < 0)
		return -1;
	fd = io_open_regular(path);
	free(path);
	return fd;
}

/* In hexadecimal, cut to what perf has of it.  Return: whether there is one. */
static bool binary_build_id(const struct binary *binary, char *id, size_t room)
{
	const unsigned char *bits;
	GElf_Addr address;
	int size = dwfl_module_build_id(binary->module, &bits, &address);

	if (size > 0)
		text_hex(bits, size < PERFDATA_MAX_BUILD_ID ? size : PERFDATA_MAX_BUILD_ID, id, room);
	return size > 0;
}

/* Is it the file that was recorded, as far as can be said? */
static bool binary_matches(const struct binary *binary)
{
	const char *wanted = binary->question->build_id;
	char id[2 * PERFDATA_MAX_BUILD_ID + 1];

	if (!*wanted)
		return true;
	if (!binary_build_id(binary, id, sizeof(id)))
		return false;
	/* perf pads shorter build-ids with zeros. */
	return !strncmp(id, wanted, strlen(id)) && strspn(wanted + strlen(id), "0") ==
	       strlen(wanted) - strlen(id);
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
	bool is_same, wants_dwarf = binary->question->inlines || binary->question->lines;
	const char *root = binary->question->root;
	int fd = binary_open_file(binary->question, &is_same);

	if (fd < 0)
		return errno == ENXIO ? "not a regular file" : strerror(errno);
	/* libdwfl's own, and the same below the root; beside the file first, with its checksum. */
	if (asprintf(&binary->path, "%s%s", root, binary->question->path) < 0 ||
	    asprintf(&binary->debug_path, "+:.debug:%s/usr/lib/debug:/usr/lib/debug", root) < 0)
		alloc_check(NULL, 0);
	if (wants_dwarf)
		fd = debug_image_open(fd);
	binary->callbacks = (Dwfl_Callbacks){
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = wants_dwarf ? binary_find_debug : dwfl_standard_find_debuginfo,
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
	if (!binary->elf)
		return dwfl_errmsg(-1);
	if (!binary_matches(binary))
		return "the file has changed since the recording: its build-id differs";
	return is_same ? NULL : "";
}

static void binary_close(struct binary *binary)
{
	dwfl_end(binary->dwfl);
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

/* Of several names of one address: global, not weak, few underscores (as perf chooses). */
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

static void binary_read_symbols(struct binary *binary)
{
	int i, count = dwfl_module_getsymtab(binary->module);
	struct section_end known = { 0 };

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
		symbol.rank = symbol_rank(&sym, symbol.name);
		symbols_add(&binary->symbols, &symbol);
	}
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
	/* Ascending, as the questions are but for segments that are out of order. */
	for (i = 0; i < count; i++) {
		pc[i] = binary->pc[i] == ~0ull ? ~0ull : binary->pc[i] - binary->dwarf_bias;
		if (i && pc[i] < pc[i - 1])
			dwarf = NULL;
	}
	if (dwarf)
		inlines_find(&binary->inlines, dwarf, pc, count, binary->question->lines);
	binary->inlines.pc = NULL;
	free(pc);
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

static void binary_put(const struct binary *binary, size_t index, FILE *out)
{
	const struct inlines *inlines = &binary->inlines;
	int innermost = inlines->innermost ? inlines->innermost[index] : -1, first;
	int function = inlines_outermost(inlines, innermost, &first);
	u64 pc = binary->pc[index];
	const struct symbol *symbol = pc == ~0ull ? NULL : symbols_find(&binary->symbols, pc);
	const char *name = symbol ? symbol->name : function >= 0 ? inlines->call[function].name : NULL;
	struct answer answer = { .kind = FLAME_USER };
	const char *source = NULL;

	if (first >= 0) {
		source = inlines->call[first].source;
		answer.line = inlines->call[first].line;
	} else if (inlines->source) {
		source = inlines->source[index];
		answer.line = inlines->line[index];
	}
	answer.more = first >= 0 && binary->question->inlines;
	answer.outermost = name ? answer_is_outermost(name) || (symbol && symbol->start == binary->entry) :
				  pc != ~0ull && pc >= binary->entry && pc - binary->entry < 64;
	put_name(out, answer, name, source);
	if (answer.more)
		binary_put_inlined(binary, innermost, index, out);
}

/** elf_names_identify() - the file's build-id, in hexadecimal.  Return: through @out. */
void elf_names_identify(const struct question *question, FILE *out)
{
	struct binary binary = { .question = question };
	const char *why = binary_open(&binary);
	char id[2 * PERFDATA_MAX_BUILD_ID + 1];

	/* @why is "" if the file may have been changed since it was recorded. */
	if (!why && binary_build_id(&binary, id, sizeof(id)))
		fputs(id, out);
	binary_close(&binary);
}

/** elf_names_find() - answer a question about an ELF file.  Return: through @out. */
void elf_names_find(const struct question *question, FILE *out)
{
	struct binary binary = { .question = question };
	const char *why = binary_open(&binary);
	size_t i;

	binary.pc = alloc_array(NULL, question->count + 1, sizeof(*binary.pc));
	if (!why || !*why) {
		binary.entry = binary_entry(&binary);
		binary_read_symbols(&binary);
		for (i = 0; i < question->count; i++)
			binary.pc[i] = binary_lookup(&binary, &question->frame[i]);
		if (question->inlines || question->lines)
			binary_read_dwarf(&binary);
	}
	for (i = 0; i < question->count; i++)
		if (why && *why)
			answer_put(out, (struct answer){ .kind = FLAME_UNKNOWN }, "", NULL);
		else
			binary_put(&binary, i, out);
	if (why)
		answer_warn(out, "%s%s", *why ? "no names: " : "it may have changed since the "
			    "recording: its inode number differs, and its build-id is not known",
			    why);
	free(binary.pc);
	inlines_free(&binary.inlines);
	symbols_free(&binary.symbols);
	binary_close(&binary);
}
