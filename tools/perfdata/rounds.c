// SPDX-License-Identifier: GPL-2.0
/* Records in the order of their times. */
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "order.h"
#include "rounds.h"

/* Most bytes of records that wait.  The buffers of 512 CPUs have as much, with perf's default size. */
#define ROUNDS_MAX_BYTES	(512u << 20)

/** rounds_add() - keep a copy of a record until its turn; records of one time stay in order */
void rounds_add(struct rounds *rounds, const u8 *record, size_t size, u64 time)
{
	size_t padded = (size + 7) & ~(size_t)7;

	if (rounds->room - rounds->used < padded) {
		rounds->room = 2 * rounds->room + padded + (64 << 10);
		rounds->bytes = alloc_array(rounds->bytes, rounds->room, 1);
	}
	rounds->entry = alloc_room(rounds->entry, rounds->count, &rounds->entries,
				   sizeof(*rounds->entry));
	rounds->entry[rounds->count++] = (struct rounds_entry){ time, rounds->used, size };
	memcpy(rounds->bytes + rounds->used, record, size);
	rounds->used += padded;
	if (time > rounds->latest)
		rounds->latest = time;
}

static int entry_compare(const void *a, const void *b)
{
	const struct rounds_entry *x = a, *y = b;

	return order(x->time, y->time) ?: order(x->at, y->at);
}

/* Move what remains, from entry @first on, to the start.  Its records keep their order. */
static void rounds_compact(struct rounds *rounds, size_t first)
{
	struct rounds kept = { .latest = rounds->latest, .limit = rounds->limit };
	size_t i;

	if (first == rounds->count) {
		rounds->count = rounds->used = 0;
		return;
	}
	for (i = first; i < rounds->count; i++)
		rounds_add(&kept, rounds->bytes + rounds->entry[i].at, rounds->entry[i].size,
			   rounds->entry[i].time);
	rounds_free(rounds);
	*rounds = kept;
}

static void rounds_sort(struct rounds *rounds)
{
	if (rounds->count)
		qsort(rounds->entry, rounds->count, sizeof(*rounds->entry), entry_compare);
}

/* Hand out the records up to time @limit.  The caller has sorted @rounds. */
static int rounds_hand_out(struct rounds *rounds, u64 limit, rounds_fn take, void *arg)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < rounds->count && rounds->entry[i].time <= limit; i++)
		ret = take(arg, rounds->bytes + rounds->entry[i].at);
	if (i)
		rounds_compact(rounds, i);
	return ret;
}

/** rounds_are_many() - is it time for rounds_halve()? */
bool rounds_are_many(const struct rounds *rounds)
{
	return rounds->used + rounds->count * sizeof(*rounds->entry) > ROUNDS_MAX_BYTES;
}

/**
 * rounds_halve() - hand out half of the records, the earlier ones, though others may precede them
 * @rounds: the records
 * @take: gets them in the order of their times
 * @arg: for @take
 *
 * Return: 0, or what @take returned.
 */
int rounds_halve(struct rounds *rounds, rounds_fn take, void *arg)
{
	if (!rounds->count)
		return 0;
	rounds_sort(rounds);
	return rounds_hand_out(rounds, rounds->entry[rounds->count / 2].time, take, arg);
}

/**
 * rounds_end() - a round has ended: hand out the records that none can precede any more
 * @rounds: the records
 * @take: gets them in the order of their times
 * @arg: for @take
 *
 * Return: 0, or what @take returned.
 */
int rounds_end(struct rounds *rounds, rounds_fn take, void *arg)
{
	int ret;

	rounds_sort(rounds);
	ret = rounds_hand_out(rounds, rounds->limit, take, arg);
	rounds->limit = rounds->latest;
	return ret;
}

/** rounds_flush() - hand out all that is left; otherwise as rounds_end() */
int rounds_flush(struct rounds *rounds, rounds_fn take, void *arg)
{
	rounds_sort(rounds);
	return rounds_hand_out(rounds, ~0ull, take, arg);
}

void rounds_free(struct rounds *rounds)
{
	free(rounds->bytes);
	free(rounds->entry);
	*rounds = (struct rounds){ 0 };
}
