/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records in the order of their times.  perf copies the buffers of all CPUs in rounds: what a
 * round has copied is not older than what the round before the last one had copied.
 */
#ifndef ROUNDS_H
#define ROUNDS_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

/* rounds_fn: takes a record.  Return: 0, or -1 to stop. */
typedef int (*rounds_fn)(void *arg, const u8 *record);

/**
 * struct rounds - records that wait; all zero is an empty list
 * @bytes: the records, each at a multiple of eight bytes
 * @used: bytes in use
 * @room: bytes allocated
 * @entry: where they are
 * @count: records
 * @entries: entries allocated
 * @latest: the latest time of a record
 * @limit: until this time, all records are there when the round ends
 */
struct rounds {
	u8	*bytes;
	size_t	 used;
	size_t	 room;
	struct rounds_entry {
		u64	time;
		size_t	at;
		size_t	size;
	}	*entry;
	size_t	 count;
	size_t	 entries;
	u64	 latest;
	u64	 limit;
};

void rounds_add(struct rounds *rounds, const u8 *record, size_t size, u64 time);
bool rounds_are_many(const struct rounds *rounds);
int rounds_halve(struct rounds *rounds, rounds_fn take, void *arg);
int rounds_end(struct rounds *rounds, rounds_fn take, void *arg);
int rounds_flush(struct rounds *rounds, rounds_fn take, void *arg);
void rounds_free(struct rounds *rounds);

#endif /* ROUNDS_H */
