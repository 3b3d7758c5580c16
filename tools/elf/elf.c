// SPDX-License-Identifier: GPL-2.0
/*
 * ELF files: headers, text, identity and sections of CFI.  libelf reads headers, and decompresses
 * sections; reader.c reads all other bytes.
 */
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <sha2.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "error.h"
#include "elf.h"
#include "order.h"
#include "reader.h"

static bool elf_has(const struct elf_file *elf, u64 offset, u64 size)
{
	return offset <= elf->file_size && size <= elf->file_size - offset;
}

static const char *elf_machine_name(u16 machine)
{
	static const char *const names[EM_LOONGARCH + 1] = {
		[EM_386] = "i386", [EM_ARM] = "ARM", [EM_AARCH64] = "AArch64",
		[EM_RISCV] = "RISC-V", [EM_PPC64] = "PowerPC64", [EM_S390] = "S/390",
		[EM_MIPS] = "MIPS", [EM_LOONGARCH] = "LoongArch",
	};

	return (machine <= EM_LOONGARCH ? names[machine] : NULL) ?: "another machine";
}

/* Read the ELF header with pread(), not libelf, and check that the file is of the right kind. */
static int elf_read_header(int fd, Elf64_Ehdr *h, struct bee_error *error)
{
	ssize_t got = pread(fd, h, sizeof(*h), 0);

	if (got < 0)
		return error_set(error, errno, "cannot read: %s", strerror(errno));
	if (got < SELFMAG || memcmp(h->e_ident, ELFMAG, SELFMAG))
		return error_set(error, 0, "not an ELF file");
	if (got < EI_NIDENT)
		return error_set(error, 0, "truncated within the ELF header");
	if (h->e_ident[EI_CLASS] == ELFCLASS32)
		return error_set(error, 0, "a 32-bit ELF file; only 64-bit x86-64 is supported");
	if (h->e_ident[EI_CLASS] != ELFCLASS64)
		return error_set(error, 0, "unknown ELF class %u", h->e_ident[EI_CLASS]);
	if (h->e_ident[EI_DATA] == ELFDATA2MSB)
		return error_set(error, 0, "a big-endian ELF file; only x86-64 is supported");
	if (h->e_ident[EI_DATA] != ELFDATA2LSB)
		return error_set(error, 0, "unknown ELF byte order %u", h->e_ident[EI_DATA]);
	if (got < (ssize_t)sizeof(*h))
		return error_set(error, 0, "truncated within the ELF header");
	if (h->e_machine != BEE_TABLE_MACHINE)
		return error_set(error, 0, "made for %s (e_machine %u), not x86-64",
				 elf_machine_name(h->e_machine), h->e_machine);
	switch (h->e_type) {
	case ET_EXEC:
	case ET_DYN:
		return 0;
	case ET_REL:
		return error_set(error, 0,
				 "a relocatable object, neither executable nor shared object");
	case ET_CORE:
		return error_set(error, 0, "a core dump, neither executable nor shared object");
	}
	return error_set(error, 0, "neither executable nor shared object (e_type %u)", h->e_type);
}

/* No real binary is larger, and a larger one would take too long to read. */
#define ELF_MAX_SIZE	(4ll << 30)

/* No real binary has more sections, and libelf allocates memory for each. */
#define ELF_MAX_SECTIONS	(1u << 16)

static int elf_refuse_unread(const struct elf_file *elf, struct bee_error *error)
{
	return reader_check(elf->reader, error) ?: error_set(error, 0, "cannot read");
}

/*
 * Read bytes that libelf reads next.  If a read fails in libelf, it only says that the file has no such section or
 * note; if it fails here, elf_check() reports the error.
 */
static bool elf_touch(const struct elf_file *elf, u64 offset, u64 size)
{
	u64 at, piece;

	for (at = 0; at < size; at += piece) {
		piece = size - at < READER_MAX_WINDOW ? size - at : READER_MAX_WINDOW;
		if (!reader_window(elf->reader, offset + at, piece))
			return false;
	}
	return true;
}

/*
 * Check that the program headers lie within the file and section headers are not too many, and read them as
 * elf_touch() does.
 */
static int elf_check_headers(const struct elf_file *elf, const Elf64_Ehdr *h, struct bee_error *error)
{
	u64 segments = (u64)h->e_phnum * sizeof(Elf64_Phdr), sections = h->e_shnum;
	Elf64_Shdr first;
	const u8 *bytes;

	if (h->e_phnum && h->e_phentsize != sizeof(Elf64_Phdr))
		return error_set(error, 0, "malformed: e_phentsize is %u", h->e_phentsize);
	if (h->e_shoff && h->e_shentsize != sizeof(Elf64_Shdr))
		return error_set(error, 0, "malformed: e_shentsize is %u", h->e_shentsize);
	if (h->e_phnum == PN_XNUM)
		return error_set(error, 0, "more than %u program headers", PN_XNUM - 1);
	if (!elf_has(elf, h->e_phoff, segments))
		return error_set(error, 0, "truncated: program headers lie past the end of the file");
	if (segments && !reader_bytes(elf->reader, h->e_phoff, segments))
		return elf_refuse_unread(elf, error);
	/* Programs run without section headers. */
	if (!h->e_shoff || !elf_has(elf, h->e_shoff, (sections ?: 1) * sizeof(first)))
		return 0;
	/* gABI, "ELF Header": the number of sections is in the first one if e_shnum has no room for it. */
	if (!sections) {
		bytes = reader_bytes(elf->reader, h->e_shoff, sizeof(first));
		if (!bytes)
			return elf_refuse_unread(elf, error);
		memcpy(&first, bytes, sizeof(first));
		sections = first.sh_size;
	}
	if (sections > ELF_MAX_SECTIONS)
		return error_set(error, 0, "more than %u sections", ELF_MAX_SECTIONS);
	return !sections || reader_bytes(elf->reader, h->e_shoff, sections * sizeof(first)) ?
	       0 : elf_refuse_unread(elf, error);
}

/* Open a file, and check that its program headers lie within it. */
static int elf_start(struct elf_file *elf, int fd, struct bee_error *error)
{
	Elf64_Ehdr h = {};
	struct stat st;

	if (fstat(fd, &st))
		return error_set(error, errno, "cannot stat: %s", strerror(errno));
	if (S_ISDIR(st.st_mode))
		return error_set(error, 0, "is a directory");
	if (!S_ISREG(st.st_mode))
		return error_set(error, 0, "not a regular file");
	if (!st.st_size)
		return error_set(error, 0, "empty file");
	if (st.st_size > ELF_MAX_SIZE)
		return error_set(error, 0, "larger than 4 GiB");
	elf->file_size = st.st_size;
	if (elf_read_header(fd, &h, error))
		return -1;
	elf->entry = h.e_entry;
	elf->shared = h.e_type == ET_DYN;
	elf->reader = reader_open(fd, error);
	if (!elf->reader)
		return -1;
	if (reader_size(elf->reader) != elf->file_size)
		return error_set(error, ESTALE, "changed while it was read");
	if (elf_check_headers(elf, &h, error))
		return -1;
	elf_version(EV_CURRENT);
	elf->handle = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf->handle || elf_kind(elf->handle) != ELF_K_ELF)
		return error_set(error, 0, "malformed: %s", elf_errmsg(-1) ?: "not an ELF file");
	return 0;
}

/*
 * Of all PT_NOTE, and of PT_DYNAMIC, only this many bytes are read; real ones are smaller.  Each PT_NOTE counts as
 * ELF_LEAST_NOTE bytes at least, so that there are not too many: for each, libelf searches a list of those before.
 */
#define ELF_MAX_CHUNK	(1u << 20)
#define ELF_LEAST_NOTE	4096

/* What the program headers and the dynamic section say, apart from segments. */
struct elf_headers {
	size_t	notes;		/* bytes of PT_NOTE that have been read, up to ELF_MAX_CHUNK */
	bool	interp;		/* there is a PT_INTERP */
	bool	dynamic;	/* there is a PT_DYNAMIC, and it has */
	bool	pie;		/* DF_1_PIE */
	bool	depends;	/* DT_NEEDED, DT_INIT_ARRAY or DT_FINI_ARRAY */
};

static size_t elf_chunk_size(const GElf_Phdr *ph, size_t used)
{
	return ph->p_filesz < ELF_MAX_CHUNK - used ? ph->p_filesz : ELF_MAX_CHUNK - used;
}

/* A build-id too long for a table counts as none. */
static void elf_add_notes(struct elf_file *elf, const GElf_Phdr *ph, struct elf_headers *headers)
{
	Elf_Type type = ph->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR;
	size_t at = 0, next, name, desc, size = elf_chunk_size(ph, headers->notes);
	Elf_Data *data = NULL;
	GElf_Nhdr note;

	if (size && !elf->id_len && elf_touch(elf, ph->p_offset, size))
		data = elf_getdata_rawchunk(elf->handle, ph->p_offset, size, type);
	headers->notes += size > ELF_LEAST_NOTE ? size : ELF_LEAST_NOTE;
	if (headers->notes > ELF_MAX_CHUNK)
		headers->notes = ELF_MAX_CHUNK;
	for (; data && !elf->id_len; at = next) {
		next = gelf_getnote(data, at, &note, &name, &desc);
		if (!next)
			break;
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof(ELF_NOTE_GNU) ||
		    memcmp((char *)data->d_buf + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) ||
		    !note.n_descsz || note.n_descsz > sizeof(elf->id))
			continue;
		elf->id_type = BEE_ID_BUILD_ID;
		elf->id_len = note.n_descsz;
		memcpy(elf->id, (char *)data->d_buf + desc, note.n_descsz);
	}
}

/*
 * Of shared objects only some can be started, and so have an entry point: those with PT_INTERP,
 * static programs (DF_1_PIE, or no dynamic section) and the dynamic linker, which needs no other
 * object and has nobody to call its constructors.  Linkers (GNU ld up to 2.35) write an e_entry
 * into libraries too: the start of .text.
 */
static bool elf_can_start(const struct elf_headers *headers)
{
	return headers->interp || headers->pie || !headers->dynamic || !headers->depends;
}

static int elf_add_dynamic(struct elf_file *elf, const GElf_Phdr *ph,
			   struct elf_headers *headers, struct bee_error *error)
{
	size_t size = headers->dynamic ? 0 : elf_chunk_size(ph, 0);
	const u8 *data = size ? reader_bytes(elf->reader, ph->p_offset, size) : NULL;
	struct cursor c = cursor_of(data, size);

	headers->dynamic = true;

	if (!size)
		return 0;
	if (!data)
		return elf_refuse_unread(elf, error);
	while (!c.bad) {
		u64 tag = cursor_u64(&c), value = cursor_u64(&c);

		if (c.bad || tag == DT_NULL)
			break;
		switch (tag) {
		case DT_PLTGOT:
			elf->pltgot = value;
			elf->has_pltgot = true;
			break;
		case DT_RELA:
			elf->rela.vaddr = value;
			break;
		case DT_RELASZ:
			elf->rela.size = value;
			break;
		case DT_NEEDED:
		case DT_INIT_ARRAY:
		case DT_FINI_ARRAY:
			headers->depends = true;
			break;
		case DT_FLAGS_1:
			headers->pie = value & DF_1_PIE;
			break;
		}
	}
	return 0;
}

static int elf_add_phdr(struct elf_file *elf, const GElf_Phdr *ph, struct elf_headers *headers,
			struct bee_error *error)
{
	struct elf_segment segment = {
		.vaddr = ph->p_vaddr, .offset = ph->p_offset, .size = ph->p_filesz,
	};
	bool wanted = ph->p_type == PT_LOAD || ph->p_type == PT_NOTE ||
		      ph->p_type == PT_DYNAMIC || ph->p_type == PT_GNU_EH_FRAME;

	if (wanted && ph->p_filesz && !elf_has(elf, ph->p_offset, ph->p_filesz))
		return error_set(error, 0, "truncated: a segment lies past the end of the file");
	switch (ph->p_type) {
	case PT_LOAD:
		if (segment.vaddr + segment.size < segment.vaddr)
			return error_set(error, 0,
					 "malformed: a segment wraps around the address space");
		elf->loads[elf->nloads++] = segment;
		if (!(ph->p_flags & PF_X) || !segment.size)
			break;
		if (elf->ntext == BEE_TABLE_MAX_SEGMENTS)
			return error_set(error, 0, "more than %d executable segments",
					 BEE_TABLE_MAX_SEGMENTS);
		elf->text[elf->ntext++] = segment;
		break;
	case PT_NOTE:
		elf_add_notes(elf, ph, headers);
		break;
	case PT_DYNAMIC:
		return elf_add_dynamic(elf, ph, headers, error);
	case PT_INTERP:
		headers->interp = true;
		break;
	case PT_GNU_EH_FRAME:
		elf->hdr = segment;
		break;
	}
	return 0;
}

static int elf_compare_vaddr(const void *a, const void *b)
{
	const struct elf_segment *x = a, *y = b;

	return order(x->vaddr, y->vaddr);
}

static int elf_read_segments(struct elf_file *elf, struct bee_error *error)
{
	struct elf_headers headers = {};
	size_t i, n = 0;

	if (elf_getphdrnum(elf->handle, &n) || !n)
		return error_set(error, 0, "no program headers");
	elf->loads = alloc_array(NULL, n, sizeof(*elf->loads));
	for (i = 0; i < n; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(elf->handle, i, &ph))
			return error_set(error, 0, "malformed program header: %s", elf_errmsg(-1));
		if (elf_add_phdr(elf, &ph, &headers, error))
			return -1;
	}
	if (elf->shared && !elf_can_start(&headers))
		elf->entry = 0;
	if (!elf->ntext)
		return error_set(error, 0, "no executable segment");
	qsort(elf->text, elf->ntext, sizeof(*elf->text), elf_compare_vaddr);
	for (i = 1; i < elf->ntext; i++)
		if (elf->text[i].vaddr - elf->text[i - 1].vaddr < elf->text[i - 1].size)
			return error_set(error, 0, "malformed: executable segments overlap");
	return 0;
}

static void elf_add_frames(struct elf_file *elf, const void *data, size_t size, u64 vaddr,
			   bool debug_frame)
{
	if (!size || elf->nframes == ELF_MAX_FRAMES)
		return;
	elf->frames[elf->nframes++] = (struct elf_frames){
		.data = data, .size = size, .debug_frame = debug_frame,
		.base = {
			.data = data, .vaddr = vaddr,
			.datarel = elf->pltgot, .has_datarel = elf->has_pltgot,
		},
	};
}

/* The names of sections. */
struct elf_names {
	const u8	*bytes;
	u64		 size;
};

static bool elf_section_is(const struct elf_names *names, const GElf_Shdr *sh, const char *name)
{
	size_t size = strlen(name) + 1;

	return sh->sh_name <= names->size && size <= names->size - sh->sh_name &&
	       !memcmp(names->bytes + sh->sh_name, name, size);
}

/*
 * Is it one of the sections that Go's linker makes?  Remember its function table, and the data of
 * its module.  Before Go 1.26, in position-independent files that another linker has made of it,
 * the table is somewhere in .data.rel.ro.
 */
static bool elf_add_go(struct elf_file *elf, const struct elf_names *names, const GElf_Shdr *sh)
{
	bool whole = elf_section_is(names, sh, ".gopclntab") ||
		     elf_section_is(names, sh, ".data.rel.ro.gopclntab");
	bool part = elf_section_is(names, sh, ".data.rel.ro");
	bool module = elf_section_is(names, sh, ".go.module");

	if (whole || elf_section_is(names, sh, ".go.buildinfo") ||
	    elf_section_is(names, sh, ".note.go.buildid"))
		elf->is_go = true;
	if ((whole || module || (part && !elf->gopclntab.size)) &&
	    sh->sh_size <= READER_MAX_BYTES && elf_has(elf, sh->sh_offset, sh->sh_size))
		*(module ? &elf->go_module : &elf->gopclntab) = (struct elf_segment){
			.vaddr = sh->sh_addr, .offset = sh->sh_offset, .size = sh->sh_size,
		};
	return whole || part || module;
}

/*
 * A section of CFI that compresses better than this is not real: with zlib that of large programs
 * shrinks to a fifth, that of equal functions to a twentieth, and zeros to a thousandth.
 */
#define ELF_MAX_RATIO	32

/* The bytes that a compressed section says it has; 0 if it says nothing sensible. */
static u64 elf_real_size(struct elf_file *elf, Elf_Scn *scn, const GElf_Shdr *sh)
{
	u64 size = 0;
	GElf_Chdr ch;

	if (sh->sh_flags & SHF_COMPRESSED) {
		size = gelf_getchdr(scn, &ch) ? ch.ch_size : 0;
	} else if (sh->sh_size >= 12) {
		/* "ZLIB" and the size, in big endian */
		const u8 *bytes = reader_window(elf->reader, sh->sh_offset, 12);

		if (bytes) {
			memcpy(&size, bytes + 4, sizeof(size));
			size = __builtin_bswap64(size);
		}
	}
	return size <= READER_MAX_BYTES && size / ELF_MAX_RATIO <= sh->sh_size ? size : 0;
}

/* Add a .debug_frame or, if @gnu, a .zdebug_frame.  One that cannot be decompressed is none. */
static void elf_add_debug_frame(struct elf_file *elf, Elf_Scn *scn, const GElf_Shdr *sh, bool gnu)
{
	Elf_Data *data;

	if (!elf_touch(elf, sh->sh_offset, sh->sh_size))
		return;
	if (gnu || sh->sh_flags & SHF_COMPRESSED) {
		if (!elf_real_size(elf, scn, sh) ||
		    (gnu && elf_compress_gnu(scn, 0, 0) < 0) ||
		    (sh->sh_flags & SHF_COMPRESSED && elf_compress(scn, 0, 0) < 0))
			return;
	}
	data = elf_getdata(scn, NULL);
	if (data && data->d_buf)
		elf_add_frames(elf, data->d_buf, data->d_size, 0, true);
}

/* Add a section that is .eh_frame or, if @debug_frames, .debug_frame or .zdebug_frame. */
static int elf_read_section(struct elf_file *elf, Elf_Scn *scn, const struct elf_names *names,
			    bool debug_frames, struct bee_error *error)
{
	const char *name = debug_frames ? ".debug_frame" : ".eh_frame";
	const u8 *bytes;
	GElf_Shdr sh;

	if (!gelf_getshdr(scn, &sh) || sh.sh_type == SHT_NOBITS ||
	    elf_add_go(elf, names, &sh))
		return 0;
	if (!elf_section_is(names, &sh, name)) {
		name = ".zdebug_frame";
		if (!debug_frames || !elf_section_is(names, &sh, name))
			return 0;
	}
	if (!elf_has(elf, sh.sh_offset, sh.sh_size))
		return error_set(error, 0, "truncated: section %s lies past the end of the file",
				 name);
	if (sh.sh_size > READER_MAX_BYTES)
		return error_set(error, 0, "section %s has more than 512 MiB", name);
	if (!sh.sh_size || elf->nframes == ELF_MAX_FRAMES)
		return 0;
	if (debug_frames) {
		elf_add_debug_frame(elf, scn, &sh, name[1] == 'z');
		return 0;
	}
	bytes = reader_bytes(elf->reader, sh.sh_offset, sh.sh_size);
	if (!bytes)
		return elf_refuse_unread(elf, error);
	elf_add_frames(elf, bytes, sh.sh_size, sh.sh_addr, false);
	return 0;
}

/* If the names of sections have more bytes they are not read; real ones are much shorter. */
#define ELF_MAX_NAMES	(16u << 20)

static void elf_read_names(struct elf_file *elf, const GElf_Shdr *sh, struct elf_names *names)
{
	if (!sh->sh_size || sh->sh_size > ELF_MAX_NAMES ||
	    !elf_has(elf, sh->sh_offset, sh->sh_size))
		return;
	names->bytes = reader_bytes(elf->reader, sh->sh_offset, sh->sh_size);
	names->size = names->bytes ? sh->sh_size : 0;
}

static int elf_digest(struct elf_file *elf, struct bee_error *error)
{
	SHA2_CTX context;
	u64 at, size;

	SHA256Init(&context);
	for (at = 0; at < elf->file_size; at += size) {
		const u8 *bytes;

		size = elf->file_size - at;
		if (size > READER_MAX_WINDOW)
			size = READER_MAX_WINDOW;
		bytes = reader_window(elf->reader, at, size);
		if (!bytes)
			return elf_refuse_unread(elf, error);
		SHA256Update(&context, bytes, size);
	}
	SHA256Final(elf->id, &context);
	elf->id_type = BEE_ID_SHA256;
	elf->id_len = SHA256_DIGEST_LENGTH;
	return 0;
}

/**
 * elf_is_candidate() - could a file have a table?
 * @fd: the file
 *
 * Return: true if its ELF header is that of an x86-64 executable or shared object.
 */
bool elf_is_candidate(int fd)
{
	struct bee_error error;
	Elf64_Ehdr h = {};

	return !elf_read_header(fd, &h, &error);
}

/**
 * elf_identify() - open an ELF file, check its headers, and find its identity
 * @elf: filled but for @frames; elf_close() releases it, also after a failure
 * @fd: the file; the caller closes it, after elf_close()
 * @error: filled on failure
 *
 * Reads the headers, notes and dynamic section, a few pages; if there is no build-id, the whole
 * file for a digest.
 *
 * Return: 0 or -1.
 */
int elf_identify(struct elf_file *elf, int fd, struct bee_error *error)
{
	*elf = (struct elf_file){};
	if (elf_start(elf, fd, error) || elf_read_segments(elf, error))
		return -1;
	return elf->id_len ? 0 : elf_digest(elf, error);
}

/**
 * elf_read_cfi() - find Go's function table, and read the sections of CFI
 * @elf: elf_identify() has filled it; @bare, @is_go, @gopclntab, @go_module and @frames are
 *	filled
 * @error: filled on failure
 *
 * Return: 0, also if there are none; or -1.
 */
int elf_read_cfi(struct elf_file *elf, struct bee_error *error)
{
	struct elf_names names = {};
	size_t index = 0, n = 0;
	GElf_Shdr strings;
	int debug_frames;
	Elf_Scn *scn;

	elf->bare = elf_getshdrnum(elf->handle, &n) || !n || !elf_getscn(elf->handle, 0);
	if (elf->bare || elf_getshdrstrndx(elf->handle, &index))
		return 0;
	scn = elf_getscn(elf->handle, index);
	if (!scn || !gelf_getshdr(scn, &strings))
		return 0;
	elf_read_names(elf, &strings, &names);
	for (debug_frames = 0; debug_frames < 2; debug_frames++)
		for (scn = NULL; (scn = elf_nextscn(elf->handle, scn)); )
			if (elf_read_section(elf, scn, &names, debug_frames, error))
				return -1;
	return 0;
}

/**
 * elf_open() - elf_identify() and elf_read_cfi()
 * @elf: filled; elf_close() releases it, also after a failure
 * @fd: see elf_identify()
 * @error: filled on failure
 *
 * Return: 0 or -1.
 */
int elf_open(struct elf_file *elf, int fd, struct bee_error *error)
{
	return elf_identify(elf, fd, error) || elf_read_cfi(elf, error) ? -1 : 0;
}

/* elf_close(): release what elf_identify() and the calls after it made */
void elf_close(struct elf_file *elf)
{
	if (elf->handle)
		elf_end(elf->handle);
	reader_close(elf->reader);
	free(elf->loads);
	elf->handle = NULL;
	elf->reader = NULL;
	elf->loads = NULL;
}

/* elf_find_text(): the executable segment with a byte at @vaddr, or NULL */
const struct elf_segment *elf_find_text(const struct elf_file *elf, u64 vaddr)
{
	size_t upto = order_upto(elf->text, elf->ntext, sizeof(*elf->text),
				 offsetof(struct elf_segment, vaddr), vaddr);
	const struct elf_segment *text = upto ? &elf->text[upto - 1] : NULL;

	return text && vaddr - text->vaddr < text->size ? text : NULL;
}

/* elf_find_load() among the first @most segments. */
static const struct elf_segment *load_among(const struct elf_file *elf, size_t most, u64 vaddr)
{
	size_t i;

	for (i = 0; i < elf->nloads && i < most; i++)
		if (vaddr - elf->loads[i].vaddr < elf->loads[i].size)
			return &elf->loads[i];
	return NULL;
}

/* elf_find_load(): the PT_LOAD with a byte of the file at @vaddr, or NULL */
const struct elf_segment *elf_find_load(const struct elf_file *elf, u64 vaddr)
{
	return load_among(elf, elf->nloads, vaddr);
}

/**
 * elf_find_addend() - what a relative relocation puts into a word
 * @elf: the file
 * @vaddr: address of the word
 * @addend: set to its value, without load bias
 *
 * Looks in DT_RELA, from one end to the other.
 *
 * Return: false if no relocation of type R_X86_64_RELATIVE is for this word.
 */
bool elf_find_addend(const struct elf_file *elf, u64 vaddr, u64 *addend)
{
	const struct elf_segment *load = elf_find_load(elf, elf->rela.vaddr);
	u64 at, size = elf->rela.size, start;
	Elf64_Rela rela;

	if (!load || size > READER_MAX_BYTES)
		return false;
	start = elf->rela.vaddr - load->vaddr;
	if (size > load->size - start)
		size = load->size - start;
	for (at = 0; size - at >= sizeof(rela); at += sizeof(rela)) {
		const u8 *bytes = reader_window(elf->reader, load->offset + start + at, sizeof(rela));

		if (!bytes)
			return false;
		memcpy(&rela, bytes, sizeof(rela));
		if (rela.r_offset != vaddr || ELF64_R_TYPE(rela.r_info) != R_X86_64_RELATIVE)
			continue;
		*addend = rela.r_addend;
		return true;
	}
	return false;
}

/* Symbols that are looked at in one piece: no more than READER_MAX_WINDOW bytes. */
#define ELF_SYMBOLS	2048

/* Names of symbols in more bytes are not read: those of an unstripped browser have as many. */
#define ELF_MAX_STRINGS	(256u << 20)

/* Gets a symbol and the header of its table.  Return: whether it was the last that is wanted. */
typedef bool (*elf_symbol_fn)(void *arg, const GElf_Shdr *sh, const Elf64_Sym *sym);

/*
 * Call @symbol for the symbols of the first SHT_SYMTAB and of the first SHT_DYNSYM, unless they
 * have more than READER_MAX_BYTES.  They are read piece by piece: libelf would keep all of them.
 */
static void elf_each_symbol(const struct elf_file *elf, elf_symbol_fn symbol, void *arg)
{
	Elf64_Sym *symbols = alloc_array(NULL, ELF_SYMBOLS, sizeof(*symbols));
	bool read[2] = {}, last = false;
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while (!last && (scn = elf_nextscn(elf->handle, scn))) {
		const u8 *bytes;
		u64 at, n, i;

		if (!gelf_getshdr(scn, &sh) ||
		    (sh.sh_type != SHT_SYMTAB && sh.sh_type != SHT_DYNSYM) ||
		    sh.sh_flags & SHF_COMPRESSED || read[sh.sh_type == SHT_DYNSYM] ||
		    sh.sh_size > READER_MAX_BYTES || !elf_has(elf, sh.sh_offset, sh.sh_size))
			continue;
		read[sh.sh_type == SHT_DYNSYM] = true;
		for (at = 0; !last && sh.sh_size - at >= sizeof(*symbols); at += n * sizeof(*symbols)) {
			n = (sh.sh_size - at) / sizeof(*symbols);
			if (n > ELF_SYMBOLS)
				n = ELF_SYMBOLS;
			bytes = reader_window(elf->reader, sh.sh_offset + at, n * sizeof(*symbols));
			if (!bytes)
				break;
			memcpy(symbols, bytes, n * sizeof(*symbols));
			for (i = 0; i < n && !last; i++)
				last = symbol(arg, &sh, &symbols[i]);
		}
	}
	free(symbols);
}

/* The name of a symbol; NULL if it has none that is read. */
static const char *elf_symbol_name(const struct elf_file *elf, const GElf_Shdr *table,
				   const Elf64_Sym *sym)
{
	Elf_Scn *scn = elf_getscn(elf->handle, table->sh_link);
	GElf_Shdr sh;

	if (!scn || !gelf_getshdr(scn, &sh) || sh.sh_size > ELF_MAX_STRINGS ||
	    sh.sh_flags & SHF_COMPRESSED)
		return NULL;
	/* In a table that does not end with a zero elf_strptr() looks for one, for each name. */
	if (!elf_strptr(elf->handle, table->sh_link, sh.sh_size - 1))
		return NULL;
	return elf_strptr(elf->handle, table->sh_link, sym->st_name);
}

/* struct each_function: arguments of elf_each_function() */
struct each_function {
	const struct elf_file	*elf;
	elf_function_fn		 function;
	void			*arg;
	bool			 named;
};

/* An elf_symbol_fn */
static bool each_function(void *arg, const GElf_Shdr *sh, const Elf64_Sym *sym)
{
	const struct each_function *each = arg;

	if ((ELF64_ST_TYPE(sym->st_info) == STT_FUNC ||
	     ELF64_ST_TYPE(sym->st_info) == STT_GNU_IFUNC) && sym->st_shndx != SHN_UNDEF)
		each->function(each->arg, sym->st_value,
			       (each->named ? elf_symbol_name(each->elf, sh, sym) : NULL) ?: "");
	return false;
}

/**
 * elf_each_function() - the functions that symbols name
 * @elf: the file; of more tables of symbols than one of each kind only the first is read, and none
 *	that has more than 512 MiB
 * @function: called for each, in no order
 * @arg: its first argument; the others are the address and the name, "" if that is not read
 * @named: read the names
 *
 * Ends the bytes that elf_text() has returned.
 */
void elf_each_function(const struct elf_file *elf, elf_function_fn function, void *arg, bool named)
{
	struct each_function each = { elf, function, arg, named };

	elf_each_symbol(elf, each_function, &each);
}

/* struct find_symbol: arguments and result of elf_find_object() and elf_find_symbol() */
struct find_symbol {
	const struct elf_file	*elf;
	const char		*name;
	u64			 vaddr;
	u64			 offset;
	bool			 found;
};

/* An elf_symbol_fn */
static bool find_object(void *arg, const GElf_Shdr *sh, const Elf64_Sym *sym)
{
	struct find_symbol *find = arg;
	const char *name;

	if (ELF64_ST_TYPE(sym->st_info) != STT_OBJECT || sym->st_shndx == SHN_UNDEF)
		return false;
	name = elf_symbol_name(find->elf, sh, sym);
	find->found = name && !strcmp(name, find->name);
	find->vaddr = sym->st_value;
	return find->found;
}

/**
 * elf_find_object() - the variable that a symbol names
 * @elf: the file
 * @name: of the symbol
 * @vaddr: filled: its address
 *
 * Reads the symbols that elf_each_function() reads, if their names have no more than 256 MiB.
 *
 * Return: whether there is one that is defined.
 */
bool elf_find_object(const struct elf_file *elf, const char *name, u64 *vaddr)
{
	struct find_symbol find = { .elf = elf, .name = name };

	elf_each_symbol(elf, find_object, &find);
	if (find.found)
		*vaddr = find.vaddr;
	return find.found;
}

/**
 * elf_each_section() - the sections of a file
 * @elf: the file
 * @section: called for each, in their order
 * @arg: its first argument
 */
void elf_each_section(const struct elf_file *elf, elf_section_fn section, void *arg)
{
	size_t index = 0;
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	elf_getshdrstrndx(elf->handle, &index);
	while ((scn = elf_nextscn(elf->handle, scn)))
		if (gelf_getshdr(scn, &sh) && !(sh.sh_flags & SHF_COMPRESSED))
			section(arg, &(struct elf_section){
				.vaddr = sh.sh_addr, .size = sh.sh_size, .type = sh.sh_type,
				.flags = sh.sh_flags, .index = elf_ndxscn(scn),
				.name = elf_strptr(elf->handle, index, sh.sh_name) ?: "",
			});
}

/**
 * elf_section_bytes() - read a section
 * @elf: the file
 * @index: its number
 * @size: set to its bytes
 * @link: set to the number of the section that it refers to
 *
 * Return: a copy, until elf_close(); NULL if there is no such section in the file, if it is empty, or
 * if it is too large or too many share bytes, as reader_parts_end() then says.
 */
const u8 *elf_section_bytes(const struct elf_file *elf, size_t index, u64 *size, u32 *link)
{
	Elf_Scn *scn = index ? elf_getscn(elf->handle, index) : NULL;
	GElf_Shdr sh;

	if (!scn || !gelf_getshdr(scn, &sh) || sh.sh_type == SHT_NOBITS || !sh.sh_size ||
	    sh.sh_flags & SHF_COMPRESSED || !elf_has(elf, sh.sh_offset, sh.sh_size))
		return NULL;
	*size = sh.sh_size;
	*link = sh.sh_link;
	return reader_part(elf->reader, sh.sh_offset, sh.sh_size);
}

/**
 * elf_code_sections() - the sections of code
 * @elf: the file
 * @sections: filled: those with instructions that lie in executable segments, ascending by address,
 *	not overlapping; for free()
 *
 * Return: number of sections; 0 also if the file has no section headers.
 */
size_t elf_code_sections(const struct elf_file *elf, struct elf_segment **sections)
{
	size_t n = 0, room = 0, i, kept = 0;
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	*sections = NULL;
	while ((scn = elf_nextscn(elf->handle, scn))) {
		const struct elf_segment *text;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_PROGBITS || !sh.sh_size ||
		    (sh.sh_flags & (SHF_ALLOC | SHF_EXECINSTR)) != (SHF_ALLOC | SHF_EXECINSTR))
			continue;
		text = elf_find_text(elf, sh.sh_addr);
		if (!text || sh.sh_size > text->size - (sh.sh_addr - text->vaddr))
			continue;
		*sections = alloc_room(*sections, n, &room, sizeof(**sections));
		(*sections)[n++] = (struct elf_segment){ .vaddr = sh.sh_addr, .size = sh.sh_size };
	}
	if (n)
		qsort(*sections, n, sizeof(**sections), elf_compare_vaddr);
	for (i = 0; i < n; i++)
		if (!kept || (*sections)[i].vaddr >=
			     (*sections)[kept - 1].vaddr + (*sections)[kept - 1].size)
			(*sections)[kept++] = (*sections)[i];
	return kept;
}

/* An elf_symbol_fn */
static bool find_nearest(void *arg, const GElf_Shdr *sh, const Elf64_Sym *sym)
{
	struct find_symbol *find = arg;

	if (ELF64_ST_TYPE(sym->st_info) != STT_FUNC || sym->st_shndx == SHN_UNDEF ||
	    find->vaddr < sym->st_value || find->vaddr - sym->st_value >= find->offset)
		return false;
	find->offset = find->vaddr - sym->st_value;
	find->name = elf_symbol_name(find->elf, sh, sym);
	return false;
}

/**
 * elf_find_symbol() - the nearest function at or before an address
 * @elf: the file
 * @vaddr: address as in the file
 * @offset: bytes from the start of the function to @vaddr, if one is found
 *
 * Reads the same symbols as elf_find_object().
 *
 * Return: its name, or NULL.
 */
const char *elf_find_symbol(const struct elf_file *elf, u64 vaddr, u64 *offset)
{
	struct find_symbol find = { .elf = elf, .vaddr = vaddr, .offset = ~0ull };

	elf_each_symbol(elf, find_nearest, &find);
	*offset = find.offset;
	return find.name;
}

/**
 * elf_bytes() - bytes of a segment
 * @elf: the file
 * @segment: the segment
 * @vaddr: address in it
 * @size: how many, not 0, not past its end
 *
 * Return: a copy, until elf_close(); NULL if they cannot be read, and then
 * elf_check() says why.
 */
const u8 *elf_bytes(const struct elf_file *elf, const struct elf_segment *segment, u64 vaddr,
			u64 size)
{
	return reader_bytes(elf->reader, segment->offset + (vaddr - segment->vaddr), size);
}

/* Linkers make a dozen segments. */
#define ELF_MAX_DATA	64

/**
 * elf_data() - look at a few bytes of any segment
 * @elf: the file
 * @vaddr: their address
 * @size: how many, up to READER_MAX_SPOT
 *
 * Return: the bytes, which are valid until the next call of this function or of elf_text_spot(); NULL if not all
 * of them are in one of the first ELF_MAX_DATA segments, or if they cannot be read, and then elf_check() says why.
 */
const u8 *elf_data(const struct elf_file *elf, u64 vaddr, u64 size)
{
	const struct elf_segment *load = load_among(elf, ELF_MAX_DATA, vaddr);

	if (!load || size > load->size - (vaddr - load->vaddr))
		return NULL;
	return reader_spot(elf->reader, load->offset + (vaddr - load->vaddr), size);
}

/* The segment of text with @vaddr, or NULL.  @size: cut to what it has from there on. */
static const struct elf_segment *text_at(const struct elf_file *elf, u64 vaddr, u64 *size)
{
	const struct elf_segment *text = elf_find_text(elf, vaddr);

	if (text && *size > text->size - (vaddr - text->vaddr))
		*size = text->size - (vaddr - text->vaddr);
	return text;
}

/**
 * elf_text() - look at code
 * @elf: the file
 * @vaddr: its address
 * @size: bytes wanted, not 0; set to how many are returned: up to the end of the segment, and
 *	ELF_MAX_TEXT at most
 *
 * Return: the bytes, until the next call; NULL if @vaddr is not in text, or if the bytes cannot be
 * read, and then elf_check() says why.
 */
const u8 *elf_text(const struct elf_file *elf, u64 vaddr, u64 *size)
{
	const struct elf_segment *text = text_at(elf, vaddr, size);

	if (*size > ELF_MAX_TEXT)
		*size = ELF_MAX_TEXT;
	return text ? reader_window(elf->reader, text->offset + (vaddr - text->vaddr), *size) : NULL;
}

/**
 * elf_text_spot() - look at a few bytes of code, here and there
 * @elf: the file
 * @vaddr: their address
 * @size: as for elf_text(), up to READER_MAX_SPOT
 *
 * Return: the bytes, which are valid until the next call of this function or of elf_data(); NULL as for elf_text()
 */
const u8 *elf_text_spot(const struct elf_file *elf, u64 vaddr, u64 *size)
{
	const struct elf_segment *text = text_at(elf, vaddr, size);

	return text ? reader_spot(elf->reader, text->offset + (vaddr - text->vaddr), *size) : NULL;
}

/**
 * elf_text_is() - whether there is certain code at an address
 * @elf: the file
 * @vaddr: the address
 * @code: the bytes
 * @size: how many, not 0
 *
 * Return: true if so; false too if they are not all in one segment.
 */
bool elf_text_is(const struct elf_file *elf, u64 vaddr, const u8 *code, u64 size)
{
	u64 got = size;
	const u8 *text = elf_text(elf, vaddr, &got);

	return text && got == size && !memcmp(text, code, size);
}

/**
 * elf_check() - was every read good, and has the file not changed since elf_identify()?
 * @elf: the file
 * @error: filled if not, as by reader_check()
 *
 * Return: 0 or -1; then the caller discards what it made of the file.
 */
int elf_check(const struct elf_file *elf, struct bee_error *error)
{
	return reader_check(elf->reader, error);
}

/* elf_frames_size(): bytes of the .eh_frame sections and of PT_GNU_EH_FRAME, for reports */
u64 elf_frames_size(const struct elf_file *elf)
{
	u64 size = elf->hdr.size;
	size_t i;

	for (i = 0; i < elf->nframes; i++)
		if (!elf->frames[i].debug_frame)
			size += elf->frames[i].size;
	return size;
}
