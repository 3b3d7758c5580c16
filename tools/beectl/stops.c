// SPDX-License-Identifier: GPL-2.0
/* How walks ended: counters by stop reason, printed and as JSON. */
#include <string.h>

#include "json.h"
#include "messages.h"
#include "names.h"
#include "stops.h"

typedef unsigned long long ull;

/** stops_sum() - all walks */
uint64_t stops_sum(const uint32_t stop[])
{
	uint64_t sum = 0;
	uint32_t reason;

	for (reason = 0; reason <= BEEUNWIND_STOP_MAX; reason++)
		sum += stop[reason];
	return sum;
}

/** stops_cut() - the walks that were cut short; see stop_is_cut() */
uint64_t stops_cut(const uint32_t stop[])
{
	uint64_t sum = 0;
	uint32_t reason;

	for (reason = 0; reason <= BEEUNWIND_STOP_MAX; reason++)
		sum += stop_is_cut(reason) ? stop[reason] : 0;
	return sum;
}

/** stops_put() - print "(no-table 12, gap 3)", without the walks that are complete */
void stops_put(FILE *out, const uint32_t stop[])
{
	const char *before = "(";
	uint32_t reason;

	for (reason = 0; reason <= BEEUNWIND_STOP_MAX; reason++) {
		if (reason == BEEUNWIND_STOP_OUTERMOST || !stop[reason])
			continue;
		fprintf(out, "%s%s %u", before, bee_stop_names[reason], stop[reason]);
		before = ", ";
	}
	if (*before == ',')
		putc(')', out);
}

/** stops_json() - as { "no-table": 12, "gap": 3 }, reasons without walks left out */
struct json_object *stops_json(const uint32_t stop[])
{
	struct json_object *object = json_object_new_object();
	uint32_t reason;

	for (reason = 0; reason <= BEEUNWIND_STOP_MAX; reason++)
		if (stop[reason])
			json_add_uint(object, bee_stop_names[reason], stop[reason]);
	return object;
}

/* Fills @order with the reasons of walks, the most frequent first.  Return: how many. */
static size_t stats_sort(const struct netlink_stats *stats, uint32_t order[])
{
	size_t n = 0, at;
	uint32_t reason;

	for (reason = 0; reason <= BEEUNWIND_STOP_MAX; reason++) {
		if (!stats->stop[reason])
			continue;
		for (at = n++; at && stats->stop[order[at - 1]] < stats->stop[reason]; at--)
			order[at] = order[at - 1];
		order[at] = reason;
	}
	return n;
}

/** stats_walks() - all walks */
uint64_t stats_walks(const struct netlink_stats *stats)
{
	uint64_t sum = stats->stop_other;
	uint32_t reason;

	for (reason = 0; reason <= BEEUNWIND_STOP_MAX; reason++)
		sum += stats->stop[reason];
	return sum;
}

/** stats_cut() - the walks that were cut short, also those in code without a file; see stop_is_cut() */
uint64_t stats_cut(const struct netlink_stats *stats)
{
	uint64_t sum = stats->stop_other;
	uint32_t reason;

	for (reason = 0; reason <= BEEUNWIND_STOP_MAX; reason++)
		sum += stop_is_cut(reason) ? stats->stop[reason] : 0;
	return sum;
}

/** stats_put_line() - print "walks ended: outermost 120, no-table 3", the most frequent first */
void stats_put_line(FILE *out, const struct netlink_stats *stats)
{
	uint32_t order[BEEUNWIND_STOP_MAX + 1];
	size_t i, n = stats_sort(stats, order);

	fputs("walks ended:", out);
	for (i = 0; i < n; i++)
		fprintf(out, "%s %s %llu", i ? "," : "", bee_stop_names[order[i]],
			(ull)stats->stop[order[i]]);
}

/**
 * stats_line_json() - what stats_put_line() has printed, as stops_json()
 * @line: its text; of a raw profile it may be anything, and then only what is understood is taken
 */
struct json_object *stats_line_json(const char *line)
{
	struct json_object *object = json_object_new_object();
	unsigned long long walks;
	char reason[32];
	int length = 0;

	for (line += strcspn(line, ":"); *line; line += length) {
		if (sscanf(line, "%*1[:,] %31[a-z-] %llu%n", reason, &walks, &length) != 2)
			break;
		json_add_uint(object, reason, walks);
	}
	return object;
}

static void print_stop(FILE *out, const char *name, uint64_t walks, uint64_t sum, const char *doc)
{
	fprintf(out, "  %-16s %12llu %5.1f%%  %s\n", name, (ull)walks, percent(walks, sum), doc);
}

/** stats_put() - print how many walks there were, and why they ended */
void stats_put(FILE *out, const struct netlink_stats *stats)
{
	uint32_t order[BEEUNWIND_STOP_MAX + 1];
	uint64_t sum = stats_walks(stats);
	size_t i, n = stats_sort(stats, order);

	fprintf(out, "walks:     %llu", (ull)sum);
	if (sum)
		fprintf(out, ", %.1f%% complete",
			percent(stats->stop[BEEUNWIND_STOP_OUTERMOST], sum));
	if (stats->stop[BEEUNWIND_STOP_UNPROVEN])
		fprintf(out, ", %.1f%% more by frame pointers out of code without a file",
			percent(stats->stop[BEEUNWIND_STOP_UNPROVEN], sum));
	putc('\n', out);
	for (i = 0; i < n; i++)
		print_stop(out, bee_stop_names[order[i]], stats->stop[order[i]], sum,
			   bee_stop_docs[order[i]]);
	if (stats->stop_other)
		print_stop(out, "other", stats->stop_other, sum,
			   "reasons that this beectl does not know");
	if (sum)
		fprintf(out, "frames:    %.1f per walk, %.1f%% of them through the frame pointer\n",
			(double)stats->frames / sum, percent(stats->fp_steps, stats->frames));
}

/** stats_json() - how walks have ended, as members of an object */
void stats_json(struct json_object *object, const struct netlink_stats *stats)
{
	struct json_object *reason, *reasons = json_object_new_array();
	uint32_t order[BEEUNWIND_STOP_MAX + 1];
	size_t i, n = stats_sort(stats, order);

	json_add_uint(object, "walks", stats_walks(stats));
	for (i = 0; i < n; i++) {
		reason = json_append(reasons);
		json_add_string(reason, "reason", bee_stop_names[order[i]]);
		json_add_uint(reason, "walks", stats->stop[order[i]]);
		json_add_string(reason, "doc", bee_stop_docs[order[i]]);
	}
	json_add(object, "reasons", reasons);
	json_add_uint(object, "frames", stats->frames);
	json_add_uint(object, "fp_steps", stats->fp_steps);
}
