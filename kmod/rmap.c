// SPDX-License-Identifier: GPL-2.0
/*
 * The reverse map: from a file to the address spaces that have it mapped.
 *
 * Each range of a map has a node, which is in the list of its file and leads to the map, and from
 * there to the address spaces that have it.  The node is linked before the range is published and
 * unlinked after it was replaced.  So under RCU the list of a file leads to all address spaces that
 * have it mapped, and perhaps to others: whoever needs certainty looks into their maps.  An address
 * space that gets another map meanwhile may be missed; bee_mm_list_users() notices that.
 *
 * A change touches only the nodes of ranges that come or go.  A forked address space joins those
 * that have the parent's map, and nothing else is done.  The first of them that changes its ranges
 * gets a copy of the map, with new nodes: once for each fork this takes time for all ranges.
 *
 * The file is charged to the user of one of the ranges in its list: the first that came, or one
 * that bee_file_move() has chosen.  When that range is removed another takes its place.  So nobody
 * pays for a file that he does not have mapped, but for a moment (bee_mm_drop_gone()), and this
 * takes as long however many users it has.
 *
 * Locks: @rmap_lock of a file, for its list and for who pays.  It is inside of file_user_lock, and
 * only payer_lock is inside of it.  Callers need hold none.  It is held for one node at a time,
 * with preemption off.
 */
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "file.h"
#include "news.h"
#include "reserve.h"
#include "rmap.h"

/* Not kmalloc(), which would round a node of 24 bytes up to 32. */
static struct kmem_cache *rmap_nodes;
static struct bee_reserve rmap_reserve = { .size = sizeof(struct bee_rmap_node), .most = 4096 };

/* The range that has @node is to pay for @f.  Return: whether that is another user. */
static bool rmap_set_paying(struct bee_file *f, const struct bee_rmap_node *node)
{
	lockdep_assert_held(&f->rmap_lock);
	f->paying = node ? &node->in_file : NULL;
	f->due = node ? node->map->payer : NULL;
	return f->due && f->due != READ_ONCE(f->payer);
}

/* Another user, who may have room for its table, has it mapped: it may be announced again. */
static void rmap_has_other(struct bee_file *f)
{
	lockdep_assert_held(&f->rmap_lock);
	if (!f->refused)
		return;
	f->refused = false;
	bee_news_reset(f);
}

/**
 * bee_rmap_set_refused() - note whether the table of a file has been refused
 * @f: the file
 * @refused: no user who has it mapped has room for the table: then, when another user maps the
 *	file, it may be announced again
 *
 * Context: Any but NMI.
 */
void bee_rmap_set_refused(struct bee_file *f, bool refused)
{
	raw_spin_lock(&f->rmap_lock);
	f->refused = refused;
	raw_spin_unlock(&f->rmap_lock);
}

/**
 * bee_rmap_link() - enter a range into the list of its file
 * @f: the file; the caller holds a reference until after bee_rmap_unlink()
 * @map: the map that has the range, or will; the same
 * @gfp: GFP_KERNEL_ACCOUNT, or GFP_NOWAIT in a callback
 *
 * The caller charges the node, as it has many at a time.
 *
 * Context: Any but NMI, or as @gfp says.
 * Return: the node, or NULL: out of memory.
 */
struct bee_rmap_node *bee_rmap_link(struct bee_file *f, struct bee_map *map, gfp_t gfp)
{
	struct bee_rmap_node *node;
	bool moves = false;

	if (bee_reserve_is_for(gfp))
		node = bee_reserve_take(&rmap_reserve);
	else
		node = kmem_cache_alloc(rmap_nodes, gfp | __GFP_NOWARN);
	if (!node)
		return NULL;
	node->map = map;
	raw_spin_lock(&f->rmap_lock);
	hlist_add_head_rcu(&node->in_file, &f->rmap);
	if (map->payer != f->due)
		rmap_has_other(f);
	/* The file that stands for unknown ones is nobody's. */
	if (!f->paying && f != &bee_file_unknown)
		moves = rmap_set_paying(f, node);
	raw_spin_unlock(&f->rmap_lock);
	if (moves)
		bee_file_hand_on(f);
	return node;
}

/**
 * bee_rmap_unlink() - take a range out of the list of its file
 * @f: the file
 * @node: from bee_rmap_link(); bee_rmap_free() is to follow a grace period later
 *
 * Context: Any but NMI.
 */
void bee_rmap_unlink(struct bee_file *f, struct bee_rmap_node *node)
{
	bool moves = false;

	raw_spin_lock(&f->rmap_lock);
	hlist_del_init_rcu(&node->in_file);
	if (f->paying == &node->in_file)
		moves = rmap_set_paying(f, hlist_entry_safe(f->rmap.first, struct bee_rmap_node,
							    in_file));
	if (moves)
		rmap_has_other(f);
	raw_spin_unlock(&f->rmap_lock);
	if (moves)
		bee_file_hand_on(f);
}

/** bee_rmap_free() - free an unlinked node.  Context: Any but NMI. */
void bee_rmap_free(struct bee_rmap_node *node)
{
	kmem_cache_free(rmap_nodes, node);
}

/**
 * bee_rmap_init() - prepare memory for nodes
 *
 * Context: Process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int bee_rmap_init(void)
{
	rmap_nodes = kmem_cache_create("beeunwind_rmap", sizeof(struct bee_rmap_node), 0, 0, NULL);
	if (!rmap_nodes)
		return -ENOMEM;
	rmap_reserve.cache = rmap_nodes;
	if (BEE_COMPAT_RT)
		bee_reserve_start(&rmap_reserve);
	return 0;
}

/** bee_rmap_exit() - there are no maps any more.  Context: Process, may sleep. */
void bee_rmap_exit(void)
{
	/* Nodes are freed by RCU callbacks of chunks. */
	rcu_barrier();
	if (BEE_COMPAT_RT)
		bee_reserve_stop(&rmap_reserve);
	kmem_cache_destroy(rmap_nodes);
}
