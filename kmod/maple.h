/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A look into a maple tree that is in RCU mode, from any context.
 *
 * The kernel's mas_walk() starts again as long as it meets dead nodes.  Linux 6.1 marks a node dead
 * before its replacement is published (lib/maple_tree.c: mas_wr_node_store(), mas_wmb_replace()), so in an
 * NMI that has interrupted the writer mas_walk() would start again for ever.  Here one look follows each
 * level once, and says what it met.
 *
 * Nodes are as in include/linux/maple_tree.h, which has had the same types, slots and pivots since 6.1.
 * RCU keeps a node that was in the tree when the RCU read lock was taken.
 */
#ifndef BEE_MAPLE_H
#define BEE_MAPLE_H

#include <linux/compiler.h>
#include <linux/maple_tree.h>
#include <linux/types.h>
#include <asm/barrier.h>

/*
 * A node has at least 4 children, and a leaf 6 entries (mt_min_slots, lib/maple_tree.c), so that a tree with
 * more levels would have more than 2^31 mappings.
 */
#define BEE_MAPLE_LEVELS	16

/* mt->ma_root: set if it is a node, and not an entry (xa_is_node()). */
#define MAPLE_ROOT_IS_NODE	2ul

/**
 * struct bee_maple_found - what a tree has at an index
 * @entry: the entry, or NULL
 * @min: the first index that has it
 * @max: the last one
 * @node: the leaf that has it, or NULL
 * @slot: where in @node
 * @read: how many slots were passed on the way, which is what the look has cost; also if nothing is found
 */
struct bee_maple_found {
	void				*entry;
	unsigned long			 min;
	unsigned long			 max;
	const struct maple_node		*node;
	void *const			*slot;
	unsigned int			 read;
};

/* struct maple_at - a node on the way: what it has, and which indices it is for */
struct maple_at {
	const unsigned long	*pivots;
	void *const		*slots;
	unsigned int		 npivots;
	unsigned long		 min;
	unsigned long		 max;
};

/* Return: whether the node's type is known. */
static __always_inline bool maple_open(const struct maple_node *node, unsigned int type,
				       struct maple_at *at)
{
	switch (type) {
	case maple_leaf_64:
	case maple_range_64:
		at->pivots = node->mr64.pivot;
		at->slots = (void *const *)node->mr64.slot;
		at->npivots = MAPLE_RANGE64_SLOTS - 1;
		return true;
	case maple_arange_64:
		at->pivots = node->ma64.pivot;
		at->slots = (void *const *)node->ma64.slot;
		at->npivots = MAPLE_ARANGE64_SLOTS - 1;
		return true;
	}
	return false;
}

/*
 * The slot of an index.  A pivot is the last index of its slot.  Behind the last slot in use pivots are
 * 0, and that slot may have none of its own: then it ends where the node does.
 */
static __always_inline unsigned int maple_slot(struct maple_at *at, unsigned long index)
{
	unsigned int i;

	for (i = 0; i < at->npivots; i++) {
		unsigned long pivot = READ_ONCE(at->pivots[i]);

		if (pivot >= index) {
			if (pivot < at->max)
				at->max = pivot;
			break;
		}
		if (!pivot && i)
			break;
		at->min = pivot + 1;
	}
	return i;
}

/*
 * A writer marks a node dead when it has been replaced, and at once overwrites pivots and slots with
 * what it needs to free the node.  Whoever has read them must look for the mark afterwards.
 */
static __always_inline bool maple_is_dead(const struct maple_node *node)
{
	smp_rmb();
	return ((unsigned long)READ_ONCE(node->parent) & ~MAPLE_NODE_MASK) == (unsigned long)node;
}

/**
 * bee_maple_look() - what a tree has at an index
 * @root: mt->ma_root, of a tree in RCU mode
 * @index: the index
 * @dead_too: go on through dead nodes; what is found may be wrong then, or was there a moment before
 * @found: filled if the return value is true, else only @found->read
 *
 * At most BEE_MAPLE_LEVELS nodes are read.  An entry is not followed.
 *
 * Context: Any, NMI-safe.  Caller holds the RCU read lock since it read @root.
 * Return: true, or false if a node was dead, of an unknown type, or too deep.
 */
static __always_inline bool bee_maple_look(const void *root, unsigned long index, bool dead_too,
					   struct bee_maple_found *found)
{
	unsigned long enode = (unsigned long)root;
	struct maple_at at = { .max = ~0ul };
	unsigned int level, type = maple_arange_64;

	*found = (struct bee_maple_found) {};
	/* Without a node the tree has an entry at index 0, where no mapping is, or none. */
	if (!(enode & MAPLE_ROOT_IS_NODE))
		enode = 0;
	for (level = 0; level < BEE_MAPLE_LEVELS; level++) {
		const struct maple_node *node = (void *)(enode & ~MAPLE_NODE_MASK);
		unsigned int i;

		if (!node || type == maple_leaf_64) {
			found->entry = (void *)enode;
			found->min = at.min;
			found->max = at.max;
			return true;
		}
		type = enode >> MAPLE_NODE_TYPE_SHIFT & MAPLE_NODE_TYPE_MASK;
		if (!maple_open(node, type, &at))
			return false;
		i = maple_slot(&at, index);
		found->node = node;
		found->slot = &at.slots[i];
		found->read += i + 1;
		enode = (unsigned long)READ_ONCE(*found->slot);
		if (unlikely(maple_is_dead(node)) && !dead_too)
			return false;
	}
	return false;
}

/**
 * bee_maple_has() - whether a tree still has what bee_maple_look() has found
 * @found: what it has found
 * @dead_too: as there
 *
 * A writer that moves the entry, or changes its bounds, replaces its leaf, or the slot.
 *
 * Context: as bee_maple_look(), under the same RCU read lock.
 * Return: whether it was there after all that the caller has read before this call.
 */
static __always_inline bool bee_maple_has(const struct bee_maple_found *found, bool dead_too)
{
	smp_rmb();
	return !found->node ||
	       (READ_ONCE(*found->slot) == found->entry && (dead_too || !maple_is_dead(found->node)));
}

#endif /* BEE_MAPLE_H */
