// SPDX-License-Identifier: GPL-2.0
/*
 * Looks into made maple trees, kmod/maple.h: of random shape, and with nodes that are dead, unknown
 * or lead in circles.  That the kernel's trees are of this form, the module sees when it is loaded.
 */
#include <limits.h>
#include <stdlib.h>

#include "kernel.h"
#include "kselftest.h"
#include "random.h"

static unsigned int barriers;
#undef smp_rmb
#define smp_rmb()	((void)barriers++)

#include "maple.h"

#define NODES	4096
#define ENTRIES	4096

static struct maple_node nodes[NODES];
static unsigned int nr_nodes;

/* What the tree has, in order; of entry i the last index. */
static struct { unsigned long max; void *entry; } entries[ENTRIES];
static unsigned int nr_entries;

static void *enode(const struct maple_node *node, enum maple_type type)
{
	return (void *)((unsigned long)node | type << MAPLE_NODE_TYPE_SHIFT | MAPLE_ROOT_IS_NODE);
}

static struct maple_node *new_node(enum maple_type type, unsigned long **pivots, void ***slots,
				   unsigned int *room)
{
	struct maple_node *node = &nodes[nr_nodes++];
	bool is_arange = type == maple_arange_64;

	memset(node, 0, sizeof(*node));
	/* Another node's address: it is in the tree. */
	node->parent = (void *)((unsigned long)(node + 1) | 6);
	*pivots = is_arange ? node->ma64.pivot : node->mr64.pivot;
	*slots = is_arange ? node->ma64.slot : node->mr64.slot;
	*room = is_arange ? MAPLE_ARANGE64_SLOTS : MAPLE_RANGE64_SLOTS;
	return node;
}

/* A subtree for indices from *@next to @max. */
static void *build(unsigned int level, unsigned long *next, unsigned long max)
{
	enum maple_type type = !level ? maple_leaf_64 :
			       random_below(2) ? maple_range_64 : maple_arange_64;
	unsigned int i, n, room;
	unsigned long *pivots;
	void **slots;
	struct maple_node *node = new_node(type, &pivots, &slots, &room);

	n = 2 + random_below(room - 1);
	for (i = 0; i < n; i++) {
		unsigned long left = max - *next;
		bool last = i == n - 1 || left < 2 * ENTRIES;
		unsigned long end = last ? max : *next + 1 + random_u64() % (left / (n - i));

		if (!level) {
			slots[i] = random_below(3) ? (void *)(0x1000ul * (nr_entries + 1)) : NULL;
			entries[nr_entries].entry = slots[i];
			entries[nr_entries++].max = end;
		} else {
			slots[i] = build(level - 1, next, end);
		}
		/* The last slot in use may have a pivot, or none. */
		if (i < room - 1)
			pivots[i] = last && (i == room - 2 || random_below(2)) ? 0 : end;
		*next = end + 1;
		if (last)
			break;
	}
	return enode(node, type);
}

static void *tree(unsigned int height)
{
	unsigned long next = 0;

	nr_nodes = nr_entries = 0;
	return build(height, &next, ULONG_MAX);
}

static bool is_found(const void *root, unsigned long index, unsigned int entry)
{
	unsigned long min = entry ? entries[entry - 1].max + 1 : 0;
	struct bee_maple_found found;

	return bee_maple_look(root, index, false, &found) && found.entry == entries[entry].entry &&
	       found.min == min && found.max == entries[entry].max;
}

/* At its first and last index, and at one between. */
static bool all_found(const void *root)
{
	unsigned long min = 0, max;
	unsigned int i;

	for (i = 0; i < nr_entries; i++, min = max + 1) {
		max = entries[i].max;
		if (!is_found(root, min, i) || !is_found(root, max, i) ||
		    !is_found(root, min + (max - min) / 2, i))
			return false;
	}
	return true;
}

static bool is_exact(void)
{
	int i;

	for (i = 0; i < 400; i++)
		if (!all_found(tree(i % 3)))
			return false;
	return true;
}

/* With each node of the tree dead in turn: what is below it is not found, and all else is. */
static bool dead_is_refused(void)
{
	void *root = tree(2);
	struct bee_maple_found found;
	unsigned int i, dead, refused, all = 0;

	for (dead = 0; dead < nr_nodes; dead++) {
		void *parent = nodes[dead].parent;

		nodes[dead].parent = &nodes[dead];
		for (i = 0, refused = 0; i < nr_entries; i++) {
			refused += !bee_maple_look(root, entries[i].max, false, &found);
			if (!bee_maple_look(root, entries[i].max, true, &found) ||
			    found.entry != entries[i].entry)
				return false;
		}
		/* The root is the first. */
		if (!refused || (!dead && refused != nr_entries))
			return false;
		nodes[dead].parent = parent;
		all += refused;
	}
	return all == 3 * nr_entries && all_found(root);
}

/* Whether what was found is there is another question, with another answer once a writer was at work. */
static bool change_is_noticed(void)
{
	void *root = tree(2), *other = &root;
	struct bee_maple_found found;
	unsigned int i, wrong = 0;

	for (i = 0; i < nr_entries; i++) {
		struct maple_node *leaf;
		void *parent;

		wrong += !bee_maple_look(root, entries[i].max, false, &found) || !bee_maple_has(&found, false);
		leaf = (struct maple_node *)found.node;
		parent = leaf->parent;
		leaf->parent = leaf;
		wrong += bee_maple_has(&found, false) || !bee_maple_has(&found, true);
		leaf->parent = parent;
		*(void **)found.slot = other;
		wrong += bee_maple_has(&found, false) || bee_maple_has(&found, true);
		*(void **)found.slot = found.entry;
	}
	return !wrong && all_found(root);
}

static bool unknown_is_refused(void)
{
	struct bee_maple_found found;
	unsigned int type;

	tree(1);
	for (type = 0; type <= MAPLE_NODE_TYPE_MASK; type++)
		if ((type == maple_dense || type > maple_arange_64) &&
		    bee_maple_look(enode(nodes, type), 0, true, &found))
			return false;
	return true;
}

static bool circle_ends(void)
{
	struct bee_maple_found found;

	tree(1);
	nodes[0].mr64.pivot[0] = ULONG_MAX;
	nodes[0].mr64.slot[0] = enode(nodes, maple_range_64);
	barriers = 0;
	return !bee_maple_look(enode(nodes, maple_range_64), 0, true, &found) &&
	       barriers == 16;
}

static bool empty_is_empty(void)
{
	struct bee_maple_found found;

	return bee_maple_look(NULL, 5, false, &found) && !found.entry &&
	       bee_maple_look((void *)0x1000, 5, false, &found) && !found.entry;
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(6);
	ksft_test_result(is_exact(), "each entry of 400 random maple trees is found with its bounds\n");
	ksft_test_result(dead_is_refused(), "a look through a dead node fails, unless it may go on\n");
	ksft_test_result(change_is_noticed(), "an entry is not there any longer if its leaf is dead or its slot has another\n");
	ksft_test_result(unknown_is_refused(), "a node of an unknown type is not followed\n");
	ksft_test_result(circle_ends(), "a look that goes in circles ends after 16 nodes\n");
	ksft_test_result(empty_is_empty(), "a tree without a node has nothing\n");
	ksft_finished();
}
