/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A process's executable mappings with the tables that our compiler makes for
 * them, and the step of the module's walk on them, run in user space from kmod's
 * frame.h and table.c.
 */
#ifndef BEE_SPACE_H
#define BEE_SPACE_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/**
 * struct bee_uread - the memory of the process that is walked
 * @read: copies @n bytes from @addr, or returns false
 * @arg: first argument of @read
 */
struct bee_uread {
	bool	(*read)(void *arg, u64 addr, void *to, size_t n);
	void	*arg;
};

static inline bool bee_uread_u64(struct bee_uread *mem, u64 addr, u64 *value)
{
	return mem->read(mem->arg, addr, value, sizeof(*value));
}

static inline bool bee_uread_u8(struct bee_uread *mem, u64 addr, u8 *value)
{
	return mem->read(mem->arg, addr, value, sizeof(*value));
}

#include "kmod/frame.h"

struct space_image;

/**
 * struct space_range - one executable mapping
 * @start: first address
 * @end: address after the last
 * @offset: file offset at @start
 * @image: its file
 * @table: its table, NULL where there is none
 * @path: of its file, or what the kernel calls it
 */
struct space_range {
	u64			 start;
	u64			 end;
	u64			 offset;
	const struct space_image *image;
	const struct bee_table	*table;
	const char		*path;
};

/**
 * struct space - executable mappings, ascending, disjoint
 * @range: the mappings
 * @count: how many
 */
struct space {
	struct space_range	*range;
	size_t			 count;
};

/**
 * enum space_how - what a caller was found by
 * @SPACE_BY_ROW: the rules of a row
 * @SPACE_BY_CODE: the bytes of a signal trampoline
 * @SPACE_BY_FP: the frame pointer, for want of a row
 */
enum space_how {
	SPACE_BY_ROW,
	SPACE_BY_CODE,
	SPACE_BY_FP,
};

int space_open(const char *path);
int space_read(struct space *space, pid_t pid);
void space_map(struct space *space, u64 start, u64 end, u64 offset, const char *path);
void space_copy(struct space *space, const struct space *from);
void space_free(struct space *space);
bool space_read_code(const struct space *space, u64 addr, void *to, size_t n);
const struct space_range *space_find(const struct space *space, u64 ip);
bool space_row(const struct space *space, const struct bee_frame *f, struct bee_rule *row);
enum beeunwind_stop space_next(const struct space *space, struct bee_uread *mem,
			       struct bee_frame *f, enum space_how *how);
const char *space_place(const struct space *space, u64 ip, char *text, size_t size);

#endif /* BEE_SPACE_H */
