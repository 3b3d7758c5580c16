// SPDX-License-Identifier: GPL-2.0
/* The module's walk: kmod/walk.c with kmod's table and step, on recorded stacks. */
#include <stdlib.h>

#include "alloc.h"
#include "compile.h"
#include "walk.h"

#include "kmod/map.h"
#include "kmod/news.h"
#include "kmod/store.h"
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

static struct bee_stored *stored_new(const char *path)
{
	static u64 serial;
	struct bee_stored *stored = aligned_alloc(64, (sizeof(*stored) + 63) & ~63ul);
	struct bee_table_error refusal;
	struct compile_result result;
	struct bee_error error;
	int fd = bench_open(path);

	if (!stored || fd < 0)
		return NULL;
	*stored = (struct bee_stored){};
	if (compile_elf(fd, NULL, &result, &error) ||
	    bee_table_validate(result.blob, result.size, &stored->table, &refusal))
		return NULL;
	stored->blob = result.blob;
	stored->delta = stored->table.segments[0].vaddr - stored->table.segments[0].offset;
	stored->one_segment = stored->table.nsegments == 1;
	stored->serial = ++serial;
	return stored;
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
	f->table = stored_new(mapped->path);
	mapped->ours = f;
	return f;
}

/* As many as kmod/map.c puts into a chunk of a process that it finds with more than fit into one. */
#define CHUNK_RANGES	24

static void ours_prepare(struct bench_space *space)
{
	size_t i, chunks = space->nr / CHUNK_RANGES + 1;
	struct bee_map *map = alloc_array(NULL, sizeof(*map), 1);
	struct bee_index *index = alloc_array(NULL, sizeof(*index) + chunks * sizeof(index->at[0]), 1);
	struct bee_chunk *chunk = NULL;

	*index = (struct bee_index){};
	for (i = 0; i < space->nr; i++) {
		struct bench_map *from = &space->maps[i];

		if (!from->exec)
			continue;
		if (!chunk || chunk->nr == CHUNK_RANGES) {
			chunk = alloc_array(NULL, sizeof(*chunk) +
					    CHUNK_RANGES * sizeof(chunk->ranges[0]), 1);
			*chunk = (struct bee_chunk){};
			index->at[index->nr].start = index->nr ? from->start : 0;
			index->at[index->nr++].chunk = chunk;
		}
		chunk->ranges[chunk->nr++] = (struct bee_range){
			.start = from->start, .end = from->end, .offset = from->offset,
			.file = file_get(from->file),
		};
	}
	*map = (struct bee_map){ .index = index };
	space->ours = map;
}

static struct bee_rule_cache cache __aligned(64);

static size_t ours_walk(const struct bench_stack *stack, uint64_t *ips)
{
	static struct bee_walk walk __aligned(64) = { .cache = &cache };

	replayed = stack;
	bench_user = (struct bench_user){ stack->start, stack->size - sizeof(u64), stack->bytes };
	bee_walk_start(&walk, stack->space->ours, (const struct pt_regs *)stack->user);
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
