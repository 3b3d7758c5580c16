// SPDX-License-Identifier: GPL-2.0
/* A process's executable mappings with their tables, and the module's step on them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compile.h"
#include "space.h"

/**
 * struct image - a file that has been compiled; kept until the end
 * @next: in the list of all
 * @major: of its device
 * @minor: of its device
 * @inode: its inode number, 0 for the vDSO
 * @path: its name, as a file's inode number can be used again
 * @usable: it has a table
 * @table: the table
 */
struct image {
	struct image		*next;
	unsigned int		 major;
	unsigned int		 minor;
	uint64_t		 inode;
	char			*path;
	bool			 usable;
	struct bee_table	 table;
};

static struct image *images;

static int image_open(pid_t pid, const struct mapping *m)
{
	char why[256];
	int fd = -1;

	if (m->kind == MAPPING_FILE)
		fd = mapping_open(pid, m, why, sizeof(why));
	else if (m->kind == MAPPING_VDSO)
		fd = mapping_open_vdso(why, sizeof(why));
	return fd;
}

/* The blob is the table's for good. */
static void image_compile(struct image *image, pid_t pid, const struct mapping *m)
{
	struct compile_result result;
	struct bee_table_error error;
	int fd = image_open(pid, m);

	if (fd < 0)
		return;
	if (!compile_elf(fd, &result))
		image->usable = !bee_table_validate(result.blob, result.size, &image->table,
						    &error);
	close(fd);
}

static const struct image *image_get(pid_t pid, const struct mapping *m)
{
	struct image *image;

	for (image = images; image; image = image->next)
		if (image->inode == m->inode && image->major == m->major &&
		    image->minor == m->minor && !strcmp(image->path, m->path))
			return image;
	image = calloc(1, sizeof(*image));
	if (!image)
		abort();
	image->major = m->major;
	image->minor = m->minor;
	image->inode = m->inode;
	image->path = strdup(m->path);
	image_compile(image, pid, m);
	image->next = images;
	images = image;
	return image;
}

/**
 * space_read() - read a process's mappings, and make the tables that are new
 * @space: filled; what it had before is freed
 * @pid: the process, stopped
 *
 * Return: 0, or -1 with errno set.
 */
int space_read(struct space *space, pid_t pid)
{
	size_t i;

	space_free(space);
	if (maps_read(pid, &space->maps))
		return -1;
	space->range = calloc(space->maps.count + 1, sizeof(*space->range));
	if (!space->range)
		return -1;
	for (i = 0; i < space->maps.count; i++) {
		const struct mapping *m = &space->maps.mapping[i];
		const struct image *image = image_get(pid, m);
		struct space_range *range = &space->range[space->count++];

		*range = (struct space_range){ .start = m->start, .end = m->end, .path = m->path };
		if (image->usable &&
		    bee_table_bias(&image->table, m->start, m->offset, &range->bias))
			range->table = &image->table;
	}
	return 0;
}

void space_free(struct space *space)
{
	maps_free(&space->maps);
	free(space->range);
	space->range = NULL;
	space->count = 0;
}

/**
 * space_find() - the mapping that an address is in, or NULL
 * @space: the mappings
 * @ip: the address
 */
const struct space_range *space_find(const struct space *space, u64 ip)
{
	size_t low = 0, high = space->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (space->range[middle].end <= ip)
			low = middle + 1;
		else
			high = middle;
	}
	return low < space->count && space->range[low].start <= ip ? &space->range[low] : NULL;
}

/**
 * space_row() - the row of a frame
 * @space: the mappings
 * @f: the frame
 * @row: filled
 *
 * Return: false where no table covers the frame.
 */
bool space_row(const struct space *space, const struct bee_frame *f, struct bee_row *row)
{
	u64 ip = bee_frame_lookup_ip(f);
	const struct space_range *range = space_find(space, ip);

	if (!range || !range->table)
		return false;
	bee_table_lookup(range->table, ip - range->bias, row);
	return true;
}

/* As walk_step_fp() in kmod/walk.c. */
static enum beeunwind_stop space_next_fp(const struct space *space, struct bee_uread *mem,
					 struct bee_frame *f, enum beeunwind_stop why)
{
	struct bee_frame caller = *f;

	if (!bee_frame_step_fp(mem, &caller) ||
	    !space_find(space, bee_frame_lookup_ip(&caller)))
		return why;
	*f = caller;
	return BEEUNWIND_STOP_NONE;
}

/**
 * space_next() - from a frame to its caller, as bee_walk_next() in kmod/walk.c
 * @space: the mappings
 * @mem: the process's memory
 * @f: the frame; the caller afterwards
 * @how: filled: what the caller was found by
 *
 * Return: BEEUNWIND_STOP_NONE, or why there is no caller.
 */
enum beeunwind_stop space_next(const struct space *space, struct bee_uread *mem,
			       struct bee_frame *f, enum space_how *how)
{
	const struct space_range *range = space_find(space, bee_frame_lookup_ip(f));
	enum beeunwind_stop stop;
	struct bee_row row;

	*how = SPACE_BY_FP;
	if (!range)
		return space_next_fp(space, mem, f, BEEUNWIND_STOP_NO_MAPPING);
	if (!range->table)
		return space_next_fp(space, mem, f, BEEUNWIND_STOP_NO_TABLE);
	bee_table_lookup(range->table, bee_frame_lookup_ip(f) - range->bias, &row);
	if (row.kind == BEE_ROW_GAP)
		return space_next_fp(space, mem, f, BEEUNWIND_STOP_GAP);
	*how = SPACE_BY_ROW;
	if (row.kind != BEE_ROW_RULES)
		return BEEUNWIND_STOP_UNSUPPORTED;
	stop = bee_frame_step(mem, &row, f);
	if (!stop && !space_find(space, bee_frame_lookup_ip(f)))
		stop = BEEUNWIND_STOP_BAD_RA;
	return stop;
}

/**
 * space_place() - an address for people: file+pc
 * @space: the mappings
 * @ip: the address
 * @text: filled
 * @size: bytes of it
 *
 * Return: @text.
 */
const char *space_place(const struct space *space, u64 ip, char *text, size_t size)
{
	const struct space_range *range = space_find(space, ip);
	const char *name;

	if (!range) {
		snprintf(text, size, "%#llx", (unsigned long long)ip);
		return text;
	}
	name = strrchr(range->path, '/');
	snprintf(text, size, "%s+%#llx", name ? name + 1 : range->path,
		 (unsigned long long)(ip - (range->table ? range->bias : range->start)));
	return text;
}
