// SPDX-License-Identifier: GPL-2.0
/*
 * Would a cache of rows by pc in front of the tables pay?  Recorded stacks are looked up frame by
 * frame, as walks do, without a cache and with direct-mapped caches of several sizes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "bench.h"
#include "compile.h"
#include "median.h"

#define FIRST_BITS	6
#define LAST_BITS	12

struct file_table {
	char			*path;
	struct compile_result	 result;
	struct bee_table	 table;
	bool			 usable;
};

struct cached_row {
	const struct bee_table	*table;
	u64			 pc;
	struct bee_rule		 row;
};

/* A frame to look up. */
struct frame {
	u32	file;
	u64	pc;
};

/**
 * struct stacks - recorded stacks
 * @files: the files that their frames are in
 * @nfiles: number of those
 * @frames: all frames, stack by stack
 * @nframes: entries in @frames
 * @nstacks: number of stacks
 */
struct stacks {
	struct file_table	*files;
	size_t			 nfiles;
	size_t			 files_room;
	struct frame		*frames;
	size_t			 nframes;
	size_t			 frames_room;
	size_t			 nstacks;
};

static void table_open(struct file_table *file)
{
	struct bee_table_error error;
	struct bee_error why;
	int fd = open(file->path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	file->usable = !compile_elf(fd, NULL, &file->result, &why) &&
		       !bee_table_validate(file->result.blob, file->result.size, &file->table, &error);
	close(fd);
}

static u32 stacks_file(struct stacks *stacks, const char *path)
{
	size_t i;

	for (i = 0; i < stacks->nfiles; i++)
		if (!strcmp(stacks->files[i].path, path))
			return i;
	stacks->files = alloc_room(stacks->files, i, &stacks->files_room, sizeof(*stacks->files));
	stacks->files[i] = (struct file_table){ .path = strdup(path) };
	table_open(&stacks->files[i]);
	stacks->nfiles++;
	return i;
}

/* Each line is an offset in hexadecimal and a path; an empty line ends each stack. */
static int stacks_read(struct stacks *stacks, const char *path)
{
	FILE *in = fopen(path, "re");
	char *line = NULL, *name;
	size_t room = 0;
	ssize_t n;

	if (!in)
		return -1;
	while ((n = getline(&line, &room, in)) > 0) {
		u64 offset = strtoull(line, &name, 16);
		u32 file;

		line[n - 1] = '\0';
		stacks->nstacks += n == 1;
		if (*name++ != ' ')
			continue;
		file = stacks_file(stacks, name);
		if (!stacks->files[file].usable)
			continue;
		stacks->frames = alloc_room(stacks->frames, stacks->nframes, &stacks->frames_room,
					    sizeof(*stacks->frames));
		stacks->frames[stacks->nframes++] = (struct frame){
			.file = file, .pc = bee_table_pc(&stacks->files[file].table, offset),
		};
	}
	free(line);
	fclose(in);
	return 0;
}

/* Return: ns per frame.  The cache has 2^@bits entries; 0: there is no cache. */
static double time_frames(const struct stacks *stacks, struct cached_row *cache, u32 bits,
			  size_t *hits)
{
	u64 start = bench_now_ns(), zero = 0;
	struct bee_rule row;
	size_t i;

	for (i = 0; i < stacks->nframes; i++) {
		const struct bee_table *table = &stacks->files[stacks->frames[i].file].table;
		u64 pc = stacks->frames[i].pc + zero;
		struct cached_row *place = &cache[(pc ^ (uintptr_t)table) * 0x9e3779b97f4a7c15ull >>
						  (64 - bits)];

		if (bits && place->table == table && place->pc == pc) {
			++*hits;
			row = place->row;
		} else {
			bee_table_lookup(table, pc, &row);
			if (bits)
				*place = (struct cached_row){ table, pc, row };
		}
		zero = bench_wait_for(&row);
	}
	return (double)(bench_now_ns() - start) / stacks->nframes;
}

static void cache_report(const struct stacks *stacks)
{
	struct cached_row *cache = alloc_array(NULL, 1u << LAST_BITS, sizeof(*cache));
	double ns[LAST_BITS + 1][BENCH_TURNS];
	size_t hits[LAST_BITS + 1] = {};
	u32 bits, turn;

	for (turn = 0; turn < BENCH_TURNS; turn++)
		for (bits = FIRST_BITS - 1; bits <= LAST_BITS; bits++) {
			u32 used = bits < FIRST_BITS ? 0 : bits;

			hits[bits] = 0;
			memset(cache, 0, (1u << LAST_BITS) * sizeof(*cache));
			ns[bits][turn] = time_frames(stacks, cache, used, &hits[bits]);
		}
	printf("%12s %8.1f ns a frame\n", "no cache",
	       median(ns[FIRST_BITS - 1], BENCH_TURNS));
	for (bits = FIRST_BITS; bits <= LAST_BITS; bits++)
		printf("%5u places %8.1f ns a frame, %5.1f %% of them hits\n", 1u << bits,
		       median(ns[bits], BENCH_TURNS), 100.0 * hits[bits] / stacks->nframes);
	free(cache);
}

/**
 * bench_cache() - time the lookups of recorded stacks, with caches and without
 * @path: output of "stacks.py places"
 *
 * Return: 0, or -1 if there is nothing to look up.
 */
int bench_cache(const char *path)
{
	struct stacks stacks = {};
	size_t i;
	int ret = stacks_read(&stacks, path);

	if (!ret && stacks.nframes) {
		printf("%s: %zu stacks, %zu frames in %zu files\n", path, stacks.nstacks,
		       stacks.nframes, stacks.nfiles);
		cache_report(&stacks);
	} else {
		fprintf(stderr, "%s: %s\n", path, ret ? strerror(errno) : "no frames in files");
		ret = -1;
	}
	for (i = 0; i < stacks.nfiles; i++) {
		compile_result_free(&stacks.files[i].result);
		free(stacks.files[i].path);
	}
	free(stacks.files);
	free(stacks.frames);
	return ret;
}
