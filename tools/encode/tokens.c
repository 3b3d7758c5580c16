// SPDX-License-Identifier: GPL-2.0
/*
 * From rows to tokens.  Each function is parsed by itself: for each rule that may
 * be its body rule, dynamic programming from its end finds the cheapest phrases.
 */
#include <string.h>

#include "alloc.h"
#include "tokens.h"

#define TAG_COST	(5 * BIT)	/* and what fields are wider than need be */
#define HEAD_GAP_COST	(4 * BIT)
#define MAX_CANDIDATES	6
#define NO_LINK		0xff
#define NO_RULE		(~0u)

/**
 * struct parse_item - a place where a token or an op has to say a rule
 * @at: byte from the origin
 * @rule: the rule from there on
 * @op: the same for the body rule tried
 * @link: distance code from the item before, NO_LINK if none says it
 * @nops: ops of the best phrase from here on
 * @cost: of this item and all behind it
 */
struct parse_item {
	u32	at;
	u32	rule;
	u32	op;
	u8	link;
	u8	nops;
	u32	cost;
};

/**
 * struct parse_function - the function at hand
 * @parse: the file
 * @start: first byte from the origin
 * @end: byte after it
 * @rows: the rows that begin in it
 * @nrows: number of them
 * @before: rule just before @start, NO_RULE for none
 * @last_body: body rule of the function before
 * @places: cost of step phrases' places with its body rule, or NULL
 * @items: of the candidate at hand
 * @nitems: number of them
 * @room: items there is memory for
 */
struct parse_function {
	struct parse		*parse;
	u32			 start;
	u32			 end;
	const struct row_start	*rows;
	size_t			 nrows;
	u32			 before;
	u32			 last_body;
	const u8		*places;
	struct parse_item	*items;
	size_t			 nitems;
	size_t			 room;
};

/* How to say a function: with which body rule, and how many items its head token takes. */
struct parse_choice {
	u32	cost;
	u32	body;
	u32	taken;
	bool	head;
};

static u32 parse_row_at(const struct parse *parse, const struct row_start *row)
{
	return row->pc - parse->origin;
}

/* Same kind and FP, so that one is the other with another CFA offset. */
static bool rule_is_relative(u32 a, u32 b)
{
	return !((a ^ b) & ~(BEE_WORD_CFA_FIELD << BEE_WORD_CFA_SHIFT));
}

static u32 rule_cfa(u32 rule)
{
	return rule >> BEE_WORD_CFA_SHIFT & BEE_WORD_CFA_FIELD;
}

/* The op that says @rule in a function with @body. */
static u32 parse_op(const struct parse *parse, u32 rule, u32 body)
{
	u32 r = parse->words[rule], b = parse->words[body];

	if (rule == body && !parse->plain)
		return BEE_OP_ADD;
	if (r & BEE_WORD_FULL || b & BEE_WORD_FULL || parse->plain)
		return BEE_OP_RULE + rule;
	if (rule_is_relative(r, b) && rule_cfa(r) - rule_cfa(b) < 16)
		return BEE_OP_ADD + rule_cfa(r) - rule_cfa(b);
	if (rule_is_relative(r, b & ~BEE_WORD_KIND) && rule_cfa(r) - 1 < 16)
		return BEE_OP_POP + rule_cfa(r) - 1;
	return BEE_OP_RULE + rule;
}

/* Can the state that a window begins with say this rule? */
static bool parse_state_says(const struct parse *parse, u32 rule, u32 body)
{
	return parse->words[rule] == BEE_WORD_INIT || parse->words[rule] == BEE_WORD_GAP ||
	       rule == body || parse_op(parse, rule, body) == BEE_OP_POP;
}

static u8 parse_link(const struct parse *parse, const struct parse_item *from, u32 at, u32 op)
{
	u32 delta = at - from->at;

	if (from->at >> parse->window != at >> parse->window || parse->plain)
		return NO_LINK;
	if (op != BEE_OP_ADD && delta < BEE_DELTA_ALIGN_8)
		return delta;
	if (at == (from->at | 15) + 1)
		return BEE_DELTA_ALIGN_16;
	if (at == (from->at | 7) + 1)
		return BEE_DELTA_ALIGN_8;
	return delta < BEE_DELTA_ALIGN_8 ? delta : NO_LINK;
}

static void parse_add_item(struct parse_function *f, u32 at, u32 rule, u32 body)
{
	struct parse_item *item;

	f->items = alloc_room(f->items, f->nitems, &f->room, sizeof(*f->items));
	item = &f->items[f->nitems];
	*item = (struct parse_item){ .at = at, .rule = rule, .op = parse_op(f->parse, rule, body) };
	item->link = f->nitems ? parse_link(f->parse, item - 1, at, item->op) : NO_LINK;
	f->nitems++;
}

/* Windows that begin in (@from, @to): those whose state cannot say @rule need an item. */
static void parse_add_borders(struct parse_function *f, u32 from, u32 to, u32 rule, u32 body)
{
	u64 size = 1ull << f->parse->window, at;

	if (from >> f->parse->window == (to - 1) >> f->parse->window ||
	    parse_state_says(f->parse, rule, body))
		return;
	for (at = (from & ~(size - 1)) + size; at < to; at += size)
		parse_add_item(f, at, rule, body);
}

/* With a head token the state at the start is INIT, without one what held before. */
static void parse_add_items(struct parse_function *f, u32 body, bool head)
{
	const struct parse *parse = f->parse;
	bool row_at_start = f->nrows && parse_row_at(parse, f->rows) == f->start;
	u32 rule = row_at_start ? f->rows->rule : f->before;
	bool said = head ? parse->words[rule] == BEE_WORD_INIT : !row_at_start;
	size_t i = row_at_start;
	u32 at = f->start;

	f->nitems = 0;
	f->places = parse->places ?
		    parse->places + (size_t)parse->menus[body] * parse->nsteps : NULL;
	if (!head && !(at & ((1u << parse->window) - 1)) && !parse_state_says(parse, rule, body))
		said = false;
	if (!said)
		parse_add_item(f, at, rule, body);
	for (;; i++) {
		u32 next = i < f->nrows ? parse_row_at(parse, &f->rows[i]) : f->end;

		parse_add_borders(f, at, next, rule, body);
		if (i == f->nrows)
			break;
		at = next;
		rule = f->rows[i].rule;
		parse_add_item(f, at, rule, body);
	}
}

static u32 parse_gap_cost(const struct parse *parse, u32 from, u32 to)
{
	u32 gap = to - from;

	if (from >> parse->window != to >> parse->window)
		gap = to & ((1u << parse->window) - 1);
	return gap ? (32 - __builtin_clz(gap)) * BIT + BIT / 2 : BIT / 2;
}

/* Cost of a token at item @i with a phrase of @nops, without the phrase's own. */
static u32 parse_rest_cost(const struct parse_function *f, size_t i, u32 nops)
{
	if (i + nops == f->nitems)
		return TAG_COST;
	return TAG_COST + f->items[i + nops].cost +
	       parse_gap_cost(f->parse, f->items[i].at, f->items[i + nops].at);
}

/* Cost of a step phrase that is in use, or may be. */
static u32 parse_slot_cost(const struct parse_function *f, const struct phrase_slot *slot)
{
	const struct parse *parse = f->parse;
	u32 number;

	if (!f->places || slot->node >= parse->nnumbers)
		return slot->cost;
	number = parse->numbers[slot->node];
	return number == PHRASE_NONE ? slot->cost : slot->share + f->places[number];
}

/* The best phrase from item @i on. */
static void parse_step(struct parse_function *f, size_t i)
{
	const struct phrase_set *phrases = f->parse->phrases;
	struct parse_item *item = &f->items[i];
	u32 nops, node = PHRASE_STEP;

	item->cost = ~0u;
	for (nops = 1; nops <= BEE_TABLE_MAX_OPS && i + nops <= f->nitems; nops++) {
		const struct parse_item *next = &item[nops - 1];
		const struct phrase_slot *slot = NULL;
		u32 cost;

		if (nops > 1 && next->link == NO_LINK)
			break;
		/* What these mean as distances they mean in the last place only. */
		if (nops > 2 && next[-1].link >= BEE_DELTA_ALIGN_8)
			break;
		if (node != PHRASE_NONE)
			slot = phrase_find(phrases, node, next->op, nops > 1 ? next->link : 0);
		node = slot ? slot->node : PHRASE_NONE;
		cost = slot ? parse_slot_cost(f, slot) : phrases->novel[nops];
		cost += parse_rest_cost(f, i, nops);
		if (cost < item->cost) {
			item->cost = cost;
			item->nops = nops;
		}
	}
}

static void parse_steps(struct parse_function *f)
{
	size_t i = f->nitems;

	while (i-- > 0)
		parse_step(f, i);
}

static u32 parse_items_cost(const struct parse_function *f, u32 taken, u32 from)
{
	if (taken == f->nitems)
		return 0;
	return f->items[taken].cost + parse_gap_cost(f->parse, from, f->items[taken].at);
}

static u32 parse_phrase_cost(const struct parse *parse, u32 node, u32 op, u8 delta, u32 nops)
{
	const struct phrase_slot *slot = NULL;

	if (node != PHRASE_NONE)
		slot = phrase_find(parse->phrases, node, op, delta);
	return slot ? slot->cost : parse->phrases->novel[nops];
}

/* Try head tokens that take 0, 1, ... items and end with the body rule. */
static void parse_try_heads(struct parse_function *f, u32 body, struct parse_choice *best)
{
	const struct parse *parse = f->parse;
	u32 taken, at = f->start, node = PHRASE_HEAD, last = NO_RULE, cost = 0;

	for (taken = 0; ; taken++) {
		const struct phrase_slot *slot = NULL;
		const struct parse_item *item;
		u32 total, delta;

		if (last != body && taken < BEE_TABLE_MAX_OPS)
			cost = parse_phrase_cost(parse, node, BEE_OP_RULE + body, BEE_DELTA_NEVER,
						 taken + 1);
		total = HEAD_GAP_COST + TAG_COST + cost + parse_items_cost(f, taken, f->start);
		if ((last == body || taken < BEE_TABLE_MAX_OPS) && total < best->cost)
			*best = (struct parse_choice){
				.cost = total, .body = body, .taken = taken, .head = true,
			};
		if (taken == f->nitems || taken == BEE_TABLE_MAX_OPS)
			break;
		item = &f->items[taken];
		delta = item->at - at;
		if (delta >= BEE_DELTA_NEVER || at >> parse->window != item->at >> parse->window)
			break;
		if (node != PHRASE_NONE)
			slot = phrase_find(parse->phrases, node, BEE_OP_RULE + item->rule, delta);
		node = slot ? slot->node : PHRASE_NONE;
		cost = slot ? slot->cost : parse->phrases->novel[taken + 1];
		at = item->at;
		last = item->rule;
	}
}

/* Rules of the function by number of rows, or by text. */
struct parse_use {
	u32	rule;
	u32	rows;
	u32	bytes;
};

static size_t parse_count_uses(const struct parse_function *f, struct parse_use *uses, size_t room)
{
	size_t i, j, n = 0;
	u32 at = f->start, rule = f->before;

	for (i = 0; i <= f->nrows; i++) {
		u32 next = i < f->nrows ? parse_row_at(f->parse, &f->rows[i]) : f->end;

		for (j = 0; next > at && j < n && uses[j].rule != rule; j++)
			;
		if (next > at && j < room) {
			if (j == n)
				uses[n++] = (struct parse_use){ .rule = rule };
			uses[j].rows++;
			uses[j].bytes += next - at;
		}
		if (i < f->nrows)
			rule = f->rows[i].rule;
		at = next;
	}
	return n;
}

static void parse_add_candidate(u32 *bodies, size_t *n, u32 rule)
{
	size_t i;

	for (i = 0; i < *n; i++)
		if (bodies[i] == rule)
			return;
	bodies[(*n)++] = rule;
}

/* The rules that most rows have, and the one that most text has. */
static size_t parse_candidates(const struct parse_function *f, u32 *bodies)
{
	struct parse_use uses[16] = {};
	size_t i, n = 0, nuses = parse_count_uses(f, uses, 16), round, longest = 0;
	u32 limit = f->parse->candidates;

	for (round = 0; round < limit; round++) {
		size_t best = nuses;

		for (i = 0; i < nuses; i++)
			if (uses[i].rows && f->parse->words[uses[i].rule] != BEE_WORD_GAP &&
			    (best == nuses || uses[i].rows > uses[best].rows ||
			     (uses[i].rows == uses[best].rows && uses[i].bytes > uses[best].bytes)))
				best = i;
		if (best == nuses)
			break;
		uses[best].rows = 0;
		parse_add_candidate(bodies, &n, uses[best].rule);
	}
	for (i = 1; i < nuses; i++)
		if (uses[i].bytes > uses[longest].bytes)
			longest = i;
	if (limit > 1 && nuses && f->parse->words[uses[longest].rule] != BEE_WORD_GAP)
		parse_add_candidate(bodies, &n, uses[longest].rule);
	return n;
}

static struct parse_choice parse_choose(struct parse_function *f)
{
	struct parse_choice best = { .cost = ~0u, .body = f->last_body };
	bool aligned = !(f->start & ((1u << f->parse->grain) - 1));
	u32 bodies[MAX_CANDIDATES + 1];
	size_t i, n;

	parse_add_items(f, best.body, false);
	if (!f->nitems || f->parse->plain)
		return best;
	parse_steps(f);
	best.cost = f->items[0].cost + parse_gap_cost(f->parse, 0, f->items[0].at - f->start) +
		    6 * BIT;
	n = aligned ? parse_candidates(f, bodies) : 0;
	for (i = 0; i < n; i++) {
		parse_add_items(f, bodies[i], true);
		parse_steps(f);
		parse_try_heads(f, bodies[i], &best);
	}
	return best;
}

static void parse_emit(struct parse *parse, u32 at, u32 node, u32 body)
{
	parse->tokens = alloc_room(parse->tokens, parse->ntokens, &parse->room,
				   sizeof(*parse->tokens));
	parse->tokens[parse->ntokens++] = (struct token){ .at = at, .phrase = node, .body = body };
	parse->phrases->nodes[node].count++;
}

static void parse_emit_head(struct parse_function *f, const struct parse_choice *choice)
{
	struct phrase_set *phrases = f->parse->phrases;
	u32 i, node = PHRASE_HEAD, at = f->start, last = NO_RULE;

	for (i = 0; i < choice->taken; i++) {
		last = f->items[i].rule;
		node = phrase_add(phrases, node, BEE_OP_RULE + last, f->items[i].at - at);
		at = f->items[i].at;
	}
	if (last != choice->body)
		node = phrase_add(phrases, node, BEE_OP_RULE + choice->body, BEE_DELTA_NEVER);
	parse_emit(f->parse, f->start, node, choice->body);
}

static void parse_emit_function(struct parse_function *f, const struct parse_choice *choice)
{
	struct phrase_set *phrases = f->parse->phrases;
	size_t i = choice->taken;

	parse_add_items(f, choice->body, choice->head);
	parse_steps(f);
	if (choice->head)
		parse_emit_head(f, choice);
	while (i < f->nitems) {
		const struct parse_item *item = &f->items[i];
		u32 j, node = PHRASE_STEP;

		for (j = 0; j < item->nops; j++)
			node = phrase_add(phrases, node, item[j].op, j ? item[j].link : 0);
		parse_emit(f->parse, item->at, node, choice->body);
		i += item->nops;
	}
}

/**
 * parse_rows() - parse all rows
 * @parse: tokens and the counts of phrases are replaced
 */
void parse_rows(struct parse *parse)
{
	const struct row_set *rows = parse->rows;
	struct parse_function f = { .parse = parse, .before = NO_RULE };
	u64 pc = rows->rows[0].pc;
	size_t row = 0, start = 0;

	parse->ntokens = 0;
	phrase_forget(parse->phrases);
	while (pc < rows->end) {
		struct parse_choice choice;
		u64 end;

		while (start < rows->nstarts && rows->starts[start] <= pc)
			start++;
		end = start < rows->nstarts ? rows->starts[start] : rows->end;
		f.start = pc - parse->origin;
		f.end = end - parse->origin;
		f.rows = &rows->rows[row];
		while (row < rows->nrows && rows->rows[row].pc < end)
			row++;
		f.nrows = &rows->rows[row] - f.rows;
		choice = parse_choose(&f);
		parse_emit_function(&f, &choice);
		f.last_body = choice.body;
		if (f.nrows)
			f.before = f.rows[f.nrows - 1].rule;
		pc = end;
	}
	free(f.items);
}
