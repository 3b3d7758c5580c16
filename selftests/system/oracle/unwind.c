// SPDX-License-Identifier: GPL-2.0
/*
 * Unwind a recorded sample with libdwfl, from the recorded registers and stack and the CFI of
 * the mapped files.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>

#include "redzone.h"
#include "space.h"
#include "unwind.h"

#define RA_COLUMN	16
#define RBX		3
/* The most code that an entry point has without being a function; ld.so has the most. */
#define ENTRY_BYTES	0x60
/* The default limit of the stack's size (_STK_LIM, linux/resource.h). */
#define STACK_MAX	(8u << 20)
#define CODES		(1u << 14)
#define FRAMES		(sizeof(((struct unwound *)0)->frame) / sizeof(struct unwind_frame))

/* A mapping that perf reported. */
struct mapped {
	uint64_t	 start;
	uint64_t	 end;
	uint64_t	 offset;
	char		*name;
};

/**
 * struct unwinder - the code of one process image
 * @maps: its mappings, later ones win
 * @nmaps: how many
 * @dwfl: libdwfl's session; NULL: not made from @maps yet
 * @code: what is known by lookup ip; a cache
 * @sample: the sample that is unwound
 * @out: where its frames go
 * @missed: libdwfl has asked for memory above the copied stack since the last frame
 */
struct unwinder {
	struct mapped		*maps;
	size_t			 nmaps;
	Dwfl			*dwfl;
	struct {
		uint64_t	 ip;
		enum unwind_code code;
	} code[CODES];
	const struct record	*sample;
	struct unwound		*out;
	bool			 missed;
};

struct unwinder *unwinder_new(void)
{
	struct unwinder *unwinder = calloc(1, sizeof(*unwinder));

	if (!unwinder)
		abort();
	return unwinder;
}

static void unwinder_add(struct unwinder *unwinder, const struct mapped *map)
{
	unwinder->maps = reallocarray(unwinder->maps, unwinder->nmaps + 1, sizeof(*map));
	if (!unwinder->maps)
		abort();
	unwinder->maps[unwinder->nmaps] = *map;
	unwinder->maps[unwinder->nmaps++].name = strdup(map->name);
	dwfl_end(unwinder->dwfl);
	unwinder->dwfl = NULL;
}

/* A new process begins with its parent's mappings. */
struct unwinder *unwinder_copy(const struct unwinder *from)
{
	struct unwinder *unwinder = unwinder_new();
	size_t i;

	for (i = 0; i < from->nmaps; i++)
		unwinder_add(unwinder, &from->maps[i]);
	return unwinder;
}

void unwinder_free(struct unwinder *unwinder)
{
	size_t i;

	if (!unwinder)
		return;
	for (i = 0; i < unwinder->nmaps; i++)
		free(unwinder->maps[i].name);
	free(unwinder->maps);
	dwfl_end(unwinder->dwfl);
	free(unwinder);
}

/**
 * unwinder_map() - code has been mapped
 * @unwinder: the process image
 * @map: of type RECORD_MMAP
 *
 * It replaces older mappings at its addresses; perf does not report munmap().
 */
void unwinder_map(struct unwinder *unwinder, const struct record *map)
{
	struct mapped new = {
		.start = map->start, .end = map->start + map->size, .offset = map->offset,
		.name = map->name,
	};
	size_t i;

	for (i = 0; i < unwinder->nmaps; i++) {
		struct mapped *old = &unwinder->maps[i];
		struct mapped rest = *old;

		if (old->end <= new.start || new.end <= old->start)
			continue;
		if (new.end < old->end) {
			rest.start = new.end;
			rest.offset += new.end - old->start;
			unwinder_add(unwinder, &rest);
			old = &unwinder->maps[i];
		}
		old->end = old->start < new.start ? new.start : old->start;
	}
	unwinder_add(unwinder, &new);
	memset(unwinder->code, 0, sizeof(unwinder->code));
}

static const struct mapped *mapped_find(const struct unwinder *unwinder, uint64_t ip)
{
	size_t i;

	for (i = unwinder->nmaps; i-- > 0;)
		if (unwinder->maps[i].start <= ip && ip < unwinder->maps[i].end)
			return &unwinder->maps[i];
	return NULL;
}

/* unwinder_is_mapped() - is an address in what has been mapped? */
bool unwinder_is_mapped(const struct unwinder *unwinder, uint64_t ip)
{
	return mapped_find(unwinder, ip);
}

/* unwinder_is_empty() - has nothing been mapped yet? */
bool unwinder_is_empty(const struct unwinder *unwinder)
{
	return !unwinder->nmaps;
}

static bool mapped_is_vdso(const struct mapped *map)
{
	return !strcmp(map->name, "[vdso]");
}

/* Find the bias of @map from the executable PT_LOAD that it maps. */
static bool mapped_bias(const struct mapped *map, Elf *elf, uint64_t *bias)
{
	size_t i, n;

	if (elf_getphdrnum(elf, &n))
		return false;
	for (i = 0; i < n; i++) {
		GElf_Phdr p;

		if (!gelf_getphdr(elf, i, &p) || p.p_type != PT_LOAD || !(p.p_flags & PF_X))
			continue;
		if (map->offset < (p.p_offset & ~0xfffull) ||
		    map->offset >= p.p_offset + p.p_filesz)
			continue;
		*bias = map->start - (p.p_vaddr + map->offset - p.p_offset);
		return true;
	}
	return false;
}

static bool mapped_reported(const struct unwinder *unwinder, const struct mapped *map)
{
	Dwfl_Module *module = dwfl_addrmodule(unwinder->dwfl, map->start);
	const char *file = NULL;

	if (!module)
		return false;
	dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, &file, NULL);
	return file && !strcmp(file, map->name);
}

/* Add the file of @map to the session.  Of ET_EXEC files dwfl_report_elf() ignores the bias. */
static void mapped_report(struct unwinder *unwinder, const struct mapped *map)
{
	int fd = map->start < map->end ? space_open(map->name) : -1;
	uint64_t bias;
	Elf *elf;

	if (fd < 0)
		return;
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf && mapped_bias(map, elf, &bias) &&
	    dwfl_report_elf(unwinder->dwfl, map->name, map->name, fd, bias, true))
		fd = -1;
	elf_end(elf);
	if (fd >= 0)
		close(fd);
}

static bool callback_read(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *word, void *arg)
{
	struct unwinder *unwinder = arg;
	const uint64_t sp = unwinder->sample->regs[RECORD_RSP];

	(void)dwfl;
	if (record_read(unwinder->sample, addr, word, sizeof(*word)))
		return true;
	if (sp - addr <= REDZONE_BYTES)
		unwinder->out->red_zone = true;
	else if (addr - sp < STACK_MAX)
		unwinder->missed = true;
	return false;
}

static bool callback_registers(Dwfl_Thread *thread, void *arg)
{
	struct unwinder *unwinder = arg;

	return dwfl_thread_state_registers(thread, 0, RECORD_REGS, unwinder->sample->regs);
}

static pid_t callback_next(Dwfl *dwfl, void *arg, void **thread_arg)
{
	(void)dwfl;
	(void)arg;
	(void)thread_arg;
	return 0;
}

static bool callback_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread_arg)
{
	(void)dwfl;
	(void)tid;
	*thread_arg = arg;
	return true;
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = callback_next,
	.get_thread = callback_thread,
	.memory_read = callback_read,
	.set_initial_registers = callback_registers,
};

static char *no_debuginfo_path = "";

/* No separate debug files: their .debug_frame would add CFI that the mapped file lacks. */
static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
	.debuginfo_path = &no_debuginfo_path,
};

static void unwinder_prepare(struct unwinder *unwinder)
{
	size_t i;

	if (unwinder->dwfl)
		return;
	unwinder->dwfl = dwfl_begin(&callbacks);
	if (!unwinder->dwfl)
		abort();
	for (i = 0; i < unwinder->nmaps; i++) {
		dwfl_report_begin_add(unwinder->dwfl);
		if (!mapped_reported(unwinder, &unwinder->maps[i]))
			mapped_report(unwinder, &unwinder->maps[i]);
		dwfl_report_end(unwinder->dwfl, NULL, NULL);
	}
	dwfl_attach_state(unwinder->dwfl, NULL, 1, &thread_callbacks, unwinder);
}

static bool cfi_find(Dwarf_CFI *cfi, Dwarf_Addr pc, enum unwind_code *code)
{
	Dwarf_Op mem[3], *ops;
	Dwarf_Frame *frame;
	size_t nops;

	if (!cfi || dwarf_cfi_addrframe(cfi, pc, &frame))
		return false;
	*code = CODE_RULES;
	if (!dwarf_frame_cfa(frame, &ops, &nops) && nops == 1 &&
	    ops->atom == DW_OP_bregx && ops->number == RBX)
		*code = CODE_RULES_RBX;
	if (!dwarf_frame_register(frame, RA_COLUMN, mem, &ops, &nops) && !nops && ops == mem)
		*code = CODE_OUTERMOST;
	free(frame);
	return true;
}

/*
 * Code without CFI to which the first function of a thread or fiber returns: of musl (xor %ebp,%ebp; pop %rdi;
 * call *%r9; mov %eax,%edi; xor %eax,%eax; mov $60,%al; syscall), and of Boost.Context (push %rbp; jmp *%rbx;
 * xor %rdi,%rdi; call _exit).
 */
static bool is_thread_begin(Dwfl_Module *module, Dwarf_Addr ip)
{
	static const struct {
		size_t		size;
		unsigned char	code[16];
	} begins[] = {
		{ 14, { 0x31, 0xed, 0x5f, 0x41, 0xff, 0xd1, 0x89, 0xc7, 0x31, 0xc0, 0xb0, 0x3c, 0x0f, 0x05 } },
		{ 7, { 0x55, 0xff, 0xe3, 0x48, 0x31, 0xff, 0xe8 } },
	};
	Dwarf_Addr bias, at = ip;
	Elf_Scn *scn = dwfl_module_address_section(module, &at, &bias);
	Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;
	size_t i, back;

	for (i = 0; data && i < sizeof(begins) / sizeof(begins[0]); i++)
		for (back = 0; back < begins[i].size && back <= at; back++)
			if (at - back + begins[i].size <= data->d_size &&
			    !memcmp((char *)data->d_buf + at - back, begins[i].code, begins[i].size))
				return true;
	return false;
}

static enum unwind_code code_find(struct unwinder *unwinder, uint64_t ip)
{
	const struct mapped *map = mapped_find(unwinder, ip);
	Dwfl_Module *module;
	enum unwind_code code;
	Dwarf_Addr bias;
	GElf_Ehdr ehdr;
	Dwarf_CFI *cfi;
	bool has_entry;
	Elf *elf;

	unwinder_prepare(unwinder);
	module = map ? dwfl_addrmodule(unwinder->dwfl, ip) : NULL;
	if (!module)
		return CODE_NO_FILE;
	elf = dwfl_module_getelf(module, &bias);
	has_entry = elf && gelf_getehdr(elf, &ehdr) && ehdr.e_entry;
	if (has_entry && ip - bias == ehdr.e_entry)
		return CODE_ENTRY;
	cfi = dwfl_module_eh_cfi(module, &bias);
	if (cfi_find(cfi, ip - bias, &code))
		return code;
	cfi = dwfl_module_dwarf_cfi(module, &bias);
	if (cfi_find(cfi, ip - bias, &code))
		return code;
	dwfl_module_getelf(module, &bias);
	if (has_entry && ip - bias - ehdr.e_entry < ENTRY_BYTES)
		return CODE_ENTRY;
	if (is_thread_begin(module, ip))
		return CODE_ENTRY;
	return mapped_is_vdso(map) ? CODE_VDSO : CODE_GAP;
}

/**
 * unwinder_code() - what is known of the code that a frame is in
 * @unwinder: the process image
 * @ip: of the frame
 * @activation: it was interrupted there
 */
enum unwind_code unwinder_code(struct unwinder *unwinder, uint64_t ip, bool activation)
{
	uint64_t lookup = activation ? ip : ip - 1;
	typeof(unwinder->code[0]) *known = &unwinder->code[(lookup ^ lookup >> 14) % CODES];

	if (known->ip != lookup) {
		known->code = code_find(unwinder, lookup);
		known->ip = lookup;
	}
	return known->code;
}

static int callback_frame(Dwfl_Frame *state, void *arg)
{
	struct unwinder *unwinder = arg;
	struct unwound *out = unwinder->out;
	struct unwind_frame *frame = &out->frame[out->count];

	/* dwfl_frame_pc() may already unwind to the next frame, and so set missed again. */
	unwinder->missed = false;
	if (out->count == FRAMES || !dwfl_frame_pc(state, &frame->ip, &frame->activation))
		return DWARF_CB_ABORT;
	frame->code = unwinder_code(unwinder, frame->ip, frame->activation);
	out->count++;
	return frame->code == CODE_ENTRY ? DWARF_CB_ABORT : DWARF_CB_OK;
}

/**
 * unwinder_run() - unwind a sample
 * @unwinder: the image of its process
 * @sample: the sample
 * @out: filled: at least the topmost frame
 */
void unwinder_run(struct unwinder *unwinder, const struct record *sample, struct unwound *out)
{
	unwinder_prepare(unwinder);
	unwinder->sample = sample;
	unwinder->out = out;
	unwinder->missed = false;
	out->count = 0;
	out->red_zone = false;
	dwfl_getthread_frames(unwinder->dwfl, 1, callback_frame, unwinder);
	out->dump_ended = unwinder->missed;
}

/**
 * unwinder_place() - an address as text: file+pc
 * @unwinder: the process image
 * @ip: the address
 * @text: filled
 * @size: bytes of @text
 *
 * Return: @text.
 */
const char *unwinder_place(struct unwinder *unwinder, uint64_t ip, char *text, size_t size)
{
	const struct mapped *map = mapped_find(unwinder, ip);
	Dwarf_Addr bias = 0;
	Dwfl_Module *module;
	const char *name;

	unwinder_prepare(unwinder);
	module = map ? dwfl_addrmodule(unwinder->dwfl, ip) : NULL;
	if (module)
		dwfl_module_getelf(module, &bias);
	name = map ? strrchr(map->name, '/') : NULL;
	snprintf(text, size, "%s+%#llx", name ? name + 1 : map ? map->name : "nowhere",
		 (unsigned long long)(ip - bias));
	return text;
}
