// SPDX-License-Identifier: GPL-2.0
/* The module's walk: kmod/walk.c with kmod's table and step, on recorded stacks. */
#include <stdlib.h>

#include "alloc.h"
#include "compile.h"
#include "walk.h"

#include "kmod/walk.h"

#ifdef BEFORE		/* built of the sources of another version */
#define bench_ours	bench_before
#define NAME		"before"
#define ours		before
#else
#define NAME		"beeunwind"
#endif

static const struct bench_stack *replayed;
struct bench_user bench_user;

/* As the kernel's, but with memcpy() in place of the exception table. */
unsigned long copy_from_user_nmi(void *to, const void *from, unsigned long n)
{
	return bench_read(replayed, (u64)from, to, n) ? 0 : n;
}

/* Recorded programs have no uprobes. */
#include "around_walk.h"

/* Without a table if none can be made. */
static void stored_make(struct bee_stored *stored, const char *path)
{
	static u64 serial;
	struct bee_table_error refusal;
	struct compile_result result;
	struct bee_error error;
	int fd = bench_open(path);

	if (fd < 0 || compile_elf(fd, NULL, &result, &error) ||
	    bee_table_validate(result.blob, result.size, &stored->table, &refusal))
		return;
	stored->blob = result.blob;
	stored->delta = stored->table.segments[0].vaddr - stored->table.segments[0].offset;
	stored->one_segment = stored->table.nsegments == 1;
	stored->serial = ++serial;
}

static struct bee_file *file_get(struct bench_mapped *mapped)
{
	struct bee_file *f = mapped->ours;

	if (f)
		return f;
	f = aligned_alloc(64, (sizeof(*f) + 63) & ~63ul);
	if (!f)
		abort();
	memset(f, 0, sizeof(*f));
	stored_make(&f->stored, mapped->path);
	mapped->ours = f;
	return f;
}

/* The ranges of a recorded process, ascending. */
struct ours_space {
	size_t			nr;
	struct bee_range	ranges[];
};

static void ours_prepare(struct bench_space *space)
{
	struct ours_space *ours = alloc_array(NULL, sizeof(*ours) + space->nr * sizeof(ours->ranges[0]), 1);
	size_t i;

	ours->nr = 0;
	for (i = 0; i < space->nr; i++) {
		struct bench_map *from = &space->maps[i];

		if (from->exec)
			ours->ranges[ours->nr++] = (struct bee_range){
				.start = from->start, .end = from->end, .offset = from->offset,
				.file = file_get(from->file),
			};
	}
	space->ours = ours;
}

/* Instead of a look into the kernel's tree. */
static const struct bee_range *around_find(u64 ip)
{
	const struct ours_space *ours = replayed->space->ours;
	size_t low = 0, high = ours->nr;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (ours->ranges[middle].end <= ip)
			low = middle + 1;
		else
			high = middle;
	}
	return low < ours->nr && bee_range_contains(&ours->ranges[low], ip) ? &ours->ranges[low] : NULL;
}

static struct bee_rule_cache cache __aligned(64);

static size_t ours_walk(const struct bench_stack *stack, uint64_t *ips)
{
	static struct bee_walk walk __aligned(64) = { .cache = &cache };
	const struct pt_regs *regs = (const struct pt_regs *)stack->user;

	replayed = stack;
	bench_user = (struct bench_user){ stack->start, stack->size - sizeof(u64), stack->bytes };
	around_mm = stack->space->ours;
	bee_walk_look(&walk, regs->ip);
	bee_walk_start(&walk, regs);
	ips[0] = walk.frame.ip;
	return 1 + bee_walk_callers(&walk, (u64 *)ips + 1, BENCH_MAX_DEPTH - 1);
}

static void ours_forget(const struct bench_space *space)
{
	(void)space;
	memset(&cache, 0, sizeof(cache));
}

const struct bench_unwinder bench_ours = {
	NAME, ours_prepare, ours_forget, ours_walk,
};
