/* SPDX-License-Identifier: GPL-2.0 */
/* News: tell user space, once, that a file has no table. */
#ifndef BEE_NEWS_H
#define BEE_NEWS_H

#include <linux/irq_work.h>
#include <linux/llist.h>
#include <linux/sched.h>

#include "file.h"

struct workqueue_struct;

/*
 * enum news_state - of a file without a table
 * @NEWS_NONE: user space has not been told of it
 * @NEWS_TAKEN: one CPU is writing struct bee_news
 * @NEWS_READY: struct bee_news is valid, and in the list of what is to be told
 * @NEWS_TOLD: told; not again until the file has had a table or, if one was refused for the share
 *	of its user, another user has it mapped
 */
enum news_state {
	NEWS_NONE,
	NEWS_TAKEN,
	NEWS_READY,
	NEWS_TOLD,
};

/* Under RCU; false: out of memory, the file stays unannounced. */
typedef bool (*bee_news_tell_t)(const struct bee_file *f);

extern struct irq_work bee_news_irq;
extern struct llist_head bee_news_list;

void bee_news_init(struct workqueue_struct *wq, bee_news_tell_t tell);
void bee_news_stop(void);
void bee_news_exit(void);

/**
 * bee_news_announce() - have user space told that a file has no table, if it was not
 * @f: the file
 * @tgid: a process that has it mapped
 * @uid: who pays for that process's ranges
 * @start: first address of the mapping
 * @end: address after the last
 *
 * The list keeps the memory of a file (@live), but is no user of it, so the file can be forgotten
 * meanwhile.
 *
 * Context: Any, NMI-safe.  Does not fault, sleep, allocate, lock or print.
 */
static inline void bee_news_announce(struct bee_file *f, u32 tgid, u32 uid, u64 start, u64 end)
{
	struct bee_news *news = &f->news;

	if (atomic_read(&news->state) != NEWS_NONE ||
	    atomic_cmpxchg(&news->state, NEWS_NONE, NEWS_TAKEN) != NEWS_NONE)
		return;
	/* Forgotten already: this walk has found it in a map that has been replaced. */
	if (!atomic_inc_not_zero(&f->live))
		return;
	news->tgid = tgid;
	news->uid = uid;
	news->start = start;
	news->end = end;
	atomic_set_release(&news->state, NEWS_READY);
	llist_add(&news->node, &bee_news_list);
	irq_work_queue(&bee_news_irq);
}

/**
 * bee_news_of() - where a file without a table was mapped when it was announced
 * @f: the file
 *
 * No more than a hint: if a table comes and goes meanwhile, the file can be announced
 * again and the fields change while they are read.
 *
 * Context: Any.
 * Return: the place, or NULL if the file was not announced.
 */
static inline const struct bee_news *bee_news_of(const struct bee_file *f)
{
	return atomic_read_acquire(&f->news.state) >= NEWS_READY ? &f->news : NULL;
}

/*
 * bee_news_reset() - a file has lost its table, or one may be accepted now: it may be announced
 * again, unless a message about it is still waiting to be sent.  Context: Any.
 */
static inline void bee_news_reset(struct bee_file *f)
{
	atomic_cmpxchg(&f->news.state, NEWS_TOLD, NEWS_NONE);
}

#endif /* BEE_NEWS_H */
