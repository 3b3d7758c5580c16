// SPDX-License-Identifier: GPL-2.0
/*
 * Time of a lookup in a table and in the plain formats.  All look up the same pcs, in turns.
 * Each pc depends on the row found before, so that the CPU cannot overlap lookups.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "alloc.h"
#include "bench.h"
#include "formats.h"
#include "median.h"

#define PCS	(1u << 14)

/**
 * struct subject - copies of a file's rows in one format
 * @tables: the copies, if they are tables
 * @rows8: the copies, if they are struct rows8
 * @rows4: the copies, if they are struct rows4
 * @ncopies: number of copies
 * @memory: memory of all copies
 * @size: bytes of @memory
 */
struct subject {
	struct bee_table	*tables;
	struct rows8		*rows8;
	struct rows4		*rows4;
	size_t			 ncopies;
	void			*memory;
	size_t			 size;
};

/* A lookup: offset from the first pc, and which copy. */
struct question {
	u32	x;
	u32	copy;
};

static double time_table(const struct subject *s, const struct question *q, u64 pc)
{
	u64 start = bench_now_ns();
	struct bee_rule row;
	u32 i;

	for (i = 0; i < PCS; i++) {
		bee_table_lookup(&s->tables[q[i].copy], pc + q[i].x, &row);
		pc += bench_wait_for(&row);
	}
	return (double)(bench_now_ns() - start) / PCS;
}

static double time_rows8(const struct subject *s, const struct question *q, u64 pc)
{
	u64 start = bench_now_ns();
	struct bee_rule row;
	u32 i;

	for (i = 0; i < PCS; i++) {
		rows8_lookup(&s->rows8[q[i].copy], pc + q[i].x, &row);
		pc += bench_wait_for(&row);
	}
	return (double)(bench_now_ns() - start) / PCS;
}

static double time_rows4(const struct subject *s, const struct question *q, u64 pc)
{
	u64 start = bench_now_ns();
	struct bee_rule row;
	u32 i;

	for (i = 0; i < PCS; i++) {
		rows4_lookup(&s->rows4[q[i].copy], pc + q[i].x, &row);
		pc += bench_wait_for(&row);
	}
	return (double)(bench_now_ns() - start) / PCS;
}

static double (*const time_format[BENCH_FORMATS])(const struct subject *, const struct question *,
						  u64) = {
	time_table, time_rows8, time_rows4,
};

/* In each turn all formats look up the same random pcs. */
static void time_subjects(const struct subject *subjects, const struct row_set *set, bool bodies,
			  struct bench_lookups *result)
{
	struct question *q = alloc_array(NULL, PCS, sizeof(*q));
	double ns[BENCH_FORMATS][BENCH_TURNS];
	u64 base = set->rows[0].pc, span = set->end - base;
	u32 turn, i, f;

	for (turn = 0; turn < BENCH_TURNS; turn++) {
		for (i = 0; i < PCS; i++) {
			size_t n = bench_random() % (set->nstarts ?: 1);
			u64 first = bodies && set->nstarts ? set->starts[n] : base;
			u64 end = bodies && n + 1 < set->nstarts ? set->starts[n + 1] : set->end;

			q[i].x = bodies ? first - base + bench_random() % (end - first) :
					  bench_random() % span;
			q[i].copy = bench_random() >> 32;
		}
		for (f = 0; f < BENCH_FORMATS; f++) {
			struct question *own = alloc_array(NULL, PCS, sizeof(*own));

			for (i = 0; i < PCS; i++)
				own[i] = (struct question){ q[i].x, q[i].copy % subjects[f].ncopies };
			ns[f][turn] = time_format[f](&subjects[f], own, base);
			free(own);
		}
	}
	for (f = 0; f < BENCH_FORMATS; f++)
		result->ns[f] = median(ns[f], BENCH_TURNS);
	result->ratio = result->ns[BENCH_TABLE] / result->ns[BENCH_ROWS8];
	free(q);
}

/* Memory for copies, in 4 KiB pages, as the module has its tables. */
static u8 *copies_alloc(struct subject *s, size_t each, size_t total)
{
	s->ncopies = total / each ?: 1;
	s->size = s->ncopies * each;
	s->memory = mmap(NULL, s->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s->memory == MAP_FAILED)
		abort();
	madvise(s->memory, s->size, MADV_NOHUGEPAGE);
	return s->memory;
}

static size_t aligned(size_t size)
{
	return (size + 63) & ~(size_t)63;
}

static void copy_table(struct subject *s, const struct bee_table *table, size_t total)
{
	size_t each = aligned(table->size), i;
	u8 *at = copies_alloc(s, each, total);
	struct bee_table_error error;

	s->tables = alloc_array(NULL, s->ncopies, sizeof(*s->tables));
	for (i = 0; i < s->ncopies; i++, at += each) {
		memcpy(at, table->header, table->size);
		if (bee_table_validate(at, table->size, &s->tables[i], &error))
			abort();
	}
}

static void copy_rows8(struct subject *s, const struct rows8 *rows, size_t nrules, size_t total)
{
	size_t size = aligned(rows->nrows * sizeof(*rows->rows));
	size_t each = size + aligned(nrules * sizeof(*rows->rules)), i;
	u8 *at = copies_alloc(s, each, total);

	s->rows8 = alloc_array(NULL, s->ncopies, sizeof(*s->rows8));
	for (i = 0; i < s->ncopies; i++, at += each) {
		s->rows8[i] = *rows;
		s->rows8[i].rows = memcpy(at, rows->rows, rows->nrows * sizeof(*rows->rows));
		s->rows8[i].rules = memcpy(at + size, rows->rules, nrules * sizeof(*rows->rules));
	}
}

static void copy_rows4(struct subject *s, const struct rows4 *rows, size_t nrules, size_t total)
{
	size_t size = aligned(rows->nrows * sizeof(*rows->rows));
	size_t pages = aligned((rows->npages + 1) * sizeof(*rows->pages));
	size_t each = size + pages + aligned(nrules * sizeof(*rows->rules)), i;
	u8 *at = copies_alloc(s, each, total);

	s->rows4 = alloc_array(NULL, s->ncopies, sizeof(*s->rows4));
	for (i = 0; i < s->ncopies; i++, at += each) {
		s->rows4[i] = *rows;
		s->rows4[i].rows = memcpy(at, rows->rows, rows->nrows * sizeof(*rows->rows));
		s->rows4[i].pages = memcpy(at + size, rows->pages,
					   (rows->npages + 1) * sizeof(*rows->pages));
		s->rows4[i].rules = memcpy(at + size + pages, rows->rules,
					   nrules * sizeof(*rows->rules));
	}
}

static void time_cold(const struct subject *warm, const struct row_set *set, size_t total,
		      struct bench_lookups *result)
{
	struct subject cold[BENCH_FORMATS] = {};
	u32 f;

	copy_table(&cold[BENCH_TABLE], warm[BENCH_TABLE].tables, total);
	copy_rows8(&cold[BENCH_ROWS8], warm[BENCH_ROWS8].rows8, set->nrules, total);
	copy_rows4(&cold[BENCH_ROWS4], warm[BENCH_ROWS4].rows4, set->nrules, total);
	time_subjects(cold, set, false, result);
	for (f = 0; f < BENCH_FORMATS; f++) {
		munmap(cold[f].memory, cold[f].size);
		free(cold[f].tables);
		free(cold[f].rows8);
		free(cold[f].rows4);
	}
}

/**
 * bench_lookups() - time lookups
 * @set: the rows
 * @table: the table made from them
 * @cold_bytes: bytes of all copies of a format in cold lookups; 0: no cold lookups
 * @file: its bytes, window, uniform, bodies and cold are filled
 */
void bench_lookups(const struct row_set *set, const struct bee_table *table, size_t cold_bytes,
		   struct bench_file *file)
{
	struct bee_table copy = *table;
	struct rows8 rows8;
	struct rows4 rows4;
	const struct subject warm[BENCH_FORMATS] = {
		[BENCH_TABLE] = { .tables = &copy, .ncopies = 1 },
		[BENCH_ROWS8] = { .rows8 = &rows8, .ncopies = 1 },
		[BENCH_ROWS4] = { .rows4 = &rows4, .ncopies = 1 },
	};

	rows8_make(set, &rows8);
	rows4_make(set, &rows4);
	file->window = 1u << table->window;
	file->bytes[BENCH_TABLE] = table->size;
	file->bytes[BENCH_ROWS8] = 8 * rows8.nrows + sizeof(struct bee_rule) * set->nrules;
	file->bytes[BENCH_ROWS4] = 4 * (rows4.nrows + rows4.npages + 1) +
				   sizeof(struct bee_rule) * set->nrules;
	time_subjects(warm, set, false, &file->uniform);
	time_subjects(warm, set, true, &file->bodies);
	if (cold_bytes)
		time_cold(warm, set, cold_bytes, &file->cold);
	free(rows8.rows);
	free(rows4.rows);
	free(rows4.pages);
}
