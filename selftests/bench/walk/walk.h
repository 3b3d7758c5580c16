/* SPDX-License-Identifier: GPL-2.0 */
/* Recorded stacks of real programs, and the unwinders that replay them. */
#ifndef BEE_BENCH_WALK_H
#define BEE_BENCH_WALK_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define BENCH_REGS	17	/* by DWARF number; 16 is rip */
#define BENCH_USER_REGS	27
#define BENCH_FP	6
#define BENCH_SP	7
#define BENCH_IP	16
#define BENCH_MAX_DEPTH	512

/**
 * struct bench_map - a mapping of a file
 * @start: first address
 * @end: address after the last
 * @offset: byte of the file at @start
 * @exec: it is executable
 * @file: the file; never freed
 */
struct bench_map {
	uint64_t	 start;
	uint64_t	 end;
	uint64_t	 offset;
	bool		 exec;
	struct bench_mapped *file;
};

/**
 * struct bench_mapped - a file, mapped by this process
 * @path: its name
 * @bytes: its contents
 * @size: bytes
 * @next: in the list of all
 * @ours: what ours.c knows of it
 * @before: what another version of the module knows of it
 */
struct bench_mapped {
	char			*path;
	const uint8_t		*bytes;
	size_t			 size;
	struct bench_mapped	*next;
	void			*ours;
	void			*before;
};

/**
 * struct bench_space - an address space at one moment
 * @maps: its mappings of files, ascending
 * @nr: entries in @maps
 * @text: the lines of /proc/PID/maps with these
 * @ours: what each unwinder has prepared for it
 * @before: see @ours
 * @framehop: see @ours
 * @libdwfl: see @ours
 * @libunwind: see @ours
 */
struct bench_space {
	struct bench_map	*maps;
	size_t			 nr;
	char			*text;
	void			*ours;
	void			*before;
	void			*framehop;
	void			*libdwfl;
	void			*libunwind;
};

/**
 * struct bench_stack - a recorded stack
 * @space: the address space
 * @regs: the registers
 * @start: address of @bytes
 * @size: bytes recorded
 * @bytes: the stack, from the red zone to its start
 * @user: all registers as the kernel has them: struct pt_regs, and segments
 */
struct bench_stack {
	struct bench_space	*space;
	uint64_t		 regs[BENCH_REGS];
	uint64_t		 start;
	size_t			 size;
	uint8_t			*bytes;
	uint64_t		 user[BENCH_USER_REGS];
};

/**
 * struct bench_unwinder - one way to walk a recorded stack
 * @name: to show
 * @prepare: what needs to be done once for each address space; may be NULL
 * @forget: empty its caches; may be NULL
 * @walk: store up to BENCH_MAX_DEPTH addresses; return how many
 */
struct bench_unwinder {
	const char	*name;
	void		(*prepare)(struct bench_space *space);
	void		(*forget)(const struct bench_space *space);
	size_t		(*walk)(const struct bench_stack *stack, uint64_t *ips);
};

extern const struct bench_unwinder bench_ours, bench_framehop, bench_libdwfl, bench_libunwind;
/* The walk of another version of the module, if one was built. */
extern const struct bench_unwinder bench_before __attribute__((weak));

int bench_open(const char *path);
size_t bench_record(char **argv, struct bench_stack *stacks, size_t max);
struct bench_mapped *bench_map_file(const char *path);
bool bench_map_bias(const struct bench_map *map, Elf *elf, uint64_t *bias);
bool bench_framehop_open(const char *path);
void bench_own(unsigned int depth);
bool bench_read(const struct bench_stack *stack, uint64_t addr, void *to, size_t n);
const struct bench_map *bench_find_map(const struct bench_space *space, uint64_t addr);

#endif /* BEE_BENCH_WALK_H */
