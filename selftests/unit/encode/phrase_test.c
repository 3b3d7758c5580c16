// SPDX-License-Identifier: GPL-2.0
/*
 * Phrases: the trie finds what was added, costs match those computed by hand, and parts of
 * phrases are added as candidates.
 */
#include "kselftest.h"
#include "phrase.h"
#include "random.h"

/* 16 * log2(@x), rounded down: the binary digits of the logarithm, by squaring. */
static u32 naive_log2(u32 x)
{
	u32 n = 0, digits;
	double m = x;

	for (; m >= 2; m /= 2)
		n++;
	for (digits = 0; digits < 4; digits++) {
		m *= m;
		n = 2 * n + (m >= 2);
		m = m >= 2 ? m / 2 : m;
	}
	return n;
}

static void test_log2(void)
{
	bool good = !phrase_log2(1) && phrase_log2(2) == 16 && phrase_log2(1u << 31) == 31 * 16;
	u32 x;

	for (x = 1; x < 1u << 20; x++) {
		u32 floor = naive_log2(x), found = phrase_log2(x);

		good = good && found + 1 >= floor && found <= floor + 1;
	}
	ksft_test_result(good, "logarithms in sixteenths\n");
}

static void test_trie(void)
{
	struct phrase_set set;
	u32 nodes[5000], parents[5000], ops[5000], i, wrong = 0;
	u8 deltas[5000];

	phrase_init(&set);
	for (i = 0; i < 5000; i++) {
		/* The first 10 are children of the two roots, all others of one of these 10. */
		parents[i] = i < 10 ? i & 1 : nodes[random_u64() % 10];
		ops[i] = i;
		deltas[i] = random_u64() & 15;
		nodes[i] = phrase_add(&set, parents[i], ops[i], deltas[i]);
	}
	wrong += set.nnodes != 5002;
	for (i = 0; i < 5000; i++) {
		const struct phrase_slot *slot = phrase_find(&set, parents[i], ops[i], deltas[i]);
		const struct phrase_node *node = &set.nodes[nodes[i]];

		wrong += !slot || slot->node != nodes[i];
		wrong += phrase_add(&set, parents[i], ops[i], deltas[i]) != nodes[i];
		wrong += node->parent != parents[i] || node->op != ops[i] ||
			 node->delta != deltas[i] || node->head != set.nodes[parents[i]].head ||
			 node->nops != (i < 10 ? 1 : 2);
		wrong += !!phrase_find(&set, parents[i], ops[i], deltas[i] ^ 1);
	}
	ksft_test_result(!wrong && set.nnodes == 5002, "5000 phrases are found, no others\n");
	phrase_free(&set);
}

/*
 * Costs in sixteenths of a bit.  A step phrase of one op that is used 8 times: log2((8 + 8) / 8)
 * is 16, and its share of 14 bits of dictionary is 14 * 16 / 8 = 28.  One that is not in use:
 * log2(9) is 51, and all of 15 bits.
 */
static void test_price(void)
{
	const struct phrase_slot *used, *unused;
	struct phrase_set set;
	u32 node;

	phrase_init(&set);
	node = phrase_add(&set, PHRASE_STEP, 3, 0);
	phrase_add(&set, PHRASE_STEP, 4, 0);
	set.nodes[node].count = 8;
	phrase_price(&set);
	used = phrase_find(&set, PHRASE_STEP, 3, 0);
	unused = phrase_find(&set, PHRASE_STEP, 4, 0);
	ksft_test_result(used->share == 28 && used->cost == 16 + 28 && !unused->share &&
			 unused->cost == 51 + 15 * 16 && set.novel[1] == 51 + 15 * 16 &&
			 set.novel[2] == 51 + 21 * 16, "costs by hand\n");
	phrase_forget(&set);
	ksft_test_result(!set.nodes[node].count && used->cost == 16 + 28,
			 "counts are forgotten, costs stay\n");
	phrase_free(&set);
}

static u32 add_step(struct phrase_set *set, const u32 *ops, u32 n)
{
	u32 i, node = PHRASE_STEP;

	for (i = 0; i < n; i++)
		node = phrase_add(set, node, ops[i], i ? i + 1 : 0);
	return node;
}

static bool has(const struct phrase_set *set, u32 parent, u32 op, u8 delta, u32 count, u32 *node)
{
	const struct phrase_slot *slot = phrase_find(set, parent, op, delta);

	if (slot && node)
		*node = slot->node;
	return slot && set->nodes[slot->node].count == count;
}

/* Phrase A, B, C with distances 2 and 3, used five times, offers: A; A, B; B; B, C; C. */
static void test_seed_step(void)
{
	const u32 ops[] = { 40, 50, 60 };
	struct phrase_set set;
	u32 a = 0, b = 0;

	phrase_init(&set);
	set.nodes[add_step(&set, ops, 3)].count = 5;
	phrase_seed(&set);
	ksft_test_result(has(&set, PHRASE_STEP, 40, 0, 5, &a) && has(&set, a, 50, 2, 5, NULL) &&
			 has(&set, PHRASE_STEP, 50, 0, 5, &b) && has(&set, b, 60, 3, 5, NULL) &&
			 has(&set, PHRASE_STEP, 60, 0, 5, NULL) && set.nnodes == 2 + 3 + 3,
			 "parts of a step phrase\n");
	phrase_free(&set);
}

/* Parts of a phrase that is used once are not offered. */
static void test_seed_once(void)
{
	const u32 ops[] = { 40, 50, 60 };
	struct phrase_set set;

	phrase_init(&set);
	set.nodes[add_step(&set, ops, 3)].count = 1;
	phrase_seed(&set);
	ksft_test_result(set.nnodes == 2 + 3, "no parts of what is used once\n");
	phrase_free(&set);
}

/* Head phrase A, B, BODY offers: BODY alone; A, BODY. */
static void test_seed_head(void)
{
	struct phrase_set set;
	u32 a, b, body;

	phrase_init(&set);
	a = phrase_add(&set, PHRASE_HEAD, 40, 1);
	b = phrase_add(&set, a, 50, 2);
	body = phrase_add(&set, b, 60, BEE_DELTA_NEVER);
	set.nodes[body].count = 3;
	phrase_seed(&set);
	ksft_test_result(has(&set, PHRASE_HEAD, 60, BEE_DELTA_NEVER, 3, NULL) &&
			 has(&set, a, 60, BEE_DELTA_NEVER, 3, NULL) && set.nnodes == 2 + 3 + 2,
			 "parts of a head phrase\n");
	phrase_free(&set);
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(7);
	test_log2();
	test_trie();
	test_price();
	test_seed_step();
	test_seed_once();
	test_seed_head();
	ksft_finished();
}
