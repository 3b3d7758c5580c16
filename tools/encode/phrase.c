// SPDX-License-Identifier: GPL-2.0
/* Phrases while a table is made: count and price them, and offer parts of them as phrases. */
#include "alloc.h"
#include "phrase.h"

/* Costs before anything was counted: of a token, and of each op. */
#define NEUTRAL_TOKEN	(8 * BIT)
#define NEUTRAL_OP	(3 * BIT / 2)

/**
 * phrase_log2() - binary logarithm, in sixteenths as costs are
 * @x: not 0
 *
 * Return: 16 * log2(@x), rounded.
 */
u32 phrase_log2(u32 x)
{
	static const u8 fraction[] = { 0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 15 };
	u32 n = 31 - __builtin_clz(x);

	return n * 16 + fraction[(u32)(((u64)x << 4) >> n) & 15];
}

/**
 * phrase_init() - start with the two empty phrases and neutral costs
 * @set: phrase_free() releases it
 */
void phrase_init(struct phrase_set *set)
{
	u32 n;

	*set = (struct phrase_set){ .nslots = 1024, .neutral = true };
	set->slots = alloc_zero(set->nslots, sizeof(*set->slots));
	set->nodes = alloc_room(set->nodes, 0, &set->room, sizeof(*set->nodes));
	set->nodes[PHRASE_HEAD] = (struct phrase_node){ .parent = PHRASE_NONE, .head = true };
	set->nodes[PHRASE_STEP] = (struct phrase_node){ .parent = PHRASE_NONE };
	set->nnodes = 2;
	for (n = 0; n <= BEE_TABLE_MAX_OPS; n++)
		set->novel[n] = NEUTRAL_TOKEN + n * NEUTRAL_OP;
}

/* phrase_free(): release what phrase_init() and phrase_add() made */
void phrase_free(struct phrase_set *set)
{
	free(set->nodes);
	free(set->slots);
	*set = (struct phrase_set){};
}

/**
 * phrase_add() - find or add a phrase
 * @set: the phrases
 * @parent: the phrase without its last op
 * @op: that op
 * @delta: its distance code
 *
 * Return: its node.
 */
u32 phrase_add(struct phrase_set *set, u32 parent, u32 op, u8 delta)
{
	u64 key = phrase_key(parent, op, delta);
	struct phrase_slot *slot = phrase_slot(set, key);

	if (slot->key)
		return slot->node;
	if (set->nnodes * 2 > set->nslots) {
		struct phrase_slot *old = set->slots;
		size_t i, nold = set->nslots;

		set->nslots *= 2;
		set->slots = alloc_zero(set->nslots, sizeof(*set->slots));
		for (i = 0; i < nold; i++)
			if (old[i].key)
				*phrase_slot(set, old[i].key) = old[i];
		free(old);
		slot = phrase_slot(set, key);
	}
	set->nodes = alloc_room(set->nodes, set->nnodes, &set->room, sizeof(*set->nodes));
	set->nodes[set->nnodes] = (struct phrase_node){
		.parent = parent, .op = op, .delta = delta,
		.nops = set->nodes[parent].nops + 1, .head = set->nodes[parent].head,
	};
	*slot = (struct phrase_slot){ .key = key, .node = set->nnodes };
	slot->cost = set->novel[set->nodes[set->nnodes].nops];
	return set->nnodes++;
}

/**
 * phrase_spell() - the ops and distances of a phrase, first one first
 * @set: the phrases
 * @node: the phrase
 * @ops: filled; room for BEE_TABLE_MAX_OPS
 * @deltas: filled; room for as many
 */
void phrase_spell(const struct phrase_set *set, u32 node, u32 *ops, u8 *deltas)
{
	for (; set->nodes[node].nops; node = set->nodes[node].parent) {
		ops[set->nodes[node].nops - 1] = set->nodes[node].op;
		deltas[set->nodes[node].nops - 1] = set->nodes[node].delta;
	}
}

/*
 * Parts of phrases are counted by hash in a fixed array.  Two parts may share a counter: one of
 * them may then be added although few tokens would use it, which costs time but no bits.
 */
#define SEED_COUNTERS	(1u << 20)
#define SEED_LEAST	2

struct seeding {
	struct phrase_set	*set;
	u32			*counters;
	bool			 add;
};

static u32 seed_hash(u32 hash, u32 op, u8 delta)
{
	hash = (hash ^ op) * 0x9e3779b1u;
	return ((hash ^ hash >> 15) + delta) * 0x85ebca77u;
}

/* Count one part, or add it if it was counted often enough. */
static void seed_part(struct seeding *s, u32 hash, u32 count, u32 root, const u32 *ops,
		      const u8 *deltas, u32 n)
{
	u32 *counter = &s->counters[hash >> 12];
	u32 i, node = root;

	if (!s->add) {
		*counter += count;
		return;
	}
	if (*counter < SEED_LEAST)
		return;
	for (i = 0; i < n; i++)
		node = phrase_add(s->set, node, ops[i], deltas[i]);
	if (s->set->nodes[node].count < *counter)
		s->set->nodes[node].count = *counter;
}

/* The parts of a step phrase: each run of its ops that is shorter than the phrase. */
static void seed_step(struct seeding *s, u32 count, u32 *ops, u8 *deltas, u32 n)
{
	u32 i, j;

	for (i = 0; i < n; i++) {
		u8 delta = deltas[i];
		u32 hash = 0;

		deltas[i] = 0;
		for (j = i; j < n; j++) {
			hash = seed_hash(hash, ops[j], deltas[j]);
			if (j - i + 1 < n)
				seed_part(s, hash, count, PHRASE_STEP, ops + i, deltas + i,
					  j - i + 1);
		}
		deltas[i] = delta;
	}
}

/* The parts of a head phrase: each beginning of it, followed by the body rule. */
static void seed_head(struct seeding *s, u32 count, u32 *ops, u8 *deltas, u32 n)
{
	u32 body = ops[n - 1];
	u32 i, hash = 1;

	for (i = 0; i + 1 < n; i++) {
		u32 op = ops[i];
		u8 delta = deltas[i];

		if (i + 2 < n || delta != BEE_DELTA_NEVER) {
			ops[i] = body;
			deltas[i] = BEE_DELTA_NEVER;
			seed_part(s, seed_hash(hash, body, BEE_DELTA_NEVER), count, PHRASE_HEAD,
				  ops, deltas, i + 1);
			ops[i] = op;
			deltas[i] = delta;
		}
		hash = seed_hash(hash, op, delta);
	}
}

static void seed_all(struct seeding *s, size_t nnodes)
{
	u32 ops[BEE_TABLE_MAX_OPS] = {};
	u8 deltas[BEE_TABLE_MAX_OPS] = {};
	size_t i;

	for (i = 2; i < nnodes; i++) {
		struct phrase_node node = s->set->nodes[i];

		if (!node.count)
			continue;
		phrase_spell(s->set, i, ops, deltas);
		if (node.head)
			seed_head(s, node.count, ops, deltas, node.nops);
		else
			seed_step(s, node.count, ops, deltas, node.nops);
	}
}

/**
 * phrase_seed() - add the parts that several phrases share
 * @set: counted phrases; parts are added, with the sum of the counts of the phrases they are in
 */
void phrase_seed(struct phrase_set *set)
{
	struct seeding s = { .set = set };
	size_t nnodes = set->nnodes;

	s.counters = alloc_zero(SEED_COUNTERS, sizeof(*s.counters));
	seed_all(&s, nnodes);
	s.add = true;
	seed_all(&s, nnodes);
	free(s.counters);
}

/**
 * phrase_price() - set the costs of all phrases from their counts
 * @set: counted phrases
 *
 * The cost of a use is log2(all uses / uses of the phrase), and the size of the phrase in the
 * dictionary divided by its uses.
 */
void phrase_price(struct phrase_set *set)
{
	u32 total[2] = {}, distinct[2] = {}, n;
	size_t i;

	set->neutral = false;
	for (i = 2; i < set->nnodes; i++) {
		total[set->nodes[i].head] += set->nodes[i].count;
		distinct[set->nodes[i].head] += !!set->nodes[i].count;
	}
	for (n = 1; n <= BEE_TABLE_MAX_OPS; n++)
		set->novel[n] = phrase_log2(distinct[false] + 8) + (9 + 6 * n) * BIT;
	for (i = 0; i < set->nslots; i++) {
		struct phrase_slot *slot = &set->slots[i];
		const struct phrase_node *node;

		if (!slot->key)
			continue;
		node = &set->nodes[slot->node];
		slot->cost = set->novel[node->nops];
		slot->share = 0;
		if (!node->count)
			continue;
		slot->share = (9 + 5 * node->nops) * BIT / node->count;
		slot->cost = phrase_log2(total[node->head] + 8) - phrase_log2(node->count);
		if (slot->cost > phrase_log2(distinct[node->head] + 8))
			slot->cost = phrase_log2(distinct[node->head] + 8);
		slot->cost += slot->share;
	}
}

/* phrase_forget(): set all counts to zero; costs stay */
void phrase_forget(struct phrase_set *set)
{
	size_t i;

	for (i = 0; i < set->nnodes; i++)
		set->nodes[i].count = 0;
}
