// SPDX-License-Identifier: GPL-2.0
/*
 * Menus: the likely phrases, by rank.  Step phrases have several menus: body rules after which
 * similar phrases follow share one.  k-means finds which.
 */
#include <string.h>

#include "alloc.h"
#include "menu.h"
#include "kmod/table.h"

#define MENU_ROUNDS	4
#define PLACE_COST	(BIT / 2)	/* beside its width, for its share of the tag classes */
#define MENU_MAX_ID	0xffff
#define HEAD_PLACE	(32 * BIT)	/* what a place takes in a menu itself */
#define STEP_PLACE	(16 * BIT)

/* How often a step phrase is used with a body rule. */
struct menu_pair {
	u32	body;
	u32	phrase;
	u32	count;
};

/* The pairs of one body rule. */
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
	u32			*counts;	/* by menu and phrase */
	u16			*costs;
};

static int compare_u64(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static void menu_count_pairs(struct menu_fit *fit, const struct tokens *tokens, const u32 *numbers)
{
	u64 *keys = alloc_array(NULL, tokens->ntokens + 1, sizeof(*keys));
	size_t i, n = 0;

	for (i = 0; i < tokens->ntokens; i++) {
		const struct token *token = &tokens->token[i];

		if (!tokens->phrases->nodes[token->phrase].head)
			keys[n++] = (u64)token->body << 32 | numbers[token->phrase];
	}
	qsort(keys, n, sizeof(*keys), compare_u64);
	fit->pairs = alloc_array(NULL, n + 1, sizeof(*fit->pairs));
	for (i = 0; i < n; i++) {
		if (!i || keys[i] != keys[i - 1])
			fit->pairs[fit->npairs++] = (struct menu_pair){ keys[i] >> 32, keys[i], 0 };
		fit->pairs[fit->npairs - 1].count++;
	}
	free(keys);
}

static int compare_bodies(const void *a, const void *b)
{
	const struct menu_body *x = a, *y = b;

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return x->rule < y->rule ? -1 : x->rule > y->rule;
}

static void menu_collect_bodies(struct menu_fit *fit)
{
	u32 i;

	fit->bodies = alloc_array(NULL, fit->npairs + 1, sizeof(*fit->bodies));
	for (i = 0; i < fit->npairs; i++) {
		struct menu_body *body;

		if (!i || fit->pairs[i].body != fit->pairs[i - 1].body)
			fit->bodies[fit->nbodies++] = (struct menu_body){
				.rule = fit->pairs[i].body, .first = i,
			};
		body = &fit->bodies[fit->nbodies - 1];
		body->npairs++;
		body->total += fit->pairs[i].count;
	}
	qsort(fit->bodies, fit->nbodies, sizeof(*fit->bodies), compare_bodies);
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

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->phrase < y->phrase ? -1 : x->phrase > y->phrase;
}

/* The phrases in use whose number a menu has room for. */
static u32 menu_sort(const struct dict *dict, const u32 *counts, struct menu_rank *ranks)
{
	u32 i, n = 0;

	for (i = 0; i < dict->total; i++)
		if (counts[i] && dict_id(dict, i) <= MENU_MAX_ID)
			ranks[n++] = (struct menu_rank){ i, counts[i] };
	qsort(ranks, n, sizeof(*ranks), compare_ranks);
	return n;
}

/* Add the cost of one menu's tokens for each size of it. */
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

/* Cost of @nmenus menus of the best size, which is returned in @bits. */
static u64 menu_try(struct menu_fit *fit, u32 nmenus, struct menu_rank *ranks, u32 *bits)
{
	u64 costs[BEE_TABLE_MAX_MENU_BITS + 1] = {};
	u32 i, total = fit->dict->total;

	menu_cluster(fit, nmenus);
	for (i = 0; i < nmenus; i++) {
		u32 n = menu_sort(fit->dict, &fit->counts[(size_t)i * total], ranks);

		menu_add_costs(ranks, n, fit->dict->id_bits * BIT, STEP_PLACE, costs);
	}
	*bits = menu_best_bits(costs);
	return costs[*bits];
}

static void menu_choose(struct menu_fit *fit, struct menu_set *menus, struct menu_rank *ranks)
{
	u32 n, bits, last = 0;
	u64 cost, best = ~0ull;

	for (n = 1; n <= BEE_TABLE_MAX_MENUS && n <= fit->nbodies; n *= 2) {
		cost = menu_try(fit, n, ranks, &bits);
		last = n;
		if (cost < best) {
			best = cost;
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
	menu_collect_bodies(&fit);
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

/**
 * menu_costs() - what the place of each phrase costs
 * @menus: the menus
 * @dict: the phrases
 *
 * Return: costs by menu and phrase number, for free().
 */
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
