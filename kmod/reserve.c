// SPDX-License-Identifier: GPL-2.0
/*
 * The reserve: memory for callbacks, which with PREEMPT_RT may not ask the allocator.
 *
 * The callbacks of hook.c allocate with GFP_NOWAIT, and if that fails the address space loses its
 * ranges for a while (mm.c).  With PREEMPT_RT the allocator takes locks that sleep, and a callback
 * may have preemption off.  So there objects of a few sizes are kept for them, which a worker has
 * allocated before and replaces.  It preempts ordinary tasks, such as one that changes its mappings
 * all the time.  If none is left the allocation has failed.
 *
 * The reserves do not know what their objects are used for: these are ordinary objects of kmalloc()
 * or of a cache, freed like all others, and charged like all others, but not before they are used.
 *
 * On other kernels there are no reserves, and the compiler makes nothing of this file.
 */
#include <linux/log2.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "reserve.h"

#if BEE_COMPAT_RT
/* Sizes are powers of two.  The largest is that of an index of 500 chunks. */
#define RESERVE_SIZE_MIN	128
#define RESERVE_SIZES		7
/* Each size may have this many bytes, and so many objects at most. */
#define RESERVE_BYTES		(512 << 10)
#define RESERVE_MOST		256

static struct bee_reserve reserve_sizes[RESERVE_SIZES];
static LIST_HEAD(reserve_list);		/* changes only while nobody uses it */

static void reserve_free(const struct bee_reserve *r, void *object)
{
	if (r->cache)
		kmem_cache_free(r->cache, object);
	else
		kfree(object);
}

/* Return: the first object, or NULL. */
static void *reserve_pop(struct bee_reserve *r)
{
	void **object;

	raw_spin_lock(&r->lock);
	object = r->first;
	if (object) {
		r->first = *object;
		WRITE_ONCE(r->nr, r->nr - 1);
	}
	raw_spin_unlock(&r->lock);
	return object;
}

/* Allocate objects until @r has as many as it may have, or the allocator has no memory. */
static void reserve_fill(struct bee_reserve *r)
{
	const gfp_t gfp = GFP_KERNEL | __GFP_NOWARN;
	void **object;

	while (READ_ONCE(r->nr) < r->most) {
		object = r->cache ? kmem_cache_alloc(r->cache, gfp) : kmalloc(r->size, gfp);
		if (!object)
			return;
		raw_spin_lock(&r->lock);
		*object = r->first;
		r->first = object;
		WRITE_ONCE(r->nr, r->nr + 1);
		raw_spin_unlock(&r->lock);
	}
}

static void reserve_fill_work_fn(struct work_struct *work)
{
	struct bee_reserve *r;

	list_for_each_entry(r, &reserve_list, node)
		reserve_fill(r);
}

static DECLARE_WORK(reserve_fill_work, reserve_fill_work_fn);

/**
 * bee_reserve_start() - begin to keep objects
 * @r: @size, @most and @cache are set
 *
 * Context: Process, may sleep.  No callback runs yet.
 */
void bee_reserve_start(struct bee_reserve *r)
{
	raw_spin_lock_init(&r->lock);
	list_add_tail(&r->node, &reserve_list);
	reserve_fill(r);
}

/** bee_reserve_stop() - free what is kept.  Context: Process, may sleep.  No callback runs. */
void bee_reserve_stop(struct bee_reserve *r)
{
	void *object;

	cancel_work_sync(&reserve_fill_work);
	list_del(&r->node);
	while ((object = reserve_pop(r)))
		reserve_free(r, object);
}

/**
 * bee_reserve_take() - an object for a callback
 * @r: the reserve
 *
 * Context: Any but NMI; preemption may be off.
 * Return: the object, or NULL if none is left.
 */
void *bee_reserve_take(struct bee_reserve *r)
{
	void *object = reserve_pop(r);

	if (READ_ONCE(r->nr) < r->most / 4 * 3)
		queue_work(system_highpri_wq, &reserve_fill_work);
	return object;
}

/**
 * bee_reserve_take_bytes() - for bee_reserve_alloc(): an object of at least so many bytes
 * @size: the bytes
 *
 * Context: as bee_reserve_take().
 * Return: as bee_reserve_take().
 */
void *bee_reserve_take_bytes(size_t size)
{
	int i = order_base_2(max_t(size_t, size, RESERVE_SIZE_MIN)) - ilog2(RESERVE_SIZE_MIN);

	return i < RESERVE_SIZES ? bee_reserve_take(&reserve_sizes[i]) : NULL;
}

/** bee_reserve_init() - fill the reserves.  Context: Process, may sleep. */
void bee_reserve_init(void)
{
	struct bee_reserve *r;
	u32 i;

	for (i = 0; i < RESERVE_SIZES; i++) {
		r = &reserve_sizes[i];
		r->size = RESERVE_SIZE_MIN << i;
		r->most = min_t(u32, RESERVE_BYTES / r->size, RESERVE_MOST);
		bee_reserve_start(r);
	}
}

/** bee_reserve_exit() - free the reserves; no callback runs any more.  Context: Process, sleeps. */
void bee_reserve_exit(void)
{
	u32 i;

	for (i = 0; i < RESERVE_SIZES; i++)
		bee_reserve_stop(&reserve_sizes[i]);
}
#endif /* BEE_COMPAT_RT */
