// SPDX-License-Identifier: GPL-2.0
/*
 * framehop, a library in Rust that profilers use: unwinds by .eh_frame and keeps the rules that it
 * has found.  It is opened at run time, since not every machine can build it: framehop/src/lib.rs.
 */
#include <dlfcn.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>

#include "walk.h"

struct framehop_section {
	const uint8_t	*bytes;
	size_t		 size;
	uint64_t	 addr;
};

struct framehop_stack {
	uint64_t	 start;
	size_t		 size;
	const uint8_t	*bytes;
};

/* What lib.rs exports. */
static void *(*new_space)(void);
static void *(*new_cache)(void *old);
static void (*space_add)(void *space, uint64_t start, uint64_t end, uint64_t bias,
			 const struct framehop_section *text,
			 const struct framehop_section *eh_frame,
			 const struct framehop_section *eh_frame_hdr);
static size_t (*space_walk)(const void *space, void *cache, const uint64_t *regs,
			    const struct framehop_stack *stack, uint64_t *ips, size_t max);

static void *cache;

/**
 * bench_framehop_open() - open the library
 * @path: its name
 *
 * Return: false if it is not there, and why is on stdout.
 */
bool bench_framehop_open(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW);

	if (lib) {
		*(void **)&new_space = dlsym(lib, "bench_framehop_space");
		*(void **)&new_cache = dlsym(lib, "bench_framehop_cache");
		*(void **)&space_add = dlsym(lib, "bench_framehop_add");
		*(void **)&space_walk = dlsym(lib, "bench_framehop_walk");
	}
	if (!lib || !new_space || !new_cache || !space_add || !space_walk) {
		printf("SKIP framehop: %s; built where cargo and Debian 13's "
		       "librust-framehop-dev are installed\n", dlerror());
		return false;
	}
	cache = new_cache(NULL);
	return true;
}

static void find_section(Elf *elf, const struct bench_mapped *file, const char *name,
			 struct framehop_section *section)
{
	Elf_Scn *scn = NULL;
	const char *found;
	size_t names;
	GElf_Shdr s;

	*section = (struct framehop_section){};
	if (elf_getshdrstrndx(elf, &names))
		return;
	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &s) || s.sh_type == SHT_NOBITS || s.sh_offset > file->size ||
		    s.sh_size > file->size - s.sh_offset)
			continue;
		found = elf_strptr(elf, names, s.sh_name);
		if (found && !strcmp(found, name))
			*section = (struct framehop_section){
				.bytes = file->bytes + s.sh_offset, .size = s.sh_size,
				.addr = s.sh_addr,
			};
	}
}

static void framehop_add(void *space, const struct bench_map *map)
{
	struct framehop_section text, eh_frame, eh_frame_hdr;
	uint64_t bias;
	Elf *elf = elf_memory((char *)map->file->bytes, map->file->size);

	if (elf && bench_map_bias(map, elf, &bias)) {
		find_section(elf, map->file, ".text", &text);
		find_section(elf, map->file, ".eh_frame", &eh_frame);
		find_section(elf, map->file, ".eh_frame_hdr", &eh_frame_hdr);
		space_add(space, map->start, map->end, bias, &text, &eh_frame, &eh_frame_hdr);
	}
	elf_end(elf);
}

static void framehop_prepare(struct bench_space *space)
{
	size_t i;

	elf_version(EV_CURRENT);
	space->framehop = new_space();
	for (i = 0; i < space->nr; i++)
		if (space->maps[i].exec && space->maps[i].file->size)
			framehop_add(space->framehop, &space->maps[i]);
}

static void framehop_forget(const struct bench_space *space)
{
	(void)space;
	cache = new_cache(cache);
}

static size_t framehop_walk(const struct bench_stack *stack, uint64_t *ips)
{
	const uint64_t regs[] = { stack->regs[BENCH_IP], stack->regs[BENCH_SP],
				  stack->regs[BENCH_FP] };
	const struct framehop_stack bytes = { stack->start, stack->size, stack->bytes };

	return space_walk(stack->space->framehop, cache, regs, &bytes, ips, BENCH_MAX_DEPTH);
}

const struct bench_unwinder bench_framehop = {
	"framehop", framehop_prepare, framehop_forget, framehop_walk,
};
