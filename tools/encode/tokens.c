// SPDX-License-Identifier: GPL-2.0
/*
 * From rows to tokens, function by function.  Some of a function's rules are tried as its body
 * rule: for each, dynamic programming from the function's end finds the cheapest phrases.
 */
#include <string.h>

#include "alloc.h"
#include "bits.h"
#include "tokens.h"

#define TAG_COST	(5 * BIT)	/* tag, and what fields are wider than they have to be */
#define HEAD_GAP_COST	(4 * BIT)
#define HEAD_COST	(HEAD_GAP_COST + TAG_COST)	/* of a head token, without its phrase */
#define MAX_CANDIDATES	6
#define NO_LINK		0xff
#define NO_RULE		(~0u)

/**
 * struct token_item - a place where an op of a token has to set a rule
 * @at: byte from the origin
 * @rule: the rule from there on
 * @op: the op that sets @rule, with the body rule that is tried
 * @link: distance code from the item before; NO_LINK if there is none, so a token has to begin here
 * @nops: ops of the cheapest phrase that begins here
 * @cost: of the tokens for this item and all after it
 */
struct token_item {
	u32	at;
	u32	rule;
	u32	op;
	u8	link;
	u8	nops;
	u32	cost;
};

/**
 * struct token_items - the items of a function for one body rule
 * @item: the items
 * @n: number of items
 * @room: length of @item
 * @body: the body rule
 * @head: they are for a function with a head token
 */
struct token_items {
	struct token_item	*item;
	size_t			 n;
	size_t			 room;
	u32			 body;
	bool			 head;
};

/* The function at hand; its items for the body rule that is tried, and for the best one so far. */
struct token_function {
	struct tokens		*tokens;
	u32			 start;		/* first byte from the origin */
	u32			 end;		/* byte after it */
	const struct row_start	*rows;		/* those that begin in it */
	size_t			 nrows;
	u32			 before;	/* rule just before @start, NO_RULE for none */
	u32			 last_body;	/* body rule of the function before */
	const u8		*places;	/* cost of places of step phrases, or NULL */
	struct token_items	 tried;
	struct token_items	 best;
};

/* The cheapest way found for a function; @taken: how many items its head token sets. */
struct token_choice {
	u32	cost;
	u32	body;
	u32	taken;
	bool	head;
};

static u32 tokens_row_at(const struct tokens *tokens, const struct row_start *row)
{
	return row->pc - tokens->origin;
}

/* Do two rules differ in their CFA offset only? */
static bool rule_is_relative(u32 a, u32 b)
{
	return !((a ^ b) & ~(BEE_WORD_CFA_FIELD << BEE_WORD_CFA_SHIFT));
}

static u32 rule_cfa(u32 rule)
{
	return rule >> BEE_WORD_CFA_SHIFT & BEE_WORD_CFA_FIELD;
}

/* The op that sets @rule in a function with body rule @body. */
static __always_inline u32 tokens_op(const struct tokens *tokens, u32 rule, u32 body)
{
	u32 r = tokens->words[rule], b = tokens->words[body];

	if (rule == body && !tokens->plain)
		return BEE_OP_ADD;
	if (r & BEE_WORD_FULL || b & BEE_WORD_FULL || tokens->plain)
		return BEE_OP_RULE + rule;
	if (rule_is_relative(r, b) && rule_cfa(r) - rule_cfa(b) < 16)
		return BEE_OP_ADD + rule_cfa(r) - rule_cfa(b);
	if (rule_is_relative(r, b & ~BEE_WORD_KIND) && rule_cfa(r) - 1 < 16)
		return BEE_OP_POP + rule_cfa(r) - 1;
	return BEE_OP_RULE + rule;
}

/* Is there a BEE_WINDOW_* that says this rule? */
static bool tokens_state_says(const struct tokens *tokens, u32 rule, u32 body)
{
	return tokens->words[rule] == BEE_WORD_INIT || tokens->words[rule] == BEE_WORD_GAP ||
	       rule == body || tokens_op(tokens, rule, body) == BEE_OP_POP;
}

/* Distance code from @from to an @op at @at, or NO_LINK. */
static __always_inline u8 tokens_link(const struct tokens *tokens, const struct token_item *from,
				      u32 at, u32 op)
{
	u32 delta = at - from->at;

	if (from->at >> tokens->window != at >> tokens->window || tokens->plain)
		return NO_LINK;
	if (op != BEE_OP_ADD && delta < BEE_DELTA_ALIGN_8)
		return delta;
	if (at == (from->at | 15) + 1)
		return BEE_DELTA_ALIGN_16;
	if (at == (from->at | 7) + 1)
		return BEE_DELTA_ALIGN_8;
	return delta < BEE_DELTA_ALIGN_8 ? delta : NO_LINK;
}

/* Make room for all items that a function can have: its start, its rows, borders of windows. */
static void tokens_make_room(struct token_function *f)
{
	size_t n = 1 + f->nrows + ((f->end - f->start) >> f->tokens->window) + 1;

	if (n <= f->tried.room)
		return;
	f->tried.room = 2 * n;
	f->tried.item = alloc_array(f->tried.item, f->tried.room, sizeof(*f->tried.item));
}

static __always_inline void tokens_add_item(struct token_function *f, u32 at, u32 rule, u32 body)
{
	struct token_items *items = &f->tried;
	struct token_item *item = &items->item[items->n];
	u32 op = tokens_op(f->tokens, rule, body);

	item->at = at;
	item->rule = rule;
	item->op = op;
	item->link = items->n ? tokens_link(f->tokens, item - 1, at, op) : NO_LINK;
	items->n++;
}

/*
 * Find the items of a function: at its rows; at its start, unless its rule holds there already
 * (BEE_WORD_INIT after a head token, otherwise the rule before); and where a window begins whose
 * state cannot say the rule.
 */
static void tokens_add_items(struct token_function *f, u32 body, bool head)
{
	const struct tokens *tokens = f->tokens;
	bool row_at_start = f->nrows && tokens_row_at(tokens, f->rows) == f->start;
	u32 rule = row_at_start ? f->rows->rule : f->before;
	bool said = head ? tokens->words[rule] == BEE_WORD_INIT : !row_at_start;
	u64 size = 1ull << tokens->window, border;
	size_t i = row_at_start;
	u32 at = f->start;

	tokens_make_room(f);
	f->tried.n = 0;
	f->tried.body = body;
	f->tried.head = head;
	f->places = tokens->places ?
		    tokens->places + (size_t)tokens->menus[body] * tokens->nsteps : NULL;
	if (!head && !(at & (size - 1)) && !tokens_state_says(tokens, rule, body))
		said = false;
	if (!said)
		tokens_add_item(f, at, rule, body);
	for (;; i++) {
		u32 next = i < f->nrows ? tokens_row_at(tokens, &f->rows[i]) : f->end;

		if (at >> tokens->window != (next - 1) >> tokens->window &&
		    !tokens_state_says(tokens, rule, body))
			for (border = (at & ~(size - 1)) + size; border < next; border += size)
				tokens_add_item(f, border, rule, body);
		if (i == f->nrows)
			break;
		at = next;
		rule = f->rows[i].rule;
		tokens_add_item(f, at, rule, body);
	}
}

static u32 tokens_gap_cost(const struct tokens *tokens, u32 from, u32 to)
{
	u32 gap = to - from;

	if (from >> tokens->window != to >> tokens->window)
		gap = to & ((1u << tokens->window) - 1);
	return bits_width(gap) * BIT + BIT / 2;
}

/* Cost of the tokens from item @i on, the first with the phrase of @slot, or a new one of @nops. */
static u32 tokens_cost(const struct token_function *f, size_t i, u32 nops,
		       const struct phrase_slot *slot)
{
	const struct tokens *tokens = f->tokens;
	u32 number = PHRASE_NONE, cost = TAG_COST;

	if (slot && f->places && slot->node < tokens->nnumbers)
		number = tokens->numbers[slot->node];
	if (number != PHRASE_NONE)
		cost += slot->share + f->places[number];
	else
		cost += slot ? slot->cost : tokens->phrases->novel[nops];
	if (i + nops == f->tried.n)
		return cost;
	return cost + f->tried.item[i + nops].cost +
	       tokens_gap_cost(tokens, f->tried.item[i].at, f->tried.item[i + nops].at);
}

/* The cheapest phrase from item @i on. */
static void tokens_step(struct token_function *f, size_t i)
{
	const struct phrase_set *phrases = f->tokens->phrases;
	struct token_item *item = &f->tried.item[i];
	u32 nops, node = phrases->neutral ? PHRASE_NONE : PHRASE_STEP;
	u32 best = 0, best_cost = ~0u;

	for (nops = 1; nops <= BEE_TABLE_MAX_OPS && i + nops <= f->tried.n; nops++) {
		const struct token_item *next = &item[nops - 1];
		const struct phrase_slot *slot = NULL;
		u32 cost;

		if (nops > 1 && next->link == NO_LINK)
			break;
		/* The codes for alignment are for the last op only. */
		if (nops > 2 && next[-1].link >= BEE_DELTA_ALIGN_8)
			break;
		if (node != PHRASE_NONE)
			slot = phrase_find(phrases, node, next->op, nops > 1 ? next->link : 0);
		node = slot ? slot->node : PHRASE_NONE;
		cost = tokens_cost(f, i, nops, slot);
		if (cost < best_cost) {
			best_cost = cost;
			best = nops;
		}
	}
	item->cost = best_cost;
	item->nops = best;
}

/*
 * Take the phrases of the items at the end that have been found with the same body rule, with or
 * without a head token: they depend on what follows only.  Return: how many items are left.
 */
static size_t tokens_known(struct token_function *f)
{
	const struct token_items *from = &f->best;
	size_t i = f->tried.n, j = from->n;

	if (from->body != f->tried.body)
		return i;
	while (i && j) {
		const struct token_item *known = &from->item[--j];
		struct token_item *item = &f->tried.item[i - 1];

		if (known->at != item->at || known->rule != item->rule)
			break;
		item->cost = known->cost;
		item->nops = known->nops;
		i--;
	}
	return i;
}

/* Whether a token has to begin at item @i, because no phrase, of either kind, reaches over it. */
static bool tokens_begins(const struct token_item *items, size_t i)
{
	return i && items[i].link == NO_LINK && items[i].at - items[i - 1].at >= BEE_DELTA_NEVER;
}

/*
 * Find the cheapest phrase from each item on, last one first, until it is known that the tokens
 * cost @limit or more.  Return: whether there are phrases for all.
 */
static bool tokens_steps(struct token_function *f, u32 limit)
{
	const struct token_item *items = f->tried.item;
	size_t i;

	for (i = tokens_known(f); i-- > 0;) {
		tokens_step(f, i);
		if (items[i].cost >= limit && tokens_begins(items, i))
			return false;
	}
	return true;
}

/* The items are those of the best choice so far. */
static void tokens_keep(struct token_function *f)
{
	struct token_items items = f->best;

	f->best = f->tried;
	f->tried = items;
}

/* Try head tokens that set the first 0, 1, ... items, and end with the body rule. */
static void tokens_try_heads(struct token_function *f, u32 body, struct token_choice *best)
{
	const struct tokens *tokens = f->tokens;
	const struct phrase_set *phrases = tokens->phrases;
	u32 node = phrases->neutral ? PHRASE_NONE : PHRASE_HEAD;
	u32 taken, at = f->start, last = NO_RULE, cost = 0;

	for (taken = 0; ; taken++) {
		const struct token_item *item = taken < f->tried.n ? &f->tried.item[taken] : NULL;
		const struct phrase_slot *slot = NULL;
		u32 total, delta;

		if (last != body && taken < BEE_TABLE_MAX_OPS) {
			if (node != PHRASE_NONE)
				slot = phrase_find(phrases, node, BEE_OP_RULE + body,
						   BEE_DELTA_NEVER);
			cost = slot ? slot->cost : phrases->novel[taken + 1];
		}
		total = HEAD_COST + cost;
		if (taken < f->tried.n)
			total += item->cost + tokens_gap_cost(tokens, f->start, item->at);
		if ((last == body || taken < BEE_TABLE_MAX_OPS) && total < best->cost)
			*best = (struct token_choice){
				.cost = total, .body = body, .taken = taken, .head = true,
			};
		if (taken == f->tried.n || taken == BEE_TABLE_MAX_OPS)
			break;
		delta = item->at - at;
		if (delta >= BEE_DELTA_NEVER || at >> tokens->window != item->at >> tokens->window)
			break;
		slot = NULL;
		if (node != PHRASE_NONE)
			slot = phrase_find(phrases, node, BEE_OP_RULE + item->rule, delta);
		node = slot ? slot->node : PHRASE_NONE;
		cost = slot ? slot->cost : phrases->novel[taken + 1];
		at = item->at;
		last = item->rule;
	}
}

#define MAX_USES	16	/* rules of a function that are counted */

/* How many rows and bytes of a function have a rule. */
struct token_use {
	u32	rule;
	u32	rows;
	u32	bytes;
};

static size_t tokens_count_uses(const struct token_function *f, struct token_use uses[MAX_USES])
{
	size_t i, j, n = 0;
	u32 at = f->start, rule = f->before;

	for (i = 0; i <= f->nrows; i++) {
		u32 next = i < f->nrows ? tokens_row_at(f->tokens, &f->rows[i]) : f->end;

		for (j = 0; next > at && j < n && uses[j].rule != rule; j++)
			;
		if (next > at && j < MAX_USES) {
			if (j == n)
				uses[n++] = (struct token_use){ .rule = rule };
			uses[j].rows++;
			uses[j].bytes += next - at;
		}
		if (i < f->nrows)
			rule = f->rows[i].rule;
		at = next;
	}
	return n;
}

/* Candidates for the body rule: the rules of most rows, and the rule of most text. */
static size_t tokens_candidates(const struct token_function *f, u32 *bodies)
{
	struct token_use uses[MAX_USES] = {};
	size_t i, n = 0, nuses = tokens_count_uses(f, uses), round, longest = 0;
	u32 limit = f->tokens->candidates;

	for (round = 0; round < limit; round++) {
		size_t best = nuses;

		for (i = 0; i < nuses; i++)
			if (uses[i].rows && f->tokens->words[uses[i].rule] != BEE_WORD_GAP &&
			    (best == nuses || uses[i].rows > uses[best].rows ||
			     (uses[i].rows == uses[best].rows && uses[i].bytes > uses[best].bytes)))
				best = i;
		if (best == nuses)
			break;
		uses[best].rows = 0;
		bodies[n++] = uses[best].rule;
	}
	for (i = 1; i < nuses; i++)
		if (uses[i].bytes > uses[longest].bytes)
			longest = i;
	for (i = 0; i < n && bodies[i] != uses[longest].rule; i++)
		;
	if (i == n && limit > 1 && nuses && f->tokens->words[uses[longest].rule] != BEE_WORD_GAP)
		bodies[n++] = uses[longest].rule;
	return n;
}

/* Try to go on without a head token, with the body rule of the function before. */
static void tokens_try_body(struct token_function *f, struct token_choice *best)
{
	const struct token_item *first;
	u32 cost;

	tokens_add_items(f, f->last_body, false);
	if (!tokens_steps(f, best->cost))
		return;
	first = f->tried.item;
	cost = first->cost + tokens_gap_cost(f->tokens, 0, first->at - f->start) + 6 * BIT;
	if (cost > best->cost)
		return;
	*best = (struct token_choice){ .cost = cost, .body = f->last_body };
	tokens_keep(f);
}

/*
 * Body rules that are likely to be good come first: the tokens of the others soon cost more than
 * all of the best choice do.
 */
static struct token_choice tokens_choose(struct token_function *f)
{
	struct token_choice best = { .cost = ~0u, .body = f->last_body };
	bool aligned = !(f->start & ((1u << f->tokens->grain) - 1));
	u32 bodies[MAX_CANDIDATES + 1];
	size_t i, n;

	f->best.n = 0;
	if (!f->nrows) {
		tokens_add_items(f, f->last_body, false);
		if (!f->tried.n)
			return best;
	}
	n = aligned && !f->tokens->plain ? tokens_candidates(f, bodies) : 0;
	for (i = 0; i < n; i++) {
		u32 cost = best.cost;

		tokens_add_items(f, bodies[i], true);
		if (!tokens_steps(f, cost > HEAD_COST ? cost - HEAD_COST : 0))
			continue;
		tokens_try_heads(f, bodies[i], &best);
		if (best.cost < cost)
			tokens_keep(f);
	}
	tokens_try_body(f, &best);
	return best;
}

static void tokens_emit(struct tokens *tokens, u32 at, u32 node, u32 body)
{
	tokens->token = alloc_room(tokens->token, tokens->ntokens, &tokens->room,
				   sizeof(*tokens->token));
	tokens->token[tokens->ntokens++] = (struct token){ .at = at, .phrase = node, .body = body };
	tokens->phrases->nodes[node].count++;
}

static void tokens_emit_function(struct token_function *f, const struct token_choice *choice)
{
	struct phrase_set *phrases = f->tokens->phrases;
	const struct token_item *items = f->best.item;
	u32 node = PHRASE_HEAD, at = f->start, last = NO_RULE, j;
	size_t i;

	for (i = 0; i < choice->taken; i++) {
		last = items[i].rule;
		node = phrase_add(phrases, node, BEE_OP_RULE + last, items[i].at - at);
		at = items[i].at;
	}
	if (choice->head && last != choice->body)
		node = phrase_add(phrases, node, BEE_OP_RULE + choice->body, BEE_DELTA_NEVER);
	if (choice->head)
		tokens_emit(f->tokens, f->start, node, choice->body);
	for (; i < f->best.n; i += items[i].nops) {
		const struct token_item *item = &items[i];

		node = PHRASE_STEP;
		for (j = 0; j < item->nops; j++)
			node = phrase_add(phrases, node, item[j].op, j ? item[j].link : 0);
		tokens_emit(f->tokens, item->at, node, choice->body);
	}
}

/**
 * tokens_find() - find the tokens for all rows
 * @tokens: all but the last three members are set; tokens and the counts of phrases are replaced
 */
void tokens_find(struct tokens *tokens)
{
	const struct row_set *rows = tokens->rows;
	struct token_function f = { .tokens = tokens, .before = NO_RULE };
	u64 pc = rows->rows[0].pc;
	size_t row = 0, start = 0;

	tokens->ntokens = 0;
	phrase_forget(tokens->phrases);
	while (pc < rows->end) {
		struct token_choice choice;
		u64 end;

		while (start < rows->nstarts && rows->starts[start] <= pc)
			start++;
		end = start < rows->nstarts ? rows->starts[start] : rows->end;
		f.start = pc - tokens->origin;
		f.end = end - tokens->origin;
		f.rows = &rows->rows[row];
		while (row < rows->nrows && rows->rows[row].pc < end)
			row++;
		f.nrows = &rows->rows[row] - f.rows;
		choice = tokens_choose(&f);
		tokens_emit_function(&f, &choice);
		f.last_body = choice.body;
		if (f.nrows)
			f.before = f.rows[f.nrows - 1].rule;
		pc = end;
	}
	free(f.tried.item);
	free(f.best.item);
}
