/* SPDX-License-Identifier: GPL-2.0 */
/* How walks ended: counters by stop reason, printed and as JSON. */
#ifndef STOPS_H
#define STOPS_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "netlink.h"

struct json_object;

static_assert(BEEUNWIND_STOP_MAX == BEEUNWIND_STOP_UNPROVEN,
	      "decide whether stop_is_cut() is true of the new stop reason, then name it here");

/* stop_is_cut(): the walk ended before the first frame and perf's limit */
static inline bool stop_is_cut(uint32_t reason)
{
	return reason != BEEUNWIND_STOP_OUTERMOST && reason != BEEUNWIND_STOP_UNPROVEN &&
	       reason != BEEUNWIND_STOP_DEPTH;
}

uint64_t stops_sum(const uint32_t stop[]);
uint64_t stops_cut(const uint32_t stop[]);
void stops_put(FILE *out, const uint32_t stop[]);
struct json_object *stops_json(const uint32_t stop[]);

uint64_t stats_walks(const struct netlink_stats *stats);
uint64_t stats_cut(const struct netlink_stats *stats);
void stats_put_line(FILE *out, const struct netlink_stats *stats);
struct json_object *stats_line_json(const char *line);
void stats_put(FILE *out, const struct netlink_stats *stats);
void stats_json(struct json_object *object, const struct netlink_stats *stats);

#endif /* STOPS_H */
