// SPDX-License-Identifier: GPL-2.0
/*
 * The budget: every byte that the module keeps, and how many there may be.  Only
 * counts; store.c is who makes room.
 */
#include <linux/atomic.h>
#include <linux/workqueue.h>

#include "budget.h"

static u64 budget_limit;
static atomic64_t budget_bytes[BEE_BUDGET_KINDS];
static struct work_struct *budget_over;

/**
 * bee_budget_init() - begin with nothing
 * @limit: bytes
 * @over: to be run when a callback has gone beyond the limit
 *
 * Context: Process.
 */
void bee_budget_init(u64 limit, struct work_struct *over)
{
	budget_limit = limit;
	budget_over = over;
}

/** bee_budget_limit() - bytes that there may be.  Context: Any. */
u64 bee_budget_limit(void)
{
	return READ_ONCE(budget_limit);
}

/** bee_budget_set_limit() - whether they are there or not.  Context: Process. */
void bee_budget_set_limit(u64 limit)
{
	WRITE_ONCE(budget_limit, limit);
}

/** bee_budget_used() - bytes of one kind.  Context: Any. */
u64 bee_budget_used(enum bee_budget_kind kind)
{
	return atomic64_read(&budget_bytes[kind]);
}

/** bee_budget_total() - bytes of all kinds.  Context: Any. */
u64 bee_budget_total(void)
{
	return bee_budget_used(BEE_BUDGET_FILES) + bee_budget_used(BEE_BUDGET_MMS);
}

/** bee_budget_fits() - whether there is room for so many more.  Context: Any. */
bool bee_budget_fits(u64 bytes)
{
	return bee_budget_total() + bytes <= bee_budget_limit();
}

/** bee_budget_add() - count bytes for which there is room.  Context: Any. */
void bee_budget_add(enum bee_budget_kind kind, u64 bytes)
{
	atomic64_add(bytes, &budget_bytes[kind]);
}

/** bee_budget_uncharge() - count bytes as given back.  Context: Any. */
void bee_budget_uncharge(enum bee_budget_kind kind, u64 bytes)
{
	atomic64_sub(bytes, &budget_bytes[kind]);
}

/**
 * bee_budget_charge() - count bytes for a callback
 * @kind: what they are for
 * @bytes: how many
 *
 * Callbacks cannot wait for room to be made: they may go an eighth beyond the
 * limit, so that a store full of idle tables does not stop processes from being
 * followed.
 *
 * Context: Any but NMI.
 * Return: false if it does not fit; then nothing is counted.
 */
bool bee_budget_charge(enum bee_budget_kind kind, u64 bytes)
{
	u64 limit = bee_budget_limit(), total;

	bee_budget_add(kind, bytes);
	total = bee_budget_total();
	/* Once: if nothing can be evicted now, asking again and again does not help. */
	if (total > limit && total - bytes <= limit)
		queue_work(system_unbound_wq, budget_over);
	if (total <= limit || total - limit <= limit / 8)
		return true;
	bee_budget_uncharge(kind, bytes);
	return false;
}
