/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Phrases (<linux/beeunwind_table.h>) while a table is made: a trie of ops and distances, with the
 * count and the estimated cost of each phrase.
 */
#ifndef BEE_PHRASE_H
#define BEE_PHRASE_H

#include <linux/types.h>
#include <linux/beeunwind_table.h>
#include <stddef.h>

/* Costs are in sixteenths of a bit. */
#define BIT		16

/* The empty phrases: nodes that all others descend from. */
#define PHRASE_HEAD	0
#define PHRASE_STEP	1
#define PHRASE_NONE	(~0u)

/**
 * struct phrase_node - a phrase: that of its parent, and one op more
 * @parent: the phrase without its last op
 * @op: that op, with rules by their number in the row set
 * @count: how many tokens use it; after phrase_seed(), how many could
 * @delta: distance code from the op before
 * @nops: number of ops
 * @head: a head phrase
 */
struct phrase_node {
	u32	parent;
	u32	op;
	u32	count;
	u8	delta;
	u8	nops;
	bool	head;
};

/**
 * struct phrase_slot - hash from (parent, op, delta) to a node
 * @key: of all three, 0 if free
 * @node: the phrase
 * @cost: of a token that uses it, without tag and gap
 * @share: of @cost, the bits of the phrase in the dictionary, divided by its uses
 */
struct phrase_slot {
	u64	key;
	u32	node;
	u16	cost;
	u16	share;
};

/**
 * struct phrase_set - all phrases and their prefixes
 * @nodes: in the order in which they were added
 * @nnodes: entries in @nodes
 * @room: nodes there is memory for
 * @slots: the hash
 * @nslots: power of two
 * @novel: cost of a phrase of n ops that is not in use
 * @neutral: those in use cost the same, until phrase_price(): there is no need to find them
 */
struct phrase_set {
	struct phrase_node	*nodes;
	size_t			 nnodes;
	size_t			 room;
	struct phrase_slot	*slots;
	size_t			 nslots;
	u32			 novel[BEE_TABLE_MAX_OPS + 1];
	bool			 neutral;
};

u32 phrase_log2(u32 x);
void phrase_init(struct phrase_set *set);
void phrase_free(struct phrase_set *set);
u32 phrase_add(struct phrase_set *set, u32 parent, u32 op, u8 delta);
void phrase_spell(const struct phrase_set *set, u32 node, u32 *ops, u8 *deltas);
void phrase_seed(struct phrase_set *set);
void phrase_price(struct phrase_set *set);
void phrase_forget(struct phrase_set *set);

static inline u64 phrase_key(u32 parent, u32 op, u8 delta)
{
	return ((u64)parent << 32 | op << 4 | delta) + 1;
}

/* The slot of a phrase, or a free one to put it in. */
static inline struct phrase_slot *phrase_slot(const struct phrase_set *set, u64 key)
{
	u64 hash = key * 0x9e3779b97f4a7c15ull;
	size_t at = (hash ^ hash >> 32) & (set->nslots - 1);

	while (set->slots[at].key && set->slots[at].key != key)
		at = (at + 1) & (set->nslots - 1);
	return &set->slots[at];
}

/* The phrase @parent with one op more, or NULL if there is none. */
static inline const struct phrase_slot *phrase_find(const struct phrase_set *set, u32 parent,
						    u32 op, u8 delta)
{
	const struct phrase_slot *slot = phrase_slot(set, phrase_key(parent, op, delta));

	return slot->key ? slot : NULL;
}

#endif /* BEE_PHRASE_H */
