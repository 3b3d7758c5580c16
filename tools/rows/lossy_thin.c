// SPDX-License-Identifier: GPL-2.0
/*
 * Thinning: leave out the rows with the least text; the row before each covers its text.  Only rows
 * between two rows with a function's body rule, or after the last such row, are left out.
 */
#include <stdlib.h>

#include "alloc.h"
#include "lossy_ways.h"
#include "order.h"

/**
 * struct thin_part - a row; cut where a function starts inside it
 * @pc: its start; it ends where the next one starts
 * @rule: index of its rule
 * @starts: a function starts here
 * @split: it begins inside a row: the part before is of the same row
 * @gone: left out: its text gets the rule of the part before
 */
struct thin_part {
	u64	pc;
	u32	rule;
	bool	starts;
	bool	split;
	bool	gone;
};

/**
 * struct thin_detour - parts without the body rule, between two with it or after the last one
 * @first: index of the first part
 * @end: index after the last one
 * @rows: how many rows fewer the table has without them
 * @bytes: of their text, which gets the body rule instead
 */
struct thin_detour {
	u32	first;
	u32	end;
	u32	rows;
	u64	bytes;
};

/**
 * struct thin - all parts, and the detours among them
 * @rows: the rows
 * @parts: of all functions; one more at the end, for its pc
 * @nparts: number of them
 * @room: parts there is memory for
 * @detours: candidates to leave out
 * @ndetours: number of them
 * @room_detours: detours there is memory for
 * @bytes_of_rule: for thin_body_rule(): bytes of text by rule; all zero between calls
 */
struct thin {
	const struct row_set	*rows;
	struct thin_part	*parts;
	size_t			 nparts;
	size_t			 room;
	struct thin_detour	*detours;
	size_t			 ndetours;
	size_t			 room_detours;
	u64			*bytes_of_rule;
};

static void thin_add_part(struct thin *thin, u64 pc, u32 rule, bool starts, bool split)
{
	thin->parts = alloc_room(thin->parts, thin->nparts, &thin->room, sizeof(*thin->parts));
	thin->parts[thin->nparts++] = (struct thin_part){
		.pc = pc, .rule = rule, .starts = starts, .split = split,
	};
}

/* Cut rows where functions start. */
static void thin_cut(struct thin *thin)
{
	const struct row_set *rows = thin->rows;
	size_t i, start = 0;

	for (i = 0; i < rows->nrows; i++) {
		u64 pc = rows->rows[i].pc, end = row_end(rows, i);
		u32 rule = rows->rows[i].rule;
		bool starts;

		while (start < rows->nstarts && rows->starts[start] < pc)
			start++;
		starts = start < rows->nstarts && rows->starts[start] == pc;
		thin_add_part(thin, pc, rule, starts, false);
		for (start += starts; start < rows->nstarts && rows->starts[start] < end; start++)
			thin_add_part(thin, rows->starts[start], rule, true, true);
	}
	thin_add_part(thin, rows->end, 0, true, false);
	thin->nparts--;
}

static u64 thin_bytes(const struct thin *thin, size_t i)
{
	return thin->parts[i + 1].pc - thin->parts[i].pc;
}

static bool thin_is_plain(const struct thin *thin, size_t i)
{
	return lossy_rule_is_plain(&thin->rows->rules[thin->parts[i].rule]);
}

/* The rule of most of the text of parts [@first, @end). */
static u32 thin_body_rule(struct thin *thin, size_t first, size_t end)
{
	u64 *bytes = thin->bytes_of_rule;
	u32 body = thin->parts[first].rule;
	size_t i;

	for (i = first; i < end; i++) {
		u32 rule = thin->parts[i].rule;

		bytes[rule] += thin_bytes(thin, i);
		if (bytes[rule] > bytes[body])
			body = rule;
	}
	for (i = first; i < end; i++)
		bytes[thin->parts[i].rule] = 0;
	return body;
}

/* A detour from @first up to a part with rule @body, one that is not plain, or @end. */
static void thin_add_detour(struct thin *thin, size_t first, size_t end, u32 body)
{
	const struct thin_part *parts = thin->parts;
	struct thin_detour detour = { .first = first, .end = first };

	while (detour.end < end && parts[detour.end].rule != body &&
	       thin_is_plain(thin, detour.end)) {
		detour.bytes += thin_bytes(thin, detour.end);
		detour.end++;
	}
	detour.rows = detour.end - first;
	if (detour.end < end && parts[detour.end].rule == body)
		detour.rows++;
	else if (parts[detour.end].split)
		detour.rows--;
	if (!detour.rows)
		return;
	thin->detours = alloc_room(thin->detours, thin->ndetours, &thin->room_detours,
				   sizeof(*thin->detours));
	thin->detours[thin->ndetours++] = detour;
}

/* Parts before the body stay: prologues are alike, so phrases make them cheap. */
static void thin_find_detours(struct thin *thin)
{
	size_t i, first, end;

	for (first = 0; first < thin->nparts; first = end) {
		u32 body;

		for (end = first + 1; end < thin->nparts && !thin->parts[end].starts; end++)
			;
		body = thin_body_rule(thin, first, end);
		for (i = first; i + 1 < end; i++)
			if (thin->parts[i].rule == body && thin_is_plain(thin, i))
				thin_add_detour(thin, i + 1, end, body);
	}
}

/* Fewest bytes for each row first. */
static int thin_compare(const void *a, const void *b)
{
	const struct thin_detour *x = a, *y = b;

	return order(x->bytes * y->rows, y->bytes * x->rows) ?: order(x->first, y->first);
}

/**
 * lossy_thin() - leave out the rows of the least text
 * @rows: a file's rows; changed
 * @percent: how many, 1 .. LOSSY_MAX_THIN; fewer if there are not enough candidates
 * @report: dropped and wrong are set
 */
void lossy_thin(struct row_set *rows, unsigned int percent, struct lossy_report *report)
{
	struct row_set to = { .end = rows->end };
	u64 dropped = 0, wanted = (u64)rows->nrows * percent / 100;
	struct thin thin = { .rows = rows };
	size_t i, part;

	thin.bytes_of_rule = alloc_zero(rows->nrules, sizeof(*thin.bytes_of_rule));
	thin_cut(&thin);
	thin_find_detours(&thin);
	if (thin.ndetours)
		qsort(thin.detours, thin.ndetours, sizeof(*thin.detours), thin_compare);
	for (i = 0; i < thin.ndetours && dropped < wanted; i++) {
		const struct thin_detour *detour = &thin.detours[i];

		for (part = detour->first; part < detour->end; part++)
			thin.parts[part].gone = true;
		dropped += detour->rows;
		report->wrong += detour->bytes;
	}
	for (i = 0; i < thin.nparts; i++)
		if (!thin.parts[i].gone)
			row_set_add(&to, thin.parts[i].pc, &rows->rules[thin.parts[i].rule]);
	report->dropped = rows->nrows - to.nrows;
	row_set_replace(rows, &to);
	free(thin.parts);
	free(thin.detours);
	free(thin.bytes_of_rule);
}
