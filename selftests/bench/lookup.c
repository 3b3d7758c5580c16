// SPDX-License-Identifier: GPL-2.0
/*
 * How long a lookup takes, beside the plainest thing that could be done instead: a
 * binary search over rows of eight bytes (u32 pc, u32 rule number).  Both answer the
 * same uniformly random pcs in the same run, in turns; each answer's address is part
 * of the next question, so that lookups do not overlap.  Medians; nothing is asserted.
 *
 *	lookup FILE...
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "compile.h"
#include "cover.h"
#include "elf.h"

#define TURNS	31
#define PCS	(1u << 14)

struct plain_row {
	u32	pc;
	u32	rule;
};

static u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* xorshift64; the same numbers in each run. */
static u64 random_u64(void)
{
	static u64 x = 88172645463325252ull;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

struct plain_table {
	u64			 base;
	u64			 span;
	const struct plain_row	*rows;
	size_t			 nrows;
	const struct bee_row	*rules;
};

static __attribute__((noinline)) void plain_lookup(const struct plain_table *table, u64 pc,
						   struct bee_row *row)
{
	size_t low = 0, n = table->nrows;
	u64 x = pc - table->base;

	if (x >= table->span) {
		*row = (struct bee_row){ .kind = BEE_ROW_GAP };
		return;
	}
	while (n > 1) {
		size_t half = n / 2;

		if (table->rows[low + half].pc <= x)
			low += half;
		n -= half;
	}
	*row = table->rules[table->rows[low].rule];
}

/* Zero, but only after the row is there. */
static u64 wait_for(const struct bee_row *row)
{
	u64 zero = row->kind + row->cfa_off + row->fp_off;

	asm volatile("and $0, %0" : "+r" (zero));
	return zero;
}

static double time_plain(const struct plain_table *table, const u32 *pcs)
{
	struct bee_row row;
	u64 start = now_ns(), pc = table->base;
	u32 i;

	for (i = 0; i < PCS; i++) {
		plain_lookup(table, pc + pcs[i], &row);
		pc += wait_for(&row);
	}
	return (double)(now_ns() - start) / PCS;
}

static double time_table(const struct bee_table *table, const u32 *pcs)
{
	struct bee_row row;
	u64 start = now_ns(), pc = table->base;
	u32 i;

	for (i = 0; i < PCS; i++) {
		bee_table_lookup(table, pc + pcs[i], &row);
		pc += wait_for(&row);
	}
	return (double)(now_ns() - start) / PCS;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *values)
{
	qsort(values, TURNS, sizeof(*values), compare_doubles);
	return values[TURNS / 2];
}

static void bench(const struct row_set *set, const struct bee_table *table, double *plain_ns,
		  double *table_ns)
{
	struct plain_row *rows = calloc(set->nrows, sizeof(*rows));
	u32 *pcs = calloc(PCS, sizeof(*pcs));
	struct plain_table plain_table = {
		.base = table->base, .span = table->span,
		.rows = rows, .nrows = set->nrows, .rules = set->rules,
	};
	double plain[TURNS], packed[TURNS];
	size_t i;

	for (i = 0; i < set->nrows; i++) {
		rows[i].pc = set->rows[i].pc - set->rows[0].pc;
		rows[i].rule = set->rows[i].rule;
	}
	for (i = 0; i < PCS; i++)
		pcs[i] = random_u64() % table->span;
	for (i = 0; i < TURNS; i++) {
		plain[i] = time_plain(&plain_table, pcs);
		packed[i] = time_table(table, pcs);
	}
	*plain_ns = median(plain);
	*table_ns = median(packed);
	free(rows);
	free(pcs);
}

static int bench_opened(const char *name, int fd)
{
	struct compile_result result;
	struct bee_table_error error;
	struct row_set rows = {};
	double plain, packed;
	struct bee_table table;
	struct bee_elf elf;
	char message[256];
	u64 start, cfi;

	start = now_ns();
	if (compile_elf(fd, &result)) {
		fprintf(stderr, "%s: %s\n", name, result.message);
		return 1;
	}
	start = now_ns() - start;
	if (bee_elf_open(&elf, fd) || bee_cover_rows(&elf, &rows, message, sizeof(message)) ||
	    bee_table_validate(result.blob, result.size, &table, &error))
		return 1;
	cfi = bee_elf_frames_size(&elf);
	bench(&rows, &table, &plain, &packed);
	printf("%-24s %8zu %8zu %6.2f %6.3f %4u %7.0f %6.1f %6.1f %5.2f\n", name, rows.nrows,
	       result.size, 100.0 * result.size / cfi, (double)result.size / rows.nrows,
	       1u << table.window, start / 1e6, packed, plain, packed / plain);
	bee_row_free(&rows);
	bee_elf_close(&elf);
	compile_result_free(&result);
	return 0;
}

int main(int argc, char **argv)
{
	int i, status = 0;

	printf("%-24s %8s %8s %6s %6s %4s %7s %6s %6s %5s\n", "file", "rows", "bytes", "% cfi",
	       "B/row", "win", "ms", "ns", "8-byte", "ratio");
	for (i = 1; i < argc; i++) {
		const char *slash = strrchr(argv[i], '/');
		int fd = open(argv[i], O_RDONLY | O_CLOEXEC);

		status |= fd < 0 || bench_opened(slash ? slash + 1 : argv[i], fd);
		close(fd);
		fflush(stdout);
	}
	return status;
}
