// SPDX-License-Identifier: GPL-2.0
/* Menus: frequent phrases have the first places, and menus make the table smaller. */
#include <stdlib.h>

#include "alloc.h"
#include "kselftest.h"
#include "menu.h"
#include "random.h"

#define RULES	20
#define PHRASES	300
#define TOKENS	20000

static struct phrase_set set;
static struct tokens tokens;
static struct row_set rows = { .nrules = RULES };
static struct dict heads, steps;
static u32 *numbers;

/* With each body rule another range of step phrases is frequent. */
static void make_tokens(void)
{
	u32 nodes[PHRASES], i;

	phrase_init(&set);
	for (i = 0; i < PHRASES; i++)
		nodes[i] = phrase_add(&set, i < 50 ? PHRASE_HEAD : PHRASE_STEP, BEE_OP_RULE + i, 1);
	tokens = (struct tokens){ .rows = &rows, .phrases = &set, .ntokens = TOKENS };
	tokens.token = alloc_zero(TOKENS, sizeof(*tokens.token));
	for (i = 0; i < TOKENS; i++) {
		u32 body = random_u64() % RULES;
		u32 pick = random_u64() % 64 * (random_u64() % 64) / 64;

		if (i % 10)
			pick = 50 + (pick + 13 * body) % 250;
		else
			pick %= 50;
		tokens.token[i] = (struct token){ .at = i, .phrase = nodes[pick], .body = body };
		set.nodes[nodes[pick]].count++;
	}
	numbers = alloc_zero(set.nnodes, sizeof(*numbers));
	dict_build(&heads, &set, true, numbers);
	dict_build(&steps, &set, false, numbers);
}

/* The arrays places and ranks are inverse, and a phrase used more often has an earlier place. */
static bool places_are_sound(const struct menu_set *menus, const struct dict *dict, bool head)
{
	u32 menu, place, i, *counts = alloc_zero(dict->total, sizeof(*counts)), wrong = 0;

	for (menu = 0; menu < menus->nmenus; menu++) {
		const u16 *ranks = &menus->ranks[(size_t)menu * dict->total];
		u32 worst = ~0u;

		for (i = 0; i < dict->total; i++)
			counts[i] = 0;
		for (i = 0; i < TOKENS; i++)
			if (set.nodes[tokens.token[i].phrase].head == head &&
			    (head || menus->of_rule[tokens.token[i].body] == menu))
				counts[numbers[tokens.token[i].phrase]]++;
		for (place = 0; place < 1u << menus->bits; place++) {
			u32 phrase = menus->places[(menu << menus->bits) + place];

			if (ranks[phrase] != place)
				continue;
			wrong += counts[phrase] > worst;
			worst = counts[phrase];
		}
		for (i = 0; i < dict->total; i++) {
			if (ranks[i] == MENU_NO_RANK)
				wrong += counts[i] > worst;
			else
				wrong += menus->places[(menu << menus->bits) + ranks[i]] != i;
		}
	}
	free(counts);
	return !wrong;
}

/* By menu_costs(), all step tokens' places and the menus must take fewer bits than ids would. */
static void test_costs(const struct menu_set *menus)
{
	u64 with = ((u64)menus->nmenus << menus->bits) * 16 * BIT, without = 0;
	u8 *costs = menu_costs(menus, &steps);
	u32 i;

	for (i = 0; i < TOKENS; i++) {
		const struct token *t = &tokens.token[i];

		if (set.nodes[t->phrase].head)
			continue;
		with += costs[menus->of_rule[t->body] * steps.total + numbers[t->phrase]];
		without += steps.id_bits * BIT;
	}
	ksft_test_result(with < without, "%u menus: %llu bits, without %llu\n", menus->nmenus,
			 with / BIT, without / BIT);
	free(costs);
}

/* The cost of one head menu of each size, computed here: the chosen size must be the cheapest. */
static void test_head_size(const struct menu_set *menu)
{
	u64 best = ~0ull;
	u32 bits, best_bits = 0, i;

	for (bits = 0; bits <= BEE_TABLE_MAX_MENU_BITS; bits++) {
		u64 cost = 32ull * BIT << bits;

		/* Places and numbers are both in order of use: equal if no two counts are. */
		for (i = 0; i < heads.total; i++)
			cost += (u64)set.nodes[heads.nodes[i]].count *
				(i < 1u << bits ? bits_width(i) * BIT + BIT / 2 :
						  heads.id_bits * BIT);
		if (cost < best) {
			best = cost;
			best_bits = bits;
		}
	}
	ksft_test_result(menu->bits == best_bits, "the head menu has the best size: %u bits\n",
			 menu->bits);
}

int main(void)
{
	struct menu_set head, step;

	ksft_print_header();
	ksft_set_plan(5);
	make_tokens();
	menu_fit_head(&head, &tokens, &heads);
	menu_fit_step(&step, &tokens, &steps, numbers);
	ksft_test_result(places_are_sound(&head, &heads, true), "places of the head menu\n");
	ksft_test_result(places_are_sound(&step, &steps, false), "places of step menus\n");
	ksft_test_result(step.nmenus > 1 && step.nmenus <= BEE_TABLE_MAX_MENUS,
			 "body rules with different phrases get different menus\n");
	test_costs(&step);
	test_head_size(&head);
	menu_free(&head);
	menu_free(&step);
	dict_free(&heads);
	dict_free(&steps);
	phrase_free(&set);
	free(tokens.token);
	free(numbers);
	ksft_finished();
}
