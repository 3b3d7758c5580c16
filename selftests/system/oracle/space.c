// SPDX-License-Identifier: GPL-2.0
/* A process's executable mappings with their tables, and the module's step on them. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compile.h"
#include "space.h"

/**
 * struct space_image - a file that has been compiled; kept until the end
 * @next: in the list of all
 * @path: its name; the files looked at do not change meanwhile
 * @fd: the file; -1 if there is none
 * @usable: it has a table
 * @table: the table
 */
struct space_image {
	struct space_image	*next;
	char			*path;
	int			 fd;
	bool			 usable;
	struct bee_table	 table;
};

static struct space_image *images;

/* Copy this process's vDSO to a file: all 64-bit processes have the same one. */
static int open_vdso(void)
{
	const u8 *image = (const u8 *)getauxval(AT_SYSINFO_EHDR);
	int fd = memfd_create("vdso", MFD_CLOEXEC);
	u64 start, end;
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "r");

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%llx-%llx", &start, &end) == 2 && start == (u64)image &&
		    write(fd, image, end - start) != end - start)
			abort();
	if (maps)
		fclose(maps);
	return fd;
}

/**
 * space_open() - open the file of a mapping
 * @path: as in maps or as perf calls it
 *
 * Return: a file descriptor, or -1 if there is no file.
 */
int space_open(const char *path)
{
	if (!strcmp(path, "[vdso]"))
		return open_vdso();
	return path[0] == '/' && path[1] != '/' ? open(path, O_RDONLY | O_CLOEXEC) : -1;
}

/* Make the table of a file.  Its blob is never freed. */
static void image_compile(struct space_image *image)
{
	struct compile_result result;
	struct bee_table_error refusal;
	struct bee_error error;

	if (image->fd >= 0 && !compile_elf(image->fd, NULL, &result, &error))
		image->usable = !bee_table_validate(result.blob, result.size, &image->table,
						    &refusal);
}

static const struct space_image *image_get(const char *path)
{
	struct space_image *image;

	for (image = images; image; image = image->next)
		if (!strcmp(image->path, path))
			return image;
	image = calloc(1, sizeof(*image));
	if (!image)
		abort();
	image->path = strdup(path);
	image->fd = space_open(path);
	image_compile(image);
	image->next = images;
	images = image;
	return image;
}

static void space_add(struct space *space, u64 start, u64 end, u64 offset, const char *path)
{
	const struct space_image *image = image_get(path);

	space->range = reallocarray(space->range, space->count + 1, sizeof(*space->range));
	if (!space->range)
		abort();
	space->range[space->count++] = (struct space_range){
		.start = start, .end = end, .offset = offset, .path = image->path,
		.image = image, .table = image->usable ? &image->table : NULL,
	};
}

/**
 * space_read() - read a process's mappings, and make tables of files that are new
 * @space: filled; what it had before is freed
 * @pid: the process, stopped
 *
 * Return: 0, or -1 with errno set.
 */
int space_read(struct space *space, pid_t pid)
{
	char name[64], line[4400];
	FILE *maps;

	space_free(space);
	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	maps = fopen(name, "r");
	if (!maps)
		return -1;
	while (fgets(line, sizeof(line), maps)) {
		u64 start, end, offset;
		char perms[5];
		int path = 0;

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%llx-%llx %4s %llx %*s %*s %n", &start, &end, perms, &offset,
			   &path) == 4 && path && perms[2] == 'x')
			space_add(space, start, end, offset, line + path);
	}
	fclose(maps);
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct space_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/**
 * space_map() - add a mapping, which replaces older ones at its addresses
 * @space: the mappings
 * @start: first address
 * @end: address after the last
 * @offset: file offset at @start
 * @path: of the file, or what perf calls it
 */
void space_map(struct space *space, u64 start, u64 end, u64 offset, const char *path)
{
	size_t i, n = 0, count = space->count;
	struct space_range *old = space->range;

	space->range = NULL;
	space->count = 0;
	space_add(space, start, end, offset, path);
	space->range = reallocarray(space->range, 2 * count + 1, sizeof(*space->range));
	if (!space->range)
		abort();
	for (i = 0; i < count; i++) {
		struct space_range low = old[i], high = old[i];

		if (low.end > start)
			low.end = start;
		if (high.start < end) {
			high.offset += end - high.start;
			high.start = end;
		}
		if (low.start < low.end)
			space->range[++n] = low;
		if (high.start < high.end)
			space->range[++n] = high;
	}
	space->count = n + 1;
	free(old);
	qsort(space->range, space->count, sizeof(*space->range), by_start);
}

void space_copy(struct space *space, const struct space *from)
{
	space_free(space);
	space->range = reallocarray(NULL, from->count + 1, sizeof(*space->range));
	if (!space->range)
		abort();
	space->count = from->count;
	memcpy(space->range, from->range, from->count * sizeof(*space->range));
}

void space_free(struct space *space)
{
	free(space->range);
	space->range = NULL;
	space->count = 0;
}

/**
 * space_read_code() - read code from the file that it was mapped from
 * @space: the mappings
 * @addr: address
 * @to: filled
 * @n: bytes
 */
bool space_read_code(const struct space *space, u64 addr, void *to, size_t n)
{
	const struct space_range *range = space_find(space, addr);

	return range && range->end - addr >= n && range->image->fd >= 0 &&
	       pread(range->image->fd, to, n, addr - range->start + range->offset) == n;
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

static u64 range_pc(const struct space_range *range, u64 ip)
{
	return bee_table_pc(range->table, ip - range->start + range->offset);
}

/**
 * space_row() - the row of a frame
 * @space: the mappings
 * @f: the frame
 * @row: filled
 *
 * Return: false where no table covers the frame.
 */
bool space_row(const struct space *space, const struct bee_frame *f, struct bee_rule *row)
{
	u64 ip = bee_frame_lookup_ip(f);
	const struct space_range *range = space_find(space, ip);

	if (!range || !range->table)
		return false;
	bee_table_lookup(range->table, range_pc(range, ip), row);
	return true;
}

/* As walk_is_called() in kmod/walk.c: @gap: lookup ip of the frame that a step by rbp was made from. */
static bool space_leads_to(const struct space *space, struct bee_uread *mem, u64 gap, u64 target)
{
	const struct space_range *range = space_find(space, gap), *there;
	s32 left = INT_MAX;
	int hops;

	for (hops = 0; target && hops < 3; target = bee_frame_jump_target(mem, target), hops++) {
		there = space_find(space, target);
		if (there && there->table == range->table &&
		    bee_table_is_one(range->table, range_pc(there, target) - range->table->base,
				     range_pc(range, gap) - range->table->base, &left))
			return true;
	}
	return false;
}

/*
 * As walk_check_call() in kmod/walk.c: is there a call before what a step by rbp has led to?  @gap: as
 * for space_leads_to(); 0: do not ask.
 */
static enum beeunwind_stop space_check_call(const struct space *space,
					    const struct space_range *range, struct bee_uread *mem,
					    u64 gap, const struct bee_frame *f,
					    enum beeunwind_stop why)
{
	struct bee_rule row = { .kind = BEE_RULE_GAP };
	enum bee_call call;
	u64 target;

	if (range->image->fd < 0)
		return BEEUNWIND_STOP_NONE;
	call = bee_frame_find_call(mem, f->ip, &target);
	if (call == BEE_CALL_FOUND)
		return !target || !gap || space_leads_to(space, mem, gap, target) ?
		       BEEUNWIND_STOP_NONE : why;
	if (bee_frame_is_sigreturn(mem, f))
		return BEEUNWIND_STOP_NONE;
	space_row(space, f, &row);
	if (row.kind == BEE_RULE_KNOWN && (row.ra == BEE_RA_UNDEF || row.arg & BEE_RULE_SIGNAL))
		return BEEUNWIND_STOP_NONE;
	return call == BEE_CALL_NONE ? why : BEEUNWIND_STOP_READ_FAULT;
}

/* As walk_step_guess() in kmod/walk.c, without uretprobes. */
static enum beeunwind_stop space_guess(const struct space *space, struct bee_uread *mem,
				       struct bee_frame *f, enum space_how *how,
				       enum beeunwind_stop why)
{
	struct bee_frame caller = *f;
	const struct space_range *range;
	enum beeunwind_stop stop = BEEUNWIND_STOP_NONE;

	*how = SPACE_BY_CODE;
	if (!bee_frame_step_sigreturn(mem, &caller)) {
		*how = SPACE_BY_FP;
		if (!bee_frame_step_fp(mem, &caller))
			return why;
	}
	range = space_find(space, bee_frame_lookup_ip(&caller));
	if (!range)
		return why;
	if (*how == SPACE_BY_FP) {
		u64 ip = bee_frame_lookup_ip(f);
		bool asks = why == BEEUNWIND_STOP_GAP && bee_frame_is_near(f) &&
			    caller.slot == f->fp + 8 && !bee_table_leaves_fp(space_find(space, ip)->table);

		stop = space_check_call(space, range, mem, asks ? ip : 0, &caller, why);
	}
	if (!stop)
		*f = caller;
	return stop;
}

static enum beeunwind_stop space_step_simple(struct bee_uread *mem, u32 word,
					     const struct bee_rule *row, struct bee_frame *f)
{
	struct bee_simple_frame simple = bee_frame_simple(f);
	enum beeunwind_stop stop;
	u64 ra;

	stop = bee_simple_step(mem, word, &simple, &ra);
	if (stop == BEEUNWIND_STOP_NO_PROGRESS && f->activation)
		return bee_frame_step(mem, row, f);
	if (!stop)
		bee_frame_set_simple(f, &simple, ra, f->sp, true);
	return stop;
}

/**
 * space_next() - from a frame to its caller, as bee_walk_callers() in kmod/walk.c
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
	s32 left = INT_MAX;
	struct bee_rule row;
	u32 word;

	if (!range)
		return space_guess(space, mem, f, how, BEEUNWIND_STOP_NO_MAPPING);
	if (!range->table)
		return space_guess(space, mem, f, how, BEEUNWIND_STOP_NO_TABLE);
	word = bee_table_word(range->table,
			      range_pc(range, bee_frame_lookup_ip(f)) - range->table->base, &left);
	bee_table_decode(range->table, word, &row);
	if (row.kind == BEE_RULE_GAP)
		return space_guess(space, mem, f, how, BEEUNWIND_STOP_GAP);
	*how = SPACE_BY_ROW;
	if (row.kind != BEE_RULE_KNOWN)
		return BEEUNWIND_STOP_UNSUPPORTED;
	stop = bee_word_is_simple(word) ? space_step_simple(mem, word, &row, f) :
					  bee_frame_step(mem, &row, f);
	if (!stop && !space_find(space, bee_frame_lookup_ip(f)))
		stop = BEEUNWIND_STOP_BAD_RA;
	return stop;
}

/**
 * space_place() - an address as text: file+pc
 * @space: the mappings
 * @ip: the address
 * @text: filled
 * @size: bytes of @text
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
		 (unsigned long long)(range->table ? range_pc(range, ip) : ip - range->start));
	return text;
}
