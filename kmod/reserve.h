/* SPDX-License-Identifier: GPL-2.0 */
/* The reserve: memory for callbacks, which with PREEMPT_RT may not ask the allocator. */
#ifndef BEE_RESERVE_H
#define BEE_RESERVE_H

#include <linux/list.h>
#include <linux/slab.h>
#include <linux/spinlock_types.h>
#include <linux/types.h>

#include "compat.h"

/**
 * struct bee_reserve - objects of one size that are kept for callbacks
 * @size: bytes of each
 * @most: how many are kept
 * @cache: where they are from; NULL: from kmalloc()
 * @lock: of @first and @nr
 * @first: the first one; each begins with a pointer to the next
 * @nr: how many are there (@lock, READ_ONCE() for reading)
 * @node: in the list of those that the worker fills
 */
struct bee_reserve {
	size_t			 size;
	u32			 most;
	struct kmem_cache	*cache;
	raw_spinlock_t		 lock;
	void			*first;
	u32			 nr;
	struct list_head	 node;
};

#if BEE_COMPAT_RT
void bee_reserve_init(void);
void bee_reserve_exit(void);
#else
static inline void bee_reserve_init(void) { }
static inline void bee_reserve_exit(void) { }
#endif

/* Called only where BEE_COMPAT_RT is true; the compiler leaves out other calls. */
void bee_reserve_start(struct bee_reserve *r);
void bee_reserve_stop(struct bee_reserve *r);
void *bee_reserve_take(struct bee_reserve *r);
void *bee_reserve_take_bytes(size_t size);

/**
 * bee_reserve_is_for() - whether an allocation must come from a reserve
 * @gfp: its flags; GFP_NOWAIT: for a callback
 *
 * Context: Any.
 * Return: false on kernels where a callback may call the allocator.
 */
static inline bool bee_reserve_is_for(gfp_t gfp)
{
	return BEE_COMPAT_RT && gfp == GFP_NOWAIT;
}

/**
 * bee_reserve_alloc() - as kmalloc(), also for callbacks
 * @size: bytes
 * @gfp: GFP_KERNEL and its like, or GFP_NOWAIT in a callback
 *
 * Who frees it in a callback does so by kfree_rcu() or call_rcu().
 *
 * Context: Any but NMI, or as @gfp says.
 * Return: the memory, which kfree() frees, or NULL.
 */
static inline void *bee_reserve_alloc(size_t size, gfp_t gfp)
{
	if (bee_reserve_is_for(gfp))
		return bee_reserve_take_bytes(size);
	return kmalloc(size, gfp | __GFP_NOWARN);
}

#endif /* BEE_RESERVE_H */
