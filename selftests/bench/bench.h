/* SPDX-License-Identifier: GPL-2.0 */
/* The figures of a file, and the functions that measure them. */
#ifndef BEE_BENCH_H
#define BEE_BENCH_H

#include "rows.h"

#define BENCH_TURNS	15	/* measurements that a median is of */

/* Ways to look up a row. */
enum bench_format {
	BENCH_TABLE	= 0,
	BENCH_ROWS8	= 1,
	BENCH_ROWS4	= 2,
	BENCH_FORMATS,
};

/**
 * struct bench_lookups - median ns per lookup, by format; @ratio: that of table / that of rows8
 */
struct bench_lookups {
	double	ns[BENCH_FORMATS];
	double	ratio;
};

/**
 * struct bench_file - the figures of a file
 * @name: last part of its path
 * @rows: rows before packing
 * @functions: function starts
 * @cfi: bytes of .eh_frame and .eh_frame_hdr
 * @bytes: of each format
 * @window: bytes of text in a window
 * @uniform: lookups of random bytes of text
 * @bodies: lookups of random bytes of random functions
 * @cold: lookups of random bytes, each in one of many copies of the table
 * @wrong: rows and random pcs at which the table, or a lookup, differed from the rows
 * @checked: rows and random pcs that were compared
 * @rows_ms: time from the open file to the rows of its FDEs, median
 * @cover_ms: time to all rows, which includes the text between functions, median
 * @pack_ms: time from the rows to the table, median
 * @libdw_ms: time from the open file to libdw's rows, median; 0 if not asked for
 * @libdw_rows: ranges that libdw gave
 * @peak_kib: peak RSS of a process that compiles it, beyond files that it maps
 * @libdw_peak_kib: peak RSS of a process that enumerates the rows with libdw
 */
struct bench_file {
	const char		*name;
	size_t			 rows;
	size_t			 functions;
	u64			 cfi;
	size_t			 bytes[BENCH_FORMATS];
	u32			 window;
	struct bench_lookups	 uniform;
	struct bench_lookups	 bodies;
	struct bench_lookups	 cold;
	size_t			 wrong;
	size_t			 checked;
	double			 rows_ms;
	double			 cover_ms;
	double			 pack_ms;
	double			 libdw_ms;
	size_t			 libdw_rows;
	long			 peak_kib;
	long			 libdw_peak_kib;
};

/**
 * struct bench_options - what to measure
 * @cold_bytes: bytes of all copies together for cold lookups; 0: no cold lookups
 * @libdw: measure libdw too
 */
struct bench_options {
	size_t	cold_bytes;
	bool	libdw;
};

/* Zero, but computed from the row, so that the CPU must wait for it. */
static inline u64 bench_wait_for(const struct bee_rule *row)
{
	u64 zero = row->kind + row->cfa_off + row->fp_off;

	asm volatile("and $0, %0" : "+r" (zero));
	return zero;
}

u64 bench_now_ns(void);
u64 bench_random(void);
void bench_lookups(const struct row_set *set, const struct bee_table *table, size_t cold_bytes,
		   struct bench_file *file);
void bench_exact(const struct row_set *set, const struct bee_table *table, struct bench_file *file);
int bench_encode(int fd, const struct row_set *set, bool libdw, struct bench_file *file);
int bench_cache(const char *path);
struct Elf *bench_libdw_open(int fd);
void bench_libdw_close(struct Elf *elf);
size_t bench_libdw_rows(struct Elf *elf, const struct row_set *set);

#endif /* BEE_BENCH_H */
