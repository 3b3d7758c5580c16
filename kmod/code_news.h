/* SPDX-License-Identifier: GPL-2.0 */
/* News of code: tell user space that a process has code in memory that no file stands behind. */
#ifndef BEE_CODE_NEWS_H
#define BEE_CODE_NEWS_H

#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/sched.h>

struct workqueue_struct;

/*
 * struct bee_code_told - what user space was told of the code of an address space; zero is nothing
 * @what: the generation of its ranges, below the number of the wish to be told
 * @next: jiffies before which it is not told again
 */
struct bee_code_told {
	atomic64_t	what;
	unsigned long	next;
};

/*
 * enum bee_code_state - of a place in the array of what is to be told
 * @BEE_CODE_FREE: nothing is
 * @BEE_CODE_TAKEN: one CPU is writing it
 * @BEE_CODE_READY: it is valid
 */
enum bee_code_state {
	BEE_CODE_FREE,
	BEE_CODE_TAKEN,
	BEE_CODE_READY,
};

/*
 * struct bee_code_news - an address space with code that user space is to be told of
 * @state: enum bee_code_state
 * @tgid: a process in it, in the initial pid namespace
 * @cookie: the address space
 * @generation: of its ranges
 *
 * So many wait at most; a walk that finds no room leaves it to the next sample.
 */
struct bee_code_news {
	atomic_t	state;
	u32		tgid;
	u64		cookie;
	u64		generation;
};

#define BEE_CODE_NEWS	16

typedef void (*bee_code_tell_t)(const struct bee_code_news *news);

/* For bee_code_announce() */
extern struct bee_code_news bee_code_news[BEE_CODE_NEWS];
extern struct irq_work bee_code_irq;
extern u32 bee_code_wish;

void bee_code_init(struct workqueue_struct *wq, bee_code_tell_t tell);
void bee_code_want(bool wanted);
void bee_code_stop(void);
void bee_code_exit(void);

/* Return: room for one more, in state BEE_CODE_TAKEN, or NULL. */
static inline struct bee_code_news *bee_code_news_take(void)
{
	int i;

	for (i = 0; i < BEE_CODE_NEWS; i++)
		if (atomic_read(&bee_code_news[i].state) == BEE_CODE_FREE &&
		    atomic_cmpxchg(&bee_code_news[i].state, BEE_CODE_FREE,
				   BEE_CODE_TAKEN) == BEE_CODE_FREE)
			return &bee_code_news[i];
	return NULL;
}

/**
 * bee_code_announce() - have user space told of code without a table in current's address space
 * @told: the address space's
 * @cookie: the address space
 * @generation: of its ranges, as far as this CPU knows
 *
 * Does nothing unless somebody wants to be told, and then once for each generation, and at most
 * once a second.  A generation that comes within this second is told of with the first sample
 * after it.
 *
 * Context: Any, NMI-safe.  Does not fault, sleep, allocate, lock or print.
 */
static inline void bee_code_announce(struct bee_code_told *told, u64 cookie, u64 generation)
{
	u32 wish = READ_ONCE(bee_code_wish);
	u64 what = (u64)wish << 32 | (u32)generation, before = atomic64_read(&told->what);
	struct bee_code_news *news;

	if (!wish || what == before)
		return;
	if (before >> 32 == wish && time_before(jiffies, READ_ONCE(told->next)))
		return;
	news = bee_code_news_take();
	if (!news)
		return;
	/* Another CPU may have told of it meanwhile, or an NMI on this one. */
	if (atomic64_cmpxchg(&told->what, before, what) != before) {
		atomic_set(&news->state, BEE_CODE_FREE);
		return;
	}
	WRITE_ONCE(told->next, jiffies + HZ);
	news->tgid = current->tgid;
	news->cookie = cookie;
	news->generation = generation;
	atomic_set_release(&news->state, BEE_CODE_READY);
	irq_work_queue(&bee_code_irq);
}

#endif /* BEE_CODE_NEWS_H */
