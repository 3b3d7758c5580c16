// SPDX-License-Identifier: GPL-2.0
/* Samples whose user stacks come later. */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "deferred.h"
#include "hash.h"

#define CONTEXT_USER_DEFERRED	((u64)-640)	/* enum perf_callchain_context, Linux 6.19 */
#define DEFERRED_LISTS		(1u << 16)
#define DEFERRED_MAX_BYTES	(256u << 20)	/* of samples that wait */

/* struct waiting_sample - a sample that waits for the user's part of @chain */
struct waiting_sample {
	struct waiting_sample	*next;
	u64			 cookie;
	struct perfdata_sample	 sample;
	u64			 chain[];
};

/**
 * struct deferred - samples that wait
 * @first: lists by cookie, in the order of their times
 * @end: where the next one goes, or NULL for an empty list
 * @bytes: bytes of all that the lists hold
 */
struct deferred {
	struct waiting_sample	 *first[DEFERRED_LISTS];
	struct waiting_sample	**end[DEFERRED_LISTS];
	size_t			  bytes;
};

static size_t waiting_bytes(u64 depth)
{
	return sizeof(struct waiting_sample) + depth * sizeof(u64);
}

/* The author of a recording does not know which cookies share a list, so he cannot make one list do all the work. */
static size_t cookie_list(u64 cookie)
{
	return hash_word(hash_seed(), cookie) % DEFERRED_LISTS;
}

/* Whether the stack of a sample ends with the mark.  In a user stack anything may look like one. */
static bool sample_is_marked(const struct perfdata *data, const struct perfdata_sample *sample)
{
	u64 i;

	if (!data->event[sample->event].deferred || sample->depth < 2 ||
	    sample->chain[sample->depth - 2] != CONTEXT_USER_DEFERRED)
		return false;
	for (i = 0; i < sample->depth - 2; i++)
		if (sample->chain[i] == PERF_CONTEXT_USER)
			return false;
	return true;
}

/**
 * deferred_add() - keep a sample until its user stack comes
 * @data: the recording
 * @sample: the sample; copied.  The mark at its end is cut off
 *
 * Return: whether it has to wait; not if too many do.
 */
bool deferred_add(struct perfdata *data, struct perfdata_sample *sample)
{
	struct deferred *deferred = data->deferred;
	struct waiting_sample *waiting;
	size_t depth, list;

	if (!sample_is_marked(data, sample))
		return false;
	depth = sample->depth -= 2;
	if (deferred && deferred->bytes > DEFERRED_MAX_BYTES)
		return false;
	if (!deferred)
		deferred = data->deferred = alloc_zero(1, sizeof(*deferred));
	waiting = alloc_zero(1, waiting_bytes(depth));
	waiting->cookie = sample->chain[depth + 1];
	waiting->sample = *sample;
	waiting->sample.raw = NULL;
	memcpy(waiting->chain, sample->chain, depth * sizeof(u64));
	list = cookie_list(waiting->cookie);
	if (!deferred->end[list])
		deferred->end[list] = &deferred->first[list];
	*deferred->end[list] = waiting;
	deferred->end[list] = &waiting->next;
	deferred->bytes += waiting_bytes(depth);
	return true;
}

/* Hand out a sample with @user after its own part, and release it. */
static void waiting_finish(struct waiting_sample *waiting, const u64 *user, size_t count,
			   const struct perfdata_handler *handler)
{
	size_t depth = waiting->sample.depth;
	u64 *chain = alloc_array(NULL, depth + count + 1, sizeof(*chain));

	memcpy(chain, waiting->chain, depth * sizeof(*chain));
	if (count && user[0] != PERF_CONTEXT_USER)
		chain[depth++] = PERF_CONTEXT_USER;
	if (count)
		memcpy(chain + depth, user, count * sizeof(*chain));
	waiting->sample.chain = chain;
	waiting->sample.depth = depth + count;
	handler->sample(handler->arg, &waiting->sample);
	free(chain);
	free(waiting);
}

/**
 * deferred_deliver() - a user stack has come: hand out the samples that wait for it
 * @data: the recording
 * @body: of PERF_RECORD_CALLCHAIN_DEFERRED
 * @handler: takes them
 */
void deferred_deliver(struct perfdata *data, struct cursor body,
		      const struct perfdata_handler *handler)
{
	u64 cookie = cursor_u64(&body), count = cursor_u64(&body);
	struct deferred *deferred = data->deferred;
	struct waiting_sample **at, *waiting;
	size_t list;

	if (!deferred || body.bad || count > cursor_left(&body) / sizeof(u64))
		return;
	list = cookie_list(cookie);
	at = &deferred->first[list];
	while ((waiting = *at)) {
		if (waiting->cookie != cookie) {
			at = &waiting->next;
			continue;
		}
		*at = waiting->next;
		deferred->bytes -= waiting_bytes(waiting->sample.depth);
		waiting_finish(waiting, (const u64 *)body.at, count, handler);
	}
	deferred->end[list] = at;
}

/** deferred_flush() - no more will come: hand out what waits, without its user stacks */
void deferred_flush(struct perfdata *data, const struct perfdata_handler *handler)
{
	struct deferred *deferred = data->deferred;
	struct waiting_sample *waiting;
	size_t list;

	for (list = 0; deferred && list < DEFERRED_LISTS; list++) {
		while ((waiting = deferred->first[list])) {
			deferred->first[list] = waiting->next;
			if (handler)
				waiting_finish(waiting, NULL, 0, handler);
			else
				free(waiting);
		}
	}
	free(deferred);
	data->deferred = NULL;
}
