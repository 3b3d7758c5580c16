// SPDX-License-Identifier: GPL-2.0
/*
 * The budget: how many bytes the module keeps, and how many it may keep.
 *
 * What lasts and grows with users' processes and files is charged here, but for what the kernel's
 * hashes and xarrays take of it.  Most is freed, and uncharged, by RCU callbacks.  The memory to
 * reclaim is not known here: see struct bee_budget_reclaim.
 */
#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/workqueue.h>

#include "budget.h"
#include "compat.h"

static DEFINE_MUTEX(budget_mutex);	/* held during reclaim, outside of the locks it takes */
static u64 budget_limit;		/* written under budget_mutex */
static atomic64_t budget_bytes[BEE_BUDGET_KINDS];
static atomic64_t budget_sum;		/* of budget_bytes */
static const struct bee_budget_reclaim *budget_reclaim;
static struct workqueue_struct *budget_wq;

/** bee_budget_limit() - most bytes that may be charged.  Context: Any. */
u64 bee_budget_limit(void)
{
	return READ_ONCE(budget_limit);
}

/** bee_budget_used() - bytes charged for one kind.  Context: Any. */
u64 bee_budget_used(enum bee_budget_kind kind)
{
	return atomic64_read(&budget_bytes[kind]);
}

static u64 budget_total(void)
{
	return atomic64_read(&budget_sum);
}

static bool budget_fits(u64 bytes, u64 limit)
{
	return budget_total() + bytes <= limit;
}

/* Free an eighth of the limit beyond @bytes, so that the next requests need not reclaim. */
static void budget_evict(u64 bytes, u64 limit)
{
	u64 low = limit - limit / 8, total = budget_total();

	lockdep_assert_held(&budget_mutex);
	if (total + bytes > low)
		budget_reclaim->evict(total + bytes - low);
	rcu_barrier();
}

/* Evicts nothing unless that makes room for @bytes. */
static bool budget_make_room(u64 bytes, u64 limit)
{
	lockdep_assert_held(&budget_mutex);
	if (budget_fits(bytes, limit))
		return true;
	/* Bytes that only wait for their grace period. */
	rcu_barrier();
	if (budget_fits(bytes, limit))
		return true;
	if (budget_total() + bytes > limit + budget_reclaim->evictable())
		return false;
	budget_evict(bytes, limit);
	return budget_fits(bytes, limit);
}

static void budget_over_work(struct work_struct *work)
{
	mutex_lock(&budget_mutex);
	rcu_barrier();
	if (!budget_fits(0, budget_limit))
		budget_evict(0, budget_limit);
	mutex_unlock(&budget_mutex);
}

static DECLARE_WORK(budget_over, budget_over_work);

/*
 * Charge, and queue reclaim if this charge crosses the limit, or if it is above and something is
 * evictable: what was in use when the limit was crossed may be idle now.
 *
 * Return: the sum of all charges.
 */
static u64 budget_add(enum bee_budget_kind kind, u64 bytes)
{
	u64 limit = bee_budget_limit(), total;

	atomic64_add(bytes, &budget_bytes[kind]);
	total = atomic64_add_return(bytes, &budget_sum);
	if (total > limit && (total - bytes <= limit || budget_reclaim->evictable()))
		queue_work(budget_wq, &budget_over);
	return total;
}

/* Charge, unless that would exceed the limit by more than @over. */
static bool budget_add_within(enum bee_budget_kind kind, u64 bytes, u64 over)
{
	u64 limit = bee_budget_limit(), total = budget_add(kind, bytes);

	if (total <= limit || total - limit <= over)
		return true;
	bee_budget_uncharge(kind, bytes);
	return false;
}

static int budget_refuse(u64 bytes, u64 limit, struct netlink_ext_ack *extack)
{
	u64 total = budget_total();
	u64 available = budget_reclaim->evictable() + limit - min(total, limit);

	NL_SET_ERR_MSG_FMT(extack, "over budget: %llu bytes needed, %llu of %llu available",
			   bytes, min(available, limit), limit);
	return -ENOSPC;
}

/**
 * bee_budget_charge() - charge bytes for a request, after reclaim if necessary
 * @kind: what they are for
 * @bytes: how many
 * @extack: the reason of a refusal
 *
 * Context: Process, may sleep.
 * Return: 0, or -ENOSPC and nothing is charged.
 */
int bee_budget_charge(enum bee_budget_kind kind, u64 bytes, struct netlink_ext_ack *extack)
{
	bool fits;
	u64 limit;

	mutex_lock(&budget_mutex);
	limit = budget_limit;
	fits = budget_make_room(bytes, limit);
	if (fits)
		budget_add(kind, bytes);
	mutex_unlock(&budget_mutex);
	return fits ? 0 : budget_refuse(bytes, limit, extack);
}

/**
 * bee_budget_charge_nowait() - charge bytes for a callback, which cannot wait for reclaim
 * @kind: what they are for
 * @bytes: how many
 *
 * May exceed the limit by an eighth, so that idle tables which fill the budget do not stop
 * processes from being followed.  Reclaim runs afterwards.
 *
 * Context: Any but NMI.
 * Return: true, or false and nothing is charged.
 */
bool bee_budget_charge_nowait(enum bee_budget_kind kind, u64 bytes)
{
	return budget_add_within(kind, bytes, bee_budget_limit() / 8);
}

/**
 * bee_budget_charge_reserve() - charge bytes that a reserve has set apart
 * @kind: what they are for
 * @bytes: how many
 *
 * As bee_budget_charge_nowait(), but may exceed the limit by a quarter: for the few bytes without
 * which a process would be lost for good.
 *
 * Context: Any but NMI.
 * Return: true, or false and nothing is charged.
 */
bool bee_budget_charge_reserve(enum bee_budget_kind kind, u64 bytes)
{
	return budget_add_within(kind, bytes, bee_budget_limit() / 4);
}

/**
 * bee_budget_charge_fixed() - charge bytes without which the module does not work
 * @kind: what they are for
 * @bytes: how many
 *
 * Never refused.  If these charges alone exceed the limit, all other charges are refused.
 *
 * Context: Any.
 */
void bee_budget_charge_fixed(enum bee_budget_kind kind, u64 bytes)
{
	atomic64_add(bytes, &budget_bytes[kind]);
	atomic64_add(bytes, &budget_sum);
}

/** bee_budget_uncharge() - give bytes back.  Context: Any. */
void bee_budget_uncharge(enum bee_budget_kind kind, u64 bytes)
{
	atomic64_sub(bytes, &budget_bytes[kind]);
	atomic64_sub(bytes, &budget_sum);
}

/**
 * bee_budget_set_limit() - change the budget, after reclaim if necessary
 * @limit: bytes
 * @extack: the reason of a refusal
 *
 * Context: Process, may sleep.
 * Return: 0, or -ENOSPC and nothing changes: more than @limit is in use.
 */
int bee_budget_set_limit(u64 limit, struct netlink_ext_ack *extack)
{
	int ret = 0;

	mutex_lock(&budget_mutex);
	/* Room first: meanwhile callbacks, which cannot wait for it, go by the old limit. */
	if (budget_make_room(0, limit))
		WRITE_ONCE(budget_limit, limit);
	else
		ret = budget_refuse(budget_total(), limit, extack);
	mutex_unlock(&budget_mutex);
	return ret;
}

/** bee_budget_init() - the first limit, and how and where to reclaim memory.  Context: Process. */
void bee_budget_init(u64 limit, const struct bee_budget_reclaim *reclaim,
		     struct workqueue_struct *wq)
{
	budget_limit = limit;
	budget_reclaim = reclaim;
	budget_wq = wq;
}

/** bee_budget_exit() - wait for reclaim; nothing is charged any more.  Context: Process, sleeps. */
void bee_budget_exit(void)
{
	cancel_work_sync(&budget_over);
}
