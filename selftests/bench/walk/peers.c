// SPDX-License-Identifier: GPL-2.0
/* Other unwinders on recorded stacks: libdwfl and libunwind, as perf uses them. */
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <elfutils/libdwfl.h>
#include <libunwind.h>

#include "alloc.h"
#include "walk.h"

/* libdwfl */

static const struct bench_stack *dwfl_stack;

/* What is stored by a walk. */
struct walked {
	uint64_t	*ips;
	size_t		 n;
};

static bool dwfl_read(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *word, void *arg)
{
	(void)dwfl;
	(void)arg;
	return bench_read(dwfl_stack, addr, word, sizeof(*word));
}

static bool dwfl_registers(Dwfl_Thread *thread, void *arg)
{
	(void)arg;
	return dwfl_thread_state_registers(thread, 0, BENCH_REGS, dwfl_stack->regs);
}

static pid_t dwfl_next(Dwfl *dwfl, void *arg, void **thread_arg)
{
	(void)dwfl;
	(void)arg;
	(void)thread_arg;
	return 0;
}

static bool dwfl_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread_arg)
{
	(void)dwfl;
	(void)tid;
	*thread_arg = arg;
	return true;
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = dwfl_next,
	.get_thread = dwfl_thread,
	.memory_read = dwfl_read,
	.set_initial_registers = dwfl_registers,
};

static char *no_debuginfo_path = "";

static const Dwfl_Callbacks dwfl_callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
	.debuginfo_path = &no_debuginfo_path,
};

/* bench_map_bias() - find where the file's address 0 is; false: no code of it is at @map. */
bool bench_map_bias(const struct bench_map *map, Elf *elf, uint64_t *bias)
{
	size_t i, n;
	GElf_Phdr p;

	if (elf_getphdrnum(elf, &n))
		return false;
	for (i = 0; i < n; i++) {
		if (!gelf_getphdr(elf, i, &p) || p.p_type != PT_LOAD || !(p.p_flags & PF_X) ||
		    map->offset < (p.p_offset & ~0xfffull) ||
		    map->offset >= p.p_offset + p.p_filesz)
			continue;
		*bias = map->start - (p.p_vaddr + map->offset - p.p_offset);
		return true;
	}
	return false;
}

static void dwfl_report(Dwfl *dwfl, const struct bench_map *map)
{
	int fd = bench_open(map->file->path);
	uint64_t bias;
	Elf *elf;

	if (fd < 0)
		return;
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!elf || !bench_map_bias(map, elf, &bias) ||
	    !dwfl_report_elf(dwfl, map->file->path, map->file->path, fd, bias, true))
		close(fd);
	elf_end(elf);
}

static void dwfl_prepare(struct bench_space *space)
{
	Dwfl *dwfl = dwfl_begin(&dwfl_callbacks);
	size_t i;

	elf_version(EV_CURRENT);
	dwfl_report_begin_add(dwfl);
	for (i = 0; i < space->nr; i++)
		if (space->maps[i].exec)
			dwfl_report(dwfl, &space->maps[i]);
	dwfl_report_end(dwfl, NULL, NULL);
	dwfl_attach_state(dwfl, NULL, 1, &thread_callbacks, NULL);
	space->libdwfl = dwfl;
}

static int dwfl_frame(Dwfl_Frame *state, void *arg)
{
	struct walked *walked = arg;
	bool activation;

	if (walked->n == BENCH_MAX_DEPTH ||
	    !dwfl_frame_pc(state, &walked->ips[walked->n], &activation))
		return DWARF_CB_ABORT;
	walked->n++;
	return DWARF_CB_OK;
}

static size_t dwfl_walk(const struct bench_stack *stack, uint64_t *ips)
{
	struct walked walked = { .ips = ips };

	dwfl_stack = stack;
	dwfl_getthread_frames(stack->space->libdwfl, 1, dwfl_frame, &walked);
	return walked.n;
}

const struct bench_unwinder bench_libdwfl = { "libdwfl", dwfl_prepare, NULL, dwfl_walk };

/* libunwind, for a process that is not its own */

/* libunwind exports this for debuggers, but has no declaration of it. */
#define dwarf_search_unwind_table UNW_OBJ(dwarf_search_unwind_table)
int dwarf_search_unwind_table(unw_addr_space_t as, unw_word_t ip, unw_dyn_info_t *di,
			      unw_proc_info_t *pi, int need_unwind_info, void *arg);

struct eh_frame_hdr {
	uint8_t	version;
	uint8_t	eh_frame_ptr_enc;
	uint8_t	fde_count_enc;
	uint8_t	table_enc;
	int32_t	eh_frame_ptr;
	uint32_t fde_count;
};

/* The lookup table of the file that @map is of, as perf's tools/perf/util/unwind-libunwind does. */
static bool unw_table(const struct bench_map *map, uint64_t ip, unw_dyn_info_t *di)
{
	const struct eh_frame_hdr *hdr = NULL;
	const uint8_t *bytes = map->file->bytes;
	const Elf64_Ehdr *e = (const void *)bytes;
	const Elf64_Phdr *p;
	uint64_t bias = 0, hdr_addr = 0;
	int i;

	if (!bytes || map->file->size < sizeof(*e))
		return false;
	p = (const void *)(bytes + e->e_phoff);
	for (i = 0; i < e->e_phnum; i++) {
		if (p[i].p_type == PT_LOAD && p[i].p_flags & PF_X &&
		    map->offset >= (p[i].p_offset & ~0xfffull) &&
		    map->offset < p[i].p_offset + p[i].p_filesz)
			bias = map->start - (p[i].p_vaddr + map->offset - p[i].p_offset);
		if (p[i].p_type == PT_GNU_EH_FRAME) {
			hdr = (const void *)(bytes + p[i].p_offset);
			hdr_addr = p[i].p_vaddr;
		}
	}
	if (!hdr || hdr->table_enc != 0x3b || hdr->fde_count_enc != 0x03)
		return false;
	*di = (unw_dyn_info_t){
		.format = UNW_INFO_FORMAT_REMOTE_TABLE,
		.start_ip = map->start, .end_ip = map->end,
		.u.rti = {
			.segbase = bias + hdr_addr,
			.table_data = bias + hdr_addr + sizeof(*hdr),
			.table_len = hdr->fde_count * 2,	/* words of 4 bytes, as if of 8 */
		},
	};
	di->u.rti.table_len = hdr->fde_count * 8 / sizeof(unw_word_t);
	(void)ip;
	return true;
}

static int unw_find(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *pi, int need, void *arg)
{
	const struct bench_stack *stack = arg;
	const struct bench_map *map = bench_find_map(stack->space, ip);
	unw_dyn_info_t di;

	if (!map || !unw_table(map, ip, &di))
		return -UNW_ENOINFO;
	return dwarf_search_unwind_table(as, ip, &di, pi, need, arg);
}

static void unw_put(unw_addr_space_t as, unw_proc_info_t *pi, void *arg)
{
	(void)as;
	(void)pi;
	(void)arg;
}

static int unw_dyn(unw_addr_space_t as, unw_word_t *addr, void *arg)
{
	(void)as;
	(void)addr;
	(void)arg;
	return -UNW_ENOINFO;
}

static int unw_mem(unw_addr_space_t as, unw_word_t addr, unw_word_t *value, int write, void *arg)
{
	(void)as;
	return write || !bench_read(arg, addr, value, sizeof(*value)) ? -UNW_EINVAL : 0;
}

static int unw_reg(unw_addr_space_t as, unw_regnum_t reg, unw_word_t *value, int write, void *arg)
{
	const struct bench_stack *stack = arg;

	(void)as;
	if (write || reg < 0 || reg >= BENCH_REGS)
		return -UNW_EBADREG;
	*value = stack->regs[reg];
	return 0;
}

static int unw_fpreg(unw_addr_space_t as, unw_regnum_t reg, unw_fpreg_t *value, int write,
		     void *arg)
{
	(void)as;
	(void)reg;
	(void)value;
	(void)write;
	(void)arg;
	return -UNW_EBADREG;
}

static int unw_go(unw_addr_space_t as, unw_cursor_t *cursor, void *arg)
{
	(void)as;
	(void)cursor;
	(void)arg;
	return -UNW_EINVAL;
}

static int unw_name(unw_addr_space_t as, unw_word_t ip, char *name, size_t size, unw_word_t *off,
		    void *arg)
{
	(void)as;
	(void)ip;
	(void)name;
	(void)size;
	(void)off;
	(void)arg;
	return -UNW_ENOINFO;
}

static void unw_prepare(struct bench_space *space)
{
	static unw_accessors_t accessors = {
		.find_proc_info = unw_find, .put_unwind_info = unw_put,
		.get_dyn_info_list_addr = unw_dyn, .access_mem = unw_mem, .access_reg = unw_reg,
		.access_fpreg = unw_fpreg, .resume = unw_go, .get_proc_name = unw_name,
	};

	space->libunwind = unw_create_addr_space(&accessors, 0);
	if (!space->libunwind)
		abort();
	unw_set_caching_policy(space->libunwind, UNW_CACHE_GLOBAL);
}

static void unw_forget(const struct bench_space *space)
{
	unw_flush_cache(space->libunwind, 0, 0);
}

static size_t unw_walk(const struct bench_stack *stack, uint64_t *ips)
{
	unw_cursor_t cursor;
	size_t n = 0;
	unw_word_t ip;

	if (unw_init_remote(&cursor, stack->space->libunwind, (void *)stack))
		return 0;
	do {
		unw_get_reg(&cursor, UNW_REG_IP, &ip);
		if (!ip)
			break;
		ips[n++] = ip;
	} while (n < BENCH_MAX_DEPTH && unw_step(&cursor) > 0);
	return n;
}

const struct bench_unwinder bench_libunwind = {
	"libunwind remote", unw_prepare, unw_forget, unw_walk,
};

