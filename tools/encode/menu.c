// SPDX-License-Identifier: GPL-2.0
/*
 * Menus: the likely phrases, by rank.  There are several for step phrases, and each body rule uses
 * one: k-means gives the same menu to body rules that are used with similar phrases.
 */
#include <string.h>

#include "alloc.h"
#include "menu.h"
#include "kmod/table.h"
#include "order.h"

#define MENU_ROUNDS	4
#define PLACE_COST	(BIT / 2)	/* of a place beside its width: tag classes may be wider */
#define MENU_MAX_ID	0xffff
#define HEAD_PLACE	(32 * BIT)	/* size of a place in the menu of heads */
#define STEP_PLACE	(16 * BIT)	/* and in one of steps */

/* How often a step phrase is used with a body rule. */
struct menu_pair {
	u32	phrase;
	u32	count;
};

/* A body rule, with its @npairs pairs from @first on and the sum of their counts. */
struct menu_body {
	u32	rule;
	u32	first;
	u32	npairs;
	u32	total;
	u8	menu;
};

struct menu_fit {
	const struct dict	*dict;
	struct menu_pair	*pairs;
	u32			 npairs;
	struct menu_body	*bodies;
	u32			 nbodies;
	u32			*counts;	/* uses by menu and phrase */
	u16			*costs;		/* bits by menu and phrase */
};

static int compare_bodies(const void *a, const void *b)
{
	const struct menu_body *x = a, *y = b;

	return order(y->total, x->total) ?: order(x->rule, y->rule);
}

/* Count how often each step phrase is used with each body rule. */
static void menu_count_pairs(struct menu_fit *fit, const struct tokens *tokens, const u32 *numbers)
{
	u64 *keys = alloc_array(NULL, tokens->ntokens + 1, sizeof(*keys));
	struct menu_body *body = NULL;
	size_t i, n = 0;

	for (i = 0; i < tokens->ntokens; i++) {
		const struct token *token = &tokens->token[i];

		if (!tokens->phrases->nodes[token->phrase].head)
			keys[n++] = (u64)token->body << 32 | numbers[token->phrase];
	}
	qsort(keys, n, sizeof(*keys), order_u64);
	fit->pairs = alloc_array(NULL, n + 1, sizeof(*fit->pairs));
	fit->bodies = alloc_array(NULL, n + 1, sizeof(*fit->bodies));
	for (i = 0; i < n; i++) {
		if (!i || keys[i] >> 32 != keys[i - 1] >> 32) {
			body = &fit->bodies[fit->nbodies++];
			*body = (struct menu_body){ .rule = keys[i] >> 32, .first = fit->npairs };
		}
		if (!i || keys[i] != keys[i - 1]) {
			fit->pairs[fit->npairs++] = (struct menu_pair){ .phrase = keys[i] };
			body->npairs++;
		}
		fit->pairs[fit->npairs - 1].count++;
		body->total++;
	}
	qsort(fit->bodies, fit->nbodies, sizeof(*fit->bodies), compare_bodies);
	free(keys);
}

static void menu_add_counts(struct menu_fit *fit, u32 nmenus)
{
	u32 i, j;

	memset(fit->counts, 0, (size_t)nmenus * fit->dict->total * sizeof(*fit->counts));
	for (i = 0; i < fit->nbodies; i++) {
		const struct menu_body *body = &fit->bodies[i];
		u32 *counts;

		if (body->menu >= nmenus)
			continue;
		counts = &fit->counts[(size_t)body->menu * fit->dict->total];
		for (j = 0; j < body->npairs; j++)
			counts[fit->pairs[body->first + j].phrase] +=
				fit->pairs[body->first + j].count;
	}
}

/* What each phrase costs in each menu, by the logarithm of its share. */
static void menu_price(struct menu_fit *fit, u32 nmenus)
{
	u32 total = fit->dict->total, direct = fit->dict->id_bits * BIT, i, j;

	for (i = 0; i < nmenus; i++) {
		const u32 *counts = &fit->counts[(size_t)i * total];
		u32 sum = 1;

		for (j = 0; j < total; j++)
			sum += counts[j];
		for (j = 0; j < total; j++) {
			u32 cost = counts[j] ? phrase_log2(sum) - phrase_log2(counts[j]) : direct;

			fit->costs[(size_t)i * total + j] = cost < direct ? cost : direct;
		}
	}
}

/* Give each body rule the menu with which its tokens are cheapest. */
static void menu_assign(struct menu_fit *fit, u32 nmenus)
{
	u32 i, j, k;

	for (i = 0; i < fit->nbodies; i++) {
		struct menu_body *body = &fit->bodies[i];
		u64 best = ~0ull;

		for (k = 0; k < nmenus; k++) {
			const u16 *costs = &fit->costs[(size_t)k * fit->dict->total];
			u64 cost = 0;

			for (j = 0; j < body->npairs && cost < best; j++)
				cost += (u64)fit->pairs[body->first + j].count *
					costs[fit->pairs[body->first + j].phrase];
			if (cost < best) {
				best = cost;
				body->menu = k;
			}
		}
	}
}

/* k-means, seeded with the most used body rules. */
static void menu_cluster(struct menu_fit *fit, u32 nmenus)
{
	u32 i, round;

	for (i = 0; i < fit->nbodies; i++)
		fit->bodies[i].menu = i < nmenus ? i : nmenus;
	for (round = 0; round < MENU_ROUNDS; round++) {
		menu_add_counts(fit, nmenus);
		menu_price(fit, nmenus);
		menu_assign(fit, nmenus);
	}
	menu_add_counts(fit, nmenus);
}

struct menu_rank {
	u32	phrase;
	u32	count;
};

static int compare_ranks(const void *a, const void *b)
{
	const struct menu_rank *x = a, *y = b;

	return order(y->count, x->count) ?: order(x->phrase, y->phrase);
}

/* The phrases in use, most used first, without those whose number does not fit into a menu. */
static u32 menu_sort(const struct dict *dict, const u32 *counts, struct menu_rank *ranks)
{
	u32 i, n = 0;

	for (i = 0; i < dict->total; i++)
		if (counts[i] && dict_id(dict, i) <= MENU_MAX_ID)
			ranks[n++] = (struct menu_rank){ i, counts[i] };
	qsort(ranks, n, sizeof(*ranks), compare_ranks);
	return n;
}

/* Add to @costs, by log2 places, what a menu and the tokens that use it would cost. */
static void menu_add_costs(const struct menu_rank *ranks, u32 n, u32 direct, u32 place, u64 *costs)
{
	u64 in = 0, rest = 0;
	u32 i, bits;

	for (i = 0; i < n; i++)
		rest += ranks[i].count;
	for (i = 0, bits = 0; bits <= BEE_TABLE_MAX_MENU_BITS; bits++) {
		for (; i < n && i < 1u << bits; i++) {
			in += (u64)ranks[i].count * (bits_width(i) * BIT + PLACE_COST);
			rest -= ranks[i].count;
		}
		costs[bits] += in + rest * direct + ((u64)place << bits);
	}
}

static u32 menu_best_bits(const u64 *costs)
{
	u32 bits, best = 0;

	for (bits = 1; bits <= BEE_TABLE_MAX_MENU_BITS; bits++)
		if (costs[bits] < costs[best])
			best = bits;
	return best;
}

static void menu_fill(struct menu_set *menus, u32 menu, const struct dict *dict, const u32 *counts,
		      struct menu_rank *ranks)
{
	u32 i, n = menu_sort(dict, counts, ranks), total = dict->total;
	u32 *places = &menus->places[(size_t)menu << menus->bits];

	for (i = 0; i < n && i < 1u << menus->bits; i++) {
		places[i] = ranks[i].phrase;
		menus->ranks[(size_t)menu * total + ranks[i].phrase] = i;
	}
}

static void menu_alloc(struct menu_set *menus, u32 total)
{
	size_t ranks = (size_t)menus->nmenus * total;

	menus->places = alloc_zero((size_t)menus->nmenus << menus->bits, sizeof(*menus->places));
	menus->ranks = alloc_array(NULL, ranks + 1, sizeof(*menus->ranks));
	memset(menus->ranks, 0xff, ranks * sizeof(*menus->ranks));
}

/**
 * menu_fit_head() - the menu of head phrases
 * @menus: filled; menu_free() releases it
 * @tokens: the tokens
 * @dict: the head phrases
 */
void menu_fit_head(struct menu_set *menus, const struct tokens *tokens, const struct dict *dict)
{
	u32 *counts = alloc_array(NULL, dict->total + 1, sizeof(*counts));
	struct menu_rank *ranks = alloc_array(NULL, dict->total + 1, sizeof(*ranks));
	u64 costs[BEE_TABLE_MAX_MENU_BITS + 1] = {};
	u32 i, n;

	*menus = (struct menu_set){ .nmenus = 1 };
	for (i = 0; i < dict->total; i++)
		counts[i] = tokens->phrases->nodes[dict->nodes[i]].count;
	n = menu_sort(dict, counts, ranks);
	if (n) {
		menu_add_costs(ranks, n, dict->id_bits * BIT, HEAD_PLACE, costs);
		menus->bits = menu_best_bits(costs);
	}
	menu_alloc(menus, dict->total);
	menu_fill(menus, 0, dict, counts, ranks);
	free(counts);
	free(ranks);
}

/* Choose the number and the size of menus. */
static void menu_choose(struct menu_fit *fit, struct menu_set *menus, struct menu_rank *ranks)
{
	u32 n, i, bits, count, last = 0, total = fit->dict->total;
	u64 best = ~0ull;

	for (n = 1; n <= BEE_TABLE_MAX_MENUS && n <= fit->nbodies; n *= 2) {
		u64 costs[BEE_TABLE_MAX_MENU_BITS + 1] = {};

		menu_cluster(fit, n);
		for (i = 0; i < n; i++) {
			count = menu_sort(fit->dict, &fit->counts[(size_t)i * total], ranks);
			menu_add_costs(ranks, count, fit->dict->id_bits * BIT, STEP_PLACE, costs);
		}
		bits = menu_best_bits(costs);
		last = n;
		if (costs[bits] < best) {
			best = costs[bits];
			menus->nmenus = n;
			menus->bits = bits;
		}
	}
	if (last != menus->nmenus)
		menu_cluster(fit, menus->nmenus);
}

/**
 * menu_fit_step() - the menus of step phrases
 * @menus: filled; menu_free() releases it
 * @tokens: the tokens
 * @dict: the step phrases
 * @numbers: phrase number by node
 */
void menu_fit_step(struct menu_set *menus, const struct tokens *tokens, const struct dict *dict,
		       const u32 *numbers)
{
	struct menu_fit fit = { .dict = dict };
	size_t cells = (size_t)BEE_TABLE_MAX_MENUS * dict->total + 1;
	struct menu_rank *ranks = alloc_array(NULL, dict->total + 1, sizeof(*ranks));
	u32 i;

	*menus = (struct menu_set){ .nmenus = 1 };
	menus->of_rule = alloc_zero(tokens->rows->nrules, 1);
	fit.counts = alloc_array(NULL, cells, sizeof(*fit.counts));
	fit.costs = alloc_array(NULL, cells, sizeof(*fit.costs));
	menu_count_pairs(&fit, tokens, numbers);
	menu_choose(&fit, menus, ranks);
	for (i = 0; i < fit.nbodies; i++)
		menus->of_rule[fit.bodies[i].rule] = fit.bodies[i].menu;
	menu_alloc(menus, dict->total);
	for (i = 0; fit.nbodies && i < menus->nmenus; i++)
		menu_fill(menus, i, dict, &fit.counts[(size_t)i * dict->total], ranks);
	free(ranks);
	free(fit.pairs);
	free(fit.bodies);
	free(fit.counts);
	free(fit.costs);
}

/* menu_costs(): cost of the place of each phrase, by menu and phrase number, for free() */
u8 *menu_costs(const struct menu_set *menus, const struct dict *dict)
{
	size_t i, n = (size_t)menus->nmenus * dict->total;
	u32 direct = dict->id_bits * BIT;
	u8 *costs = alloc_array(NULL, n + 1, 1);

	if (direct > 0xff)
		direct = 0xff;
	for (i = 0; i < n; i++)
		costs[i] = menus->ranks[i] == MENU_NO_RANK ? direct :
			   bits_width(menus->ranks[i]) * BIT + PLACE_COST;
	return costs;
}

/* menu_free(): release what menu_fit_head() or menu_fit_step() made */
void menu_free(struct menu_set *menus)
{
	free(menus->of_rule);
	free(menus->places);
	free(menus->ranks);
}
