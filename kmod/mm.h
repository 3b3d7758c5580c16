/* SPDX-License-Identifier: GPL-2.0 */
/* Managed address spaces: which ranges each one has. */
#ifndef BEE_MM_H
#define BEE_MM_H

#include <linux/hash.h>
#include <linux/mm_types.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <linux/beeunwind.h>

#include "ask.h"
#include "code_news.h"
#include "compat.h"
#include "map.h"
#include "tally.h"

struct bee_payer;
struct pid;

/**
 * struct bee_mm - a managed address space
 * @mm: the address space, with a reference of mmgrab() (I)
 * @pid: the process that was named when it became managed, or NULL (I)
 * @payer: to whom it and its ranges are charged, with a reference (I)
 * @cookie: its name in the protocol, ascending, never reused (I)
 * @generation: number of changes of @map.  Writers raise it after a change; readers read it before
 *	and after they read the ranges, and start again if it differs (L)
 * @lost: for want of memory @map is not what is mapped, and is empty (L)
 * @dead: not managed yet, or no longer (L)
 * @has_tables: it owns files (struct bee_file), or has inherited ranges with them; by READ_ONCE()
 * @delay: jiffies between the last two looks at what is mapped, while @lost; by READ_ONCE()
 * @retry: jiffies at which to look next, while @lost; by READ_ONCE()
 * @by_hand: a request has changed its ranges since they were last looked up; by READ_ONCE()
 * @look: jiffies before which walks do not ask for a look at what is mapped; by READ_ONCE()
 * @look_delay: jiffies that a walk which asks adds to @look; by READ_ONCE()
 * @looked: jiffies of the last look that a walk has asked for (manage.c)
 * @map: its ranges, NULL if there are none (L, RCU for reading)
 * @by_map: in the list that @map has of the address spaces that share it (L, RCU for reading)
 * @by_mm: in the hash by mm (L, RCU for reading)
 * @free: frees it
 * @unsettled: in the list of those that callbacks could not follow, or empty (L)
 * @gone: in the list for bee_mm_drop_gone(), as @map has a range that has gone; or empty (L)
 * @changer: the process that was the last to map a file that its callback could not look for (L)
 * @announce: such files are to be announced (L)
 * @unknown: it may have ranges of bee_file_unknown; set and cleared with mmap_lock held (L)
 * @told: what user space knows of its code without a file; written by walks
 * @tally: walks by stop reason; written by walks, last so that its counters share no cache line
 *	with what lookups read
 *
 * I: set before publication.  L: mm_lock of mm.c.
 */
struct bee_mm {
	struct mm_struct	*mm;
	struct pid		*pid;
	struct bee_payer	*payer;
	u64			 cookie;
	u64			 generation;
	bool			 lost;
	bool			 dead;
	bool			 has_tables;
	u32			 delay;
	unsigned long		 retry;
	bool			 by_hand;
	u32			 look_delay;
	unsigned long		 look;
	unsigned long		 looked;
	struct bee_map __rcu	*map;
	struct hlist_node	 by_map;
	struct hlist_node	 by_mm;
	struct rcu_work		 free;
	struct list_head	 unsettled;
	struct list_head	 gone;
	u32			 changer;
	bool			 announce;
	bool			 unknown;
	struct bee_code_told	 told;
	struct bee_tally	 tally;
};

/* Jiffies; the first @look_delay. */
#define BEE_MM_LOOK_DELAY	(HZ / 2)

#define BEE_MM_HASH_BITS	12
extern struct hlist_head bee_mm_hash[1 << BEE_MM_HASH_BITS];

/**
 * struct bee_mm_state - what the ranges of an address space are at one moment
 * @cookie: the address space; 0: it is not managed
 * @generation: number of changes of its ranges
 * @ranges: number of ranges
 */
struct bee_mm_state {
	u64	cookie;
	u64	generation;
	u32	ranges;
};

/**
 * struct bee_mm_totals - sums over all managed address spaces
 * @mms: address spaces
 * @ranges: their ranges
 * @lost: how often, for want of memory, one lost its ranges or a new one was not managed
 */
struct bee_mm_totals {
	u32	mms;
	u32	ranges;
	u64	lost;
};

void bee_mm_init(struct workqueue_struct *wq, struct delayed_work *rescan,
		 struct delayed_work *settle);
void bee_mm_exit(void);

struct bee_mm *bee_mm_new(struct mm_struct *mm, struct pid *pid, struct bee_payer *payer,
			  struct bee_map *map);
void bee_mm_forget(const struct mm_struct *mm);
bool bee_mm_forget_cookie(u64 cookie);

struct bee_map_list *bee_mm_get_list(const struct bee_mm *m, u64 *generation,
				     struct netlink_ext_ack *extack);
bool bee_mm_commit_map(struct bee_mm *m, u64 generation, struct bee_map *map, bool by_hand);
void bee_mm_get_state(const struct bee_mm *m, struct bee_mm_state *state);

void bee_mm_lose(struct bee_mm *m);

bool bee_mm_is_managed(const struct mm_struct *mm);
bool bee_mm_is_wanted(const struct mm_struct *mm);
void bee_mm_exec(struct mm_struct *mm, struct pid *pid);
void bee_mm_fork(const struct mm_struct *parent, struct mm_struct *child);
void bee_mm_attach(const struct vm_area_struct *vma, u64 start, u64 end, u64 offset,
		   bool announce);
void bee_mm_unmap(const struct mm_struct *mm, u64 start, u64 end);
void bee_mm_drop_gone(void);
struct mm_struct *bee_mm_get_unsettled(void);
u32 bee_mm_nr_unsettled(void);
void bee_mm_unsettle(const struct mm_struct *mm);
void bee_mm_settle(struct bee_mm *m);

const struct bee_mm *bee_mm_next(u64 cookie, const struct mm_struct *only);
struct bee_mm *bee_mm_next_lost(u64 cookie);
unsigned int bee_mm_seq(void);
u32 bee_mm_count_users(const struct bee_file *f);
bool bee_mm_move_file(struct bee_file *f, u64 bytes);
int bee_mm_list_users(const struct bee_file *f, u64 **cookies, u32 *nr, unsigned int *seq);
void bee_mm_sum(struct bee_mm_totals *totals);
void bee_mm_spread(u64 cookie);

/**
 * bee_mm_is_unchanged() - whether ranges are those of one generation
 * @m: the address space
 * @generation: read by smp_load_acquire() before the ranges
 *
 * Context: Any.  Caller has read the ranges.
 * Return: false if some of them may be older than others.
 */
static inline bool bee_mm_is_unchanged(const struct bee_mm *m, u64 generation)
{
	/* After the ranges: whoever has seen a change sees that there was one before it. */
	smp_rmb();
	return READ_ONCE(m->generation) == generation;
}

/**
 * bee_mm_ask_look() - a walk has found code that no range contains: have a worker look
 * @m: the address space of current
 *
 * Context: Any, NMI-safe.  Caller holds the RCU read lock.
 */
static inline void bee_mm_ask_look(struct bee_mm *m)
{
	if (time_after_eq(jiffies, READ_ONCE(m->look)) && bee_ask(BEE_ASK_LOOK, m->cookie))
		WRITE_ONCE(m->look, jiffies + READ_ONCE(m->look_delay));
}

/** bee_mm_bucket() - where in the hash an mm is.  Context: Any, NMI-safe. */
static inline struct hlist_head *bee_mm_bucket(const struct mm_struct *mm)
{
	return &bee_mm_hash[hash_ptr(mm, BEE_MM_HASH_BITS)];
}

/**
 * bee_mm_may_be_managed() - false for most mms that are not managed
 * @mm: the mm, or NULL
 *
 * Context: Any, NMI-safe.  Needs no RCU.
 * Return: false if @mm is not managed, true if it may be.
 */
static inline bool bee_mm_may_be_managed(const struct mm_struct *mm)
{
	return !hlist_empty(bee_mm_bucket(mm));
}

/**
 * bee_mm_find() - the managed address space of an mm
 * @mm: the mm
 *
 * Context: Any, NMI-safe.  Caller holds the RCU read lock, or mm_lock.
 * Return: the managed address space, or NULL if it is not managed.
 */
static inline struct bee_mm *bee_mm_find(const struct mm_struct *mm)
{
	struct bee_mm *m;

	hlist_for_each_entry_rcu(m, bee_mm_bucket(mm), by_mm, true)
		if (m->mm == mm)
			return m;
	return NULL;
}

#endif /* BEE_MM_H */
