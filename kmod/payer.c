// SPDX-License-Identifier: GPL-2.0
/*
 * Payers: how much of the budget each user has, and may have.
 *
 * Address spaces with their ranges, and files with their tables while they are mapped, are charged
 * to the budget and to the user whose process has brought them.  A user may have a share of what
 * the others leave.  With a share of 50 percent one greedy user gets half of the budget, a second
 * one a quarter, and so on.  An eighth of the budget is root's alone, as one user can be many
 * payers: newuidmap(1) lets a user make a set-user-ID program of each of thousands of uids, and run
 * it outside of any namespace.  Without that eighth they would leave root nothing.
 *
 * In the initial user namespace the user is the real uid of the process.  In other namespaces uids
 * cost nothing (newuidmap(1) gives each user thousands), so there the user is the one who has made
 * the namespace, or if namespaces are nested the outermost of them.
 *
 * Root is limited by the budget only.  A file that only requests use, and its table, are charged to
 * no user: whoever may send requests may also load modules or read all processes.
 *
 * A payer exists while anything is charged to it.  An address space without one would be charged to
 * nobody, so if there is no memory for its payer it is not managed.
 */
#include <linux/cred.h>
#include <linux/pid.h>
#include <linux/rbtree.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>

#include "payer.h"
#include "reserve.h"

/* Nothing is taken inside.  RCU callbacks take it too, so interrupts are off. */
static DEFINE_RAW_SPINLOCK(payer_lock);
static struct rb_root payers = RB_ROOT;			/* by uid; payer_lock */
static atomic64_t payer_sum;				/* bytes of all payers */
static unsigned int payer_share = 50;			/* percent; see bee_payer_share() */

/*
 * In a user namespace its maker pays, as uids cost nothing there.  Root makes them for containers,
 * and may have the whole budget: there the user pays that is root in the container.  If that is the
 * host's root, or the container has no root, each user pays for itself.
 */
static kuid_t payer_uid(const struct cred *cred)
{
	struct user_namespace *ns = cred->user_ns, *outermost = NULL;
	kuid_t uid = cred->uid;

	while (ns != &init_user_ns) {
		outermost = ns;
		uid = ns->owner;
		ns = ns->parent;
	}
	if (outermost && uid_eq(uid, GLOBAL_ROOT_UID)) {
		kuid_t root = make_kuid(outermost, 0);

		/*
		 * Its root is the host's root: its uids are the host's (PrivateUsers= of systemd).
		 * It has no root: it is a sandbox, or its maker has not mapped uids yet and pays.
		 */
		uid = uid_valid(root) && !uid_eq(root, GLOBAL_ROOT_UID) ? root : cred->uid;
	}
	return uid;
}

/* Finds the payer whose uid is the lowest that is not below @uid.  NULL: there is none. */
static struct bee_payer *payer_from(u32 uid)
{
	struct rb_node *node = payers.rb_node;
	struct bee_payer *found = NULL;

	lockdep_assert_held(&payer_lock);
	while (node) {
		struct bee_payer *payer = rb_entry(node, struct bee_payer, by_uid);

		if (payer->uid >= uid) {
			found = payer;
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	return found;
}

static struct bee_payer *payer_find(u32 uid)
{
	struct bee_payer *payer = payer_from(uid);

	return payer && payer->uid == uid ? payer : NULL;
}

static bool payer_less(struct rb_node *a, const struct rb_node *b)
{
	const struct bee_payer *left = rb_entry(a, struct bee_payer, by_uid);
	const struct bee_payer *right = rb_entry(b, struct bee_payer, by_uid);

	return left->uid < right->uid;
}

static struct bee_payer *payer_get(kuid_t kuid, gfp_t gfp)
{
	u32 uid = __kuid_val(kuid);
	struct bee_payer *payer, *fresh;
	unsigned long flags;

	raw_spin_lock_irqsave(&payer_lock, flags);
	payer = bee_payer_hold(payer_find(uid));
	raw_spin_unlock_irqrestore(&payer_lock, flags);
	if (payer)
		return payer;
	fresh = bee_reserve_alloc(sizeof(*fresh), gfp);
	if (!fresh)
		return NULL;
	*fresh = (struct bee_payer) { .uid = uid, .refs = REFCOUNT_INIT(1) };
	raw_spin_lock_irqsave(&payer_lock, flags);
	payer = bee_payer_hold(payer_find(uid));
	if (!payer)
		rb_add(&fresh->by_uid, &payers, payer_less);
	raw_spin_unlock_irqrestore(&payer_lock, flags);
	if (!payer)
		return fresh;
	kfree_rcu(fresh, rcu);
	return payer;
}

/**
 * bee_payer_get_current() - who pays for what the current process brings
 * @gfp: GFP_KERNEL, or GFP_NOWAIT in a callback
 *
 * Context: Any but NMI, or as @gfp says.
 * Return: the payer with a reference, or NULL: out of memory.
 */
struct bee_payer *bee_payer_get_current(gfp_t gfp)
{
	return payer_get(payer_uid(current_cred()), gfp);
}

/**
 * bee_payer_get_pid() - who pays for what a process brings
 * @pid: the process
 *
 * Context: Process, may sleep.
 * Return: the payer with a reference; -ESRCH: the process has ended, -ENOMEM.
 */
struct bee_payer *bee_payer_get_pid(struct pid *pid)
{
	struct task_struct *task;
	kuid_t uid = INVALID_UID;

	rcu_read_lock();
	task = pid_task(pid, PIDTYPE_PID);
	if (task)
		uid = payer_uid(__task_cred(task));
	rcu_read_unlock();
	/* Not root instead: another process can have the same memory, and would have no share. */
	if (!task)
		return ERR_PTR(-ESRCH);
	return payer_get(uid, GFP_KERNEL) ?: ERR_PTR(-ENOMEM);
}

/** bee_payer_put() - drop a reference; @payer may be NULL.  Context: Any but NMI. */
void bee_payer_put(struct bee_payer *payer)
{
	unsigned long flags;
	bool last;

	if (!payer || refcount_dec_not_one(&payer->refs))
		return;
	raw_spin_lock_irqsave(&payer_lock, flags);
	last = refcount_dec_and_test(&payer->refs);
	if (last)
		rb_erase(&payer->by_uid, &payers);
	raw_spin_unlock_irqrestore(&payer_lock, flags);
	if (!last)
		return;
	WARN_ON_ONCE(atomic64_read(&payer->bytes));
	kfree_rcu(payer, rcu);
}

/** bee_payer_share() - percent that a user may have of what the others leave.  Context: Any. */
unsigned int bee_payer_share(void)
{
	return READ_ONCE(payer_share);
}

/**
 * bee_payer_set_share() - change the share; what is charged stays
 * @percent: 1 to 100
 *
 * Context: Any.
 */
void bee_payer_set_share(unsigned int percent)
{
	WRITE_ONCE(payer_share, percent);
}

/* The most that users can have together, beside root. */
static u64 payer_limit(void)
{
	return bee_budget_limit() - bee_budget_limit() / 8;
}

/* The most that a payer may have, while the others have as much as they do now. */
static u64 payer_most(const struct bee_payer *payer, u64 bytes, u64 sum)
{
	u64 limit = payer_limit(), others = sum - min(sum, bytes);

	if (uid_eq(KUIDT_INIT(payer->uid), GLOBAL_ROOT_UID))
		return U64_MAX / 2;	/* so that payer_add() can multiply it */
	return div_u64(limit - min(limit, others), 100) * bee_payer_share();
}

/* Whether a payer may have @own bytes, so many @percent of its share, if all have @sum then. */
static bool payer_may_have(const struct bee_payer *payer, u64 own, u64 sum, unsigned int percent)
{
	u64 most = payer_most(payer, own, sum);

	return own <= most / 100 * percent && (own <= most || sum <= payer_limit());
}

static bool payer_has_room(const struct bee_payer *payer, u64 bytes, unsigned int percent)
{
	return payer_may_have(payer, atomic64_read(&payer->bytes) + bytes,
			      atomic64_read(&payer_sum) + bytes, percent);
}

/*
 * Charge @bytes if the payer then has no more than so many @percent of its share.
 *
 * While they are added, other payers have so much less, and may be refused.  So look first whether
 * there is room.  Another CPU can charge after that look: so look again when they are added, as each
 * of the two then sees what the other has added.
 */
static bool payer_add(struct bee_payer *payer, u64 bytes, unsigned int percent)
{
	u64 own, sum;

	if (!payer)
		return true;
	if (payer_has_room(payer, bytes, percent)) {
		own = atomic64_add_return(bytes, &payer->bytes);
		sum = atomic64_add_return(bytes, &payer_sum);
		if (payer_may_have(payer, own, sum, percent))
			return true;
		bee_payer_uncharge(payer, bytes);
	}
	atomic64_inc(&payer->refused);
	return false;
}

/**
 * bee_payer_has_room() - whether a user's share has room
 * @payer: the user; NULL: nobody pays
 * @bytes: for how much more
 *
 * Charges nothing.  A user without room is counted as refused, as by bee_payer_charge().
 *
 * Context: Any but NMI.
 * Return: whether there is room now.
 */
bool bee_payer_has_room(struct bee_payer *payer, u64 bytes)
{
	if (!payer || payer_has_room(payer, bytes, 100))
		return true;
	atomic64_inc(&payer->refused);
	return false;
}

/**
 * bee_payer_charge() - charge bytes to a user, within its share
 * @payer: the user; NULL, for files only: nobody pays
 * @bytes: how many
 *
 * Context: Any but NMI.
 * Return: true, or false and nothing is charged.
 */
bool bee_payer_charge(struct bee_payer *payer, u64 bytes)
{
	return payer_add(payer, bytes, 100);
}

/**
 * bee_payer_charge_reserve() - charge bytes to a user, up to a quarter beyond its share
 * @payer: the user
 * @bytes: how many, of what bee_budget_charge_reserve() is for
 *
 * Context: Any but NMI.
 * Return: true, or false and nothing is charged.
 */
bool bee_payer_charge_reserve(struct bee_payer *payer, u64 bytes)
{
	return payer_add(payer, bytes, 125);
}

/**
 * bee_payer_charge_spare() - charge bytes to a user if a quarter of its share stays free
 * @payer: the user
 * @bytes: how many, for something that the user can do without
 *
 * Context: Any but NMI.
 * Return: true, or false and nothing is charged.  That is counted as a refusal only if there was
 * room until another CPU charged the same user.
 */
bool bee_payer_charge_spare(struct bee_payer *payer, u64 bytes)
{
	return payer_has_room(payer, bytes, 75) && payer_add(payer, bytes, 75);
}

/** bee_payer_charge_fixed() - as bee_payer_charge(), but not refused.  Context: Any but NMI. */
void bee_payer_charge_fixed(struct bee_payer *payer, u64 bytes)
{
	if (!payer)
		return;
	atomic64_add(bytes, &payer->bytes);
	atomic64_add(bytes, &payer_sum);
}

/** bee_payer_uncharge() - give bytes back; @payer may be NULL.  Context: Any but NMI. */
void bee_payer_uncharge(struct bee_payer *payer, u64 bytes)
{
	if (!payer)
		return;
	atomic64_sub(bytes, &payer->bytes);
	atomic64_sub(bytes, &payer_sum);
}

/**
 * bee_payer_charge_mm() - charge bytes of an address space to its user and to the budget
 * @payer: the user
 * @bytes: how many
 *
 * Context: Any but NMI.
 * Return: as bee_budget_charge_nowait().
 */
bool bee_payer_charge_mm(struct bee_payer *payer, u64 bytes)
{
	if (!bee_payer_charge(payer, bytes))
		return false;
	if (bee_budget_charge_nowait(BEE_BUDGET_MMS, bytes))
		return true;
	bee_payer_uncharge(payer, bytes);
	return false;
}

/** bee_payer_uncharge_mm() - give back what bee_payer_charge_mm() charged.  Context: as there. */
void bee_payer_uncharge_mm(struct bee_payer *payer, u64 bytes)
{
	bee_budget_uncharge(BEE_BUDGET_MMS, bytes);
	bee_payer_uncharge(payer, bytes);
}

/**
 * bee_payer_next() - find the payer whose uid is the lowest that is not below a given one
 * @uid: the given one
 * @state: filled
 *
 * Context: Process.
 * Return: whether there is one.
 */
bool bee_payer_next(u32 uid, struct bee_payer_state *state)
{
	const struct bee_payer *payer;
	unsigned long flags;

	raw_spin_lock_irqsave(&payer_lock, flags);
	payer = payer_from(uid);
	if (payer) {
		state->uid = payer->uid;
		state->bytes = atomic64_read(&payer->bytes);
		state->refused = atomic64_read(&payer->refused);
		state->most = min(payer_most(payer, state->bytes, atomic64_read(&payer_sum)),
				  bee_budget_limit());
	}
	raw_spin_unlock_irqrestore(&payer_lock, flags);
	return payer;
}

/** bee_payer_exit() - nothing is charged any more.  Context: Process. */
void bee_payer_exit(void)
{
	WARN_ON(!RB_EMPTY_ROOT(&payers) || atomic64_read(&payer_sum));
}
